//! What must hold of any bytes whatever, for every format.
//!
//! Called with generated input by the tests and with hostile input by the fuzz targets.

use kyokumen::format::packed::{self, Family};
use kyokumen::format::{
    ContentKey, Fill, Format, Line, Lines, Record, RecordRef, encode, reference,
};
use kyokumen::shogi::Setup;

/// Both codecs agree on the first 32 bytes, down to the error; what they accept comes back.
pub(crate) fn check_packed(family: Family, bytes: &[u8]) {
    let Some(bytes) = bytes.first_chunk() else { return };
    let fast = packed::decode(family, bytes);
    assert_eq!(fast, reference::decode(family, bytes));
    let rewritten = |to| {
        fast.clone()
            .map(|setup| reference::encode(to, &setup).expect("what was decoded has both kings"))
    };
    assert_eq!(packed::transcode(family, bytes), rewritten(family.other()));
    assert_eq!(packed::canonical(family, bytes), rewritten(family));
    assert_eq!(
        ContentKey::of_packed(family, bytes),
        fast.as_ref().map(ContentKey::of).map_err(Clone::clone)
    );
    let Ok(setup) = fast else { return };
    check_setup(family, &setup);
}

/// Both codecs write the same bytes for an arrangement with two kings, and read it back.
pub(crate) fn check_setup(family: Family, setup: &Setup) {
    let bytes = packed::encode(family, setup).expect("both kings are there");
    assert_eq!(reference::encode(family, setup), Ok(bytes));
    assert_eq!(packed::decode(family, &bytes), Ok(setup.clone().with_ply(1)));
    assert_eq!(reference::decode(family, &bytes), Ok(setup.clone().with_ply(1)));
}

/// A record, or anything in its place, is read without a panic; what is accepted comes back from its
/// own format, and from every other one with what that can hold.
pub(crate) fn check_record(format: Format, bytes: &[u8]) {
    match format {
        Format::Hcp | Format::Hcpe => check_packed(Family::Apery, bytes),
        Format::Psv => check_packed(Family::YaneuraOu, bytes),
        _ => {}
    }
    let Ok(record_ref) = RecordRef::new(format, bytes) else {
        assert_ne!(format.record_len(), Some(bytes.len()));
        return;
    };
    assert_eq!(record_ref.bytes(), bytes);
    let Ok(record) = record_ref.record() else { return };
    check_accessors(&record_ref, &record);
    for to in Format::ALL {
        check_conversion(&record_ref, &record, to);
    }
}

/// A buffer of text is the sum of its lines, and every line passes [`check_record`].
pub(crate) fn check_text(buffer: &[u8]) {
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
    let fill: Fill = "move=none,eval=12,ply=34,result=draw".parse().expect("a fill");
    let mut out = b"before".to_vec();
    let Ok(written) = record_ref.convert(to, &fill, &mut out) else {
        assert_eq!(out, b"before");
        return;
    };
    let line = Lines::new(&out[6..]).next().expect("something was written");
    let bytes = if to == Format::Sfen { line.content() } else { &out[6..] };
    let back = RecordRef::new(to, bytes).and_then(|back| back.record()).expect("our own bytes");
    assert_eq!(back.setup.clone().with_ply(1), record.setup.clone().with_ply(1));
    let held = record.fields().without(written.lost);
    let expected = Record {
        setup: back.setup.clone(),
        best_move: record.best_move.filter(|_| held.contains(kyokumen::format::Field::BestMove)),
        eval_cp: to_field(to, record.eval_cp.or(fill.eval_cp), Format::Hcp),
        ply: match to {
            Format::Psv | Format::Sfen => record.ply.or(fill.ply),
            _ => None,
        },
        result: to_field(to, record.result.or(fill.result), Format::Hcp),
    };
    assert_eq!(back, expected, "{to}");
    let mut again = Vec::new();
    encode(to, &back, &Fill::default(), &mut again).expect("nothing is missing");
    assert_eq!(again, out[6..]);
}

/// A field that every format but one holds.
fn to_field<T>(to: Format, value: Option<T>, without: Format) -> Option<T> {
    if to == without { None } else { value }
}
