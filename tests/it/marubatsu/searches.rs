//! Minimax, alpha-beta, PVS and iterative deepening: nodes, values, best moves.
//!
//! The numbers of nodes come from article 186 of 「Pythonで〇×ゲームのAIを一から作成する」 (Qiita).

use kyokumen::marubatsu::check::{PositionScope, judge};
use kyokumen::marubatsu::evaluation::Evaluation;
use kyokumen::marubatsu::search::{
    Method, Ordering, SearchOutcome, Settings, SymmetryMoves, TableKind, TableScope, Undo, search,
    search_ordered, search_traced,
};
use kyokumen::marubatsu::{Board, Mark, Solution};

fn start(settings: Settings) -> SearchOutcome {
    search(Board::EMPTY, settings, &Solution::new())
}

#[test]
fn alpha_beta_visits_the_nodes_of_the_article() {
    let settings = Settings::new(Method::AlphaBeta);
    let per_move = Settings { table_scope: TableScope::PerMove, ..settings };
    let plain = Settings { table: TableKind::Plain, ..settings };
    let found = start(settings);
    assert_eq!((found.nodes, found.best_moves.len()), (1_175, 9));
    assert_eq!(start(per_move).nodes, 6_641);
    assert_eq!(start(plain).nodes, 7_375);
}

#[test]
fn minimax_visits_the_whole_tree() {
    let settings = Settings::new(Method::Minimax);
    assert_eq!(start(settings).nodes, 549_945);
    assert_eq!(start(settings).moves_made, 549_945);
}

#[test]
fn iterative_deepening_visits_the_nodes_of_the_article() {
    let last = start(Settings::new(Method::Ids));
    assert_eq!(last.iterations, [9, 36, 68, 163, 272, 459, 567, 544, 545]);
    assert_eq!(last.nodes, 545);
    let first = Settings { symmetry_moves: SymmetryMoves::First, ..Settings::new(Method::Ids) };
    assert_eq!(start(first).nodes, 524);
    assert_eq!(start(Settings::new(Method::Pvs)).nodes, 545);
    let unordered = Settings { ordering: Ordering::None, ..Settings::new(Method::Pvs) };
    assert_eq!(start(unordered).nodes, 1_165);
}

/// Both undo methods visit the same nodes. `Undo::Twice` makes one more move for each repeated search.
#[test]
fn both_undo_methods_visit_the_same_nodes() {
    let unordered = Settings { ordering: Ordering::None, ..Settings::new(Method::Pvs) };
    let mut again = 0;
    for settings in [unordered, Settings::new(Method::Ids), Settings { depth: 6, ..unordered }] {
        let once = start(Settings { undo: Undo::Once, ..settings });
        let twice = start(Settings { undo: Undo::Twice, ..settings });
        assert_eq!((once.nodes, &once.moves), (twice.nodes, &twice.moves));
        assert_eq!(twice.moves_made, once.moves_made + twice.searched_again);
        assert_eq!(once.nodes, once.moves_made + once.searched_again);
        again += once.searched_again;
    }
    assert!(again > 0);
}

/// The check of the articles: a search chooses only best moves in every position whose moves differ in value.
#[test]
fn every_search_plays_best_moves_in_every_position_with_a_choice() {
    let solution = Solution::new();
    for method in [Method::Minimax, Method::AlphaBeta, Method::Pvs, Method::Ids] {
        let table = TableKind::Symmetric;
        for undo in [Undo::Once, Undo::Twice] {
            let settings = Settings { table, undo, ..Settings::new(method) };
            let right = judge(PositionScope::UpToSymmetry, &solution, |solved| {
                search(solved.board, settings, &solution).best_moves
            });
            assert_eq!((right.right, right.positions), (431, 431), "{method:?}");
        }
    }
}

/// As in the articles: in every position, the table of a search of the start position to depth 7 orders the moves.
#[test]
fn pvs_with_the_table_of_the_start_plays_best_moves_in_all_431_positions() {
    let solution = Solution::new();
    let shallow = Settings { depth: 7, ..Settings::new(Method::Ids) };
    let table = search(Board::EMPTY, shallow, &solution).table;
    let settings = Settings::new(Method::Pvs);
    assert_eq!(search_ordered(Board::EMPTY, settings, &solution, &table).nodes, 545);
    let right = judge(PositionScope::UpToSymmetry, &solution, |solved| {
        search_ordered(solved.board, settings, &solution, &table).best_moves
    });
    assert_eq!((right.right, right.positions), (431, 431));
}

/// Every position, every table, both evaluations: value and best moves equal the solution.
#[test]
fn searches_agree_with_the_solution() {
    let solution = Solution::new();
    for method in [Method::Minimax, Method::AlphaBeta, Method::Pvs, Method::Ids] {
        for table in [TableKind::None, TableKind::Plain, TableKind::Symmetric] {
            for (evaluation, win) in [(Evaluation::Ai14s, 300.0), (Evaluation::Exact, 1.0)] {
                let settings = Settings { table, evaluation, ..Settings::new(method) };
                // From the first two plies, a search without a table is slow and covers nothing new.
                let later = solution.positions().iter().filter(|solved| solved.board.ply() >= 2);
                for solved in later {
                    let found = search(solved.board, settings, &solution);
                    let value = found.value.as_points() / win;
                    assert_eq!((value, found.best_moves), (solved.value.into(), solved.best_moves));
                    let is_better = |&(_, score)| match solved.to_move {
                        Mark::Circle => score > found.value,
                        Mark::Cross => score < found.value,
                    };
                    assert!(!found.moves.iter().any(is_better), "{}", solved.board);
                }
            }
        }
    }
}

/// The visits in the trace add up to the node count.
#[test]
fn a_trace_contains_every_visited_node() {
    let solution = Solution::new();
    for method in [Method::Minimax, Method::AlphaBeta, Method::Pvs] {
        let settings =
            Settings { table: TableKind::None, ordering: Ordering::None, ..Settings::new(method) };
        let board: Board = "o../.x./...".parse().unwrap();
        let (found, trace) = search_traced(board, settings, &solution);
        let visits: u32 = trace.nodes().iter().map(|node| node.visits).sum();
        assert_eq!(u64::from(visits), found.nodes, "{method:?}");
        assert_eq!(found, search(board, settings, &solution));
    }
}
