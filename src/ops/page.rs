//! Self-contained HTML pages.
//!
//! A page loads no external fonts, pictures or scripts. Its content security policy forbids them and allows only the
//! page's own script, identified by its checksum. The page is light or dark like the reader's system.
//!
//! Markup is built with `format!`. The crate `maud` (0.27) cannot close empty SVG elements with a slash and does not
//! escape apostrophes. With a line end after each element its templates are longer (20 lines instead of 9 for this
//! page), and it needs a second version of `syn` (7 s of CPU time to build).

use std::fmt::{Arguments, Write};

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::ops::language::Language;
use crate::records::output_kind::EncodedRecords;
use crate::records::sink::{OutputPlan, Sinks};

/// Style sheet of all pages.
const STYLE: &str = include_str!("page.css");

/// Maximum number of positions on a page. Browsers become slow with more.
#[cfg(feature = "cli")]
pub(crate) const MAX_POSITIONS: u64 = 5000;

pub(crate) struct Page<'a> {
    pub(crate) language: Language,
    /// Plain text, which is escaped.
    pub(crate) title: &'a str,
    /// Markup.
    pub(crate) subtitle: &'a str,
    /// Style sheets in addition to the common one.
    pub(crate) styles: &'a [&'a str],
    /// Markup.
    pub(crate) body: &'a str,
    /// JavaScript. The page must be readable without it.
    pub(crate) script: Option<&'a str>,
}

impl Page<'_> {
    pub(crate) fn html(&self) -> String {
        let Self { language, title, subtitle, styles, body, script } = self;
        let (language, title, styles) = (language.code(), escaped(title), styles.concat());
        let policy = script.map_or_else(String::new, |script| {
            format!("; script-src 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)))
        });
        let script =
            script.map_or_else(String::new, |script| format!("<script>{script}</script>\n"));
        format!(
            "<!DOCTYPE html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>\n{STYLE}{styles}</style>\n</head>\n<body>\n\
             <header>\n<h1>{title}</h1>\n<p>{subtitle}</p>\n</header>\n\
             <main>\n{body}</main>\n{script}</body>\n</html>\n"
        )
    }
}

pub(crate) fn write_page(plan: OutputPlan, html: &str) -> Result<(), Error> {
    let kind = plan.kind;
    let mut sinks = Sinks::create(&[plan])?;
    let mut encoded = EncodedRecords::default();
    encoded.push(html.as_bytes());
    sinks.write(kind, &encoded)?;
    sinks.finish()?.commit()
}

/// Escapes text for content and attributes.
pub(crate) fn escaped(text: &str) -> String {
    let replace = |text: String, (letter, name): (char, &str)| text.replace(letter, name);
    [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")]
        .into_iter()
        .fold(text.to_owned(), replace)
}

pub(crate) fn push(text: &mut String, more: Arguments<'_>) {
    text.write_fmt(more).expect("a string takes any text");
}

/// All arguments are markup.
pub(crate) fn figure(name: &str, caption: &str, content: &str) -> String {
    format!(
        "<figure>\n<figcaption><h2>{name}</h2><p>{caption}</p></figcaption>\n{content}</figure>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: Page<'_> = Page {
        language: Language::English,
        title: "",
        subtitle: "",
        styles: &[],
        body: "",
        script: None,
    };

    #[test]
    fn file_names_are_escaped() {
        assert_eq!(escaped("<a href='\"&\"'>"), "&lt;a href=&#39;&quot;&amp;&quot;&#39;&gt;");
        let page = Page { title: "</title><script>", ..EMPTY };
        let html = page.html();
        assert!(
            !html.contains("<script") && html.contains("&lt;/title&gt;&lt;script&gt;"),
            "{html}"
        );
    }

    #[test]
    fn policy_allows_only_the_script_of_the_page() {
        let page = Page { script: Some("alert(1)"), ..EMPTY };
        // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
        let policy = "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='";
        assert!(page.html().contains(policy), "{}", page.html());
    }
}
