//! Records and games in every format.

mod csa;
mod damage;
mod edges;
mod games;
mod hcpe3;
mod kif;
mod kif_annotations;
mod literals;
mod random;
mod reader_writer;
mod real_games;
mod sbinpack;
