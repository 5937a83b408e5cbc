//! The language of texts for people: HTML pages, the text of `solve`, and `info string` lines of `usi`.
//!
//! The English and the Japanese text of a phrase are arguments of one call of `Language::pick` or `in_language!`, so
//! a missing text does not compile. JSON, manifests, errors and the log are always English.

use serde::{Deserialize, Serialize};

use crate::format::Warning;
#[cfg(feature = "cli")]
use crate::format::{Ending, GameResult};
#[cfg(feature = "cli")]
use crate::shogi::Color;
use crate::storage::quantity::{separated, separated_quantity};

/// The language of texts for people.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Japanese.
    #[serde(rename = "ja")]
    Japanese,
}

/// Formats the first text in English, the second in Japanese. The arguments are those of `format!`.
macro_rules! in_language {
    ($language:expr, $english:literal, $japanese:literal $(, $argument:expr)* $(,)?) => {
        match $language {
            $crate::ops::language::Language::English => format!($english $(, $argument)*),
            $crate::ops::language::Language::Japanese => format!($japanese $(, $argument)*),
        }
    };
}
pub(crate) use in_language;

impl Language {
    /// The language of the locale: Japanese if the first non-empty of `LC_ALL`, `LC_MESSAGES` and `LANG` begins with
    /// `ja`, otherwise English. On Windows, the language of the user decides if none of them is set.
    pub fn of_locale() -> Self {
        #[cfg(unix)]
        let of_user = None;
        #[cfg(windows)]
        let of_user = sys_locale::get_locale();
        Self::of_variables(|name| std::env::var(name).ok(), of_user)
    }

    fn of_variables(variable: impl Fn(&str) -> Option<String>, of_user: Option<String>) -> Self {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(variable);
        match variables.chain(of_user).find(|locale| !locale.is_empty()) {
            Some(locale) if locale.starts_with("ja") => Self::Japanese,
            _ => Self::English,
        }
    }

    /// The text in this language.
    pub(crate) fn pick<T>(self, english: T, japanese: T) -> T {
        match self {
            Self::English => english,
            Self::Japanese => japanese,
        }
    }

    /// The code of the language in HTML.
    pub(crate) fn code(self) -> &'static str {
        self.pick("en", "ja")
    }

    /// `1,234 records`, `1,234件`.
    pub(crate) fn records(self, number: u64) -> String {
        self.quantity(number, "record", "件")
    }

    /// A number with its unit. `english` is the singular; the plural is formed if necessary.
    pub(crate) fn quantity(self, number: u64, english: &str, japanese: &str) -> String {
        match self {
            Self::English => separated_quantity(number, english),
            Self::Japanese => format!("{}{japanese}", separated(number)),
        }
    }

    /// The title of a page about several files.
    pub(crate) fn files(self, files: usize) -> String {
        in_language!(self, "{files} files of positions", "{files}個の局面ファイル")
    }

    #[cfg(feature = "cli")]
    pub(crate) fn turn(self, side_to_move: Color) -> &'static str {
        match side_to_move {
            Color::Black => self.pick("Black to move", "先手番"),
            Color::White => self.pick("White to move", "後手番"),
        }
    }

    /// The result of a game with this [name](GameResult::name).
    #[cfg(feature = "cli")]
    pub(crate) fn result(self, name: &str) -> String {
        let words = match GameResult::from_name(name) {
            Some(GameResult::BlackWin) => self.pick("black won", "先手勝ち"),
            Some(GameResult::WhiteWin) => self.pick("white won", "後手勝ち"),
            Some(GameResult::Draw) => self.pick("draw", "引き分け"),
            None => name,
        };
        words.to_owned()
    }

    /// The ending of a game with this [name](Ending::name).
    #[cfg(feature = "cli")]
    pub(crate) fn ending(self, name: &str) -> String {
        let japanese = match Ending::from_name(name) {
            Some(Ending::Repetition) => "千日手",
            Some(Ending::Declaration) => "入玉宣言",
            Some(Ending::MoveLimit) => "手数の上限",
            Some(Ending::TimeUp) => "時間切れ",
            Some(Ending::IllegalMove) => "反則",
            Some(Ending::Interruption) => "中断",
            Some(Ending::Impasse) => "持将棋",
            None => name,
        };
        self.pick(name.replace('_', " "), japanese.to_owned())
    }

    /// The warning with this [name](Warning::name).
    pub(crate) fn warning(self, name: &str) -> String {
        let japanese = match Warning::from_name(name) {
            Some(Warning::TwoPawns) => "二歩",
            Some(Warning::DeadPiece) => "行き所のない駒",
            Some(Warning::OpponentInCheck) => "相手玉に王手がかかっている",
            Some(Warning::MoveNone) => "指し手なし",
            Some(Warning::MoveMalformed) => "指し手のビット列が不正",
            Some(Warning::MoveIllegal) => "指し手が反則",
            Some(Warning::ResultOutOfRange) => "勝敗の値が範囲外",
            Some(Warning::ResultFlags) => "勝敗のバイトに勝敗以外のフラグがある",
            Some(Warning::PlyZero) => "手数が 0",
            Some(Warning::PlyMax) => "手数が 65535",
            Some(Warning::PlyMismatch) => "手数の列と SFEN の手数が異なる",
            Some(Warning::PlyMissing) => "手数なし",
            Some(Warning::SfenSpelling) => "SFEN の表記が標準と異なる",
            Some(Warning::KingMissing) => "玉がない",
            Some(Warning::PiecesMissing) => "駒が足りない",
            Some(Warning::PaddingNotZero) => "パディングが 0 でない",
            Some(Warning::EvalOutOfRange) => "評価値が範囲外",
            Some(Warning::LinesSkipped) => "読み飛ばした行",
            Some(Warning::EvalLimited) => "評価値を上限に制限",
            // Other crates cannot match all warnings. A test checks that each has a text.
            Some(_) | None => name,
        };
        self.pick(name.replace('_', " "), japanese.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_variable_that_is_not_empty_decides() {
        let language = |variables: [(&'static str, &'static str); 2], of_user: Option<&str>| {
            let variable = |name: &str| {
                let found = variables.into_iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.to_owned())
            };
            Language::of_variables(variable, of_user.map(str::to_owned))
        };
        for (variables, expected) in [
            ([("LANG", "ja_JP.UTF-8"), ("OTHER", "")], Language::Japanese),
            ([("LANG", "ja_JP.UTF-8"), ("LC_MESSAGES", "C")], Language::English),
            ([("LC_ALL", ""), ("LANG", "ja")], Language::Japanese),
            ([("LC_ALL", "en_US.UTF-8"), ("LC_MESSAGES", "ja_JP.eucJP")], Language::English),
            ([("OTHER", "ja"), ("LANG", "de_DE")], Language::English),
        ] {
            assert_eq!(language(variables, None), expected, "{variables:?}");
        }
        assert_eq!(language([("LANG", "en"), ("LC_ALL", "")], Some("ja-JP")), Language::English);
        assert_eq!(language([("LANG", ""), ("LC_ALL", "")], Some("ja-JP")), Language::Japanese);
    }

    #[cfg(feature = "cli")]
    #[test]
    fn texts_have_the_numbers_of_their_language() {
        let text = |language: Language| {
            let nodes = language.quantity(1234, "node", " ノード");
            in_language!(language, "{nodes} in {}", "{}、{nodes}", 5)
        };
        assert_eq!(text(Language::English), "1,234 nodes in 5");
        assert_eq!(text(Language::Japanese), "5、1,234 ノード");
        assert_eq!(Language::Japanese.warning("king_missing"), "玉がない");
        assert_eq!(Language::Japanese.ending("impasse"), "持将棋");
        assert_eq!(Language::English.ending("time_up"), "time up");
        for (result, english, japanese) in [
            ("black", "black won", "先手勝ち"),
            ("white", "white won", "後手勝ち"),
            ("draw", "draw", "引き分け"),
            ("abandoned", "abandoned", "abandoned"),
        ] {
            assert_eq!(Language::English.result(result), english);
            assert_eq!(Language::Japanese.result(result), japanese);
        }
    }

    #[test]
    fn every_warning_has_a_japanese_text() {
        for name in Warning::ALL.map(Warning::name) {
            assert!(!Language::Japanese.warning(name).is_ascii(), "{name}");
        }
    }
}
