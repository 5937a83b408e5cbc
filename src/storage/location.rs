//! Paths and URLs on the command line.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::storage::{files, objects};

/// Parser of a path or a URL.
pub(crate) fn location() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(parse_location)
}

/// Parses a word of the command line: `file:///a/b` becomes `/a/b`, and the URL of an object stays as it is. The error
/// is a message for the user.
pub(crate) fn parse_location(word: PathBuf) -> Result<PathBuf, String> {
    match word.to_str() {
        Some(text) if text.contains("://") => place_of_url(text),
        _ => Ok(word),
    }
}

fn place_of_url(word: &str) -> Result<PathBuf, String> {
    if let Some(rest) = word.strip_prefix("file://") {
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        if !path.starts_with('/') {
            return Err("a file:// URL begins with three slashes".to_owned());
        }
        return decoded(path).map(PathBuf::from).ok_or_else(|| "it is no path in UTF-8".to_owned());
    }
    let path = PathBuf::from(word);
    if files::is_object(&path) {
        objects::check(word)?;
    } else if word.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
        return Err("of URLs only s3://, gs://, az:// and file:// are known".to_owned());
    }
    Ok(path)
}

/// At least two letters: one letter is a drive of Windows.
fn is_scheme(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c))
}

/// Decodes the percent encoding of URLs.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let digits = behind.get(..2).filter(|text| text.bytes().all(|c| c.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &behind[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn unknown_urls_are_refused() {
        for path in ["a/b.hcp", "-", "C://a", "s3:/a/b", "gs.hcp", "s3//a"] {
            assert_eq!(parse_location(path.into()), Ok(path.into()));
        }
        assert_eq!(parse_location("s3://a/b.hcp".into()).is_ok(), objects::IS_BUILT_IN);
        for url in ["http://a/b", "https://a/b", "ftp://a/b.hcp", "S3://a/b"] {
            assert_data_eq!(
                parse_location(url.into()).unwrap_err(),
                str!["of URLs only s3://, gs://, az:// and file:// are known"]
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
