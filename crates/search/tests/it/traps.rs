//! Positions and situations that mate solvers have got wrong, with the correct verdicts.
//!
//! The positions come from issue 54 of cshogi and issue 46 of dlshogi, from the tests and issues of `KomoringHeights`,
//! from Tadao Yamaoka's diary on dominance, and from classic problems. A few were made for these tests. Lines are
//! replayed by rsshogi, see `mate_lines.rs`.

use std::num::NonZero;
use std::thread;

use kyokumen_game::Game;
use kyokumen_search::solver::{Attacker, Solver};
use kyokumen_search::{DfPn, Limits, STACK_BYTES, SearchResult, Stop, TableSize, Threads, Verdict};
use kyokumen_shogi::{Hand, HandKind, Mate, Move, Position, Setup};
use kyokumen_testing::positions::{Random, position, random_play};

use crate::mate_lines::{attack, defend, limits};

/// Tadao Yamaoka's example of the gain from dominance.
const DOMINANCE: &str =
    "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161";
/// There is no mate. A well-known program once reported one.
const NO_MATE: &str =
    "2+P5+N/5P1B1/p2sg2p+P/2p2s1P1/8R/5KP1s/P3+BNN1g/1S4+p1g/+p1R1Lk2+l b NL4Pgl3p 1";
/// A program reported a mate because it treated an adjacent knight's check as one that can be interposed.
const KNIGHT_CHECK: &str =
    "3B2p1p/l5g2/6np1/p2RpS2k/1pp1gbsP1/P1n3g1l/LP3+p2L/K4p3/1NR3N2 b GS2Ps4p 137";
/// A problem of 45 plies without futile interpositions, of hundreds with them.
const MANY_INTERPOSITIONS: &str = "7k1/5+Bp2/7Ss/9/9/9/1n7/9/9 b 2rb4g2s3n4l17p 1";
/// A problem of 111 plies.
const LONG: &str = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1";

/// "Kotobuki", the last problem of Ito Kanju's collection of 1755: 611 plies. Many rounds of the board only win a pawn.
const KOTOBUKI: &str =
    "g3p3+r/3lPG3/1s4ppp/1l1B4P/L2b1kPl1/3+p3+R+p/3+p2+s1S/+NP+p1gS3/1g+p2P3 b 4P3n 1";

/// "Furin", a problem of 47 plies (Kanju prize). Its solution needs drops that the search delays.
const FURIN: &str = "9/3p5/2LkPp3/1+R4l2/3+p1PN2/2GGssB2/B2l2R2/9/9 b NLP2g2s2n12p 1";

/// The longest known problem, 1525 plies (Hashimoto Takaharu, "Microcosmos", 1986).
const MICROCOSMOS: &str =
    "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1";

/// Mates with the plies within which one exists. Every interposition counts.
const MATES: [(&str, u16); 12] = [
    (DOMINANCE, 29),
    ("+L4kp2/9/2gs1pB+R1/n1pgp4/6P2/S2G3r1/P3+b1G2/2P6/+lP1K1+n3 w 2SN2L4Pn6p 130", 3),
    ("ln1g1s2l/1r3k1p1/p1p+B1Ns1p/5ppPg/1p7/3PPBP2/PP1S1P2P/6S2/LN1GKG2L b 2Prnp 73", 7),
    ("l5p1k/3+R1p3/3p1g+N2/p1S1p2S1/1p5Kp/5PP2/PP2P1sPP/2P2GG2/L5+r1L b L2P2bgs3np 1", 7),
    ("l8/3s2+R2/p2pkp+P2/2p1p3p/1KPP2s2/P3P4/2g2P2P/4N4/L4+b1NL w RB3GSNL5Psn 1", 13),
    ("1r2k4/9/3KNp+P2/4p2S1/P1P1rPGpp/2pP2p2/1+p2P1n1P/L3G4/SN1s4L w B2GN2LPbs3p 1", 13),
    ("3b3+Rl/gS3p3/1P1p2s2/K1+RgL1p1p/9/5k2P/g2PPNP2/4G4/7NL b S5Pbs2nl4p 1", 9),
    ("3Bp2n1/5+R2+B/p2p1GSp1/8p/Pn5l1/1n2SNP2/2pPPS1Pk/1P1SK1G2/L1G1G4 b RL3Pl3p 131", 7),
    // Three plies by the rules of tsume; the other plies are futile interpositions.
    ("5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1", 13),
    ("9/5g1s1/8k/6+R2/9/6R1S/5B3/9/9 b b3g2s4n4l18p 1", 7),
    // The attacker has no king.
    ("9/9/3pp4/+r2k1p3/2L1+p4/2+R6/B8/B8/9 b 4g4s4n3l14p 1", 9),
    ("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", 1),
];

/// Searches on a thread with a large stack, which large depths need.
fn attack_deep(sfen: &'static str, limits: Limits) -> SearchResult<Move> {
    let search = move || attack(&mut DfPn::new(TableSize::from_mib(64)), &position(sfen), limits);
    thread::Builder::new().stack_size(STACK_BYTES).spawn(search).unwrap().join().unwrap()
}

#[test]
fn mates_are_found() {
    let mut solver = DfPn::new(TableSize::from_mib(16));
    for (sfen, plies) in MATES {
        for depth_plies in [plies, 31] {
            let solved = attack(&mut solver, &position(sfen), limits(depth_plies, 1_000_000));
            assert_eq!(solved.verdict, Verdict::Proven, "{sfen} at depth {depth_plies}");
        }
    }
}

/// A mate beyond the depth limit is unknown, not disproven.
#[test]
fn depth_limits_disprove_nothing() {
    let mut solver = DfPn::new(TableSize::from_mib(16));
    let too_deep = [(MANY_INTERPOSITIONS, 40), (LONG, 40)];
    for (sfen, plies) in MATES.into_iter().chain(too_deep) {
        for depth_plies in (0..plies).rev() {
            // Through the table a proof can be longer than the limit. It is still correct.
            let verdict = attack(&mut solver, &position(sfen), limits(depth_plies, 50_000)).verdict;
            assert_ne!(verdict, Verdict::Disproven, "{sfen} at depth {depth_plies}");
        }
        let verdict = attack(&mut solver, &position(sfen), limits(0, 50_000)).verdict;
        assert_eq!(verdict, Verdict::Unknown(Stop::Depth), "{sfen}");
    }
}

#[test]
fn long_mates_are_found_without_depth_limit() {
    let solved = attack_deep(LONG, limits(2_000, 3_000_000));
    assert_eq!(solved.verdict, Verdict::Proven);
    // A mate in 111. Lines of our proofs have had 109 plies or more.
    assert!(solved.line.len() > 100, "{}", solved.line.len());

    let solved = attack_deep(MANY_INTERPOSITIONS, limits(2_000, 3_000_000));
    assert_eq!(solved.verdict, Verdict::Proven);
    assert!(solved.line.len() > 127, "{}", solved.line.len());

    let solved = attack_deep(KOTOBUKI, limits(2_000, 3_000_000));
    assert_eq!(solved.verdict, Verdict::Proven);
    // A mate in 611. Lines of our proofs have had 611 and 633 plies.
    assert!(solved.line.len() >= 611, "{}", solved.line.len());

    // Without the rule for hard delayed checks, 20 million nodes.
    let solved = attack_deep(FURIN, Limits { nodes: 3_000_000, ..Limits::NONE });
    assert_eq!(solved.verdict, Verdict::Proven);
    assert!(solved.line.len() >= 47, "{}", solved.line.len());
}

/// 2, 4 and 8 threads that all start at once.
#[test]
fn several_threads_find_the_same_verdicts() {
    let search = || {
        for count in [2, 4, 8] {
            let count = NonZero::new(count).unwrap();
            let threads = Threads { nodes_alone: 0, ..Threads::new(count) };
            let mut solver = Solver::new(TableSize::from_mib(16)).on_threads(threads);
            let mut attack = |sfen: &str, limits: Limits| {
                solver.solve(&position(sfen), Attacker::SideToMove, &limits).verdict
            };
            for (sfen, _) in MATES {
                assert_eq!(attack(sfen, limits(31, 1_000_000)), Verdict::Proven, "{sfen}");
                assert_ne!(attack(sfen, limits(2, 50_000)), Verdict::Disproven, "{sfen}");
                let none = attack(sfen, limits(0, 50_000));
                assert_eq!(none, Verdict::Unknown(Stop::Depth), "{sfen}");
            }
            for sfen in [LONG, MANY_INTERPOSITIONS, KOTOBUKI] {
                assert_eq!(attack(sfen, limits(2_000, 30_000_000)), Verdict::Proven, "{sfen}");
                assert_ne!(attack(sfen, limits(40, 50_000)), Verdict::Disproven, "{sfen}");
            }
            for sfen in [NO_MATE, KNIGHT_CHECK] {
                assert_ne!(attack(sfen, limits(255, 100_000)), Verdict::Proven, "{sfen}");
            }
            assert_ne!(attack(MICROCOSMOS, limits(3_000, 100_000)), Verdict::Disproven);
        }
    };
    thread::Builder::new().stack_size(STACK_BYTES).spawn(search).unwrap().join().unwrap();
}

/// The node limit applies to all threads together.
#[test]
fn threads_share_one_budget() {
    let threads = Threads::new(NonZero::new(4).unwrap());
    let mut solver = Solver::new(TableSize::from_mib(16)).on_threads(threads);
    for nodes in [16_385, 20_000, 50_001] {
        let limits = limits(255, nodes);
        let solved = solver.solve(&position(MICROCOSMOS), Attacker::SideToMove, &limits);
        assert_eq!(solved.verdict, Verdict::Unknown(Stop::Nodes));
        assert!(solved.stats.nodes <= nodes && solved.stats.nodes + 4 * 64 > nodes, "{nodes}");
    }
}

/// A search that ends before the other threads join has the result of one thread.
#[test]
fn short_searches_do_not_depend_on_threads() {
    let threads = Threads::new(NonZero::new(4).unwrap());
    let mut together = Solver::new(TableSize::from_mib(2)).on_threads(threads);
    let mut alone = Solver::new(TableSize::from_mib(2));
    let sfens = MATES.iter().map(|&(sfen, _)| sfen).chain([NO_MATE]);
    for position in sfens.map(position).chain(random_play(32, 1_500).into_iter().step_by(20)) {
        let limits = limits(31, 20_000);
        let expected = alone.solve(&position, Attacker::SideToMove, &limits);
        if expected.stats.nodes < 16_000 {
            let solved = together.solve(&position, Attacker::SideToMove, &limits);
            assert_eq!(solved, expected, "{position}");
            assert_eq!(alone.proof(), together.proof());
        }
    }
}

/// The mate takes tens of millions of nodes. With fewer nodes the verdict must be unknown.
#[test]
fn a_mate_beyond_the_limits_is_not_disproven() {
    for depth_plies in [31, 400, 3_000] {
        let solved = attack_deep(MICROCOSMOS, limits(depth_plies, 100_000));
        assert_ne!(solved.verdict, Verdict::Disproven, "depth {depth_plies}");
    }
}

#[test]
fn positions_without_mate_are_not_proven() {
    for depth_plies in [31, 1_000] {
        let solved = attack_deep(NO_MATE, limits(depth_plies, 1_000_000));
        // The disproof may need more than the smaller depth.
        let cut_off = depth_plies == 31 && solved.verdict == Verdict::Unknown(Stop::Depth);
        assert!(solved.verdict == Verdict::Disproven || cut_off, "{:?}", solved.verdict);
        let solved = attack_deep(KNIGHT_CHECK, limits(depth_plies, 300_000));
        assert_ne!(solved.verdict, Verdict::Proven);
    }
}

/// A pawn dropped on 1b would mate, which is illegal. A lance dropped there mates.
#[test]
fn a_pawn_drop_does_not_mate() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let drop = Move::from_usi("P*1b").unwrap();
    let pawn = position("7nk/9/8G/9/9/9/9/9/9 b P2r2b3g4s3n4l17p 1");
    assert!(!pawn.is_legal(drop) && !pawn.legal_moves().contains(&drop));
    assert_eq!(attack(&mut solver, &pawn, limits(31, 10_000)).verdict, Verdict::Disproven);
    let lance = position("7nk/9/8G/9/9/9/9/9/9 b L2r2b3g4s3n3l18p 1");
    assert_eq!(attack(&mut solver, &lance, limits(31, 10_000)).line.len(), 1);
}

/// Every mate of the first position would end with a pawn drop.
#[test]
fn no_proof_ends_with_a_pawn_drop() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let forbidden = position("8k/9/6P1G/5l3/9/9/9/9/9 b NP 1");
    assert_eq!(attack(&mut solver, &forbidden, limits(31, 10_000)).verdict, Verdict::Disproven);
    let allowed = position("8k/9/6P1G/5l3/9/9/9/9/9 b NL 1");
    assert_eq!(attack(&mut solver, &allowed, limits(31, 10_000)).verdict, Verdict::Proven);
}

/// A promoted bishop would cover the flight square that makes the pawn drop legal. With a promoted rook the mate takes
/// twice as long.
#[test]
fn non_promotions_are_found_where_they_are_better() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let bishop = position("5B+P2/5s2k/9/7pK/9/9/9/9/9 b P 1");
    let solved = attack(&mut solver, &bishop, limits(5, 10_000));
    assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 5));
    assert_eq!(solved.line[0].to_string(), "4a2c");
    let rook = position("8k/5+P3/9/6RG1/9/9/9/9/9 b P 1");
    let solved = attack(&mut solver, &rook, limits(5, 10_000));
    assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 5));
    assert!(solved.line.iter().step_by(2).any(|m| m.from().is_some() && !m.is_promotion()));
}

/// The same for a pawn that discovers the bishop's check.
#[test]
fn a_non_promotion_of_a_pawn_is_found() {
    let pawn = position("6+r1k/5B3/5RP2/5B3/9/9/9/9/9 b P 1");
    let solved = attack(&mut DfPn::new(TableSize::from_mib(1)), &pawn, limits(5, 10_000));
    assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 5));
    assert_eq!(solved.line[0].to_string(), "3c3b");
}

/// One piece cannot mate a bare king. Only repetitions disprove the mate, so the verdict is the same at any depth.
#[test]
fn repetition_fails_for_the_attacker() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    for sfen in [
        "4k4/9/9/9/9/9/9/9/4K3R b - 1",
        "4k4/9/9/9/9/9/9/9/9 b R 1",
        "4k4/9/9/9/9/9/9/9/9 b 3G 1",
        "k8/9/9/9/9/9/9/9/9 b R 1",
    ] {
        for depth_plies in [31, 255] {
            let solved = attack(&mut solver, &position(sfen), limits(depth_plies, 300_000));
            assert_eq!(solved.verdict, Verdict::Disproven, "{sfen} at depth {depth_plies}");
        }
    }
}

/// The defender is mated only because there is nothing to interpose. So the proof hand has all pieces that the defender
/// lacks.
#[test]
fn a_proof_hand_includes_kinds_that_the_defender_could_interpose() {
    let mated = position("7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L17P 1");
    let game = Mate::against_side_to_move(mated.clone());
    assert_eq!(game.proof_hand_of_goal(), game.hand());
    let solved = defend(&mut DfPn::new(TableSize::from_mib(1)), &mated, limits(31, 1_000));
    assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 0));

    let with_pawn = position("7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L16Pp 1");
    let interpositions = with_pawn.legal_moves();
    assert_eq!(interpositions.len(), 7);
    assert!(interpositions.iter().all(|m| m.dropped() == Some(HandKind::Pawn)));
    // The defender has a pawn, so more pawns change nothing. The defender has no other kind.
    let game = Mate::against_side_to_move(with_pawn);
    let proof_hand = game.proof_hand_of_defence(Hand::EMPTY);
    assert_eq!(proof_hand, game.hand().with_count(HandKind::Pawn, 0));
}

/// An adjacent check cannot be interposed.
#[test]
fn the_proof_hand_of_an_adjacent_check_is_empty() {
    let gold = "4k4/4G4/4P4/9/9/9/9/9/9 w 2R2B3G4S4N4L17P 1";
    let knight = "6gkl/6npp/6N2/9/9/9/9/9/9 w 2R2B3G4S2N3L16P 1";
    for mated in [gold, knight] {
        let game = Mate::against_side_to_move(position(mated));
        assert!(game.position().is_checkmate(), "{mated}");
        assert_eq!(game.proof_hand_of_goal(), Hand::EMPTY, "{mated}");
    }
}

fn hand(pieces: &[HandKind]) -> Hand {
    let mut hand = Hand::EMPTY;
    for &kind in pieces {
        hand.add(kind);
    }
    hand
}

/// Before a drop the hand had the dropped piece. Before a capture it did not have the captured one. The same holds for
/// proof hands and disproof hands.
#[test]
fn hands_are_taken_back_over_attacks() {
    use HandKind::{Gold, Pawn};
    let game = Mate::by_side_to_move(position("4k4/4p4/4P4/9/9/9/9/9/9 b GP2p 1"));
    let capture = Move::from_usi("5c5b+").unwrap();
    let drop = Move::from_usi("G*4b").unwrap();
    assert!([capture, drop].iter().all(|&m| game.position().gives_check(m)));
    for hand_before in [Mate::proof_hand_of_attack, Mate::disproof_hand_of_attack] {
        let taken_back = |m, after: &[HandKind]| hand_before(&game, m, hand(after));
        assert_eq!(taken_back(capture, &[Gold, Pawn, Pawn]), hand(&[Gold, Pawn]));
        assert_eq!(taken_back(drop, &[Pawn]), hand(&[Gold, Pawn]));
    }
}

/// The refuting drop must be possible, so the attacker must not hold that piece.
#[test]
fn a_disproof_hand_leaves_the_defender_the_dropped_piece() {
    use HandKind::{Gold, Pawn};
    let game = Mate::against_side_to_move(position("7lk/7p1/9/9/9/9/9/9/K7L w G2Pp 1"));
    let drop = Move::from_usi("P*1b").unwrap();
    let disproof_hand = game.disproof_hand_of_defence(drop, hand(&[Gold, Pawn, Pawn, Pawn]));
    assert_eq!(disproof_hand, hand(&[Gold, Pawn, Pawn]));
}

/// A disproof without checks excludes kinds that the attacker lacks and whose drop would check.
#[test]
fn a_disproof_hand_excludes_kinds_whose_drop_would_check() {
    use HandKind::{Gold, Pawn};
    // A second pawn on the file is illegal. Any gold would check.
    let game = Mate::by_side_to_move(position("4k4/9/9/9/4P4/9/9/9/9 b 2P2gp 1"));
    assert_eq!(game.disproof_hand_of_attacks(None), hand(&[Pawn, Pawn, Pawn]));
    let game = Mate::by_side_to_move(position("4k4/9/9/9/9/9/9/9/9 b G2gp 1"));
    let disproof_hand = game.disproof_hand_of_attacks(Some(hand(&[Gold, Gold, Pawn])));
    assert_eq!(disproof_hand, hand(&[Gold, Gold]));
}

/// Same board and same hand of the attacker, but the remaining pieces are in the defender's hand or in the box.
#[test]
fn positions_that_differ_in_the_defenders_hand_have_separate_verdicts() {
    let mated = position("7lk/7p1/9/9/9/9/9/9/K7L w - 1");
    let with_pawn = position("7lk/7p1/9/9/9/9/9/9/K7L w p 1");
    assert_eq!(mated.board_key(), with_pawn.board_key());
    let mut solver = DfPn::new(TableSize::from_mib(1));
    for _ in 0..2 {
        let solved = defend(&mut solver, &mated, limits(31, 1_000));
        assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 0));
        let solved = defend(&mut solver, &with_pawn, limits(31, 1_000));
        assert_eq!(solved.verdict, Verdict::Disproven);
    }
}

/// Searches of one board for both attackers in turn. White is in check, mates by capturing the checker, and is not
/// mated.
#[test]
fn searches_for_both_attackers_do_not_mix() {
    let both =
        position("l1r3bn1/3k1g1sl/2G1pp3/p2p1Pp1p/4P4/PP1P2PRP/1g1S5/4+b4/LNK3sNL w Pgsn4p 1");
    let mut solver = DfPn::new(TableSize::from_mib(1));
    for _ in 0..2 {
        let solved = attack(&mut solver, &both, limits(31, 10_000));
        assert_eq!((solved.verdict, solved.line.len()), (Verdict::Proven, 3));
        let solved = defend(&mut solver, &both, limits(31, 10_000));
        assert_eq!(solved.verdict, Verdict::Disproven);
    }
}

fn with_hands(
    position: &Position,
    attacker_gives: Option<HandKind>,
    takes: Option<HandKind>,
) -> Position {
    let setup = position.setup();
    let us = setup.side_to_move().index();
    let mut hands = setup.hands();
    if let Some(kind) = attacker_gives {
        hands[us].remove(kind);
        hands[1 - us].add(kind);
    }
    if let Some(kind) = takes {
        hands[1 - us].remove(kind);
        hands[us].add(kind);
    }
    let setup = Setup::new(*setup.board(), hands, setup.side_to_move(), setup.ply()).unwrap();
    Position::try_from(setup).unwrap()
}

/// A piece that moves from the defender's hand to the attacker's never saves the defender.
#[test]
fn more_in_hand_is_never_worse() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let limits = limits(255, 3_000);
    let [mut richer, mut poorer] = [0; 2];
    for position in random_play(31, 2_500).iter().step_by(2) {
        let verdict = attack(&mut solver, position, limits).verdict;
        if position.checks().is_empty() && verdict == Verdict::Disproven {
            continue;
        }
        let (us, them) = (position.side_to_move(), !position.side_to_move());
        for kind in HandKind::ALL {
            if position.hand(them).has(kind) && verdict == Verdict::Proven {
                let solved = attack(&mut solver, &with_hands(position, None, Some(kind)), limits);
                assert_ne!(solved.verdict, Verdict::Disproven, "{position} with {kind:?} more");
                richer += 1;
            }
            if position.hand(us).has(kind) && verdict == Verdict::Disproven {
                let solved = attack(&mut solver, &with_hands(position, Some(kind), None), limits);
                assert_ne!(solved.verdict, Verdict::Proven, "{position} with {kind:?} less");
                poorer += 1;
            }
        }
    }
    assert!(richer > 100 && poorer > 500, "{richer} {poorer}");
}

/// Result and node count of a position, in any order of searches, for either attacker.
#[test]
fn results_do_not_depend_on_earlier_searches() {
    let limits = limits(31, 20_000);
    let known = MATES.iter().map(|&(sfen, _)| sfen).chain([NO_MATE, KNIGHT_CHECK]).map(position);
    let mut positions: Vec<Position> =
        known.chain(random_play(32, 1_500).into_iter().step_by(10)).collect();
    let results = |solver: &mut DfPn<Mate>, position: &Position| {
        let defence = position.in_check().then(|| defend(solver, position, limits));
        (defence, attack(solver, position, limits))
    };
    let expected_results: Vec<_> = positions
        .iter()
        .map(|position| {
            (position.clone(), results(&mut DfPn::new(TableSize::from_mib(2)), position))
        })
        .collect();
    let mut random = Random::new(33);
    let mut used = DfPn::new(TableSize::from_mib(2));
    for _ in 0..2 {
        random.shuffle(&mut positions);
        for position in &positions {
            let (_, expected) = expected_results.iter().find(|(p, _)| p == position).unwrap();
            assert_eq!(&results(&mut used, position), expected, "{position}");
        }
    }
}

/// A table that is far too small decides fewer positions, but none wrongly.
#[test]
fn a_tiny_table_gives_no_wrong_verdict() {
    let mut solver = DfPn::new(TableSize::from_mib(0));
    for (sfen, _) in MATES {
        let verdict = attack(&mut solver, &position(sfen), limits(255, 100_000)).verdict;
        assert_ne!(verdict, Verdict::Disproven, "{sfen}");
    }
    for sfen in [LONG, MANY_INTERPOSITIONS] {
        let verdict = attack(&mut solver, &position(sfen), limits(500, 100_000)).verdict;
        assert_ne!(verdict, Verdict::Disproven, "{sfen}");
    }
    for sfen in [NO_MATE, KNIGHT_CHECK] {
        let verdict = attack(&mut solver, &position(sfen), limits(255, 100_000)).verdict;
        assert_ne!(verdict, Verdict::Proven, "{sfen}");
    }
}

/// A decided verdict stays the same with more nodes.
#[test]
fn node_limits_change_no_verdict() {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    for position in random_play(34, 1_500).iter().step_by(5) {
        let decided =
            |nodes, solver: &mut DfPn<Mate>| match attack(solver, position, limits(255, nodes))
                .verdict
            {
                Verdict::Unknown(_) => None,
                decided => Some(decided),
            };
        let verdicts: Vec<Verdict> = [3, 30, 300, 3_000]
            .into_iter()
            .filter_map(|nodes| decided(nodes, &mut solver))
            .collect();
        assert!(verdicts.windows(2).all(|pair| pair[0] == pair[1]), "{position}: {verdicts:?}");
    }
}
