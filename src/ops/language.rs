//! The language of texts for people: HTML pages, the text of `solve`, and `info string` lines of `usi`.
//!
//! The English and the Japanese text of a phrase are arguments of one call of [`Language::pick`] or `in_language!`, so
//! a missing text does not compile. JSON, manifests, errors and the log are always English.

use serde::{Deserialize, Serialize};

#[cfg(feature = "cli")]
use crate::format::Ending;
use crate::format::Warning;
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
    /// `ja`, otherwise English.
    pub fn of_locale() -> Self {
        Self::of_variables(|name| std::env::var(name).ok())
    }

    fn of_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut locales = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(variable);
        match locales.find(|locale| !locale.is_empty()) {
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
        let japanese = match name {
            "black" => "先手勝ち",
            "white" => "後手勝ち",
            _ => "引き分け",
        };
        let english = if name == "draw" { name.to_owned() } else { format!("{name} won") };
        self.pick(english, japanese.to_owned())
    }

    /// The warning with this [name](Warning::name).
    pub(crate) fn warning(self, name: &'static str) -> String {
        let known = Warning::ALL.into_iter().find(|warning| warning.name() == name);
        let japanese = known.map_or(name, |warning| WARNINGS[warning as usize]);
        self.pick(name.replace('_', " "), japanese.to_owned())
    }

    /// The ending of a game with this [name](Ending::name).
    #[cfg(feature = "cli")]
    pub(crate) fn ending(self, name: &'static str) -> String {
        let known = Ending::ALL.into_iter().find(|ending| ending.name() == name);
        let japanese = known.map_or(name, |ending| ENDINGS[ending as usize]);
        self.pick(name.replace('_', " "), japanese.to_owned())
    }
}

/// In the order of [`Warning::ALL`].
const WARNINGS: [&str; Warning::ALL.len()] = [
    "二歩",
    "行き所のない駒",
    "相手玉に王手がかかっている",
    "指し手なし",
    "指し手のビット列が不正",
    "指し手が反則",
    "勝敗の値が範囲外",
    "勝敗以外のフラグ",
    "手数が 0",
    "手数が 65535",
    "手数の不一致",
    "手数なし",
    "SFEN の表記が標準と異なる",
    "玉がない",
    "駒が足りない",
    "余白が 0 でない",
    "評価値が範囲外",
    "読み飛ばした行",
    "評価値を上限に制限",
];

/// In the order of [`Ending::ALL`].
#[cfg(feature = "cli")]
const ENDINGS: [&str; Ending::ALL.len()] =
    ["千日手", "入玉宣言", "手数の上限", "時間切れ", "反則", "中断", "持将棋"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_variable_that_is_not_empty_decides() {
        let language = |variables: [(&'static str, &'static str); 2]| {
            Language::of_variables(|name| {
                let found = variables.into_iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.to_owned())
            })
        };
        for (variables, expected) in [
            ([("LANG", "ja_JP.UTF-8"), ("OTHER", "")], Language::Japanese),
            ([("LANG", "ja_JP.UTF-8"), ("LC_MESSAGES", "C")], Language::English),
            ([("LC_ALL", ""), ("LANG", "ja")], Language::Japanese),
            ([("LC_ALL", "en_US.UTF-8"), ("LC_MESSAGES", "ja_JP.eucJP")], Language::English),
            ([("OTHER", "ja"), ("LANG", "de_DE")], Language::English),
        ] {
            assert_eq!(language(variables), expected, "{variables:?}");
        }
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
    }
}
