//! Output of solutions as text, JSON lines, game records or an HTML page.

use std::str::FromStr;

use super::games::{MATE_FORMATS, MateGames};
use super::page::MatePage;
use super::report::{write_answer, write_json, write_line, write_rest};
use crate::format::Format;
use crate::mate::solve::Solution;
use crate::ops::language::Language;
use crate::solver::SearchProgress;

/// Value of `--to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cli) enum MateFormat {
    Html,
    Games(Format),
}

impl FromStr for MateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "html" {
            return Ok(Self::Html);
        }
        let format = MATE_FORMATS.into_iter().find(|format| format.name() == text);
        format
            .map(Self::Games)
            .ok_or_else(|| "expected kif, kifu, ki2, ki2u, csa, jkf, usi or html".to_owned())
    }
}

/// Destination of solutions. A page is written at the end; other outputs are written immediately.
pub(super) enum Output {
    Text(Language),
    /// `measures`: whether `tsume_plies` is requested.
    Json {
        measures: bool,
    },
    Games(MateGames),
    Page(MatePage),
}

impl Output {
    /// `title` is the title of an HTML page.
    pub(super) fn of_mates(format: MateFormat, title: String, language: Language) -> Self {
        match format {
            MateFormat::Html => Self::Page(MatePage::new(title, language)),
            MateFormat::Games(format) => Self::Games(MateGames::new(format)),
        }
    }

    /// Writes one of several solutions.
    pub(super) fn write(&mut self, solution: &Solution) -> anyhow::Result<()> {
        match self {
            Self::Text(language) => write_line(solution, *language)?,
            Self::Json { measures } => write_json(solution, *measures)?,
            Self::Games(games) => games.write(solution)?,
            Self::Page(page) => page.add(solution)?,
        }
        Ok(())
    }

    /// Writes the answer to the only position as text, before the length of the mate is measured. Other outputs are
    /// written when all is known. `progress` is shown if the search is undecided.
    pub(super) fn write_answer(
        &self,
        solution: &Solution,
        progress: &SearchProgress,
    ) -> anyhow::Result<()> {
        match self {
            Self::Text(language) => Ok(write_answer(solution, progress, *language)?),
            Self::Json { .. } | Self::Games(_) | Self::Page(_) => Ok(()),
        }
    }

    /// Writes the only solution, as text the part after the answer, and finishes.
    pub(super) fn write_only(mut self, solution: &Solution) -> anyhow::Result<()> {
        if let Self::Text(language) = self {
            return Ok(write_rest(solution, language)?);
        }
        self.write(solution)?;
        self.finish(0, false)
    }

    /// Notes a bad record for a page.
    pub(super) fn note_bad(&mut self, message: String) {
        if let Self::Page(page) = self {
            page.bad_records.push(message);
        }
    }

    /// `bad` is the number of bad records.
    pub(super) fn finish(self, bad: u64, is_interrupted: bool) -> anyhow::Result<()> {
        if let Self::Page(page) = self {
            page.finish(bad, is_interrupted)?;
        }
        Ok(())
    }
}
