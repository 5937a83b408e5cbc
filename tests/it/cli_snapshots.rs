//! What the commands print, word for word: `tests/cmd/*.trycmd`, the README and the pages in `docs/`.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test cli_snapshots` writes them anew;
//! what differs from run to run (times, nodes of a search) is then to be replaced by `[..]` again.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use crate::harness::Dir;

#[test]
fn commands_print_what_the_snapshots_say() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("README.md").case("docs/*.md");
}

/// The blocks of shell commands of a page, as a reader would paste them.
fn shell_blocks(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().trim().to_owned()).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// With fewer nodes than the README's, for the sake of time.
#[test]
fn the_main_job_of_the_readme_runs() {
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
fn the_conversation_of_the_page_takes_place() {
    let programs = cargo_bin("kyokumen").parent().unwrap().to_owned();
    let run = Command::new("/bin/sh")
        .args(["-c", &shell_blocks("docs/usi.md")[0]])
        .env("PATH", programs)
        .output();
    let said = String::from_utf8(run.unwrap().stdout).unwrap();
    let page = fs::read_to_string(root().join("docs/usi.md")).unwrap();
    let (_, after) = page.split_once("| kyokumen usi\n```\n\n```text\n").unwrap();
    // The first line has a time in it.
    let shown: Vec<&str> = after.split("```").next().unwrap().lines().collect();
    let said: Vec<&str> = said.lines().collect();
    assert_eq!((said.len(), said.last()), (shown.len(), shown.last()));
}

/// The README and the pages in which every command and option is named, in both languages.
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

/// Every option and subcommand that the pages name is in the help.
#[test]
fn the_pages_name_what_there_is() {
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
        assert!(readme.contains(&format!("`kyokumen {command}")), "{command} is missing");
        known += &help(&[command, "--help"]);
    }
    known += &help(&["merge", "--help"]);
    known += &help(&["status", "--help"]);
    known += &help(&["dataset", "--help"]);
    known += &help(&["marubatsu", "show", "--help"]);
    known += &help(&["marubatsu", "check", "--help"]);
    let of_cargo =
        ["--release", "--bin", "--example", "--path", "--profile", "--open", "--features", "--"];
    for option in readme.split([' ', '`', '"', '\n', '(', ')', ',', ';', '、', '。', '=']) {
        if option.starts_with("--") && !of_cargo.contains(&option) && !option.contains('|') {
            assert!(known.contains(option), "{option} of the README is in no help");
        }
    }
}

/// A page in two languages, and the headings of what is in English only.
const IN_BOTH_LANGUAGES: [(&str, &str, &[&str]); 9] = [
    ("README.md", "README.ja.md", &[]),
    ("docs/commands.md", "docs/ja/commands.md", &[]),
    ("docs/filters.md", "docs/ja/filters.md", &[]),
    ("docs/running.md", "docs/ja/running.md", &[]),
    ("docs/formats/README.md", "docs/ja/formats.md", &[]),
    ("docs/datasets.md", "docs/ja/datasets.md", &[]),
    ("docs/usi.md", "docs/ja/usi.md", &[]),
    ("docs/selfplay.md", "docs/ja/selfplay.md", &["How it is done", "What it costs"]),
    ("docs/search.md", "docs/ja/search.md", &["Files", "Hazards", "Looking on", "Sources"]),
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

/// What does not depend on the language: the depth of headings, tables, items of lists, blocks.
fn skeleton(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut block = None;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match (&mut block, is_fence) {
            (None, true) => block = Some(line.to_owned()),
            (Some(_), true) => parts.extend(block.take()),
            (Some(block), false) => block.extend(["\n", line]),
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

/// What stands between backquotes outside of blocks; figures with a comma or a point, or of two digits.
fn code_and_figures(text: &str) -> (Vec<String>, Vec<String>) {
    let outside = text.split("```").step_by(2).collect::<String>();
    let spans = outside.split('`').skip(1).step_by(2);
    // A line may end within one.
    let mut code: Vec<String> = spans.map(|span| span.replace('\n', " ")).collect();
    code.sort();
    code.dedup();
    let is_figure = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    // Targets of links differ, and may have digits.
    let without_targets =
        text.split("](").enumerate().map(|(i, part)| match part.split_once(')') {
            Some((_, behind)) if i > 0 => behind,
            _ => part,
        });
    let text = without_targets.collect::<Vec<_>>().join(" ");
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

/// Headings, tables, lists, blocks, code and figures of the pages in Japanese are those of the English ones, in which
/// nothing changes without the other.
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
            panic!("{japanese}: part {place} is {found:?}, in {english} {expected:?}");
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
                "{what}: {japanese} lacks {lacking:?}, which {english} has; the other way round {added:?}"
            );
        }
    }
}

/// Links of the pages lead to files that are there.
#[test]
fn links_lead_somewhere() {
    let of_book = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed = of_book.split("](").skip(1).map(|link| link.split(')').next().unwrap());
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
