//! Removes credentials of stores from text that other people may read in logs.
//!
//! A URL may contain a user and a password before the host, and a signature after `?` (RFC 3986, section 3).

use std::borrow::Cow;

/// Prefixes of the environment variables that configure stores.
const FAMILIES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// A variable is secret if its name contains one of these words.
const SECRET: [&str; 6] = ["KEY", "SECRET", "TOKEN", "PASSWORD", "SAS", "SIGNATURE"];

/// Values shorter than this are not hidden: `true` or a number may occur anywhere in a text.
const SHORTEST_SECRET: usize = 8;

const HIDDEN: &str = "…";

/// Hides the credentials in the URLs of a text and the values of this process's secret environment variables.
pub(crate) fn without_secrets(text: &str) -> Cow<'_, str> {
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let value = value.into_string().ok()?;
        is_secret(name.to_str()?).then_some(value)
    });
    hide(text, variables)
}

fn is_secret(name: &str) -> bool {
    FAMILIES.iter().any(|family| name.starts_with(family))
        && SECRET.iter().any(|word| name.contains(word))
}

fn hide(text: &str, values: impl Iterator<Item = String>) -> Cow<'_, str> {
    let mut hidden = Cow::Borrowed(text);
    for value in values {
        let value = value.trim();
        if value.len() >= SHORTEST_SECRET && hidden.contains(value) {
            hidden = hidden.replace(value, HIDDEN).into();
        }
    }
    if hidden.contains("://") { hide_in_urls(&hidden).into() } else { hidden }
}

fn hide_in_urls(text: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let is_end = |c: char| c.is_whitespace() || c.is_control() || "\"'`<>()".contains(c);
        let (url, after) = after.split_at(after.find(is_end).unwrap_or(after.len()));
        hidden.extend([before, "://"]);
        let url =
            without_user(url).map_or(Cow::Borrowed(url), |url| format!("{HIDDEN}@{url}").into());
        match url.split_once('?') {
            Some((place, query)) if query.contains('=') => hidden.extend([place, "?", HIDDEN]),
            _ => hidden.push_str(&url),
        }
        rest = after;
    }
    hidden + rest
}

/// Removes user and password from a URL without its scheme. `None` if it has none. A password may contain a slash that
/// should have been written as `%2F`. In this case the host seems to contain a colon that is not followed by a port.
fn without_user(url: &str) -> Option<&str> {
    let host = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    if let Some(at) = host.rfind('@') {
        return Some(&url[at + 1..]);
    }
    let (_, port) = host.split_once(':')?;
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    url.rfind('@').filter(|_| !is_port).map(|at| &url[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        hide(text, ["SECRETSECRET".to_owned(), "true".to_owned()].into_iter()).into_owned()
    }

    #[test]
    fn users_passwords_and_signatures_are_hidden() {
        for (text, expected) in [
            ("cannot open s3://key:secret@bucket/a.hcp: no", "cannot open s3://…@bucket/a.hcp: no"),
            ("s3://key:se/cr@et@bucket/a", "s3://…@bucket/a"),
            ("(http://user@host:9000/a b)", "(http://…@host:9000/a b)"),
            ("'az://c/a?sv=1&sig=abc' and s3://b/c", "'az://c/a?…' and s3://b/c"),
            ("url (https://u:p@h/?X-Amz-Signature=1): true", "url (https://…@h/?…): true"),
            (
                "http://h:9000/a@b s3://b/a@b s3://b/why?",
                "http://h:9000/a@b s3://b/a@b s3://b/why?",
            ),
            ("signed with SECRETSECRET.", "signed with …."),
            ("局://局:局@局", "局://…@局"),
            ("no secret at all: a@b?c=d", "no secret at all: a@b?c=d"),
        ] {
            assert_eq!(hidden(text), expected);
        }
    }

    #[test]
    fn only_secret_variables_of_stores_are_hidden() {
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_SAS_KEY"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["AWS_REGION", "AWS_ENDPOINT_URL", "SSH_KEY", "HOME"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
