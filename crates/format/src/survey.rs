//! Guesses from records how they were written: order of the pieces in hand, padding, move encoding.
//!
//! `docs/formats/packed.md` lists the programs and their hand orders.

use std::fmt;

use kyokumen_shogi::{HandKind, Position, Setup};
use serde::{Deserialize, Serialize};

use super::alphabet::PieceOwner;
use super::move16::Dialect;
use super::warning::Warning;
use super::{DecodeError, Field};
use crate::packed::family::Family;
use crate::packed::words::LEN;
use crate::record_ref::RecordRef;

/// An order of the pieces in a hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandOrder {
    /// P L N S G B R: YaneuraOu since January 2024, cshogi, rsshogi. This is the canonical order.
    Canonical,
    /// P L N S B R G: older YaneuraOu, tanuki-.
    GoldLast,
    /// R B G S N L P: rshogi.
    RookFirst,
}

impl HandOrder {
    /// All known orders.
    pub const ALL: [Self; 3] = [Self::Canonical, Self::GoldLast, Self::RookFirst];

    /// The kinds in this order.
    pub const fn kinds(self) -> [HandKind; HandKind::COUNT] {
        use HandKind::{Bishop, Gold, Knight, Lance, Pawn, Rook, Silver};
        match self {
            Self::Canonical => HandKind::ALL,
            Self::GoldLast => [Pawn, Lance, Knight, Silver, Bishop, Rook, Gold],
            Self::RookFirst => [Rook, Bishop, Gold, Silver, Knight, Lance, Pawn],
        }
    }

    /// The letters in this order.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Canonical => "P L N S G B R",
            Self::GoldLast => "P L N S B R G",
            Self::RookFirst => "R B G S N L P",
        }
    }
}

/// The hand order that the records have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandOrders {
    /// No record has hands where the known orders differ.
    Undetermined,
    /// All records fit these orders. Several orders if no record distinguishes them.
    Known(Vec<HandOrder>),
    /// No known order fits all records: there were several writers, or the order is unknown.
    Mixed,
}

impl fmt::Display for HandOrders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undetermined => f.write_str("not told by any record"),
            Self::Mixed => f.write_str("mixed"),
            Self::Known(orders) => {
                let names: Vec<&str> = orders.iter().map(|order| order.name()).collect();
                f.write_str(&names.join(" or "))
            }
        }
    }
}

/// Counts of stored moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MoveCounts {
    /// Legal moves.
    pub legal: u64,
    /// Illegal moves: wrong data, or another move encoding.
    pub illegal: u64,
    /// Bits that are not a move in the move encoding of the format.
    pub malformed: u64,
    /// Records without a move.
    pub none: u64,
}

/// Properties of a sample of records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Survey {
    /// Number of records in the sample.
    pub records: u64,
    /// Records that cannot be read.
    pub unreadable: u64,
    /// Games with at least one record, if the format holds games.
    pub games: u64,
    /// Records whose padding is not zero.
    pub padding_not_zero: u64,
    /// Stored moves of valid positions.
    pub moves: MoveCounts,
    /// Records whose hands distinguish the known orders.
    pub telling_hands: u64,
    /// The number of these records that fit each order of [`HandOrder::ALL`].
    fitting: [u64; HandOrder::ALL.len()],
    /// Stored moves that the known encodings decode differently.
    pub telling_moves: u64,
    /// The number of these moves that are legal in each encoding of [`Dialect::ALL`].
    legal: [u64; Dialect::ALL.len()],
    /// Records whose result byte has flags.
    pub result_flags: u64,
}

/// The move encoding that the records have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DialectFinding {
    /// At least nine in ten of the distinguishing moves are legal in this encoding, and no other encoding has more.
    Sure(Dialect),
    /// No encoding reaches nine in ten.
    Unsure,
    /// No move distinguishes the encodings.
    Undetermined,
}

impl DialectFinding {
    /// The encoding that was found, or `own`, the usual encoding of the format, if none is certain.
    pub const fn dialect(self, own: Dialect) -> Dialect {
        match self {
            Self::Sure(dialect) => dialect,
            Self::Unsure | Self::Undetermined => own,
        }
    }
}

impl Survey {
    /// Adds a record, or `None` for bytes that are not a record.
    pub fn add(&mut self, record: Option<RecordRef<'_>>) {
        self.records += 1;
        self.games += u64::from(record.as_ref().is_some_and(RecordRef::starts_game));
        if record.is_none_or(|record| self.look_at(&record).is_err()) {
            self.unreadable += 1;
        }
    }

    /// The order of the pieces in hand.
    ///
    /// Positions with pieces in the box are ignored, because the orders are known only for hands.
    pub fn hand_orders(&self) -> HandOrders {
        if self.telling_hands == 0 {
            return HandOrders::Undetermined;
        }
        let fits_all = |&(_, fitting): &(HandOrder, u64)| fitting == self.telling_hands;
        let orders = HandOrder::ALL.into_iter().zip(self.fitting).filter(fits_all);
        let orders: Vec<HandOrder> = orders.map(|(order, _)| order).collect();
        if orders.is_empty() { HandOrders::Mixed } else { HandOrders::Known(orders) }
    }

    /// The move encoding. In a tie `own`, the usual encoding of the format, wins.
    pub fn dialect(&self, own: Dialect) -> DialectFinding {
        if self.telling_moves == 0 {
            return DialectFinding::Undetermined;
        }
        let others = Dialect::ALL.into_iter().filter(|&dialect| dialect != own);
        let best = others.fold(own, |best, dialect| {
            if self.legal_in(dialect) > self.legal_in(best) { dialect } else { best }
        });
        let is_sure = self.legal_in(best) * 10 >= self.telling_moves * 9;
        if is_sure { DialectFinding::Sure(best) } else { DialectFinding::Unsure }
    }

    /// Whether most stored moves are illegal in every move encoding. `own` is the usual encoding of the format.
    pub fn moves_are_mostly_illegal(&self, own: Dialect) -> bool {
        let MoveCounts { legal, illegal, malformed, .. } = self.moves;
        !matches!(self.dialect(own), DialectFinding::Sure(_)) && illegal + malformed > legal
    }

    /// Number of [`Survey::telling_moves`] that are legal in an encoding.
    pub const fn legal_in(&self, dialect: Dialect) -> u64 {
        self.legal[dialect as usize]
    }

    /// The share of records that can be read. 1 without records.
    pub fn readable_share(&self) -> f64 {
        1.0 - self.unreadable as f64 / self.records.max(1) as f64
    }

    /// Whether more than half of the records can be read.
    pub const fn is_mostly_readable(&self) -> bool {
        self.unreadable.saturating_mul(2) < self.records
    }

    fn look_at(&mut self, record: &RecordRef<'_>) -> Result<(), DecodeError> {
        let content = record.record()?;
        let position = Position::try_from(&content.setup).ok();
        let warnings = record.warnings_about(&content.setup, position.as_ref())?;
        if warnings.contains(Warning::PaddingNotZero) {
            self.padding_not_zero += 1;
        }
        if record.format().fields().contains(Field::BestMove) {
            if warnings.contains(Warning::MoveMalformed) {
                self.moves.malformed += 1;
            } else if content.best_move.is_none() {
                self.moves.none += 1;
            } else if warnings.contains(Warning::MoveIllegal) {
                self.moves.illegal += 1;
            } else if position.is_some() {
                self.moves.legal += 1;
            }
        }
        if warnings.contains(Warning::ResultFlags) {
            self.result_flags += 1;
        }
        if let (Some(bits), Some(position)) = (record.move_bits(), &position) {
            self.compare_dialects(bits, position);
        }
        self.compare_hands(record, &content.setup);
        Ok(())
    }

    fn compare_dialects(&mut self, bits: u16, position: &Position) {
        let decoded = Dialect::ALL.map(|dialect| dialect.decode(bits).ok().flatten());
        if decoded.iter().all(|m| *m == decoded[0]) {
            return;
        }
        self.telling_moves += 1;
        for (legal, m) in self.legal.iter_mut().zip(decoded) {
            *legal += u64::from(m.is_some_and(|m| position.is_legal(m)));
        }
    }

    fn compare_hands(&mut self, record: &RecordRef<'_>, setup: &Setup) {
        let Some((family, packed)) = record.packed() else { return };
        let kinds = setup.hands().map(|hand| hand.iter().count());
        if !setup.piece_box().is_empty() || kinds.iter().all(|&kinds| kinds < 2) {
            return;
        }
        let in_order = HandOrder::ALL.map(|order| held_in_order(setup, order));
        if in_order.iter().all(|held| *held == in_order[0]) {
            return;
        }
        self.telling_hands += 1;
        for (fitting, held) in self.fitting.iter_mut().zip(in_order) {
            *fitting += u64::from(ends_with(family, packed, &held));
        }
    }
}

/// The pieces in hand, Black's before White's, each hand in this order.
fn held_in_order(setup: &Setup, order: HandOrder) -> Vec<(PieceOwner, HandKind)> {
    let mut held = Vec::new();
    for (hand, holder) in setup.hands().into_iter().zip([PieceOwner::Black, PieceOwner::White]) {
        for kind in order.kinds() {
            held.extend(std::iter::repeat_n((holder, kind), hand.count(kind).into()));
        }
    }
    held
}

/// Whether the packed position ends with these pieces in this order.
fn ends_with(family: Family, packed: &[u8; LEN], held: &[(PieceOwner, HandKind)]) -> bool {
    let alphabet = family.alphabet();
    let codes = held.iter().map(|&(holder, kind)| alphabet.off_board(kind, holder));
    let mut bit = 8 * LEN - codes.clone().map(|code| usize::from(code.len)).sum::<usize>();
    let mut bits = |len: u8| {
        let bytes = [packed[bit / 8], packed.get(bit / 8 + 1).copied().unwrap_or(0)];
        let bits = u16::from_le_bytes(bytes) >> (bit % 8) & ((1 << len) - 1);
        bit += usize::from(len);
        bits
    };
    codes.into_iter().all(|code| bits(code.len) == u16::from(code.bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, reference};
    use kyokumen_shogi::Move;

    /// A position with silver, gold and pawns in White's hand, where the hand orders differ.
    const TELLING: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";
    const START: &str = kyokumen_shogi::sfen::START;

    fn survey(records: &[(&str, HandOrder)]) -> Survey {
        let mut survey = Survey::default();
        for (sfen, order) in records {
            let setup: Setup = sfen.parse().unwrap();
            let bytes = reference::encode_in_order(Family::Apery, &setup, order.kinds()).unwrap();
            survey.add(RecordRef::new(Format::Hcp, &bytes).ok());
        }
        survey
    }

    #[test]
    fn hand_orders_are_recognised() {
        for order in HandOrder::ALL {
            let survey = survey(&[(START, order), (TELLING, order)]);
            assert_eq!((survey.records, survey.telling_hands), (2, 1));
            assert_eq!(survey.hand_orders(), HandOrders::Known(vec![order]));
        }
        let mixed = survey(&[(TELLING, HandOrder::Canonical), (TELLING, HandOrder::GoldLast)]);
        assert_eq!(mixed.hand_orders(), HandOrders::Mixed);
        assert_eq!(
            survey(&[(START, HandOrder::RookFirst)]).hand_orders(),
            HandOrders::Undetermined
        );
    }

    #[test]
    fn the_move_encoding_is_recognised_by_legal_moves() {
        let written = |dialect: Dialect, moves: &[&str]| {
            let setup: Setup = TELLING.parse().unwrap();
            let mut survey = Survey::default();
            for best_move in moves {
                let mut bytes = reference::encode(Family::YaneuraOu, &setup).unwrap().to_vec();
                let bits = dialect.encode(Move::from_usi(best_move).unwrap());
                bytes.extend([&[0, 0][..], &bits.to_le_bytes(), &[1, 0, 0, 0]].concat());
                survey.add(RecordRef::new(Format::Psv, &bytes).ok());
            }
            survey
        };
        // White has pawns, a silver, a knight and a gold in hand.
        let moves = ["S*5e", "G*5e", "N*5e"];
        for dialect in Dialect::ALL {
            let survey = written(dialect, &moves);
            assert_eq!((survey.telling_moves, survey.legal_in(dialect)), (3, 3));
            assert_eq!(survey.dialect(Dialect::YaneuraOu), DialectFinding::Sure(dialect));
        }
        let mut mixed = written(Dialect::YaneuraOu, &moves);
        assert_eq!(
            written(Dialect::Apery, &["3a4b"]).dialect(Dialect::YaneuraOu),
            DialectFinding::Undetermined
        );
        mixed.telling_moves += 3;
        assert_eq!(mixed.dialect(Dialect::YaneuraOu), DialectFinding::Unsure);
    }

    #[test]
    fn moves_are_counted_as_legal_or_illegal() {
        let mut survey = Survey::default();
        for best_move in ["7g7f", "7g7e", "none", "-"] {
            let line = format!("{START}\t{best_move}\t0\t1\td");
            survey.add(RecordRef::new(Format::Sfen, line.as_bytes()).ok());
        }
        survey.add(RecordRef::new(Format::Hcp, &[0; LEN]).ok());
        let moves = MoveCounts { legal: 1, illegal: 1, malformed: 0, none: 2 };
        assert_eq!((survey.records, survey.unreadable, survey.moves), (5, 1, moves));
    }
}
