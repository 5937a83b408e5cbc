//! `jkf`: objects of the schema of json-kifu-format, minimal and normalised.

use kyokumen_format::{
    DecodeError, Ending, Format, Game, GameResult, HeaderKey, read_games, units, write_game,
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

/// Moves as the minimal form has them: from, to and promote; of drops, piece and to.
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
fn the_minimal_form_is_read_and_the_normalised_one_written() {
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

/// The words of Japanese notation as letters, where several pieces can move to a square.
#[test]
fn moves_are_told_apart_as_in_japanese_notation() {
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

/// As in what is made of KI2 files: without `from` the words tell which piece moves.
#[test]
fn moves_without_from_are_found_on_the_board() {
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
fn starts_are_presets_or_shown() {
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
fn what_contradicts_the_board_or_the_schema_is_an_error_at_its_place() {
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
        r#"{"comments":"text"}"#,
    ] {
        let text = game(moves);
        let broken = read(&text).unwrap().broken.unwrap();
        let at = text.find(moves).unwrap();
        assert!((at..text.len()).contains(&broken.offset), "{moves}: {broken}");
    }
    // A move that cannot be played shows as one, unless the game ended with it.
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

/// The words of the schema do not say every end: a comment says the rest.
#[test]
fn every_end_comes_back() {
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

/// Games stand one on a line, are spread over lines, or are the elements of an array.
#[test]
fn games_are_found_however_they_are_laid_out() {
    let game = r#"{"header":{"先手":"}{\"\\"},"moves":[{}]}"#;
    let spread = game.replace(',', ",\n  ").replace(r#"{"header""#, "{\n  \"header\"");
    for (file, games, bad) in [
        (format!("{game}\n{game}\n"), 2, 0),
        (format!("\u{feff}{spread}\r\n\r\n{spread}{game}"), 3, 0),
        (format!("[{game},\n{spread}\n, {game}]\n"), 3, 0),
        (format!("no game\n{game}\n"), 1, 1),
        // What is cut off takes no other game with it.
        (format!("{}\n{game}\n", &game[..30]), 1, 1),
        (format!("{game}\n\u{feff}{game}\n"), 2, 0),
    ] {
        check_file(Format::Jkf, file.as_bytes());
        let units: Vec<_> = units(Format::Jkf, file.as_bytes()).collect();
        let read: Vec<_> = units.iter().flat_map(|unit| read_games(Format::Jkf, unit)).collect();
        let good = read.iter().filter(|game| game.is_ok()).count();
        assert_eq!((good, read.len() - good), (games, bad), "{file}");
        let mut out = Vec::new();
        for unit in &units {
            Format::Jkf.copy_unit(unit, &mut out);
        }
        let copy = String::from_utf8(out).unwrap();
        assert!(!copy.contains('\u{feff}') && copy.ends_with('\n'));
    }
}
