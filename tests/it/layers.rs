//! The rooms of `src/` use only the rooms below them.
//!
//! Read from the sources: paths that begin at `crate`, at `kyokumen` in the programs, or climb there by
//! `super`. Comments and unit tests are left out: a test of the search may well play shogi.

use std::fs;
use std::path::{Path, PathBuf};

/// Each room with those it may use.
const ROOMS: [(&str, &[&str]); 10] = [
    ("random", &[]),
    ("game", &[]),
    ("shogi", &["random", "game"]),
    ("marubatsu", &["random", "game"]),
    ("format", &["shogi"]),
    ("search", &["game"]),
    ("solver", &["shogi", "search"]),
    ("pipeline", &["random", "game", "shogi", "marubatsu", "format", "search", "solver"]),
    ("cli", &["random", "game", "shogi", "marubatsu", "format", "search", "solver", "pipeline"]),
    (
        "main",
        &["random", "game", "shogi", "marubatsu", "format", "search", "solver", "pipeline", "cli"],
    ),
];

#[test]
fn no_arrow_points_up() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = source_files(&root);
    assert!(files.len() > 40, "{files:?}");
    let mut breaches = Vec::new();
    for file in files {
        let modules = module_path(file.strip_prefix(&root).unwrap());
        let text = fs::read_to_string(&file).unwrap();
        for (line, used) in breaches_in(&modules, &text) {
            breaches.push(format!("{}:{line}: {} uses {used}", file.display(), room(&modules)));
        }
    }
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// `search/dfpn.rs` is `["search", "dfpn"]`; crate roots are `[]`.
fn module_path(file: &Path) -> Vec<String> {
    let stem = file.with_extension("");
    let modules: Vec<String> = stem.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    match modules[0].as_str() {
        "lib" | "main" | "bin" => Vec::new(),
        _ => modules,
    }
}

fn room(modules: &[String]) -> &str {
    modules.first().map_or("main", String::as_str)
}

/// Lines, counted from 1, with the rooms they use and should not.
fn breaches_in(modules: &[String], text: &str) -> Vec<(usize, String)> {
    let own = room(modules);
    let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| *room == own) else {
        return vec![(1, format!("nothing: {own} is no room that this test knows"))];
    };
    rooms_used(modules, text)
        .into_iter()
        .filter(|(_, used)| used != own && !allowed.contains(&used.as_str()))
        .collect()
}

/// Every path from the crate root in a source, as its line and its first name.
fn rooms_used(modules: &[String], text: &str) -> Vec<(usize, String)> {
    let code = code_of(text);
    let mut used = Vec::new();
    let climb = "super::".repeat(modules.len().max(1));
    let roots: &[&str] =
        if modules.is_empty() { &["kyokumen::", "crate::"] } else { &["crate::", &climb] };
    for root in roots {
        for (start, _) in code.match_indices(root) {
            let before = code[..start].chars().next_back();
            // Not `$crate::`, not a longer name, and not the middle of a longer climb.
            if before.is_some_and(|c| c.is_alphanumeric() || "_$:".contains(c)) {
                continue;
            }
            let line = 1 + code[..start].matches('\n').count();
            let names = first_names(&code[start + root.len()..]);
            used.extend(names.into_iter().map(|name| (line, name)));
        }
    }
    used
}

/// The source without its comments and its unit tests, lines kept.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let lines = code.lines().map(|line| if is_comment(line) { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// `game::Hand` begins with `game`; `{game::{Game, Hand}, search}` with `game` and `search`.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut names = vec![name(group)];
    let mut depth = 1;
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(&group[index + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn arrows_that_point_up_are_seen() {
    let breaches = |modules: &[&str], text: &str| -> Vec<(usize, String)> {
        let modules: Vec<String> = modules.iter().map(ToString::to_string).collect();
        breaches_in(&modules, text)
    };
    let one = |line: usize, room: &str| vec![(line, room.to_owned())];
    assert_eq!(breaches(&["search", "dfpn"], "\nuse crate::shogi::Move;"), one(2, "shogi"));
    assert_eq!(breaches(&["shogi"], "fn f() { crate::search::go() }"), one(1, "search"));
    assert_eq!(breaches(&["shogi"], "use super::format::Record;"), one(1, "format"));
    assert_eq!(breaches(&["game"], "use crate::{\n    shogi::{Move, Hand},\n};"), one(1, "shogi"));
    assert_eq!(
        breaches(&["format", "hcp"], "use crate::{shogi::Move, pipeline::plan};"),
        one(1, "pipeline")
    );
    assert_eq!(breaches(&["format", "hcp"], "use super::super::cli::Args;"), one(1, "cli"));
    assert_eq!(breaches(&["marubatsu", "board"], "use crate::shogi::Hand;"), one(1, "shogi"));
    assert_eq!(breaches(&["pipeline", "work"], "use crate::cli;"), one(1, "cli"));
    assert_eq!(breaches(&["search"], "use crate::solver::Solver;"), one(1, "solver"));
    assert_eq!(breaches(&["secrets"], "").len(), 1);
}

#[test]
fn arrows_that_point_down_are_not() {
    let none = |modules: &[&str], text: &str| {
        let modules: Vec<String> = modules.iter().map(ToString::to_string).collect();
        assert_eq!(breaches_in(&modules, text), [], "{text}");
    };
    none(&["search", "dfpn"], "use crate::game::{Game, Hand};\nuse super::table::Table;");
    none(&["search", "dfpn"], "/// See [`crate::shogi`].\n//! kyokumen::cli");
    none(&["search"], "#[cfg(test)]\nmod tests {\n    use crate::shogi::Position;\n}");
    none(&["pipeline", "work"], "use crate::solver::Solver;\nuse crate::{format, shogi::Move};");
    none(&[], "use kyokumen::cli;");
    none(&["shogi", "mate"], "use crate::game;\nuse super::position::Position;");
}
