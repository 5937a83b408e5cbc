//! Snapshots of what commands print: `tests/cmd/*.trycmd`, the README and the pages in `docs/`.
//!
//! After an intended change, `TRYCMD=overwrite cargo test cli_snapshots` rewrites them. Then replace values that differ
//! from run to run (times, nodes of a search) by `[..]` again.

use std::fs;
use std::path::Path;

use crate::harness::Dir;

#[test]
fn commands_print_the_snapshots() {
    let cases = trycmd::TestCases::new();
    cases.env("LC_ALL", "C").case("tests/cmd/*.trycmd").case("README.md").case("docs/*.md");
}

/// The blocks of shell commands on a page, as a reader would paste them.
fn shell_blocks(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().trim().to_owned()).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Uses fewer nodes than the README to save time.
#[test]
fn the_first_command_of_the_readme_runs() {
    let blocks = shell_blocks("README.md");
    let arguments = blocks[0].strip_prefix("cargo run --bin gen-filter -- ").unwrap();
    assert_eq!(blocks[1], "cargo test");
    let dir = Dir::new();
    let words = arguments.split(' ').map(|word| match word {
        "out" => dir.path().as_os_str(),
        word => word.as_ref(),
    });
    let mut command = dir.program("gen-filter", words);
    command.0.current_dir(root());
    command.args(["--nodes", "1000", "--progress", "none"]).succeeds();
    let lines = dir.text("sample.mated.jsonl");
    assert!(lines.lines().count() > 100);
}

#[cfg(unix)]
#[test]
fn the_usi_session_of_the_page_has_the_shown_number_of_lines() {
    let programs = assert_cmd::cargo::cargo_bin("kyokumen").parent().unwrap().to_owned();
    let run = std::process::Command::new("/bin/sh")
        .args(["-c", &shell_blocks("docs/usi.md")[0]])
        .env("PATH", programs)
        .output();
    let output = String::from_utf8(run.unwrap().stdout).unwrap();
    let page = fs::read_to_string(root().join("docs/usi.md")).unwrap();
    let (_, after) = page.split_once("| kyokumen usi\n```\n\n```text\n").unwrap();
    // Some lines contain a time, so only the number of lines and the last line are compared.
    let shown: Vec<&str> = after.split("```").next().unwrap().lines().collect();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!((lines.len(), lines.last()), (shown.len(), shown.last()));
}

/// The README and the pages that name every command and option, in both languages.
fn pages() -> String {
    let pages = [
        "README.md",
        "README.ja.md",
        "docs/commands.md",
        "docs/filters.md",
        "docs/library.md",
        "docs/object-stores.md",
        "docs/running.md",
        "docs/usi.md",
        "docs/formats/README.md",
        "docs/ja/usage.md",
    ];
    pages.map(|page| fs::read_to_string(root().join(page)).unwrap()).concat()
}

/// The pages name every command, and the help contains every option that the pages name.
#[test]
fn the_pages_name_only_existing_options_and_every_command() {
    let readme = pages();
    let help = |arguments: &[&str]| Dir::new().kyokumen(arguments).run().text();
    let mut known = help(&["--help"]);
    for command in [
        "filter",
        "convert",
        "solve",
        "verify",
        "stats",
        "usi",
        "inspect",
        "generate",
        "perft",
        "shuffle",
        "dedup",
        "split",
        "sample",
        "interleave",
        "marubatsu",
        "selfplay",
        "relabel",
    ] {
        assert!(
            readme.contains(&format!("`kyokumen {command}")),
            "the pages do not name {command}"
        );
        known += &help(&[command, "--help"]);
    }
    known += &help(&["merge", "--help"]);
    known += &help(&["status", "--help"]);
    known += &help(&["dataset", "--help"]);
    known += &help(&["marubatsu", "show", "--help"]);
    known += &help(&["marubatsu", "check", "--help"]);
    let cargo_options =
        ["--release", "--bin", "--example", "--path", "--profile", "--open", "--features", "--"];
    for option in readme.split([' ', '`', '"', '\n', '(', ')', ',', ';', '、', '。', '=']) {
        if option.starts_with("--") && !cargo_options.contains(&option) && !option.contains('|') {
            assert!(known.contains(option), "the pages name {option}, but no help contains it");
        }
    }
}

/// A page in both languages, and the headings of sections that exist only in English.
const IN_BOTH_LANGUAGES: [(&str, &str, &[&str]); 11] = [
    ("README.md", "README.ja.md", &[]),
    ("docs/commands.md", "docs/ja/commands.md", &[]),
    ("docs/filters.md", "docs/ja/filters.md", &[]),
    ("docs/running.md", "docs/ja/running.md", &[]),
    ("docs/formats/README.md", "docs/ja/formats.md", &[]),
    ("docs/datasets.md", "docs/ja/datasets.md", &[]),
    ("docs/other-tools.md", "docs/ja/other-tools.md", &[]),
    ("docs/usi.md", "docs/ja/usi.md", &[]),
    ("docs/selfplay.md", "docs/ja/selfplay.md", &["How it is done", "What it costs"]),
    ("docs/tsume.md", "docs/ja/tsume.md", &[]),
    ("docs/search.md", "docs/ja/search.md", &["Hazards", "Sources"]),
];

/// The text of a page without the sections of these headings.
fn without_sections(page: &str, left_out: &[&str]) -> String {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let heading = |section: &str| section.lines().next().unwrap_or_default().to_owned();
    let sections: Vec<&str> = text.split("\n## ").collect();
    for &left_out in left_out {
        assert!(sections.iter().any(|section| heading(section) == left_out), "{page}: {left_out}");
    }
    let kept = sections.into_iter().filter(|section| !left_out.contains(&&*heading(section)));
    kept.collect::<Vec<_>>().join("\n## ")
}

/// The structure of a page in any language: levels of headings, rows of tables, list items, code blocks.
fn skeleton(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut block = None;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match (&mut block, is_fence) {
            (None, true) => block = Some(line.to_owned()),
            (Some(_), true) => parts.extend(block.take()),
            // Comments are in the language of the page.
            (Some(block), false) => {
                block.extend(["\n", line.split("  #").next().unwrap().trim_end()]);
            }
            (None, false) => parts.extend(skeleton_of_line(line)),
        }
    }
    parts
}

fn skeleton_of_line(line: &str) -> Option<String> {
    if line.starts_with('#') {
        return Some(line.split(' ').next().unwrap().to_owned());
    }
    if line.starts_with("| ") {
        return Some(format!("a row of {} cells", line.matches('|').count()));
    }
    let is_item = line.starts_with("* ")
        || line.starts_with("- ")
        || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
    is_item.then(|| "an item".to_owned())
}

/// Large round numbers in full, since the languages group digits differently: `5.1 million` and `510 万` are 5100000.
fn in_full(text: &str) -> String {
    let is_figure = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let mut text = text.to_owned();
    for (unit, size) in [(" million", 1_000_000.0), (" 万", 10_000.0)] {
        let mut full = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(unit) {
            let number = before.trim_end_matches(is_figure).len();
            full += &before[..number];
            match before[number..].replace(',', "").parse::<f64>() {
                Ok(number) => full.extend([&*format!("{:.0}", number * size)]),
                Err(_) => full.extend([&before[number..], unit]),
            }
            rest = after;
        }
        text = full + rest;
    }
    text
}

/// Code spans outside of blocks, and figures with a comma, a point or at least two digits.
fn code_and_figures(text: &str) -> (Vec<String>, Vec<String>) {
    let outside = text.split("```").step_by(2).collect::<String>();
    let spans = outside.split('`').skip(1).step_by(2);
    // A code span may contain a line break.
    let mut code: Vec<String> = spans.map(|span| span.replace('\n', " ")).collect();
    code.sort();
    code.dedup();
    let is_figure = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    // Link targets differ between the languages and may contain digits.
    let without_targets =
        text.split("](").enumerate().map(|(i, part)| match part.split_once(')') {
            Some((_, rest)) if i > 0 => rest,
            _ => part,
        });
    let text = in_full(&without_targets.collect::<Vec<_>>().join(" "));
    let words = text.split(|c: char| !is_figure(c));
    let words = words.map(|word| word.trim_matches(['.', ',']));
    let mut figures: Vec<String> = words
        .filter(|word| word.chars().any(|c| c == '.' || c == ',') || word.len() > 1)
        .map(str::to_owned)
        .collect();
    figures.sort();
    figures.dedup();
    (code, figures)
}

/// The Japanese pages have the headings, tables, lists, blocks, code and figures of the English pages. Change both
/// languages together.
#[test]
fn the_japanese_pages_keep_step() {
    for (english, japanese, left_out) in IN_BOTH_LANGUAGES {
        let [in_english, in_japanese] =
            [without_sections(english, left_out), without_sections(japanese, &[])];
        let [expected, found] = [skeleton(&in_english), skeleton(&in_japanese)];
        if let Some(place) =
            (0..expected.len().max(found.len())).find(|&i| expected.get(i) != found.get(i))
        {
            let [expected, found] = [expected.get(place), found.get(place)];
            panic!("{japanese}: element {place} is {found:?}, but in {english} it is {expected:?}");
        }
        let (code, figures) = code_and_figures(&in_english);
        let (code_in_japanese, figures_in_japanese) = code_and_figures(&in_japanese);
        for (what, expected, found) in
            [("code", code, code_in_japanese), ("figures", figures, figures_in_japanese)]
        {
            let lacking: Vec<_> = expected.iter().filter(|one| !found.contains(one)).collect();
            let added: Vec<_> = found.iter().filter(|one| !expected.contains(one)).collect();
            assert!(
                lacking.is_empty() && added.is_empty(),
                "{what}: only {english} has {lacking:?}, only {japanese} has {added:?}"
            );
        }
    }
}

/// Links of the pages lead to existing files.
#[test]
fn links_lead_to_existing_files() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed = summary.split("](").skip(1).map(|link| link.split(')').next().unwrap());
    let pages = listed.map(|page| format!("docs/{page}"));
    let others = ["README.md", "README.ja.md", "docs/SUMMARY.md"].map(str::to_owned);
    for page in pages.chain(others) {
        let path = root().join(&page);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
        for link in text.split("](").skip(1).map(|link| link.split(')').next().unwrap()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let target = path.parent().unwrap().join(file);
            assert!(target.exists(), "{page} links to {link}");
        }
    }
}
