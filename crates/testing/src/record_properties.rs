//! Properties of arbitrary bytes, for every format.
//!
//! The tests check generated input. The fuzz targets check hostile input.

use std::sync::LazyLock;

use kyokumen_format::packed::{self, Family};
use kyokumen_format::{
    ContentHash, ConvertError, Field, Fill, Format, Line, Lines, Record, RecordRef, count, records,
    reference,
};
use kyokumen_shogi::Setup;
use kyokumen_shogi::sfen::START;

/// Checks that both codecs agree on the first 32 bytes, including the error, and that accepted bytes are read back.
pub fn check_packed(family: Family, bytes: &[u8]) {
    let Some(bytes) = bytes.first_chunk() else { return };
    let fast = packed::decode(family, bytes);
    assert_eq!(fast, reference::decode(family, bytes));
    let rewritten = |to| {
        fast.clone()
            .map(|setup| reference::encode(to, &setup).expect("a decoded position has both kings"))
    };
    let transcoded = packed::transcode(family, bytes);
    assert_eq!(transcoded, rewritten(family.other()));
    check_in_pairs(family, bytes, transcoded.ok());
    assert_eq!(packed::canonical(family, bytes), rewritten(family));
    assert_eq!(
        ContentHash::of_packed(family, bytes),
        fast.as_ref().map(ContentHash::of).map_err(Clone::clone)
    );
    let Ok(setup) = fast else { return };
    check_setup(family, &setup);
}

/// Checks that a position is transcoded in a pair like alone: together with a position that has all pieces on the
/// board, and with one that has them off it.
pub fn check_in_pairs(family: Family, bytes: &[u8; packed::LEN], alone: Option<[u8; packed::LEN]>) {
    static OTHERS: LazyLock<[Setup; 2]> = LazyLock::new(|| {
        [START, "4k4/9/9/9/9/9/9/9/4K4 b 2r2b4g4s4n4l18p 1"].map(|sfen| sfen.parse().unwrap())
    });
    for setup in &*OTHERS {
        let [other, other_alone] =
            [family, family.other()].map(|family| packed::encode(family, setup).unwrap());
        let other_alone = Some(other_alone);
        assert_eq!(packed::transcode_two(family, [bytes, &other]), [alone, other_alone]);
        assert_eq!(packed::transcode_two(family, [&other, bytes]), [other_alone, alone]);
    }
}

/// Checks that both codecs write the same bytes for a position with two kings, and read it back.
pub fn check_setup(family: Family, setup: &Setup) {
    let bytes = packed::encode(family, setup).expect("the position has both kings");
    assert_eq!(reference::encode(family, setup), Ok(bytes));
    assert_eq!(packed::decode(family, &bytes), Ok(setup.clone().with_ply(1)));
    assert_eq!(reference::decode(family, &bytes), Ok(setup.clone().with_ply(1)));
}

/// Checks that any bytes are read as a record without a panic. An accepted record is read back from its own format, and
/// from every other format with the fields that it holds.
pub fn check_record(format: Format, bytes: &[u8]) {
    match format {
        Format::Hcp | Format::Hcpe | Format::Hcpe2 | Format::Hcpe42 => {
            check_packed(Family::Apery, bytes);
        }
        Format::Psv => check_packed(Family::YaneuraOu, bytes),
        _ => {}
    }
    let Ok(record_ref) = RecordRef::new(format, bytes) else {
        assert!(format.record_len().is_none_or(|len| len != bytes.len()));
        return;
    };
    assert_eq!(record_ref.bytes(), bytes);
    check_read(&record_ref);
}

fn check_read(record_ref: &RecordRef) {
    assert_eq!(record_ref.check(), record_ref.record().map(drop));
    let Ok(record) = record_ref.record() else { return };
    check_accessors(record_ref, &record);
    for to in Format::ALL {
        check_conversion(record_ref, &record, to);
    }
}

/// Checks that a buffer is the sum of its chunks, and that the end of a chunk does not depend on later bytes. The
/// number of records of a chunk is counted correctly, and each record passes [`check_record`].
pub fn check_chunks(format: Format, buffer: &[u8]) {
    let mut rest = buffer;
    while !rest.is_empty() {
        let end = format.chunk_end(rest, true).expect("the last chunk ends with the buffer");
        assert!((1..=rest.len()).contains(&end));
        for shorter in (0..rest.len()).step_by(1 + rest.len() / 100) {
            let early = format.chunk_end(&rest[..shorter.max(1)], false);
            assert!(early.is_none_or(|early| early == end), "{early:?} of {shorter}, not {end}");
        }
        let (chunk, after) = rest.split_at(end);
        let chunk = if format.is_lines() { without_line_end(chunk) } else { chunk };
        let read: Vec<_> = records(format, format.dialect(), chunk).collect();
        assert_eq!(count(format, chunk), read.len() as u64);
        read.iter().flatten().for_each(check_read);
        rest = after;
    }
}

fn without_line_end(chunk: &[u8]) -> &[u8] {
    Lines::new(chunk).next().map_or(chunk, |line| line.content())
}

/// Checks that a text buffer is the sum of its lines, and that every line passes [`check_record`].
pub fn check_text(buffer: &[u8]) {
    let lines: Vec<Line> = Lines::new(buffer).collect();
    assert_eq!(lines.iter().flat_map(Line::raw).copied().collect::<Vec<_>>(), buffer);
    for line in lines {
        assert!(line.raw().starts_with(line.content()));
        assert!(!line.content().contains(&b'\n'));
        check_record(Format::Sfen, line.content());
    }
}

fn check_accessors(record_ref: &RecordRef, record: &Record) {
    assert_eq!(record_ref.setup().as_ref(), Ok(&record.setup));
    assert_eq!(record_ref.best_move(), Ok(record.best_move));
    assert_eq!(record_ref.eval_cp(), Ok(record.eval_cp));
    assert_eq!(record_ref.ply(), Ok(record.ply));
    assert_eq!(record_ref.result(), Ok(record.result));
    assert!(record_ref.warnings().is_ok());
    assert_eq!(record.setup.ply(), record.ply.unwrap_or(1));
}

fn check_conversion(record_ref: &RecordRef, record: &Record, to: Format) {
    let fill: Fill =
        "move=none,eval=12,ply=34,result=draw,end_ply=56".parse().expect("a valid fill");
    let mut out = b"before".to_vec();
    let written = record_ref.convert(to, &fill, &mut out);
    let mut by_content = b"before".to_vec();
    let same = record_ref.convert_content(record, to, &fill, &mut by_content);
    assert_eq!(same.map_err(ConvertError::from), written, "{to}");
    assert_eq!(by_content, out, "{to}");
    let Ok(written) = written else {
        assert_eq!(out, b"before");
        return;
    };
    let bytes = if to.is_lines() {
        Lines::new(&out[6..]).next().expect("something was written").content()
    } else {
        &out[6..]
    };
    let back_ref = RecordRef::new(to, bytes).expect("written by the library");
    let back = back_ref.record().expect("written by the library");
    assert_eq!(back.setup.clone().with_ply(1), record.setup.clone().with_ply(1));
    if to.holds_games() {
        assert_eq!(back.best_move, record.best_move);
        return;
    }
    let holds = |field| to.fields().contains(field);
    let expected = Record {
        setup: back.setup.clone(),
        best_move: record.best_move.filter(|_| holds(Field::BestMove)),
        eval_cp: record.eval_cp.or(fill.eval_cp).filter(|_| holds(Field::EvalCp)),
        ply: record.ply.or(fill.ply).filter(|_| holds(Field::Ply)),
        result: record.result.or(fill.result).filter(|_| holds(Field::Result)),
        ending: record.ending.filter(|_| !written.lost.contains(Field::Ending)),
        end_ply: record.end_ply.or(fill.end_ply).filter(|_| holds(Field::EndPly)),
        candidates: record
            .candidates
            .clone()
            .into_iter()
            .filter(|_| holds(Field::Candidates))
            .collect(),
        is_not_for_training: false,
    };
    assert_eq!(back, expected, "{to}");
    let mut again = Vec::new();
    back_ref.convert(to, &Fill::default(), &mut again).expect("no field is missing");
    assert_eq!(again, out[6..]);
}
