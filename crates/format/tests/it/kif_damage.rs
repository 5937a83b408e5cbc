//! KIF and KI2 with wrong numbers, missing or repeated lines, and all kinds of summaries. Checks that no wrong winner
//! and no position that did not occur is read, and that every loss is an error or counted.

use kyokumen_format::{Ending, Format, Game, GameResult, Variation};
use kyokumen_testing::game_properties::check_file;
use kyokumen_testing::games::read_game;
use kyokumen_testing::literals::PROBLEM;

use crate::kif::{read, usi, written};

const HEAD: &str = "手合割：平手\n手数----指手---------消費時間--\n";

fn game(moves: &str) -> Game {
    let text = format!("{HEAD}{moves}");
    check_file(Format::Kifu, text.as_bytes());
    read(&text).unwrap()
}

/// Result, ending and number of skipped lines of a game of two moves.
fn summarised(word: &str, summary: &str) -> (Option<GameResult>, Option<Ending>, u32) {
    let game = game(&format!("   1 ７六歩(77)\n   2 ３四歩(33)\n{word}まで2手で{summary}\n"));
    assert_eq!((game.moves.len(), game.broken), (2, None), "{summary}");
    (game.result, game.ending, game.info.skipped_lines)
}

#[test]
fn a_summary_gives_the_winner_or_the_loser() {
    use Ending::{Declaration, IllegalMove, Impasse, Interruption, Repetition, TimeUp};
    use GameResult::{BlackWin, Draw, WhiteWin};
    for (summary, result, ending) in [
        ("後手の勝ち！", Some(WhiteWin), None),
        ("後手の勝ちになりました", Some(WhiteWin), None),
        ("後手藤井の勝ち", Some(WhiteWin), None),
        ("△藤井の勝ち", Some(WhiteWin), None),
        ("先手の判定勝ち", Some(BlackWin), None),
        ("先手の通信切れ負け", Some(WhiteWin), Some(TimeUp)),
        ("先手の王手放置による反則負け", Some(WhiteWin), Some(IllegalMove)),
        ("相入玉により引き分け", Some(Draw), Some(Impasse)),
        ("先手の勝ち", Some(BlackWin), None),
        ("先手勝ち", Some(BlackWin), None),
        ("後手勝", Some(WhiteWin), None),
        ("先手番の勝ち", Some(BlackWin), None),
        ("上手勝ち", Some(WhiteWin), None),
        ("▲勝ち", Some(BlackWin), None),
        ("先手の負け", Some(WhiteWin), None),
        ("先手の時間切れ", Some(WhiteWin), Some(TimeUp)),
        ("後手の時間切れ", Some(BlackWin), Some(TimeUp)),
        ("先手時間切れ", Some(WhiteWin), Some(TimeUp)),
        ("後手切れ負け", Some(BlackWin), Some(TimeUp)),
        ("後手の時間切れ負け", Some(BlackWin), Some(TimeUp)),
        ("先手の切れ勝ち", Some(BlackWin), Some(TimeUp)),
        ("先手の時間切れにより後手の勝ち", Some(WhiteWin), Some(TimeUp)),
        ("先手の投了", Some(WhiteWin), None),
        ("先手投了", Some(WhiteWin), None),
        ("後手の投了", Some(BlackWin), None),
        ("後手の投了により先手の勝ち", Some(BlackWin), None),
        ("後手の詰み", Some(BlackWin), None),
        ("先手の反則", Some(WhiteWin), Some(IllegalMove)),
        ("後手の反則手", Some(BlackWin), Some(IllegalMove)),
        ("先手反則負け", Some(WhiteWin), Some(IllegalMove)),
        ("先手の反則勝ち", Some(BlackWin), Some(IllegalMove)),
        ("先手の二歩により後手の勝ち", Some(WhiteWin), None),
        ("先手の王手千日手", Some(WhiteWin), Some(Repetition)),
        ("先手の勝ち（千日手）", Some(BlackWin), Some(Repetition)),
        ("後手の入玉宣言勝ち", Some(WhiteWin), Some(Declaration)),
        ("先手の手番で中断", None, Some(Interruption)),
        ("後手の手番で中断", None, Some(Interruption)),
        ("先手勝勢にて中断", None, Some(Interruption)),
        ("先手の勝ちの局面で中断", None, Some(Interruption)),
        ("先手の封じ手", None, Some(Interruption)),
        ("後手の封じ手で指し掛け", None, Some(Interruption)),
        ("先手の持将棋", Some(Draw), Some(Impasse)),
        ("千日手", Some(Draw), Some(Repetition)),
        ("先手の入玉で持将棋", Some(Draw), Some(Impasse)),
        ("先手の入玉宣言により引き分け", Some(Draw), Some(Declaration)),
        ("先手の反則で中断", None, Some(Interruption)),
        ("持将棋により先手の勝ち", Some(BlackWin), Some(Impasse)),
        ("先手の宣言で持将棋", Some(Draw), Some(Impasse)),
        ("引分", Some(Draw), None),
        ("引き分け", Some(Draw), None),
    ] {
        assert_eq!(summarised("", summary), (result, ending, 0), "{summary}");
    }
    // The ending of the word before it is kept, unless the summary names another winner.
    assert_eq!(summarised("   3 時間切れ\n", "先手の時間切れ"), (Some(WhiteWin), Some(TimeUp), 0));
    assert_eq!(summarised("   3 切れ負け\n", "後手の勝ち"), (Some(WhiteWin), Some(TimeUp), 0));
    assert_eq!(summarised("   3 投了\n", "先手の勝ち"), (Some(BlackWin), None, 0));
}

#[test]
fn a_summary_without_a_winner_is_a_skipped_line() {
    use GameResult::WhiteWin;
    for summary in [
        "羽生の勝ち",
        "先手の勝ち、後手の勝ち",
        "先手の勝ちではない",
        "先手の入玉",
        "勝ち",
        "王手千日手",
        "先手の王手千日手で指し直し",
        "先手後手合意",
        "先手勝ち越し",
    ] {
        assert_eq!(summarised("", summary), (None, None, 1), "{summary}");
        assert_eq!(summarised("   3 投了\n", summary), (Some(WhiteWin), None, 1), "{summary}");
    }
}

#[test]
fn a_summary_may_name_a_player() {
    use GameResult::{BlackWin, WhiteWin};
    let names = "先手：羽生善治　九段\n後手：羽田 一郎\n";
    for (summary, result) in [
        ("羽生の勝ち", Some(BlackWin)),
        ("羽生善治の勝ち", Some(BlackWin)),
        ("羽生九段の勝ち", Some(BlackWin)),
        ("羽田一郎四段の負け", Some(BlackWin)),
        ("羽田一郎勝ち", Some(WhiteWin)),
        ("羽生の投了", Some(WhiteWin)),
        ("羽の勝ち", None),
        ("谷川の勝ち", None),
        ("先手の勝ち", Some(BlackWin)),
    ] {
        let text = format!("{names}{HEAD}   1 ７六歩(77)\nまで1手で{summary}\n");
        let game = read(&text).unwrap();
        let skipped = u32::from(result.is_none());
        assert_eq!((game.result, game.info.skipped_lines), (result, skipped), "{summary}");
    }
    // In KI2 also after the last move.
    let text = format!("{names}\n▲７六歩 まで1手で羽田の勝ち\n");
    assert_eq!(read_game(Format::Ki2u, text.as_bytes()).unwrap().result, Some(WhiteWin));
}

#[test]
fn an_unknown_word_for_the_end_is_counted_and_a_wrong_move_is_an_error() {
    for (word, skipped) in [("封じ手", 0), ("中断", 0), ("両者合意", 1)] {
        let game = game(&format!("   1 ７六歩(77)\n   2 {word}\n"));
        let expected = (Some(Ending::Interruption), skipped, None);
        assert_eq!((game.ending, game.info.skipped_lines, game.broken), expected, "{word}");
    }
    for wrong in ["３ 七六金", "3 七六金", "3 ７六金", "3 同金", "3 七金(67)"] {
        let game = game(&format!("   1 ７六歩(77)\n   2 ３四歩(33)\n{wrong}\n"));
        assert_eq!((game.moves.len(), game.broken.is_some()), (2, true), "{wrong}");
        assert_eq!(game.ending, None, "{wrong}");
    }
}

#[test]
fn a_repeated_line_is_skipped_and_the_game_continues() {
    for (moves, skipped) in [
        ("1 ７六歩(77)\n2 ３四歩(33)\n2 ３四歩(33)\n3 ２六歩(27)\n4 ８四歩(83)\n5 投了\n", 1),
        (
            "1 ７六歩(77)\n2 ３四歩(33)\n3 ２六歩(27)\n2 ３四歩(33)\n3 ２六歩(27)\n4 ８四歩(83)\n5 投了\n",
            2,
        ),
        // Numbers of pairs of moves.
        ("1 ７六歩(77)\n1 ３四歩(33)\n2 ２六歩(27)\n2 ８四歩(83)\n3 投了\n", 0),
        ("0 ７六歩(77)\n1 ３四歩(33)\n2 ２六歩(27)\n3 ８四歩(83)\n4 投了\n", 0),
    ] {
        let game = game(moves);
        assert_eq!((usi(&game).as_str(), &game.broken), ("7g7f 3c3d 2g2f 8c8d", &None), "{moves}");
        let expected = (Some(GameResult::WhiteWin), skipped);
        assert_eq!((game.result, game.info.skipped_lines), expected, "{moves}");
        assert!(game.moves.iter().all(|played| played.annotation.is_none()), "{moves}");
    }
}

#[test]
fn a_repeated_number_after_the_end_or_with_another_move_is_a_variation() {
    let line = "1 ７六歩(77)\n2 ３四歩(33)\n3 ２六歩(27)\n";
    for (moves, variation) in [
        (format!("{line}4 投了\n3 ６六歩(67)\n4 ８四歩(83)\n"), (2, 2)),
        (format!("{line}3 ６六歩(67)\n4 ８四歩(83)\n"), (2, 2)),
        // The first lines are repeated up to the variation.
        (format!("{line}1 ７六歩(77)\n2 ８四歩(83)\n"), (1, 1)),
    ] {
        let game = game(&moves);
        assert_eq!((usi(&game).as_str(), &game.broken), ("7g7f 3c3d 2g2f", &None), "{moves}");
        let (at, len) = variation;
        let variations = &game.moves[at].annotation.as_deref().unwrap().variations;
        assert_eq!((variations.len(), variations[0].moves.len()), (1, len), "{moves}");
    }
}

#[test]
fn missing_moves_are_an_error() {
    for (moves, played) in [
        ("1 ７六歩(77)\n4 ３四歩(33)\n", 1),
        ("1 ７六歩(77)\n5 投了\n", 1),
        ("3 ２六歩(27)\n4 ８四歩(83)\n5 投了\n", 0),
        ("？？\n2 ２六歩(27)\n", 0),
        ("5 投了\n", 0),
    ] {
        let game = game(moves);
        assert_eq!((game.moves.len(), game.broken.is_some()), (played, true), "{moves}");
        assert_eq!(game.result, None, "{moves}");
        assert!(game.records().last().unwrap().is_err(), "{moves}");
    }
    let game = game("1 ７六歩(77)\n変化：1手\n2 ２六歩(27)\n");
    assert_eq!((usi(&game).as_str(), game.info.skipped_lines > 0), ("7g7f", true));
}

#[test]
fn a_move_before_the_moves_is_an_error() {
    for moves in [
        "l ７六歩(77)\nZ ３四歩(33)\n3 ２六歩(27)\n4 ８四歩(83)\n5 投了\n",
        "７六歩(77)\n３四歩(33)\n",
        "７六歩\n３四歩\n",
        "第1手 ７六歩(77)\n第2手 ３四歩(33)\n",
    ] {
        assert!(read(&format!("{HEAD}{moves}")).is_err(), "{moves}");
        assert!(read(&format!("手合割：平手\n\n{moves}")).is_err(), "{moves}");
    }
    // So is a skipped move between moves, and the side to move there.
    for line in ["l ３四歩(33)", "３四歩(33)", "先手番", "手番：先手"] {
        let game = game(&format!("1 ７六歩(77)\n{line}\n"));
        assert_eq!((game.moves.len(), game.broken.is_some()), (1, true), "{line}");
    }
}

#[test]
fn a_game_after_a_diagram_may_begin_at_any_number() {
    let text = "31 ５二金打\n変化：31手\n31 ４二金打\n32 投了\n";
    let game = read(&format!("{PROBLEM}手数----指手---------消費時間--\n{text}")).unwrap();
    assert_eq!((usi(&game).as_str(), game.broken), ("G*5b", None));
    assert_eq!(game.moves[0].annotation.as_deref().unwrap().variations.len(), 1);
}

#[test]
fn a_title_does_not_begin_a_game() {
    for title in ["2026 名人戦", "まで３連勝中", "1. 概要", "第1局"] {
        let text = format!(
            "{title}\n手合割：二枚落ち\n手数----指手---------消費時間--\n1 ３四歩(33)\n2 投了\n"
        );
        check_file(Format::Kifu, text.as_bytes());
        assert_eq!(kyokumen_format::chunks(Format::Kifu, text.as_bytes()).count(), 1, "{title}");
        let game = read(&text).unwrap();
        assert_eq!((usi(&game).as_str(), game.info.skipped_lines), ("3c3d", 1), "{title}");
        assert_eq!(game.result, Some(GameResult::WhiteWin));
    }
}

#[test]
fn a_carriage_return_within_a_comment_is_a_space() {
    let mut game = game("1 ７六歩(77)\n*a\rb\n2 投了\n");
    let comments = |game: &Game| game.moves[0].annotation.as_deref().unwrap().comments.clone();
    assert_eq!(comments(&game), ["a b"]);
    game.moves[0].annotate().comments = vec!["a\rb\r\nc".to_owned()];
    for format in [Format::Kifu, Format::Ki2u] {
        let mut out = Vec::new();
        kyokumen_format::write_game(format, &game, &mut out).unwrap();
        assert!(!out.contains(&b'\r'));
        assert_eq!(comments(&read_game(format, &out).unwrap()), ["a b", "c"]);
    }
}

#[test]
fn every_name_of_the_king_is_read() {
    for king in ["玉", "王", "玉将", "王将"] {
        assert_eq!(usi(&game(&format!("1 ５八{king}(59)\n"))), "5i5h", "{king}");
    }
}

#[test]
fn variations_at_the_end_of_a_variation_keep_their_order() {
    let text = "\
1 ７六歩(77)
2 ３四歩(33)
3 投了
変化：1手
1 ２六歩(27)
変化：2手
2 ８四歩(83)
3 ２五歩(26)
変化：2手
2 ３四歩(33)
3 ７六歩(77)
変化：3手
3 ６六歩(67)
変化：3手
3 ５六歩(57)
";
    let game = game(text);
    let moves = |moves: &[kyokumen_format::Played]| -> Vec<String> {
        moves.iter().map(|played| played.best_move.to_string()).collect()
    };
    let [variation] = &game.moves[0].annotation.as_deref().unwrap().variations[..] else {
        panic!()
    };
    assert_eq!(moves(&variation.moves), ["2g2f", "8c8d", "2f2e"]);
    let [other] = &variation.moves[1].annotation.as_deref().unwrap().variations[..] else {
        panic!()
    };
    assert_eq!(moves(&other.moves), ["3c3d", "7g7f"]);
    let nested = &other.moves[1].annotation.as_deref().unwrap().variations;
    let firsts: Vec<_> = nested.iter().map(|variation| moves(&variation.moves)).collect();
    assert_eq!(firsts, [["6g6f"], ["5g5f"]]);
    let again = written(&game);
    assert_eq!(written(&read(&again).unwrap()), again);
}

/// Variations that are nested too deep to be read are an error when written.
#[test]
fn variations_nested_too_deep_are_not_written() {
    for (depth, is_written) in [(100, true), (101, false)] {
        let mut game = game("1 ７六歩(77)\n");
        let played = game.moves[0].clone();
        let mut variations = Vec::new();
        for _ in 0..depth {
            let mut first = played.clone();
            first.annotate().variations = variations;
            let (result, ending, end_comments) = (None, None, Vec::new());
            variations = vec![Variation { moves: vec![first], result, ending, end_comments }];
        }
        game.moves[0].annotate().variations = variations;
        let written = kyokumen_format::write_game(Format::Kifu, &game, &mut Vec::new());
        assert_eq!(written.is_ok(), is_written);
        if let Err(error) = written {
            assert!(error.to_string().contains("more than 100 levels of variations"), "{error}");
        }
    }
}

/// Each of them begins in the middle of a long game.
#[test]
fn many_variations_of_a_long_game_are_read_quickly() {
    let shuffle = ["５八玉(59)", "５二玉(51)", "５九玉(58)", "５一玉(52)"];
    let moves = (0..20_000).map(|at| format!("{} {}\n", at + 1, shuffle[at % 4]));
    let variations = (0..4_000).map(|at| format!("変化：{}手\n", 20_000 - at % 64));
    let text: String = [HEAD.to_owned()].into_iter().chain(moves).chain(variations).collect();
    let begun = std::time::Instant::now();
    let game = read(&text).unwrap();
    assert_eq!((game.moves.len(), game.broken, game.info.skipped_lines), (20_000, None, 4_000));
    assert!(begun.elapsed().as_secs() < 60);
}

#[test]
fn the_error_of_a_wrong_origin_square_is_about_that_square() {
    let game =
        read(&format!("{HEAD}   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ２二角成(99)\n")).unwrap();
    let error = game.broken.unwrap().to_string();
    assert!(
        error.contains(
            "expected in brackets the square from which this piece of the side to move comes"
        ),
        "{error}"
    );
}

/// Hands or borders without a board are the remainder of a damaged diagram. The game did not begin from the even start.
#[test]
fn pieces_in_hand_or_borders_without_a_diagram_are_an_error() {
    let moves = "手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 投了\n";
    for hands in ["先手の持駒：歩\n", "後手の持駒：飛\n先手の持駒：なし\n"] {
        let error = read(&format!("{hands}{moves}")).unwrap_err().to_string();
        assert!(error.contains("a diagram for these pieces in hand"), "{error}");
    }
    for diagram in ["+---------------------------+\n", "+---+\n先手の持駒：なし\n先手番\n"]
    {
        let error = read(&format!("{diagram}{moves}")).unwrap_err().to_string();
        assert!(error.contains("the ranks of a diagram"), "{error}");
    }
    // Some programs write empty hands without a diagram.
    let game = read(&format!("先手の持駒：なし\n{moves}")).unwrap();
    assert_eq!(game.moves.len(), 1);
}

/// A line with a number and words that is not a move does not change the syntax of a game.
#[test]
fn a_copy_keeps_titles_that_begin_with_a_number() {
    let text = "手合割：平手\n2026 名人戦\n\n▲７六歩\n△３四歩\nまで2手で中断\n";
    let mut copied = Vec::new();
    Format::Ki2u.write_chunk(text.as_bytes(), &mut copied).unwrap();
    assert_eq!(String::from_utf8(copied).unwrap(), text);
}
