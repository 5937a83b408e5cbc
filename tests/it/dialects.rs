//! Files with other move encodings or record lengths than their name suggests.
//!
//! Every shard must detect the same encoding, and an option overrides it.

use kyokumen::format::move16::Dialect;
use kyokumen::format::{Fill, Format, Record, encode};
use snapbox::{assert_data_eq, str};

use crate::archive::{encoded, records};
use crate::harness::Dir;

/// Records as psv, with moves in this encoding.
fn psv(records: &[Record], dialect: Dialect) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        let mut psv = encoded(Format::Psv, record);
        psv[34..36].copy_from_slice(&dialect.encode(record.best_move.unwrap()).to_le_bytes());
        bytes.extend(psv);
    }
    bytes
}

fn all(format: Format, records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| encoded(format, record)).collect()
}

#[test]
fn every_move_encoding_is_detected() {
    let dir = Dir::new();
    // More records than the detection samples.
    let records = records(6000, 21);
    let hcpe = all(Format::Hcpe, &records);
    for dialect in Dialect::ALL {
        let bytes = psv(&records, dialect);
        dir.write("a.psv", &bytes);
        let output = dir.line("convert a.psv -o a.hcpe --force --json").succeeds();
        assert!(dir.read("a.hcpe") == hcpe, "{}", dialect.name());
        let report = output.json();
        let evidence = &report["inputs"][0]["evidence"];
        assert_eq!(evidence["dialect"], dialect.name());
        assert_eq!(evidence["legal_in"][dialect.name()], evidence["telling_moves"]);
        assert_eq!(
            (&evidence["sampled"], &evidence["moves"]["illegal"]),
            (&4096.into(), &0.into())
        );
        let message = output.stderr;
        let is_odd = dialect != Dialect::YaneuraOu;
        assert_eq!(message.contains("the moves are in the encoding of"), is_odd, "{message}");

        // Without a change of format no byte changes, except with --canonical.
        dir.line("convert a.psv -o b.psv --force").succeeds();
        assert!(dir.read("b.psv") == bytes);
        dir.line("convert a.psv -o b.psv --force --canonical").succeeds();
        assert!(dir.read("b.psv") == all(Format::Psv, &records));
    }
    // The last file has the encoding of older rshogi tools. Read as apery, drops are drops of other pieces.
    dir.line("convert a.psv -o c.hcpe --dialect apery").succeeds();
    assert!(dir.read("c.hcpe") != hcpe);
}

#[test]
fn moves_of_two_encodings_are_not_written_to_one_file() {
    let dir = Dir::new();
    let records = records(3000, 24);
    let [own, other] = [Dialect::YaneuraOu, Dialect::Rshogi].map(|dialect| psv(&records, dialect));
    dir.write("a.psv", &own);
    dir.write("b.psv", &other);
    dir.write("h.hcpe", all(Format::Hcpe, &records));
    for words in [
        "shuffle a.psv b.psv -o out.psv",
        "convert a.psv b.psv -o out.psv",
        "convert h.hcpe b.psv -o out.psv --fill ply=0",
        "filter a.psv b.psv -o out",
        "relabel b.psv a.psv -o out --keep-eval --mix 0.3",
    ] {
        let refused = dir.line(words).exits(&[2]);
        assert!(refused.stderr.contains("would be written in different encodings"), "{words}");
        assert!(!dir.join("out").exists() && !dir.join("out.psv").exists());
    }
    dir.line("convert a.psv b.psv -o out.psv --canonical").succeeds();
    assert!(dir.read("out.psv") == own.repeat(2));
    let wrong = dir.line("convert b.psv -o wrong.hcpe --dialect yaneuraou").run();
    assert!(wrong.stderr.contains("--dialect yaneuraou contradicts the moves"), "{}", wrong.stderr);
    // One warning for many files.
    for name in ["c.psv", "d.psv"] {
        dir.write(name, &other);
    }
    let many = dir.line("shuffle b.psv c.psv d.psv -o many.psv").succeeds().stderr;
    assert_eq!(
        many.matches("b.psv and 2 more: the moves are in the encoding of rshogi").count(),
        1
    );
    assert_eq!(many.matches("WARN").count(), 1, "{many}");
}

#[test]
fn every_shard_detects_the_same_move_encoding() {
    let dir = Dir::new();
    let records = records(9000, 22);
    // The last third alone would be detected as YaneuraOu's encoding.
    let bytes = psv(&records, Dialect::Rshogi);
    dir.write("a.psv", bytes);
    let evidence = ["1/3", "2/3", "3/3"].map(|shard| {
        let words = "filter a.psv -o out --nodes 1 --hash-mb 1 --force --progress none --shard ";
        dir.line(&format!("{words}{shard}")).succeeds();
        let index = &shard[..1];
        let manifest = format!("out/a-0000{index}-of-00003.manifest.json");
        dir.json(manifest)["inputs"][0]["evidence"].clone()
    });
    assert_eq!(evidence[0]["dialect"], "rshogi");
    assert!(evidence.iter().all(|other| *other == evidence[0]));
}

#[test]
fn hcpe_records_of_42_and_38_bytes_are_distinguished() {
    let dir = Dir::new();
    let records = records(500, 23);
    let fill: Fill = "end_ply=0".parse().unwrap();
    let mut bytes = Vec::new();
    for record in &records {
        encode(Format::Hcpe42, record, &fill, &mut bytes).unwrap();
    }
    dir.write("a.hcpe", &bytes);
    dir.line("convert a.hcpe -o a.psv").succeeds();
    assert!(dir.read("a.psv") == all(Format::Psv, &records));
    dir.line("convert a.hcpe -o b.hcp --from hcpe --on-error skip").exits(&[3]);
    let shown = dir.line("inspect a.hcpe").run();
    assert!(shown.text().starts_with("a.hcpe: hcpe42, 500 records"));
}

/// By chance, a few damaged records can be read in another format.
#[test]
fn a_name_decides_the_format_unless_most_records_contradict_it() {
    let dir = Dir::new();
    let record = &encoded(Format::Hcpe, &records(1, 23)[0]);
    let mut bytes = vec![0; 42 * 46];
    bytes[42 * 5..][..record.len()].copy_from_slice(record);
    dir.write("a.hcpe", &bytes);
    let verified = dir.line("verify a.hcpe").run();
    let message = &verified.stderr;
    assert!(verified.text().starts_with("a.hcpe: hcpe, "), "{message}");
    assert_data_eq!(
        message.clone(),
        str![[r#"
 WARN a.hcpe does not look like hcpe or any other format: 0 of 51 records in a sample can be read as hcpe; first error: record 0 (file offset 0): byte 1: both kings are on 1a

"#]]
    );
}
