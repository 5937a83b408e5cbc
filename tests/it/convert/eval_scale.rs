//! `convert --eval-scale A:B` multiplies evaluations by B/A.

use kyokumen::format::{Format, GameResult, Record};
use kyokumen::shogi::{Move, Position};
use serde_json::json;

use crate::archive::encoded;
use crate::harness::Dir;

const EVALS: [i16; 8] = [100, -50, 0, 20_000, -28_999, 29_000, -30_000, 1];

fn psv() -> Vec<u8> {
    let record = |eval_cp| {
        let mut bytes = encoded(
            Format::Psv,
            &Record {
                best_move: Move::from_usi("2g2f"),
                eval_cp: Some(eval_cp),
                ply: Some(1),
                result: Some(GameResult::BlackWin),
                ..Record::new(Position::start().setup())
            },
        );
        bytes[39] = 0xaa;
        bytes
    };
    EVALS.map(record).concat()
}

fn evals(psv: &[u8]) -> Vec<i16> {
    psv.chunks(40).map(|record| i16::from_le_bytes([record[32], record[33]])).collect()
}

#[test]
fn evaluations_are_rounded_and_mates_stay() {
    let dir = Dir::new();
    let before = psv();
    dir.write("a.psv", &before);
    for (scale, expected, limited) in [
        ("600:361", [60, -30, 0, 12_033, -17_448, 29_000, -30_000, 1], None),
        ("1:2", [200, -100, 0, 28_999, -28_999, 29_000, -30_000, 2], Some(2)),
        // Halves are rounded away from 0.
        ("2:1", [50, -25, 0, 10_000, -14_500, 29_000, -30_000, 1], None),
        ("7.5:7.5", EVALS, None),
    ] {
        let line = format!("convert a.psv -o b.psv --force --json --eval-scale {scale}");
        let report = dir.line(&line).succeeds().json();
        let after = dir.read("b.psv");
        assert_eq!(evals(&after), expected, "{scale}");
        let others = |bytes: &[u8]| -> Vec<_> {
            bytes.chunks(40).map(|record| [&record[..32], &record[34..]].concat()).collect()
        };
        assert_eq!(others(&after), others(&before));
        let found = &report["counts"]["warnings"]["eval_limited"];
        assert_eq!(found, &limited.map_or(json!(null), |limited| json!(limited)), "{scale}");
        assert_eq!(report["eval_scale"], scale);
    }
    for scale in ["0:1", "1", "1:-2", "1:inf", "a:b", "NaN:1"] {
        let message = dir.line(&format!("convert a.psv -o c.psv --eval-scale {scale}")).fails(2);
        assert!(message.contains("expected two numbers above 0, as in 600:361"), "{message}");
    }
    dir.line("convert a.psv -o a.hcp").succeeds();
    let message = dir.line("convert a.hcp -o c.hcp --eval-scale 1:2").fails(2);
    assert!(message.contains("--eval-scale cannot be used with a.hcp: hcp records have no eval"));
}

#[test]
fn every_route_rescales() {
    let dir = Dir::new();
    dir.line("generate --count 300 -o g.psv").succeeds();
    let mut bytes = dir.read("g.psv");
    for (number, record) in (0_i16..).zip(bytes.chunks_mut(40)) {
        record[32..34].copy_from_slice(&(number * 20 - 3000).to_le_bytes());
    }
    dir.write("a.psv", &bytes);
    dir.line("convert a.psv -o half.psv --eval-scale 2:1").succeeds();
    let half = evals(&dir.read("half.psv"));
    assert_eq!(half[..3], [-1500, -1490, -1480]);
    for name in ["a.hcpe", "a.jsonl", "a.sfen", "a.hcpe3", "a.csa", "a.pack"] {
        dir.line(&format!("convert a.psv -o {name}")).succeeds();
        let fill = "--fill ply=0";
        dir.line(&format!("convert {name} -o expected.psv --force {fill}")).succeeds();
        assert!(evals(&dir.read("expected.psv")) == evals(&bytes), "{name}");
        let expected = dir.read("expected.psv");
        // From records and games, to the same format and to another one.
        let (_, extension) = name.split_once('.').unwrap();
        dir.line(&format!("convert {name} -o same.{extension} --eval-scale 2:1")).succeeds();
        dir.line(&format!("convert same.{extension} -o same.psv --force {fill}")).succeeds();
        dir.line(&format!("convert {name} -o b.psv --force {fill} --eval-scale 2:1")).succeeds();
        dir.line(&format!("convert a.psv -o to.{extension} --eval-scale 2:1")).succeeds();
        dir.line(&format!("convert to.{extension} -o to.psv --force {fill}")).succeeds();
        dir.line(&format!("convert {name} -o m.psv --force --mirror {fill} --eval-scale 2:1"))
            .succeeds();
        for output in ["same.psv", "b.psv", "to.psv", "m.psv"] {
            assert_eq!(evals(&dir.read(output)), half, "{name} {output}");
        }
        assert!(dir.read("b.psv")[..32] == expected[..32]);
    }
    dir.line("convert half.psv -o half.npz").succeeds();
    dir.line("convert a.psv -o a.npz --eval-scale 2:1").succeeds();
    assert!(dir.read("a.npz") == dir.read("half.npz"));
}
