//! `jkf`: objects of the schema of json-kifu-format, minimal and normalised.

use encoding_rs::{EUC_JP, SHIFT_JIS, UTF_8};
use kyokumen_format::{
    DecodeError, Ending, Format, Game, GameResult, Header, HeaderKey, chunks, read_games,
    write_game,
};
use kyokumen_shogi::sfen;
use kyokumen_testing::game_properties::check_file;
use kyokumen_testing::games::read_game;

fn read(text: &str) -> Result<Game, DecodeError> {
    read_game(Format::Jkf, text.as_bytes())
}

fn usi(game: &Game) -> String {
    let moves: Vec<String> = game.moves.iter().map(|played| played.best_move.to_string()).collect();
    moves.join(" ")
}

fn written(game: &Game) -> String {
    let mut out = Vec::new();
    write_game(Format::Jkf, game, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Moves in the minimal form: `from`, `to` and `promote`; for drops `piece` and `to`.
const MINIMAL: &str = r#"{"header":{"先手":"A","後手":"B","手合割":"平手　　","表題":"x"},"moves":[
 {"comments":["of the start"]},
 {"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6}},"time":{"now":{"m":1,"s":5},"total":{"h":0,"m":1,"s":5}}},
 {"move":{"from":{"x":3,"y":3},"to":{"x":3,"y":4}},"comments":["*評価値=30","two\nlines"]},
 {"move":{"from":{"x":8,"y":8},"to":{"x":2,"y":2}},"forks":[
   [{"move":{"from":{"x":2,"y":7},"to":{"x":2,"y":6}}},{"special":"CHUDAN"}],
   [{"move":{"from":{"x":8,"y":8},"to":{"x":2,"y":2},"promote":true}},
    {"move":{"from":{"x":3,"y":1},"to":{"x":2,"y":2}},"forks":[[{"move":{"from":{"x":8,"y":2},"to":{"x":2,"y":2}}}]]}]]},
 {"move":{"from":{"x":3,"y":1},"same":true}},
 {"move":{"to":{"x":4,"y":5},"piece":"KA"}},
 {"special":"TORYO","time":{"now":{"s":3}},"comments":["of the end"]}]}
"#;

const NORMALISED: &str = concat!(
    r#"{"header":{"先手":"A","後手":"B","表題":"x"},"initial":{"preset":"HIRATE"},"moves":["#,
    r#"{"comments":["of the start"]},"#,
    r#"{"move":{"color":0,"from":{"x":7,"y":7},"to":{"x":7,"y":6},"piece":"FU"},"time":{"now":{"m":1,"s":5},"total":{"h":0,"m":1,"s":5}}},"#,
    r#"{"move":{"color":1,"from":{"x":3,"y":3},"to":{"x":3,"y":4},"piece":"FU"},"comments":["*評価値=30","two","lines"]},"#,
    r#"{"move":{"color":0,"from":{"x":8,"y":8},"to":{"x":2,"y":2},"piece":"KA","promote":false,"capture":"KA"},"forks":["#,
    r#"[{"move":{"color":0,"from":{"x":2,"y":7},"to":{"x":2,"y":6},"piece":"FU"}},{"special":"CHUDAN"}],"#,
    r#"[{"move":{"color":0,"from":{"x":8,"y":8},"to":{"x":2,"y":2},"piece":"KA","promote":true,"capture":"KA"}},"#,
    r#"{"move":{"color":1,"from":{"x":3,"y":1},"to":{"x":2,"y":2},"piece":"GI","same":true,"capture":"UM"},"#,
    r#""forks":[[{"move":{"color":1,"from":{"x":8,"y":2},"to":{"x":2,"y":2},"piece":"HI","same":true,"capture":"UM"}}]]}]]},"#,
    r#"{"move":{"color":1,"from":{"x":3,"y":1},"to":{"x":2,"y":2},"piece":"GI","same":true,"capture":"KA"}},"#,
    r#"{"move":{"color":0,"to":{"x":4,"y":5},"piece":"KA"}},"#,
    r#"{"special":"TORYO","time":{"now":{"m":0,"s":3},"total":{"h":0,"m":0,"s":3}},"comments":["of the end"]}]}"#,
    "\n"
);

#[test]
fn the_minimal_form_is_read_and_the_normalised_form_is_written() {
    let game = read(MINIMAL).unwrap();
    assert_eq!(game.broken, None);
    assert_eq!(usi(&game), "7g7f 3c3d 8h2b 3a2b B*4e");
    assert_eq!((game.result, game.ending), (Some(GameResult::BlackWin), None));
    assert_eq!(game.moves[1].eval_cp, Some(-30));
    assert_eq!(game.info.headers.len(), 3);
    assert_eq!(game.info.headers[2].key, HeaderKey::Other("表題".to_owned()));
    let forks = &game.moves[2].annotation.as_ref().unwrap().variations;
    assert_eq!(forks[0].ending, Some(Ending::Interruption));
    assert_eq!(forks[1].moves[1].annotation.as_ref().unwrap().variations.len(), 1);
    assert!(Format::Jkf.lost_info(&game).is_zero());
    assert_eq!(written(&game), NORMALISED);
    assert_eq!(written(&read(NORMALISED).unwrap()), NORMALISED);
}

/// The words of Japanese notation as letters, if several pieces can move to a square.
#[test]
fn ambiguous_moves_have_the_letters_of_japanese_notation() {
    let sfen = "4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1";
    let start = sfen.parse().unwrap();
    for (best_move, relative) in [("6h5g", "L"), ("4h5g", "R"), ("G*5g", "H")] {
        let mut game = Game::new(kyokumen_shogi::Setup::clone(&start));
        let best_move = kyokumen_shogi::Move::from_usi(best_move).unwrap();
        game.moves.push(kyokumen_format::Played::new(best_move, 0));
        let text = written(&game);
        assert!(text.contains(&format!(r#""relative":"{relative}""#)), "{text}");
        assert_eq!(read(&text).unwrap().moves[0].best_move, best_move);
    }
}

/// As in JKF that was converted from KI2, without `from`: the words select the piece.
#[test]
fn moves_without_from_are_inferred_from_the_board() {
    let start = r#"{"header":{},"initial":{"preset":"OTHER","data":{"color":0,"board":[[],[],[],[{},{},{},{},{},{},{},{"color":0,"kind":"KI"}],[{"color":1,"kind":"OU"},{},{},{},{},{},{},{},{"color":0,"kind":"OU"}],[{},{},{},{},{},{},{},{"color":0,"kind":"KI"}]],"hands":[{"KI":1},{}]}},"moves":[{},"#;
    for (rest, expected) in [
        (r#""relative":"L""#, "6h5g"),
        (r#""relative":"R""#, "4h5g"),
        (r#""relative":"H""#, "G*5g"),
        (r#""promote":false"#, "G*5g"),
    ] {
        let text = format!(r#"{start}{{"move":{{"to":{{"x":5,"y":7}},"piece":"KI",{rest}}}}}]}}"#);
        let game = read(&text).unwrap();
        assert_eq!((usi(&game).as_str(), &game.broken), (expected, &None), "{text}");
    }
    let text = r#"{"header":{},"moves":[{},{"move":{"to":{"x":7,"y":6},"piece":"FU"}}]}"#;
    assert_eq!(usi(&read(text).unwrap()), "7g7f");
}

#[test]
fn start_positions_are_presets_or_boards() {
    for (preset, expected) in [
        ("HIRATE", sfen::START),
        ("KY", "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("2", "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("5_L", "1nsgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("7_R", "3gkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("10", "4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
    ] {
        let text = format!(r#"{{"header":{{}},"initial":{{"preset":"{preset}"}},"moves":[{{}}]}}"#);
        let game = read(&text).unwrap();
        assert_eq!(game.start.to_string(), expected);
        let text = written(&game);
        let is_known = text.contains(&format!(r#""initial":{{"preset":"{preset}"}}"#));
        assert_eq!(is_known, !["5_L", "7_R"].contains(&preset), "{text}");
        assert_eq!(read(&text).unwrap().start, game.start);
    }
    let mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
    let mut game = Game::new(mate.parse().unwrap());
    game.is_position = true;
    let again = read(&written(&game)).unwrap();
    assert_eq!((again.start.to_string().as_str(), again.is_position), (mate, true));
}

#[test]
fn values_that_contradict_the_board_or_the_schema_are_errors_with_their_offset() {
    let game = |moves: &str| format!(r#"{{"header":{{}},"moves":[{{}},{moves}]}}"#);
    for moves in [
        r#"{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"color":1}}"#,
        r#"{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"piece":"KE"}}"#,
        r#"{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"capture":"FU"}}"#,
        r#"{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"same":true}}"#,
        r#"{"move":{"from":{"x":7,"y":6},"to":{"x":7,"y":5}}}"#,
        r#"{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":10}}}"#,
        r#"{"move":{"from":{"x":7,"y":7}}}"#,
        r#"{"move":{"to":{"x":5,"y":5},"piece":"TO"}}"#,
        r#"{"move":{"to":{"x":5,"y":5},"piece":"KI","relative":"L"}}"#,
        r#"{"move":7}"#,
        r#"{"forks":"text"}"#,
    ] {
        let text = game(moves);
        let broken = read(&text).unwrap().broken.unwrap();
        let at = text.find(moves).unwrap();
        assert!((at..text.len()).contains(&broken.offset), "{moves}: {broken}");
    }
    // An illegal move is an error unless the game ended with it.
    let illegal = r#"{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":5}}}"#;
    assert_eq!(read(&game(illegal)).unwrap().records().len(), 1);
    let ended = read(&game(&format!(r#"{illegal},{{"special":"ILLEGAL_MOVE"}}"#))).unwrap();
    let white_won = (Some(GameResult::WhiteWin), Some(Ending::IllegalMove));
    assert_eq!((ended.broken, (ended.result, ended.ending)), (None, white_won));
    for text in [
        r#"{"header":{}}"#,
        r#"{"header":[],"moves":[]}"#,
        r#"{"moves":[],"moves":[]}"#,
        r#"{"header":{},"initial":{"preset":"OTHER"},"moves":[]}"#,
        r#"{"header":{},"initial":{"preset":"11"},"moves":[]}"#,
        r#"{"header":{},"moves":[{}"#,
        "hello",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn an_unknown_end_ends_the_game_for_an_unknown_reason() {
    let text = r#"{"header":{},"moves":[{},{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6}}},{"special":"封じ手"}]}"#;
    let game = read(text).unwrap();
    assert_eq!((game.result, game.ending, game.broken), (None, None, None));
    assert_eq!((game.moves.len(), game.info.skipped_lines), (1, 1));
}

/// The schema has no word for some endings. A comment completes them.
#[test]
fn every_end_is_preserved() {
    let results = [GameResult::Draw, GameResult::BlackWin, GameResult::WhiteWin];
    for result in results {
        for ending in Ending::ALL.into_iter().map(Some).chain([None]) {
            let mut game = Game::new(sfen::START.parse().unwrap());
            (game.result, game.ending) = (Some(result), ending);
            let text = written(&game);
            let again = read(&text).unwrap();
            assert_eq!((again.result, again.ending), (game.result, ending), "{text}");
            assert!(again.info.end_comments.is_empty());
        }
    }
}

/// A game is one line, several lines, or an element of an array.
#[test]
fn games_are_found_in_every_layout() {
    let game = r#"{"header":{"先手":"}{\"\\"},"moves":[{}]}"#;
    let spread = game.replace(',', ",\n  ").replace(r#"{"header""#, "{\n  \"header\"");
    for (file, games, bad) in [
        (format!("{game}\n{game}\n"), 2, 0),
        (format!("\u{feff}{spread}\r\n\r\n{spread}{game}"), 3, 0),
        (format!("[{game},\n{spread}\n, {game}]\n"), 3, 0),
        (format!("no game\n{game}\n"), 1, 1),
        // A truncated game does not absorb other games.
        (format!("{}\n{game}\n", &game[..30]), 1, 1),
        (format!("{game}\n\u{feff}{game}\n"), 2, 0),
    ] {
        check_file(Format::Jkf, file.as_bytes());
        let chunks: Vec<_> = chunks(Format::Jkf, file.as_bytes()).collect();
        let read: Vec<_> = chunks.iter().flat_map(|chunk| read_games(Format::Jkf, chunk)).collect();
        let good = read.iter().filter(|game| game.is_ok()).count();
        assert_eq!((good, read.len() - good), (games, bad), "{file}");
        let mut out = Vec::new();
        for chunk in chunks {
            Format::Jkf.copy_chunk(chunk, &mut out);
        }
        let copy = String::from_utf8(out).unwrap();
        assert!(!copy.contains('\u{feff}') && copy.ends_with('\n'));
    }
}

const PAWN: &str = r#"{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6}}}"#;
const PAWN_OF_ROOK: &str = r#"{"move":{"from":{"x":2,"y":7},"to":{"x":2,"y":6}}}"#;
const PAWN_OF_WHITE: &str = r#"{"move":{"from":{"x":3,"y":3},"to":{"x":3,"y":4}}}"#;

fn with_moves(moves: &str) -> Game {
    let game = read(&format!(r#"{{"header":{{}},"moves":[{moves}]}}"#)).unwrap();
    assert_eq!(game.broken, None, "{moves}");
    game
}

#[test]
fn a_repeated_key_is_written_once_and_the_others_are_counted() {
    let entry = |key, value: &str| Header { key, value: value.to_owned() };
    let note = || HeaderKey::Other("備考".to_owned());
    let mut game = with_moves(PAWN);
    game.info.headers = vec![
        entry(note(), "1"),
        entry(HeaderKey::Black, "A"),
        entry(note(), "2"),
        entry(HeaderKey::Black, "B"),
    ];
    assert_eq!(Format::Jkf.lost_info(&game).headers, 2);
    assert_eq!(Format::Csa.lost_info(&game).headers, 2);
    assert_eq!(Format::Kifu.lost_info(&game).headers, 0);
    let text = written(&game);
    assert!(text.starts_with(r#"{"header":{"備考":"1","先手":"A"},"#), "{text}");
}

/// They replace the next move, like the variations in the element of that move.
#[test]
fn variations_of_an_element_without_a_move_belong_to_the_next_move() {
    let forks = |variation: &str| format!(r#"{{"forks":[[{variation}]]}}"#);
    let (of_black, end) = (forks(PAWN_OF_ROOK), r#"{"special":"TORYO"}"#);
    for (moves, before) in [
        (format!("{of_black},{PAWN},{PAWN_OF_WHITE},{end}"), Some(0)),
        (format!("{{}},{of_black},{{}},{PAWN},{end}"), Some(0)),
        (format!("{PAWN},{PAWN_OF_WHITE},{of_black},{PAWN_OF_ROOK},{end}"), Some(2)),
        (format!("{PAWN},{PAWN_OF_WHITE},{of_black},{end}"), None),
        (format!("{{}},{of_black}"), None),
    ] {
        let game = with_moves(&moves);
        let variations = |at: usize| {
            let annotation = game.moves.get(at).and_then(|played| played.annotation.as_ref());
            annotation.map_or(0, |annotation| annotation.variations.len())
        };
        let places: Vec<usize> = (0..game.moves.len()).filter(|at| variations(*at) > 0).collect();
        assert_eq!(places, before.into_iter().collect::<Vec<_>>(), "{moves}");
        assert_eq!(game.info.end_variations.len(), usize::from(before.is_none()), "{moves}");
        // Every move of a variation is legal where it is written.
        let again = read(&written(&game)).unwrap();
        assert_eq!((usi(&again), again.broken), (usi(&game), None), "{moves}");
    }
    // The variations keep their file order.
    let moves = format!(r#"{of_black},{{"forks":[[{PAWN},{end}]],{}"#, &PAWN[1..]);
    let annotation = with_moves(&moves).moves[0].annotation.clone().unwrap();
    assert_eq!(annotation.variations.iter().filter(|it| it.result.is_some()).count(), 1);
    assert!(annotation.variations[0].result.is_none(), "{annotation:?}");
    // A game that ends with an error keeps its variations.
    let text = format!(r#"{{"header":{{}},"moves":[{of_black},{PAWN_OF_WHITE}]}}"#);
    let game = read(&text).unwrap();
    assert_eq!((game.broken.is_some(), game.info.end_variations.len()), (true, 1));
}

#[test]
fn what_a_variation_cannot_hold_is_counted() {
    let comment = r#"{"comments":["a","b"]}"#;
    let end = r#"{"special":"TORYO"}"#;
    for (variation, kept, skipped) in [
        (String::new(), 0, 0),
        (format!("{comment},{end}"), 0, 3),
        (r#"{"special":"TORYO","comments":["a"]}"#.to_owned(), 0, 2),
        (format!("{comment},{PAWN_OF_ROOK}"), 1, 2),
        (format!(r#"{PAWN_OF_ROOK},{{"special":"TORYO","time":{{"now":{{"s":1}}}}}}"#), 1, 1),
        (format!(r#"{PAWN_OF_ROOK},{{"forks":[[{PAWN_OF_WHITE}]]}}"#), 1, 1),
        (format!(r#"{{"forks":[[{PAWN_OF_ROOK}]]}}"#), 1, 0),
        (format!("{PAWN_OF_ROOK},{end}"), 1, 0),
    ] {
        let game = with_moves(&format!(r#"{{"forks":[[{variation}]]}},{PAWN}"#));
        let variations =
            game.moves[0].annotation.as_ref().map_or(0, |annotation| annotation.variations.len());
        assert_eq!((variations, game.info.skipped_lines), (kept, skipped), "{variation}");
    }
}

#[test]
fn a_hand_holds_numbers_of_pieces() {
    let text = |hands: &str| {
        let king = |color| format!(r#"{{"color":{color},"kind":"OU"}}"#);
        let file = format!("{},{{}},{{}},{{}},{{}},{{}},{{}},{{}},{}", king(1), king(0));
        format!(
            r#"{{"header":{{}},"initial":{{"preset":"OTHER","data":{{"color":0,"board":[[],[],[],[],[{file}]],"hands":{hands}}}}},"moves":[]}}"#
        )
    };
    let start = read(&text(r#"[{"FU":2,"KI":0},{"HI":1,"KA":null}]"#)).unwrap().start;
    assert_eq!(start.to_string(), "4k4/9/9/9/9/9/9/9/4K4 b 2Pr 1");
    for hands in [
        r#"[{"FU":"2"},{}]"#,
        r#"[{"FU":1.5},{}]"#,
        r#"[{"FU":1.0},{}]"#,
        r#"[{},{"FU":-3}]"#,
        r#"[{},{"FU":19}]"#,
        r#"[{},{"FU":[1]}]"#,
        r#"[{},{"OU":1}]"#,
        r#"[{},{},{"FU":1}]"#,
    ] {
        assert!(read(&text(hands)).is_err(), "{hands}");
    }
}

/// 表, ソ and 能 have a backslash as their second byte.
#[test]
fn a_backslash_within_a_shift_jis_character_is_not_an_escape() {
    let game = format!(
        r#"{{"header":{{"先手":"ソ\"}}{{","後手":"表","棋戦":"予表能","備考":"\\"}},"moves":[{{}},{PAWN}]}}"#
    );
    let spread = game.replace("},", "},\n  ").replace(r#"{"header""#, "{\n  \"header\"");
    let file = format!("{game}{game}\n[{spread},\n{spread}]\n");
    for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
        let bytes = encoding.encode(&file).0;
        check_file(Format::Jkf, &bytes);
        let games = chunks(Format::Jkf, &bytes).flat_map(|chunk| read_games(Format::Jkf, chunk));
        let games: Vec<Game> = games.map(Result::unwrap).collect();
        assert_eq!(games.len(), 4, "{encoding:?}");
        for game in games {
            let values: Vec<_> = game.info.headers.iter().map(|entry| &*entry.value).collect();
            assert_eq!(values, [r#"ソ"}{"#, "表", "予表能", r"\"], "{encoding:?}");
        }
    }
    // A damaged character does not change the encoding of the others.
    let mut damaged = format!("{game}\n{game}\n").into_bytes();
    let at = damaged.windows(3).position(|bytes| bytes == "後".as_bytes()).unwrap();
    damaged[at + 1] = b'?';
    assert_eq!(chunks(Format::Jkf, &damaged).count(), 2);
}

#[test]
fn names_comments_and_times_of_a_wrong_type_are_skipped_and_counted() {
    let text = format!(
        r#"{{"header":{{"a":1.50,"b":null,"c":true,"d":{{"x":1}},"e":["y"],"f":"z"}},"moves":[{{"comment":7}},
        {},"time":{{"now":{{"m":"1"}}}},"comments":["a",5,null,{{}}]}},
        {},"time":{{"now":{{"m":-1}}}},"comments":"b"}},
        {},"time":[]}},{{"special":"TORYO","time":{{"now":{{}}}}}}]}}"#,
        &PAWN[..PAWN.len() - 1],
        &PAWN_OF_WHITE[..PAWN_OF_WHITE.len() - 1],
        &PAWN_OF_ROOK[..PAWN_OF_ROOK.len() - 1],
    );
    let game = read(&text).unwrap();
    assert_eq!((game.broken.as_ref(), game.moves.len()), (None, 3));
    let headers: Vec<_> = game.info.headers.iter().map(|entry| &*entry.value).collect();
    assert_eq!(headers, ["1.50", "true", "z"]);
    assert_eq!(game.info.comments, ["7"]);
    assert_eq!(game.moves[0].annotation.as_ref().unwrap().comments, ["a", "5"]);
    assert_eq!(game.moves[1].annotation.as_ref().unwrap().comments, ["b"]);
    // Two entries, one comment, three times.
    assert_eq!(game.info.skipped_lines, 6);
}

#[test]
fn an_error_is_at_the_start_of_its_value() {
    for (wrong, text) in [
        ("300", r#"{"header":{},"moves":[{},{"move":{"from":{"x":300,"y":7}}}]}"#),
        ("\"a\\\"b\"", r#"{"header":{},"moves":[{},{"move":{"from":{"x":"a\"b","y":7}}}]}"#),
        ("true", r#"{"header":{},"moves":[{},{"move":{"from":{"x": true ,"y":7}}}]}"#),
        ("[4]", r#"{"header":{},"moves":[{},{"move":{"from":{"x":1,"y": [4]}}}]}"#),
        ("-1.5e3", r#"{"header":{},"moves":[{},{"move":{"color":-1.5e3}}]}"#),
    ] {
        let error = read(text).unwrap().broken.unwrap();
        assert_eq!(Some(error.offset), text.find(wrong), "{text}: {error}");
    }
}

/// Only the first comment after the end mark is read as a summary, and only in the form that the writer uses.
#[test]
fn a_comment_that_looks_like_a_summary_is_preserved() {
    let end = (Some(GameResult::WhiteWin), None);
    for comments in [
        &["summary:time up:a lose:b win"][..],
        &["of the end", "summary:time up:black lose:white win"],
        &["of the end", "summary:max_moves:black draw:white draw"],
    ] {
        let mut game = with_moves(PAWN);
        game.info.end_comments = comments.iter().map(|&comment| comment.to_owned()).collect();
        for (result, ending) in [end, (Some(GameResult::Draw), Some(Ending::MoveLimit))] {
            (game.result, game.ending) = (result, ending);
            let again = read(&written(&game)).unwrap();
            assert_eq!((again.result, again.ending), (result, ending), "{comments:?}");
            assert_eq!(again.info.end_comments, comments);
        }
    }
    // As the first comment after an end mark it needs a leading space.
    let mut game = with_moves(PAWN);
    game.result = Some(GameResult::BlackWin);
    game.info.end_comments = vec!["summary:time up:black win:white lose".to_owned()];
    let again = read(&written(&game)).unwrap();
    assert_eq!((again.result, again.ending), (game.result, None));
    assert_eq!(again.info.end_comments, [" summary:time up:black win:white lose"]);
}

#[test]
fn a_time_before_the_first_move_is_skipped_and_counted() {
    for (seconds, skipped) in [(3, 1), (0, 0)] {
        let game = with_moves(&format!(r#"{{"time":{{"now":{{"s":{seconds}}}}}}},{PAWN}"#));
        assert_eq!((game.moves.len(), game.info.skipped_lines), (1, skipped), "{seconds}");
    }
}

/// Floodgate's summaries have the player names of the header. A comment with other names is not a summary.
#[test]
fn a_summary_with_the_names_of_the_players_is_read() {
    let game = |black: &str| {
        let text = format!(
            r#"{{"header":{{"先手":"{black}","後手":"B C"}},"moves":[{{}},{{"special":"CHUDAN","comments":["note","summary:abnormal:A lose:B C win"]}}]}}"#
        );
        read_game(Format::Jkf, text.as_bytes()).unwrap()
    };
    assert_eq!(game("A").result, Some(GameResult::WhiteWin));
    assert_eq!(game("D").result, None);
}

#[test]
fn a_comment_that_names_the_players_is_preserved_with_another_end() {
    let text = r#"{"header":{"先手":"A","後手":"B"},"moves":[{},{"special":"CHUDAN"}]}"#;
    let mut game = read_game(Format::Jkf, text.as_bytes()).unwrap();
    game.info.end_comments = ["note", "summary:toryo:A win:B lose"].map(str::to_owned).to_vec();
    let again = read(&written(&game)).unwrap();
    assert_eq!((again.result, again.ending), (game.result, game.ending));
    assert_eq!(again.info.end_comments, ["note", " summary:toryo:A win:B lose"]);
}
