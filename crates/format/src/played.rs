//! Moves of a game with their annotations and variations.

use kyokumen_shogi::Move;

use crate::ending::Ending;
use crate::game_result::GameResult;

/// A move of a game, with evaluation and annotations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// The move.
    pub best_move: Move,
    /// Evaluation in centipawns, from the side that plays the move.
    pub eval_cp: Option<i16>,
    /// Moves that a search tried in the position.
    pub candidates: Vec<VisitedMove>,
    /// Whether the game marks this position as not to be used for training.
    pub is_not_for_training: bool,
    /// Offset of the move within the chunk, in bytes.
    pub offset: usize,
    /// Time, comments and variations. `None` if there are none.
    pub annotation: Option<Box<Annotation>>,
}

impl Played {
    /// A move without evaluation or annotation.
    pub const fn new(best_move: Move, offset: usize) -> Self {
        Self {
            best_move,
            eval_cp: None,
            candidates: Vec::new(),
            is_not_for_training: false,
            offset,
            annotation: None,
        }
    }

    /// The annotation, created empty if there is none.
    pub fn annotate(&mut self) -> &mut Annotation {
        self.annotation.get_or_insert_default()
    }

    /// The mirror image of the move: left and right of the board are exchanged.
    pub(crate) fn mirrored(self) -> Self {
        Self {
            best_move: self.best_move.mirrored(),
            candidates: self.candidates.into_iter().map(VisitedMove::mirrored).collect(),
            annotation: self.annotation.map(|annotation| Box::new(annotation.mirrored())),
            ..self
        }
    }
}

/// Information about a move besides its evaluation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Annotation {
    /// Time used for the move, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// Comments on the move, one line each, without the comment sign of the format.
    pub comments: Vec<String>,
    /// The bookmark on the position after the move.
    pub bookmark: Option<String>,
    /// Variations that replace this move.
    pub variations: Vec<Variation>,
}

/// A line that the file shows but that was not played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variation {
    /// At least one move.
    pub moves: Vec<Played>,
    /// The result of the variation, if the file states it.
    pub result: Option<GameResult>,
    /// How the variation ends, if not by mate or resignation.
    pub ending: Option<Ending>,
    /// Comments after its end.
    pub end_comments: Vec<String>,
}

impl Variation {
    /// The mirror image of the variation. Comments are unchanged.
    pub(crate) fn mirrored(self) -> Self {
        Self { moves: self.moves.into_iter().map(Played::mirrored).collect(), ..self }
    }
}

impl Annotation {
    pub(crate) fn mirrored(self) -> Self {
        let variations = self.variations.into_iter().map(Variation::mirrored).collect();
        Self { variations, ..self }
    }
}

/// A move that a search tried, and its number of visits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VisitedMove {
    /// The move.
    pub best_move: Move,
    /// Visits of the search.
    pub visits: u16,
}

impl VisitedMove {
    /// The mirror image of the move.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self { best_move: self.best_move.mirrored(), ..self }
    }
}
