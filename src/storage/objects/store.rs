//! Which store a URL speaks of, and how long it is waited for.

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

/// Buckets used so far. A client keeps its connections and credentials.
static STORES: LazyLock<Mutex<HashMap<String, Arc<Store>>>> = LazyLock::new(Mutex::default);

pub(super) fn runtime() -> io::Result<&'static Runtime> {
    let failed = |error: &io::Error| io::Error::other(format!("cannot start threads: {error}"));
    RUNTIME.as_ref().map_err(failed)
}

/// Two clients for one bucket.
#[derive(Debug)]
pub(super) struct Store {
    /// For metadata requests. A user is waiting, so errors must be reported soon.
    pub(super) lookup: Arc<dyn ObjectStore>,
    /// For the bytes of long runs, which should survive minutes without a network.
    pub(super) transfer: Arc<dyn ObjectStore>,
}

/// Where objects are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreKind {
    S3,
    Google,
    Azure,
    #[cfg(test)]
    Memory,
}

impl StoreKind {
    fn of(scheme: &str) -> Option<Self> {
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
    pub(super) fn of(url: &str) -> io::Result<Self> {
        // A path was joined to it.
        let url = if cfg!(windows) { url.replace('\\', "/") } else { url.to_owned() };
        let parts =
            url.split_once("://").and_then(|(scheme, rest)| Some((StoreKind::of(scheme)?, rest)));
        let (kind, rest) = parts.ok_or_else(|| unusable("it is no URL of an object"))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if rest.contains('@') && !is_word(bucket) {
            return Err(unusable(
                "it holds a user or a password: expected s3://BUCKET/KEY; what gives access is taken from \
                 variables, as AWS_ACCESS_KEY_ID",
            ));
        }
        if bucket.is_empty() || !is_word(bucket) {
            return Err(unusable("it names no bucket: expected s3://BUCKET/KEY"));
        }
        // A signature would be of no use here, and would end up in logs and manifests.
        if key.split_once('?').is_some_and(|(_, query)| query.contains('=')) {
            return Err(unusable(
                "it holds a query behind a question mark: expected the name of an object alone; what gives \
                 access is taken from variables, as AWS_ACCESS_KEY_ID",
            ));
        }
        let key = Path::parse(key).map_err(|error| unusable(&error.to_string()))?;
        let store = store(kind, bucket)?;
        Ok(Self { url, kind, store, key })
    }

    /// Blocks until the store answers.
    pub(super) fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&Self) -> object_store::Result<T>,
    ) -> io::Result<T> {
        let runtime = runtime()?;
        // A variable of the environment with something unforeseen in it is no fault of this program.
        let asked = catch(|| runtime.block_on(question(self)));
        let asked = asked.map_err(|_| unusable("the store cannot be asked with these settings"))?;
        asked.map_err(|error| refused(self.kind, &error))
    }
}

/// Whether a text can be part of a host name as it is.
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
    // Clients encrypt with what the process has chosen, be it by us, at an earlier store, or by whoever uses us.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = |limits| build(kind, bucket, limits).map_err(|error| refused(kind, &error));
    #[cfg_attr(not(test), expect(unused_mut, reason = "only a store of tests is changed"))]
    let mut built = Store { lookup: client(LOOKUP_LIMITS)?, transfer: client(TRANSFER_LIMITS)? };
    #[cfg(test)]
    if kind == StoreKind::Memory {
        built.transfer = Arc::clone(&built.lookup);
    }
    let store = Arc::new(built);
    stores.insert(name, Arc::clone(&store));
    Ok(store)
}

/// Checks the variables that configure a client: they go into request headers, and with a line end in one of them every
/// request fails.
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
        // The key of a Google account is a document of several lines.
        let is_fine = |text: &str| text.starts_with('{') || !text.contains(char::is_control);
        if is_used && !value.to_str().is_some_and(is_fine) {
            return Err(unusable(&format!(
                "the variable {name} holds a line end, another control character or no UTF-8: expected one \
                 line of text"
            )));
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct RequestLimits {
    /// Limit for one request and its answer.
    request: Duration,
    /// Time after the first try within which another one may begin.
    tries: Duration,
    most_retries: usize,
}

const LOOKUP_LIMITS: RequestLimits = RequestLimits {
    request: Duration::from_secs(15),
    tries: Duration::from_secs(10),
    most_retries: 4,
};

/// Enough for four parts of 8 MiB at once at 2.5 Mbit/s.
const TRANSFER_LIMITS: RequestLimits = RequestLimits {
    request: Duration::from_mins(2),
    tries: Duration::from_mins(4),
    most_retries: 30,
};

/// Builds a client for a bucket. Everything else it needs comes from the environment.
fn build(
    kind: StoreKind,
    bucket: &str,
    limits: RequestLimits,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        max_retries: limits.most_retries,
        retry_timeout: limits.tries,
        ..RetryConfig::default()
    };
    let timeout = format!("{}s", limits.request.as_secs());
    Ok(match kind {
        StoreKind::S3 => {
            let mut builder = AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_retry(retry);
            // Whoever names an endpoint without TLS means it.
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
                // Not what it is: a password may stand in it.
                let why = format!("{name} is no URL: expected http(s)://HOST:PORT");
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
    fn what_gives_access_is_not_taken_from_a_url_and_not_shown() {
        for url in [
            "s3://AKIAKEY:hidden@bucket/a.hcp",
            "s3://AKIAKEY:hid/hidden@bucket/a.hcp",
            "s3://hidden@bucket",
            "az://container/a.hcp?sv=1&sig=hidden",
            "s3://bucket/a.hcp?X-Amz-Signature=hidden",
        ] {
            let error = ObjectLocation::of(url).unwrap_err().to_string();
            assert_data_eq!(
                &*error,
                str![
                    "it holds [..]: expected [..]; what gives access is taken from variables, as AWS_ACCESS_KEY_ID"
                ]
            );
            assert!(!error.contains("hidden") && !error.contains("AKIAKEY"), "{url}: {error}");
        }
        assert!(ObjectLocation::of("memory://bucket/why?/a@b:c.hcp").is_ok());
    }

    #[test]
    fn variables_that_no_header_can_hold_are_named() {
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
                    "the variable NAME holds a line end, another control character or no UTF-8: expected one line of text"
                ]
            );
            assert!(check(kind, name, "http://a-b:c d").is_ok(), "{name}");
        }
        assert!(check(StoreKind::S3, "AWS_OF_SOMEBODY_ELSE", "\u{1b}").is_ok());
        assert!(check(StoreKind::Google, "GOOGLE_SERVICE_ACCOUNT_KEY", "{\n}").is_ok());
    }
}
