//! Time management: the deadline of a move.

use std::time::{Duration, Instant};

use crate::cli::usi::command::GoLimits;
use crate::shogi::Color;

/// Number of moves that the remaining time is divided among.
const MOVES_TO_GO: u32 = 30;

/// Minimum time spent on a move.
const LEAST: Duration = Duration::from_millis(10);

/// Returns the end of a search that starts `now`. `None` without time limits. `margin` is the time lost between engine
/// and clock.
pub(super) fn deadline(
    limits: &GoLimits,
    mover: Color,
    margin: Duration,
    now: Instant,
) -> Option<Instant> {
    let keep = |time: Duration| time.saturating_sub(margin).max(time / 10).max(LEAST);
    if let Some(move_time) = limits.move_time {
        return now.checked_add(keep(move_time));
    }
    let side = usize::from(mover == Color::White);
    let remaining = limits.remaining[side];
    if remaining.is_none() && limits.byoyomi.is_zero() {
        return None;
    }
    let remaining = remaining.unwrap_or_default();
    let available = remaining.saturating_add(limits.byoyomi);
    let wanted = (remaining / MOVES_TO_GO)
        .saturating_add(limits.byoyomi)
        .saturating_add(limits.increments[side] / 5 * 4);
    now.checked_add(keep(wanted).min(keep(available)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_uses_part_of_the_available_time() {
        let now = Instant::now();
        let ms = Duration::from_millis;
        let spent = |limits: GoLimits| {
            deadline(&limits, Color::White, ms(200), now).map(|at| at.duration_since(now))
        };
        let none = GoLimits::default();
        assert_eq!(spent(none), None);
        assert_eq!(spent(GoLimits { move_time: Some(ms(1000)), ..none }), Some(ms(800)));
        assert_eq!(spent(GoLimits { byoyomi: ms(5000), ..none }), Some(ms(4800)));
        let white = |remaining| GoLimits { remaining: [None, Some(ms(remaining))], ..none };
        assert_eq!(spent(white(60_000)), Some(ms(1800)));
        assert_eq!(
            spent(GoLimits { increments: [ms(0), ms(1000)], ..white(60_000) }),
            Some(ms(2600))
        );
        assert_eq!(spent(GoLimits { increments: [ms(0), ms(1000)], ..white(300) }), Some(ms(100)));
        assert_eq!(spent(white(0)), Some(LEAST));
        assert_eq!(spent(GoLimits { remaining: [Some(ms(9)), None], ..none }), None);
    }
}
