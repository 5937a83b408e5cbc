//! Records and games in every format.

mod byte_order_mark;
mod csa;
mod damage;
mod edges;
mod games;
mod hcpe3;
mod jkf;
mod kif;
mod kif_annotations;
mod kif_boundaries;
mod kif_damage;
mod literals;
mod random;
mod reader_writer;
mod real_games;
mod sbinpack;
