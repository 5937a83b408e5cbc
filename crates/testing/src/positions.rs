//! Test positions: generated ones, and positions of real games if the test data is available.
//!
//! Generated positions come from seeded random play and from randomly placed pieces.

use std::fs;
use std::path::PathBuf;

use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::{
    Board, Color, Hand, HandKind, Move, Piece, PieceKind, Position, Setup, Square,
};

/// Random numbers for tests.
pub struct Random(SplitMix64);

impl Random {
    /// Creates a generator. The same seed gives the same numbers on all platforms.
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// 64 random bits.
    pub const fn next(&mut self) -> u64 {
        self.0.next_bits()
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// One of the items. There must be at least one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Puts the items into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// A random move that often captures or gives check. Such games fill the hands and end in mates.
fn random_move(position: &Position, random: &mut Random) -> Option<Move> {
    let mut moves = position.legal_moves();
    match random.below(4) {
        0 => retain_if_some(&mut moves, |m| position.captured_by(m).is_some()),
        1 => retain_if_some(&mut moves, |m| position.gives_check(m)),
        _ => {}
    }
    (!moves.is_empty()).then(|| *random.pick(&moves))
}

fn retain_if_some(moves: &mut Vec<Move>, wanted: impl Fn(Move) -> bool) {
    if moves.iter().any(|&m| wanted(m)) {
        moves.retain(|&m| wanted(m));
    }
}

/// `count` positions in the order of random games of at most 200 plies, including final positions.
pub fn random_play(seed: u64, count: usize) -> Vec<Position> {
    let mut random = Random::new(seed);
    let mut positions = Vec::with_capacity(count);
    let mut position = Position::start();
    let mut plies = 0;
    while positions.len() < count {
        positions.push(position.clone());
        match random_move(&position, &mut random) {
            Some(m) if plies < 200 => {
                position.make(m);
                plies += 1;
            }
            _ => {
                position = Position::start();
                plies = 0;
            }
        }
    }
    positions
}

/// `count` positions with pieces randomly placed on the board, in the hands and in the box. Sometimes a king is
/// missing. Two pawns on a file and pieces that can never move occur.
pub fn strewn(seed: u64, count: usize) -> Vec<Position> {
    let mut random = Random::new(seed);
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        positions.extend(Position::try_from(random_setup(&mut random)).ok());
    }
    positions
}

fn random_setup(random: &mut Random) -> Setup {
    let mut squares: Vec<Square> = Square::all().collect();
    random.shuffle(&mut squares);
    let mut board: Board = [None; Square::COUNT];
    let mut counts = [[0; HandKind::COUNT]; 2];
    let without_king = random.below(6);
    for color in Color::ALL {
        if without_king != color.index() {
            let square = squares.pop().unwrap();
            board[square.index()] = Some(Piece::new(color, PieceKind::King));
        }
    }
    // Few pieces on the board give open lines; many pieces give blockers.
    let on_board = 1 + random.below(7);
    for kind in HandKind::ALL {
        for _ in 0..HandKind::SET[kind.index()] {
            let color = Color::ALL[random.below(2)];
            if random.below(8) < on_board {
                let kind = kind.piece_kind();
                let promoted = kind.promoted().filter(|_| random.below(3) == 0);
                let piece = Piece::new(color, promoted.unwrap_or(kind));
                board[squares.pop().unwrap().index()] = Some(piece);
            } else if random.below(4) > 0 {
                counts[color.index()][kind.index()] += 1;
            }
        }
    }
    let hands = counts.map(|counts| Hand::from_counts(counts).unwrap());
    Setup::new(board, hands, Color::ALL[random.below(2)], 1).unwrap()
}

/// A file with positions of real games. They cannot be published, so tests that need them are ignored by default.
pub fn shared(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("KYOKUMEN_DATA").expect("KYOKUMEN_DATA must name a folder of test data");
    let path = PathBuf::from(folder).join(name);
    assert!(path.is_file(), "{} is missing", path.display());
    path
}

/// The lines of a shared text file, decompressed if its name ends with `.zst`.
pub fn shared_lines(name: &str) -> Vec<String> {
    let path = shared(name);
    let bytes = fs::read(&path).unwrap();
    let packed = path.extension().is_some_and(|extension| extension == "zst");
    let text = if packed { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

/// Every `step`-th position of a shared file whose lines begin with an SFEN.
pub fn shared_positions(name: &str, step: usize) -> Vec<Position> {
    let lines = shared_lines(name);
    lines.iter().step_by(step).map(|line| position(line.split('\t').next().unwrap())).collect()
}

/// Parses an SFEN as a position.
///
/// # Panics
///
/// If the SFEN is invalid.
pub fn position(sfen: &str) -> Position {
    sfen.parse().unwrap_or_else(|error| panic!("{sfen}: {error}"))
}
