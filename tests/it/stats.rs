//! `kyokumen stats`: figures compared with a plain count, and their independence of threads and files.
//!
//! `tests/interop/stats_figures.py` compares the figures with cshogi.

use std::collections::HashSet;
use std::fs;

use kyokumen::format::{Format, PositionKey, Record};
use kyokumen::shogi::{Position, sfen};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::archive::{archive, encoded, records};
use crate::harness::{Dir, Ran};

fn stats(dir: &Dir, arguments: &[&str]) -> Ran {
    dir.kyokumen(["stats", "--progress", "none"]).args(arguments).run()
}

fn report(dir: &Dir, arguments: &[&str]) -> Value {
    stats(dir, &[arguments, &["--json"]].concat()).json()
}

fn position(record: &Record) -> Position {
    Position::try_from(&record.setup).unwrap()
}

fn number(count: usize) -> Value {
    json!(count)
}

#[test]
fn figures_equal_a_plain_count() {
    let dir = Dir::new();
    let records = records(9000, 8);
    let bytes: Vec<u8> = records.iter().flat_map(|r| encoded(Format::Psv, r)).collect();
    dir.write("a.psv", &bytes);
    let report = report(&dir, &["a.psv"]);
    let count = |is: &dyn Fn(&Record) -> bool| number(records.iter().filter(|r| is(r)).count());
    assert_eq!(
        (&report["records"], &report["good"], &report["bad"]),
        (&json!(9000), &json!(9000), &json!(0))
    );
    assert_eq!(report["in_check"], count(&|r| position(r).in_check()));
    let best_move = |r: &Record| r.best_move.unwrap();
    let moves = &report["moves"];
    assert_eq!(moves["drops"], count(&|r| best_move(r).is_drop()));
    assert_eq!(moves["promotions"], count(&|r| best_move(r).is_promotion()));
    assert_eq!(moves["captures"], count(&|r| position(r).captured_by(best_move(r)).is_some()));
    assert_eq!((&moves["legal"], &moves["none"]), (&json!(9000), &json!(0)));
    let won = |r: &Record| r.result.unwrap().winner() == Some(r.setup.side_to_move());
    assert_eq!(report["outcomes"]["win"], count(&won));
    let distinct: HashSet<PositionKey> =
        records.iter().map(|r| PositionKey::of(&r.setup)).collect();
    let expected = json!({"positions": distinct.len(), "is_exact": true, "error_percent": 0.0});
    assert_eq!(report["distinct"], expected);

    let mut evals: Vec<i16> = records.iter().map(|r| r.eval_cp.unwrap()).collect();
    evals.sort_unstable();
    let reported = &report["evals"];
    assert_eq!((&reported["least"], &reported["most"]), (&json!(evals[0]), &json!(evals[8999])));
    assert_eq!(reported["percentiles"]["p50"], json!(evals[4499]));
    assert_eq!(reported["percentiles"]["p95"], json!(evals[8549]));
    let around_0 = evals.iter().filter(|eval| (-50..50).contains(*eval)).count();
    let bins = reported["bins"].as_array().unwrap();
    let bin = bins.iter().find(|bin| bin["from"] == json!(-50)).unwrap();
    assert_eq!((&bin["to"], &bin["records"]), (&json!(49), &number(around_0)));
    let all: u64 = bins.iter().map(|bin| bin["records"].as_u64().unwrap()).sum();
    assert_eq!(all, 9000);
    let pawns: u64 = records
        .iter()
        .flat_map(|r| r.setup.hands())
        .map(|hand| u64::from(hand.count(kyokumen::shogi::HandKind::Pawn)))
        .sum();
    assert_eq!(report["pieces"]["in_hand"]["P"], json!(pawns));
}

#[test]
fn games_are_counted() {
    let dir = Dir::new();
    let games = "startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d 2f2e\nstartpos moves 1g1f\n";
    dir.write("a.usi", games);
    for to in ["psv", "hcpe3", "pack", "kif", "csa", "jkf", "sbinpack"] {
        let name = format!("a.{to}");
        let convert = ["convert", "a.usi", "-o", &name, "--progress=none"];
        dir.kyokumen(convert).args(["--fill=eval=0,result=draw"]).succeeds();
    }
    // All games in one chunk. A chunk begins with 4 letters and its length.
    let (mut chains, bytes) = (Vec::new(), dir.read("a.sbinpack"));
    let mut rest = &bytes[..];
    while let Some((header, after)) = rest.split_at_checked(8) {
        let len = u32::from_le_bytes(header[4..].try_into().unwrap()) as usize;
        chains.extend_from_slice(&after[..len]);
        rest = &after[len..];
    }
    let len = u32::try_from(chains.len()).unwrap().to_le_bytes();
    dir.write("joined.sbinpack", [b"SBN2", &len[..], &chains].concat());
    let names = ["a.usi", "a.hcpe3", "a.pack", "a.kif", "a.csa", "a.jkf", "a.sbinpack"];
    for name in names.into_iter().chain(["joined.sbinpack"]) {
        assert_eq!(report(&dir, &[name])["games"], 3, "{name}");
        assert_eq!(report(&dir, &[name, "--min-ply=3"])["games"], 1, "{name}");
        let shown = dir.kyokumen(["inspect", name, "--range=0"]).run().text();
        assert!(shown.contains(", 6 records, 3 games\n"), "{name}: {shown}");
    }
    assert_eq!(report(&dir, &["a.psv", "a.kif"])["games"], 3);
    assert_eq!(report(&dir, &["a.psv"])["games"], Value::Null);
    let text = stats(&dir, &["a.hcpe3"]).text();
    assert!(text.starts_with("records       6\ngames         3\n"), "{text}");
    // More games than the sample of `inspect` has records.
    dir.write("b.usi", "startpos moves 7g7f\n".repeat(9000));
    let shown = dir.kyokumen(["inspect", "b.usi", "--range=0"]).run().text();
    assert!(shown.starts_with("b.usi: usi, 9000 records, at least 4096 games\n"), "{shown}");
}

#[test]
fn figures_do_not_depend_on_threads_or_files() {
    let dir = Dir::new();
    let bytes = archive(Format::Psv, 12_000);
    let (head, tail) = bytes.split_at(40 * 5000);
    for (name, bytes) in [("all.psv", &bytes[..]), ("head.psv", head), ("tail.psv", tail)] {
        dir.write(name, bytes);
    }
    let figures = |arguments: &[&str]| {
        let mut report = report(&dir, arguments);
        report.as_object_mut().unwrap().remove("inputs");
        report
    };
    let one = figures(&["all.psv", "--threads", "1"]);
    assert_eq!(one, figures(&["all.psv", "--threads", "3"]));
    assert_eq!(one, figures(&["head.psv", "tail.psv", "--threads", "2"]));
    assert_eq!(one["bad"], number((0..12_000).filter(|i| i % 11 == 5).count()));
    let code = stats(&dir, &["all.psv"]).code;
    assert_eq!(code, Some(3), "some records cannot be read");
    let estimated = figures(&["all.psv", "--memory", "100K"]);
    assert_eq!(estimated["distinct"]["is_exact"], json!(false));
    assert_eq!(estimated, figures(&["tail.psv", "head.psv", "--memory", "100K"]));
}

#[test]
fn fields_that_the_format_lacks_are_not_reported() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 5));
    let reported = report(&dir, &["a.hcp"]);
    assert_eq!((&reported["evals"], &reported["plies"]), (&Value::Null, &Value::Null));
    assert_eq!(reported["results"]["none"], json!(5));
    let ran = stats(&dir, &["a.hcp"]);
    assert_eq!(ran.code, Some(0));
    let text = ran.text();
    for word in ["evaluation", "results", "moves", "ply"] {
        assert!(!text.contains(word), "{text}");
    }
    dir.write("empty.psv", b"");
    let ran = stats(&dir, &["empty.psv", "--html", "empty.html"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let text = ran.text();
    assert!(text.starts_with("records       0\n"), "{text}");
}

#[test]
fn the_page_is_self_contained() {
    let dir = Dir::new();
    let lines = ["7g7f\t32767\t1\tb", "7g7f\t-32768\t1\tw", "2g2f\t35\t1\td"];
    let mut text = lines.map(|columns| format!("{}\t{columns}\n", sfen::START)).concat();
    text += "bad\n";
    let name = if cfg!(windows) { "a & b.sfen" } else { "<a & b>.sfen" };
    dir.write(name, text.as_bytes());
    let arguments = [name, "--html", "report.html"];
    let ran = stats(&dir, &arguments);
    assert_eq!((ran.code, ran.stderr.trim()), (Some(3), "report.html"));
    let page = dir.text("report.html");
    for foreign in ["http:", "https:", "<script", "<link", "<img", "url(", "@import", "NaN", "inf"]
    {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains(if cfg!(windows) { "a &amp; b.sfen" } else { "&lt;a &amp; b&gt;.sfen" }));
    assert!(!page.contains("<a & b>"));
    for tag in ["svg", "figure", "table", "section", "div", "g", "title", "tr", "p"] {
        let count = |text: &str| page.matches(text).count();
        let opened = count(&format!("<{tag}>")) + count(&format!("<{tag} "));
        assert_eq!(opened, count(&format!("</{tag}>")), "{tag}");
    }
    // Five plots and five boards. There would be a sixth board for drops.
    assert_eq!(page.matches("<svg").count(), 10);
    stats(&dir, &[name, "--html", "japanese.html", "--lang", "ja"]);
    let japanese = dir.text("japanese.html");
    assert_eq!(japanese.matches("<svg").count(), 10);
    for text in [
        "<html lang=\"ja\">",
        "<span>件数</span><b>4</b><small>読めない 1件</small>",
        "<h2>評価値と勝率</h2>",
        "<td>合法手</td><td>3</td>",
        "<h2>先手玉</h2><p>先手の陣が下です。3 局面に占める割合（%）です。</p>",
    ] {
        assert!(japanese.contains(text), "{text}\n{japanese}");
    }
    let mut refused = stats(&dir, &arguments).transcript;
    refused += &stats(&dir, &[name, "--lang", "ja"]).transcript.replace(name, "a.sfen");
    // A page is written to `NAME.partial` first.
    fs::copy(dir.join(name), dir.join("page.partial")).unwrap();
    for (input, page) in [(name, name), ("page.partial", "page")] {
        let arguments = [input, "--from", "sfen", "--html", page, "--force"];
        refused += &stats(&dir, &arguments).transcript.replace(name, "a.sfen");
    }
    refused += &stats(&dir, &[name, "--html", ".", "--force"]).transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 1
error: report.html exists; replace it with --force
status 2
error: the following required arguments were not provided:
  --html <REPORT.html>

Usage: kyokumen stats --html <REPORT.html> --progress <auto|bar|plain|json|none> --lang <ja|en> <FILE>...

For more information, try '--help'.
status 2
error: a.sfen would overwrite the input a.sfen; choose another output
status 2
error: page.partial, the unfinished page, would overwrite the input page.partial; choose another output
status 2
error: . is a folder

"#]]
    );
}
