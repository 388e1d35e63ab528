//! The clients of HTTP.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

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

    pub(crate) fn client(&self, takes_proxies: bool, is_http: bool) -> Result<reqwest::Client, reqwest::Error> {
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
        let made = made.build()?;
        Ok(place.get_or_init(|| made).clone())
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
