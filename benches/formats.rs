//! Records per second of the packed codecs, on positions of random games.
//!
//! Run with `cargo bench -p kyokumen-benches`. Uses one core; all data is in the cache. The group `rsshogi` measures
//! the library of that name on the same positions. Its checks are the most similar to the checks of Kyokumen.
#![allow(missing_docs, reason = "criterion's macros define public items")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kyokumen_format::packed::{self, Family};
use kyokumen_format::{Fill, Format, RecordRef, encode};
use kyokumen_shogi::{Position, Setup};
use rsshogi::board::{self, HuffmanCodedPos, PackedSfen, PackedSfenSink};
use rsshogi::types::{Color, Hand, HandPiece, Piece, Square};

const POSITIONS: usize = 4096;
const PLIES_A_GAME: u32 = 200;

/// Positions of random games. Every run has the same positions.
fn positions() -> Vec<Setup> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut setups = Vec::with_capacity(POSITIONS);
    while setups.len() < POSITIONS {
        let mut position = Position::start();
        for _ in 0..PLIES_A_GAME {
            setups.push(position.setup());
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            position.make(moves[(state % moves.len() as u64) as usize]);
        }
    }
    setups.truncate(POSITIONS);
    setups
}

fn packed_positions(c: &mut Criterion) {
    let setups = positions();
    let mut group = c.benchmark_group("packed");
    group.throughput(Throughput::Elements(POSITIONS as u64));
    for family in Family::ALL {
        let records: Vec<[u8; 32]> = setups
            .iter()
            .map(|setup| packed::encode(family, setup).expect("both kings exist"))
            .collect();
        let name = format!("{family:?}");
        group.bench_function(BenchmarkId::new("decode", &name), |b| {
            b.iter(|| {
                for record in &records {
                    black_box(packed::decode(family, black_box(record)).is_ok());
                }
            });
        });
        group.bench_function(BenchmarkId::new("decode to a Position", &name), |b| {
            b.iter(|| {
                for record in &records {
                    let setup = packed::decode(family, black_box(record)).expect("our own bytes");
                    black_box(Position::try_from(&setup).is_ok());
                }
            });
        });
        group.bench_function(BenchmarkId::new("transcode from", &name), |b| {
            b.iter(|| {
                for record in &records {
                    black_box(packed::transcode(family, black_box(record)).is_ok());
                }
            });
        });
        group.bench_function(BenchmarkId::new("transcode two at once from", &name), |b| {
            b.iter(|| {
                for [a, other] in records.as_chunks().0 {
                    black_box(packed::transcode_two(family, black_box([a, other])));
                }
            });
        });
        group.bench_function(BenchmarkId::new("canonical", &name), |b| {
            b.iter(|| {
                for record in &records {
                    black_box(packed::canonical(family, black_box(record)).is_ok());
                }
            });
        });
        group.bench_function(BenchmarkId::new("encode", &name), |b| {
            b.iter(|| {
                for setup in &setups {
                    black_box(packed::encode(family, black_box(setup)).is_ok());
                }
            });
        });
    }
    group.bench_function("warnings", |b| {
        b.iter(|| {
            for setup in &setups {
                black_box(black_box(setup).warnings());
            }
        });
    });
    group.finish();
}

/// The board and hands that rsshogi's decoder returns.
struct Arrangement {
    board: [Piece; 81],
    hands: [Hand; 2],
}

impl Arrangement {
    const EMPTY: Self = Self { board: [Piece::NONE; 81], hands: [Hand::ZERO; 2] };
}

impl PackedSfenSink for Arrangement {
    fn reset(&mut self, _: Color) {
        *self = Self::EMPTY;
    }

    fn set_piece(&mut self, square: Square, piece: Piece) {
        self.board[square.to_index()] = piece;
    }

    fn add_hand_piece(&mut self, color: Color, piece: HandPiece) {
        self.hands[color.to_index()].add(piece, 1);
    }
}

fn rsshogi(c: &mut Criterion) {
    let setups = positions();
    let packed = |family| {
        setups.iter().map(move |setup| packed::encode(family, setup).expect("both kings exist"))
    };
    let psv: Vec<_> = packed(Family::YaneuraOu).map(PackedSfen::from_bytes).collect();
    let hcp: Vec<_> = packed(Family::Apery).map(|data| HuffmanCodedPos { data }).collect();
    let positions: Vec<_> = setups
        .iter()
        .map(|setup| board::position_from_sfen(&setup.to_string()).expect("our own text"))
        .collect();
    let mut group = c.benchmark_group("rsshogi");
    group.throughput(Throughput::Elements(POSITIONS as u64));
    group.bench_function("decode/YaneuraOu", |b| {
        let mut to = Arrangement::EMPTY;
        b.iter(|| {
            for record in &psv {
                black_box(black_box(record).decode_into(false, &mut to).is_ok());
                black_box(&to);
            }
        });
    });
    group.bench_function("decode to a Position/YaneuraOu", |b| {
        let mut position = board::Position::empty();
        b.iter(|| {
            for record in &psv {
                black_box(position.set_packed_sfen(black_box(record), false, 1).is_ok());
            }
        });
    });
    group.bench_function("decode to a Position/Apery", |b| {
        let mut position = board::Position::empty();
        b.iter(|| {
            for record in &hcp {
                black_box(position.set_huffman_coded_pos(black_box(record), 1).is_ok());
            }
        });
    });
    group.bench_function("encode/YaneuraOu", |b| {
        b.iter(|| {
            for position in &positions {
                black_box(black_box(position).try_to_packed_sfen().is_ok());
            }
        });
    });
    group.bench_function("encode/Apery", |b| {
        b.iter(|| {
            for position in &positions {
                black_box(black_box(position).try_to_huffman_coded_pos().is_ok());
            }
        });
    });
    group.bench_function("transcode from/YaneuraOu", |b| {
        let mut position = board::Position::empty();
        b.iter(|| {
            for record in &psv {
                position.set_packed_sfen(black_box(record), false, 1).expect("our own bytes");
                black_box(position.try_to_huffman_coded_pos().is_ok());
            }
        });
    });
    group.finish();
}

fn records(c: &mut Criterion) {
    let fill: Fill = "move=none,eval=0,ply=1,result=draw".parse().expect("a fill");
    let setups = positions();
    let mut group = c.benchmark_group("record");
    group.throughput(Throughput::Elements(POSITIONS as u64));
    for (from, to) in [
        (Format::Psv, Format::Hcpe),
        (Format::Hcpe, Format::Psv),
        (Format::Psv, Format::Sfen),
        (Format::Sfen, Format::Psv),
    ] {
        let records: Vec<Vec<u8>> =
            setups.iter().map(|setup| encoded(from, setup, &fill)).collect();
        let mut out = Vec::with_capacity(256);
        group.bench_function(BenchmarkId::new("convert", format!("{from}-{to}")), |b| {
            b.iter(|| {
                for bytes in &records {
                    out.clear();
                    let record = RecordRef::new(from, black_box(bytes)).expect("a record");
                    black_box(record.convert(to, &fill, &mut out).is_ok());
                }
            });
        });
    }
    group.finish();
}

fn encoded(format: Format, setup: &Setup, fill: &Fill) -> Vec<u8> {
    let mut bytes = Vec::new();
    let record = setup.to_string();
    let record = RecordRef::new(Format::Sfen, record.as_bytes()).and_then(|r| r.record());
    encode(format, &record.expect("our own text"), fill, &mut bytes).expect("no field is missing");
    if format == Format::Sfen {
        bytes.pop();
    }
    bytes
}

criterion_group!(benches, packed_positions, rsshogi, records);
criterion_main!(benches);
