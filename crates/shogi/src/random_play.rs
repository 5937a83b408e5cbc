//! Games of random moves, as a source of positions. A seed gives the same games on every machine and in every version.
//!
//! Games end by the rules of the Japan Shogi Association, except that no side declares a win by an entering king.

use super::moves::Move;
use super::piece::Color;
use super::position::Position;
use super::repetition::{PositionHistory, Repetition};
use kyokumen_game::random::SplitMix64;

/// The end of a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// The side to move has no legal move. Contains the winner.
    Mate(Color),
    /// A position occurred for the fourth time and one side gave check throughout. Contains the other side, which wins.
    PerpetualCheck(Color),
    /// A position occurred for the fourth time.
    Repetition,
    /// The game reached the maximum number of moves.
    MoveLimit,
}

impl End {
    /// The winner; `None` for a draw.
    pub const fn winner(self) -> Option<Color> {
        match self {
            Self::Mate(color) | Self::PerpetualCheck(color) => Some(color),
            Self::Repetition | Self::MoveLimit => None,
        }
    }

    /// The end of a game whose last position occurred for the fourth time; `None` if it occurred less often.
    fn by_repetition(seen: &PositionHistory, mover: Color) -> Option<Self> {
        Some(match seen.repetition(4)? {
            Repetition::Draw => Self::Repetition,
            Repetition::Win => Self::PerpetualCheck(mover),
            Repetition::Loss => Self::PerpetualCheck(!mover),
        })
    }
}

/// A game from the start position of an even game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game {
    /// The moves, in order.
    pub moves: Vec<Move>,
    /// Its end.
    pub end: End,
}

/// An endless sequence of random games.
///
/// ```
/// use kyokumen_shogi::random_play::RandomPlay;
/// let game = RandomPlay::new(1, 100).next().unwrap();
/// assert_eq!(RandomPlay::new(1, 100).next(), Some(game));
/// ```
#[derive(Clone, Debug)]
pub struct RandomPlay {
    random: SplitMix64,
    most_moves: usize,
}

impl RandomPlay {
    /// Games of at most `most_moves` moves.
    pub const fn new(seed: u64, most_moves: usize) -> Self {
        Self { random: SplitMix64::new(seed), most_moves }
    }

    fn game(&mut self) -> Game {
        let style = self.random.pick(&PlayStyle::ALL).expect("there is a play style");
        let mut position = Position::start();
        let mut seen = PositionHistory::default();
        let mut moves = Vec::new();
        loop {
            seen.push(&position);
            let end = End::by_repetition(&seen, position.side_to_move())
                .or((moves.len() >= self.most_moves).then_some(End::MoveLimit));
            let Some(m) = self.choose(&position, style) else {
                return Game { moves, end: End::Mate(!position.side_to_move()) };
            };
            if let Some(end) = end {
                return Game { moves, end };
            }
            position.make(m);
            moves.push(m);
        }
    }

    /// Chooses a legal move by a play style. `None` if there is no legal move.
    fn choose(&mut self, position: &Position, style: PlayStyle) -> Option<Move> {
        // Sorted, so that the choice does not depend on the order of the generator.
        let mut moves = position.legal_moves();
        moves.sort_unstable();
        let likes = self.random.below(4) != 0;
        if likes && style.likes_checks {
            let mut checks = position.checks();
            checks.sort_unstable();
            if position.mate_in_one().is_some() {
                return checks.into_iter().find(|&m| mates(position, m));
            }
            if let Some(check) = self.random.pick(&checks) {
                return Some(check);
            }
        }
        if likes && style.likes_captures {
            let is_capture = |&m: &Move| position.captured_by(m).is_some();
            let captures: Vec<Move> = moves.iter().copied().filter(is_capture).collect();
            if let Some(capture) = self.random.pick(&captures) {
                return Some(capture);
            }
        }
        self.random.pick(&moves)
    }
}

impl Iterator for RandomPlay {
    type Item = Game;

    fn next(&mut self) -> Option<Game> {
        Some(self.game())
    }
}

fn mates(position: &Position, m: Move) -> bool {
    let mut child = position.clone();
    child.make(m);
    child.is_checkmate()
}

/// The moves that both sides prefer throughout a game, three times out of four. Games without a preference have few
/// pieces in hand and hardly any mates. Games with the other styles have many of both.
#[derive(Clone, Copy, Debug)]
struct PlayStyle {
    likes_checks: bool,
    likes_captures: bool,
}

impl PlayStyle {
    const ALL: [Self; 4] = [
        Self { likes_checks: false, likes_captures: false },
        Self { likes_checks: false, likes_captures: true },
        Self { likes_checks: true, likes_captures: false },
        Self { likes_checks: true, likes_captures: true },
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_legal_and_end_as_recorded() {
        let mut ends = [0; 4];
        for game in RandomPlay::new(7, 200).take(60) {
            let mut position = Position::start();
            for &m in &game.moves {
                assert!(position.is_legal(m), "{m} in {position}");
                position.make(m);
            }
            match game.end {
                End::Mate(winner) => {
                    assert!(!position.has_legal_move(), "{position}");
                    assert_eq!(position.side_to_move(), !winner);
                    ends[0] += 1;
                }
                End::PerpetualCheck(_) => ends[1] += 1,
                End::Repetition => ends[2] += 1,
                End::MoveLimit => {
                    assert_eq!(game.moves.len(), 200);
                    ends[3] += 1;
                }
            }
        }
        assert!(ends[0] > 10 && ends[3] > 5, "{ends:?}");
    }

    fn end_of(sfen: &str, cycle: &str) -> Vec<Option<End>> {
        let mut position: Position = sfen.parse().expect("a legal position");
        let mut seen = PositionHistory::default();
        seen.push(&position);
        let mut ends = vec![End::by_repetition(&seen, position.side_to_move())];
        for m in cycle.split(' ').cycle().take(12) {
            let m = Move::from_usi(m).expect(m);
            assert!(position.is_legal(m), "{m} in {position}");
            position.make(m);
            seen.push(&position);
            ends.push(End::by_repetition(&seen, position.side_to_move()));
        }
        ends
    }

    #[test]
    fn the_fourth_occurrence_is_a_draw_unless_one_side_gave_check_throughout() {
        let shuffle = end_of("4k4/9/9/9/9/9/9/9/R3K4 b - 1", "9i8i 5a4a 8i9i 4a5a");
        assert_eq!(shuffle[12], Some(End::Repetition));
        assert_eq!(shuffle[..12], [None; 12]);
        // The rook checks along two ranks, and the king moves back and forth. Either side may be to move.
        let perpetual = end_of("4k4/R8/9/9/9/9/9/9/4K4 b - 1", "9b9a 5a5b 9a9b 5b5a");
        assert_eq!(perpetual[12], Some(End::PerpetualCheck(Color::White)));
        let checked = end_of("R3k4/9/9/9/9/9/9/9/4K4 w - 1", "5a5b 9a9b 5b5a 9b9a");
        assert_eq!(checked[12], Some(End::PerpetualCheck(Color::White)));
    }
}
