//! Tests of the library and of the programs, in one binary.

#![cfg(feature = "cli")]
#![allow(clippy::needless_raw_string_hashes, reason = "generated snapshots have them")]

mod archive;
mod children;
mod cli_snapshots;
mod convert;
mod csa_files;
mod damaged;
mod dataset;
mod dialects;
#[cfg(feature = "network")]
mod engine_games;
mod equal_positions;
mod faults;
mod file_names;
mod filter;
mod filter_command;
mod harness;
mod hostile_manifests;
mod inspect;
mod killed;
mod layers;
mod limits;
mod lying_tables;
mod marubatsu;
mod matrix;
mod messages;
mod names;
mod onnx_runtime;
mod options;
mod pages;
mod parquet;
mod paths;
mod plain_english;
mod position_files;
mod proof_properties;
mod proofs;
mod random_access;
mod rearrange;
mod record_limit;
mod relabel;
mod resume;
mod retry;
mod samples;
#[cfg(feature = "network")]
mod selfplay;
mod shards;
mod shortest;
mod signals;
mod solve;
mod solve_one;
mod source;
mod split_search;
mod stats;
mod text_records;
mod unnamed_formats;
mod usi;
#[cfg(feature = "network")]
mod usi_play;
mod verbose;
mod verify;
mod wrong_names;
mod xz;
