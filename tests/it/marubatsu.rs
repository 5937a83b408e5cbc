//! Marubatsu: the figures of the articles, and the generic search against the whole truth.

mod checks;
mod commands;
mod dfpn;
mod games;
mod searches;
mod trees;
