//! Writes JKF games in normalised form, including values that a reader could infer from the board.

use kyokumen_shogi::{HandKind, Move, Position, Square};
use serde::Serialize;

use super::super::error::EncodeError;
use super::super::eval_comments::EvalComments;
use super::super::game::Game;
use super::super::played::Played;
use super::head::{Entries, InitialEntry};
use super::schema::{Entry, MoveEntry, Place, TimeEntry};
use crate::csa::CsaVersion;
use crate::csa::codes::code;
use crate::csa::ending::{Mark, Summary};
use crate::ending::End;
use crate::game_info::Header;
use crate::kif::notation::notation;
use crate::played::Variation;

/// A game as one line of JSON.
#[derive(Serialize)]
struct GameEntry<'a> {
    header: Entries<'a>,
    initial: InitialEntry,
    moves: Vec<Entry>,
}

pub(super) fn write(game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let position = Position::try_from(&game.start).map_err(|_| EncodeError::NoGame)?;
    let info = &game.info;
    let mut line = Line::new(position);
    let next = game.moves.first();
    let missing = line.evaluations.of_start(&info.comments, line.position.side_to_move(), next);
    let comments = missing.into_iter().chain(info.comments.iter().cloned()).collect();
    line.entries.push(Entry { comments, ..Entry::default() });
    line.push_moves(&game.moves)?;
    let end: End = (game.result, game.ending);
    line.push_end(
        end,
        info.end_elapsed_ms,
        (&info.end_comments, &info.headers),
        &info.end_variations,
    )?;
    let written = GameEntry {
        header: Entries(&info.headers),
        initial: InitialEntry::new(&game.start),
        moves: line.entries,
    };
    serde_json::to_writer(&mut *out, &written)
        .expect("strings and numbers always have a JSON form, and a vector takes all");
    out.push(b'\n');
    Ok(())
}

/// State while the moves of a game or variation are written.
struct Line {
    position: Position,
    /// The target square of the last move.
    last: Option<Square>,
    /// Total time used by Black and White.
    total_ms: [u64; 2],
    evaluations: EvalComments,
    entries: Vec<Entry>,
}

impl Line {
    const fn new(position: Position) -> Self {
        let evaluations = EvalComments::SHOGIHOME;
        Self { position, last: None, total_ms: [0; 2], evaluations, entries: Vec::new() }
    }

    fn push_moves(&mut self, moves: &[Played]) -> Result<(), EncodeError> {
        for (i, played) in moves.iter().enumerate() {
            if !self.position.is_legal(played.best_move) {
                return Err(EncodeError::NoGame);
            }
            let mover = self.position.side_to_move();
            let missing = self.evaluations.of_move(played, mover, moves.get(i + 1));
            let annotation = played.annotation.as_deref();
            let comments = annotation.map_or(&[][..], |it| &it.comments);
            let variations = annotation.map_or(&[][..], |it| &it.variations);
            let entry = Entry {
                best_move: Some(self.entry_of(played.best_move)),
                // Before `time`, which adds the time of this move to the totals.
                forks: self.forks(variations)?,
                time: annotation.and_then(|it| self.time(it.elapsed_ms)),
                comments: missing.into_iter().chain(comments.iter().cloned()).collect(),
                special: None,
            };
            self.entries.push(entry);
            self.last = Some(played.best_move.to());
            self.position.make(played.best_move);
        }
        Ok(())
    }

    /// Adds the element for the end: the mark, a summary if the mark is not exact, and comments.
    fn push_end(
        &mut self,
        end: End,
        elapsed_ms: Option<u64>,
        (comments, headers): (&[String], &[Header]),
        variations: &[Variation],
    ) -> Result<(), EncodeError> {
        let mark = Mark::closest(end, &self.position).map(|it| it.of_version(CsaVersion::V2_2));
        let exact = mark.is_none_or(|mark| mark.end(&self.position) == end);
        let summary = Summary::line(end).filter(|_| !exact);
        let summary = summary.map(|line| line.trim_start_matches('\'').to_owned());
        // Without an end mark, readers attach these comments to the last move. The leading space prevents a
        // comment from being read as the evaluation of that move or as a summary.
        let is_summary = |at, comment: &str| {
            Summary::of_comment(comment.as_bytes()).is_some_and(|summary_line| {
                summary_line.names_players(headers)
                    || at == 0 && summary.is_none() && summary_line.is_own()
            })
        };
        let comments = comments.iter().enumerate().map(|(at, comment)| {
            let indent = mark.is_none() || is_summary(at, comment);
            if indent { format!(" {comment}") } else { comment.clone() }
        });
        let forks = self.forks(variations)?;
        let entry = Entry {
            special: mark.map(|mark| mark.name().trim_start_matches('%').to_owned()),
            time: mark.and_then(|_| self.time(elapsed_ms)),
            comments: summary.iter().cloned().chain(comments).collect(),
            forks,
            best_move: None,
        };
        if entry.special.is_some() || !entry.comments.is_empty() || !entry.forks.is_empty() {
            self.entries.push(entry);
        }
        Ok(())
    }

    fn forks(&self, variations: &[Variation]) -> Result<Vec<Vec<Entry>>, EncodeError> {
        let fork = |variation: &Variation| {
            let mut line = Self {
                last: self.last,
                total_ms: self.total_ms,
                ..Self::new(self.position.clone())
            };
            line.push_moves(&variation.moves)?;
            let end = (variation.result, variation.ending);
            line.push_end(end, None, (&variation.end_comments, &[]), &[])?;
            Ok(line.entries)
        };
        variations.iter().map(fork).collect()
    }

    fn time(&mut self, elapsed_ms: Option<u64>) -> Option<TimeEntry> {
        let elapsed_ms = elapsed_ms?;
        let total_ms = &mut self.total_ms[self.position.side_to_move() as usize];
        *total_ms = total_ms.saturating_add(elapsed_ms);
        Some(TimeEntry::new(elapsed_ms, *total_ms))
    }

    fn entry_of(&self, best_move: Move) -> MoveEntry {
        let (position, to) = (&self.position, best_move.to());
        let words = notation(position, best_move, None);
        let relative = letters_of(&words);
        let moved = best_move.from().and_then(|from| position.piece_on(from));
        let kind = moved.map(|piece| piece.kind);
        let kind = kind.or_else(|| best_move.dropped().map(HandKind::piece_kind));
        // The notation has 成 or 不成 exactly if a promotion is possible.
        let may_promote = words.ends_with('成');
        MoveEntry {
            color: position.side_to_move() as u8,
            from: best_move.from().map(place),
            to: place(to),
            piece: kind.map_or("", code),
            same: best_move.from().is_some() && self.last == Some(to),
            promote: may_promote.then(|| best_move.is_promotion()),
            capture: position.piece_on(to).map(|piece| code(piece.kind)),
            relative: Some(relative).filter(|relative| !relative.is_empty()),
        }
    }
}

const fn place(square: Square) -> Place {
    Place { x: square.file() + 1, y: square.rank() + 1 }
}

/// The letters for a legal move. Empty if the move is unambiguous without them.
pub(super) fn relative_of(position: &Position, m: Move) -> String {
    letters_of(&notation(position, m, None))
}

/// The letters for the words in the notation of a move.
pub(super) fn letters_of(notation: &str) -> String {
    let letter = |word: char| {
        Some(match word {
            '左' => 'L',
            '直' => 'C',
            '右' => 'R',
            '上' => 'U',
            '寄' => 'M',
            '引' => 'D',
            '打' => 'H',
            _ => return None,
        })
    };
    notation.chars().filter_map(letter).collect()
}
