//! Findings about all moves of a position, compared with an exhaustive search and with problems of known solutions.
//!
//! The exhaustive search is that of `exhaustive.rs`. The problems were made for these tests. Their expected findings
//! can be verified on the board.

use std::sync::atomic::AtomicBool;

use kyokumen_search::alternatives::{
    AlternativeKind, AlternativesSearch, AttackFindings, LineNode, MainLine, Question,
    ReplyFinding, Uniqueness,
};
use kyokumen_search::solver::Attacker;
use kyokumen_search::{Limits, Stop, TableSize, Verdict, WhenHopeless};
use kyokumen_shogi::{Move, Position, plain};
use kyokumen_testing::positions::{position, random_play, strewn};

use crate::exhaustive::{is_mated_within, mates_within};

static OBSERVER: AtomicBool = AtomicBool::new(false);

fn question(depth_plies: u16, nodes: u64) -> Question {
    Question::new(Limits { depth_plies, nodes, when_hopeless: WhenHopeless::GoOn }, nodes)
}

fn search() -> AlternativesSearch {
    AlternativesSearch::new(TableSize::from_mib(4))
}

fn first_moves(sfen: &str) -> AttackFindings {
    search().first_moves(&position(sfen), &question(31, 2_000_000), &OBSERVER)
}

fn line(sfen: &str, intended: &str) -> MainLine {
    let intended = intended.split_whitespace().map(|word| Move::from_usi(word).unwrap()).collect();
    let question = Question { intended, ..question(31, 2_000_000) };
    search().line(&position(sfen), Attacker::SideToMove, &question, &OBSERVER)
}

/// The checks that mate, with plies and kind.
fn mates(found: &AttackFindings) -> Vec<(String, usize, Option<AlternativeKind>)> {
    let checks = found.checks.iter();
    let mates =
        checks.filter_map(|check| Some((check.finding.m, check.finding.plies()?, check.kind)));
    mates.map(|(m, plies, kind)| (m.to_string(), plies, kind)).collect()
}

fn after(position: &Position, m: Move) -> Position {
    let mut after = position.clone();
    after.make(m);
    after
}

/// Mates in one, three and five: the same first moves with the same lengths, and lines that end in mate by the plain
/// rules.
#[test]
fn first_moves_agree_with_exhaustive_search() {
    let mut search = search();
    let mut seen = [0; 6];
    let mut others = 0;
    let positions = random_play(171, 1_500).into_iter().chain(strewn(172, 800));
    for root in positions.filter(|root| root.king(!root.side_to_move()).is_some()) {
        let found = search.first_moves(&root, &question(5, 400_000), &OBSERVER);
        let mut legal: Vec<Move> = plain::legal_checks(&root);
        legal.sort_by_key(|m| m.code());
        let mut searched: Vec<Move> = found.checks.iter().map(|check| check.finding.m).collect();
        searched.sort_by_key(|m| m.code());
        assert_eq!(searched, legal, "{root}");
        for check in &found.checks {
            let finding = &check.finding;
            let next = after(&root, finding.m);
            let what = format!("{root}: {} {:?}", finding.m, finding.verdict);
            let truth =
                [0, 2, 4].into_iter().find_map(|plies| match is_mated_within(&next, plies) {
                    Some(true) => Some(Some(usize::from(plies) + 1)),
                    Some(false) => None,
                    None => Some(None),
                });
            match (finding.verdict, truth) {
                (_, Some(None)) => {}
                (Verdict::Proven, Some(Some(plies))) => {
                    assert_eq!(
                        (finding.plies(), finding.is_shortest),
                        (Some(plies), true),
                        "{what}"
                    );
                    let end = finding.line.iter().fold(root.clone(), |root, &m| after(&root, m));
                    assert!(plain::legal_moves(&end).is_empty() && plain::in_check(&end), "{what}");
                    seen[plies] += 1;
                }
                // Through the table a mate can be longer than the limit.
                (Verdict::Proven, None) => assert!(finding.line.len() > 5, "{what}"),
                (Verdict::Disproven | Verdict::Unknown(Stop::Depth), None) => others += 1,
                _ => panic!("{what}: {truth:?}"),
            }
        }
        if let Some(solution) = found.solution {
            let plies = u16::try_from(found.checks[solution].finding.line.len()).unwrap();
            assert_ne!(mates_within(&root, plies.saturating_sub(1)), Some(true), "{root}");
        }
    }
    assert!(seen[1] > 50 && seen[3] > 100 && seen[5] > 100 && others > 5_000, "{seen:?} {others}");
}

/// The only mate is a gold dropped in front of the bare king, supported by a pawn.
#[test]
fn a_single_mate_is_unique() {
    let found = first_moves("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1");
    assert_eq!(found.uniqueness(), Uniqueness::Unique);
    assert_eq!(mates(&found), [("G*5b".to_owned(), 1, None)]);
}

/// Mates in one, so that the kinds can be verified on the board.
#[test]
fn alternatives_have_the_expected_kinds() {
    use AlternativeKind::{Distance, Mirror, Other, Promotion};
    for (sfen, solution, others) in [
        // The rook moves to the king's rank, with or without promotion.
        ("4k4/9/4G4/9/R8/9/9/9/9 b - 1", "9e9a+", &[("9e9a", 1, Promotion)][..]),
        // A rook dropped on the king's rank at any distance, or below the king for a longer mate.
        (
            "3pk4/9/4G4/9/9/9/9/9/9 b R 1",
            "R*1a",
            &[("R*2a", 1, Distance), ("R*3a", 1, Distance), ("R*5b", 3, Other)],
        ),
        // The position equals its mirror image.
        ("3gkg3/3nnn3/9/9/9/9/9/9/9 b N 1", "N*4c", &[("N*6c", 1, Mirror)]),
        // The lance supports the pawn; the pawn supports the gold.
        ("4k4/9/4P4/4L4/9/9/9/9/9 b G2r2b3g4s4n3l17p 1", "5c5b+", &[("G*5b", 1, Other)]),
    ] {
        let found = first_moves(sfen);
        let mut expected: Vec<_> =
            others.iter().map(|&(m, plies, kind)| (m.to_owned(), plies, Some(kind))).collect();
        expected.push((solution.to_owned(), 1, None));
        expected.sort_by_key(|(m, ..)| m.clone());
        let mut mates = mates(&found);
        mates.sort_by_key(|(m, ..)| m.clone());
        assert_eq!(mates, expected, "{sfen}");
        assert_eq!(found.uniqueness(), Uniqueness::NotUnique, "{sfen}");
    }
}

/// Positions from random games with checks that mate only by a detour, or only through the main line.
#[test]
fn detours_and_rejoining_mates_are_recognised() {
    for (sfen, ply, m, kind) in [
        (
            "5+R2+L/3S5/3r2P1k/9/6s1p/1p2N1S2/7g1/9/4g1KB1 w BGN6Pgs2n3l9p 210",
            3,
            "2h3i",
            AlternativeKind::Detour,
        ),
        (
            "3p3s+P/1rg6/1p2s1Lb1/p1p2k3/4gp1Pl/2P1p1P2/PP1P1+n2N/L1GS4L/1NS2rGK1 w BPn4p 152",
            1,
            "4i3i",
            AlternativeKind::Rejoins,
        ),
    ] {
        let line = line(sfen, "");
        assert!(line.is_complete);
        let node = line.attacks().nth(ply / 2).unwrap();
        let check = node.checks.iter().find(|check| check.finding.m.to_string() == m).unwrap();
        assert_eq!(check.kind, Some(kind), "{sfen}");
        assert!(check.finding.mates() && check.finding.line.len() > 3);
    }
}

/// Two golds against the bare king.
#[test]
fn the_main_line_lists_all_moves_of_each_position() {
    // The gold drives the king to the edge. If the king goes the other way, it is mated sooner.
    let sfen = "7k1/9/6PPP/9/9/9/9/9/9 b 2Gr2br2g4s4n4l15p 1";
    let line = line(sfen, "");
    assert!(line.is_complete);
    let mut root = position(sfen);
    for (ply, node) in line.nodes.iter().enumerate() {
        let (moves, is_attack) = match node {
            LineNode::Attack(node) => {
                (node.checks.iter().map(|check| check.finding.m).collect::<Vec<_>>(), true)
            }
            LineNode::Defence(node) => {
                assert!(node.replies.iter().all(|reply| reply.finding.mates()));
                let longest = node.replies.iter().filter(|reply| reply.is_longest == Some(true));
                let plies: Vec<_> = longest.map(|reply| reply.finding.tsume_plies).collect();
                assert!(plies.windows(2).all(|pair| pair[0] == pair[1]), "{plies:?}");
                let solution = node.solution.map(|index| &node.replies[index]);
                assert!(solution.is_none_or(|reply| reply.is_longest == Some(true)));
                (node.replies.iter().map(|reply| reply.finding.m).collect(), false)
            }
        };
        assert_eq!(is_attack, ply % 2 == 0);
        let expected = if is_attack { root.checks() } else { root.legal_moves() };
        assert_eq!(moves, expected);
        if let Some(solution) = node.solution() {
            // Each move of the solution shortens the rest by one ply.
            assert_eq!(solution.line.len() + ply, line.moves().count());
            root.make(solution.m);
        }
    }
    assert!(plain::legal_moves(&root).is_empty());
}

/// Mates of five plies without interpositions: the length of each reply, and which of them are longest.
#[test]
fn longest_replies_agree_with_exhaustive_search() {
    let mut search = search();
    let (mut longest, mut sooner) = (0, 0);
    for root in random_play(173, 4_000).into_iter().chain(strewn(174, 1_200)) {
        if root.king(!root.side_to_move()).is_none() || mates_within(&root, 5) != Some(true) {
            continue;
        }
        let found = search.first_moves(&root, &question(5, 400_000), &OBSERVER);
        let solution = found.solution.map(|index| &found.checks[index].finding);
        let Some(solution) = solution.filter(|found| found.line.len() == 5) else { continue };
        let root = after(&root, solution.m);
        let found = search.replies(&root, &question(5, 200_000), &OBSERVER);
        let counted = |reply: &ReplyFinding| {
            reply.finding.plies().zip(reply.finding.tsume_plies.map(usize::from))
        };
        let has_no_futile =
            |reply: &ReplyFinding| counted(reply).is_some_and(|(plies, counted)| plies == counted);
        if !found.replies.iter().all(|reply| has_no_futile(reply) && !reply.finding.m.is_drop()) {
            continue;
        }
        let true_plies = |reply: &ReplyFinding| {
            let next = after(&root, reply.finding.m);
            [1, 3].into_iter().find(|&plies| mates_within(&next, plies) == Some(true))
        };
        let plies: Vec<Option<u16>> = found.replies.iter().map(true_plies).collect();
        let longest_plies = plies.iter().max().unwrap();
        for (reply, plies) in found.replies.iter().zip(&plies) {
            let what = format!("{root}: {} {plies:?}", reply.finding.m);
            assert_eq!(reply.finding.plies(), plies.map(|plies| usize::from(plies) + 1), "{what}");
            assert_eq!(reply.is_longest, Some(plies == longest_plies), "{what}");
            if plies == longest_plies { longest += 1 } else { sooner += 1 }
        }
    }
    assert!(longest > 80 && sooner > 40, "{longest} {sooner}");
}

/// If the intended move does not mate, the line ends there.
#[test]
fn the_main_line_follows_the_intended_solution() {
    let sfen = "3pk4/9/4G4/9/9/9/9/9/9 b R 1";
    let found = line(sfen, "R*5b 5a4a 5c4b");
    assert_eq!(found.moves().map(|m| m.to_string()).collect::<Vec<_>>(), ["R*5b", "5a4a", "5c4b"]);
    assert!(found.is_complete);
    let first = found.attacks().next().unwrap();
    let kinds: Vec<_> = first.alternatives().map(|check| check.kind).collect();
    assert_eq!(kinds, [Some(AlternativeKind::Shorter); 3]);
    let not_mating = line(sfen, "5c5b");
    assert!(!not_mating.is_complete && not_mating.moves().next().is_none());
    assert_eq!(not_mating.uniqueness(), Uniqueness::NotUnique);
    let no_mate = line("4k4/9/9/9/4P4/9/9/9/9 b G 1", "");
    assert_eq!(no_mate.uniqueness(), Uniqueness::NoMate);
}

/// A solution with undecided alternatives is not unique.
#[test]
fn moves_beyond_the_node_budget_are_unknown() {
    let sfen = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161";
    let root = position(sfen);
    for nodes in [0, 100, 3_000, 30_000] {
        let question = question(63, nodes);
        let found = search().first_moves(&root, &question, &OBSERVER);
        let spent: u64 = found.checks.iter().map(|check| check.finding.nodes).sum();
        assert!(spent <= nodes, "{spent} of {nodes}");
        let is_unknown = |verdict: &Verdict| matches!(verdict, Verdict::Unknown(Stop::Nodes));
        let unknown =
            found.checks.iter().filter(|check| is_unknown(&check.finding.verdict)).count();
        assert!(unknown > 0 && found.uniqueness() != Uniqueness::Unique, "{nodes}");
        let again = search().first_moves(&root, &question, &OBSERVER);
        assert_eq!(found, again);
    }
}

#[test]
fn futile_replies_are_marked() {
    let question = question(31, 1_000_000);
    // White is in check by the lance and can only interpose. Every interposed piece is captured.
    let root = position("7lk/9/7G1/9/9/9/9/9/K7L w 2R2B3G4S4N2L17Pp 1");
    let found = search().replies(&root, &question, &OBSERVER);
    assert!(found.replies.len() > 3 && found.solution.is_none());
    for reply in &found.replies {
        assert_eq!((reply.is_futile, reply.is_longest), (Some(true), Some(false)));
    }
    // If the lance captures next to the king, the king captures the lance. So that interposition counts.
    let root = position("8k/6S2/6G2/9/9/9/9/9/K7L w 2R2B3G3S4N3L17Pp 1");
    let found = search().replies(&root, &question, &OBSERVER);
    let next_to_king =
        found.replies.iter().find(|reply| reply.finding.m.to_string() == "P*1b").unwrap();
    assert_eq!((next_to_king.is_futile, next_to_king.is_longest), (Some(false), Some(true)));
}
