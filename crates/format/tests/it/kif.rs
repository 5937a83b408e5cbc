//! `kif`: the example of the format description, diagrams, words for the end of games, `Shift_JIS`, variations.
//!
//! The examples come from "棋譜ファイル KIF 形式" by Kakinoki Yoshikazu, which is public.

use kyokumen_format::{DecodeError, Ending, Format, Game, GameResult, chunks, count, write_game};
use kyokumen_shogi::sfen;
use kyokumen_testing::game_properties::check_file;
use kyokumen_testing::games::read_game;
use kyokumen_testing::literals::PROBLEM;

pub(super) const EXAMPLE: &str = "\
# ---- Kifu for Windows95 V3.53 棋譜ファイル ----
開始日時：1999/07/15(木) 19:07:12
終了日時：1999/07/15(木) 19:07:17
手合割：平手
先手：先手の対局者名
後手：後手の対局者名
手数----指手---------消費時間--
   1 ７六歩(77)   ( 0:16/00:00:16)
*コメント
   2 ３四歩(33)   ( 0:00/00:00:00)+
   3 中断         ( 0:03/ 0:00:19)
";

pub(super) fn read(text: &str) -> Result<Game, DecodeError> {
    read_game(Format::Kif, text.as_bytes())
}

pub(super) fn usi(game: &Game) -> String {
    let moves: Vec<String> = game.moves.iter().map(|played| played.best_move.to_string()).collect();
    moves.join(" ")
}

fn end(text: &str) -> (Option<GameResult>, Option<Ending>) {
    let game = read(text).unwrap();
    assert_eq!(game.broken, None, "{text}");
    (game.result, game.ending)
}

pub(super) fn written(game: &Game) -> String {
    let mut out = Vec::new();
    write_game(Format::Kifu, game, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_example_of_the_format_is_read() {
    let game = read(EXAMPLE).unwrap();
    assert_eq!((game.start.to_string().as_str(), usi(&game).as_str()), (sfen::START, "7g7f 3c3d"));
    assert_eq!((game.result, game.ending), (None, Some(Ending::Interruption)));
    assert_eq!(Format::from_extension("kifu"), Some(Format::Kifu));

    let two = format!("\u{feff}{EXAMPLE}{EXAMPLE}").replace('\n', "\r\n");
    let games: Vec<_> = chunks(Format::Kif, two.as_bytes()).collect();
    assert_eq!(games.len(), 2);
    assert!(games.iter().all(|game| usi(&read_game(Format::Kif, game).unwrap()) == "7g7f 3c3d"));
    check_file(Format::Kif, two.as_bytes());
}

#[test]
fn a_diagram_without_moves_is_one_record() {
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    let with_list = format!("{PROBLEM}手数----指手---------消費時間--\n   1 中断\n");
    let shown = PROBLEM.replace("手合割：詰将棋\n", "");
    let named = PROBLEM.replace("詰将棋", "七色図式");
    for text in [PROBLEM, &with_list, &shown, &named] {
        let game = read(text).unwrap();
        assert!(game.is_position, "{text}");
        let records = game.records();
        let [Ok(record)] = &records[..] else { panic!("{records:?}") };
        assert_eq!((record.setup.to_string().as_str(), record.best_move), (sfen, None));
        assert_eq!(count(Format::Kif, text.as_bytes()), 1);
        assert_eq!(game.part(0..1).as_ref(), Some(&game));
        for format in [Format::Kif, Format::Csa] {
            let mut out = Vec::new();
            write_game(format, &game, &mut out).unwrap();
            let again = read_game(format, &out).unwrap();
            assert_eq!((again.start, again.is_position), (game.start.clone(), true));
        }
        assert!(write_game(Format::Hcpe3, &game, &mut Vec::new()).is_err());
    }
    let two = PROBLEM.replace("詰将棋", "その他") + PROBLEM;
    check_file(Format::Kif, two.as_bytes());
}

#[test]
fn the_start_of_a_game_without_a_move_is_one_record() {
    let even = sfen::START;
    let two_pieces = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
    let (draw, black) = (Some(GameResult::Draw), Some(GameResult::BlackWin));
    for (format, text, start, result, ending) in [
        (Format::Kifu, "手合割：平手\n手数----指手---------消費時間--\n", even, None, None),
        (
            Format::Kifu,
            "手合割：二枚落ち\n手数----指手---------消費時間--\n   1 投了\n",
            two_pieces,
            black,
            None,
        ),
        (Format::Ki2u, "手合割：平手\n\nまで0手で千日手\n", even, draw, Some(Ending::Repetition)),
        (
            Format::Ki2u,
            "手合割：二枚落ち\n手数----指手---------消費時間--\n",
            two_pieces,
            None,
            None,
        ),
        (Format::Csa, "PI\n+\n", even, None, None),
        (Format::Csa, "/\nPI\n+\n%HIKIWAKE\n", even, draw, Some(Ending::Impasse)),
        (Format::Csa, "PI82HI22KA\n-\n%TORYO\n", two_pieces, black, None),
        (
            Format::Jkf,
            r#"{"header":{},"initial":{"preset":"2"},"moves":[{}]}"#,
            two_pieces,
            None,
            None,
        ),
        (
            Format::Jkf,
            r#"{"header":{},"moves":[{},{"special":"SENNICHITE"}]}"#,
            even,
            draw,
            Some(Ending::Repetition),
        ),
    ] {
        let game = read_game(format, text.as_bytes()).unwrap();
        assert!(game.is_position, "{text}");
        let records = game.records();
        let [Ok(record)] = &records[..] else { panic!("{records:?}") };
        assert_eq!((record.setup.to_string().as_str(), record.best_move), (start, None), "{text}");
        assert_eq!((record.result, record.ending), (result, ending), "{text}");
        for to in [Format::Kif, Format::Ki2, Format::Csa, Format::Jkf] {
            let mut out = Vec::new();
            write_game(to, &game, &mut out).unwrap();
            let again = read_game(to, &out).unwrap();
            assert_eq!(
                (again.records(), again.is_position),
                (game.records(), true),
                "{text} as {to}"
            );
            assert!(!out.windows(2).any(|two| two == b"+-" || two == b"P1") || start == two_pieces);
        }
    }
    // A header alone is a truncated game.
    for (format, text) in [(Format::Kifu, "手合割：平手\n先手：A\n"), (Format::Csa, "V2.2\nPI\n")]
    {
        assert!(read_game(format, text.as_bytes()).is_err(), "{text}");
    }
    for (format, text) in
        [(Format::Kifu, "# a remark\n\n"), (Format::Csa, "/\n/\n"), (Format::Jkf, "[\n]\n")]
    {
        assert_eq!(count(format, text.as_bytes()), 0, "{text}");
    }
}

/// The two statements of the summary agree with the word before it.
#[test]
fn a_summary_that_names_both_sides_agrees_with_the_word() {
    let text = "   1 ７六歩(77)\n   2 反則勝ち\nまで1手で先手の反則により後手の勝ち\n";
    assert_eq!(end(text), end(&text.replace("まで1手で先手の反則により後手の勝ち\n", "")));
    assert_eq!(end(text).0, Some(GameResult::WhiteWin));
}

/// 手合割：二枚落ち, 1 ５二玉(51), 2 投了, as `Shift_JIS`.
#[test]
fn shift_jis_is_detected() {
    let text = b"\x8e\xe8\x8d\x87\x8a\x84\x81F\x93\xf1\x96\x87\x97\x8e\x82\xbf\r\n   1 \x82T\x93\xf1\x8b\xca(51)\r\n   2 \x93\x8a\x97\xb9\r\n";
    let game = read_game(Format::Kif, text).unwrap();
    let two_pieces = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
    assert_eq!((game.start.to_string().as_str(), usi(&game).as_str()), (two_pieces, "5a5b"));
    assert_eq!(game.result, Some(GameResult::WhiteWin));
    check_file(Format::Kif, &text.repeat(3));
    assert_eq!(chunks(Format::Kif, &text.repeat(3)).count(), 3);
}

#[test]
fn diagrams_are_read_and_written() {
    let diagram = "\
手合割：その他
後手の持駒：飛　角　金二　銀二　桂二　香二　歩十五　
 ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
| ・ ・ ・ ・v玉 ・ ・ ・ ・|一
| ・ ・ ・ ・ ・ ・ ・ ・v龍|二
| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三
| 馬 ・ ・ ・ ・ ・ ・ ・ ・|四
| ・ ・v成銀 ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・ ・ ・ ・ ・ ・ と|七
| ・ ・ ・ ・ 杏 ・ ・ ・ ・|八
| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九
+---------------------------+
先手の持駒：金　歩
先手番
手数----指手---------消費時間--
   1 ５二金打
   2 投了
まで1手で先手の勝ち
";
    let game = read(diagram).unwrap();
    let start = "4k4/8+r/4P4/+B8/2+s6/9/8+P/4+L4/4K4 b GPrb2g2s2n2l15p 1";
    assert_eq!(game.start.to_string(), start);
    assert_eq!((usi(&game).as_str(), game.result), ("G*5b", Some(GameResult::BlackWin)));
    let expected = diagram
        .replace("手合割：その他\n", "")
        .replace(" ９ ８", "  ９ ８")
        .replace("v成銀", "v全")
        .replace("先手の持駒：金　歩\n", "先手の持駒：金　歩　\n");
    assert_eq!(written(&game), expected);
    check_file(Format::Kif, expected.repeat(2).as_bytes());
    assert_eq!(chunks(Format::Kif, expected.repeat(2).as_bytes()).count(), 2);
}

#[test]
fn handicap_names_give_the_start_position() {
    for (name, start) in [
        ("平手", sfen::START),
        ("香落ち", "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("右香落ち", "1nsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("角落ち", "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("飛香落ち", "lnsgkgsn1/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("五枚落ち", "2sgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("八枚落ち", "3gkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
    ] {
        let game = read(&format!("手合割：{name}　　\n手数----指手---------消費時間--\n")).unwrap();
        assert_eq!(game.start.to_string(), start, "{name}");
        assert!(written(&game).starts_with(&format!("手合割：{name}\n")));
    }
    assert!(read("手合割：百枚落ち\n").is_err());
    let error = read("開始日時：1999/07/15\n手合割：その他\n   1 ７六歩(77)\n").unwrap_err();
    let expected = "byte 26: expected the name of a handicap, or a diagram, found \"その他\"";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn moves_are_read_in_every_form() {
    let text = "\
   1 ７六歩(77)
   2 ３四歩(33)
   3 ２二角成(88)
   4 同　銀(31)
   5 ５五角打
   6 ８五歩(83)
";
    let game = read(text).unwrap();
    assert_eq!(usi(&game), "7g7f 3c3d 8h2b+ 3a2b B*5e");
    let records = game.records();
    let error = records[5].as_ref().unwrap_err();
    assert_eq!((records.len(), error.offset), (6, text.find("   6").unwrap()));
    let text = text.replace("８五歩(83)", "３三銀不成(22)\n   7 同 角不成(55)\n   8 同桂(21)");
    assert_eq!(usi(&read(&text).unwrap()), "7g7f 3c3d 8h2b+ 3a2b B*5e 2b3c 5e3c 2a3c");
    let text = written(&read(&text).unwrap());
    assert!(text.contains("   3 ２二角成(88)\n   4 同　銀(31)\n   5 ５五角打\n"), "{text}");
    for line in [
        "   2 ３四歩(3x)",
        "   2 ３四歩(1)",
        "   2 ３四歩(",
        "   1 ７六銀(77)",
        "   1 ７六歩",
        "   1 同　歩(77)",
        "   1 ７六歩(33)",
        "7776",
    ] {
        assert!(read(&format!("   1 ７六歩(77)\n{line}\n")).unwrap().broken.is_some(), "{line}");
    }
    assert!(read("hello\n").is_err());
}

#[test]
fn words_refer_to_the_side_to_move() {
    use Ending::{Declaration, IllegalMove, Impasse, MoveLimit, Repetition, TimeUp};
    use GameResult::{BlackWin, Draw, WhiteWin};
    for (word, result, ending) in [
        ("投了", Some(BlackWin), None),
        ("詰み", Some(BlackWin), None),
        ("切れ負け", Some(BlackWin), Some(TimeUp)),
        ("反則負け", Some(BlackWin), Some(IllegalMove)),
        ("反則勝ち", Some(WhiteWin), Some(IllegalMove)),
        ("入玉勝ち", Some(WhiteWin), Some(Declaration)),
        ("持将棋", Some(Draw), Some(Impasse)),
        ("千日手", Some(Draw), Some(Repetition)),
        ("最大手数", Some(Draw), Some(MoveLimit)),
        ("不詰", None, None),
        ("不戦敗", Some(BlackWin), None),
        ("封じ手", None, Some(Ending::Interruption)),
        ("　△投了", Some(BlackWin), None),
    ] {
        let text = format!("   1 ７六歩(77)\n   2 {word}   ( 0:00/00:00:00)\n");
        assert_eq!(end(&text), (result, ending), "{word}");
    }
    for (summary, result, ending) in [
        ("まで1手で先手の勝ち", Some(BlackWin), None),
        ("まで1手で上手の勝ち", Some(WhiteWin), None),
        ("まで1手で先手の反則負け", Some(WhiteWin), Some(IllegalMove)),
        ("まで1手で時間切れにより後手の勝ち", Some(WhiteWin), Some(TimeUp)),
        ("まで1手で千日手", Some(Draw), Some(Repetition)),
        ("まで1手で中断", None, Some(Ending::Interruption)),
        ("まで1手で詰", Some(BlackWin), None),
        ("まで1手で投了", Some(BlackWin), None),
        ("まで、１手で詰み", Some(BlackWin), None),
        ("まで1手で不戦敗", Some(BlackWin), None),
        ("まで1手で後手の不戦敗", Some(BlackWin), None),
        ("まで1手で後手の入玉勝ち", Some(WhiteWin), Some(Declaration)),
        ("まで1手で先手の反則により後手の勝ち", Some(WhiteWin), Some(IllegalMove)),
        ("まで1手で封じ手", None, Some(Ending::Interruption)),
        ("まで1手", None, None),
    ] {
        assert_eq!(end(&format!("   1 ７六歩(77)\n{summary}\n")), (result, ending), "{summary}");
    }
    let time_up = "   1 ７六歩(77)\n   2 切れ負け\nまで1手で先手の勝ち\n";
    assert_eq!(end(time_up), (Some(BlackWin), Some(TimeUp)));
    let illegal = "   1 ７六歩(77)\n   2 ３五歩(33)\n   3 反則勝ち\nまで2手で先手の反則勝ち\n";
    assert_eq!(end(illegal), (Some(BlackWin), Some(IllegalMove)));
}

#[test]
fn variations_are_passed_over() {
    let text = format!("{EXAMPLE}まで2手で中断\n\n変化：2手\n   2 ８四歩(83)\n   3 ２六歩(27)\n");
    assert_eq!(usi(&read(&text).unwrap()), "7g7f 3c3d");
    let two = format!("{text}{EXAMPLE}");
    assert_eq!(chunks(Format::Kif, two.as_bytes()).count(), 2);
}

/// The end of a truncated file is neither a game nor part of the game before.
#[test]
fn a_head_alone_is_a_bad_record() {
    let (keyword, head) = ("手合割：", "手合割：平手\n先手：A");
    for rest in [keyword, head, "先手："] {
        let file = format!("{EXAMPLE}まで2手で中断\n{rest}");
        check_file(Format::Kif, file.as_bytes());
        let chunks: Vec<&[u8]> = chunks(Format::Kif, file.as_bytes()).collect();
        assert_eq!(chunks.len(), 2, "{rest}");
        assert_eq!(chunks[1], rest.as_bytes());
        assert!(read(rest).is_err() && read(&format!("{rest}\n")).is_err(), "{rest}");
    }
    // A game without moves, and a position.
    assert!(read(&format!("{head}\n手数----指手---------消費時間--\n")).is_ok());
    assert!(read(&format!("{head}\nまで0手で中断\n")).is_ok());
    assert!(read("# a remark\n").is_ok());
}

#[test]
fn ki2_is_read() {
    let even = "手合割：平手\n先手：A\n後手：B\n\n\
                ▲７六歩　△３四歩　▲２二角成　△同　銀\n▲５五角打△３三銀\nまで6手で中断\n";
    let game = read(even).unwrap();
    assert_eq!(usi(&game), "7g7f 3c3d 8h2b+ 3a2b B*5e 2b3c");
    assert_eq!((game.broken, game.ending), (None, Some(Ending::Interruption)));
    // Two golds, with words that select one; old signs, no list of moves, `Shift_JIS`.
    let golds = "手合割：平手\n▲５八金右 △５二金右 ▲６八銀 △４二銀\n";
    let sjis = encoding_rs::SHIFT_JIS.encode(golds).0;
    let game = read_game(Format::Kif, &sjis).unwrap();
    assert_eq!(usi(&game), "4i5h 6a5b 7i6h 3a4b");
    // A word too few, and an illegal move.
    for (moves, played) in [("▲５八金 △３四歩", 0), ("▲７六歩 △５五角 ▲２六歩", 1)]
    {
        let game = read(&format!("手合割：平手\n{moves}\n")).unwrap();
        assert_eq!(game.moves.len(), played, "{moves}");
        assert!(game.broken.is_some(), "{moves}");
    }
    // Two games in a file are two games.
    let two = format!("{even}{golds}");
    assert_eq!(chunks(Format::Kif, two.as_bytes()).count(), 2);
    check_file(Format::Kif, two.as_bytes());
}

#[test]
fn evaluations_of_comments_are_read_and_written() {
    // The start has an evaluation by an analysis, the second position by the player, the third by both, and the fourth
    // in Floodgate's form.
    let text = "手合割：平手\n手数----指手---------消費時間--\n*互角\n*#評価値=20\n   1 ７六歩(77)\n   2 ３四歩(33)\n\
                **評価値=35\n*#評価値=40\n   3 ２六歩(27)\n**評価値=-7\n   4 ８四歩(83)\n** -12 +2726FU\n   5 ２五歩(26)\n   6 投了\n";
    let game = read(text).unwrap();
    let evals: Vec<_> = game.moves.iter().map(|played| played.eval_cp).collect();
    // From the side that moves.
    assert_eq!(evals, [Some(20), Some(-35), Some(40), Some(12), None]);
    assert_eq!(game.broken, None);
    let again = written(&game);
    assert!(again.contains("   2 ３四歩(33)\n**評価値=35\n"), "{again}");
    assert_eq!(read(&again).unwrap().moves.len(), 5);
    let evals_again = read(&again).unwrap();
    let evals_again: Vec<_> = evals_again.moves.iter().map(|played| played.eval_cp).collect();
    assert_eq!(evals_again, evals);
    // The same in CSA files.
    let csa = "V2.2\nPI\n+\n'*#評価値=-30\n+7776FU\n-3334FU\n'**評価値=5\n%TORYO\n";
    let game = read_game(Format::Csa, csa.as_bytes()).unwrap();
    let evals: Vec<_> = game.moves.iter().map(|played| played.eval_cp).collect();
    assert_eq!(evals, [Some(-30), Some(-5)]);
}

/// Programs for mate problems name the attacker and the defender. A hand that is not understood is an error, since the
/// position without it is another problem.
#[test]
fn hands_of_attackers_and_defenders_are_read() {
    let board = "  ９ ８ ７ ６ ５ ４ ３ ２ １\n+---------------------------+\n".to_owned()
        + "| ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n"
        + &"| ・ ・ ・ ・ ・ ・ ・ ・ ・|二\n".repeat(8)
        + "+---------------------------+\n";
    let diagram = |black: &str, white: &str| {
        format!("{white}：飛　歩二\n{board}{black}：金　銀\n手数----指手---------消費時間--\n")
    };
    for (black, white) in [
        ("先手の持駒", "後手の持駒"),
        ("攻方の持駒", "玉方の持駒"),
        ("攻め方の持ち駒", "受方の持ち駒"),
        ("詰方持駒", "受け方持駒"),
        ("下手の持駒", "上手持ち駒"),
    ] {
        let game = read(&diagram(black, white)).unwrap();
        assert_eq!(game.start.to_string(), "4k4/9/9/9/9/9/9/9/9 b GSr2p 1", "{black}");
    }
    for (black, white) in [("味方の持駒", "後手の持駒"), ("先手の持駒", "敵の持ち駒")]
    {
        let error = read(&diagram(black, white)).unwrap_err();
        assert!(error.to_string().contains("the owner of the pieces in hand"), "{error}");
    }
}
