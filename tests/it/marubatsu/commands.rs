//! `kyokumen marubatsu`: the table of positions, pages and pictures, JSON.
//!
//! Snapshots of its printed output are in `tests/cmd/marubatsu.trycmd`.

use std::collections::HashMap;

use kyokumen::marubatsu::{Board, Solution};
use serde_json::Value;

use crate::harness::{Dir, Ran};

fn marubatsu(dir: &Dir, arguments: &[&str]) -> Ran {
    dir.kyokumen(["marubatsu"]).args(arguments).run()
}

/// The value by minimax on text boards, independent of the library.
fn minimax(board: &[u8; 9], known: &mut HashMap<[u8; 9], i64>) -> i64 {
    const LINES: [[usize; 3]; 8] =
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
    if let Some(&value) = known.get(board) {
        return value;
    }
    let has = |mark| LINES.iter().any(|line| line.iter().all(|&square| board[square] == mark));
    let free: Vec<usize> = (0..9).filter(|&square| board[square] == b'.').collect();
    let value = match (has(b'o'), has(b'x')) {
        (true, _) => 1,
        (_, true) => -1,
        _ if free.is_empty() => 0,
        _ => {
            let mark = if free.len() % 2 == 1 { b'o' } else { b'x' };
            let values = free.into_iter().map(|square| {
                let mut after = *board;
                after[square] = mark;
                minimax(&after, known)
            });
            if mark == b'o' { values.max().unwrap() } else { values.min().unwrap() }
        }
    };
    known.insert(*board, value);
    value
}

#[test]
fn the_table_has_every_position_with_its_value() {
    let dir = Dir::new();
    let made = marubatsu(&dir, &["dataset", "-o", "new/table", "--to", "jsonl"]);
    assert_eq!(made.code, Some(0), "{}", made.transcript);
    let table = dir.read("new/table/marubatsu.jsonl");
    assert_eq!(marubatsu(&dir, &["dataset", "-o", "-"]).stdout, table);
    let mut known = HashMap::new();
    minimax(&[b'.'; 9], &mut known);
    let mut rows = 0;
    for line in String::from_utf8(table).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = row["board"].as_str().unwrap().replace('/', "");
        let board: [u8; 9] = text.as_bytes().try_into().unwrap();
        let value = known.remove(&board).unwrap();
        assert_eq!(row["value"], value, "{line}");
        for square in row["best_moves"].as_array().unwrap() {
            let mut after = board;
            after[square.as_u64().unwrap() as usize] =
                row["to_move"].as_str().unwrap().as_bytes()[0];
            assert_eq!(minimax(&after, &mut HashMap::new()), value, "{line}");
        }
        rows += 1;
    }
    assert_eq!((rows, known.len()), (5_478, 0));
    let again = marubatsu(&dir, &["dataset", "-o", "new/table"]);
    assert_eq!(again.code, Some(1));
}

#[test]
fn page_and_picture_show_the_tree_without_external_resources() {
    let dir = Dir::new();
    let search = ["--method", "pvs", "--plies", "9", "--html", "a.html", "--svg", "a.svg"];
    let made = marubatsu(&dir, &[&["show", "ox./.o./..x"][..], &search[..]].concat());
    assert!(made.code == Some(0) && made.stdout.is_empty(), "{}", made.transcript);
    for path in ["a.html", "a.svg"] {
        let text = dir.text(path);
        for class in ["searched", "evaluated", "table", "cut"] {
            assert!(text.contains(&format!("draw {class}\"")), "{path}: {class}");
        }
        assert!(
            !text.contains("http") || text.matches("http").count() == 1,
            "the only URL is the namespace of SVG"
        );
    }
}

/// Of all arrangements of marks, exactly the reachable ones can be parsed.
#[test]
fn only_reachable_boards_can_be_parsed() {
    let solution = Solution::new();
    let mut read = 0;
    for number in 0..Board::ARRANGEMENTS {
        let digit = |place: u32| b".ox"[number / 3_usize.pow(place) % 3] as char;
        let row = |first: u32| -> String { (first..first + 3).map(digit).collect() };
        if let Ok(board) = [row(0), row(3), row(6)].join("/").parse() {
            assert!(solution.get(board).is_some(), "{board}");
            read += 1;
        }
    }
    assert_eq!(read, 5_478);
}

#[test]
fn commands_report_json() {
    let dir = Dir::new();
    let json = |arguments: &[&str]| {
        let done = marubatsu(&dir, arguments);
        assert_eq!(done.code, Some(0), "{}", done.transcript);
        done.json()
    };
    let made = json(&["dataset", "-o", "all.jsonl", "--json"]);
    assert_eq!((&made["positions"], made["elapsed_ms"].is_f64()), (&5478.into(), true));
    assert_eq!(marubatsu(&dir, &["dataset", "-o", "-", "--json"]).code, Some(2));
    let board = "ox./.o./..x";
    let shown = json(&["show", board, "--plies", "1", "--method", "alphabeta", "--json"]);
    let root = &shown["root"];
    assert_eq!(
        (&root["board"], &root["value"], &root["found"]),
        (&board.into(), &1.into(), &300.into())
    );
    let moves: Vec<&Value> =
        root["children"].as_array().unwrap().iter().map(|c| &c["last"]).collect();
    assert_eq!(moves, [2, 3, 5, 6, 7]);
    assert_eq!(
        (&shown["method"], &shown["nodes"]),
        (&"alphabeta".into(), &json(&["solve", board, "--json"])["nodes"])
    );
    let tree = json(&["show", board, "--plies", "2", "--json"]);
    assert_eq!((&tree["root"]["fate"], &tree["nodes"]), (&"solved".into(), &Value::Null));
    assert_eq!(marubatsu(&dir, &["match", "--players", "ai1,ai2", "--games", "0"]).code, Some(2));
}
