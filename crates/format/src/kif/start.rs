//! The start position of a KIF game: the name of a handicap, or a diagram with the hands.
//!
//! The diagram follows Kakinoki's BOD format. The handicap names follow the KIF format.

use kyokumen_shogi::{Board, Color, Hand, HandKind, Piece, PieceKind, Setup, Square};

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::replay;
use super::line::normalised;
use super::moves::{self, FILES, RANKS};

/// Names of handicaps with White's first and second rank. The other ranks are the same in all handicaps.
const HANDICAPS: [(&str, &str, &str); 15] = [
    ("香落ち", "lnsgkgsn1", "1r5b1"),
    ("右香落ち", "1nsgkgsnl", "1r5b1"),
    ("角落ち", "lnsgkgsnl", "1r7"),
    ("飛車落ち", "lnsgkgsnl", "7b1"),
    ("飛香落ち", "lnsgkgsn1", "7b1"),
    ("二枚落ち", "lnsgkgsnl", "9"),
    ("三枚落ち", "lnsgkgsn1", "9"),
    ("四枚落ち", "1nsgkgsn1", "9"),
    ("五枚落ち", "2sgkgsn1", "9"),
    ("左五枚落ち", "1nsgkgs2", "9"),
    ("六枚落ち", "2sgkgs2", "9"),
    ("左七枚落ち", "2sgkg3", "9"),
    ("右七枚落ち", "3gkgs2", "9"),
    ("八枚落ち", "3gkg3", "9"),
    ("十枚落ち", "4k4", "9"),
];
/// The key of the handicap name.
pub(super) const HANDICAP: &str = "手合割";
pub(super) const EVEN: &str = "平手";
/// The name of all other start positions, which a diagram shows.
pub(super) const OTHER: &str = "その他";
/// The key of the side to move.
pub(super) const SIDE_TO_MOVE: &str = "手番";
/// Names of even games. Some programs write an empty value.
const EVEN_NAMES: [&str; 3] = [EVEN, "互先", ""];
/// The key of pieces in hand, after the name of their owner.
const HAND: [&str; 2] = ["持駒", "持ち駒"];
/// Names of Black and of White. In mate problems Black attacks.
const OWNERS: [[&str; 5]; 2] =
    [["先手", "下手", "攻方", "攻め方", "詰方"], ["後手", "上手", "玉方", "受方", "受け方"]];
/// All pieces of the set that are neither on the board nor in the other hand.
const REST: [&str; 4] = ["残り全部", "残りすべて", "残り全て", "残り"];
/// Other names of handicaps.
const SPELLINGS: [(&str, &str); 10] = [
    ("飛落ち", "飛車落ち"),
    ("飛落", "飛車落ち"),
    ("左香落ち", "香落ち"),
    ("2枚落ち", "二枚落ち"),
    ("3枚落ち", "三枚落ち"),
    ("4枚落ち", "四枚落ち"),
    ("5枚落ち", "五枚落ち"),
    ("6枚落ち", "六枚落ち"),
    ("8枚落ち", "八枚落ち"),
    ("10枚落ち", "十枚落ち"),
];
/// In diagrams every piece has a name of one character.
const IN_DIAGRAM: [(PieceKind, char); 3] =
    [(PieceKind::ProLance, '杏'), (PieceKind::ProKnight, '圭'), (PieceKind::ProSilver, '全')];

/// The border above and below a diagram, with the line ends around it.
const EDGE: &str = "\n+---------------------------+\n";

/// The numeral ten. Larger numbers append a digit.
const TEN: char = '十';

/// The start position while the header is read.
#[derive(Default)]
pub(super) struct Start {
    handicap: Option<Setup>,
    /// A name that is not a known handicap. The diagram gives the position.
    unknown_name: Option<String>,
    /// Ranks of the diagram, from the top.
    ranks: Vec<[Option<Piece>; 9]>,
    hands: [[u8; HandKind::COUNT]; 2],
    /// Whether an entry gives a piece in hand.
    has_hands: bool,
    /// The side, 0 or 1, whose hand has the rest of the set.
    holds_rest: Option<usize>,
    side_to_move: Option<Color>,
    /// Whether there is a border of a diagram.
    has_border: bool,
    /// Offset of the diagram or of the handicap name.
    at: usize,
}

/// Whether a header entry describes the start position and not the game.
pub(super) fn is_about_start(key: &str) -> bool {
    key == HANDICAP || key == SIDE_TO_MOVE || hand_of(key).is_some()
}

/// Whether a header entry only states that the start position has no name.
pub(super) fn is_other(key: &str, value: &str) -> bool {
    key == HANDICAP && value == OTHER
}

/// The side, 0 or 1, whose pieces in hand an entry gives.
pub(super) fn hand_of(key: &str) -> Option<usize> {
    let owner = HAND.into_iter().find_map(|hand| key.strip_suffix(hand))?;
    let owner = owner.strip_suffix('の').unwrap_or(owner);
    OWNERS.iter().position(|names| names.contains(&owner))
}

/// Whether an entry gives the pieces in hand of an owner that is not known.
pub(super) fn is_unknown_hand(key: &str) -> bool {
    HAND.into_iter().any(|hand| key.ends_with(hand)) && hand_of(key).is_none()
}

/// Whether a normalised line is a rank of a diagram.
pub(super) fn is_rank(line: &str) -> bool {
    rank(line).is_ok()
}

impl Start {
    /// Takes a rank of the diagram, a normalised line.
    pub(super) fn take_rank(&mut self, line: &str, at: usize) -> Result<(), DecodeError> {
        if self.ranks.is_empty() {
            self.at = at;
        }
        let number = self.ranks.len();
        let kind = match rank(line) {
            Ok(rank) if number < RANKS.len() => {
                self.ranks.push(rank);
                return Ok(());
            }
            Err(Some((file, found))) if number < RANKS.len() => {
                let square = Square::from_file_rank(file, number as u8);
                DecodeErrorKind::DiagramSquare { square, found }
            }
            _ if number < RANKS.len() => {
                DecodeErrorKind::syntax("a rank of nine squares between | and |", line.as_bytes())
            }
            _ => {
                DecodeErrorKind::syntax("the end of the diagram after nine ranks", line.as_bytes())
            }
        };
        Err(kind.at(at))
    }

    /// Takes a border of the diagram.
    pub(super) fn take_border(&mut self, at: usize) {
        self.has_border = true;
        if !self.is_given() {
            self.at = at;
        }
    }

    pub(super) fn take_side_to_move(&mut self, side_to_move: Color) {
        self.side_to_move = Some(side_to_move);
    }

    /// Takes an entry that [`is_about_start`].
    pub(super) fn take_entry(
        &mut self,
        key: &str,
        value: &str,
        at: usize,
    ) -> Result<(), DecodeError> {
        if key == HANDICAP {
            if self.ranks.is_empty() {
                self.at = at;
            }
            self.handicap = handicap(value);
            self.unknown_name = self.handicap.is_none().then(|| value.to_owned());
            return Ok(());
        }
        if key == SIDE_TO_MOVE {
            let side = side(value);
            let expected = "the side to move, 先手 or 後手";
            let error = || DecodeErrorKind::syntax(expected, value.as_bytes()).at(at);
            self.side_to_move = Some(side.ok_or_else(error)?);
            return Ok(());
        }
        if REST.contains(&normalised(value).trim()) {
            (self.holds_rest, self.has_hands) = (hand_of(key), true);
            return Ok(());
        }
        let expected = "pieces in hand";
        let counts = held(&normalised(value));
        let counts =
            counts.ok_or_else(|| DecodeErrorKind::syntax(expected, value.as_bytes()).at(at))?;
        if !self.is_given() {
            self.at = at;
        }
        self.hands[hand_of(key).unwrap_or(0)] = counts;
        self.has_hands |= counts.iter().any(|&count| count > 0);
        Ok(())
    }

    /// Whether there is a diagram, and not only a name.
    pub(super) const fn shows_board(&self) -> bool {
        !self.ranks.is_empty()
    }

    /// Whether a diagram or a handicap name gives the start position.
    pub(super) const fn is_given(&self) -> bool {
        self.handicap.is_some() || self.shows_board()
    }

    /// The start position and its byte offset.
    pub(super) fn setup(&self) -> Result<(Setup, usize), DecodeError> {
        if let Some(name) = self.unknown_name.as_ref().filter(|_| self.ranks.is_empty()) {
            let expected = "the name of a handicap, or a diagram";
            return Err(DecodeErrorKind::syntax(expected, name.as_bytes()).at(self.at));
        }
        // Pieces in hand belong to a diagram. Without one, the start position is unknown.
        if self.has_hands && !self.is_given() {
            let (expected, found) = ("a diagram for these pieces in hand", "none");
            return Err(DecodeErrorKind::Missing { expected, found }.at(self.at));
        }
        if self.has_border && !self.is_given() {
            let (expected, found) = ("the ranks of a diagram", "none");
            return Err(DecodeErrorKind::Missing { expected, found }.at(self.at));
        }
        let named = self.handicap.clone().unwrap_or_else(replay::even_start);
        let side_to_move = self.side_to_move.unwrap_or_else(|| named.side_to_move());
        let setup = if self.ranks.is_empty() {
            Setup::new(*named.board(), named.hands(), side_to_move, 1)
        } else if self.ranks.len() < RANKS.len() {
            return Err(DecodeErrorKind::Ranks { found: self.ranks.len() }.at(self.at));
        } else {
            replay::arrangement(self.board(), self.all_hands(), side_to_move)
        };
        Ok((setup.map_err(|error| DecodeErrorKind::Setup(error).at(self.at))?, self.at))
    }

    /// The hands, with the rest of the set.
    fn all_hands(&self) -> [[u8; HandKind::COUNT]; 2] {
        let mut hands = self.hands;
        let Some(owner) = self.holds_rest else { return hands };
        hands[owner] = HandKind::SET;
        let placed =
            self.ranks.iter().flatten().flatten().filter_map(|piece| piece.kind.hand_kind());
        for kind in placed {
            hands[owner][kind.index()] = hands[owner][kind.index()].saturating_sub(1);
        }
        for (rest, other) in hands[owner].iter_mut().zip(self.hands[1 - owner]) {
            *rest = rest.saturating_sub(other);
        }
        hands
    }

    fn board(&self) -> Board {
        let mut board: Board = [None; Square::COUNT];
        for (rank, contents) in (0..).zip(&self.ranks) {
            for (file, &content) in (0..9).rev().zip(contents) {
                board[Square::from_file_rank(file, rank).index()] = content;
            }
        }
        board
    }
}

/// The side that a text names: `後手`, `後手番`.
fn side(text: &str) -> Option<Color> {
    match text.trim_end_matches('番') {
        "先手" | "下手" => Some(Color::Black),
        "後手" | "上手" => Some(Color::White),
        _ => None,
    }
}

/// The start position of a handicap, if the name is known: `角落ち`, also spelled `角落`.
fn handicap(name: &str) -> Option<Setup> {
    let name = normalised(name);
    let name = name.split([' ', '(']).next().unwrap_or("");
    if EVEN_NAMES.contains(&name) {
        return Some(replay::even_start());
    }
    let stem = |name: &'static str| name.trim_end_matches('ち');
    let name = SPELLINGS.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| name);
    let name = name.trim_end_matches('ち');
    HANDICAPS.into_iter().find(|(known, ..)| stem(known) == name).map(arrangement)
}

fn arrangement((_, first, second): (&str, &str, &str)) -> Setup {
    let text = format!("{first}/{second}/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
    text.parse().expect("a handicap is an arrangement")
}

/// The nine squares between the bars of a line. The error is the file of an unknown piece, from 0, and its character.
fn rank(line: &str) -> Result<[Option<Piece>; 9], Option<(u8, char)>> {
    let mut rest = line.strip_prefix('|').ok_or(None)?;
    let mut contents = [None; 9];
    for (file, content) in (0..9).rev().zip(&mut contents) {
        let color = if rest.starts_with('v') { Color::White } else { Color::Black };
        rest = rest.strip_prefix([' ', 'v', '^']).ok_or(None)?;
        if let Some(after) = rest.strip_prefix(['・', '．', '･', '.', '*', ' ']) {
            rest = after;
        } else {
            let found = rest.chars().next().filter(|&c| c != '|');
            let (kind, after) = moves::kind(rest).ok_or(found.map(|found| (file, found)))?;
            *content = Some(Piece::new(color, kind));
            rest = after;
        }
    }
    if rest.starts_with('|') { Ok(contents) } else { Err(None) }
}

/// Parses pieces in hand, such as `飛　金二　歩十五`. `なし` means none.
fn held(text: &str) -> Option<[u8; HandKind::COUNT]> {
    let mut counts = [0u8; HandKind::COUNT];
    let mut rest = text.trim();
    if matches!(rest, "なし" | "無し" | "-") {
        return Some(counts);
    }
    while !rest.is_empty() {
        let (kind, after) = moves::kind(rest)?;
        let held = HandKind::ALL.into_iter().find(|held| held.piece_kind() == kind)?;
        // Spaces between pieces may be missing.
        let is_number = |c: char| c == TEN || RANKS.contains(&c) || c.is_ascii_digit();
        let next = after.trim_start_matches(is_number);
        let digits = &after[..after.len() - next.len()];
        let count = if digits.is_empty() { 1 } else { number(digits)? };
        counts[held.index()] = counts[held.index()].saturating_add(count);
        rest = next.trim_start_matches([' ', '、', ',', '枚']);
    }
    Some(counts)
}

/// Parses a number up to 99 in Chinese numerals, or in digits.
fn number(text: &str) -> Option<u8> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return text.parse().ok();
    }
    let digit = |text: &str| {
        let mut chars = text.chars();
        let first = chars.next()?;
        let value = RANKS.iter().position(|&name| name == first)?;
        chars.next().is_none().then_some(value as u8 + 1)
    };
    match text.split_once(TEN) {
        None => digit(text),
        Some((tens, ones)) => {
            let tens = if tens.is_empty() { 1 } else { digit(tens)? };
            let ones = if ones.is_empty() { 0 } else { digit(ones)? };
            Some(10 * tens + ones)
        }
    }
}

/// The handicap name of the start position, if it has one.
pub(super) fn name_of(setup: &Setup) -> Option<&'static str> {
    let setup = setup.clone().with_ply(1);
    if setup == replay::even_start() {
        return Some(EVEN);
    }
    let is_this = |handicap: &(&str, &str, &str)| arrangement(*handicap) == setup;
    HANDICAPS.into_iter().find(is_this).map(|(name, ..)| name)
}

/// Writes a diagram and both hands.
pub(super) fn write_diagram(setup: &Setup, out: &mut String) {
    let [black, white] = setup.hands().map(hand_text);
    out.extend(["後手の持駒：", &white, "\n "]);
    for file in FILES.into_iter().rev() {
        out.extend([' ', file]);
    }
    out.push_str(EDGE);
    for (rank, name) in (0..).zip(RANKS) {
        out.push('|');
        for file in (0..9).rev() {
            put_cell(setup.board()[Square::from_file_rank(file, rank).index()], out);
        }
        out.extend(['|', name]);
        out.push_str(if rank < 8 { "\n" } else { EDGE });
    }
    out.extend(["先手の持駒：", &black, "\n"]);
}

/// The line with the side to move of a diagram.
pub(super) const fn side_to_move_line(setup: &Setup) -> &'static str {
    match setup.side_to_move() {
        Color::Black => "先手番\n",
        Color::White => "後手番\n",
    }
}

fn put_cell(content: Option<Piece>, out: &mut String) {
    let Some(Piece { color, kind }) = content else {
        out.push_str(" ・");
        return;
    };
    out.push(if color == Color::Black { ' ' } else { 'v' });
    match IN_DIAGRAM.into_iter().find(|(named, _)| *named == kind) {
        Some((_, name)) => out.push(name),
        None => out.push_str(moves::name(kind)),
    }
}

fn hand_text(hand: Hand) -> String {
    if hand.is_empty() {
        return "なし".to_owned();
    }
    let mut text = String::new();
    for kind in HandKind::ALL.into_iter().rev().filter(|kind| hand.has(*kind)) {
        text.push_str(moves::name(kind.piece_kind()));
        let count = hand.count(kind);
        if count >= 10 {
            text.push(TEN);
        }
        if count > 1 && !count.is_multiple_of(10) {
            text.push(RANKS[usize::from(count % 10) - 1]);
        }
        text.push('　');
    }
    text
}
