//! Marubatsu (tic-tac-toe): figures of published articles, and the generic search against the complete solution.

mod checks;
mod commands;
mod dfpn;
mod games;
mod searches;
mod trees;
