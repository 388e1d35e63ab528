//! The stores that have the objects.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::Uri;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};
use url::Url;

use crate::client::Clients;
use crate::environment::{settings, variable};
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
        let mut builder = settings("AWS_")
            .fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value))
            .with_bucket_name(&bucket.name)
            .with_retry(self.retry())
            .with_allow_http(false)
            .with_http_connector(gate);
        let has_credentials = has_credentials(&builder)?;
        let profile = if has_credentials { Ok(Profile::default()) } else { profile::of_environment() };
        let Profile { key_id, key, token, region, endpoint } = profile.map_err(Unmade::Profile)?;
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
        if let Some(region) = self.options.region.clone().filter(|region| !region.is_empty()).or(region) {
            builder = builder.with_region(region);
        }
        let has_credentials = has_credentials || builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_some();
        if !has_credentials && variable(NO_SERVICE).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Err(Unmade::Credentials);
        }
        for (key, variable) in ENDPOINTS {
            if let Some(endpoint) = builder.get_config_value(&key) {
                self.check_endpoint(&endpoint, variable)?;
            }
        }
        if builder.get_config_value(&AmazonS3ConfigKey::Region).is_some_and(|region| !is_region(&region)) {
            return Err(Unmade::Setting("--region or AWS_REGION: no region has such a name".to_owned()));
        }
        if builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_none() {
            for (key, name) in TOKEN_FILES {
                check_file(builder.get_config_value(&key), name)?;
            }
        }
        for (key, name) in IN_REQUESTS {
            check_plain(builder.get_config_value(&key), name)?;
        }
        for (key, name) in SERVICES {
            check_address(builder.get_config_value(&key), name)?;
        }
        Ok(Arc::new(builder.build()?))
    }

    fn google(&self, bucket: &Bucket, gate: Gate) -> Result<Store, Unmade> {
        let mut builder = settings("GOOGLE_")
            .fold(GoogleCloudStorageBuilder::new(), |builder, (key, value)| builder.with_config(key, value))
            .with_bucket_name(&bucket.name)
            .with_retry(self.retry())
            .with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "false")
            .with_http_connector(gate.with_services(SERVICES_OF_GOOGLE.into_iter().filter_map(variable).collect()));
        // Google's own tools take the address of an emulator from here. Emulators have no credentials.
        let emulator = variable("STORAGE_EMULATOR_HOST")
            .map(|host| if host.contains("://") { host } else { format!("http://{host}") });
        let is_unsigned =
            builder.get_config_value(&GoogleConfigKey::SkipSignature).is_some_and(|value| is_true(&value));
        if emulator.is_some() || is_unsigned {
            // The store would authenticate writes all the same. The gate removes the empty token.
            builder = builder.with_skip_signature(true).with_bearer_token("");
        }
        if let Some(url) = self.options.endpoint.as_ref().or(emulator.as_ref()) {
            builder = builder.with_base_url(url);
        }
        if let Some(url) = builder.get_config_value(&GoogleConfigKey::BaseUrl).or_else(|| base_of_key(&builder)) {
            self.check_endpoint(&url, "STORAGE_EMULATOR_HOST, GOOGLE_BASE_URL, a key")?;
        }
        let is_set = |key: &GoogleConfigKey| builder.get_config_value(key).is_some();
        let credentials = KEYS_OF_GOOGLE.into_iter().find(|(key, _)| is_set(key));
        check_plain(builder.get_config_value(&GoogleConfigKey::BearerToken), "GOOGLE_BEARER_TOKEN")?;
        if credentials.is_none() && !is_unsigned {
            // Also an empty one is asked.
            for name in SERVICES_OF_GOOGLE {
                check_address(env::var(name).ok().map(|host| format!("http://{host}")), name)?;
            }
        }
        named(builder.build(), credentials.map(|(_, name)| name))
    }

    fn azure(&self, bucket: &Bucket, gate: Gate) -> Result<Store, Unmade> {
        let builder = settings("AZURE_")
            .fold(MicrosoftAzureBuilder::new(), |builder, (key, value)| builder.with_config(key, value));
        let builder = variable("IDENTITY_ENDPOINT").into_iter().fold(builder, MicrosoftAzureBuilder::with_msi_endpoint);
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
        if let Some(endpoint) = env::var(AZURITE).ok().filter(|_| is_emulator) {
            self.check_endpoint(&endpoint, AZURITE)?;
        }
        for (key, name) in SERVICES_OF_AZURE {
            check_address(builder.get_config_value(&key), name)?;
        }
        for (key, name) in IN_REQUESTS_OF_AZURE {
            check_plain(builder.get_config_value(&key), name)?;
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
        if address(text).is_some_and(|url| !is_metadata(url.host_str().unwrap_or_default()) && is_plain(&url)) {
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
const IN_REQUESTS: [Setting; 4] = [
    (AmazonS3ConfigKey::ContainerCredentialsRelativeUri, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
    (AmazonS3ConfigKey::AccessKeyId, "AWS_ACCESS_KEY_ID"),
    (AmazonS3ConfigKey::SecretAccessKey, "AWS_SECRET_ACCESS_KEY"),
    (AmazonS3ConfigKey::Token, "AWS_SESSION_TOKEN"),
];

/// Files with the tokens by which S3's credentials are asked for.
const TOKEN_FILES: [Setting; 2] = [
    (AmazonS3ConfigKey::WebIdentityTokenFile, "AWS_WEB_IDENTITY_TOKEN_FILE"),
    (AmazonS3ConfigKey::ContainerAuthorizationTokenFile, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
];

/// Addresses at which credentials are asked for. The stores do not check them.
const SERVICES: [Setting; 3] = [
    (AmazonS3ConfigKey::StsEndpoint, "AWS_ENDPOINT_URL_STS"),
    (AmazonS3ConfigKey::MetadataEndpoint, "AWS_METADATA_ENDPOINT"),
    (AmazonS3ConfigKey::ContainerCredentialsFullUri, "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
];
const SERVICES_OF_AZURE: [(AzureConfigKey, &str); 2] = [
    (AzureConfigKey::AuthorityHost, "AZURE_AUTHORITY_HOST"),
    (AzureConfigKey::MsiEndpoint, "AZURE_MSI_ENDPOINT or IDENTITY_ENDPOINT"),
];
/// Hosts of Google's service for credentials. If one that is named fails, the store would ask another one. The gate does not let it.
const SERVICES_OF_GOOGLE: [&str; 3] = ["GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"];
const IN_REQUESTS_OF_AZURE: [(AzureConfigKey, &str); 2] =
    [(AzureConfigKey::Token, "AZURE_STORAGE_TOKEN"), (AzureConfigKey::AuthorityId, "AZURE_STORAGE_TENANT_ID")];
/// Says, if it is true, that the service of the machine may not be asked for Amazon's credentials.
const NO_SERVICE: &str = "AWS_EC2_METADATA_DISABLED";
/// The address of Azure's emulator.
const AZURITE: &str = "AZURITE_BLOB_STORAGE_URL";

/// A setting of S3, and its variable.
type Setting = (AmazonS3ConfigKey, &'static str);

/// Where else than in a key the environment can have S3's credentials, and what else that needs. The store would ask the service of
/// the machine in place of one that is incomplete.
const CREDENTIALS: [(Setting, Option<Setting>); 3] = [
    (
        (AmazonS3ConfigKey::WebIdentityTokenFile, "AWS_WEB_IDENTITY_TOKEN_FILE"),
        Some((AmazonS3ConfigKey::RoleArn, "AWS_ROLE_ARN")),
    ),
    ((AmazonS3ConfigKey::ContainerCredentialsRelativeUri, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), None),
    (
        (AmazonS3ConfigKey::ContainerCredentialsFullUri, "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        Some((AmazonS3ConfigKey::ContainerAuthorizationTokenFile, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")),
    ),
];

/// Whether the environment has credentials for S3, or says that none are needed.
fn has_credentials(builder: &AmazonS3Builder) -> Result<bool, Unmade> {
    let value = |key: &AmazonS3ConfigKey| builder.get_config_value(key);
    let is_unsigned = value(&AmazonS3ConfigKey::SkipSignature).is_some_and(|skips| is_true(&skips));
    if is_unsigned || value(&AmazonS3ConfigKey::AccessKeyId).is_some() {
        return Ok(true);
    }
    match CREDENTIALS.iter().find(|((key, _), _)| value(key).is_some()) {
        Some(((_, name), Some((other, needed)))) if value(other).is_none() => {
            Err(Unmade::Setting(format!("{name} needs {needed}, which is not set")))
        }
        found => Ok(found.is_some()),
    }
}

/// Credentials that a store reads when it is made.
const KEYS_OF_GOOGLE: [(GoogleConfigKey, &str); 3] = [
    (GoogleConfigKey::ServiceAccount, "GOOGLE_SERVICE_ACCOUNT"),
    (GoogleConfigKey::ServiceAccountKey, "GOOGLE_SERVICE_ACCOUNT_KEY"),
    (GoogleConfigKey::ApplicationCredentials, "GOOGLE_APPLICATION_CREDENTIALS"),
];
/// The endpoint in the key for Google's store, if it has one.
fn base_of_key(builder: &GoogleCloudStorageBuilder) -> Option<String> {
    let of_file = || std::fs::read_to_string(builder.get_config_value(&GoogleConfigKey::ServiceAccount)?).ok();
    let key = builder.get_config_value(&GoogleConfigKey::ServiceAccountKey).or_else(of_file)?;
    let key: serde_json::Value = serde_json::from_str(&key).ok()?;
    key.get("gcs_base_url")?.as_str().map(str::to_owned)
}

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

/// Fails if a value cannot be sent in a request.
fn check_plain(value: Option<String>, variable: &str) -> Result<(), Unmade> {
    let is_wrong = value.is_some_and(|value| !plain(&value));
    if is_wrong { Err(Unmade::Setting(format!("{variable}: it has characters that cannot be sent"))) } else { Ok(()) }
}

/// Fails if a value is not an address that can be asked.
fn check_address(value: Option<String>, variable: &str) -> Result<(), Unmade> {
    let is_wrong = value.is_some_and(|value| address(&value).is_none());
    if is_wrong { Err(Unmade::Setting(format!("{variable}: it is not the address of a server"))) } else { Ok(()) }
}

/// An address as the stores and the client read it.
fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok().filter(|_| plain(text) && text.parse::<Uri>().is_ok())?;
    (matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| !host.is_empty())).then_some(url)
}

/// The variables for an endpoint of S3.
const ENDPOINTS: [Setting; 2] =
    [(AmazonS3ConfigKey::Endpoint, "AWS_ENDPOINT_URL"), (AmazonS3ConfigKey::S3Endpoint, "AWS_ENDPOINT_URL_S3")];

/// Whether a value switches a setting on, as the stores read it.
fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes" | "y")
}

/// Whether a value has only characters that headers and addresses can have.
fn plain(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_graphic())
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
