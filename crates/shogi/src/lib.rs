#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Position`] generates legal moves ([`movegen`]) and makes them. [`Setup`] is the result of decoding a position.
//! [`sfen`] reads and writes text. Squares, kinds and notation follow the USI protocol. Where a piece may promote or
//! not, both moves are generated. Drop-pawn mate and a second pawn on a file are illegal. [`Bitboard`] and [`attacks`]
//! are the building blocks.

pub mod attacks;
mod bitboard;
pub mod byte_board;
mod check_squares;
mod cover;
mod declaration;
pub mod diagram;
mod hand;
mod mate;
mod mate_one;
mod move_set;
pub mod movegen;
mod moves;
pub mod perft;
mod piece;
pub mod plain;
mod position;
pub mod random_play;
mod repetition;
mod setup;
pub mod sfen;
mod square;
pub mod svg;
mod zobrist;

pub use bitboard::Bitboard;
pub use byte_board::{Board, ByteBoard};
pub use declaration::EnteringKing;
pub use hand::Hand;
pub use mate::Mate;
pub use moves::Move;
pub use piece::{Color, HandKind, Piece, PieceKind};
pub use position::{Position, PositionError, Undo};
pub use repetition::{PositionHistory, Repetition};
pub use setup::{Setup, SetupError, SetupWarning};
pub use square::Square;
