//! Writes games in KIF and KI2: the header, moves with annotations, the end, then variations.
//!
//! `変化：N手` refers to the text before it, or to the ancestors of that variation. Therefore later variations are written
//! first, each followed by its own variations.

use kyokumen_shogi::{Color, Position, Square};

use super::super::error::EncodeError;
use super::super::eval_comments::EvalComments;
use super::super::game::Game;
use super::super::played::Played;
use super::line::{LIST_OF_MOVES, Syntax};
use super::reader::MAX_DEPTH;
use super::{ending, headers, moves, notation, start, time};
use crate::ending::End;
use crate::played::{Annotation, Variation};

/// Number of moves per line of KI2.
const MOVES_PER_LINE: usize = 6;
/// Width in columns of a KI2 move, and of a KIF move before its time.
const WORD_COLUMNS: usize = 12;
const MOVE_COLUMNS: usize = 13;

/// The text of a game.
pub(super) fn write(game: &Game, syntax: Syntax) -> Result<String, EncodeError> {
    let position = Position::try_from(&game.start).map_err(|_| EncodeError::NoGame)?;
    let mut writer = Writer { syntax, text: String::new(), words: 0 };
    let end = (game.result, game.ending);
    writer.write_head(game);
    let is_bare = game.moves.is_empty() && ending::summary(end, Color::Black, 0, syntax).is_none();
    match syntax {
        // No other line marks the end of the header.
        Syntax::Numbered => writer.text.push_str(LIST_OF_MOVES),
        Syntax::Words if is_bare => writer.text.push_str(LIST_OF_MOVES),
        Syntax::Words => writer.text.push('\n'),
    }
    let mut evals = EvalComments::SHOGIHOME;
    let comments = &game.info.comments;
    let of_start = evals.of_start(comments, position.side_to_move(), game.moves.first());
    writer.put_comments(of_start.iter().chain(comments));
    writer.put_bookmark(game.info.bookmark.as_deref());
    let course = Course {
        moves: &game.moves,
        end,
        end_elapsed_ms: game.info.end_elapsed_ms,
        end_comments: &game.info.end_comments,
        end_variations: &game.info.end_variations,
    };
    let place = Place { position, played: 0, last: None, evals, totals_ms: [0; 2], depth: 0 };
    writer.write_course(&course, place)?;
    Ok(writer.text)
}

struct Writer {
    syntax: Syntax,
    text: String,
    /// Number of moves on the current line of KI2.
    words: usize,
}

/// The game or a variation.
struct Course<'a> {
    moves: &'a [Played],
    end: End,
    end_elapsed_ms: Option<u64>,
    end_comments: &'a [String],
    end_variations: &'a [Variation],
}

/// The state at the start of a course.
#[derive(Clone)]
struct Place {
    position: Position,
    /// Number of moves before it, and the target square of the last one.
    played: usize,
    last: Option<Square>,
    evals: EvalComments,
    totals_ms: [u64; 2],
    depth: u16,
}

impl Writer {
    fn write_head(&mut self, game: &Game) {
        let name = start::name_of(&game.start);
        if let Some(name) = name {
            self.text.extend([start::HANDICAP, "：", name, "\n"]);
        } else {
            start::write_diagram(&game.start, &mut self.text);
            self.text.push_str(start::side_to_move_line(&game.start));
        }
        let handicap = name.map(|_| game.start.side_to_move());
        headers::write(&game.info.headers, handicap, &mut self.text);
    }

    fn write_course(&mut self, course: &Course<'_>, mut place: Place) -> Result<(), EncodeError> {
        let mut branches = Vec::new();
        for (at, played) in course.moves.iter().enumerate() {
            let variations = played.annotation.as_deref().map_or(&[][..], |a| &a.variations);
            if !variations.is_empty() {
                branches
                    .push((variations, Place { evals: EvalComments::SHOGIHOME, ..place.clone() }));
            }
            self.write_move(played, course.moves.get(at + 1), &mut place)?;
        }
        if !course.end_variations.is_empty() {
            branches.push((
                course.end_variations,
                Place { evals: EvalComments::SHOGIHOME, ..place.clone() },
            ));
        }
        self.write_end(course, &place);
        if place.depth == MAX_DEPTH && !branches.is_empty() {
            return Err(EncodeError::TooMany { what: "levels of variations", most: MAX_DEPTH });
        }
        for (variations, place) in branches.into_iter().rev() {
            for variation in variations {
                self.text.extend(["\n変化：", &(place.played + 1).to_string(), "手\n"]);
                let place = Place { depth: place.depth + 1, ..place.clone() };
                self.write_course(&Course::of_variation(variation), place)?;
            }
        }
        Ok(())
    }

    fn write_move(
        &mut self,
        played: &Played,
        next: Option<&Played>,
        place: &mut Place,
    ) -> Result<(), EncodeError> {
        let Place { position, last, .. } = &*place;
        if !position.is_legal(played.best_move) {
            return Err(EncodeError::NoGame);
        }
        let side = position.side_to_move();
        let none = Annotation::default();
        let annotation = played.annotation.as_deref().unwrap_or(&none);
        match self.syntax {
            Syntax::Words => self.put_word(&notation::write(position, played.best_move, *last)),
            Syntax::Numbered => {
                let time =
                    annotation.elapsed_ms.map(|elapsed_ms| place.take_time(side, elapsed_ms));
                let text = moves::write(played.best_move, &place.position, place.last);
                self.put_numbered(place.played + 1, &text, time);
            }
        }
        let of_move = place.evals.of_move(played, side, next);
        self.put_comments(of_move.iter().chain(&annotation.comments));
        place.position.make(played.best_move);
        place.played += 1;
        place.last = Some(played.best_move.to());
        self.put_bookmark(annotation.bookmark.as_deref());
        Ok(())
    }

    fn put_comments<'a>(&mut self, comments: impl IntoIterator<Item = &'a String>) {
        comments.into_iter().for_each(|comment| self.put_comment(comment));
    }

    fn put_comment(&mut self, comment: &str) {
        self.end_line();
        for line in comment.split('\n') {
            self.text.extend(["*", &line.trim_end_matches('\r').replace('\r', " "), "\n"]);
        }
    }

    fn put_bookmark(&mut self, bookmark: Option<&str>) {
        if let Some(bookmark) = bookmark {
            self.end_line();
            self.text.extend(["&", &bookmark.replace(['\n', '\r'], " "), "\n"]);
        }
    }

    fn put_word(&mut self, word: &str) {
        if self.words == MOVES_PER_LINE {
            self.end_line();
        }
        if self.words > 0 {
            let line = self.text.rsplit('\n').next().unwrap_or("");
            let gap = (self.words * WORD_COLUMNS).saturating_sub(columns(line)).max(1);
            self.text.extend(std::iter::repeat_n(' ', gap));
        }
        self.text.push_str(word);
        self.words += 1;
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.words) > 0 {
            self.text.push('\n');
        }
    }

    fn put_numbered(&mut self, number: usize, text: &str, time: Option<String>) {
        self.text.extend([&format!("{number:>4} "), text]);
        if let Some(time) = time {
            let gap = MOVE_COLUMNS.saturating_sub(columns(text)).max(1);
            self.text.extend(std::iter::repeat_n(' ', gap));
            self.text.push_str(&time);
        }
        self.text.push('\n');
    }

    /// Writes the end of a course: in KIF a word in place of the next move, then the summary.
    fn write_end(&mut self, course: &Course<'_>, place: &Place) {
        self.end_line();
        let side = place.position.side_to_move();
        let word = ending::word(course.end, side).filter(|_| self.syntax == Syntax::Numbered);
        if let Some(word) = word {
            let time = course.end_elapsed_ms.map(|elapsed| place.clone().take_time(side, elapsed));
            self.put_numbered(place.played + 1, word, time);
        }
        match ending::summary(course.end, side, place.played, self.syntax) {
            Some(line) => self.text.push_str(&line),
            // An empty summary separates comments on the end from comments on the last move.
            None if word.is_none() && !course.end_comments.is_empty() => {
                self.text.extend(["まで", &place.played.to_string(), "手\n"]);
            }
            None => {}
        }
        self.put_comments(course.end_comments);
    }
}

impl<'a> Course<'a> {
    fn of_variation(variation: &'a Variation) -> Self {
        let Variation { moves, result, ending, end_comments } = variation;
        Self {
            moves,
            end: (*result, *ending),
            end_elapsed_ms: None,
            end_comments,
            end_variations: &[],
        }
    }
}

impl Place {
    /// Adds a time to the total of its side. Returns both in brackets.
    fn take_time(&mut self, side: Color, elapsed_ms: u64) -> String {
        let total_ms = &mut self.totals_ms[side as usize];
        *total_ms = total_ms.saturating_add(elapsed_ms);
        time::bracket(elapsed_ms, *total_ms)
    }
}

/// The width of a text in columns.
fn columns(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}
