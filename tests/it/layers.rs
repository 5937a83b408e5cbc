//! Checks that the compiler does not make: dependencies between the modules of `src`, and the width of comments.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of `src`. Each may use only those before it.
const MODULES: [&str; 10] =
    ["storage", "records", "engine", "mate", "jobs", "ops", "usi", "selfplay", "relabel", "cli"];

/// The files at or below `path` with one of these extensions, and their texts. Skips build outputs and Japanese pages.
pub(crate) fn sources(path: &Path, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    if path.is_dir() {
        let is_skipped = path.ends_with("target") || path.ends_with("ja");
        let entries = fs::read_dir(path).unwrap().filter(|_| !is_skipped);
        return entries.flat_map(|entry| sources(&entry.unwrap().path(), extensions)).collect();
    }
    let is_wanted = extensions.iter().any(|one| path.extension() == Some(one.as_ref()));
    is_wanted.then(|| (path.to_owned(), fs::read_to_string(path).unwrap())).into_iter().collect()
}

#[test]
fn modules_use_only_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, text) in sources(&root, &["rs"]) {
        let within = path.strip_prefix(&root).unwrap().with_extension("");
        let module = within.iter().next().unwrap().to_str().unwrap();
        let Some(place) = MODULES.iter().position(|name| *name == module) else { continue };
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        for line in code.lines().filter(is_code).filter(|_| !path.ends_with("tests.rs")) {
            for (used_place, used) in MODULES.iter().enumerate() {
                let is_allowed = used_place <= place;
                let is_used = line.contains(&format!("crate::{used}::"));
                assert!(is_allowed || !is_used, "{}: {line}", path.display());
            }
        }
    }
}

/// rustfmt does not wrap comments.
#[test]
fn comments_have_at_most_120_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "crates", "python/src", "benches/src", "tests"] {
        for (path, text) in sources(&root.join(folder), &["rs"]) {
            let is_comment = |line: &&str| line.trim_start().starts_with("//");
            let wide = text.lines().filter(is_comment).find(|line| line.chars().count() > 120);
            assert_eq!(wide, None, "{}", path.display());
        }
    }
}
