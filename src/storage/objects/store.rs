//! The store of a URL, its clients and their time limits.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::refusal::{refused, unusable};
use crate::storage::caught_panic::catch;

/// Threads for requests. Few are enough: they only wait and encrypt.
const THREADS: usize = 2;

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(THREADS).thread_name("objects").enable_all().build()
});

/// The clients of all buckets in use. A client keeps its connections and credentials.
static STORES: LazyLock<Mutex<HashMap<String, Arc<Store>>>> = LazyLock::new(Mutex::default);

pub(super) fn runtime() -> io::Result<&'static Runtime> {
    let failed = |error: &io::Error| io::Error::other(format!("cannot start threads: {error}"));
    RUNTIME.as_ref().map_err(failed)
}

/// Two clients for one bucket.
#[derive(Debug)]
pub(super) struct Store {
    /// For metadata requests. Fails soon, because a user is waiting.
    pub(super) lookup: Arc<dyn ObjectStore>,
    /// For the content of objects. Long runs should survive minutes without a network.
    pub(super) transfer: Arc<dyn ObjectStore>,
}

/// The provider of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreKind {
    S3,
    Google,
    Azure,
    #[cfg(test)]
    Memory,
}

impl StoreKind {
    fn from_scheme(scheme: &str) -> Option<Self> {
        Some(match scheme {
            "s3" => Self::S3,
            "gs" => Self::Google,
            "az" => Self::Azure,
            #[cfg(test)]
            "memory" => Self::Memory,
            _ => return None,
        })
    }
}

/// Location of an object or of a folder of objects.
#[derive(Clone, Debug)]
pub(super) struct ObjectLocation {
    pub(super) url: String,
    pub(super) kind: StoreKind,
    pub(super) store: Arc<Store>,
    pub(super) key: Path,
}

impl fmt::Display for ObjectLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl ObjectLocation {
    /// Parses a URL. The key after the bucket is used as written, without percent decoding.
    pub(super) fn parse(url: &str) -> io::Result<Self> {
        // `Path::join` adds backslashes on Windows.
        let url = if cfg!(windows) { url.replace('\\', "/") } else { url.to_owned() };
        let parts = url.split_once("://");
        let parts = parts.and_then(|(scheme, rest)| Some((StoreKind::from_scheme(scheme)?, rest)));
        let (kind, rest) = parts.ok_or_else(|| unusable("not the URL of an object store"))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if rest.contains('@') && !is_word(bucket) {
            return Err(unusable(
                "the URL contains a user or a password: expected s3://BUCKET/KEY; set credentials in \
                 environment variables such as AWS_ACCESS_KEY_ID",
            ));
        }
        if bucket.is_empty() || !is_word(bucket) {
            return Err(unusable("the URL has no valid bucket name: expected s3://BUCKET/KEY"));
        }
        // A signature has no use here and would end up in logs and manifests.
        if key.split_once('?').is_some_and(|(_, query)| query.contains('=')) {
            return Err(unusable(
                "the URL contains a query: expected s3://BUCKET/KEY; set credentials in environment variables \
                 such as AWS_ACCESS_KEY_ID",
            ));
        }
        let key = Path::parse(key).map_err(|error| unusable(&error.to_string()))?;
        let store = store(kind, bucket)?;
        Ok(Self { url, kind, store, key })
    }

    /// Makes a request and blocks until the store replies.
    pub(super) fn request<T>(
        &self,
        request: impl AsyncFnOnce(&Self) -> object_store::Result<T>,
    ) -> io::Result<T> {
        let runtime = runtime()?;
        // An unforeseen value of an environment variable may make the client panic. It is not an internal error.
        let replied = catch(|| runtime.block_on(request(self)));
        let invalid = "the environment variables of the store have invalid values";
        replied.map_err(|_| unusable(invalid))?.map_err(|error| refused(self.kind, &error))
    }
}

/// Whether a text can be part of a host name.
fn is_word(text: &str) -> bool {
    text.bytes().all(|c| c.is_ascii_alphanumeric() || b".-_".contains(&c))
}

fn store(kind: StoreKind, bucket: &str) -> io::Result<Arc<Store>> {
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("{kind:?} {bucket}");
    if let Some(store) = stores.get(&name) {
        return Ok(Arc::clone(store));
    }
    check_variables(kind, std::env::vars_os())?;
    // Installs the cryptography of TLS. Fails if this module or the program that uses this crate has already done so.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = |limits| build(kind, bucket, limits).map_err(|error| refused(kind, &error));
    #[cfg_attr(not(test), expect(unused_mut, reason = "only changed in tests"))]
    let mut built = Store { lookup: client(LOOKUP_LIMITS)?, transfer: client(TRANSFER_LIMITS)? };
    #[cfg(test)]
    if kind == StoreKind::Memory {
        built.transfer = Arc::clone(&built.lookup);
    }
    let store = Arc::new(built);
    stores.insert(name, Arc::clone(&store));
    Ok(store)
}

/// Checks the environment variables that configure a client. Their values go into request headers, and a line end in
/// one of them would make every request fail.
fn check_variables(
    kind: StoreKind,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> io::Result<()> {
    for (name, value) in variables {
        let name = name.to_string_lossy();
        let key = name.to_ascii_lowercase();
        let is_used = match kind {
            StoreKind::S3 => name.starts_with("AWS_") && key.parse::<AmazonS3ConfigKey>().is_ok(),
            StoreKind::Google => {
                name.starts_with("GOOGLE_") && key.parse::<GoogleConfigKey>().is_ok()
            }
            StoreKind::Azure => name.starts_with("AZURE_") && key.parse::<AzureConfigKey>().is_ok(),
            #[cfg(test)]
            StoreKind::Memory => false,
        };
        // The key of a Google account is a JSON document of several lines.
        let is_fine = |text: &str| text.starts_with('{') || !text.contains(char::is_control);
        if is_used && !value.to_str().is_some_and(is_fine) {
            return Err(unusable(&format!(
                "the environment variable {name} contains a line end, another control character or invalid \
                 UTF-8: expected one line of text"
            )));
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct RequestLimits {
    /// Time limit for one request and its reply.
    request: Duration,
    /// Time after the first attempt. No retry begins later.
    retry: Duration,
    max_retries: usize,
}

const LOOKUP_LIMITS: RequestLimits = RequestLimits {
    request: Duration::from_secs(15),
    retry: Duration::from_secs(10),
    max_retries: 4,
};

/// Enough for four parts of 8 MiB at once at 2.5 Mbit/s.
const TRANSFER_LIMITS: RequestLimits = RequestLimits {
    request: Duration::from_mins(2),
    retry: Duration::from_mins(4),
    max_retries: 30,
};

/// Builds a client for a bucket. All other settings come from environment variables.
fn build(
    kind: StoreKind,
    bucket: &str,
    limits: RequestLimits,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        max_retries: limits.max_retries,
        retry_timeout: limits.retry,
        ..RetryConfig::default()
    };
    let timeout = format!("{}s", limits.request.as_secs());
    Ok(match kind {
        StoreKind::S3 => {
            let mut builder = AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_retry(retry);
            // A user who sets an endpoint without TLS wants to use it.
            if endpoint()?.is_some_and(|endpoint| endpoint.scheme() == "http") {
                builder = builder.with_allow_http(true);
            }
            Arc::new(builder.build()?)
        }
        StoreKind::Google => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(bucket)
                .with_config(GoogleConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_retry(retry)
                .build()?,
        ),
        StoreKind::Azure => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_container_name(bucket)
                .with_config(AzureConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_retry(retry)
                .build()?,
        ),
        #[cfg(test)]
        StoreKind::Memory => Arc::new(object_store::memory::InMemory::new()),
    })
}

fn endpoint() -> object_store::Result<Option<Url>> {
    for name in ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"] {
        let Ok(endpoint) = std::env::var(name) else { continue };
        return match Url::parse(&endpoint) {
            Ok(url) if ["http", "https"].contains(&url.scheme()) && url.has_host() => Ok(Some(url)),
            _ => {
                // The message does not quote the value, because it may contain a password.
                let why = format!("{name} is not a URL: expected http(s)://HOST:PORT");
                Err(object_store::Error::Generic { store: "S3", source: why.into() })
            }
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn credentials_in_a_url_are_rejected_and_not_shown() {
        for url in [
            "s3://AKIAKEY:hidden@bucket/a.hcp",
            "s3://AKIAKEY:hid/hidden@bucket/a.hcp",
            "s3://hidden@bucket",
            "az://container/a.hcp?sv=1&sig=hidden",
            "s3://bucket/a.hcp?X-Amz-Signature=hidden",
        ] {
            let error = ObjectLocation::parse(url).unwrap_err().to_string();
            assert_data_eq!(
                &*error,
                str![
                    "the URL contains a [..]: expected s3://BUCKET/KEY; set credentials in environment variables such as AWS_ACCESS_KEY_ID"
                ]
            );
            assert!(!error.contains("hidden") && !error.contains("AKIAKEY"), "{url}: {error}");
        }
        assert!(ObjectLocation::parse("memory://bucket/why?/a@b:c.hcp").is_ok());
    }

    #[test]
    fn errors_name_variables_that_are_invalid_in_a_header() {
        let check = |kind, name: &str, value: &str| {
            check_variables(kind, std::iter::once((name.into(), value.into())))
        };
        for (kind, name) in [
            (StoreKind::S3, "AWS_SECRET_ACCESS_KEY"),
            (StoreKind::S3, "AWS_ENDPOINT_URL"),
            (StoreKind::Azure, "AZURE_STORAGE_ACCOUNT_KEY"),
            (StoreKind::Google, "GOOGLE_SERVICE_ACCOUNT"),
        ] {
            let error = check(kind, name, "hidden\n").unwrap_err().to_string();
            assert!(!error.contains("hidden"), "{error}");
            assert_data_eq!(
                error.replace(name, "NAME"),
                str![
                    "the environment variable NAME contains a line end, another control character or invalid UTF-8: expected one line of text"
                ]
            );
            assert!(check(kind, name, "http://a-b:c d").is_ok(), "{name}");
        }
        assert!(check(StoreKind::S3, "AWS_OF_SOMEBODY_ELSE", "\u{1b}").is_ok());
        assert!(check(StoreKind::Google, "GOOGLE_SERVICE_ACCOUNT_KEY", "{\n}").is_ok());
    }
}
