//! The search tree of one position. Simulations walk down the tree, and their values are backed up.

use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::{Move, Position, PositionHistory, Repetition};

use crate::gumbel::{GumbelResult, GumbelSearch};
use crate::leaf_search::LeafSearch;
use crate::node::{Nodes, State};
use crate::noise::{raised, with_dirichlet};
use crate::puct::{Choice, Chosen, choose, choose_with_noise};
use crate::settings::{MctsSettings, RootNoise};

/// Number of the root node.
pub(crate) const ROOT: u32 = 0;

/// A search of one position.
///
/// Values are probabilities that a side wins. A proven position (mate or declaration) is not visited again, and its
/// proof is backed up to the nodes above.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) nodes: Nodes,
    pub(crate) settings: MctsSettings,
    root: Position,
    /// The positions of the game up to the root.
    history: PositionHistory,
    game_len: usize,
    noise_seed: u64,
    /// Whether there is noise at the root, if the settings have some.
    has_noise: bool,
    /// The probabilities of all moves of the root with Dirichlet noise, sorted by move.
    dirichlet: Vec<(Move, f32)>,
    /// Number of simulations of a search by Gumbel scores.
    planned: u32,
    /// The search by Gumbel scores, after the root has been evaluated.
    gumbel: Option<GumbelSearch>,
    /// Number of calls of [`Self::simulate`] in this search, collisions included. It selects the noise.
    simulations: u64,
    /// For each child of the root: the number of visits caused only by noise. Trailing zeros are omitted.
    pub(crate) noise_visits: Vec<u32>,
}

/// The end of a simulation that waits for an evaluation. Its memory is reused by the next simulation.
#[derive(Clone, Debug)]
pub struct Leaf {
    position: Position,
    moves: Vec<Move>,
    node: u32,
    /// The nodes on the path, and the index of the child taken at each.
    path: Vec<(u32, u16)>,
    /// Whether the simulation would have taken another move at the root without noise.
    by_noise: bool,
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            position: Position::start(),
            moves: Vec::new(),
            node: ROOT,
            path: Vec::new(),
            by_noise: false,
        }
    }
}

impl Leaf {
    /// The position to evaluate.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Its legal moves, sorted by code. [`Tree::expand`] expects probabilities in this order.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }
}

/// The end of a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Simulation {
    /// A new position, which waits for an evaluation.
    Leaf,
    /// A position whose value is known by the rules or a proof. The simulation counts.
    Known,
    /// A position that already waits for an evaluation. The simulation does not count.
    Collision,
    /// There was no simulation, because the root is proven.
    Proven,
}

impl Tree {
    /// Creates the tree of the last position of a game.
    ///
    /// `noise_seed` determines the noise at the root.
    ///
    /// # Panics
    ///
    /// If the history is empty. It must end with `root`, but this is not checked.
    pub fn new(
        settings: MctsSettings,
        root: Position,
        history: PositionHistory,
        noise_seed: u64,
    ) -> Self {
        let game_len = history.len();
        let mut tree = Self {
            nodes: Nodes::default(),
            settings,
            root,
            history,
            game_len,
            noise_seed,
            has_noise: true,
            dirichlet: Vec::new(),
            planned: 0,
            gumbel: None,
            simulations: 0,
            noise_visits: Vec::new(),
        };
        tree.reset();
        tree
    }

    /// Makes a move in the game and starts a new search in the same memory.
    pub fn restart(&mut self, m: Move, noise_seed: u64) {
        self.root.make(m);
        self.history.push(&self.root);
        self.game_len = self.history.len();
        self.noise_seed = noise_seed;
        self.has_noise = true;
        self.reset();
    }

    /// Searches this position without noise at the root. Must be called before the first simulation.
    pub const fn disable_noise(&mut self) {
        self.has_noise = false;
    }

    /// Plans a number of simulations for this position, which a search by Gumbel scores needs. Must be called before
    /// the first simulation.
    pub const fn plan(&mut self, simulations: u32) {
        self.planned = simulations;
    }

    /// The result of a search by Gumbel scores. `None` for other searches, before the first simulation, or if all moves
    /// lose.
    pub fn gumbel_result(&self) -> Option<GumbelResult> {
        self.gumbel.as_ref()?.result(&self.nodes, ROOT)
    }

    fn reset(&mut self) {
        assert!(self.game_len > 0, "the history contains the position to search");
        self.nodes.clear();
        self.noise_visits.clear();
        self.dirichlet.clear();
        self.gumbel = None;
        self.simulations = 0;
        let state = if !self.root.has_legal_move() {
            State::Lost
        } else if self.root.can_declare() {
            State::Won
        } else {
            State::Waiting
        };
        self.nodes.add(state, 0.0);
    }

    /// The position at the root.
    pub const fn position(&self) -> &Position {
        &self.root
    }

    /// The game up to the root.
    pub const fn history(&self) -> &PositionHistory {
        &self.history
    }

    /// The settings of the search.
    pub const fn settings(&self) -> &MctsSettings {
        &self.settings
    }

    /// Number of positions in the tree.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Walks down the tree to a position that is not in it.
    ///
    /// After [`Simulation::Leaf`], call [`Self::expand`] or [`Self::discard`] with `leaf` exactly once before the tree
    /// is restarted. Several leaves of one tree may wait at a time.
    pub fn simulate(&mut self, leaf: &mut Leaf, mates: &mut LeafSearch) -> Simulation {
        leaf.path.clear();
        leaf.node = ROOT;
        leaf.by_noise = false;
        let result = match self.nodes.get(ROOT).state {
            State::Won | State::Lost | State::Repeated => Simulation::Proven,
            State::Waiting if self.simulations > 0 => Simulation::Collision,
            State::Waiting => {
                leaf.position.clone_from(&self.root);
                leaf.moves.clear();
                self.root.push_legal_moves(&mut leaf.moves);
                leaf.moves.sort_unstable();
                Simulation::Leaf
            }
            State::Open => self.descend(leaf, mates),
        };
        self.simulations += 1;
        result
    }

    fn descend(&mut self, leaf: &mut Leaf, mates: &mut LeafSearch) -> Simulation {
        leaf.position.clone_from(&self.root);
        loop {
            let node = leaf.node;
            let child_index = self.select(leaf);
            let child = self.nodes.child_mut(node, child_index);
            let (is_new, prior) = (child.visits == 0, child.prior);
            child.visits += 1;
            leaf.node = child.node;
            leaf.position.make(child.m);
            let parent = self.nodes.get_mut(node);
            parent.visits += 1;
            parent.selected_prior += prior;
            leaf.path.push((node, child_index));
            self.history.push(&leaf.position);
            let state =
                if is_new { self.enter(leaf, mates) } else { self.nodes.get(leaf.node).state };
            let end = match state {
                State::Open => continue,
                State::Waiting if is_new => Simulation::Leaf,
                State::Waiting => {
                    self.discard(leaf);
                    Simulation::Collision
                }
                State::Won | State::Lost | State::Repeated => {
                    let value = self.nodes.get(leaf.node).value;
                    self.back_up(leaf, value);
                    Simulation::Known
                }
            };
            self.history.truncate(self.game_len);
            return end;
        }
    }

    /// Chooses a move of the leaf's node, and makes a child of it if necessary. Returns the index of the child.
    fn select(&mut self, leaf: &mut Leaf) -> u16 {
        let node = leaf.node;
        let choice = self.choose(node).expect("an open node has a move that is not proven to lose");
        let child_index = match choice.chosen {
            Chosen::Child(child_index) => child_index,
            Chosen::Unvisited(i) => {
                let child = self.nodes.add(State::Waiting, 0.0);
                self.nodes.add_child(node, i, child)
            }
        };
        if choice.by_noise {
            leaf.by_noise = true;
            let place = usize::from(child_index);
            if self.noise_visits.len() <= place {
                self.noise_visits.resize(place + 1, 0);
            }
            self.noise_visits[place] += 1;
        }
        child_index
    }

    fn choose(&self, node: u32) -> Option<Choice> {
        let puct = &self.settings.puct;
        if node == ROOT {
            if let Some(gumbel) = &self.gumbel {
                let chosen = gumbel.choose(&self.nodes, ROOT)?;
                return Some(Choice { chosen, by_noise: false });
            }
            match puct.root_noise {
                RootNoise::PerMille(n) if n > 0 && self.has_noise => {
                    let bits = SplitMix64::nth_bits(self.noise_seed, self.simulations);
                    let noisy = |m, prior| raised(n, bits, m, prior);
                    return choose_with_noise(puct, &self.nodes, ROOT, noisy);
                }
                RootNoise::Dirichlet(_) if self.has_noise => {
                    let noisy = |m, prior| {
                        let found = self.dirichlet.binary_search_by_key(&m, |&(m, _)| m);
                        found.map_or(prior, |place| self.dirichlet[place].1)
                    };
                    return choose_with_noise(puct, &self.nodes, ROOT, noisy);
                }
                _ => {}
            }
        }
        let chosen = choose(puct, &self.nodes, node, node == ROOT)?;
        Some(Choice { chosen, by_noise: false })
    }

    /// Draws the random numbers of the root, whose evaluation is known.
    fn draw_noise(&mut self, moves: &[Move], policy: &[f32]) {
        let seed = self.has_noise.then_some(self.noise_seed);
        if let Some(settings) = self.settings.gumbel {
            self.gumbel = Some(GumbelSearch::new(settings, seed, moves.len(), self.planned));
        } else if let (RootNoise::Dirichlet(noise), Some(seed)) =
            (self.settings.puct.root_noise, seed)
        {
            let noisy = with_dirichlet(noise, seed, policy);
            self.dirichlet = moves.iter().copied().zip(noisy).collect();
        }
    }

    /// Decides a new position by the rules or by a mate search, if possible.
    fn enter(&mut self, leaf: &mut Leaf, mates: &mut LeafSearch) -> State {
        let (state, value) = match self.repetition_value() {
            Some(value) => (State::Repeated, value),
            None => self.decide(leaf, mates),
        };
        let node = self.nodes.get_mut(leaf.node);
        node.state = state;
        node.value = value;
        state
    }

    /// The value of a repeated position for the side to move; `None` if it is not a repetition. In the tree the second
    /// occurrence counts. A position that differs from an earlier one only by more or fewer pieces in hand is won or
    /// lost.
    fn repetition_value(&self) -> Option<f32> {
        if let Some(repetition) = self.history.repetition(2) {
            return Some(match repetition {
                Repetition::Draw => self.settings.draw_value,
                Repetition::Win => 1.0,
                Repetition::Loss => 0.0,
            });
        }
        self.history.has_gained().map(|gained| if gained { 1.0 } else { 0.0 })
    }

    fn decide(&self, leaf: &mut Leaf, mates: &mut LeafSearch) -> (State, f32) {
        leaf.moves.clear();
        leaf.position.push_legal_moves(&mut leaf.moves);
        // Sorted, so that no bit of a sum depends on the order of the generator.
        leaf.moves.sort_unstable();
        if leaf.moves.is_empty() {
            return (State::Lost, 0.0);
        }
        if leaf.position.can_declare() || mates.mates(&leaf.position, self.settings.leaf_mate) {
            return (State::Won, 1.0);
        }
        (State::Waiting, 0.0)
    }

    /// Adds the evaluation of a leaf: the probabilities of its moves, and the probability that its side to move wins.
    ///
    /// # Panics
    ///
    /// If the number of probabilities is not the number of moves.
    pub fn expand(&mut self, leaf: &Leaf, policy: &[f32], value: f32) {
        assert_eq!(
            policy.len(),
            leaf.moves.len(),
            "expected one probability for each move of the leaf"
        );
        self.nodes.open(leaf.node, &leaf.moves, policy);
        if leaf.path.is_empty() {
            self.draw_noise(&leaf.moves, policy);
        }
        self.nodes.get_mut(leaf.node).value = value;
        self.back_up(leaf, value);
    }

    /// Removes a leaf as if its simulation had not taken place.
    pub fn discard(&mut self, leaf: &Leaf) {
        if leaf.path.is_empty() {
            self.simulations = 0;
        }
        for &(node, child_index) in &leaf.path {
            let child = self.nodes.child_mut(node, child_index);
            child.visits -= 1;
            let prior = child.prior;
            let parent = self.nodes.get_mut(node);
            parent.visits -= 1;
            parent.selected_prior = (parent.selected_prior - prior).max(0.0);
        }
        if let (true, Some(&(_, child_index))) = (leaf.by_noise, leaf.path.first()) {
            self.noise_visits[usize::from(child_index)] -= 1;
        }
    }

    /// Adds a value to all moves on the path to a leaf, and backs up a proof.
    fn back_up(&mut self, leaf: &Leaf, value: f32) {
        let mut value = f64::from(value);
        let mut below = self.nodes.get(leaf.node).state;
        for &(node, child_index) in leaf.path.iter().rev() {
            let above = match below {
                State::Lost => State::Won,
                State::Won => self.mark_losing_move(node, child_index),
                _ => self.nodes.get(node).state,
            };
            value = match above {
                State::Won => 1.0,
                State::Lost => 0.0,
                _ => 1.0 - value,
            };
            self.nodes.child_mut(node, child_index).value_sum += value;
            let node = self.nodes.get_mut(node);
            node.state = above;
            node.value_sum += value;
            below = above;
        }
    }

    /// Marks the move to a child whose side to move wins: the move loses. Returns the new state of the parent.
    fn mark_losing_move(&mut self, node: u32, child_index: u16) -> State {
        self.nodes.child_mut(node, child_index).loses = true;
        let all_visited = self.nodes.get(node).visited == self.nodes.get(node).moves;
        if all_visited && self.nodes.children(node).iter().all(|child| child.loses) {
            State::Lost
        } else {
            self.nodes.get(node).state
        }
    }
}
