//! The complete tree and the solved positions.
//!
//! The numbers of nodes and positions come from 「Pythonで〇×ゲームのAIを一から作成する」 (Qiita).

use kyokumen::marubatsu::representation::{self, Planes, Representation, Visitor};
use kyokumen::marubatsu::tree::GameTree;
use kyokumen::marubatsu::{Board, Solution, canonical};

#[test]
fn the_tree_has_the_node_counts_of_the_articles() {
    let tree = GameTree::by_make_unmake::<Planes>();
    assert_eq!(tree.nodes().len(), 549_946);
    let by_depth = [1, 9, 72, 504, 3_024, 15_120, 54_720, 148_176, 200_448, 127_872];
    assert_eq!(tree.by_depth(), by_depth);
}

struct SameTree(GameTree, usize);

impl Visitor for SameTree {
    fn visit<R: Representation>(&mut self) {
        assert_eq!(GameTree::by_make_unmake::<R>(), self.0, "{}", R::NAME);
        assert_eq!(GameTree::by_copying::<R>(), self.0, "{}", R::NAME);
        self.1 += 1;
    }
}

#[test]
fn copying_and_undoing_build_the_same_tree_on_all_representations() {
    let mut same = SameTree(GameTree::by_make_unmake::<Planes>(), 0);
    representation::visit_all(&mut same);
    assert_eq!(same.1, 6);
}

/// The tree uses minimax over sequences of moves, the solution works backwards over positions.
#[test]
fn tree_and_solution_agree_in_every_node() {
    let tree = GameTree::by_copying::<Planes>();
    let solution = Solution::new();
    let mut seen = 0;
    let mut stack = vec![(0, Board::EMPTY)];
    while let Some((number, board)) = stack.pop() {
        let (node, solved) = (tree.nodes()[number], solution.get(board).unwrap());
        assert_eq!((node.value(), node.distance()), (solved.value, solved.distance), "{board}");
        assert_eq!(u32::from(node.ply()), board.ply());
        seen += 1;
        for child in tree.children(number) {
            stack.push((child, board.after(tree.nodes()[child].last().unwrap())));
        }
    }
    assert_eq!(seen, 549_946);
}

#[test]
fn numbers_of_positions_and_symmetry_classes_match_the_articles() {
    let solution = Solution::new();
    let positions = solution.positions();
    let playing = |board: Board| !board.moves().is_empty();
    assert_eq!(positions.len(), 5_478);
    assert_eq!(positions.iter().filter(|solved| playing(solved.board)).count(), 4_520);
    assert_eq!(solution.up_to_symmetry().count(), 765);
    assert_eq!(solution.up_to_symmetry().filter(|solved| playing(solved.board)).count(), 627);
    assert_eq!(solution.with_choice().count(), 3_191);
    for solved in positions {
        let class = solution.get(canonical(solved.board)).unwrap();
        assert_eq!(class.symmetry_class, solved.symmetry_class);
        assert_eq!((class.value, class.distance), (solved.value, solved.distance));
    }
    assert_eq!(positions.iter().map(|solved| solved.symmetry_class).max(), Some(764));
}
