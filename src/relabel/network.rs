//! Evaluates positions by a network, or by a search with a network.

use std::sync::atomic::{AtomicBool, Ordering};

use kyokumen_mcts::{
    Leaf, LeafSearch, MateLimits, MctsSettings, Puct, RootNoise, Simulation, Tree,
};
use kyokumen_network::{Batch, Evaluator, NetworkError, is_reproducible};
use kyokumen_selfplay::{best_value, candidates};
use serde_json::{Map, Value, json};

use super::evaluator::{Evaluated, PositionEvaluator, Score};
use crate::error::Error;
use crate::format::SearchedMoves;
use crate::jobs::plan_identity::as_written;
use crate::selfplay::evaluators::Model;
use crate::shogi::{Position, PositionHistory};

/// A network and how to evaluate positions with it.
#[derive(Clone, PartialEq, Debug)]
pub struct NetworkSettings {
    /// The network. Threads take turns with the runtimes, if there are several.
    pub models: Vec<Model>,
    /// Temperature of the policy: its logits are divided by this.
    pub policy_temperature: f32,
    /// Number of positions to evaluate together.
    pub batch: usize,
    /// Simulations per position. 0: use the value of the network without a search.
    pub playouts: u32,
    /// Limits of the mate search in each position. 0 nodes: no mate search.
    pub root_mate: MateLimits,
    /// Limits of the mate search in each position of the tree.
    pub leaf_mate: MateLimits,
    /// Size of the mate search table of a thread, in MiB.
    pub mate_table_mib: usize,
}

impl NetworkSettings {
    /// Loads the network and returns its manifest entry. The entry includes whether the evaluations are bit-identical
    /// regardless of the place of a position in a batch. Returns soon after `cancel` is set.
    ///
    /// # Errors
    /// [`Error`] if the network cannot be loaded or evaluated.
    pub fn entry(&self, cancel: &AtomicBool) -> Result<Map<String, Value>, Error> {
        let mut entries = Vec::new();
        let mut reproducible = true;
        for model in &self.models {
            let entry = model.entry()?;
            if !entries.contains(&entry) {
                entries.push(entry);
            }
            let mut evaluator = model.load(self.policy_temperature, self.batch, cancel)?;
            reproducible &= is_reproducible(&mut *evaluator, self.batch, cancel)
                .map_err(|source| failed(model, source))?;
        }
        // Several entries are one network on different kinds of devices.
        let mut json = json!({
            "network": entries[0],
            "reproducible": reproducible,
            "playouts": self.playouts,
            "root-mate": self.root_mate,
            "mate-table-mib": self.mate_table_mib,
        });
        if entries.len() > 1 {
            json["networks"] = json!(entries);
        }
        if self.playouts > 0 {
            json["policy-temperature"] = as_written(&self.policy_temperature);
            json["search"] = as_written(&self.search());
        }
        let Value::Object(entry) = json else { unreachable!("the value is an object") };
        Ok(entry)
    }

    /// The search settings of self-play, without noise.
    const fn search(&self) -> MctsSettings {
        MctsSettings {
            puct: Puct { root_noise: RootNoise::None, ..Puct::DLSHOGI },
            gumbel: None,
            draw_value: 0.5,
            leaf_mate: self.leaf_mate,
            root_mate: self.root_mate,
        }
    }
}

fn failed(model: &Model, source: NetworkError) -> Error {
    if matches!(source, NetworkError::Cancelled) {
        return Error::evaluation_interrupted();
    }
    Error::evaluation(format!("the network {model} failed")).with_source(source)
}

/// Evaluates batches of positions with a network.
pub struct NetworkEvaluator {
    settings: NetworkSettings,
    model: Model,
    network: Box<dyn Evaluator>,
    batch: Batch,
    mates: LeafSearch,
}

impl NetworkEvaluator {
    /// Loads the network for a thread. Returns soon after `cancel` is set.
    ///
    /// # Errors
    /// [`Error`] if the network cannot be loaded or there is not enough memory.
    pub fn new(
        settings: NetworkSettings,
        thread: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let model = settings.models[thread % settings.models.len()].clone();
        let network = model.load(settings.policy_temperature, settings.batch, cancel)?;
        let batch = Batch::new(settings.batch, network.planes());
        let mates = LeafSearch::try_new(settings.mate_table_mib)?;
        Ok(Self { settings, model, network, batch, mates })
    }

    fn evaluate_batch(&mut self, cancel: &AtomicBool) -> Result<(), Error> {
        let result = self.network.evaluate(&mut self.batch, cancel);
        result.map_err(|source| failed(&self.model, source))
    }

    /// Evaluates at most a batch of positions by the values of the network, without a search.
    fn values(
        &mut self,
        positions: &[&Position],
        cancel: &AtomicBool,
    ) -> Result<Vec<Evaluated>, Error> {
        self.batch.clear();
        for position in positions {
            self.batch.push(position, &position.legal_moves());
        }
        self.evaluate_batch(cancel)?;
        let value = |slot| Evaluated {
            score: Score::Value(self.batch.value(slot)),
            searched: SearchedMoves::default(),
            rejected_move: None,
        };
        Ok((0..positions.len()).map(value).collect())
    }

    /// Searches at most a batch of positions. Each step runs one simulation per position.
    fn searches(
        &mut self,
        positions: &[&Position],
        cancel: &AtomicBool,
    ) -> Result<Vec<Evaluated>, Error> {
        let settings = self.settings.search();
        let mut searches: Vec<Search> =
            positions.iter().map(|position| Search::new(settings, position)).collect();
        loop {
            check(cancel)?;
            self.batch.clear();
            let mut waiting = Vec::with_capacity(searches.len());
            for search in &mut searches {
                if search.needs_evaluation(self.settings.playouts, &mut self.mates) {
                    self.batch.push(search.leaf.position(), search.leaf.moves());
                    waiting.push(search);
                }
            }
            if waiting.is_empty() {
                return Ok(searches.iter().map(Search::evaluated).collect());
            }
            self.evaluate_batch(cancel)?;
            for (slot, search) in waiting.into_iter().enumerate() {
                let (policy, value) = (self.batch.policy(slot), self.batch.value(slot));
                search.tree.expand(&search.leaf, policy, value);
            }
        }
    }

    /// The evaluation of a position whose mate the mate search proves. `None` if it finds no mate.
    fn mate(&mut self, position: &Position) -> Option<Evaluated> {
        let line = self.mates.mate_line(position, self.settings.root_mate)?;
        Some(Evaluated::mate(line.mover_wins, line.moves.len(), line.moves.first().copied()))
    }
}

impl PositionEvaluator for NetworkEvaluator {
    fn evaluate(
        &mut self,
        positions: &[Position],
        cancel: &AtomicBool,
    ) -> Result<Vec<Evaluated>, Error> {
        let mut all = Vec::with_capacity(positions.len());
        for position in positions {
            check(cancel)?;
            all.push(self.mate(position));
        }
        let open: Vec<usize> = (0..positions.len()).filter(|&i| all[i].is_none()).collect();
        for numbers in open.chunks(self.settings.batch) {
            check(cancel)?;
            let chunk: Vec<&Position> = numbers.iter().map(|&i| &positions[i]).collect();
            let evaluated = if self.settings.playouts == 0 {
                self.values(&chunk, cancel)?
            } else {
                self.searches(&chunk, cancel)?
            };
            for (&number, evaluated) in numbers.iter().zip(evaluated) {
                all[number] = Some(evaluated);
            }
        }
        Ok(all.into_iter().flatten().collect())
    }
}

fn check(cancel: &AtomicBool) -> Result<(), Error> {
    if cancel.load(Ordering::Relaxed) { Err(Error::evaluation_interrupted()) } else { Ok(()) }
}

struct Search {
    tree: Tree,
    leaf: Leaf,
}

impl Search {
    fn new(settings: MctsSettings, position: &Position) -> Self {
        let mut history = PositionHistory::default();
        history.push(position);
        let tree = Tree::new(settings, position.clone(), history, 0);
        Self { tree, leaf: Leaf::default() }
    }

    /// Simulates until a leaf needs an evaluation (returns true) or the search ends (returns false).
    fn needs_evaluation(&mut self, playouts: u32, mates: &mut LeafSearch) -> bool {
        while self.tree.visits() < playouts {
            match self.tree.simulate(&mut self.leaf, mates) {
                Simulation::Leaf => return true,
                Simulation::Known => {}
                Simulation::Proven | Simulation::Collision => return false,
            }
        }
        false
    }

    fn evaluated(&self) -> Evaluated {
        let root = self.tree.root();
        let best = root.best();
        let score = match root.proven {
            Some(wins) => Score::Mate { wins, plies: 0 },
            None => Score::Value(best.map_or(root.value, |best| best_value(&root, best))),
        };
        let (best_move, candidates) = (best.map(|best| best.m), candidates(&root));
        let searched = SearchedMoves { best_move, candidates };
        Evaluated { score, searched, rejected_move: None }
    }
}
