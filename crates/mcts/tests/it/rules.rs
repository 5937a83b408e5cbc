//! Searches whose outcome the rules decide.

use kyokumen_mcts::{Leaf, LeafSearch, MateLimits, MctsSettings, Simulation, Tree};
use kyokumen_network::Uniform;
use kyokumen_shogi::{Move, Position, PositionHistory};

fn tree(sfen: &str, moves: &str, leaf_mate: MateLimits) -> Tree {
    let settings = MctsSettings { leaf_mate, ..MctsSettings::default() };
    let mut position: Position = sfen.parse().unwrap();
    let mut history = PositionHistory::default();
    history.push(&position);
    for m in moves.split_whitespace() {
        position.make(Move::from_usi(m).unwrap());
        history.push(&position);
    }
    Tree::new(settings, position, history, 0)
}

/// Searches until the root is proven, with at most `most` visits. Returns its visits.
fn search(tree: &mut Tree, most: u32) -> u32 {
    super::search(tree, &mut LeafSearch::try_new(1).unwrap(), &mut Uniform::default(), most);
    tree.visits()
}

#[test]
fn a_mate_in_one_is_proven_and_played() {
    let mut tree = tree("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1", "", MateLimits::NONE);
    assert!(search(&mut tree, 1000) < 1000);
    let root = tree.root();
    assert_eq!((root.proven, root.value), (Some(true), 1.0));
    assert_eq!(root.best().unwrap().m.to_string(), "G*5b");
    assert_eq!(tree.principal_variation().len(), 1);
}

#[test]
fn being_mated_is_proven_too() {
    // The king has two squares, and a gold mates it on each.
    let mut tree = tree("4k4/9/3GPG3/9/9/9/9/9/4K4 w G 1", "", MateLimits::NONE);
    search(&mut tree, 200_000);
    assert_eq!(tree.root().proven, Some(false));
    assert!(tree.root().moves.iter().all(|m| m.proven == Some(false)));
}

#[test]
fn leaves_are_searched_for_mates() {
    let limits = MateLimits { depth: 7, nodes: 1000 };
    // After both king moves there is a mate in one, which a mate search at the leaf finds at once.
    let sfen = "4k4/9/3GPG3/9/9/9/9/9/4K4 w G 1";
    let with = search(&mut tree(sfen, "", limits), 10_000);
    let without = search(&mut tree(sfen, "", MateLimits::NONE), 200_000);
    assert!(with < without, "{with} {without}");
}

#[test]
fn a_declaration_ends_the_search() {
    let sfen = "K+R+R+B+BGGSS/NL7/9/9/9/9/9/9/8k b 2P2g2s3n3l16p 1";
    let tree = tree(sfen, "", MateLimits::NONE);
    assert_eq!(tree.root().proven, Some(true));
}

#[test]
fn a_perpetual_check_loses_and_is_avoided() {
    // The rook has given check along two ranks. The move 5b5a repeats the first position.
    let sfen = "4k4/R8/9/9/9/9/9/9/4K4 b 2b4g4s4n4l18pr 1";
    let mut tree = tree(sfen, "9b9a 5a5b 9a9b", MateLimits::NONE);
    search(&mut tree, 300);
    let root = tree.root();
    let back = root.moves.iter().find(|m| m.m.to_string() == "5b5a").unwrap();
    // For White, whose king was in check throughout, the repetition is a win.
    assert_eq!(back.value, Some(1.0));
    assert_eq!(back.proven, None);
    assert_eq!(root.best().unwrap().m, back.m);
}

#[test]
fn a_discarded_leaf_is_searched_again() {
    let mut searched = tree("4k4/9/9/9/9/9/9/9/4K4 b R2b4g4s4n4l18pr 1", "", MateLimits::NONE);
    let mut discarded = searched.clone();
    search(&mut searched, 50);
    let mut mates = LeafSearch::try_new(1).unwrap();
    let mut leaf = Leaf::default();
    assert_eq!(discarded.simulate(&mut leaf, &mut mates), Simulation::Leaf);
    assert_eq!(discarded.simulate(&mut Leaf::default(), &mut mates), Simulation::Collision);
    discarded.discard(&leaf);
    search(&mut discarded, 50);
    assert_eq!(discarded.root(), searched.root());
}
