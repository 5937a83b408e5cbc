//! The rule-book move generator: independent and deliberately simple. It makes each move and then tests it.
//!
//! The fast generators are tested against it, and the proof checker of the search uses only this module. It shares no
//! table and no bitboard with them.
//!
//! The board is a mailbox: the squares have a border of walls, so that a step is an addition and a step off the board
//! ends on a wall.

use super::hand::Hand;
use super::moves::Move;
use super::piece::{Color, HandKind, Piece, PieceKind};
use super::position::Position;
use super::square::Square;

/// A step as the mover sees it: files to the left, ranks down, and whether it repeats.
type MoveStep = (isize, isize, bool);

const PAWN: &[MoveStep] = &[(0, -1, false)];
const LANCE: &[MoveStep] = &[(0, -1, true)];
const KNIGHT: &[MoveStep] = &[(-1, -2, false), (1, -2, false)];
const SILVER: &[MoveStep] =
    &[(0, -1, false), (-1, -1, false), (1, -1, false), (-1, 1, false), (1, 1, false)];
const GOLD: &[MoveStep] = &[
    (0, -1, false),
    (-1, -1, false),
    (1, -1, false),
    (-1, 0, false),
    (1, 0, false),
    (0, 1, false),
];
const BISHOP: &[MoveStep] = &[(-1, -1, true), (1, -1, true), (-1, 1, true), (1, 1, true)];
const ROOK: &[MoveStep] = &[(0, -1, true), (-1, 0, true), (1, 0, true), (0, 1, true)];
const KING: &[MoveStep] = &[
    (0, -1, false),
    (-1, -1, false),
    (1, -1, false),
    (-1, 0, false),
    (1, 0, false),
    (0, 1, false),
    (-1, 1, false),
    (1, 1, false),
];
const HORSE: &[MoveStep] = &[
    (-1, -1, true),
    (1, -1, true),
    (-1, 1, true),
    (1, 1, true),
    (0, -1, false),
    (-1, 0, false),
    (1, 0, false),
    (0, 1, false),
];
const DRAGON: &[MoveStep] = &[
    (0, -1, true),
    (-1, 0, true),
    (1, 0, true),
    (0, 1, true),
    (-1, -1, false),
    (1, -1, false),
    (-1, 1, false),
    (1, 1, false),
];

const fn reaches(kind: PieceKind) -> &'static [MoveStep] {
    match kind {
        PieceKind::Pawn => PAWN,
        PieceKind::Lance => LANCE,
        PieceKind::Knight => KNIGHT,
        PieceKind::Silver => SILVER,
        PieceKind::Gold
        | PieceKind::ProPawn
        | PieceKind::ProLance
        | PieceKind::ProKnight
        | PieceKind::ProSilver => GOLD,
        PieceKind::Bishop => BISHOP,
        PieceKind::Rook => ROOK,
        PieceKind::King => KING,
        PieceKind::Horse => HORSE,
        PieceKind::Dragon => DRAGON,
    }
}

/// All legal moves, by origin square, then by kind in hand.
pub fn legal_moves(position: &Position) -> Vec<Move> {
    Mailbox::new(position).legal_moves()
}

/// The legal moves that give check, in the order of [`legal_moves`].
pub fn legal_checks(position: &Position) -> Vec<Move> {
    let mut mailbox = Mailbox::new(position);
    let mut moves = mailbox.legal_moves();
    moves.retain(|&m| mailbox.gives_check(m));
    moves
}

/// The legal move with this [code](Move::code).
pub fn legal_move(position: &Position, code: u16) -> Option<Move> {
    Mailbox::new(position).legal_move(code)
}

/// The legal move with this [code](Move::code), if it gives check.
pub fn legal_check(position: &Position, code: u16) -> Option<Move> {
    let mut mailbox = Mailbox::new(position);
    mailbox.legal_move(code).filter(|&m| mailbox.gives_check(m))
}

/// The legal move with this [code](Move::code), if it mates.
pub fn legal_mate(position: &Position, code: u16) -> Option<Move> {
    let mut mailbox = Mailbox::new(position);
    mailbox.legal_move(code).filter(|&m| mailbox.mates(m))
}

/// Whether the side to move is in check.
pub fn in_check(position: &Position) -> bool {
    let mailbox = Mailbox::new(position);
    mailbox.king_is_attacked(mailbox.side_to_move)
}

/// The contents of a cell: an index into [`Self::PIECES`], or [`Self::EMPTY`], or [`Self::WALL`].
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell(u8);

/// A set of pieces, one bit for each number of a [`Cell`]. Empty cells and walls are never in a set.
type Pieces = u32;

impl Cell {
    const PIECES: [Piece; 2 * PieceKind::COUNT] = {
        let mut pieces = [Piece::new(Color::Black, PieceKind::Pawn); 2 * PieceKind::COUNT];
        let mut kind = 0;
        while kind < PieceKind::COUNT {
            pieces[kind] = Piece::new(Color::Black, PieceKind::ALL[kind]);
            pieces[PieceKind::COUNT + kind] = Piece::new(Color::White, PieceKind::ALL[kind]);
            kind += 1;
        }
        pieces
    };
    const EMPTY: Self = Self(Self::PIECES.len() as u8);
    const WALL: Self = Self(Self::EMPTY.0 + 1);

    const fn new(Piece { color, kind }: Piece) -> Self {
        Self((color.index() * PieceKind::COUNT + kind.index()) as u8)
    }

    fn piece(self) -> Option<Piece> {
        Self::PIECES.get(usize::from(self.0)).copied()
    }

    const fn is_in(self, pieces: Pieces) -> bool {
        pieces >> self.0 & 1 != 0
    }
}

/// The pieces of one side with these kinds. `kinds` has one bit for each [`PieceKind::index`].
const fn pieces_of(color: Color, kinds: u16) -> Pieces {
    (kinds as Pieces) << (color.index() * PieceKind::COUNT)
}

const ALL_KINDS: u16 = (1 << PieceKind::COUNT) - 1;

/// Cells of a file: nine squares, and two walls at each end, because a knight jumps two ranks.
const FILE_CELLS: usize = RIM_RANKS + 9 + RIM_RANKS;
const RIM_RANKS: usize = 2;
/// Nine files, and one file of walls on each side.
const CELLS: usize = (1 + 9 + 1) * FILE_CELLS;

/// The number of a cell.
type CellNumber = usize;

const fn cell_of(square: Square) -> CellNumber {
    (square.file() as usize + 1) * FILE_CELLS + square.rank() as usize + RIM_RANKS
}

/// The square of a cell that is not a wall.
fn square_of(cell: CellNumber) -> Square {
    SQUARES[cell]
}

/// The squares by cell, because a division takes longer than a look-up. Walls have any square.
static SQUARES: [Square; CELLS] = {
    let mut squares = [Square::from_bit(0); CELLS];
    let mut number = 0;
    while number < Square::COUNT {
        let square = Square::from_bit(number as u32);
        squares[cell_of(square)] = square;
        number += 1;
    }
    squares
};

/// The difference between cell numbers after a step of a piece of this side.
const fn distance(files: isize, ranks: isize, color: Color) -> isize {
    let black = files * FILE_CELLS.cast_signed() + ranks;
    match color {
        Color::Black => black,
        Color::White => -black,
    }
}

/// A piece that can move to a cell.
#[derive(Clone, Copy)]
struct Arrival {
    from: CellNumber,
    /// Direction of the move, an index into [`DIRECTIONS`].
    direction: usize,
    /// Difference between cell numbers for one step from the target back towards the piece.
    back: isize,
}

/// The cell of the king of `color`: `square` if the board confirms it, otherwise found by a scan.
fn king(cells: &[Cell; CELLS], color: Color, square: Option<Square>) -> Option<CellNumber> {
    let king = Cell::new(Piece::new(color, PieceKind::King));
    let is_there = |&cell: &CellNumber| cells[cell] == king;
    square.map(cell_of).filter(is_there).or_else(|| cells.iter().position(|&cell| cell == king))
}

struct Mailbox {
    cells: [Cell; CELLS],
    hands: [Hand; 2],
    side_to_move: Color,
    kings: [Option<CellNumber>; 2],
}

impl Mailbox {
    fn new(position: &Position) -> Self {
        let mut cells = [Cell::WALL; CELLS];
        for (file, contents) in position.board().chunks_exact(9).enumerate() {
            let first = cell_of(Square::from_file_rank(file as u8, 0));
            for (cell, &content) in cells[first..first + 9].iter_mut().zip(contents) {
                *cell = content.map_or(Cell::EMPTY, Cell::new);
            }
        }
        Self {
            cells,
            kings: Color::ALL.map(|color| king(&cells, color, position.king(color))),
            hands: Color::ALL.map(|color| position.hand(color)),
            side_to_move: position.side_to_move(),
        }
    }

    fn legal_moves(&mut self) -> Vec<Move> {
        let (mut moves, in_check) = self.candidates();
        moves.retain(|&m| self.is_legal(m, in_check));
        moves
    }

    fn has_legal_move(&mut self) -> bool {
        let (moves, in_check) = self.candidates();
        moves.into_iter().any(|m| self.is_legal(m, in_check))
    }

    fn legal_move(&mut self, code: u16) -> Option<Move> {
        let m = Move::from_code(code)?;
        let mut is_candidate = false;
        match (m.from(), m.dropped()) {
            (Some(from), _) => {
                self.visit_moves_from(cell_of(from), |candidate| is_candidate |= candidate == m);
            }
            (None, Some(kind)) => {
                is_candidate = self.holds(kind) && self.can_drop(kind, m.to());
            }
            (None, None) => {}
        }
        // `true` is always correct; `false` would only skip a test for drops.
        (is_candidate && self.is_legal(m, true)).then_some(m)
    }

    fn gives_check(&mut self, m: Move) -> bool {
        let them = !self.side_to_move;
        let captured = self.make(m);
        let gives_check = self.king_is_attacked(them);
        self.unmake(m, captured);
        gives_check
    }

    /// Moves that obey the moves of the pieces, the dead ranks and the rule of two pawns. In check, only moves that may
    /// end it. Also returns whether the side to move is in check.
    fn candidates(&self) -> (Vec<Move>, bool) {
        let mut moves = Vec::with_capacity(CANDIDATES);
        let us = self.side_to_move;
        if let Some(king) = self.kings[us.index()] {
            let mut checks = self.arrivals(king, !us);
            if let Some(check) = checks.next() {
                match checks.next() {
                    None => self.push_answers(king, check, &mut moves),
                    // Only the king can escape a double check.
                    Some(_) => self.visit_moves_from(king, |m| moves.push(m)),
                }
                return (moves, true);
            }
        }
        self.push_all(&mut moves);
        (moves, false)
    }

    fn push_all(&self, moves: &mut Vec<Move>) {
        let us = self.side_to_move;
        for from in Square::all().map(cell_of) {
            if self.cells[from].is_in(pieces_of(us, ALL_KINDS)) {
                self.visit_moves_from(from, |m| moves.push(m));
            }
        }
        for kind in HandKind::ALL {
            self.push_drops(kind, Square::all(), moves);
        }
    }

    /// Appends moves of the king, captures of the checker and interpositions.
    fn push_answers(&self, king: CellNumber, check: Arrival, moves: &mut Vec<Move>) {
        let us = self.side_to_move;
        let mut between = Vec::new();
        let mut arrivals = Vec::with_capacity(CANDIDATES);
        let mut to = king;
        while to != check.from {
            to = to.wrapping_add_signed(check.back);
            let others = self.arrivals(to, us).filter(|arrival| arrival.from != king);
            arrivals.extend(others.map(|arrival| (arrival.from, self.step(arrival), to)));
            if to != check.from {
                between.push(square_of(to));
            }
        }
        // The same order as in `push_all`.
        arrivals.extend([(king, 0, king)]);
        arrivals.sort_unstable();
        for (from, _, to) in arrivals {
            if from == king {
                self.visit_moves_from(king, |m| moves.push(m));
            } else if let Some(piece) = self.cells[from].piece() {
                visit_move(piece, from, to, |m| moves.push(m));
            }
        }
        between.sort_unstable();
        for kind in HandKind::ALL {
            self.push_drops(kind, between.iter().copied(), moves);
        }
    }

    fn visit_moves_from(&self, from: CellNumber, mut visit: impl FnMut(Move)) {
        let us = self.side_to_move;
        let Some(piece) = self.cells[from].piece().filter(|piece| piece.color == us) else {
            return;
        };
        let others = pieces_of(!us, ALL_KINDS);
        for &(files, ranks, far) in reaches(piece.kind) {
            let step = distance(files, ranks, piece.color);
            let mut to = from;
            loop {
                to = to.wrapping_add_signed(step);
                let is_free = self.cells[to] == Cell::EMPTY;
                if is_free || self.cells[to].is_in(others) {
                    visit_move(piece, from, to, &mut visit);
                }
                if !far || !is_free {
                    break;
                }
            }
        }
    }

    fn push_drops(
        &self,
        kind: HandKind,
        to: impl IntoIterator<Item = Square>,
        moves: &mut Vec<Move>,
    ) {
        if self.holds(kind) {
            let open = to.into_iter().filter(|&to| self.can_drop(kind, to));
            moves.extend(open.map(|to| Move::drop(kind, to)));
        }
    }

    fn holds(&self, kind: HandKind) -> bool {
        self.hands[self.side_to_move.index()].has(kind)
    }

    fn can_drop(&self, kind: HandKind, to: Square) -> bool {
        let us = self.side_to_move;
        let pawn = Cell::new(Piece::new(us, PieceKind::Pawn));
        self.cells[cell_of(to)] == Cell::EMPTY
            && to.relative_rank(us) >= kind.piece_kind().dead_ranks()
            && !(kind == HandKind::Pawn
                && (0..9).any(|rank| {
                    self.cells[cell_of(Square::from_file_rank(to.file(), rank))] == pawn
                }))
    }

    fn is_legal(&mut self, m: Move, in_check: bool) -> bool {
        let drops_pawn = m.dropped() == Some(HandKind::Pawn);
        // A drop never exposes the own king.
        (m.is_drop() && !in_check || !self.exposes_king(m)) && !(drops_pawn && self.mates(m))
    }

    /// Whether the king of the side to move could be captured after this move.
    fn exposes_king(&mut self, m: Move) -> bool {
        let us = self.side_to_move;
        let Some(king) = self.kings[us.index()] else { return false };
        let to = cell_of(m.to());
        let from = m.from().map(cell_of);
        let arriving = match (from, m.dropped()) {
            (Some(from), _) => std::mem::replace(&mut self.cells[from], Cell::EMPTY),
            (None, Some(kind)) => Cell::new(Piece::new(us, kind.piece_kind())),
            (None, None) => return false,
        };
        let captured = std::mem::replace(&mut self.cells[to], arriving);
        let king = if from == Some(king) { to } else { king };
        let is_attacked = self.is_attacked(king, !us);
        self.cells[to] = captured;
        if let Some(from) = from {
            self.cells[from] = arriving;
        }
        is_attacked
    }

    fn mates(&mut self, m: Move) -> bool {
        let them = !self.side_to_move;
        let captured = self.make(m);
        let is_mate = self.king_is_attacked(them) && !self.has_legal_move();
        self.unmake(m, captured);
        is_mate
    }

    /// Makes a move of a piece that is on the board or in hand. Returns the previous contents of its target.
    fn make(&mut self, m: Move) -> Cell {
        let us = self.side_to_move;
        let to = cell_of(m.to());
        let captured = self.cells[to];
        if let Some(kind) = captured.piece().and_then(|captured| captured.kind.hand_kind()) {
            self.hands[us.index()].add(kind);
        }
        if let Some(from) = m.from().map(cell_of) {
            let moved = std::mem::replace(&mut self.cells[from], Cell::EMPTY);
            self.cells[to] = match moved.piece() {
                Some(Piece { color, kind }) if m.is_promotion() => {
                    Cell::new(Piece::new(color, kind.promoted().unwrap_or(kind)))
                }
                _ => moved,
            };
            if self.kings[us.index()] == Some(from) {
                self.kings[us.index()] = Some(to);
            }
        } else if let Some(kind) = m.dropped() {
            self.hands[us.index()].remove(kind);
            self.cells[to] = Cell::new(Piece::new(us, kind.piece_kind()));
        }
        self.side_to_move = !us;
        captured
    }

    /// Takes back the last move.
    fn unmake(&mut self, m: Move, captured: Cell) {
        let us = !self.side_to_move;
        let to = cell_of(m.to());
        let moved = std::mem::replace(&mut self.cells[to], captured);
        if let Some(kind) = captured.piece().and_then(|captured| captured.kind.hand_kind()) {
            self.hands[us.index()].remove(kind);
        }
        if let Some(from) = m.from().map(cell_of) {
            self.cells[from] = match moved.piece() {
                Some(Piece { color, kind }) if m.is_promotion() => {
                    Cell::new(Piece::new(color, kind.unpromoted()))
                }
                _ => moved,
            };
            if self.kings[us.index()] == Some(to) {
                self.kings[us.index()] = Some(from);
            }
        } else if let Some(kind) = m.dropped() {
            self.hands[us.index()].add(kind);
        }
        self.side_to_move = us;
    }

    fn king_is_attacked(&self, color: Color) -> bool {
        self.kings[color.index()].is_some_and(|king| self.is_attacked(king, !color))
    }

    /// Whether a piece of `color` can move to this cell.
    fn is_attacked(&self, cell: CellNumber, color: Color) -> bool {
        (0..DIRECTIONS.len()).any(|direction| self.arrival(cell, color, direction).is_some())
    }

    /// The pieces of `color` that can move to this cell.
    fn arrivals(&self, to: CellNumber, color: Color) -> impl Iterator<Item = Arrival> {
        (0..DIRECTIONS.len()).filter_map(move |direction| self.arrival(to, color, direction))
    }

    /// The piece of `color` that can move to this cell from one direction: the first piece on a line, or a knight.
    #[inline]
    fn arrival(&self, to: CellNumber, color: Color, direction: usize) -> Option<Arrival> {
        let back = match color {
            Color::Black => -DIRECTIONS[direction],
            Color::White => DIRECTIONS[direction],
        };
        let mut from = to.wrapping_add_signed(back);
        let mut reaching = &NEAR;
        if direction < LINES {
            while self.cells[from] == Cell::EMPTY {
                from = from.wrapping_add_signed(back);
                reaching = &FAR;
            }
        }
        let is_reaching = self.cells[from].is_in(pieces_of(color, reaching[direction]));
        is_reaching.then_some(Arrival { from, direction, back })
    }

    /// Index of the step in [`reaches`] of the piece. It determines the order of moves.
    fn step(&self, arrival: Arrival) -> usize {
        let Some(piece) = self.cells[arrival.from].piece() else { return 0 };
        let step = DIRECTIONS[arrival.direction];
        let is_step = |&(files, ranks, _): &MoveStep| distance(files, ranks, Color::Black) == step;
        reaches(piece.kind).iter().position(is_step).unwrap_or(0)
    }
}

/// Visits the move with promotion, without it, or both.
fn visit_move(
    Piece { color, kind }: Piece,
    from: CellNumber,
    to: CellNumber,
    mut visit: impl FnMut(Move),
) {
    let (from, to) = (square_of(from), square_of(to));
    let in_zone = |square: Square| square.relative_rank(color) < 3;
    if kind.promoted().is_some() && (in_zone(from) || in_zone(to)) {
        visit(Move::new(from, to, true));
    }
    if to.relative_rank(color) >= kind.dead_ranks() {
        visit(Move::new(from, to, false));
    }
}

/// Differences between cell numbers for Black: the eight lines, then the two knight jumps.
const DIRECTIONS: [isize; LINES + 2] = {
    let mut directions = [0; LINES + 2];
    let mut direction = 0;
    while direction < directions.len() {
        let (files, ranks, _) =
            if direction < LINES { KING[direction] } else { KNIGHT[direction - LINES] };
        directions[direction] = distance(files, ranks, Color::Black);
        direction += 1;
    }
    directions
};
const LINES: usize = KING.len();

/// The kinds that can step once in a direction, one bit for each [`PieceKind::index`].
const NEAR: [u16; DIRECTIONS.len()] = kinds_that_step(false);
/// The kinds that can repeat the step.
const FAR: [u16; DIRECTIONS.len()] = kinds_that_step(true);

const fn kinds_that_step(repeatedly: bool) -> [u16; DIRECTIONS.len()] {
    let mut kinds = [0; DIRECTIONS.len()];
    let mut kind = 0;
    while kind < PieceKind::COUNT {
        let steps = reaches(PieceKind::ALL[kind]);
        let mut place = 0;
        while place < steps.len() {
            let (files, ranks, far) = steps[place];
            let mut direction = 0;
            while direction < DIRECTIONS.len() {
                if DIRECTIONS[direction] == distance(files, ranks, Color::Black)
                    && (far || !repeatedly)
                {
                    kinds[direction] |= 1 << kind;
                }
                direction += 1;
            }
            place += 1;
        }
        kind += 1;
    }
    kinds
}

/// Capacity for the candidates of most positions in check.
const CANDIDATES: usize = 32;
