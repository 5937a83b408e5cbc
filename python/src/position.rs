//! `Position`: a position and the moves that led to it.

use kyokumen::format::packed::{self, Family};
use kyokumen::format::{ContentHash, Format, RecordRef, csa_move, kif_move, notation};
use kyokumen::format::{parse_csa_move, parse_kif_move, read_games};
use kyokumen::shogi::diagram::{KanjiDiagram, LetterDiagram};
use kyokumen::shogi::svg::SvgDiagram;
use kyokumen::shogi::{self, Hand, HandKind, PositionHistory, Repetition, Undo};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::arguments::{Accepts, Given, number};
use crate::arrays::Object;
use crate::failure::Failure;
use crate::moves::{self, Move};
use crate::record::Record;

/// A shogi position: board, hands, side to move, ply, and the moves that were pushed.
///
/// The side that is not to move is never in check.
#[pyclass(module = "kyokumen")]
pub(crate) struct Position {
    pub(crate) now: shogi::Position,
    played: Vec<(shogi::Move, Undo)>,
    history: PositionHistory,
}

/// In the order P L N S G B R.
type Counts = (u8, u8, u8, u8, u8, u8, u8);

#[derive(FromPyObject)]
pub(crate) enum MoveLike {
    Move(Move),
    Usi(String),
}

impl Accepts for MoveLike {
    const ACCEPTED: &'static str = "a Move or a move in USI notation";
}

impl MoveLike {
    pub(crate) fn get(&self) -> Result<shogi::Move, Failure> {
        match self {
            Self::Move(m) => Ok(m.0),
            Self::Usi(usi) => moves::parse(usi).map(|m| m.0),
        }
    }
}

/// A position as an argument.
#[derive(FromPyObject)]
pub(crate) enum PositionLike<'py> {
    Position(PyRef<'py, Position>),
    Record(PyRef<'py, Record>),
    Text(String),
}

impl Accepts for PositionLike<'_> {
    const ACCEPTED: &'static str = "a Position, a Record or an SFEN";
}

impl PositionLike<'_> {
    pub(crate) fn setup(&self) -> Result<shogi::Setup, Failure> {
        match self {
            Self::Position(position) => Ok(position.now.setup()),
            Self::Record(record) => Ok(record.decoded().setup.clone()),
            Self::Text(text) if is_usi(text) => Ok(Position::of_usi(text)?.now.setup()),
            Self::Text(sfen) => Ok(sfen.parse::<shogi::Setup>()?),
        }
    }

    pub(crate) fn position(&self) -> Result<shogi::Position, Failure> {
        match self {
            Self::Position(position) => Ok(position.now.clone()),
            _ => Ok(shogi::Position::try_from(self.setup()?)?),
        }
    }

    /// The SFEN. A given SFEN is not checked.
    pub(crate) fn into_sfen(self) -> Result<String, Failure> {
        match self {
            Self::Text(sfen) if !is_usi(&sfen) => Ok(sfen),
            _ => Ok(self.setup()?.to_string()),
        }
    }

    /// The number of the next move, if it is known from pushed moves or a record.
    pub(crate) fn ply(&self) -> Option<u16> {
        match self {
            Self::Position(position) => (!position.played.is_empty()).then(|| position.now.ply()),
            Self::Record(record) => record.decoded().ply,
            Self::Text(text) => {
                let position = is_usi(text).then(|| Position::of_usi(text))?.ok()?;
                (!position.played.is_empty()).then(|| position.now.ply())
            }
        }
    }
}

impl From<shogi::Position> for Position {
    fn from(position: shogi::Position) -> Self {
        let mut history = PositionHistory::default();
        history.push(&position);
        Self { now: position, played: Vec::new(), history }
    }
}

#[pymethods]
impl Position {
    /// The position of an SFEN, or the start position. `sfen` may also be a position of the USI protocol: "startpos" or
    /// "sfen …", with the moves after it, as in "startpos moves 7g7f 3c3d".
    #[new]
    #[pyo3(signature = (sfen = None))]
    fn new(sfen: Option<&str>) -> Result<Self, Failure> {
        match sfen {
            None => Ok(shogi::Position::start().into()),
            Some(text) if is_usi(text) => Self::of_usi(text),
            Some(text) => Ok(text.parse::<shogi::Position>()?.into()),
        }
    }

    /// The position of 32 bytes in Apery's packed format. The format has no ply, so `ply` sets it.
    #[staticmethod]
    #[pyo3(signature = (hcp, ply = 1))]
    fn from_hcp(hcp: &[u8], #[pyo3(from_py_with = number::ply)] ply: u16) -> Result<Self, Failure> {
        unpacked(Family::Apery, hcp, ply)
    }

    /// The position of 32 bytes in YaneuraOu's packed format. The format has no ply, so `ply` sets it.
    #[staticmethod]
    #[pyo3(signature = (psfen, ply = 1))]
    fn from_psfen(
        psfen: &[u8],
        #[pyo3(from_py_with = number::ply)] ply: u16,
    ) -> Result<Self, Failure> {
        unpacked(Family::YaneuraOu, psfen, ply)
    }

    /// The position of a psv record of 40 bytes.
    #[staticmethod]
    fn from_psv(psv: &[u8]) -> Result<Self, Failure> {
        let setup = RecordRef::new(Format::Psv, psv)?.setup()?;
        Ok(shogi::Position::try_from(setup)?.into())
    }

    /// The position as 32 bytes in Apery's packed format.
    fn to_hcp<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Failure> {
        self.packed(py, Family::Apery)
    }

    /// The position as 32 bytes in YaneuraOu's packed format.
    fn to_psfen<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Failure> {
        self.packed(py, Family::YaneuraOu)
    }

    /// The position as an SFEN.
    #[getter]
    fn sfen(&self) -> String {
        self.now.setup().to_string()
    }

    /// The side to move: 0 Black, 1 White.
    #[getter]
    fn turn(&self) -> usize {
        self.now.side_to_move().index()
    }

    /// Number of the next move of the game, from 1.
    #[getter]
    fn ply(&self) -> u16 {
        self.now.ply()
    }

    /// A key of 16 bytes: the first bytes of the SHA-256 of the canonical `hcp`. Positions with equal boards, hands and
    /// sides to move have equal keys, for any plies.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &ContentHash::of(&self.now.setup()).0)
    }

    /// The pieces on the 81 squares, with their letters in an SFEN, such as `P` or `+r`. None for an empty square.
    #[getter]
    fn pieces(&self) -> Vec<Option<String>> {
        self.now.board().iter().map(|piece| piece.map(letters)).collect()
    }

    /// The numbers of pieces in hand of Black and White, in the order P L N S G B R.
    #[getter]
    fn hands(&self) -> (Counts, Counts) {
        shogi::Color::ALL.map(|color| counts(self.now.hand(color)).into()).into()
    }

    /// The legal moves.
    #[getter]
    fn legal_moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        objects(py, self.now.legal_moves())
    }

    /// The legal moves that give check.
    #[getter]
    fn checking_moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        objects(py, self.now.checks())
    }

    /// Whether the side to move is in check.
    #[getter]
    fn is_check(&self) -> bool {
        self.now.in_check()
    }

    /// Whether the side to move is in check and has no legal move.
    #[getter]
    fn is_mate(&self) -> bool {
        self.now.is_checkmate()
    }

    /// Whether the side to move can declare a win by entering king. Black needs 28 points, White 27.
    #[getter]
    fn can_declare(&self) -> bool {
        self.now.can_declare()
    }

    /// The result for the side to move if this position has occurred for the fourth time: "draw", "win" or "loss". None
    /// if it has occurred less often. Only positions since the first pushed move count.
    #[getter]
    fn repetition(&self) -> Option<&'static str> {
        self.history.repetition(4).map(|repetition| match repetition {
            Repetition::Draw => "draw",
            Repetition::Win => "win",
            Repetition::Loss => "loss",
        })
    }

    /// The pushed moves, in order.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        objects(py, self.played.iter().map(|&(m, _)| m))
    }

    /// Whether a move is legal.
    #[pyo3(name = "is_legal")]
    fn is_legal_move(&self, r#move: Given<MoveLike>) -> Result<bool, Failure> {
        Ok(self.now.is_legal(r#move.0.get()?))
    }

    /// Whether a legal move gives check.
    fn gives_check(&self, r#move: Given<MoveLike>) -> Result<bool, Failure> {
        Ok(self.now.gives_check(self.legal(&r#move.0)?))
    }

    /// Plays a legal move.
    fn push(&mut self, r#move: Given<MoveLike>) -> Result<(), Failure> {
        let m = self.legal(&r#move.0)?;
        let undo = self.now.make(m);
        self.played.push((m, undo));
        self.history.push(&self.now);
        Ok(())
    }

    /// Plays a legal move in USI notation and returns it.
    fn push_usi(&mut self, usi: &str) -> Result<Move, Failure> {
        let m = moves::parse(usi)?;
        self.push(Given(MoveLike::Move(m)))?;
        Ok(m)
    }

    /// Plays a legal move as in KIF or KI2 files, such as "７六歩(77)" or "☗７六歩", and returns it.
    fn push_kif(&mut self, text: &str) -> Result<Move, Failure> {
        let parsed = parse_kif_move(&self.now, text, self.last_target());
        self.push_parsed(text, "KIF notation, such as ７六歩(77)", parsed)
    }

    /// Plays a legal move as in CSA files, such as "+7776FU", and returns it.
    fn push_csa(&mut self, text: &str) -> Result<Move, Failure> {
        let parsed = parse_csa_move(&self.now, text);
        self.push_parsed(text, "CSA notation, such as +7776FU", parsed)
    }

    /// A legal move as in KIF files, such as "７六歩(77)".
    fn to_kif(&self, r#move: Given<MoveLike>) -> Result<String, Failure> {
        Ok(kif_move(&self.now, self.legal(&r#move.0)?, self.last_target()))
    }

    /// A legal move as in books and KI2 files, such as "☗７六歩".
    fn to_ki2(&self, r#move: Given<MoveLike>) -> Result<String, Failure> {
        Ok(notation(&self.now, self.legal(&r#move.0)?, self.last_target()))
    }

    /// A legal move as in CSA files, such as "+7776FU".
    fn to_csa(&self, r#move: Given<MoveLike>) -> Result<String, Failure> {
        Ok(csa_move(&self.now, self.legal(&r#move.0)?))
    }

    /// A legal move that mates at once, or None. Misses a mate if the only possible interposition is a pawn drop that
    /// would itself mate, which the rules forbid.
    fn mate_in_one(&self) -> Option<Move> {
        self.now.mate_in_one().map(Move)
    }

    /// Takes back the last pushed move and returns it.
    fn pop(&mut self) -> PyResult<Move> {
        let Some((m, undo)) = self.played.pop() else {
            return Err(PyIndexError::new_err("there is no pushed move to take back"));
        };
        self.now.unmake(m, undo);
        self.history.truncate(self.played.len() + 1);
        Ok(Move(m))
    }

    /// A copy of the position, without the pushed moves.
    fn copy(&self) -> Self {
        self.now.clone().into()
    }

    /// The position with left and right of the board exchanged.
    fn mirrored(&self) -> Result<Self, Failure> {
        Ok(shogi::Position::try_from(self.now.setup().mirrored())?.into())
    }

    /// The board as text of several lines, with kanji.
    fn to_kanji(&self) -> String {
        KanjiDiagram(&self.now.setup()).to_string()
    }

    /// A diagram of the board, both hands and the coordinates, as the text of an SVG file.
    ///
    /// The origin and destination of `last_move` are marked. `arrow` is a move to draw as an arrow. `seen_from` is the
    /// side at the bottom: 0 Black, 1 White. The kanji are text in a font of the viewer.
    #[pyo3(signature = (*, last_move = None, arrow = None, seen_from = 0))]
    fn to_svg(
        &self,
        last_move: Option<Given<MoveLike>>,
        arrow: Option<Given<MoveLike>>,
        #[pyo3(from_py_with = number::seen_from)] seen_from: usize,
    ) -> Result<String, Failure> {
        let side = shogi::Color::ALL.get(seen_from).copied();
        let side =
            side.ok_or_else(|| Failure::usage("seen_from must be 0 (Black) or 1 (White)"))?;
        let last_move = last_move.map(|m| m.0.get()).transpose()?;
        let arrow = arrow.map(|m| m.0.get()).transpose()?;
        Ok(svg(&self.now.setup(), last_move, arrow, side))
    }

    /// The diagram for notebooks, with the last pushed move marked.
    fn _repr_svg_(&self) -> String {
        self.picture()
    }

    /// The diagram and the SFEN for notebooks.
    fn _repr_html_(&self) -> String {
        figure(&self.picture(), &self.sfen())
    }

    fn __str__(&self) -> String {
        LetterDiagram(&self.now.setup()).to_string()
    }

    fn __repr__(&self) -> String {
        format!("Position({:?})", self.sfen())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.now == other.now
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Object<'py>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.sfen(),))
    }
}

impl Position {
    /// The diagram with the last pushed move marked.
    fn picture(&self) -> String {
        let last_move = self.played.last().map(|&(m, _)| m);
        svg(&self.now.setup(), last_move, None, shogi::Color::Black)
    }
}

/// Whether a text is a position of the USI protocol, not an SFEN.
fn is_usi(text: &str) -> bool {
    let mut words = text.split_whitespace();
    matches!(words.next(), Some("startpos" | "sfen" | "position"))
        || words.any(|word| word == "moves")
}

impl Position {
    fn of_usi(text: &str) -> Result<Self, Failure> {
        let game = read_games(Format::Usi, text.trim().as_bytes()).next();
        let wrong = |reason| Failure::position(format!("{text:?} is not a position: {reason}"));
        let game = game.transpose().map_err(|error| wrong(error.to_string()))?;
        let game = game.ok_or_else(|| wrong("it is empty".to_owned()))?;
        if let Some(error) = &game.broken {
            return Err(wrong(error.to_string()));
        }
        let mut position = Self::from(shogi::Position::try_from(&game.start)?);
        for played in game.moves {
            let pushed = position.push(Given(MoveLike::Move(Move(played.best_move))));
            pushed.map_err(|error| wrong(error.to_string()))?;
        }
        Ok(position)
    }

    fn last_target(&self) -> Option<shogi::Square> {
        self.played.last().map(|(m, _)| m.to())
    }

    fn push_parsed(
        &mut self,
        text: &str,
        notation: &str,
        parsed: Option<shogi::Move>,
    ) -> Result<Move, Failure> {
        let wrong = || {
            // The wide space of `同　歩` is shown as such.
            let text = format!("{text:?}").replace("\\u{3000}", "\u{3000}");
            let sfen = self.sfen();
            Failure::usage(format!("{text} is not a move in {notation}, or not legal in {sfen}"))
        };
        let m = Move(parsed.ok_or_else(wrong)?);
        self.push(Given(MoveLike::Move(m)))?;
        Ok(m)
    }

    fn packed<'py>(&self, py: Python<'py>, family: Family) -> Result<Bound<'py, PyBytes>, Failure> {
        let bytes = packed::encode(family, &self.now.setup()).map_err(Failure::usage)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn legal(&self, m: &MoveLike) -> Result<shogi::Move, Failure> {
        let m = m.get()?;
        if self.now.is_legal(m) {
            return Ok(m);
        }
        Err(Failure::usage(format!("{m} is not a legal move in {}", self.sfen())))
    }
}

fn objects(
    py: Python<'_>,
    moves: impl IntoIterator<Item = shogi::Move>,
) -> PyResult<Bound<'_, PyList>> {
    let objects = moves.into_iter().map(|m| moves::object(py, m));
    PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)
}

fn unpacked(family: Family, bytes: &[u8], ply: u16) -> Result<Position, Failure> {
    let bytes = bytes.try_into().map_err(|_| {
        let message = format!("a packed position has {} bytes, not {}", packed::LEN, bytes.len());
        Failure::usage(message)
    })?;
    let setup = packed::decode(family, bytes)?.with_ply(ply);
    Ok(shogi::Position::try_from(setup)?.into())
}

/// Text as HTML.
pub(crate) fn escaped(py: Python<'_>, text: &str) -> PyResult<String> {
    py.import("html")?.call_method1("escape", (text,))?.extract()
}

/// A diagram with a caption for notebooks. The caption is HTML.
pub(crate) fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>")
}

pub(crate) fn svg(
    setup: &shogi::Setup,
    last_move: Option<shogi::Move>,
    arrow: Option<shogi::Move>,
    seen_from: shogi::Color,
) -> String {
    let mut picture = SvgDiagram::new(setup).seen_from(seen_from);
    if let Some(m) = last_move {
        picture = picture.last_move(m);
    }
    if let Some(m) = arrow {
        picture = picture.arrow(m);
    }
    picture.to_string()
}

fn letters(piece: shogi::Piece) -> String {
    let letter = char::from(piece.kind.unpromoted().letter());
    let letter = match piece.color {
        shogi::Color::Black => letter,
        shogi::Color::White => letter.to_ascii_lowercase(),
    };
    let promoted = if piece.kind.is_promoted() { "+" } else { "" };
    format!("{promoted}{letter}")
}

/// In the order P L N S G B R.
pub(crate) fn counts(hand: Hand) -> [u8; HandKind::COUNT] {
    HandKind::ALL.map(|kind| hand.count(kind))
}
