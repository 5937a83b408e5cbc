//! Checks of players: which ones never lose, and which ones always play a best move.
//!
//! The numbers of calls and positions come from article 112 of 「Pythonで〇×ゲームのAIを一から作成する」 (Qiita).

use kyokumen::marubatsu::check::{Method, PositionScope, strongly_solved, weakly_solved};
use kyokumen::marubatsu::{Mark, Player, Solution};

/// Calls with ○ and with ×, and whether the player never loses.
fn calls(player: Player, method: Method) -> ([u64; 2], bool) {
    let solution = Solution::new();
    let checked = Mark::ALL.map(|side| weakly_solved(player, side, method, &solution));
    (checked.map(|side| side.calls), checked.iter().all(|side| side.never_loses))
}

#[test]
fn numbers_of_calls_match_the_article() {
    use Method::{Plain, Pruned, Visited};
    assert_eq!(calls(Player::Ai2, Plain), ([549_946, 549_946], false));
    assert_eq!(calls(Player::Ai2, Pruned), ([50, 8], false));
    assert_eq!(calls(Player::Ai2, Visited), ([37, 8], false));
    assert_eq!(calls(Player::Ai14s, Plain), ([482, 2_762], true));
    assert_eq!(calls(Player::Ai14s, Pruned), ([482, 2_762], true));
    assert_eq!(calls(Player::Ai14s, Visited), ([372, 994], true));
    assert_eq!(calls(Player::AiGt6, Plain).0.iter().sum::<u64>(), 92_128);
    assert_eq!(calls(Player::AiGt6, Pruned), calls(Player::AiGt6, Plain));
    assert_eq!(calls(Player::AiGt6, Visited).0.iter().sum::<u64>(), 5_700);
    assert!(Method::ALL.into_iter().all(|method| calls(Player::AiGt6, method).1));
    assert!(!Method::ALL.into_iter().any(|method| calls(Player::Ai1, method).1));
}

fn right(player: Player, positions: PositionScope) -> (usize, usize) {
    let strongly = strongly_solved(player, positions, &Solution::new());
    assert_eq!(strongly.right + strongly.wrong.len(), strongly.positions);
    (strongly.right, strongly.positions)
}

#[test]
fn numbers_of_right_positions_match_the_article() {
    assert_eq!(right(Player::Ai14s, PositionScope::UpToSymmetry), (424, 431));
    assert_eq!(right(Player::Ai14s, PositionScope::All), (3_139, 3_191));
    assert_eq!(right(Player::AiGt6, PositionScope::UpToSymmetry), (431, 431));
    assert_eq!(right(Player::AiGt6, PositionScope::All), (3_191, 3_191));
    assert_eq!(right(Player::Ai2, PositionScope::All), (0, 3_191));
}

#[test]
fn ai14s_plays_seven_positions_wrongly() {
    let strongly = strongly_solved(Player::Ai14s, PositionScope::UpToSymmetry, &Solution::new());
    let mut boards: Vec<String> =
        strongly.wrong.iter().map(|wrong| wrong.board.to_string()).collect();
    boards.sort_unstable();
    assert_eq!(
        boards,
        [
            ".../.../o.x",
            ".../.../oox",
            ".../..o/x..",
            ".../..o/xo.",
            ".../o.x/.o.",
            "..o/o../..x",
            "..x/o../.o."
        ]
    );
}
