//! Generated archives: random games from fixed seeds, some records bad.

use std::path::{Path, PathBuf};

use kyokumen::format::{Fill, Format, GameResult, Record, encode};
use kyokumen::shogi::Position;
use kyokumen_testing::positions::Random;

/// Positions of random games with the move played, an evaluation and a result.
pub(crate) fn records(count: usize, seed: u64) -> Vec<Record> {
    let mut random = Random::new(seed);
    let mut records = Vec::new();
    let mut position = Position::start();
    while records.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || position.ply() > 200 {
            position = Position::start();
            continue;
        }
        let best_move = moves[random.below(moves.len())];
        let results = [GameResult::Draw, GameResult::BlackWin, GameResult::WhiteWin];
        records.push(Record {
            best_move: Some(best_move),
            eval_cp: Some(i16::try_from(random.below(4000)).unwrap() - 2000),
            ply: Some(position.ply()),
            result: Some(results[random.below(3)]),
            ..Record::new(position.setup())
        });
        position.make(best_move);
    }
    records
}

pub(crate) fn encoded(format: Format, record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    let fill = Fill { end_ply: Some(0), ..Fill::default() };
    encode(format, record, &fill, &mut bytes).unwrap();
    bytes
}

/// An archive where every eleventh record is bad and the padding has random bits.
pub(crate) fn archive(format: Format, count: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    let mut bytes = Vec::new();
    for (i, record) in records(count, 42).iter().enumerate() {
        let mut record = encoded(format, record);
        match format {
            Format::Hcpe => record[37] = u8::try_from(random.below(256)).unwrap(),
            Format::Psv => record[39] = u8::try_from(random.below(256)).unwrap(),
            _ => {}
        }
        if i % 11 == 5 {
            spoil(format, &mut record);
        }
        bytes.extend(record);
    }
    bytes
}

/// Puts both kings on square 0. In text, writes a letter that is not a piece.
fn spoil(format: Format, record: &mut [u8]) {
    if format == Format::Sfen {
        record[0] = b'x';
    } else {
        record[..2].fill(0);
    }
}

pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}
