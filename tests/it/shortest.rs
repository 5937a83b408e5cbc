//! Shortest mates, and tsume lengths (without futile interpositions), compared with exhaustive searches.
//!
//! The exhaustive search of lengths follows the rule in `docs/tsume.md` literally. It tries all checks, not only the
//! checks of a proof.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use kyokumen::mate::judge::{InCheck, Judge, MateResult, MateSettings, WhenHopeless};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::{
    Bitboard, Board, Color, Hand, HandKind, Move, Piece, PieceKind, Position, Setup, Square,
};
use kyokumen::solver::{CountedPlies, MAX_PLIES, STACK_BYTES};
use kyokumen_testing::positions::{Random, position, random_play, shared_lines, strewn};

fn judge(nodes: u64) -> Judge {
    let settings = MateSettings {
        depth_plies: 31,
        nodes,
        hash_mb: 4,
        in_check: InCheck::Or,
        ..MateSettings::default()
    };
    Judge::new(&settings).shortest(true)
}

/// The mate found for the side to move, whether it is proven to be the shortest, and its tsume length.
fn solved(
    judge: &mut Judge,
    position: &Position,
) -> Option<(MateResult, bool, Option<CountedPlies>)> {
    let mate_result = judge.judge(position, &AtomicBool::new(false));
    let is_shortest = judge.is_shortest(position).unwrap();
    let counted = judge.tsume_plies(position, mate_result.verdict, &AtomicBool::new(false));
    (mate_result.verdict == PositionVerdict::Win).then_some((mate_result, is_shortest, counted))
}

/// Tries all moves. The methods return `None` when no moves are left in the budget.
struct EveryMove {
    counts_futile: bool,
    moves_left: u32,
}

impl EveryMove {
    fn mates(&mut self, position: &Position, plies: u16) -> Option<bool> {
        for m in position.checks() {
            self.moves_left = self.moves_left.checked_sub(1)?;
            if self.is_mated(&after(position, m), plies.checked_sub(1)?)? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn is_mated(&mut self, position: &Position, plies: u16) -> Option<bool> {
        for m in position.legal_moves() {
            self.moves_left = self.moves_left.checked_sub(1)?;
            let is_answered = plies >= 2 && self.mates(&after(position, m), plies - 1)?;
            if !is_answered && (self.counts_futile || !self.is_futile(position, m, plies)?) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether a defence is a futile drop: the piece can be captured with check from its square alone, and then,
    /// with the hands from before the drop, the defender is mated within `plies`.
    fn is_futile(&mut self, position: &Position, defence: Move, plies: u16) -> Option<bool> {
        for taken in taken_after(position, defence) {
            if self.is_mated(&with_hands_of(&taken, position), plies)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The fewest plies, up to `most`, for a mate by the side to move.
    fn plies(mut self, position: &Position, most: u16) -> Option<u16> {
        (1..=most).step_by(2).find_map(|plies| match self.mates(position, plies) {
            Some(false) => None,
            Some(true) => Some(Some(plies)),
            None => Some(None),
        })?
    }
}

/// Tries all moves, except for drops that can be captured with check from their square. Remembers failures.
#[derive(Default)]
struct WithoutCapturedDrops {
    /// Positions of the attacker, with the plies within which no mate exists.
    fails: HashMap<(u64, Hand), u16>,
}

impl WithoutCapturedDrops {
    fn mates(&mut self, position: &Position, plies: u16) -> bool {
        let key = (position.board_key(), position.hand(position.side_to_move()));
        if self.fails.get(&key).is_some_and(|&fails| plies <= fails) {
            return false;
        }
        let mates = plies > 0
            && position.checks().iter().any(|&m| self.is_mated(&after(position, m), plies - 1));
        if !mates {
            self.fails.insert(key, plies);
        }
        mates
    }

    fn is_mated(&mut self, position: &Position, plies: u16) -> bool {
        let mut taken = [None; Square::COUNT];
        let mut is_taken = |m: Move| {
            let known = &mut taken[m.to().index()];
            m.is_drop() && *known.get_or_insert_with(|| !taken_after(position, m).is_empty())
        };
        let defences = position.legal_moves().into_iter().filter(|&m| !is_taken(m));
        let defences: Vec<Move> = defences.collect();
        defences.iter().all(|&m| plies >= 2 && self.mates(&after(position, m), plies - 1))
    }
}

/// The positions after a dropped piece is captured with check, given only from its square.
fn taken_after(position: &Position, defence: Move) -> Vec<Position> {
    if !defence.is_drop() {
        return Vec::new();
    }
    let interposed = after(position, defence);
    let captures = interposed.checks().into_iter().filter(|m| m.to() == defence.to());
    let mut taken: Vec<Position> = captures.map(|m| after(&interposed, m)).collect();
    taken.retain(|taken| taken.checkers() == Bitboard::from_square(defence.to()));
    taken
}

fn after(position: &Position, m: Move) -> Position {
    let mut after = position.clone();
    after.make(m);
    after
}

fn with_hands_of(position: &Position, other: &Position) -> Position {
    let board = *position.setup().board();
    let setup = Setup::new(board, other.setup().hands(), position.side_to_move(), 1).unwrap();
    Position::try_from(setup).unwrap()
}

fn every_move(counts_futile: bool) -> EveryMove {
    EveryMove { counts_futile, moves_left: 100_000 }
}

/// Random problems: Black has a few pieces and no king. White has a king on the first three ranks, a few pieces, and
/// all other pieces in hand.
fn problems(seed: u64, count: usize) -> Vec<Position> {
    let mut random = Random::new(seed);
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        let mut board: Board = [None; Square::COUNT];
        let mut rest = HandKind::SET;
        let mut put = |piece: Piece, ranks: usize, random: &mut Random| {
            let rank = random.below(ranks) as u8;
            let square = Square::from_file_rank(random.below(9) as u8, rank);
            let kind = piece.kind.hand_kind();
            if board[square.index()].is_none() && kind.is_none_or(|kind| rest[kind.index()] > 0) {
                board[square.index()] = Some(piece);
                if let Some(kind) = kind {
                    rest[kind.index()] -= 1;
                }
            }
        };
        put(Piece::new(Color::White, PieceKind::King), 3, &mut random);
        for color in Color::ALL {
            for _ in 0..2 + random.below(4) {
                let kind = *random.pick(&PieceKind::ALL);
                if kind != PieceKind::King {
                    put(Piece::new(color, kind), 6, &mut random);
                }
            }
        }
        let kept = *random.pick(&HandKind::ALL);
        let mut own = [0; HandKind::COUNT];
        own[kept.index()] = rest[kept.index()].min(1);
        rest[kept.index()] -= own[kept.index()];
        let hands = [own, rest].map(|counts| Hand::from_counts(counts).unwrap());
        let setup = Setup::new(board, hands, Color::Black, 1).unwrap();
        positions.extend(Position::try_from(setup).ok());
    }
    positions
}

#[test]
fn lengths_agree_with_an_exhaustive_search() {
    let mut judge = judge(20_000);
    let mut longer = 0;
    // Mates that are shorter without futile interpositions: as measured, and measured as too long.
    let mut tsume = [0; 2];
    let [mut proven, mut without_line] = [0; 2];
    let positions = random_play(71, 6_000)
        .into_iter()
        .step_by(3)
        .chain(strewn(72, 500))
        .chain(problems(73, 3_000));
    for position in positions {
        let Some((mate_result, is_shortest, counted)) = solved(&mut judge, &position) else {
            continue;
        };
        let plies = u16::try_from(mate_result.line.len()).unwrap();
        if !is_shortest || plies > 7 {
            continue;
        }
        let Some(least) = every_move(true).plies(&position, plies) else { continue };
        assert_eq!(plies, least, "{position}");
        longer += u32::from(plies > 1);
        let counted = counted.unwrap();
        assert!(counted.plies <= plies, "{position}");
        if counted.line.is_empty() {
            without_line += 1;
        } else {
            assert_eq!(counted.line.len(), usize::from(counted.plies), "{position}");
        }
        let Some(least) = every_move(false).plies(&position, plies) else { continue };
        assert!(least <= counted.plies, "{position}: {least}, not {counted:?}");
        assert!(
            least == counted.plies || !counted.is_least,
            "{position}: {least}, not {counted:?}"
        );
        if least < plies {
            tsume[usize::from(least < counted.plies)] += 1;
        }
        proven += u32::from(counted.is_least);
    }
    assert!(longer > 150, "{longer}");
    let [agree, above] = tsume;
    assert!(agree > 5 * above && agree > 30, "{tsume:?}");
    assert!(proven > 300, "{proven}");
    assert!(without_line * 10 < proven, "{without_line} of {proven}");
}

/// Three plies by the tsume rule, five to nine if every interposition counts.
#[test]
fn futile_interpositions_do_not_count() {
    let mut judge = judge(200_000);
    for (sfen, plies, tsume) in [
        ("5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1", 5, 3),
        ("9/5g1s1/8k/6+R2/9/6R1S/5B3/9/9 b b3g2s4n4l18p 1", 7, 3),
        ("9/9/3pp4/+r2k1p3/2L1+p4/2+R6/B8/B8/9 b 4g4s4n3l14p 1", 9, 3),
        ("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", 1, 1),
    ] {
        let (mate_result, is_shortest, counted) = solved(&mut judge, &position(sfen)).unwrap();
        let counted = counted.unwrap();
        assert_eq!((mate_result.line.len(), is_shortest, counted.plies), (plies, true, tsume));
    }
}

/// The horse moves along the diagonal, captures a knight and returns. If the defender interposes a piece on the way,
/// the piece is lost and the attacker comes back from there. Such rounds do not count. The counted plies are 22 to
/// the knight, 18 back, and 5 to mate. The proofs found for the problem and for its mirror image promote the silver too
/// early, which takes more plies, so a separate search finds the shorter mate.
#[test]
fn rounds_that_only_win_pieces_do_not_count() {
    let wandering = "7k1/5+Bp2/7Ss/9/9/9/1n7/9/9 b 2rb4g2s3n4l17p 1";
    let mirrored = "1k7/2p+B5/sS7/9/9/9/7n1/9/9 b 2rb4g2s3n4l17p 1";
    let settings = MateSettings {
        depth_plies: MAX_PLIES,
        hash_mb: 64,
        when_hopeless: WhenHopeless::GoOn,
        ..MateSettings::default()
    };
    let lengths = |sfen: &'static str| {
        let settings = settings.clone();
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let solved = builder.spawn(move || {
            let root = position(sfen);
            let mut judge = Judge::new(&settings);
            let mate_result = judge.judge(&root, &AtomicBool::new(false));
            let counted = judge.tsume_plies(&root, mate_result.verdict, &AtomicBool::new(false));
            (mate_result.line.len(), counted.unwrap())
        });
        solved.unwrap().join().unwrap()
    };
    for sfen in [wandering, mirrored] {
        let (plies, counted) = lengths(sfen);
        assert!(plies > 300, "{plies}");
        assert_eq!((counted.plies, counted.is_least), (45, true), "{sfen}");
        assert_eq!(counted.line.len(), 45, "{sfen}");
    }
}

/// Even if no interposition that can be captured counts, the horse needs 45 plies.
#[test]
#[ignore = "exhaustive search of about a minute"]
fn no_interpretation_of_the_rule_makes_the_mate_shorter() {
    let wandering = position("7k1/5+Bp2/7Ss/9/9/9/1n7/9/9 b 2rb4g2s3n4l17p 1");
    let mut without_captured_drops = WithoutCapturedDrops::default();
    assert!(!without_captured_drops.mates(&wandering, 43));
    assert!(without_captured_drops.mates(&wandering, 45));
}

/// White is in check from the lance and can only interpose pieces that are lost at once. So White is already mated.
#[test]
fn a_side_with_only_futile_interpositions_is_mated_in_0() {
    let settings = MateSettings { hash_mb: 1, ..MateSettings::default() };
    let mut judge = Judge::new(&settings);
    for (sfen, tsume) in [
        ("7lk/9/7G1/9/9/9/9/9/K7L w 2R2B3G4S4N2L17Pp 1", 0),
        ("7lk/9/7G1/9/9/9/9/9/K7L w 2r2b3g4s4n2l18p 1", 0),
        // Next to the king, the lance would be captured after taking the piece, so this interposition counts.
        ("8k/6S2/6G2/9/9/9/9/9/K7L w 2R2B3G3S4N3L17Pp 1", 2),
    ] {
        let mated = position(sfen);
        let mate_result = judge.judge(&mated, &AtomicBool::new(false));
        assert_eq!(mate_result.verdict, PositionVerdict::Loss, "{sfen}");
        assert!(mate_result.line.len() >= 2, "every interposition is in the line: {sfen}");
        let counted = judge.tsume_plies(&mated, mate_result.verdict, &AtomicBool::new(false));
        assert_eq!(counted.map(|counted| counted.plies), Some(tsume), "{sfen}");
    }
    // Without legal moves nothing is searched.
    let mated = position("4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2");
    let mate_result = judge.judge(&mated, &AtomicBool::new(false));
    let counted = judge.tsume_plies(&mated, mate_result.verdict, &AtomicBool::new(false));
    assert_eq!(counted.map(|counted| counted.plies), Some(0));
    assert_eq!(judge.is_shortest(&mated), None);
}

/// Problems with a stated length: no mate that is called shortest is longer.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn no_problem_is_longer_than_stated() {
    let mut judge = judge(20_000);
    let [mut as_stated, mut shorter] = [0; 2];
    for line in shared_lines("tsume_dev.tsv").iter().step_by(9) {
        let fields: Vec<&str> = line.split('\t').collect();
        let Ok(stated) = fields[1].parse::<usize>() else { continue };
        let Some((mate_result, is_shortest, _)) = solved(&mut judge, &position(fields[0])) else {
            continue;
        };
        let plies = mate_result.line.len();
        assert!(plies <= stated || !is_shortest, "{line}: {plies} plies are called shortest");
        as_stated += u32::from(plies == stated);
        shorter += u32::from(plies < stated);
    }
    assert!(as_stated >= 100 * shorter, "{as_stated} {shorter}");
}

/// If the node limit ends the search for shorter mates, the mate is not called shortest.
#[test]
fn a_mate_found_at_the_node_limit_is_not_called_shortest() {
    let long = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161";
    let mut previous = usize::MAX;
    for nodes in [150_000, 200_000, 400_000] {
        let (mate_result, is_shortest, _) = solved(&mut judge(nodes), &position(long)).unwrap();
        assert!(!is_shortest);
        assert!(mate_result.line.len() <= previous && mate_result.nodes > nodes);
        previous = mate_result.line.len();
    }
    assert!(previous < 29, "{previous}");
}
