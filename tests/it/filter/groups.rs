//! Shards that begin within a chunk with bad records: joined they equal the unsharded outputs, and each bad chunk is
//! quarantined once.

use std::collections::BTreeMap;
use std::path::Path;

use kyokumen::format::{Format, chunks, count, write_game};
use kyokumen::jobs::plan::JobRequest;
use kyokumen::jobs::settings::Settings;
use kyokumen::random::SplitMix64;
use kyokumen::records::shard::Shard;
use tempfile::TempDir;

use super::{contents, joined, request, run, split_everything, with_shard};
use kyokumen_testing::games::random_game;

use crate::archive::write;

/// The outputs of a filter that writes records in the format `to`.
fn filtered(
    input: &Path,
    output: &Path,
    to: &str,
    shard: Option<Shard>,
) -> BTreeMap<String, Vec<u8>> {
    let fill = if to == "sfen" { "" } else { "result=draw" };
    let settings = Settings { fill: fill.parse().unwrap_or_default(), ..split_everything() };
    let to = Some(to.parse().unwrap());
    run(with_shard(shard, JobRequest { settings, to, ..request(input, output) }));
    contents(output)
}

/// Checks that 2 shards, and one shard per record (at most `most`), give the outputs of the unsharded run.
fn check(name: &str, bytes: &[u8], to: &str, most: u32) -> BTreeMap<String, Vec<u8>> {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), name, bytes);
    let whole = filtered(&input, &folder.path().join("whole"), to, None);
    let format = Format::from_extension(name.rsplit_once('.').unwrap().1).unwrap();
    let records: u64 = chunks(format, bytes).map(|chunk| count(format, chunk)).sum();
    for count in [2, u32::try_from(records).unwrap().clamp(1, most)] {
        let output = folder.path().join(format!("shards-{count}"));
        for index in 1..=count {
            filtered(&input, &output, to, Shard::new(index, count));
        }
        let shards = contents(&output);
        for (file, bytes) in &whole {
            assert!(joined(&shards, file, count) == *bytes, "{name} in {count}: {file}");
        }
    }
    whole
}

/// An invalid position: Black could capture the king.
const NO_POSITION: &str = "4k4/9/9/9/4R4/9/9/9/4K4 b R2b4g4s4n4l18p 1";

/// A book with unreadable moves, an invalid position with White in check, and a line that is not a position.
fn book() -> String {
    let start = kyokumen::shogi::sfen::START;
    format!(
        "#YANEURAOU-DB2016 1.00\nsfen {start}\n7g7f none 5\n2g2x none 0\n2g2f none\nx none\n6g6f\n\
         sfen {NO_POSITION}\n5e5a none 0\n5e5d none 0\n5e5c none 0\n\
         sfen {start}\n7g7f none 5\n2g2f none 0\n6g6f none x\nsfen nothing\n1g1f\n"
    )
}

#[test]
fn a_damaged_chunk_of_a_book_is_quarantined_by_one_shard() {
    let book = book();
    let whole = check("a.db", book.as_bytes(), "db", 20);
    // Each chunk has an error, so the quarantine contains the book once.
    assert!(whole["a.quarantine.bin"] == book.as_bytes());
    // A move without a value is bad only if the output needs the value.
    let whole = check("a.db", book.as_bytes(), "hcpe", 20);
    assert!(whole["a.quarantine.jsonl"].len() > 300);
}

/// Nine games in a row. A chunk of sbinpack holds three of them.
fn games(format: Format, seed: u64) -> Vec<u8> {
    let mut file = Vec::new();
    for chunk in 0..3 {
        let mut games: Vec<Vec<u8>> = (0..3)
            .map(|game| {
                let mut bytes = Vec::new();
                write_game(format, &random_game(seed * 9 + chunk * 3 + game), &mut bytes).unwrap();
                bytes
            })
            .collect();
        if format == Format::Sbinpack {
            let chains = games.iter().map(|game| &game[8..]).collect::<Vec<_>>().concat();
            let len = u32::try_from(chains.len()).unwrap().to_le_bytes();
            games = vec![[&b"SBN2"[..], &len, &chains].concat()];
        }
        file.extend(games.concat());
    }
    file
}

#[test]
fn damaged_games_are_quarantined_by_one_shard() {
    for format in Format::ALL.into_iter().filter(|format| format.holds_games()) {
        let mut bad = 0;
        for seed in 0..3 {
            let mut bytes = games(format, seed);
            let mut random = SplitMix64::new(seed);
            for _ in 0..3 {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            let whole = check(&format!("a.{format}"), &bytes, "sfen", 7);
            bad += whole["a.quarantine.jsonl"].len();
        }
        assert!(bad > 0, "{format}: nothing was damaged");
    }
}
