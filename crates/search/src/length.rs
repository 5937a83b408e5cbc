//! The measure of how long a proof really takes.
//!
//! The plies of a step are a bound only, since it was checked against a defender who may hold more than
//! he does. Here the positions that can really come about are measured: a question "within so many
//! plies?" is asked again and again with a few plies more (as in MTD: Plaat et al. 1996), and bounds answer most.
//!
//! Where futile defences do not count, an exchange takes no plies, and a way that comes back after it to where it
//! was before has cost the defender a piece and nothing else: the attacker need go no further (復元型の無駄合).
//! Such a success leans on the position that was come back to, and is remembered only as long as that one stays on
//! the way, as in Kishimoto and Müller (2004).

mod edges;

use std::rc::Rc;

use kyokumen_game::{Game, NodeKind};
use rustc_hash::FxHashMap;

use super::proof::ProofOf;

/// Positions that are measured; beyond, the bound of the check has to do.
const MAX_MEASURED: usize = 1 << 16;

/// Questions that are asked where ways may come back; beyond, lengths are measured as if none did.
const MAX_RETURNING: u64 = 1 << 20;

/// Plies of what has no end.
const NEVER: u16 = u16::MAX;

/// Where the proof has no move, as after a piece that was gained is given back, those that it has with more in hand
/// are tried, and within so many plies all others.
const MAX_OFF_PROOF: u16 = 3;

/// What counts as a ply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    /// Every move.
    All,
    /// All but futile defences with their replies.
    WithoutFutile,
    /// The same, and what lies between two times that a way comes to a position does not count either, if the attacker
    /// gained something meanwhile by an exchange.
    WithoutReturns,
}

/// What is known beyond the proof that is measured.
pub(super) struct Beyond<'a, G: Game> {
    /// Of a game in which the defender has fewer moves: its moves are tried, too, its plies are no bounds.
    pub(super) hints: &'a ProofOf<G>,
    /// Proofs that were found since.
    pub(super) found: Vec<ProofOf<G>>,
    /// Finds proofs of positions that have none.
    pub(super) prover: &'a mut dyn Prover<G>,
}

/// Finds the proofs of single positions.
pub(super) trait Prover<G: Game> {
    /// A proof of a position of the attacker that takes no more than so many plies, if it finds one.
    fn prove(&mut self, game: &mut G, plies: u16) -> Option<ProofOf<G>>;
}

/// The positions met, with what is known of their lengths.
pub(super) struct LengthMeasure<'a, G: Game> {
    proof: &'a ProofOf<G>,
    /// Where the proof ends.
    beyond: Option<Beyond<'a, G>>,
    counting: Counting,
    /// Boards and hands of the attacker: what the defender holds is the rest. Behind exchanges from where the way is to
    /// come back, positions are nodes of their own.
    ids: FxHashMap<(u64, G::Hand, bool), usize>,
    nodes: Vec<Node<G>>,
    /// Nothing was left unmeasured.
    is_whole: bool,
    /// Nodes from the root to the one that is asked about.
    path: Vec<usize>,
    /// Lengths of the path at the exchanges on it.
    exchanges: Vec<usize>,
    /// Nodes that were put on the path so far.
    entries: u64,
    /// Whether the way is to come back.
    is_returning: bool,
    /// Questions asked where it is.
    returning: u64,
}

struct Node<G: Game> {
    position: (u64, G::Hand),
    at_least: u16,
    at_most: u16,
    /// The attacker is to move, and the proof has no move for him.
    is_off_proof: bool,
    /// Off the proof: how many of the moves may take longer than [`MAX_OFF_PROOF`].
    guesses: usize,
    edges: Option<Vec<Edge<G::Move>>>,
    /// Where it stands on the path, and the number of its entry.
    on_path: Option<(usize, u64)>,
    /// Within how many plies it ends as long as these nodes stay on the path.
    leaning: Option<(u16, Leans)>,
}

/// Nodes on the path that a way comes back to, each with the number of its entry; mostly none.
type Leans = Vec<(usize, u64)>;

/// What is known of the question whether a node ends within some plies.
enum Known {
    Within(Leans),
    Beyond,
    Open,
}

/// A move and the position it leads to.
#[derive(Clone)]
struct Edge<M> {
    m: M,
    to: usize,
    /// Replies that make it futile, with where they lead if what was gained is given back; once asked for.
    futile: Option<Rc<[(M, usize)]>>,
}

impl<'a, G: Game> LengthMeasure<'a, G> {
    pub(super) fn new(
        proof: &'a ProofOf<G>,
        beyond: Option<Beyond<'a, G>>,
        counting: Counting,
    ) -> Self {
        Self {
            proof,
            beyond,
            counting,
            ids: FxHashMap::default(),
            nodes: Vec::new(),
            is_whole: true,
            path: Vec::new(),
            exchanges: Vec::new(),
            entries: 0,
            is_returning: false,
            returning: 0,
        }
    }

    /// The node of the position that is measured.
    pub(super) fn root(&mut self, game: &mut G) -> usize {
        self.node(game, NEVER)
    }

    /// The best moves on both sides, from this node to the end.
    pub(super) fn line(&mut self, game: &mut G, mut node: usize) -> Vec<G::Move> {
        let mut line = Vec::new();
        let mut undos = Vec::new();
        while let Some((m, to)) = self.next_of_line(game, node) {
            self.enter(node);
            undos.push((m, game.make(m)));
            line.push(m);
            node = to;
        }
        for (m, undo) in undos.into_iter().rev() {
            game.unmake(m, undo);
            self.leave();
        }
        line
    }

    /// Whether nothing was left unmeasured.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The first of the best moves, `None` at the end.
    fn next_of_line(&mut self, game: &mut G, node: usize) -> Option<(G::Move, usize)> {
        let plies = self.plies(game, node);
        let left = plies.checked_sub(1)?;
        self.expand(game, node);
        self.enter(node);
        let best = self.best_move(game, node, left);
        self.leave();
        // Only where there was no room to measure: the edges stand in the order of their bounds.
        best.or_else(|| self.edges(node).first().map(|edge| (edge.m, edge.to)))
    }

    fn best_move(&mut self, game: &mut G, node: usize, left: u16) -> Option<(G::Move, usize)> {
        let kind = game.node_kind();
        for index in 0..self.edges(node).len() {
            let (m, to) = self.edge(node, index);
            let is_best = match kind {
                NodeKind::Or => self.after(game, (m, to), left).is_some(),
                NodeKind::And => {
                    let is_late = left == 0 || self.after(game, (m, to), left - 1).is_none();
                    // What is longer than all there is does not count.
                    let counts =
                        self.counting == Counting::All || self.after(game, (m, to), left).is_some();
                    is_late && counts
                }
            };
            if is_best {
                return Some((m, to));
            }
        }
        None
    }

    /// The defences of this node that would lengthen its end if they counted.
    pub(super) fn futile_defences(&mut self, game: &mut G, root: usize) -> Vec<G::Move> {
        let plies = self.plies(game, root);
        self.expand(game, root);
        self.enter(root);
        let mut futile = Vec::new();
        for index in 0..self.edges(root).len() {
            let (m, to) = self.edge(root, index);
            if plies == 0 || self.after(game, (m, to), plies - 1).is_none() {
                futile.push(m);
            }
        }
        self.leave();
        futile
    }

    /// Plies to the end.
    pub(super) fn plies(&mut self, game: &mut G, node: usize) -> u16 {
        loop {
            let at_least = self.nodes[node].at_least;
            let is_over = at_least == NEVER || self.returning > MAX_RETURNING;
            if is_over || self.within(game, node, at_least).is_some() {
                return at_least;
            }
        }
    }

    /// Whether the end of the root comes within so many plies; asked with growing plies.
    pub(super) fn takes_at_most(&mut self, game: &mut G, root: usize, plies: u16) -> bool {
        self.returning <= MAX_RETURNING && self.within(game, root, plies).is_some()
    }

    /// Whether the end comes within so many plies, `game` standing at `node`, and what that leans on.
    fn within(&mut self, game: &mut G, node: usize, plies: u16) -> Option<Leans> {
        match self.known(node, plies) {
            Known::Within(leans) => return Some(leans),
            Known::Beyond => return None,
            Known::Open => {}
        }
        if self.nodes[node].edges.is_none() && self.nodes.len() >= MAX_MEASURED {
            self.is_whole = false;
            self.nodes[node].at_least = self.nodes[node].at_most;
            return None;
        }
        if self.is_without_guess(game, node) && plies > MAX_OFF_PROOF {
            let within = self.within(game, node, MAX_OFF_PROOF);
            if within.is_none() {
                if self.is_proven_since(game, node, plies) {
                    return Some(Leans::new());
                }
                self.nodes[node].at_least = if self.beyond.is_some() { plies + 1 } else { NEVER };
            }
            return within;
        }
        if self.is_returning {
            self.returning += 1;
            if self.returning > MAX_RETURNING {
                self.is_whole = false;
                return None;
            }
        }
        self.expand(game, node);
        self.enter(node);
        let longer = match game.node_kind() {
            NodeKind::Or => self.attacks_beyond(game, node, plies),
            NodeKind::And => self.defences_beyond(game, node, plies),
        };
        self.leave();
        match longer {
            Err(_) if self.is_proven_since(game, node, plies) => Some(Leans::new()),
            Err(at_least) => {
                self.nodes[node].at_least = at_least.max(plies + 1);
                None
            }
            Ok(mut leans) => {
                leans.retain(|&(on, _)| on != node);
                let known = &mut self.nodes[node];
                if leans.is_empty() {
                    known.at_most = plies;
                } else {
                    known.leaning = Some((plies, leans.clone()));
                }
                Some(leans)
            }
        }
    }

    /// Whether it is off the proof, which has no move for its board with more in hand either.
    fn is_without_guess(&mut self, game: &mut G, node: usize) -> bool {
        if !self.nodes[node].is_off_proof {
            return false;
        }
        self.expand(game, node);
        self.nodes[node].guesses == 0
    }

    /// Whether a proof is found, of no more than so many plies, of a node of the attacker that the hints have no move
    /// for.
    fn is_proven_since(&mut self, game: &mut G, node: usize, plies: u16) -> bool {
        let (key, hand) = self.nodes[node].position;
        let Some(beyond) = self.beyond.as_mut().filter(|_| !self.is_returning) else {
            return false;
        };
        if game.node_kind() == NodeKind::And || beyond.hints.steps(key, hand).next().is_some() {
            return false;
        }
        let Some(proof) = beyond.prover.prove(game, plies) else { return false };
        let Some(step) = proof.shortest_step(key, hand) else { return false };
        beyond.found.push(proof);
        let known = &mut self.nodes[node];
        (known.at_most, known.is_off_proof) = (step.plies, false);
        // A question about fewer plies may have ended without a proof for want of nodes.
        known.at_least = known.at_least.min(step.plies);
        // Where it stands higher on the path, too, its moves are being walked.
        if known.on_path.is_none() {
            known.edges = None;
        }
        true
    }

    /// What is known already of that question.
    fn known(&self, node: usize, plies: u16) -> Known {
        let known = &self.nodes[node];
        if known.at_most <= plies {
            return Known::Within(Leans::new());
        }
        let exchange = self.exchanges.last().copied().filter(|_| self.is_returning);
        if let Some(on) = exchange.and_then(|exchange| self.come_back_to(node, exchange)) {
            return Known::Within(vec![on]);
        }
        if known.at_least > plies {
            return Known::Beyond;
        }
        let Some((_, leans)) = known.leaning.as_ref().filter(|&&(within, _)| within <= plies)
        else {
            return Known::Open;
        };
        let holds = |&(on, entry): &(usize, u64)| {
            let is_before = |index| exchange.is_none_or(|exchange| index < exchange);
            self.nodes[on].on_path.is_some_and(|(index, now)| now == entry && is_before(index))
        };
        if leans.iter().all(holds) { Known::Within(leans.clone()) } else { Known::Open }
    }

    /// The place of a position on the path, if it stands there before an exchange.
    fn come_back_to(&self, node: usize, exchange: usize) -> Option<(usize, u64)> {
        let is_before = |on: usize| {
            let on_path = self.nodes[on].on_path.filter(|&(index, _)| index < exchange);
            on_path.map(|(_, entry)| (on, entry))
        };
        let (key, hand) = self.nodes[node].position;
        let before = self.ids.get(&(key, hand, false)).and_then(|&on| is_before(on));
        before.or_else(|| is_before(node))
    }

    fn enter(&mut self, node: usize) {
        self.entries += 1;
        // A node that is there twice is come back to at its first place.
        if self.nodes[node].on_path.is_none() {
            self.nodes[node].on_path = Some((self.path.len(), self.entries));
        }
        self.path.push(node);
    }

    fn leave(&mut self) {
        let Some(node) = self.path.pop() else { return };
        if self.nodes[node].on_path.is_some_and(|(index, _)| index == self.path.len()) {
            self.nodes[node].on_path = None;
        }
    }

    /// Whether the end comes within so many plies after a move.
    fn after(&mut self, game: &mut G, (m, to): (G::Move, usize), plies: u16) -> Option<Leans> {
        match self.known(to, plies) {
            Known::Within(leans) => return Some(leans),
            Known::Beyond => return None,
            Known::Open => {}
        }
        let undo = game.make(m);
        let within = self.within(game, to, plies);
        game.unmake(m, undo);
        within
    }

    /// What an OR node leans on to take no more than `plies`, or what it takes at least.
    fn attacks_beyond(&mut self, game: &mut G, node: usize, plies: u16) -> Result<Leans, u16> {
        let mut at_least = NEVER;
        for index in 0..self.edges(node).len() {
            let (m, to) = self.edge(node, index);
            let is_guess = index < self.nodes[node].guesses;
            if !is_guess && plies > MAX_OFF_PROOF {
                break;
            }
            if plies > 0
                && let Some(leans) = self.after(game, (m, to), plies - 1)
            {
                return Ok(leans);
            }
            at_least = at_least.min(self.at_least(to, plies).saturating_add(1));
        }
        Err(at_least)
    }

    /// What an AND node leans on to take no more than `plies`, or what it takes at least.
    fn defences_beyond(&mut self, game: &mut G, node: usize, plies: u16) -> Result<Leans, u16> {
        let mut leans = Leans::new();
        for index in 0..self.edges(node).len() {
            let (m, to) = self.edge(node, index);
            let mut found = match plies.checked_sub(1).map(|left| self.known(to, left)) {
                Some(Known::Within(leans)) => Ok(leans),
                _ => Err(NEVER),
            };
            // Asked first, since what follows on an exchange may come back at once.
            if found.is_err() && self.counting != Counting::All {
                found = self.futile_beyond(game, (node, index), plies);
            }
            if let Err(futile_at_least) = found {
                let within = plies.checked_sub(1).and_then(|left| self.after(game, (m, to), left));
                let at_least = self.at_least(to, plies).saturating_add(1);
                found = within.ok_or(at_least.min(futile_at_least));
            }
            leans.extend(found?);
        }
        leans.sort_unstable();
        leans.dedup();
        Ok(leans)
    }

    /// What a node takes at least that did not end in time.
    fn at_least(&self, node: usize, plies: u16) -> u16 {
        if self.is_returning { plies } else { self.nodes[node].at_least }
    }

    /// What a defence leans on to be futile within so many plies, or what is left at least after it and a reply
    /// that makes it futile, the piece gained given back.
    fn futile_beyond(
        &mut self,
        game: &mut G,
        (node, index): (usize, usize),
        plies: u16,
    ) -> Result<Leans, u16> {
        let defence = self.edges(node)[index].m;
        let mut at_least = NEVER;
        for (reply, to) in self.futile_replies(game, (node, index)).iter().copied() {
            let exchange = (defence, reply);
            let within = match self.known(to, plies) {
                Known::Within(leans) => Some(leans),
                Known::Beyond => None,
                Known::Open => self.behind(game, exchange, to, plies),
            };
            if let Some(leans) = within {
                return Ok(leans);
            }
            at_least = at_least.min(self.at_least(to, plies));
            if self.counting == Counting::WithoutReturns && !self.is_returning {
                let leans = self.comes_back(game, exchange, plies);
                if let Some(leans) = leans.filter(|leans| !leans.is_empty()) {
                    return Ok(leans);
                }
                at_least = plies + 1;
            }
        }
        Err(at_least)
    }

    /// Whether the end comes within so many plies behind an exchange, what was gained being given back.
    fn behind(
        &mut self,
        game: &mut G,
        (defence, reply): (G::Move, G::Move),
        to: usize,
        plies: u16,
    ) -> Option<Leans> {
        self.with_exchange(game, (defence, reply), |measure, game| measure.within(game, to, plies))
    }

    /// What a way leans on that comes back after an exchange, or ends within so many plies; moves that the proof
    /// makes with more in hand may be tried on it.
    fn comes_back(
        &mut self,
        game: &mut G,
        exchange: (G::Move, G::Move),
        plies: u16,
    ) -> Option<Leans> {
        self.is_returning = true;
        let within = self.with_exchange(game, exchange, |measure, game| {
            let to = measure.node(game, NEVER);
            measure.within(game, to, plies)
        });
        self.is_returning = false;
        within
    }

    /// Asks behind an exchange in the node that was entered last, what was gained being given back.
    fn with_exchange<T>(
        &mut self,
        game: &mut G,
        (defence, reply): (G::Move, G::Move),
        ask: impl FnOnce(&mut Self, &mut G) -> T,
    ) -> T {
        let hand = game.hand();
        let first = game.make(defence);
        let second = game.make(reply);
        let gained = game.hand();
        game.set_hand(hand);
        self.exchanges.push(self.path.len());
        let answer = ask(self, game);
        self.exchanges.pop();
        game.set_hand(gained);
        game.unmake(reply, second);
        game.unmake(defence, first);
        answer
    }

    /// The replies that make a defence futile, with where they lead if what was gained is given back.
    fn futile_replies(
        &mut self,
        game: &mut G,
        (node, index): (usize, usize),
    ) -> Rc<[(G::Move, usize)]> {
        let Edge { m: defence, futile, .. } = &self.edges(node)[index];
        let defence = *defence;
        if let Some(futile) = futile {
            return Rc::clone(futile);
        }
        let mut replies = Vec::new();
        for reply in game.futile_replies(defence) {
            let to = self
                .with_exchange(game, (defence, reply), |measure, game| measure.node(game, NEVER));
            replies.push((reply, to));
        }
        let replies: Rc<[(G::Move, usize)]> = replies.into();
        if let Some(edges) = &mut self.nodes[node].edges {
            edges[index].futile = Some(Rc::clone(&replies));
        }
        replies
    }

    fn edges(&self, node: usize) -> &[Edge<G::Move>] {
        self.nodes[node].edges.as_deref().unwrap_or_default()
    }

    fn edge(&self, node: usize, index: usize) -> (G::Move, usize) {
        let Edge { m, to, .. } = self.edges(node)[index];
        (m, to)
    }
}
