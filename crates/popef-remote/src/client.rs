//! The clients of HTTP.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Uri;

use crate::environment::variable;
use crate::error::innermost;
use crate::host::Names;
use crate::options::Options;

/// The clients, each made when it is needed: most of them read all certificates of the system.
pub(crate) struct Clients {
    options: Arc<Options>,
    read_timeout: Duration,
    /// Takes the proxies of the environment.
    outside: OnceLock<reqwest::Client>,
    /// Takes no proxies.
    direct: OnceLock<reqwest::Client>,
    /// Takes no proxies either, and is for http alone, so that it needs no certificates.
    plain: OnceLock<reqwest::Client>,
}

impl Clients {
    pub(crate) fn new(options: Arc<Options>, read_timeout: Duration) -> Self {
        let [outside, direct, plain] = Default::default();
        Clients { options, read_timeout, outside, direct, plain }
    }

    /// The client for a place and a scheme. The error is the reason why there is none.
    pub(crate) fn client(&self, takes_proxies: bool, is_http: bool) -> Result<reqwest::Client, String> {
        if takes_proxies {
            check_proxy(is_http)?;
        }
        let place = match (takes_proxies, is_http) {
            (true, _) => &self.outside,
            (false, false) => &self.direct,
            (false, true) => &self.plain,
        };
        if let Some(client) = place.get() {
            return Ok(client.clone());
        }
        let builder = builder(&self.options, self.read_timeout);
        let made = match (takes_proxies, is_http) {
            (true, _) => builder,
            (false, false) => builder.no_proxy(),
            (false, true) => builder.no_proxy().tls_certs_only([]),
        };
        let made = made.build().map_err(|error| innermost(&error))?;
        Ok(place.get_or_init(|| made).clone())
    }
}

/// Fails if the client would ignore the proxy that the environment names, and connect without it.
fn check_proxy(is_http: bool) -> Result<(), String> {
    let names = if is_http { ["HTTP_PROXY", "http_proxy"] } else { ["HTTPS_PROXY", "https_proxy"] };
    let mut named = names.into_iter().chain(["ALL_PROXY", "all_proxy"]);
    let is_proxy = |uri: Uri| uri.authority().is_some() && matches!(uri.scheme_str(), None | Some("http" | "https"));
    match named.find_map(|name| Some((name, variable(name)?))) {
        Some((name, value)) if !value.parse().is_ok_and(is_proxy) => {
            Err(format!("{name} is not the address of a proxy, such as http://proxy.example.com:3128"))
        }
        _ => Ok(()),
    }
}

fn builder(options: &Options, read_timeout: Duration) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("popef/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .dns_resolver(Arc::new(Names))
        .connect_timeout(options.connect_timeout)
        .read_timeout(read_timeout)
}
