//! Phrases that make technical English hard to read must stay rare in the texts of the project.

use std::path::Path;

use super::layers::sources;

/// Each phrase is harmless alone, but a text with many of them is hard to read. Words are separated by one space.
const PHRASES: &str = "behind|so many|so much|so far|stands|stood|said|says|told|tells|speaks|nobody|anew|afresh|go on|\
    goes on|gone|asked for|asked about|is asked|are asked|set aside|sets aside|of its own|of their own|nothing else|\
    but for|for which|of which|in which|those of|that of|how far|comes of it|only once|as a rule|beside|whoever|\
    whatever|wherever|is no|are no|what was|what it|what they|what stands|what lies|what becomes|what makes|what follows";

/// The largest allowed number of phrases per 1,000 words.
const LIMIT: usize = 4;

/// The comments and string literals of a Rust file, or the text of a page without its code blocks.
fn prose(path: &Path, text: &str) -> String {
    let mut is_code = false;
    let of_page = |line: &&str| {
        is_code ^= line.starts_with("```");
        !is_code
    };
    let of_rust = |line: &str| match line.split_once("//") {
        Some((_, comment)) => comment.to_owned(),
        None => line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" "),
    };
    match path.extension().unwrap().to_str().unwrap() {
        "rs" => text.lines().map(of_rust).collect::<Vec<_>>().join("\n"),
        "md" => text.lines().filter(of_page).collect::<Vec<_>>().join("\n"),
        _ => text.to_owned(),
    }
}

/// The numbers of words and of phrases in a text.
fn count(text: &str) -> (usize, usize) {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let joined = format!(" {} ", words.join(" ")).replace(" no longer ", " ");
    let phrases = PHRASES.split('|').map(|phrase| joined.matches(&format!(" {phrase} ")).count());
    (words.len(), phrases.sum())
}

#[test]
fn phrases_are_counted() {
    assert_eq!(count("Nobody \"said\" what it\nis no longer."), (7, 3));
}

#[test]
fn odd_phrases_are_rare() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for place in
        ["src", "crates", "python/src", "docs", "README.md", "CONTRIBUTING.md", "tests/cmd"]
    {
        let files = sources(&root.join(place), &["rs", "md", "trycmd"]);
        let counts = files.iter().map(|(path, text)| count(&prose(path, text)));
        let (words, phrases) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert!(words > 500, "{place}: only {words} words were found");
        assert!(
            phrases * 1000 <= words * LIMIT,
            "{place}: {phrases} phrases in {words} words, more than {LIMIT} per 1,000"
        );
    }
}
