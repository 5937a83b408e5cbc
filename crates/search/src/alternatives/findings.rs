//! What is found about the moves of a position: which mate, how fast, and how they differ from the solution.

use kyokumen_shogi::Move;

use crate::solver::Proof;
use crate::verdict::Verdict;

/// One move, and what is known of the mate after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveFinding {
    /// The move.
    pub m: Move,
    /// Whether the attacker mates after it; proofs were checked.
    pub verdict: Verdict,
    /// Proven: the move and the mate after it, the attacker's shortest in the proof against the longest defence.
    pub line: Vec<Move>,
    /// Proven: the mate is known to take no fewer plies than the line.
    pub is_shortest: bool,
    /// Plies of the line as problems count them, see [`Proof::plies_without_futile`]; `None` without a mate, or with
    /// too much to measure.
    pub tsume_plies: Option<u16>,
    /// Whether the attacker holds a piece when the line ends, futile interpositions and what they bring aside (駒余り).
    pub leaves_pieces: bool,
    /// Nodes that were spent on it.
    pub nodes: u64,
    /// Positions of the checked proof.
    pub proof_positions: u64,
    /// The proof, about the position after the move.
    pub proof: Option<Proof>,
}

impl MoveFinding {
    /// Whether the attacker mates after this move.
    pub fn mates(&self) -> bool {
        self.verdict == Verdict::Proven
    }

    /// Plies of the mate, the move included; `None` without one.
    pub fn plies(&self) -> Option<usize> {
        self.mates().then_some(self.line.len())
    }

    /// Plies as problems count them, as far as that is known; otherwise those of the line.
    pub(super) fn counted_plies(&self) -> usize {
        self.tsume_plies.map_or(self.line.len(), usize::from)
    }
}

/// How a check that mates differs from the solution, as composers tell it (余詰 in the wide sense). Where more than one
/// fits, the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AlternativeKind {
    /// The same move but for promotion, with a mate as long (成・不成非限定).
    Promotion,
    /// The same piece to another square of the line to the king, with a mate as long: where a rook, bishop or lance is
    /// dropped or moves to does not matter (打点・着手非限定, 以遠打).
    Distance,
    /// The mirror image of the solution in a position that is its own mirror image (左右対称).
    Mirror,
    /// At the last move of a longer mate (最終手余詰).
    LastMove,
    /// It mates only by way of a board of the attacker that was there before (迂回手順).
    Detour,
    /// It mates in fewer plies than the solution (早詰).
    Shorter,
    /// It mates only by way of a later position of the solution: moves in another order, or a longer way round
    /// (手順前後, 合流する迂回).
    Rejoins,
    /// Another mate (余詰).
    Other,
}

impl AlternativeKind {
    /// The word used in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Promotion => "promotion",
            Self::Distance => "distance",
            Self::Mirror => "mirror",
            Self::LastMove => "last_move",
            Self::Detour => "detour",
            Self::Shorter => "shorter",
            Self::Rejoins => "rejoins",
            Self::Other => "other",
        }
    }

    /// Whether it spoils a problem. The others are flaws at most (キズ), which most publications accept.
    pub const fn is_essential(self) -> bool {
        matches!(self, Self::Shorter | Self::Rejoins | Self::Other)
    }
}

/// A check of the attacker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckFinding {
    /// The move and its mate.
    pub finding: MoveFinding,
    /// Of a check that mates and is not the solution: how it differs.
    pub kind: Option<AlternativeKind>,
}

/// All checks of a position of the attacker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttackFindings {
    /// In the order in which they are generated.
    pub checks: Vec<CheckFinding>,
    /// Which of them is the solution: the shortest mate as problems count plies; of equals the known one, or the first.
    pub solution: Option<usize>,
}

impl AttackFindings {
    /// Whether there is one solution.
    pub fn uniqueness(&self) -> Uniqueness {
        Uniqueness::of(self.checks.iter().map(|check| check.finding.verdict))
    }

    /// The checks that mate besides the solution.
    pub fn alternatives(&self) -> impl Iterator<Item = &CheckFinding> {
        self.checks.iter().filter(|check| check.kind.is_some())
    }
}

/// Whether one check mates, and no other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Uniqueness {
    /// One check mates, and of all others it is proven that they do not.
    Unique,
    /// More than one check mates, of whatever [kind](AlternativeKind).
    NotUnique,
    /// No check mates; proven.
    NoMate,
    /// A limit kept that from being known.
    Undecided,
}

impl Uniqueness {
    fn of(verdicts: impl Iterator<Item = Verdict>) -> Self {
        let (mut mates, mut unknown) = (0, 0);
        for verdict in verdicts {
            mates += u32::from(verdict == Verdict::Proven);
            unknown += u32::from(matches!(verdict, Verdict::Unknown(_)));
        }
        match (mates, unknown) {
            (0, 0) => Self::NoMate,
            (1, 0) => Self::Unique,
            (0 | 1, _) => Self::Undecided,
            _ => Self::NotUnique,
        }
    }

    /// Of several positions of a line: of all if of each.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::NotUnique, _) | (_, Self::NotUnique) => Self::NotUnique,
            (Self::Undecided, _) | (_, Self::Undecided) => Self::Undecided,
            (Self::NoMate, _) | (_, Self::NoMate) => Self::NoMate,
            (Self::Unique, Self::Unique) => Self::Unique,
        }
    }

    /// The word used in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::NotUnique => "not_unique",
            Self::NoMate => "no_mate",
            Self::Undecided => "undecided",
        }
    }
}

/// A reply of the defender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplyFinding {
    /// The move and the mate after it.
    pub finding: MoveFinding,
    /// Whether it is an interposition that problems do not count; `None` if that is not known.
    pub is_futile: Option<bool>,
    /// Whether it holds out longest, as problems count plies, futile interpositions aside; `None` if a limit kept that
    /// from being known. Several may (変化同手数).
    pub is_longest: Option<bool>,
}

/// All replies in a position of the defender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefenceFindings {
    /// In the order in which they are generated; none where it is mate.
    pub replies: Vec<ReplyFinding>,
    /// Which of them is the solution: of those that hold out longest one that leaves the attacker no piece, if there is
    /// one. `None` where it is mate, futile interpositions aside, or where no reply is known to lose.
    pub solution: Option<usize>,
}

/// One position of the main line with its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LineNode {
    /// The attacker is to move.
    Attack(AttackFindings),
    /// The defender is to move.
    Defence(DefenceFindings),
}

impl LineNode {
    /// The move of the solution; `None` at the end.
    pub fn solution(&self) -> Option<&MoveFinding> {
        match self {
            Self::Attack(node) => node.solution.map(|index| &node.checks[index].finding),
            Self::Defence(node) => node.solution.map(|index| &node.replies[index].finding),
        }
    }
}
