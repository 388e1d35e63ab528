//! The clients of HTTP.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::error::{Code, RemoteError, innermost};
use crate::gate::Names;
use crate::options::Options;

/// A client that takes the proxies of the environment, and one that takes none.
pub(crate) struct Clients {
    options: Arc<Options>,
    read_timeout: Duration,
    outside: reqwest::Client,
    /// Made when it is needed, because it reads all certificates of the system again.
    direct: OnceLock<reqwest::Client>,
}

impl Clients {
    pub(crate) fn new(options: Arc<Options>, read_timeout: Duration) -> Result<Self, RemoteError> {
        let outside = builder(&options, read_timeout).build();
        let outside = outside.map_err(|error| RemoteError::new(Code::Tls, String::new(), innermost(&error)))?;
        Ok(Clients { options, read_timeout, outside, direct: OnceLock::new() })
    }

    pub(crate) fn outside(&self) -> reqwest::Client {
        self.outside.clone()
    }

    /// The client without proxies.
    pub(crate) fn direct(&self) -> Result<reqwest::Client, reqwest::Error> {
        if let Some(direct) = self.direct.get() {
            return Ok(direct.clone());
        }
        let made = builder(&self.options, self.read_timeout).no_proxy().build()?;
        Ok(self.direct.get_or_init(|| made).clone())
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
