//! Paths and URLs on the command line.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::storage::{files, objects};

/// Parser of a path or a URL.
pub(crate) fn location() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(parse_location)
}

/// Parses an argument of the command line. `file:///a/b` becomes `/a/b`. The URL of an object is returned unchanged.
/// The error is a message for the user.
pub(crate) fn parse_location(argument: PathBuf) -> Result<PathBuf, String> {
    match argument.to_str() {
        Some(text) if text.contains("://") => parse_url(text),
        _ => Ok(argument),
    }
}

fn parse_url(url: &str) -> Result<PathBuf, String> {
    if let Some(rest) = url.strip_prefix("file://") {
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        if !path.starts_with('/') {
            return Err("expected three slashes, as in file:///a/b".to_owned());
        }
        let invalid = || "the path has an invalid % escape or is not UTF-8".to_owned();
        return decoded(path).map(PathBuf::from).ok_or_else(invalid);
    }
    let path = PathBuf::from(url);
    if files::is_object(&path) {
        objects::check(url)?;
    } else if url.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
        return Err("unknown kind of URL: expected s3://, gs://, az:// or file://".to_owned());
    }
    Ok(path)
}

/// A scheme has at least two letters. One letter is a Windows drive.
fn is_scheme(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c))
}

/// Decodes the percent encoding of URLs. `None` if an escape is malformed or the result is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let digits = after.get(..2).filter(|text| text.bytes().all(|c| c.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn unknown_urls_are_rejected() {
        for path in ["a/b.hcp", "-", "C://a", "s3:/a/b", "gs.hcp", "s3//a"] {
            assert_eq!(parse_location(path.into()), Ok(path.into()));
        }
        assert_eq!(parse_location("s3://a/b.hcp".into()).is_ok(), objects::IS_BUILT_IN);
        for url in ["http://a/b", "https://a/b", "ftp://a/b.hcp", "S3://a/b"] {
            assert_data_eq!(
                parse_location(url.into()).unwrap_err(),
                str!["unknown kind of URL: expected s3://, gs://, az:// or file://"]
            );
        }
    }

    #[test]
    fn urls_of_files_are_paths() {
        assert_eq!(
            parse_location("file:///a/b%20c%e5%b1%80.hcp".into()),
            Ok(PathBuf::from("/a/b c局.hcp"))
        );
        assert_eq!(parse_location("file://localhost/a".into()), Ok(PathBuf::from("/a")));
        for url in ["file://host/a", "file://", "file:///%zz", "file:///%e5", "file:///%+1"] {
            assert!(parse_location(url.into()).is_err(), "{url}");
        }
    }
}
