//! The house in order: no file uses one that uses it, and each room uses only those below.
//!
//! Read from the sources of the workspace, see `graph`. Arrows between crates are the compiler's business, too; here
//! they have an order that a new line in a Cargo.toml does not change.

mod graph;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use graph::{Arrow, Graph, circles};

/// Each crate with those it may use.
const CRATES: [(&str, &[&str]); 12] = [
    ("crc-fast", &[]),
    ("game", &[]),
    ("shogi", &["game"]),
    ("search", &["game", "shogi"]),
    ("format", &["shogi"]),
    ("marubatsu", &["game"]),
    ("process", &[]),
    ("network", &["game", "shogi", "process"]),
    ("mcts", &["game", "shogi", "search", "network"]),
    ("selfplay", &["game", "shogi", "search", "format", "network", "mcts"]),
    ("testing", &["game", "shogi", "format"]),
    // The wheel stands on all of it, `src/` included.
    ("python", &["game", "shogi", "search", "format", "network"]),
];

/// Each room of `src/` with those it may use besides the crates.
const ROOMS: [(&str, &[&str]); 12] = [
    ("storage", &[]),
    ("records", &["storage"]),
    ("engine", &["storage", "records"]),
    ("mate", &["storage", "records", "engine"]),
    ("jobs", &["storage", "records", "engine", "mate"]),
    ("ops", &["storage", "records", "engine", "mate"]),
    ("selfplay", &["storage", "records", "engine", "mate", "jobs"]),
    ("relabel", &["storage", "records", "engine", "mate", "jobs", "selfplay"]),
    ("cli", &["storage", "records", "engine", "mate", "jobs", "ops", "selfplay", "relabel"]),
    // What hands everything on, and the programs.
    ("lib", &["storage", "records", "engine", "mate", "jobs", "ops", "selfplay", "relabel", "cli"]),
    ("main", &["lib", "cli"]),
    ("bin", &["lib", "cli"]),
];

static HOUSE: LazyLock<(BTreeMap<String, String>, Graph)> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = BTreeMap::new();
    add_sources(root, &root.join("src"), &mut files);
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        add_sources(root, &entry.unwrap().path().join("src"), &mut files);
    }
    let graph = Graph::new(&files);
    (files, graph)
});

static ARROWS: LazyLock<Vec<Arrow>> = LazyLock::new(|| HOUSE.1.arrows());

/// The texts of all Rust files in a folder, by their paths from `root` with slashes.
fn add_sources(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_sources(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// rustfmt leaves comments as they are.
#[test]
fn comments_fit_on_the_page() {
    for (file, text) in &HOUSE.0 {
        for (number, line) in (1..).zip(text.lines()) {
            let is_comment = line.trim_start().starts_with("//");
            assert!(!is_comment || line.chars().count() <= 120, "{file}:{number}: {line}");
        }
    }
}

#[test]
fn every_file_is_read() {
    let (files, graph) = &*HOUSE;
    let is_test = |file: &str| file.ends_with("/tests.rs");
    let unread: Vec<_> = files.keys().filter(|file| !graph.has(file) && !is_test(file)).collect();
    assert!(unread.is_empty(), "no module of any crate: {unread:#?}");
    assert!(ARROWS.len() > files.len(), "{} arrows between {} files", ARROWS.len(), files.len());
}

#[test]
fn no_circles_in_game() {
    assert_no_circles("crates/game/");
}

#[test]
fn no_circles_in_shogi() {
    assert_no_circles("crates/shogi/");
}

#[test]
fn no_circles_in_network() {
    assert_no_circles("crates/network/");
}

#[test]
fn no_circles_in_testing() {
    assert_no_circles("crates/testing/");
}

#[test]
fn no_circles_in_search() {
    assert_no_circles("crates/search/");
}

#[test]
fn no_circles_in_format() {
    assert_no_circles("crates/format/");
}

#[test]
fn no_circles_in_marubatsu() {
    assert_no_circles("crates/marubatsu/");
}

#[test]
fn no_circles_in_python() {
    assert_no_circles("crates/python/");
}

#[test]
fn no_circles_in_src() {
    assert_no_circles("src/");
}

#[test]
fn crates_keep_their_order() {
    assert_order("crates/");
}

#[test]
fn rooms_keep_their_order() {
    assert_order("src/");
}

fn assert_no_circles(folder: &str) {
    let arrows: Vec<Arrow> =
        ARROWS.iter().filter(|arrow| arrow.from.starts_with(folder)).cloned().collect();
    let found = circles(&arrows);
    let list: Vec<String> = found.iter().map(|circle| circle_text(circle)).collect();
    assert!(
        found.is_empty(),
        "circles of files in {folder}: {}\n{}",
        list.len(),
        list.join("\n\n")
    );
}

fn circle_text(circle: &[&Arrow]) -> String {
    let mut files: Vec<&str> = circle.iter().map(|arrow| arrow.from.as_str()).collect();
    files.dedup();
    let arrows: Vec<String> = circle.iter().map(|arrow| format!("    {arrow}")).collect();
    format!("a circle of {} files:\n{}", files.len(), arrows.join("\n"))
}

fn assert_order(folder: &str) {
    let here = ARROWS.iter().filter(|arrow| arrow.from.starts_with(folder));
    let wrong = breaches(here);
    assert!(wrong.is_empty(), "arrows against the order: {}\n{}", wrong.len(), wrong.join("\n"));
}

/// The arrows that the tables do not allow, each on a line.
fn breaches<'a>(arrows: impl IntoIterator<Item = &'a Arrow>) -> Vec<String> {
    let breach = |arrow: &Arrow| {
        let (from, to) = (room(&arrow.from), room(&arrow.to));
        let reason = match (allowed(from), allowed(to)) {
            (None, _) => format!("{} is no room of the tables", from.1),
            (_, None) => format!("{} is no room of the tables", to.1),
            (Some(rooms), Some(_)) => {
                // The wheel stands on the library, as the programs do.
                let is_above = from == (Part::Crates, "python") && to.0 == Part::Src;
                let is_above_crates = is_above || (from.0 == Part::Src && to.0 == Part::Crates);
                if from == to || is_above_crates || (from.0 == to.0 && rooms.contains(&to.1)) {
                    return None;
                }
                format!("{} may not use {}", from.1, to.1)
            }
        };
        Some(format!("{reason}: {arrow}"))
    };
    arrows.into_iter().filter_map(breach).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Crates,
    Src,
}

/// The crate or the room in which a file stands.
fn room(file: &str) -> (Part, &str) {
    match file.split('/').collect::<Vec<_>>()[..] {
        ["crates", name, ..] => (Part::Crates, name),
        ["src", name, ..] => (Part::Src, name.trim_end_matches(".rs")),
        _ => panic!("{file} is neither in crates/ nor in src/"),
    }
}

/// What a crate or a room may use of its kind; `None` where it does not stand in its table.
fn allowed((part, name): (Part, &str)) -> Option<&'static [&'static str]> {
    let table: &[_] = if part == Part::Crates { &CRATES } else { &ROOMS };
    table.iter().find(|(room, _)| *room == name).map(|(_, rooms)| *rooms)
}

/// What the reading sees in sources of a few lines.
mod readings {
    use super::*;

    /// The arrows of a crate `shogi` of these files, which are named without folder and ending.
    fn arrows(files: &[(&str, &str)]) -> Vec<Arrow> {
        let place = |name: &str| format!("crates/shogi/src/{name}.rs");
        let files = files.iter().map(|(name, text)| (place(name), (*text).to_owned())).collect();
        let short = |file: &str| {
            file.trim_start_matches("crates/shogi/src/").trim_end_matches(".rs").to_owned()
        };
        let arrows = Graph::new(&files).arrows().into_iter();
        arrows
            .map(|arrow| Arrow { from: short(&arrow.from), to: short(&arrow.to), ..arrow })
            .collect()
    }

    /// What the file `a` uses of a crate that also has `b` and `c`.
    fn used_by(text: &str) -> String {
        let found = arrows(&[
            ("lib", "mod a; mod b; mod c; pub use b::B;"),
            ("a", text),
            ("b", "pub struct B; pub fn go() {} pub mod inner { pub struct I; }"),
            ("c", "mod below; pub use below::{D, go as went};"),
            ("c/below", "pub struct D; pub fn go() {} pub fn below() {}"),
        ]);
        let lines = found.iter().map(ToString::to_string);
        let used = lines.filter_map(|line| line.strip_prefix("a -> ").map(ToOwned::to_owned));
        used.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn every_way_to_name_something_is_seen() {
        assert_eq!(used_by("use super::b::B;"), "b (B)");
        assert_eq!(used_by("use crate::b::{self, B as _, go};"), "b (B, go)");
        assert_eq!(used_by("use crate::{b::{inner::{I}}, c::D};"), "b (I); c/below (D)");
        assert_eq!(used_by("use super::b; fn f() { b::go() }"), "b (go)");
        assert_eq!(used_by("use super::b as other; fn f() { other::go() }"), "b (go)");
        assert_eq!(used_by("fn f() { crate::b::go::<u8>() }"), "b (go)");
        assert_eq!(used_by("fn f(b: Option<super::B>) {}"), "b (B)");
        assert_eq!(used_by("fn f() { use super::c; c::went() }"), "c/below (go)");
        assert_eq!(used_by("use super::b::*;"), "b (*)");
        assert_eq!(used_by("use super::c::*; fn f(d: D) {}"), "c/below (D)");
        assert_eq!(used_by("fn f() { println!(\"{}\", crate::b::go()) }"), "b (go)");
        assert_eq!(used_by("macro_rules! m { () => { $crate::b::go() } }"), "b (go)");
        assert_eq!(used_by("#[serde(with = \"super::b::inner\")] struct A(u8);"), "");
        assert_eq!(used_by("#[serde(with = \"super::b::go\")] struct A(u8);"), "b (go)");
        assert_eq!(used_by("#[arg(parser = super::b::go)] struct A(u8);"), "b (go)");
        assert_eq!(used_by("mod inner { use super::super::b::B; }"), "b (B)");
        assert_eq!(used_by("fn f() { super::B::default() }"), "b (B)");
    }

    #[test]
    fn comments_tests_and_names_of_others_are_not() {
        assert_eq!(used_by("//! See [`crate::b::B`].\n// crate::b::go()\n/* super::B */"), "");
        assert_eq!(used_by("/// See [`B`](super::B).\nfn f() {}"), "");
        assert_eq!(used_by("#[cfg(test)] mod tests { use super::super::b::B; }"), "");
        assert_eq!(used_by("#[cfg(all(test, unix))] use super::b::B;"), "");
        assert_eq!(used_by("struct A; impl A { #[cfg(test)] fn f() { super::b::go() } }"), "");
        assert_eq!(used_by("#[cfg(not(test))] use super::b::B;"), "b (B)");
        assert_eq!(used_by("fn f() { panic!(\"crate::b::go\") }"), "");
        assert_eq!(used_by("use other::b::B; fn f(b: u8) { std::mem::drop(b) }"), "");
        assert_eq!(used_by("struct B; fn go(b: B) { self::go(B) }"), "");
    }

    /// The files of each circle.
    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let arrows = arrows(files);
        let files = |circle: &Vec<&Arrow>| {
            let mut files: Vec<_> = circle.iter().map(|arrow| arrow.from.clone()).collect();
            files.dedup();
            files
        };
        circles(&arrows).iter().map(files).collect()
    }

    #[test]
    fn circles_are_found() {
        let lib = ("lib", "mod a; mod b; mod c; pub use b::B;");
        let c = ("c", "use super::a::A; use super::b::B;");
        let a = ("a", "use super::b::B; pub struct A;");
        let b = ("b", "pub struct B; type C = super::a::A;");
        assert_eq!(circles_of(&[lib, a, b, c]), [["a", "b"]]);
        let through_the_root = ("a", "use crate::B; pub struct A;");
        assert_eq!(circles_of(&[lib, through_the_root, b, c]), [["a", "b"]]);
        let lonely = ("b", "pub struct B;");
        assert!(circles_of(&[lib, a, lonely, c]).is_empty());
        let longer = ("b", "pub struct B; use super::c;  fn f() { c::go() }");
        let closing = ("c", "use super::a::A; pub fn go() {}");
        assert_eq!(circles_of(&[lib, a, longer, closing]), [["a", "b", "c"]]);
    }

    /// A parent that only lists its children is none; one that has something for them and uses them is.
    #[test]
    fn circles_of_parent_and_child() {
        let lib = ("lib", "pub mod a;");
        let child = ("a/child", "use super::other::O; pub fn child() {}");
        let list = ("a", "mod child; mod other; pub use child::child; pub use other::O;");
        assert!(circles_of(&[lib, list, child, ("a/other", "pub struct O;")]).is_empty());
        let back = ("a/other", "pub struct O; fn f() { super::child() }");
        assert_eq!(circles_of(&[lib, list, child, back]), [["a/child", "a/other"]]);
        let parent = ("a", "mod child; pub use child::child; pub struct A;");
        let found = circles_of(&[lib, parent, ("a/child", "use super::A; pub fn child(_: A) {}")]);
        assert_eq!(found, [["a", "a/child"]]);
        let grandchild = [
            lib,
            ("a", "mod child; pub struct A; fn f() { child::grandchild::go() }"),
            ("a/child", "pub mod grandchild;"),
            ("a/child/grandchild", "pub fn go() -> super::super::A { super::super::A }"),
        ];
        assert_eq!(circles_of(&grandchild), [["a", "a/child/grandchild"]]);
    }

    /// Of two files for one name, both are used.
    #[test]
    fn conditional_files_are_read() {
        let absent = "#[cfg_attr(not(feature = \"b\"), path = \"b_absent.rs\")] mod b; mod a;";
        let b = "pub fn go() {}";
        let files =
            [("lib", absent), ("a", "use super::b; fn f() { b::go() }"), ("b", b), ("b_absent", b)];
        let found: Vec<_> = arrows(&files).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a -> b (go)", "a -> b_absent (go)"]);
    }

    #[test]
    fn circles_are_told() {
        let arrows = arrows(&[
            ("lib", "mod a; mod b;"),
            ("a", "use crate::b::{B, go}; pub fn f() {}"),
            ("b", "pub struct B; pub fn go() { super::a::f() }"),
        ]);
        let told = circle_text(&circles(&arrows)[0]);
        assert_eq!(told, "a circle of 2 files:\n    a -> b (B, go)\n    b -> a (f)");
    }
}

/// What the order allows and what it does not.
mod orders {
    use super::*;

    /// What is wrong with a file, in a house of all crates and rooms, each of which has an `X`.
    fn wrong(file: &str, text: &str) -> Vec<String> {
        let mut files = BTreeMap::new();
        let mut lib = vec!["pub use kyokumen_game as game;".to_owned()];
        for (name, _) in ROOMS.iter().take(8) {
            lib.push(format!("pub mod {name};"));
            files.insert(format!("src/{name}.rs"), "mod one; pub use one::X;".to_owned());
            files.insert(format!("src/{name}/one.rs"), "pub struct X;".to_owned());
        }
        if file == "src/new.rs" {
            lib.push("mod new;".to_owned());
        }
        files.insert("src/lib.rs".to_owned(), lib.concat());
        for (name, _) in CRATES {
            files
                .insert(format!("crates/{name}/src/lib.rs"), "mod one; pub use one::X;".to_owned());
            files.insert(format!("crates/{name}/src/one.rs"), "pub struct X;".to_owned());
        }
        files.insert(file.to_owned(), text.to_owned());
        breaches(&Graph::new(&files).arrows())
    }

    #[test]
    fn arrows_against_the_order_are_seen() {
        let one = |file, text, reason: &str| {
            let found = wrong(file, text);
            assert!(found.len() == 1 && found[0].starts_with(reason), "{text}: {found:?}");
        };
        one("src/mate/one.rs", "use crate::jobs::X as J; pub struct X;", "mate may not use jobs");
        one("src/jobs/one.rs", "pub struct X; type Y = crate::ops::X;", "jobs may not use ops");
        one(
            "src/ops/one.rs",
            "use super::super::jobs; pub struct X; type Y = jobs::X;",
            "ops may not use jobs",
        );
        one(
            "src/storage/one.rs",
            "pub struct X(crate::records::X);",
            "storage may not use records",
        );
        one("src/main.rs", "use kyokumen::storage::X;", "main may not use storage");
        one("src/new.rs", "use crate::storage::X;", "new is no room");
        one(
            "crates/game/src/one.rs",
            "pub struct X; use kyokumen_shogi as s; type Y = s::X;",
            "game may not use shogi",
        );
        one(
            "crates/format/src/one.rs",
            "pub struct X; type Y = kyokumen_search::X;",
            "format may not use search",
        );
        one(
            "crates/marubatsu/src/one.rs",
            "pub struct X; type Y = kyokumen_shogi::X;",
            "marubatsu may not use shogi",
        );
    }

    #[test]
    fn arrows_down_are_not() {
        let none = |file, text| assert_eq!(wrong(file, text), [""; 0], "{text}");
        none(
            "src/jobs/one.rs",
            "pub struct X; use crate::{engine, mate::X as M}; type Y = engine::X;",
        );
        none("src/storage/one.rs", "pub struct X; type Y = kyokumen_format::X;");
        none("src/storage/one.rs", "pub struct X; type Y = crate::game::X;");
        none(
            "src/cli/one.rs",
            "pub struct X; type Y = (crate::ops::X, crate::jobs::X, crate::storage::X);",
        );
        none("src/main.rs", "use kyokumen::cli::X;");
        none("src/bin/gen_filter.rs", "fn main() { kyokumen::cli::X; }");
        none(
            "crates/search/src/one.rs",
            "pub struct X; type Y = (kyokumen_shogi::X, kyokumen_game::X);",
        );
        none("crates/game/src/one.rs", "pub struct X; /* kyokumen_shogi::X */");
    }
}
