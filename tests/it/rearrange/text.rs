//! Text as written by people and other programs, and truncated files. Every operation counts records like `verify`, and
//! its output is read with the same counts.

use std::path::Path;

use kyokumen::format::Format;
use kyokumen::shogi::sfen::START;
use rayon::prelude::*;

use super::file;
use crate::harness::{Dir, Ran};

/// Chunks of a text format, and a comment line of the format.
fn text(format: Format) -> ([String; 3], &'static str) {
    let chunks = match format {
        Format::Sfen => {
            [format!("{START}\t7g7f\t5\t1\tb\n"), format!("{START}\n"), format!("{START}\n")]
        }
        Format::Jsonl => {
            let line = format!("{{\"sfen\":\"{START}\",\"move\":\"7g7f\"}}\n");
            [line.clone(), format!("{{\"sfen\":\"{START}\"}}\n"), line]
        }
        Format::Plain => {
            [1, 0, -1].map(|result| format!("sfen {START}\nmove 7g7f\nresult {result}\ne\n"))
        }
        Format::Db => ["7g7f 3c3d 5\n2g2f none 3\n", "2g2f none 1\n", ""]
            .map(|moves| format!("sfen {START}\n{moves}")),
        Format::Usi => [
            "startpos moves 7g7f 3c3d\n".to_owned(),
            "startpos\n".to_owned(),
            format!("position sfen {START} moves 2g2f\n"),
        ],
        Format::Csa => ["+7776FU\nT1\n-3334FU\n%TORYO\n", "", "+2726FU\n"]
            .map(|moves| format!("V2.2\nN+A\nPI\n+\n{moves}/\n")),
        Format::Kif => [
            "   1 ７六歩(77)\n   2 ３四歩(33)   ( 0:01/00:00:01)\n   3 投了\n",
            "",
            "   1 ２六歩(27)\n",
        ]
        .map(|moves| format!("手合割：平手\n先手：A\n手数----指手---------消費時間--\n{moves}")),
        _ => panic!("{format} is not a text format"),
    };
    (chunks, if format == Format::Csa { "' a comment\n" } else { "# a comment\n" })
}

/// Variants of the same text, with a name for each.
fn variants(format: Format) -> Vec<(&'static str, String)> {
    let (chunks, comment) = text(format);
    let whole = chunks.concat();
    vec![
        ("plain", whole.clone()),
        ("without its last line end", whole.trim_end().to_owned()),
        ("CRLF", whole.replace('\n', "\r\n")),
        ("CRLF, without its last line end", whole.trim_end().replace('\n', "\r\n") + "\r"),
        ("blanks after lines", whole.replace('\n', " \t \n")),
        ("blanks before lines", format!(" {}", whole.trim_end().replace('\n', "\n\t "))),
        ("empty lines", whole.replace('\n', "\n\n")),
        ("empty lines between", format!("\n{}\n \t\n", chunks.join("\n"))),
        ("comments", format!("{comment}{}{comment}", chunks.join(comment))),
        ("only a comment", comment.trim_end().to_owned()),
        ("BOM", format!("\u{feff}{whole}")),
        ("BOM before a comment", format!("\u{feff}{comment}{whole}")),
        ("only blanks", " \n".to_owned()),
        ("cut off", whole.chars().take(whole.chars().count() * 2 / 3).collect()),
        ("other text", format!("{whole}other text")),
        ("other text before", format!("other text\n{whole}")),
        // Games without the separators and headers that mark their limits.
        ("without separators", whole.replace("/\n", "").replace("手合割：平手\n先手：A\n", "")),
    ]
}

/// The numbers of records and of bad records, by `verify`.
fn verified(dir: &Dir, name: &str) -> (u64, u64) {
    let report = dir.kyokumen(["verify", name, "--json"]).exits(&[0, 3]).json();
    (report["records"].as_u64().unwrap(), report["bad"].as_u64().unwrap())
}

/// The operations on a file, each with its manifest if it writes one.
fn operations(extension: &str) -> Vec<(Vec<String>, Option<String>)> {
    let to = |command: &str| {
        let words = format!("{command} -o b.{extension} --on-error quarantine --force");
        (words, Some(format!("b.{extension}.manifest.json")))
    };
    let other =
        |words: &str, manifest: Option<&str>| (words.to_owned(), manifest.map(str::to_owned));
    let input = format!("a.{extension}");
    let parts =
        format!("split {input} -o parts --name b --parts 2 --on-error quarantine --force --by");
    [
        to(&format!("shuffle {input}")),
        to(&format!("dedup {input} --key bytes")),
        to(&format!("sample {input} --rate 1")),
        to(&format!("interleave {input} --weights 1")),
        other(&format!("{parts} round-robin"), Some("parts/b.manifest.json")),
        other(&format!("{parts} ranges"), Some("parts/b.manifest.json")),
        other(&format!("convert {input} -o c.{extension} --on-error quarantine --force"), None),
        other(&format!("convert {input} -o c.sfen --on-error quarantine --force"), None),
        other(
            &format!(
                "filter {input} -o d --to sfen --on-error quarantine --depth 1 --nodes 1 --hash-mb 1 --progress none"
            ),
            Some("d/a.manifest.json"),
        ),
        other(&format!("stats {input} --json --from {extension}"), None),
    ]
    .into_iter()
    .map(|(words, manifest)| (words.split(' ').map(str::to_owned).collect(), manifest))
    .collect()
}

/// Checks that every operation accepts the file, counts its records, and writes an output with the same count.
fn check(format: Format, variant: &str, bytes: &[u8]) {
    let dir = Dir::new();
    let input = format!("a.{format}");
    dir.write(&input, bytes);
    let (records, _) = verified(&dir, &input);
    for (words, manifest) in operations(format.name()) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Ran { code, stderr: message, .. } = dir.kyokumen(&words).run();
        assert!(matches!(code, Some(0 | 3)), "{format}, {variant}, {words:?}: {message}");
        let Some(manifest) = manifest else { continue };
        let counts = &dir.json(&manifest)["counts"];
        assert_eq!(counts["input"], records, "{format}, {variant}, {words:?}");
        if manifest.starts_with("b.") {
            let (read, _) = verified(&dir, &format!("b.{format}"));
            assert_eq!(counts["written"], read, "{format}, {variant}, {words:?}");
        }
    }
}

#[test]
fn every_operation_counts_text_like_verify() {
    use Format::{Csa, Db, Jsonl, Kif, Plain, Sfen, Usi};
    [Sfen, Jsonl, Plain, Db, Usi, Csa, Kif].into_par_iter().for_each(|format| {
        for (variant, text) in variants(format) {
            check(format, variant, text.as_bytes());
        }
    });
}

/// A chunk that is truncated at its end or its start damages no other chunk, in any order.
#[test]
fn a_truncated_chunk_damages_no_other_chunk() {
    for format in
        [Format::Pack, Format::Hcpe3, Format::Sbinpack, Format::Csa, Format::Kif, Format::Db]
    {
        let dir = Dir::new();
        let sample =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(format!("sample.{format}"));
        let bytes = std::fs::read(sample).unwrap();
        let header = format.header().len();
        for cut in [1, 5, 40, -1, -5, -40] {
            let (input, output) = (format!("a.{format}"), format!("b.{format}"));
            let rest = match usize::try_from(cut) {
                Ok(cut) => &bytes[..bytes.len() - cut],
                Err(_) => &bytes[header + usize::try_from(-cut).unwrap()..],
            };
            dir.write(&input, rest);
            let (records, bad) = verified(&dir, &input);
            for seed in ["1", "2"] {
                let words = ["shuffle", &input, "-o", &output, "--seed", seed, "--force"];
                let ran = dir.kyokumen(words).args(["--on-error", "quarantine"]).run();
                assert!(matches!(ran.code, Some(0 | 3)), "{format} less {cut}: {}", ran.stderr);
                let manifest = dir.json(format!("{output}.manifest.json"));
                let quarantined = manifest["counts"]["bad"]["quarantined"].as_u64().unwrap();
                let (again, bad_again) = verified(&dir, &output);
                assert_eq!(
                    (again + quarantined, bad_again + quarantined),
                    (records, bad),
                    "{format} less {cut}"
                );
            }
        }
    }
}

/// Two damaged blocks do not become one record, which would have the position of the first and the move of the second.
#[test]
fn a_block_without_an_end_does_not_take_lines_of_another() {
    let start = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n";
    let lines = "move 7g7f\nscore 0\nply 1\nresult 0\ne\n";
    let dir = Dir::new();
    dir.write("a.plain", format!("{start}{start}{lines}{lines}").as_bytes());
    assert_eq!(verified(&dir, "a.plain"), (3, 2));
    for seed in 1..=6 {
        let words = ["shuffle", "a.plain", "-o", "b.plain", "--on-error", "quarantine", "--force"];
        let ran = dir.kyokumen(words).args(["--seed", &seed.to_string()]).exits(&[0, 3]);
        assert!(ran.stderr.contains("copied without decoding were not checked"), "{}", ran.stderr);
        assert_eq!(dir.read("b.quarantine.bin"), start.as_bytes());
        assert_eq!(verified(&dir, "b.plain"), (2, 1), "{seed}");
    }
}

/// Files of one game each, as programs write them: without a separator after the game, or without a header before it.
#[test]
fn games_of_several_files_stay_separate() {
    let head = "手合割：平手\n";
    let board = "後手の持駒：なし\n|v香v桂v銀v金v玉v金v銀v桂v香|\n".to_owned()
        + "| ・v飛 ・ ・ ・ ・ ・v角 ・|\n|v歩v歩v歩v歩v歩v歩v歩v歩v歩|\n"
        + &"| ・ ・ ・ ・ ・ ・ ・ ・ ・|\n".repeat(3)
        + "| 歩 歩 歩 歩 歩 歩 歩 歩 歩|\n| ・ 角 ・ ・ ・ ・ ・ 飛 ・|\n"
        + "| 香 桂 銀 金 玉 金 銀 桂 香|\n先手の持駒：なし\n後手番\n";
    for (format, first, second) in [
        (
            "csa",
            "PI\n+\n+7776FU\n-3334FU\n%TORYO\n".to_owned(),
            "PI\n+\n+2726FU\n%TORYO\n".to_owned(),
        ),
        (
            "kifu",
            "   1 ７六歩(77)\n   2 投了\n".to_owned(),
            "   1 ２六歩(27)\n   2 投了\n".to_owned(),
        ),
        ("kifu", board, format!("{head}   1 ２六歩(27)\n   2 投了\n")),
        ("kifu", format!("{head}まで0手で中断\n"), format!("{head}   1 ２六歩(27)\n")),
    ] {
        let dir = Dir::new();
        let (a, b, c) = (format!("a.{format}"), format!("b.{format}"), format!("c.{format}"));
        dir.write(&a, first.as_bytes());
        dir.write(&b, second.as_bytes());
        let records = verified(&dir, &a).0 + verified(&dir, &b).0;
        for seed in ["1", "2", "3", "4"] {
            dir.kyokumen(["shuffle", &a, &b, "-o", &c, "--seed", seed, "--force"]).succeeds();
            let joined = String::from_utf8(file(&dir, &c)).unwrap();
            assert_eq!(verified(&dir, &c), (records, 0), "{joined}");
        }
    }
}
