//! `kyokumen usi --model`: an engine that plays, by tree search with a network.

mod clock;
mod info;
mod options;
mod player;
mod thinker;

use std::io;

use anyhow::Context;

use super::args::UsiArgs;
use super::line::lines_of_stdin;
use crate::cli::exit::{ExitStatus, Interrupted};
use crate::cli::option::positive;
use crate::selfplay::evaluators::Model;
use crate::storage::platform::Interrupt;
use player::Player;
use thinker::Networks;

/// Positions of a batch unless something else is asked for: a processor gains nothing by more.
const BATCH: usize = 8;

/// dlshogi's in games.
const POLICY_TEMPERATURE: f32 = 1.74;

pub(super) fn run(args: &UsiArgs) -> anyhow::Result<ExitStatus> {
    let policy_temperature = args.policy_temperature.unwrap_or(POLICY_TEMPERATURE);
    let policy_temperature = positive("--policy-temperature", policy_temperature)?;
    let networks = Networks {
        models: Model::of_devices(&args.model, args.threads.unwrap_or(1)),
        policy_temperature,
        batch: args.batch.unwrap_or(BATCH),
    };
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let lines = lines_of_stdin()?;
    Player::new(io::stdout(), networks, interrupt.cancel())?.run(&lines)?;
    match interrupt.signal() {
        Some(signal) => Err(Interrupted { signal, what: "interrupted".to_owned() }.into()),
        None => Ok(ExitStatus::Done),
    }
}
