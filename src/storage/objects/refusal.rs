//! Errors of object stores, with advice for the user.

use std::error::Error;
use std::io::{self, ErrorKind};

use crate::storage::objects::store::StoreKind;
use crate::storage::secrets::without_secrets;

/// Kind of the error for an object that has changed since the first request.
pub(super) const CHANGED: ErrorKind = ErrorKind::StaleNetworkFileHandle;

/// Paths where a client without credentials requests them from the metadata service of a cloud machine.
const OWN_CREDENTIALS: [&str; 3] =
    ["/latest/api/token", "/computeMetadata/", "/metadata/identity/"];

pub(super) fn unusable(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

pub(super) fn changed() -> io::Error {
    io::Error::new(CHANGED, "the object has changed since it was first read")
}

pub(super) fn refused(kind: StoreKind, error: &object_store::Error) -> io::Error {
    use object_store::Error as Store;
    let message = chain(error);
    let (error_kind, advice) = match error {
        _ if message.contains("NoSuchBucket") => {
            (ErrorKind::NotFound, "there is no such bucket".into())
        }
        Store::NotFound { .. } => {
            let advice = "there is no such object, or no such bucket".to_owned();
            (ErrorKind::NotFound, advice)
        }
        Store::AlreadyExists { .. } => (ErrorKind::AlreadyExists, "it exists".to_owned()),
        Store::Precondition { .. } | Store::NotModified { .. } => return changed(),
        Store::PermissionDenied { .. } | Store::Unauthenticated { .. } => {
            let advice = format!("access was denied: {}", credentials(kind));
            (ErrorKind::PermissionDenied, advice)
        }
        Store::NotImplemented { .. } | Store::NotSupported { .. } => {
            (ErrorKind::Unsupported, "the store does not support this operation".to_owned())
        }
        _ if OWN_CREDENTIALS.iter().any(|path| message.contains(path)) => {
            // The message is about the service of a cloud machine that was asked for credentials.
            tracing::info!("{message}");
            let advice = format!("there are no credentials: {}", credentials(kind));
            return io::Error::new(ErrorKind::PermissionDenied, advice);
        }
        _ if message.contains("error sending request") => {
            (ErrorKind::NotConnected, format!("the store does not answer: {}", endpoint(kind)))
        }
        _ => (ErrorKind::Other, "the store refused the request".to_owned()),
    };
    io::Error::new(error_kind, format!("{advice} ({message})"))
}

const fn credentials(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::S3 => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket"
        }
        StoreKind::Google => "set GOOGLE_SERVICE_ACCOUNT to the file of a service account",
        StoreKind::Azure => "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        #[cfg(test)]
        StoreKind::Memory => "",
    }
}

const fn endpoint(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::S3 => "check AWS_ENDPOINT_URL and AWS_REGION",
        StoreKind::Google | StoreKind::Azure => "check the network connection",
        #[cfg(test)]
        StoreKind::Memory => "",
    }
}

/// An error and its causes on one line, without repetitions and secrets.
fn chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
        source = error.source();
    }
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    without_secrets(&shortened(&message)).into_owned()
}

/// Replaces the XML document of a store by its code and message.
fn shortened(message: &str) -> String {
    let Some((before, document)) = message.split_once('<') else { return message.to_owned() };
    let within = |tag: &str| {
        let (_, after) = document.split_once(&format!("<{tag}>"))?;
        after.split_once("</").map(|(text, _)| text)
    };
    match (within("Code"), within("Message")) {
        (Some(code), Some(message)) => format!("{before}{code}: {message}"),
        (Some(code), None) => format!("{before}{code}"),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_store_are_one_short_line_without_secrets() {
        let document = "404: <?xml version=\"1.0\"?> <Error><Code>NoSuchBucket</Code><Message>There is \
                        none</Message><HostId>abc</HostId></Error>";
        assert_eq!(shortened(document), "404: NoSuchBucket: There is none");
        for message in ["refused", "a < b", "<html><b>no</b></html>"] {
            assert_eq!(shortened(message), message);
        }
        let source = io::Error::other("the cause\n  of it");
        let error = object_store::Error::Generic { store: "S3", source: source.into() };
        assert_eq!(chain(&error), "Generic S3 error: the cause of it");
        let source = io::Error::other(
            "error sending request for url (http://user:hidden@host:9/a?sig=hidden)",
        );
        let error = object_store::Error::Generic { store: "S3", source: source.into() };
        assert!(!refused(StoreKind::S3, &error).to_string().contains("hidden"));
    }
}
