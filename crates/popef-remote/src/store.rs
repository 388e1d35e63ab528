//! The stores that have the objects.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};
use url::Url;

use crate::client::Clients;
use crate::error::{Code, RemoteError, innermost};
use crate::gate::{Address, Gate, OF_METADATA, is_region};
use crate::host::{is_here, is_metadata};
use crate::location::{Bucket, Kind, Location, Place, account_of, is_plain};
use crate::options::{FIRST_PAUSE, LONGEST_PAUSE, Options};
use crate::profile::{self, Profile};

pub(crate) type Store = Arc<dyn ObjectStore>;

/// The connections to stores. Stores of the same bucket share what they learned about its credentials.
pub(crate) struct Stores {
    clients: Arc<Clients>,
    options: Arc<Options>,
    buckets: Mutex<HashMap<(Kind, Bucket), Store>>,
    /// Whose store the endpoint of the options is.
    endpoint_of: OnceLock<Kind>,
}

/// An object in its store, not requested yet.
#[derive(Clone)]
pub(crate) struct Placed {
    pub(crate) store: Store,
    pub(crate) path: Path,
    /// Access to an address without the store, for servers without ranges.
    pub(crate) gate: Option<Gate>,
}

impl Stores {
    pub(crate) fn new(options: Arc<Options>) -> Self {
        // Another part of the program may have chosen already. Its choice counts.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clients = Arc::new(Clients::new(Arc::clone(&options), options.read_timeout));
        Stores { clients, options, buckets: Mutex::default(), endpoint_of: OnceLock::new() }
    }

    /// The object that a location names.
    pub(crate) fn place(&self, location: &Location) -> Result<Placed, RemoteError> {
        let wrong = |what: String| RemoteError::new(Code::Url, location.to_string(), what);
        match &location.place {
            Place::File(_) => Err(wrong("it is a file on this machine".to_owned())),
            Place::Bucket { kind, bucket, key } => {
                let path = path_of(key).map_err(wrong)?;
                Ok(Placed { store: self.bucket(*kind, bucket, location)?, path, gate: None })
            }
            Place::Address { url, authorization } => {
                let mut headers = HeaderMap::new();
                if let Some(value) = authorization {
                    headers.insert(AUTHORIZATION, value.clone());
                }
                // The caller's setting overrides that of the address.
                headers.extend(self.options.headers.clone());
                let host = url.host_str().unwrap_or_default();
                if is_metadata(host) {
                    return Err(wrong(OF_METADATA.to_owned()));
                }
                if url.scheme() == "http" && !is_here(host) && !self.options.allow_http {
                    return Err(RemoteError::new(Code::Http, location.to_string(), ""));
                }
                let address = Address { url: url.clone(), headers };
                let gate = Gate::new(Arc::clone(&self.clients), self.options.allow_http, Some(address));
                let store = HttpBuilder::new()
                    .with_url(format!("{}://{host}/", url.scheme()))
                    .with_retry(self.retry())
                    .with_http_connector(gate.clone())
                    .build()
                    .map_err(|_| wrong("it cannot be read".to_owned()))?;
                Ok(Placed { store: Arc::new(store), path: Path::from("file"), gate: Some(gate) })
            }
        }
    }

    /// The store of a bucket.
    pub(crate) fn bucket(&self, kind: Kind, bucket: &Bucket, location: &Location) -> Result<Store, RemoteError> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = buckets.get(&(kind, bucket.clone())) {
            return Ok(Arc::clone(store));
        }
        let gate = Gate::new(Arc::clone(&self.clients), self.options.allow_http, None);
        let store = self.make(kind, bucket, location, gate)?;
        buckets.insert((kind, bucket.clone()), Arc::clone(&store));
        Ok(store)
    }

    /// A store for writing one object. A header is added when its upload is completed.
    pub(crate) fn for_writing(
        &self,
        kind: Kind,
        bucket: &Bucket,
        location: &Location,
        condition: Option<(HeaderName, HeaderValue)>,
    ) -> Result<Store, RemoteError> {
        // A server sends nothing while it receives, so its silence does not mean a failure.
        let read_timeout = self.options.read_timeout.saturating_mul(SLOWER);
        let clients = Arc::new(Clients::new(Arc::clone(&self.options), read_timeout));
        let gate = Gate::new(clients, self.options.allow_http, None).with_condition(condition);
        self.make(kind, bucket, location, gate)
    }

    fn make(&self, kind: Kind, bucket: &Bucket, location: &Location, gate: Gate) -> Result<Store, RemoteError> {
        if self.options.endpoint.is_some() && *self.endpoint_of.get_or_init(|| kind) != kind {
            // The other store would get the credentials for this one.
            return Err(RemoteError::new(Code::Settings, location.to_string(), ONE_ENDPOINT));
        }
        let made = match kind {
            Kind::S3 => self.s3(bucket, gate),
            Kind::Google => self.google(bucket, gate),
            Kind::Azure => self.azure(bucket, gate),
        };
        made.map_err(|unmade| {
            // Settings of the environment are wrong or missing. Their values are not shown.
            let (code, what) = match unmade {
                Unmade::Profile(why) => (Code::NoCredentials, why),
                Unmade::Credentials => {
                    let why = "AWS_EC2_METADATA_DISABLED forbids to ask the service of this machine for some";
                    (Code::NoCredentials, why.to_owned())
                }
                Unmade::Setting(what) => (Code::Settings, what),
                Unmade::Store(error @ object_store::Error::Generic { .. }) => (Code::Other, setting(&error)),
                Unmade::Store(error) => (Code::Url, setting(&error)),
            };
            RemoteError::new(code, location.to_string(), what)
        })
    }

    fn s3(&self, bucket: &Bucket, gate: Gate) -> Result<Store, Unmade> {
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(&bucket.name)
            .with_retry(self.retry())
            .with_allow_http(false)
            .with_http_connector(gate);
        let Profile { key_id, key, token, region, endpoint } = profile::of_environment().map_err(Unmade::Profile)?;
        if let (Some(key_id), Some(key)) = (key_id, key) {
            builder = builder.with_access_key_id(key_id).with_secret_access_key(key);
            builder = token.into_iter().fold(builder, AmazonS3Builder::with_token);
        }
        // Options override the environment, which overrides the profile.
        let is_unset = |key| builder.get_config_value(&key).is_none();
        let endpoint = endpoint.filter(|_| ENDPOINTS.into_iter().all(|(key, _)| is_unset(key)));
        let region = region.filter(|_| is_unset(AmazonS3ConfigKey::Region));
        if let Some(endpoint) = self.options.endpoint.clone().or(endpoint) {
            builder = ENDPOINTS.into_iter().fold(builder, |builder, (key, _)| builder.with_config(key, &endpoint));
        }
        if let Some(region) = self.options.region.clone().or(region) {
            builder = builder.with_region(region);
        }
        if builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_none() && profile::has_no_service() {
            return Err(Unmade::Credentials);
        }
        for (key, variable) in ENDPOINTS {
            if let Some(endpoint) = builder.get_config_value(&key) {
                self.check_endpoint(&endpoint, variable)?;
            }
        }
        if builder.get_config_value(&AmazonS3ConfigKey::Region).is_some_and(|region| !is_region(&region)) {
            return Err(Unmade::Setting("--region or AWS_REGION: it has characters that no region has".to_owned()));
        }
        if builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_none() {
            for (key, name) in TOKEN_FILES {
                check_file(builder.get_config_value(&key), name)?;
            }
        }
        for (key, name) in IN_REQUESTS {
            if !builder.get_config_value(&key).is_none_or(|value| plain(&value)) {
                return Err(Unmade::Setting(format!("{name}: it has characters that cannot be sent")));
            }
        }
        Ok(Arc::new(builder.build()?))
    }

    fn google(&self, bucket: &Bucket, gate: Gate) -> Result<Store, Unmade> {
        let mut builder = GoogleCloudStorageBuilder::from_env()
            .with_bucket_name(&bucket.name)
            .with_retry(self.retry())
            .with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "false")
            .with_http_connector(gate.with_services(services_of_google()));
        // Google's own tools take the address of an emulator from here. Emulators have no credentials.
        let emulator = env::var("STORAGE_EMULATOR_HOST").ok().filter(|host| !host.is_empty());
        let emulator = emulator.map(|host| if host.contains("://") { host } else { format!("http://{host}") });
        let is_unsigned =
            builder.get_config_value(&GoogleConfigKey::SkipSignature).is_some_and(|value| is_true(&value));
        if emulator.is_some() || is_unsigned {
            // The store would authenticate writes all the same. The gate removes the empty token.
            builder = builder.with_skip_signature(true).with_bearer_token("");
        }
        if let Some(url) = self.options.endpoint.as_ref().or(emulator.as_ref()) {
            builder = builder.with_base_url(url);
        }
        if let Some(url) = builder.get_config_value(&GoogleConfigKey::BaseUrl) {
            self.check_endpoint(&url, "STORAGE_EMULATOR_HOST, GOOGLE_BASE_URL")?;
        }
        let is_set = |key: &GoogleConfigKey| builder.get_config_value(key).is_some();
        let credentials = KEYS_OF_GOOGLE.into_iter().find(|(key, _)| is_set(key));
        named(builder.build(), credentials.map(|(_, name)| name))
    }

    fn azure(&self, bucket: &Bucket, gate: Gate) -> Result<Store, Unmade> {
        let builder = MicrosoftAzureBuilder::from_env();
        let is_emulator = builder.get_config_value(&AzureConfigKey::UseEmulator).is_some_and(|value| is_true(&value));
        let mut builder = builder
            .with_container_name(&bucket.name)
            .with_retry(self.retry())
            .with_allow_http(false)
            .with_http_connector(if is_emulator { gate.without_services() } else { gate });
        if let Some(account) = &bucket.account {
            builder = builder.with_account(account);
        }
        if let Some(endpoint) = &self.options.endpoint {
            builder = builder.with_endpoint(endpoint.clone());
        }
        if let Some(endpoint) = builder.get_config_value(&AzureConfigKey::Endpoint) {
            self.check_endpoint(&endpoint, "AZURE_STORAGE_ENDPOINT")?;
        }
        if bucket.has_host {
            let endpoint = builder.get_config_value(&AzureConfigKey::Endpoint);
            let host = endpoint.and_then(|endpoint| Url::parse(&endpoint).ok()?.host_str().map(str::to_owned));
            if is_emulator || host.is_some_and(|host| bucket.account.as_deref() != Some(account_of(&host))) {
                return Err(Unmade::Setting(TWO_HOSTS.to_owned()));
            }
        }
        let account = builder.get_config_value(&AzureConfigKey::AccountName);
        let in_account = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !is_emulator && !account.is_some_and(|account| !account.is_empty() && account.bytes().all(in_account)) {
            let why = "AZURE_STORAGE_ACCOUNT_NAME, or the account in the address, must be the name of one";
            return Err(Unmade::Setting(why.to_owned()));
        }
        let is_set = |key: &AzureConfigKey| builder.get_config_value(key).is_some();
        let credentials = KEYS_OF_AZURE.into_iter().find(|(key, _)| is_set(key));
        named(builder.build(), credentials.map(|(_, name)| name))
    }

    /// Fails if the endpoint of a store is not the address of one. If no option names it, it comes from a variable, or from a
    /// profile.
    fn check_endpoint(&self, text: &str, variable: &str) -> Result<(), Unmade> {
        let url = Url::parse(text).ok().filter(|_| plain(text));
        let is_host = |host: &str| !host.is_empty() && !is_metadata(host);
        let is_store = |url: &Url| {
            matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(is_host) && is_plain(url)
        };
        if url.is_some_and(|url| is_store(&url)) {
            return Ok(());
        }
        let from =
            if self.options.endpoint.is_some() { String::new() } else { format!(", in {variable} or a profile,") };
        Err(Unmade::Setting(format!("the endpoint{from} is no address such as https://storage.example.com:9000")))
    }

    fn retry(&self) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig { init_backoff: FIRST_PAUSE, max_backoff: LONGEST_PAUSE, base: 2.0 },
            max_retries: self.options.retries,
            retry_timeout: self.options.retry_timeout,
        }
    }
}

/// A key as stores take it. Fails if it is not one that they can be asked for.
pub(crate) fn path_of(key: &str) -> Result<Path, String> {
    if key.starts_with('/') {
        return Err("its key begins with /, which cannot be asked for".to_owned());
    }
    if key.len() > LONGEST_KEY {
        return Err(format!("its key has {} bytes, and no store has more than {LONGEST_KEY}", key.len()));
    }
    // The words of the error have the key, which may hold another address.
    Path::parse(key)
        .map_err(|_| "a part of its key is empty, . or .., or has letters that cannot be asked for".to_owned())
}

/// Why a store cannot be made.
enum Unmade {
    /// The profile that the environment means cannot be used.
    Profile(String),
    /// Only the machine's service could give credentials, and it may not be asked.
    Credentials,
    /// A setting that would prevent all requests.
    Setting(String),
    /// The message of the crate of the stores.
    Store(object_store::Error),
}

impl From<object_store::Error> for Unmade {
    fn from(error: object_store::Error) -> Self {
        Unmade::Store(error)
    }
}

/// No store has longer keys: Azure's have 1024 characters, and others as many bytes.
const LONGEST_KEY: usize = 4096;

/// Values that go into requests unchanged, and where they are set.
const IN_REQUESTS: [(AmazonS3ConfigKey, &str); 3] = [
    (AmazonS3ConfigKey::AccessKeyId, "AWS_ACCESS_KEY_ID"),
    (AmazonS3ConfigKey::SecretAccessKey, "AWS_SECRET_ACCESS_KEY"),
    (AmazonS3ConfigKey::Token, "AWS_SESSION_TOKEN"),
];

/// Files with the tokens by which S3's credentials are asked for.
const TOKEN_FILES: [(AmazonS3ConfigKey, &str); 2] = [
    (AmazonS3ConfigKey::WebIdentityTokenFile, "AWS_WEB_IDENTITY_TOKEN_FILE"),
    (AmazonS3ConfigKey::ContainerAuthorizationTokenFile, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
];

/// Credentials that a store reads when it is made.
const KEYS_OF_GOOGLE: [(GoogleConfigKey, &str); 3] = [
    (GoogleConfigKey::ServiceAccount, "GOOGLE_SERVICE_ACCOUNT"),
    (GoogleConfigKey::ServiceAccountKey, "GOOGLE_SERVICE_ACCOUNT_KEY"),
    (GoogleConfigKey::ApplicationCredentials, "GOOGLE_APPLICATION_CREDENTIALS"),
];
const KEYS_OF_AZURE: [(AzureConfigKey, &str); 2] =
    [(AzureConfigKey::AccessKey, "AZURE_STORAGE_ACCOUNT_KEY"), (AzureConfigKey::SasKey, "AZURE_STORAGE_SAS_TOKEN")];

const ONE_ENDPOINT: &str = "--endpoint is the address of one store, and cannot be that of two kinds of stores; set \
                            AWS_ENDPOINT_URL, GOOGLE_BASE_URL or AZURE_STORAGE_ENDPOINT instead";

/// A store, or why it cannot be made: because of a variable, if one has its credentials.
fn named(made: object_store::Result<impl ObjectStore>, variable: Option<&str>) -> Result<Store, Unmade> {
    made.map(|store| Arc::new(store) as Store).map_err(|error| match (error, variable) {
        (error @ object_store::Error::Generic { .. }, Some(variable)) => {
            Unmade::Setting(format!("{variable}: {}", setting(&error)))
        }
        (error, _) => error.into(),
    })
}

/// Fails if there is no file that a variable names.
fn check_file(path: Option<String>, variable: &str) -> Result<(), Unmade> {
    let found = path.map_or(Ok(()), |path| std::fs::metadata(path).map(drop));
    found.map_err(|error| Unmade::Setting(format!("{variable}: its file cannot be read: {error}")))
}

/// The variables for an endpoint of S3.
const ENDPOINTS: [(AmazonS3ConfigKey, &str); 2] =
    [(AmazonS3ConfigKey::Endpoint, "AWS_ENDPOINT_URL"), (AmazonS3ConfigKey::S3Endpoint, "AWS_ENDPOINT_URL_S3")];

/// Whether a value switches a setting on, as the stores read it.
fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes" | "y")
}

/// Whether a value has only characters that headers and addresses can have.
fn plain(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The hosts of Google's service for credentials that variables name. The store would ask another one too if one of them fails.
fn services_of_google() -> Vec<String> {
    let named = ["GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"].into_iter();
    named.filter_map(|variable| env::var(variable).ok().filter(|host| !host.is_empty())).collect()
}

/// How much longer a server may be silent while it receives.
const SLOWER: u32 = 10;

const TWO_HOSTS: &str = "the address names its host, and --endpoint, AZURE_STORAGE_ENDPOINT or AZURE_STORAGE_USE_EMULATOR \
                         another one; give az://CONTAINER/KEY for that, or leave it out";

const WRONG_ENVIRONMENT: &str = "its settings in the environment are wrong";

/// The problem with the settings of a store, without their values.
fn setting(error: &object_store::Error) -> String {
    let text = innermost(error);
    // What is quoted is a value, and so are symbols that are not in base64.
    let has_value = text.contains(['"', '`', '\'']) || text.contains("symbol") || text.contains("://");
    if text.len() < 200 && !has_value { text } else { WRONG_ENVIRONMENT.to_owned() }
}
