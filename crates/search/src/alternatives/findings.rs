//! Findings about the moves of a position: verdict, length, and how alternatives differ from the solution.

use kyokumen_shogi::Move;

use crate::solver::Proof;
use crate::verdict::Verdict;

/// One move and the mate after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveFinding {
    /// The move.
    pub m: Move,
    /// Whether the attacker mates after the move. Proofs have been checked.
    pub verdict: Verdict,
    /// If proven: the move and the mate after it, the attacker's shortest play within the proof against the longest
    /// defence. Empty otherwise.
    pub line: Vec<Move>,
    /// If proven: whether it is proven that no mate after the move takes fewer plies than the line.
    pub is_shortest: bool,
    /// Plies of the mate without futile interpositions, this move included, see [`Proof::without_futile`]. `None`
    /// without a mate, or if there are too many positions to measure.
    pub tsume_plies: Option<u16>,
    /// Whether the attacker holds a piece at the end of the line without futile interpositions (駒余り).
    pub leaves_pieces: bool,
    /// Nodes searched for this move.
    pub nodes: u64,
    /// Positions of the checked proof.
    pub proof_positions: u64,
    /// The proof for the position after the move; `None` if it was not requested.
    pub proof: Option<Proof>,
}

impl MoveFinding {
    /// Whether the attacker mates after this move.
    pub fn mates(&self) -> bool {
        self.verdict == Verdict::Proven
    }

    /// Plies of the mate, this move included; `None` without a mate.
    pub fn plies(&self) -> Option<usize> {
        self.mates().then_some(self.line.len())
    }

    /// [`Self::tsume_plies`]; the plies of the line if that is `None`.
    pub fn counted_plies(&self) -> usize {
        self.tsume_plies.map_or(self.line.len(), usize::from)
    }
}

/// The difference between the solution and another check that mates (余詰 in the wide sense). If several kinds fit, the
/// first one applies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AlternativeKind {
    /// The same move with or without promotion, with an equally long mate (成・不成非限定).
    Promotion,
    /// The same rook, bishop or lance (or promoted rook or bishop), dropped on or moved to another square of the line
    /// to the king, with an equally long mate (打点・着手非限定, 以遠打).
    Distance,
    /// The mirror image of the solution in a position that is its own mirror image (左右対称).
    Mirror,
    /// A second mate at the last move of a longer solution (最終手余詰).
    LastMove,
    /// It mates only by returning to an earlier board with the attacker to move (迂回手順).
    Detour,
    /// It mates in fewer plies than the solution (早詰).
    Shorter,
    /// It mates only through a later position of the solution: moves in a different order, or a detour (手順前後,
    /// 合流する迂回).
    Rejoins,
    /// Another mate (余詰).
    Other,
}

impl AlternativeKind {
    /// The name used in reports.
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

    /// Whether this kind makes a problem unsound. The other kinds are flaws (キズ), which most publications accept.
    pub const fn is_essential(self) -> bool {
        matches!(self, Self::Shorter | Self::Rejoins | Self::Other)
    }
}

/// A check and its finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckFinding {
    /// The move and the mate after it.
    pub finding: MoveFinding,
    /// The kind of alternative, if the check mates and is not the solution.
    pub kind: Option<AlternativeKind>,
}

/// All checks of a position with the attacker to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttackFindings {
    /// The checks, in the order of move generation.
    pub checks: Vec<CheckFinding>,
    /// Index of the solution: the intended check if one is given, otherwise the shortest mate without futile
    /// interpositions. Among equals it is the known move, or the first. `None` if that check does not mate, or none
    /// does.
    pub solution: Option<usize>,
}

impl AttackFindings {
    /// Whether exactly one check mates.
    pub fn uniqueness(&self) -> Uniqueness {
        Uniqueness::from_verdicts(self.checks.iter().map(|check| check.finding.verdict))
    }

    /// The checks that mate besides the solution.
    pub fn alternatives(&self) -> impl Iterator<Item = &CheckFinding> {
        self.checks.iter().filter(|check| check.kind.is_some())
    }
}

/// Whether exactly one check mates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Uniqueness {
    /// One check mates. All others are proven not to mate.
    Unique,
    /// More than one check mates. All [kinds](AlternativeKind) of alternatives count.
    NotUnique,
    /// No check mates. This is proven.
    NoMate,
    /// A limit prevented the decision.
    Undecided,
}

impl Uniqueness {
    fn from_verdicts(verdicts: impl Iterator<Item = Verdict>) -> Self {
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

    /// Combines the positions of a line: [`Self::Unique`] only if both are.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::NotUnique, _) | (_, Self::NotUnique) => Self::NotUnique,
            (Self::Undecided, _) | (_, Self::Undecided) => Self::Undecided,
            (Self::NoMate, _) | (_, Self::NoMate) => Self::NoMate,
            (Self::Unique, Self::Unique) => Self::Unique,
        }
    }

    /// The name used in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::NotUnique => "not_unique",
            Self::NoMate => "no_mate",
            Self::Undecided => "undecided",
        }
    }
}

/// A reply of the defender and its finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplyFinding {
    /// The move and the mate after it.
    pub finding: MoveFinding,
    /// Whether the reply is a futile interposition; `None` if the search could not decide.
    pub is_futile: Option<bool>,
    /// Whether no other reply holds out longer, without futile interpositions. `Some(false)` for a futile
    /// interposition, `None` if a limit prevented the decision. Several replies may be equally long (変化同手数).
    pub is_longest: Option<bool>,
}

/// All replies of a position with the defender to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefenceFindings {
    /// The replies, in the order of move generation. Empty at mate.
    pub replies: Vec<ReplyFinding>,
    /// Index of the reply of the main line: the intended one if one is given, otherwise the reply that holds out
    /// longest. Among equals it is one that leaves the attacker no piece, if there is one. `None` at mate, if all
    /// replies are futile interpositions, if the intended reply is not proven to be mated, or if no reply is.
    pub solution: Option<usize>,
}

/// One position of the main line with all its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LineNode {
    /// The attacker is to move.
    Attack(AttackFindings),
    /// The defender is to move.
    Defence(DefenceFindings),
}

impl LineNode {
    /// The findings about all moves of the position.
    pub fn findings(&self) -> Vec<&MoveFinding> {
        match self {
            Self::Attack(node) => node.checks.iter().map(|check| &check.finding).collect(),
            Self::Defence(node) => node.replies.iter().map(|reply| &reply.finding).collect(),
        }
    }

    /// The move of the main line; `None` at its end.
    pub fn solution(&self) -> Option<&MoveFinding> {
        match self {
            Self::Attack(node) => node.solution.map(|index| &node.checks[index].finding),
            Self::Defence(node) => node.solution.map(|index| &node.replies[index].finding),
        }
    }
}
