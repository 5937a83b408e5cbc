//! Positions of real games in four formats of `KYOKUMEN_DATA`.
//!
//! The packed files were written by cshogi. The text files are the reference. Unknown results were packed as draws.

use std::fs::{self, File};

use kyokumen_format::{EncodeError, Fill, Format, GameResult, Lines, Record, RecordRef};
use kyokumen_shogi::{Color, Position};
use kyokumen_testing::positions::shared;

struct Files {
    text: Vec<u8>,
    packed: Vec<(Format, Vec<u8>)>,
}

fn files(stem: &str, formats: &[Format]) -> Files {
    let text = zstd::decode_all(File::open(shared(&format!("{stem}.sfen.zst"))).unwrap()).unwrap();
    let mut packed = Vec::new();
    for &format in formats {
        packed.push((format, fs::read(shared(&format!("{stem}.{format}"))).unwrap()));
    }
    Files { text, packed }
}

/// The fields of a line of text that a format holds. An unknown result is a draw.
fn expected(text: &Record, format: Format) -> Record {
    let mut record = text.clone();
    record.result = record.result.or(Some(GameResult::Draw));
    if format == Format::Hcp {
        (record.best_move, record.eval_cp, record.result) = (None, None, None);
    }
    if format != Format::Psv {
        record.ply = None;
        record.setup = record.setup.with_ply(1);
    }
    record
}

fn compare(stem: &str, formats: &[Format], records: usize) {
    let files = files(stem, formats);
    let fill: Fill = "result=draw".parse().unwrap();
    for (format, packed) in &files.packed {
        let len = format.record_len().unwrap();
        assert_eq!(packed.len(), records * len);
        for (i, (line, bytes)) in Lines::new(&files.text).zip(packed.chunks(len)).enumerate() {
            let text_ref = RecordRef::new(Format::Sfen, line.content()).unwrap();
            let text = text_ref.record().unwrap();
            let packed_ref = RecordRef::new(*format, bytes).unwrap();
            let decoded = packed_ref.record().unwrap();
            assert_eq!(decoded, expected(&text, *format), "{stem}.{format} record {i}");

            let mut out = Vec::new();
            text_ref.convert(*format, &fill, &mut out).unwrap();
            assert_eq!(out, bytes, "{stem}.{format} record {i} from text");
            out.clear();
            packed_ref.convert(*format, &Fill::default(), &mut out).unwrap();
            assert_eq!(out, bytes, "{stem}.{format} record {i} from itself");
        }
    }
    for line in Lines::new(&files.text) {
        let text = RecordRef::new(Format::Sfen, line.content()).unwrap();
        assert!(text.warnings().unwrap().is_empty(), "{line:?}");
        let mut out = Vec::new();
        text.convert(Format::Sfen, &Fill::default(), &mut out).unwrap();
        assert_eq!(out, line.raw());
    }
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn real_games_are_decoded_and_encoded_as_by_cshogi() {
    compare("dev", &[Format::Hcp, Format::Hcpe, Format::Psv], 92_726);
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn engine_games_with_evaluations_are_decoded_and_encoded_as_by_cshogi() {
    compare("dev_engine", &[Format::Hcpe, Format::Psv], 21_570);
}

/// These positions lack pieces, which are in the box.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn handicap_games_are_preserved_by_both_packed_families() {
    let path = shared("dev_handicap.sfen");
    let text = fs::read(path).unwrap();
    let fill: Fill = "result=draw".parse().unwrap();
    for line in Lines::new(&text) {
        let source = RecordRef::new(Format::Sfen, line.content()).unwrap();
        let setup = source.setup().unwrap();
        assert!(Position::try_from(&setup).is_ok());
        for format in [Format::Hcp, Format::Hcpe, Format::Psv] {
            let mut out = Vec::new();
            let converted = source.convert(format, &fill, &mut out);
            // Examples for beginners have only one king.
            if setup.king(Color::Black).is_none() {
                let missing = EncodeError::MissingKing { color: Color::Black };
                assert_eq!(converted, Err(missing.into()));
                continue;
            }
            converted.unwrap();
            let back = RecordRef::new(format, &out).unwrap();
            assert_eq!(back.setup().unwrap().with_ply(setup.ply()), setup);
        }
    }
}
