//! Kinds of alternatives that can be recognised without a search.

use kyokumen_shogi::{HandKind, Move, PieceKind, Position, Square};

use super::findings::AlternativeKind;

/// The kind of an alternative that mates in as many plies as the solution. `None` if it is not one of the kinds that
/// can be recognised on the board.
pub(super) fn kind_on_board(
    position: &Position,
    solution: Move,
    other: Move,
) -> Option<AlternativeKind> {
    if differs_by_promotion(solution, other) {
        Some(AlternativeKind::Promotion)
    } else if differs_by_distance(position, solution, other) {
        Some(AlternativeKind::Distance)
    } else if solution.mirrored() == other && position.setup().mirrored() == position.setup() {
        Some(AlternativeKind::Mirror)
    } else {
        None
    }
}

fn differs_by_promotion(a: Move, b: Move) -> bool {
    a.from().is_some() && a.from() == b.from() && a.to() == b.to()
}

/// Whether both moves bring the same ranged piece to the same line to the king, with the same promotion.
fn differs_by_distance(position: &Position, a: Move, b: Move) -> bool {
    let Some(king) = position.king(!position.side_to_move()) else { return false };
    let is_same_piece = a.from() == b.from() && a.dropped() == b.dropped();
    let is_ranged = match (a.from(), a.dropped()) {
        (Some(from), _) => position.piece_on(from).is_some_and(|piece| {
            use PieceKind::{Bishop, Dragon, Horse, Lance, Rook};
            matches!(piece.kind, Lance | Bishop | Rook | Horse | Dragon)
        }),
        (None, Some(kind)) => matches!(kind, HandKind::Lance | HandKind::Bishop | HandKind::Rook),
        (None, None) => false,
    };
    let direction = direction(king, a.to());
    is_same_piece
        && is_ranged
        && a.is_promotion() == b.is_promotion()
        && direction.is_some()
        && direction == self::direction(king, b.to())
}

/// The direction from one square to another along a rank, file or diagonal; `None` if they are not on a line.
fn direction(from: Square, to: Square) -> Option<(i8, i8)> {
    let difference = |a: u8, b: u8| i8::try_from(b).ok()?.checked_sub(i8::try_from(a).ok()?);
    let files = difference(from.file(), to.file())?;
    let ranks = difference(from.rank(), to.rank())?;
    let is_line = files == 0 || ranks == 0 || files.abs() == ranks.abs();
    (is_line && (files, ranks) != (0, 0)).then_some((files.signum(), ranks.signum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(sfen: &str, solution: &str, other: &str) -> Option<AlternativeKind> {
        let position: Position = sfen.parse().unwrap();
        let [solution, other] = [solution, other].map(|m| Move::from_usi(m).unwrap());
        assert!(position.checks().contains(&solution) && position.checks().contains(&other));
        kind_on_board(&position, solution, other)
    }

    #[test]
    fn kinds_are_recognised_on_the_board() {
        use AlternativeKind::{Distance, Mirror, Promotion};
        let drops = "4k4/9/9/9/9/9/9/9/9 b RGLr2b3g4s4n3l18p 1";
        assert_eq!(kind(drops, "R*5c", "R*5i"), Some(Distance));
        assert_eq!(kind(drops, "R*6a", "R*9a"), Some(Distance));
        // Another line, another side, another piece.
        assert_eq!(kind(drops, "R*5c", "R*6a"), None);
        assert_eq!(kind(drops, "R*5c", "L*5c"), None);
        assert_eq!(kind(drops, "R*6a", "R*4a"), Some(Mirror));
        assert_eq!(kind(drops, "G*6b", "G*4b"), Some(Mirror));
        let rook = "4k4/9/9/9/R8/9/9/9/9 b r2b4g4s4n4l18p 1";
        assert_eq!(kind(rook, "9e9a+", "9e9a"), Some(Promotion));
        assert_eq!(kind(rook, "9e5e", "9e9a"), None);
        let golds = "4k4/9/9/9/9/9/9/9/P8 b Gr2br3g4s4n4l17p 1";
        assert_eq!(kind(golds, "G*6b", "G*4b"), None);
    }
}
