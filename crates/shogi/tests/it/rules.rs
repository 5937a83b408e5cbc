//! Compares the fast rules with the rule-book move generator: moves, keys, make and unmake, mate in one, attacks.
//!
//! The reference is `shogi::plain`, an independent, deliberately simple move generator without bitboards. `rsshogi.rs`
//! compares both with another program.

use kyokumen_game::{Expansion, Game, Moves, Outcome};
use kyokumen_shogi::{
    Bitboard, Color, HandKind, Mate, Move, Position, Setup, Square, attacks, perft, plain,
};
use kyokumen_testing::positions::{position, random_play, shared_positions, strewn};

#[test]
fn rules_hold_in_random_games() {
    for position in random_play(1, 3_000) {
        check_rules(&position);
    }
}

#[test]
fn rules_hold_for_random_arrangements() {
    for position in strewn(2, 1_500) {
        check_rules(&position);
    }
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn rules_hold_in_real_positions() {
    let files = [
        ("bench_games.tsv", 1),
        ("bench_engine.tsv", 1),
        ("bench_random.tsv", 1),
        ("tsume_dev.tsv", 3),
        ("dev_handicap.sfen", 5),
        ("dev.sfen.zst", 31),
    ];
    for (name, step) in files {
        for position in shared_positions(name, step) {
            check_rules(&position);
        }
    }
}

/// The positions must contain every case that the tests are about; otherwise the tests prove nothing.
#[test]
fn generated_positions_contain_every_case() {
    let positions = [random_play(1, 3_000), strewn(2, 1_500)].concat();
    let having = |wanted: fn(&Position) -> bool| positions.iter().filter(|p| wanted(p)).count();
    assert!(having(Position::in_check) > 300);
    assert!(having(|p| p.checkers().has_many()) > 40);
    assert!(having(|p| p.mate_in_one().is_some()) > 100);
    assert!(having(Position::is_checkmate) > 10);
    assert!(having(|p| p.blockers(p.side_to_move()).has_any()) > 200);
    assert!(having(|p| Color::ALL.iter().all(|&color| !p.hand(color).is_empty())) > 200);
    assert!(having(|p| Color::ALL.iter().any(|&color| p.king(color).is_none())) > 200);
}

fn check_rules(position: &Position) {
    let legal = sorted(plain::legal_moves(position));
    assert_eq!(sorted(position.legal_moves()), legal, "legal moves of {position}");
    assert_eq!(position.has_legal_move(), !legal.is_empty(), "{position}");
    assert_eq!(position.in_check(), plain::in_check(position), "{position}");
    if position.in_check() {
        assert_eq!(sorted(evasions(position)), legal, "evasions of {position}");
    }
    check_checks(position, &legal);
    for &m in &legal {
        assert!(position.is_legal(m), "{m} in {position}");
        check_make(position, m);
    }
    check_attackers(position);
    check_sfen(position);
}

fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort_unstable();
    moves
}

fn evasions(position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    let _ = position.visit_evasions(|set| {
        set.for_each(|m| moves.push(m));
        std::ops::ControlFlow::Continue(())
    });
    moves
}

/// Compares the check generator, `gives_check` and mate in one with making every move.
fn check_checks(position: &Position, legal: &[Move]) {
    let mut checks = Vec::new();
    let mut mates = Vec::new();
    for &m in legal {
        let mut after = position.clone();
        after.make(m);
        let is_check = plain::in_check(&after);
        assert_eq!(position.gives_check(m), is_check, "{m} in {position}");
        let is_mate = is_check && plain::legal_moves(&after).is_empty();
        assert_eq!(plain::legal_mate(position, m.code().get()).is_some(), is_mate);
        if is_check {
            checks.push(m);
        }
        if is_mate {
            mates.push(m);
        }
    }
    assert_eq!(sorted(position.checks()), checks, "checks of {position}");
    match position.mate_in_one() {
        Some(m) => assert!(mates.contains(&m), "{m} does not mate in {position}"),
        None => assert!(mates.is_empty(), "{mates:?} overlooked in {position}"),
    }
}

/// Checks that a move can be taken back, and that predicted and incremental state equal recomputed state.
fn check_make(position: &Position, m: Move) {
    let us = position.side_to_move();
    let mut made = position.clone();
    let undo = made.make(m);
    let recomputed = Position::try_from(made.setup()).unwrap();
    assert_eq!(made, recomputed, "{m} in {position}");
    assert_eq!(position.board_key_after(m), made.board_key(), "{m} in {position}");
    assert_ne!(position.board_key(), made.board_key(), "{m} in {position}");
    assert_eq!(position.hand_after(m), made.hand(us), "{m} in {position}");
    assert_eq!(position.hand(!us), made.hand(!us), "{m} in {position}");
    assert_eq!(position.captured_by(m).is_some(), captures(position, &made), "{m} in {position}");
    made.unmake(m, undo);
    assert_eq!(&made, position, "{m} taken back");
}

fn captures(before: &Position, after: &Position) -> bool {
    let us = before.side_to_move();
    after.color(!us) != before.color(!us)
}

fn check_attackers(position: &Position) {
    // Occupancies as a search uses them: all pieces, and all except one king.
    let lifted = Color::ALL.into_iter().filter_map(|color| position.king(color));
    let boards = lifted
        .map(|king| position.occupied().without(Bitboard::from_square(king)))
        .chain([position.occupied()]);
    for occupied in boards {
        for (square, color) in Square::all().flat_map(|square| Color::ALL.map(|c| (square, c))) {
            let expected: Bitboard = position
                .color(color)
                .filter(|&from| {
                    let kind = position.piece_on(from).unwrap().kind;
                    attacks::piece(color, kind, from, occupied).contains(square)
                })
                .collect();
            let attackers = position.attackers_to(square, occupied, color);
            assert_eq!(attackers, expected, "{color:?} to {square} in {position}");
            let attacked = position.is_attacked(square, occupied, color);
            assert_eq!(attacked, expected.has_any(), "{color:?} to {square} in {position}");
        }
    }
}

fn check_sfen(position: &Position) {
    let text = position.to_string();
    let setup: Setup = text.parse().unwrap();
    assert_eq!(setup, position.setup(), "{text}");
    assert_eq!(setup.to_string(), text);
}

/// Every move that can be encoded, legal or not.
#[test]
fn is_legal_agrees_on_all_moves() {
    let positions = random_play(3, 1_000).into_iter().step_by(40).chain(strewn(4, 10));
    for position in positions {
        let legal = plain::legal_moves(&position);
        let squares = || Square::all();
        let on_board = squares()
            .flat_map(|from| squares().map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
            .flat_map(|(from, to)| [false, true].map(|promotion| Move::new(from, to, promotion)));
        let drops = HandKind::ALL
            .into_iter()
            .flat_map(|kind| squares().map(move |to| Move::drop(kind, to)));
        let found: Vec<Move> = on_board.chain(drops).filter(|&m| position.is_legal(m)).collect();
        assert_eq!(sorted(found), sorted(legal), "{position}");
    }
}

/// In check, the rule-book move generator tries only moves that may end the check. `legal_move` tries any move.
#[test]
fn plain_moves_are_all_moves_that_are_legal_one_by_one() {
    let positions = random_play(5, 3_000).into_iter().chain(strewn(6, 600));
    let in_check = positions.filter(Position::in_check).step_by(11);
    for position in in_check.chain(strewn(7, 4)) {
        let legal: Vec<Move> =
            (0..=u16::MAX).filter_map(|code| plain::legal_move(&position, code)).collect();
        assert_eq!(sorted(plain::legal_moves(&position)), legal, "{position}");
        let checks: Vec<Move> =
            legal.iter().filter_map(|m| plain::legal_check(&position, m.code().get())).collect();
        assert_eq!(sorted(plain::legal_checks(&position)), checks, "{position}");
        assert_eq!(sorted(position.checks()), checks, "{position}");
    }
}

#[test]
fn a_mate_expands_in_one_step_as_in_two() {
    let mut mates = 0;
    for position in random_play(10, 2_000).into_iter().chain(strewn(11, 1_000)) {
        for game in
            [Mate::by_side_to_move(position.clone()), Mate::against_side_to_move(position.clone())]
        {
            let mut expected = Vec::new();
            let in_two = match game.expand(&mut expected) {
                Expansion::Moves => {
                    game.set_first_numbers(&mut expected).map_or(Ok(Expansion::Moves), Err)
                }
                over @ Expansion::Over(_) => Ok(over),
            };
            let mut candidates = Vec::new();
            assert_eq!(game.expand_with_numbers(&mut candidates), in_two, "{position}");
            if in_two.is_ok() {
                assert_eq!(format!("{candidates:?}"), format!("{expected:?}"), "{position}");
            } else {
                mates += 1;
            }
        }
    }
    assert!(mates > 50, "{mates}");
}

/// The reference is the default of the trait, which `Mate` replaces. Searches ask only where the attacker moves.
#[test]
fn the_plain_mates_are_those_of_the_default() {
    let mut mates = 0;
    for position in random_play(12, 2_000).into_iter().chain(strewn(13, 1_000)) {
        let mut game = Mate::by_side_to_move(position.clone());
        for code in plain::legal_moves(&position).into_iter().map(|m| m.code().get()).chain([1]) {
            let goal = game.plain_move(code).filter(|&m| {
                let undo = game.make(m);
                let is_goal = game.plain_moves() == Moves::Over(Outcome::Reached);
                game.unmake(m, undo);
                is_goal
            });
            assert_eq!(game.plain_goal_move(code), goal, "{code} in {position}");
            mates += usize::from(goal.is_some());
        }
    }
    assert!(mates > 10, "{mates}");
}

/// The order decides which of several equal proofs is found, and so the lines.
#[test]
fn plain_moves_come_in_the_order_of_squares_and_kinds_in_hand() {
    for position in random_play(8, 1_000).into_iter().chain(strewn(9, 300)) {
        let moves = plain::legal_moves(&position);
        let origin = |m: &Move| m.from().map_or((81, m.dropped()), |from| (from.index(), None));
        assert!(moves.is_sorted_by_key(origin), "{position}: {moves:?}");
        let drops: Vec<Move> = moves.into_iter().filter(|m| m.is_drop()).collect();
        assert!(drops.is_sorted_by_key(|m| (m.dropped(), m.to())), "{position}: {drops:?}");
    }
}

/// The figures printed by YaneuraOu's `perft`, and the number of drops.
#[test]
fn perft_of_the_start_position_five_plies() {
    let counted = perft::count(&mut Position::start(), 5);
    let figures = (counted.nodes, counted.captures, counted.promotions, counted.checks);
    assert_eq!(figures, (19861490, 113680, 57214, 71434));
    assert_eq!((counted.drops, counted.mates), (2776, 0));
}

#[test]
fn the_position_with_most_moves_has_593() {
    let most = position("R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1");
    assert_eq!(most.legal_moves().len(), 593);
    assert_eq!(plain::legal_moves(&most).len(), 593);
}
