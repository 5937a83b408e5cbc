//! Marubatsu (○×, tic-tac-toe): three in a row on a board of three by three.
//!
//! A game small enough to be known completely: what the `search` room claims about games in general is
//! checked here against the whole truth. The figures of its tree are those of the article series
//! 「Pythonで〇×ゲームのAIを一から作成する」 (Qiita, 2023–2025).

mod board;
mod contest;

pub use board::{Board, Mark, ParseBoardError, Square, Status};
pub use contest::{Contest, Goal};
