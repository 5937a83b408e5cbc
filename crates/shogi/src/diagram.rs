//! Board diagrams as text, in SFEN letters and in kanji.
//!
//! The kanji diagram is the BOD format of Japanese game records (also used in KIF files).

use std::fmt;

use super::hand::Hand;
use super::piece::{Color, HandKind, Piece, PieceKind};
use super::setup::Setup;
use super::square::Square;

/// A board in SFEN letters. Capitals are Black's pieces, `+` marks promoted pieces.
///
/// ```
/// use kyokumen_shogi::{Setup, diagram::LetterDiagram};
/// let setup: Setup = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1".parse().unwrap();
/// assert!(LetterDiagram(&setup).to_string().contains("  .  .  .  .  P  .  .  .  .  c\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LetterDiagram<'a>(pub &'a Setup);

impl fmt::Display for LetterDiagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  9  8  7  6  5  4  3  2  1")?;
        for rank in 0..9 {
            for square in rank_from_the_left(rank) {
                match self.0.board()[square.index()] {
                    Some(piece) => write!(f, "{:>3}", piece.to_string())?,
                    None => f.write_str("  .")?,
                }
            }
            writeln!(f, "  {}", char::from(b'a' + rank))?;
        }
        let [black, white] = self.0.hands().map(letters);
        writeln!(f, "in hand: Black {black}, White {white}")?;
        writeln!(f, "to move: {:?}", self.0.side_to_move())
    }
}

/// A board in kanji as in BOD. `v` marks White's pieces.
///
/// ```
/// use kyokumen_shogi::{Setup, diagram::KanjiDiagram};
/// let setup: Setup = "4k4/9/4P4/9/9/9/9/9/4K4 b G2P 1".parse().unwrap();
/// let diagram = KanjiDiagram(&setup).to_string();
/// assert!(diagram.contains("| ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n"));
/// assert!(diagram.contains("先手の持駒：金　歩二\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KanjiDiagram<'a>(pub &'a Setup);

const RULE: &str = "+---------------------------+";
const NUMBERS: [&str; 19] = [
    "", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二", "十三", "十四",
    "十五", "十六", "十七", "十八",
];

impl fmt::Display for KanjiDiagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [black, white] = self.0.hands().map(kanji_hand);
        writeln!(f, "後手の持駒：{white}")?;
        writeln!(f, "  ９ ８ ７ ６ ５ ４ ３ ２ １\n{RULE}")?;
        for rank in 0..9 {
            f.write_str("|")?;
            for square in rank_from_the_left(rank) {
                match self.0.board()[square.index()] {
                    Some(Piece { color: Color::White, kind }) => write!(f, "v{}", kanji(kind))?,
                    Some(Piece { color: Color::Black, kind }) => write!(f, " {}", kanji(kind))?,
                    None => f.write_str(" ・")?,
                }
            }
            writeln!(f, "|{}", NUMBERS[usize::from(rank) + 1])?;
        }
        writeln!(f, "{RULE}\n先手の持駒：{black}")?;
        writeln!(f, "{}", if self.0.side_to_move() == Color::Black { "先手番" } else { "後手番" })
    }
}

fn rank_from_the_left(rank: u8) -> impl Iterator<Item = Square> {
    (0..9).rev().map(move |file| Square::from_file_rank(file, rank))
}

/// Letters, each followed by its count, strongest piece first; `-` for an empty hand.
fn letters(hand: Hand) -> String {
    let mut text = String::new();
    for kind in HandKind::ALL.into_iter().rev() {
        let letter = char::from(kind.piece_kind().letter());
        match hand.count(kind) {
            0 => {}
            1 => text.push(letter),
            count => text.extend([letter.to_string(), count.to_string()]),
        }
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

fn kanji_hand(hand: Hand) -> String {
    let mut parts = Vec::new();
    for kind in HandKind::ALL.into_iter().rev() {
        match hand.count(kind) {
            0 => {}
            1 => parts.push(kanji(kind.piece_kind()).to_owned()),
            count => {
                let number = NUMBERS[usize::from(count)];
                parts.push(format!("{}{number}", kanji(kind.piece_kind())));
            }
        }
    }
    if parts.is_empty() { "なし".to_owned() } else { parts.join("　") }
}

/// The kanji of a piece in diagrams.
pub(crate) const fn kanji(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Pawn => "歩",
        PieceKind::Lance => "香",
        PieceKind::Knight => "桂",
        PieceKind::Silver => "銀",
        PieceKind::Gold => "金",
        PieceKind::Bishop => "角",
        PieceKind::Rook => "飛",
        PieceKind::King => "玉",
        PieceKind::ProPawn => "と",
        PieceKind::ProLance => "杏",
        PieceKind::ProKnight => "圭",
        PieceKind::ProSilver => "全",
        PieceKind::Horse => "馬",
        PieceKind::Dragon => "龍",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promoted pieces of both sides and full hands.
    const SFEN: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";

    #[test]
    fn letter_diagrams_use_sfen_letters() {
        let diagram = LetterDiagram(&SFEN.parse().unwrap()).to_string();
        let lines: Vec<&str> = diagram.lines().collect();
        assert_eq!(lines[0], "  9  8  7  6  5  4  3  2  1");
        assert_eq!(lines[2], "  .  .  .  .  . +P  .  g  k  b");
        assert_eq!(lines[9], "  L  N  .  .  .  .  b  K  L  i");
        assert_eq!(lines[10], "in hand: Black RG, White GSNP5");
        assert_eq!(lines[11], "to move: White");
    }

    #[test]
    fn kanji_diagrams_follow_bod() {
        let diagram = KanjiDiagram(&SFEN.parse().unwrap()).to_string();
        let lines: Vec<&str> = diagram.lines().collect();
        assert_eq!(lines[0], "後手の持駒：金　銀　桂　歩五");
        assert_eq!(lines[4], "| ・ ・ ・ ・ ・ と ・v金v玉|二");
        assert_eq!(lines[13], "先手の持駒：飛　金");
        assert_eq!(lines[14], "後手番");
    }
}
