//! Where a KIF game begins: a handicap by its name, or the board as a diagram with the hands.
//!
//! The diagram is that of Kakinoki's BOD format; names of handicaps are those of the KIF format.

use kyokumen_shogi::{Board, Color, Hand, HandKind, Piece, PieceKind, Setup, Square};

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::replay;
use super::super::replay::Replay;
use super::{ending, moves};
use crate::kif::signs::{BEGINS_LIST, FILES, RANKS, behind_number};

/// Ranks of White's pieces that differ from one handicap to another: the first and the second.
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
/// The key of their names.
pub(super) const HANDICAP: &str = "手合割";
pub(super) const EVEN: &str = "平手";
pub(super) const OTHER: &str = "その他";
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
/// In diagrams the pieces have names of one character.
const IN_DIAGRAM: [(PieceKind, char); 3] =
    [(PieceKind::ProLance, '杏'), (PieceKind::ProKnight, '圭'), (PieceKind::ProSilver, '全')];

/// The line above and below a diagram, and the ends of the lines beside it.
const EDGE: &str = "\n+---------------------------+\n";

/// Ten, and more with the numerals behind it.
const TEN: char = '十';

/// The head so far.
#[derive(Default)]
pub(super) struct Start {
    handicap: Option<Setup>,
    /// A name that says no arrangement: the diagram does.
    unknown_name: Option<String>,
    /// Whether it says anything, and whether the list of moves has begun.
    has_entries: bool,
    has_list: bool,
    /// Ranks of the diagram, from the top.
    ranks: Vec<[Option<Piece>; 9]>,
    hands: [[u8; HandKind::COUNT]; 2],
    side_to_move: Option<Color>,
    /// Where the diagram stands, or the name of the handicap.
    at: usize,
}

impl Start {
    /// Takes a line; `false` if the moves begin with it.
    pub(super) fn take(&mut self, line: &str, at: usize) -> Result<bool, DecodeError> {
        if behind_number(line).is_some() || ending::is_summary(line) {
            return Ok(false);
        }
        let syntax = |expected| DecodeErrorKind::syntax(expected, line.as_bytes()).at(at);
        match line.trim() {
            "" => {}
            "先手番" | "下手番" => self.side_to_move = Some(Color::Black),
            "後手番" | "上手番" => self.side_to_move = Some(Color::White),
            text if text.starts_with(['#', '*', '&', '+', '９', '9']) => {}
            text if text.starts_with("手数") => self.has_list |= text.starts_with(BEGINS_LIST),
            text if text.starts_with('|') => {
                if self.ranks.is_empty() {
                    self.at = at;
                }
                let rank = rank(line.trim_start());
                let rank = rank.filter(|_| self.ranks.len() < RANKS.len());
                self.ranks.push(rank.ok_or_else(|| syntax("one of nine ranks of a diagram"))?);
            }
            text => match text.split_once(['：', ':']) {
                Some(entry) => {
                    self.has_entries = true;
                    if entry.0 == HANDICAP && self.ranks.is_empty() {
                        self.at = at;
                    }
                    let expected = "a handicap or pieces in hand";
                    self.take_entry(entry).ok_or_else(|| syntax(expected))?;
                }
                None => return Err(syntax("a line of a KIF file")),
            },
        }
        Ok(true)
    }

    fn take_entry(&mut self, (key, value): (&str, &str)) -> Option<()> {
        let value = value.trim_matches([' ', '　']);
        match key {
            HANDICAP => {
                self.handicap = handicap(value);
                self.unknown_name = self.handicap.is_none().then(|| value.to_owned());
            }
            "先手の持駒" | "下手の持駒" => self.hands[0] = held(value)?,
            "後手の持駒" | "上手の持駒" => self.hands[1] = held(value)?,
            _ => {}
        }
        Some(())
    }

    /// Whether it stops short of the moves: it shows no position and does not begin a list of moves.
    pub(super) const fn is_cut_off(&self) -> bool {
        self.has_entries && !self.has_list && self.ranks.is_empty()
    }

    /// Whether the board is shown, and not only named.
    pub(super) const fn shows_board(&self) -> bool {
        !self.ranks.is_empty()
    }

    /// Begins the game.
    pub(super) fn begin(&self) -> Result<Replay, DecodeError> {
        if let Some(name) = self.unknown_name.as_ref().filter(|_| self.ranks.is_empty()) {
            let expected = "the name of a handicap, or a diagram";
            return Err(DecodeErrorKind::syntax(expected, name.as_bytes()).at(self.at));
        }
        if self.ranks.is_empty() {
            let start = self.handicap.clone().unwrap_or_else(replay::even_start);
            return Replay::new(start, self.at);
        }
        if self.ranks.len() < RANKS.len() {
            let kind = DecodeErrorKind::syntax("nine ranks of a diagram", b"fewer");
            return Err(kind.at(self.at));
        }
        let mut board: Board = [None; Square::COUNT];
        for (rank, contents) in (0..).zip(&self.ranks) {
            for (file, &content) in (0..9).rev().zip(contents) {
                board[Square::from_file_rank(file, rank).index()] = content;
            }
        }
        let side_to_move = self.side_to_move.unwrap_or(Color::Black);
        match replay::arrangement(board, self.hands, side_to_move) {
            Ok(setup) => Replay::new(setup, self.at),
            Err(error) => Err(DecodeErrorKind::Setup(error).at(self.at)),
        }
    }
}

/// The arrangement of a handicap, if its name is known: `角落ち`, as some write `角落`.
fn handicap(name: &str) -> Option<Setup> {
    if name == EVEN {
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

/// The nine squares between the bars of a line.
fn rank(line: &str) -> Option<[Option<Piece>; 9]> {
    let mut rest = line.strip_prefix('|')?;
    let mut contents = [None; 9];
    for content in &mut contents {
        let color = if rest.starts_with(['v', 'V', 'ｖ']) { Color::White } else { Color::Black };
        rest = rest.strip_prefix([' ', 'v', 'V', 'ｖ', '^'])?;
        if let Some(behind) = rest.strip_prefix(['・', '．']) {
            rest = behind;
        } else {
            let (kind, behind) = moves::kind(rest)?;
            *content = Some(Piece::new(color, kind));
            rest = behind;
        }
    }
    rest.starts_with('|').then_some(contents)
}

/// Pieces in hand, as in `飛　金二　歩十五`; `なし` is none.
fn held(text: &str) -> Option<[u8; HandKind::COUNT]> {
    let mut counts = [0u8; HandKind::COUNT];
    if text == "なし" {
        return Some(counts);
    }
    for entry in text.split([' ', '　']).filter(|entry| !entry.is_empty()) {
        let (kind, count) = moves::kind(entry)?;
        let held = HandKind::ALL.into_iter().find(|held| held.piece_kind() == kind)?;
        let count = if count.is_empty() { 1 } else { number(count)? };
        counts[held.index()] = counts[held.index()].saturating_add(count);
    }
    Some(counts)
}

/// A number up to 99 in Chinese numerals.
fn number(text: &str) -> Option<u8> {
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

/// Writes the name of a handicap, or a diagram, which a position by itself always has.
pub(super) fn write(setup: &Setup, is_position: bool, out: &mut String) {
    let setup = setup.clone().with_ply(1);
    let name = if is_position {
        OTHER
    } else if setup == replay::even_start() {
        EVEN
    } else {
        let is_this = |handicap: &(&str, &str, &str)| arrangement(*handicap) == setup;
        HANDICAPS.into_iter().find(is_this).map_or(OTHER, |(name, ..)| name)
    };
    out.extend(["手合割：", name, "\n"]);
    if name != OTHER {
        return;
    }
    let [black, white] = setup.hands().map(hand_text);
    out.extend(["後手の持駒：", &white, "\n"]);
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
    out.push_str(if setup.side_to_move() == Color::Black { "先手番\n" } else { "後手番\n" });
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
