//! `Reader` and `Writer`: every format, inputs with short reads, and errors with their place.

use std::io::{self, Read};
use std::path::Path;

use kyokumen_format::{
    Chunks, ConvertError, DecodeError, DecodeErrorKind, Decoded, Decoder, ErrorKind, Fill, Format,
    MAX_LINE_BYTES, Place, Reader, Record, RecordPlace, Writer, chunks, encode, read_games,
    records, write_game,
};

/// Returns a few bytes per read, and sometimes an `Interrupted` error.
struct Trickle<'a> {
    rest: &'a [u8],
    most: usize,
    calls: usize,
}

impl<'a> Trickle<'a> {
    fn new(rest: &'a [u8], most: usize) -> Self {
        Self { rest, most, calls: 0 }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = self.most.min(buffer.len());
        self.rest.read(&mut buffer[..most])
    }
}

fn sample(format: Format) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/sample.{format}"));
    std::fs::read(path).unwrap()
}

/// The records of a slice, each with the offset of its chunk.
fn whole(format: Format, bytes: &[u8]) -> Vec<(usize, Record)> {
    let in_chunk = |chunk: &[u8]| {
        let offset = chunk.as_ptr().addr() - bytes.as_ptr().addr();
        let records = records(format, format.dialect(), chunk);
        let records: Vec<_> =
            records.map(|record| (offset, record.unwrap().record().unwrap())).collect();
        records
    };
    chunks(format, bytes).flat_map(in_chunk).collect()
}

fn read(format: Format, input: impl Read) -> Vec<Record> {
    Reader::new(format, input).records().collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_format_is_read_the_same_with_short_reads() {
    for format in Format::ALL {
        let bytes = sample(format);
        let expected = whole(format, &bytes);
        assert!(expected.len() > 100, "{format}");
        for most in [1, 13, usize::MAX] {
            let mut reader = Reader::new(format, Trickle::new(&bytes, most));
            for (index, (offset, record)) in (0..).zip(&expected) {
                let read = reader.read_record().unwrap().unwrap().record().unwrap();
                assert_eq!(read, *record, "{format} {most}");
                let place = reader.place();
                assert_eq!((place.index, place.offset), (index, *offset as u64), "{format}");
            }
            assert!(reader.read_record().unwrap().is_none(), "{format} {most}");
        }
        let chunks = Chunks::new(format, &bytes, false);
        let decoded: Vec<_> = Decoder::of_chunks(chunks, format.dialect(), 5)
            .map(|Decoded { index, chunk, record }| {
                (index, chunk.offset as usize, record.unwrap().record().unwrap())
            })
            .collect();
        let numbered: Vec<_> = (5..)
            .zip(&expected)
            .map(|(index, (offset, record))| (index, *offset, record.clone()))
            .collect();
        assert_eq!(decoded, numbered, "{format}");
    }
}

#[test]
fn every_writable_format_is_read_back() {
    for format in Format::ALL {
        let expected = read(format, &*sample(format));
        let mut writer = Writer::new(format, Vec::new());
        let mut slice = format.header().to_vec();
        for (i, record) in expected.iter().enumerate() {
            let written = writer.write_record(record).unwrap();
            slice.extend_from_slice(if i > 0 { format.separator() } else { b"" });
            assert_eq!(encode(format, record, &Fill::default(), &mut slice), Ok(written));
        }
        let written = writer.into_inner().unwrap();
        assert_eq!(written, slice, "{format}");
        let again = read(format, Trickle::new(&written, 1));
        if !format.holds_games() {
            assert_eq!(again, expected, "{format}");
        }
        let positions = |records: &[Record]| -> Vec<_> {
            records.iter().map(|record| (*record.setup.board(), record.best_move)).collect()
        };
        assert_eq!(positions(&again), positions(&expected), "{format}");
    }
}

#[test]
fn games_are_read_and_written() {
    for format in Format::ALL.into_iter().filter(|format| format.holds_games()) {
        let bytes = sample(format);
        let expected: Vec<_> = chunks(format, &bytes)
            .flat_map(|chunk| read_games(format, chunk).collect::<Vec<_>>())
            .collect::<Result<_, _>>()
            .unwrap();
        let mut reader = Reader::new(format, Trickle::new(&bytes, 1));
        let games: Vec<_> = reader.games().collect::<Result<_, _>>().unwrap();
        assert_eq!(games, expected, "{format}");
        let mut writer = Writer::new(format, Vec::new());
        let mut slice = Vec::new();
        for (i, game) in games.iter().enumerate() {
            writer.write_game(game).unwrap();
            slice.extend_from_slice(if i > 0 { format.separator() } else { b"" });
            write_game(format, game, &mut slice).unwrap();
        }
        assert_eq!(writer.into_inner().unwrap(), slice, "{format}");

        // After a record comes the game after its game, with the index of the first record of that game.
        let mut reader = Reader::new(format, &*bytes);
        reader.read_record().unwrap();
        assert_eq!(reader.read_game().unwrap().as_ref(), expected.get(1), "{format}");
        assert_eq!(reader.place().index, expected[0].moves.len() as u64, "{format}");
    }
}

#[test]
fn a_bad_record_is_an_error_with_its_place_and_reading_continues() {
    let line = "4k4/9/9/9/9/9/9/9/4K4 b - 1\n";
    let text = format!("{line}# a comment\nno position\n{line}");
    let mut reader = Reader::new(Format::Sfen, Trickle::new(text.as_bytes(), 1));
    let read: Vec<_> = reader.records().collect();
    let [Ok(_), Err(error), Ok(_)] = &read[..] else { panic!("{read:?}") };
    assert_eq!(error.place, Some(Place::Input(RecordPlace { index: 2, offset: 40 })));
    assert_eq!((reader.place().index, reader.place().offset), (3, 52));

    let hcp = &sample(Format::Hcp)[..70];
    let mut reader = Reader::new(Format::Hcp, Trickle::new(hcp, 5));
    let error = reader.records().nth(2).unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "record 2 (file offset 64): the record has 6 bytes instead of 32"
    );
    let ErrorKind::Record(ConvertError::Decode(error)) = error.kind else { panic!("{error}") };
    assert_eq!(error.kind, DecodeErrorKind::Length { expected: 32, found: 6 });
    assert!(reader.read_record().unwrap().is_none());
}

#[test]
fn each_piece_of_a_chunk_that_is_too_long_is_an_error() {
    let line = "4k4/9/9/9/9/9/9/9/4K4 b - 1\n";
    let text = [vec![b'x'; MAX_LINE_BYTES + 5], format!("\n{line}").into_bytes()].concat();
    for most in [1, 4096, usize::MAX] {
        let mut reader = Reader::new(Format::Sfen, Trickle::new(&text, most));
        let read: Vec<_> = reader.records().collect();
        let [Err(first), Err(second), Ok(_)] = &read[..] else { panic!("{} read", read.len()) };
        for (error, index, offset) in [(first, 0, 0), (second, 1, MAX_LINE_BYTES as u64)] {
            let ErrorKind::Record(kind) = &error.kind else { panic!("{error}") };
            assert_eq!(kind, &ConvertError::Decode(DecodeError::TOO_LONG));
            assert_eq!(error.place, Some(Place::Input(RecordPlace { index, offset })));
        }
        assert_eq!(reader.place().index, 2);
    }
}

#[test]
fn no_record_follows_an_io_error() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is cut"))
        }
    }
    let hcp = sample(Format::Hcp);
    let mut reader = Reader::new(Format::Hcp, hcp[..40].chain(Broken));
    assert!(reader.read_record().unwrap().is_some());
    let error = reader.read_record().unwrap_err();
    assert_eq!(error.to_string(), "record 1 (file offset 40): the cable is cut");
    assert!(reader.read_record().unwrap().is_none());
    assert!(reader.read_game().unwrap().is_none());
}

#[test]
fn a_record_that_cannot_be_written_writes_nothing() {
    let record = Record::new("4k4/9/9/9/9/9/9/9/4K4 b - 1".parse().unwrap());
    let mut writer = Writer::new(Format::Psv, Vec::new());
    let error = writer.write_record(&record).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Record(ConvertError::Encode(_))));
    assert_eq!(
        error.to_string(),
        "record 0: the record lacks fields that the output needs: eval, ply, result"
    );
    assert!(writer.into_inner().unwrap().is_empty());

    let fill = Fill::neutral(Format::Psv.needs());
    let mut writer = Writer::new(Format::Psv, Vec::new()).with_fill(fill);
    assert_eq!(writer.write_record(&record).unwrap().filled_in, Format::Psv.needs());
    assert_eq!(writer.into_inner().unwrap().len(), 40);

    let empty = Writer::new(Format::Db, Vec::new()).into_inner().unwrap();
    assert_eq!(empty, Format::Db.header());
}
