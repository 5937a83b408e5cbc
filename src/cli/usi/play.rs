//! `kyokumen usi --model`: an engine that plays, by tree search with a network.

mod clock;
mod info;
mod options;
mod player;
mod thinker;

use super::args::UsiArgs;
use crate::cli::option::positive;
use crate::selfplay::evaluators::Model;
use player::NetworkPlayer;
use thinker::Networks;

/// Default of `--batch`, in positions: a CPU gains nothing from more.
const BATCH: usize = 8;

/// dlshogi's value in games.
const POLICY_TEMPERATURE: f32 = 1.74;

pub(super) fn player(args: &UsiArgs) -> anyhow::Result<NetworkPlayer> {
    let policy_temperature = args.policy_temperature.unwrap_or(POLICY_TEMPERATURE);
    let policy_temperature = positive("--policy-temperature", policy_temperature)?;
    let networks = Networks {
        models: Model::of_devices(&args.model, args.threads.unwrap_or(1)),
        policy_temperature,
        batch: args.batch.unwrap_or(BATCH),
    };
    Ok(NetworkPlayer::new(networks)?)
}
