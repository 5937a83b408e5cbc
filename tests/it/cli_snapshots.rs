//! What the commands print, word for word: `tests/cmd/*.trycmd`, the README and the pages in `docs/`.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test cli_snapshots` writes them anew;
//! what differs from run to run (times, nodes of a search) is then to be replaced by `[..]` again.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

#[test]
#[cfg_attr(feature = "network", ignore = "a build with networks has one more benchmark")]
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
    let folder = TempDir::new().unwrap();
    let run = Command::new(cargo_bin("gen-filter"))
        .current_dir(root())
        .args(arguments.split(' ').map(|word| match word {
            "out" => folder.path().as_os_str().to_owned(),
            word => word.into(),
        }))
        .args(["--nodes", "1000", "--progress", "none"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let lines = fs::read_to_string(folder.path().join("sample.mated.jsonl")).unwrap();
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
    let help = |arguments: &[&str]| {
        let output = Command::new(cargo_bin("kyokumen")).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
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
        "bench",
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

/// What does not depend on the language: the depth of headings, commands, links, numbers of tables and lists.
fn skeleton(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut parts = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            parts.push(line.split(' ').next().unwrap().to_owned());
        }
        if line.starts_with("| ") {
            parts.push(format!("a row of {} cells", line.matches('|').count()));
        }
    }
    parts
}

/// Commands between backquotes, and those of blocks; figures with a unit or a comma.
fn commands_and_figures(page: &str) -> (Vec<String>, Vec<String>) {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut commands: Vec<String> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.contains("kyokumen ") || code.starts_with("--"))
        .map(str::to_owned)
        .collect();
    commands.extend(shell_blocks(page));
    commands.sort();
    let is_figure = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let words = text.split(|c: char| !is_figure(c));
    let words = words.map(|word| word.trim_matches(['.', ',']));
    let mut figures: Vec<String> = words
        .filter(|word| word.chars().any(|c| c == '.' || c == ',') || word.len() > 2)
        .map(str::to_owned)
        .collect();
    figures.sort();
    figures.dedup();
    (commands, figures)
}

#[test]
fn the_japanese_readme_keeps_step() {
    let [english, japanese] = ["README.md", "README.ja.md"];
    assert_eq!(skeleton(japanese), skeleton(english));
    let (commands, figures) = commands_and_figures(english);
    let (in_japanese, figures_in_japanese) = commands_and_figures(japanese);
    assert_eq!(in_japanese, commands);
    assert_eq!(figures_in_japanese, figures);
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
