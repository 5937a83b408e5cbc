//! The ends of KIF and KI2 games and of diagrams in a file. Joined files contain the same games.

use kyokumen_format::{
    Format, Game, HeaderKey, Record, RecordRef, chunks, encode, read_games, records,
};
use kyokumen_testing::game_properties::{check_file, content};
use kyokumen_testing::games::read_game;
use kyokumen_testing::literals::TWO_KINGS as DIAGRAM;

use crate::kif::usi;

const LIST: &str = "手数----指手---------消費時間--\n";
const MOVES: &str = "   1 ７六歩(77)\n   2 投了\n";

fn games(format: Format, file: &[u8]) -> Vec<Game> {
    let games = chunks(format, file).flat_map(|chunk| read_games(format, chunk));
    games.map(|game| content(game.unwrap())).collect()
}

/// Joins files of one game each in every order.
fn check_joined(format: Format, files: &[String]) {
    for first in files {
        for second in files {
            let mut joined = Vec::new();
            for file in [first, second] {
                check_file(format, file.as_bytes());
                let chunks: Vec<_> = chunks(format, file.as_bytes()).collect();
                assert_eq!(chunks.len(), 1, "{file}");
                format.write_chunk(chunks[0], &mut joined).unwrap();
            }
            let expected =
                [first, second].map(|file| content(read_game(format, file.as_bytes()).unwrap()));
            let text = String::from_utf8_lossy(&joined);
            assert_eq!(games(format, &joined), expected, "{text}");
            assert!(format.is_closed(first.as_bytes()), "{first}");
            check_file(format, &joined);
        }
    }
}

#[test]
fn joined_games_are_the_same_games() {
    let even = "手合割：平手\n";
    let king = "   1 ５八玉(59)\n   2 投了\n";
    let files = [
        format!("{even}{LIST}{MOVES}"),
        format!("{LIST}{MOVES}"),
        MOVES.to_owned(),
        format!("題名：問\n{DIAGRAM}先手の持駒：金\n{LIST}{king}"),
        format!("備考：問\n{DIAGRAM}先手の持駒：金\n{LIST}{king}"),
        format!("{DIAGRAM}{LIST}{king}"),
        format!("{DIAGRAM}先手の持駒：金\n"),
        format!("{DIAGRAM}後手番\n{LIST}"),
        format!("後手番\n{even}{LIST}   1 ３四歩(33)\n   2 投了\n"),
        format!("*第1局\n{even}{LIST}{MOVES}*終局後\n"),
        format!("&しおり\n\n{even}{LIST}{MOVES}まで1手で先手の勝ち\n\n*終局後\n"),
        format!("備考：x\n\n手合割：香落ち\n{LIST}   1 ３四歩(33)\n   2 投了\n"),
        format!("{even}{LIST}{MOVES}備考：後\n"),
        format!("{even}先手：A\n{LIST}{MOVES}終了日時：2026/11/25 11:00:00\n"),
        format!("# remark\n\n手合割：二枚落ち\n{LIST}   1 投了\n"),
        format!("2026 名人戦\n{even}{LIST}{MOVES}"),
        format!("{even}{LIST}"),
    ];
    check_joined(Format::Kifu, &files);
}

#[test]
fn joined_ki2_games_are_the_same_games() {
    let files = [
        "手合割：平手\n\n▲７六歩 △３四歩\n".to_owned(),
        "後手番\n手合割：平手\n\n△３四歩 ▲７六歩\n".to_owned(),
        "▲７六歩 △３四歩\nまで2手で中断\n".to_owned(),
        format!("題名：問\n{DIAGRAM}先手の持駒：金\n▲５八玉\n"),
        format!("{DIAGRAM}▲５八玉 △５二玉\n"),
    ];
    check_joined(Format::Ki2u, &files);
}

fn diagrams(file: &[u8]) -> Vec<Record> {
    let dialect = Format::Bod.dialect();
    let found = chunks(Format::Bod, file).flat_map(|chunk| records(Format::Bod, dialect, chunk));
    found.map(|record| record.unwrap().record().unwrap()).collect()
}

#[test]
fn joined_diagrams_are_the_same_diagrams() {
    let files = [
        format!("後手の持駒：なし\n{DIAGRAM}先手の持駒：なし\n先手番\n手数＝3　まで\n"),
        DIAGRAM.to_owned(),
        format!("{DIAGRAM}先手の持駒：金\n"),
        format!("{DIAGRAM}後手番\n"),
        format!("{DIAGRAM}後手の持駒：歩\n先手の持駒：金\n後手番\n"),
        format!("先手の持駒：金\n{DIAGRAM}"),
        format!("後手番\n後手の持駒：歩\n{DIAGRAM}"),
        format!("手番：後手\n{DIAGRAM}"),
        format!("手数＝9\n作者：x\n後手の持駒：歩\n{DIAGRAM}"),
        format!("*第1問\n{DIAGRAM}先手の持駒：銀\n"),
        format!("備考：x\n{DIAGRAM}先手の持駒：桂\n"),
        format!("手合割：その他\n{DIAGRAM}手番：後手\n"),
        "手合割：二枚落ち\n".to_owned(),
        "後手番\n手合割：平手\n".to_owned(),
    ];
    for first in &files {
        for second in &files {
            let mut joined = Vec::new();
            for file in [first, second] {
                check_file(Format::Bod, file.as_bytes());
                assert_eq!(diagrams(file.as_bytes()).len(), 1, "{file}");
                Format::Bod.write_chunk(file.as_bytes(), &mut joined).unwrap();
            }
            let expected = [first, second].map(|file| diagrams(file.as_bytes()).remove(0));
            let text = String::from_utf8_lossy(&joined);
            assert_eq!(diagrams(&joined), expected, "{text}");
            assert!(Format::Bod.is_closed(first.as_bytes()), "{first}");
            check_file(Format::Bod, &joined);
        }
    }
}

#[test]
fn a_diagram_after_the_moves_begins_the_next_game() {
    for diagram in [DIAGRAM.to_owned(), format!("後手番\n{DIAGRAM}")] {
        let file = format!("手合割：平手\n{LIST}{MOVES}{diagram}{LIST}   1 中断\n");
        let games = games(Format::Kifu, file.as_bytes());
        let starts: Vec<_> = games.iter().map(|game| game.start.to_string()).collect();
        assert_eq!(games.len(), 2, "{diagram}");
        assert!(starts[1].starts_with("4k4/9/9/9/9/9/9/9/4K4"), "{starts:?}");
        assert_eq!(games.iter().map(|game| game.info.skipped_lines).sum::<u32>(), 0);
        check_file(Format::Kifu, file.as_bytes());
    }
    // Diagrams without lines that separate them.
    for diagram in [
        DIAGRAM.to_owned(),
        format!("{DIAGRAM}後手番\n"),
        format!("後手番\n{DIAGRAM}"),
        format!("手数＝9\n{DIAGRAM}"),
    ] {
        let found = diagrams(diagram.repeat(3).as_bytes());
        assert_eq!(found, vec![found[0].clone(); 3], "{diagram}");
    }
}

#[test]
fn the_entry_for_the_side_to_move_is_read() {
    for (side, letter) in [("先手", " b "), ("後手", " w "), ("上手番", " w "), ("下手", " b ")]
    {
        let text = format!("{DIAGRAM}手番：{side}\n");
        let record = diagrams(text.as_bytes()).remove(0);
        assert!(record.setup.to_string().contains(letter), "{side}");
        let game = read_game(Format::Kifu, format!("{text}{LIST}").as_bytes()).unwrap();
        assert_eq!(game.start, record.setup, "{side}");
    }
    assert!(RecordRef::new(Format::Bod, format!("{DIAGRAM}手番：x\n").as_bytes()).is_err());
}

#[test]
fn a_number_of_moves_that_no_ply_can_hold_is_skipped() {
    for (line, ply, is_skipped) in [
        ("手数＝0　まで", Some(1), false),
        ("手数＝-1　まで", Some(0), false),
        ("手数＝65534", Some(65535), false),
        ("手数＝65535", None, true),
        ("手数＝99999", None, true),
        ("手数＝-12", None, true),
        ("手数＝", None, true),
    ] {
        let text = format!("{DIAGRAM}{line}\n");
        let record = RecordRef::new(Format::Bod, text.as_bytes()).unwrap();
        assert_eq!(record.record().unwrap().ply, ply, "{line}");
        assert_eq!(!record.warnings().unwrap().is_empty(), is_skipped, "{line}");
    }
}

#[test]
fn lines_between_games_belong_to_the_game_that_they_describe() {
    let even = format!("手合割：平手\n{LIST}{MOVES}");
    let of = |between: &str| -> [Game; 2] {
        let file = format!("{even}{between}{even}");
        check_file(Format::Kifu, file.as_bytes());
        games(Format::Kifu, file.as_bytes()).try_into().unwrap()
    };
    let [first, second] = of("終了日時：2026/11/25 11:00:00\n");
    assert_eq!((first.info.headers.len(), second.info.headers.len()), (1, 0));
    assert_eq!(first.info.headers[0].key, HeaderKey::EndTime);
    for title in ["題名：第２問\n", "大会名：X\nラウンド：2\n", "\n備考：x\n*第2局\n"]
    {
        let [first, second] = of(title);
        let entries = title.matches('：').count();
        assert_eq!((first.info.headers.len(), second.info.headers.len()), (0, entries), "{title}");
    }
    let [first, second] = of("\n*第2局\n");
    assert_eq!(
        (first.info.end_comments.len(), &*second.info.comments),
        (0, &["第2局".to_owned()][..])
    );
    let [first, second] = of("*終局後\n\n");
    assert_eq!(
        (&*first.info.end_comments, second.info.comments.len()),
        (&["終局後".to_owned()][..], 0)
    );
    // After the last game it is not a game.
    let file = format!("{even}終了日時：2026/11/25 11:00:00\n");
    assert_eq!(games(Format::Kifu, file.as_bytes()).len(), 1);
    assert_eq!(usi(&read_game(Format::Kifu, file.as_bytes()).unwrap()), "7g7f");
}

/// A copy does not add fields that a record lacks.
#[test]
fn a_diagram_is_written_as_it_is_read() {
    for record in diagrams(format!("{DIAGRAM}手数＝4\n").as_bytes()) {
        let mut out = Vec::new();
        encode(Format::Bod, &record, &kyokumen_format::Fill::default(), &mut out).unwrap();
        assert_eq!(diagrams(&out), [record]);
    }
}

/// A damaged diagram is a bad record. The diagrams after it keep their own numbers, sides and hands.
#[test]
fn diagrams_after_a_damaged_one_are_read_correctly() {
    let rank = "| ・ ・ ・ ・ ・ ・ ・ ・ ・|五\n";
    let diagram = |number: u32| {
        let ranks = "| ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n".to_owned() + &rank.repeat(7);
        format!(
            "後手の持駒：なし\n+---+\n{ranks}| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九\n+---+\n先手の持駒：歩{number}\n後手番\n手数＝{number}　まで\n"
        )
    };
    let [first, second, third] = [1, 2, 3].map(diagram);
    let without_board = first
        .replace(rank, "")
        .lines()
        .filter(|line| !line.starts_with('|'))
        .fold(String::new(), |text, line| text + line + "\n");
    let one_more = first.replacen(rank, &rank.repeat(2), 1);
    let without_head = first.replace("後手の持駒：なし\n", "");
    let cut = |file: &str| -> Vec<String> {
        let chunks = chunks(Format::Bod, file.as_bytes());
        chunks.map(|chunk| String::from_utf8_lossy(chunk).into_owned()).collect()
    };
    for damaged in [without_board, one_more, without_head] {
        let found = cut(&format!("{damaged}{second}{third}"));
        assert_eq!(found[found.len() - 2..], [second.as_str(), third.as_str()], "{damaged}");
    }
    // Only the last lines of the damaged diagram are left. In a copy, they do not become part of a healthy one.
    let rest = &first[first.find("先手の持駒").unwrap()..];
    let order = [&*second, rest, &*third];
    let mut copy = Vec::new();
    for chunk in order {
        Format::Bod.copy_chunk(chunk.as_bytes(), &mut copy);
    }
    let copied = cut(str::from_utf8(&copy).unwrap());
    assert_eq!(copied, [second.clone(), format!("手合割：その他\n{rest}"), third]);
}

/// The numbers of good and bad records in a file.
fn good_and_bad(format: Format, file: &[u8]) -> (usize, usize) {
    check_file(format, file);
    let found = chunks(format, file).flat_map(|chunk| records(format, format.dialect(), chunk));
    let (good, bad): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
    (good.len(), bad.len())
}

/// Only chunks of blank lines and comments have no record. Any other chunk is a record or an error, so that no content
/// is lost without being counted.
#[test]
fn lines_without_a_diagram_or_a_game_are_bad_records() {
    for lines in [
        "先手番\n",
        "手番：後手\n",
        "手数＝18　まで\n",
        "後手番\n手数＝19　まで\n",
        "*第1問\n\n後手番\n",
        "+---------------------------+\n",
        "  ９ ８ ７ ６ ５ ４ ３ ２ １\n",
        "先手の持駒：なし\n後手番\n手数＝19　まで\n",
        "まで18手で中断\n",
        "変化：3手\n",
    ] {
        for format in [Format::Bod, Format::Kifu, Format::Ki2u] {
            assert_eq!(good_and_bad(format, lines.as_bytes()), (0, 1), "{format}: {lines}");
        }
    }
    assert_eq!(good_and_bad(Format::Bod, LIST.as_bytes()), (0, 1));
    for comments in ["\n　\n", "*第1問\n", "&しおり\n", "# remark\n\n"] {
        for format in [Format::Bod, Format::Kifu, Format::Ki2u] {
            assert_eq!(good_and_bad(format, comments.as_bytes()), (0, 0), "{format}: {comments}");
        }
    }
}

/// The lines below a damaged board belong to it. They are not the first lines of the diagram after it.
#[test]
fn a_diagram_does_not_take_lines_of_a_damaged_one_above_it() {
    let ends =
        ["先手の持駒：歩\n先手番\n手数＝2　まで\n", "先手の持駒：金\n後手番\n手数＝3　まで\n"];
    let [first, second] = ends.map(|end| format!("後手の持駒：なし\n{DIAGRAM}{end}"));
    let whole = diagrams(second.as_bytes());
    // The first rank is damaged, and a piece of another diagram is below it.
    let rank = "| ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n";
    let broken = first.replace(rank, "| ・ ・ ・ ・v玉 \n先手の持駒：歩\n ・ ・ ・|一\n");
    // Everything up to the last rank is missing.
    for damaged in [broken.as_str(), ends[0]] {
        let file = format!("{damaged}{second}{second}");
        assert_eq!(good_and_bad(Format::Bod, file.as_bytes()), (2, 1), "{file}");
        let found = chunks(Format::Bod, file.as_bytes()).skip(1);
        assert!(found.map(diagrams).all(|found| found == whole), "{file}");
    }
}

/// Unreadable pieces in hand are an error of the diagram below them. A copy replaces their invalid bytes, and the line
/// must still belong to that diagram.
#[test]
fn a_damaged_character_does_not_move_a_line_to_the_game_above() {
    let game = format!("{DIAGRAM}先手の持駒：なし\n先手番\n{LIST}   1 ５八玉(59)\n   2 投了\n");
    let damaged = [
        b"\xe5\xbe\x8c\xe6\x89\x8b\xe3\x81\xae\xe6\x8c\x81\xe9\xa7\x92\xef\xbc\x9a".as_slice(),
        b"\xe3\x81\r\n",
    ]
    .concat();
    let file = [game.as_bytes(), &damaged, game.as_bytes()].concat();
    let found: Vec<&[u8]> = chunks(Format::Kifu, &file).collect();
    assert_eq!(found, [game.as_bytes(), &file[game.len()..]]);
    assert_eq!(good_and_bad(Format::Kifu, &file), (1, 1));
}

/// `まで7手詰` below a header ends a game. A copy keeps it a title.
#[test]
fn a_copy_keeps_titles_that_begin_like_a_summary() {
    for (format, file) in [
        (Format::Kifu, format!("まで7手詰\n{DIAGRAM}先手の持駒：金\n{LIST}   1 ５八玉(59)\n")),
        (Format::Ki2u, format!("まで7手詰\n{DIAGRAM}先手の持駒：金\n▲５八玉\n")),
        (Format::Kifu, format!("まで7手で\n手合割：二枚落ち\n{LIST}   1 ３四歩(33)\n")),
        (Format::Kifu, format!("まで7手で\n{LIST}{MOVES}")),
        (Format::Ki2u, "まで7手で\n▲７六歩 △３四歩\n".to_owned()),
    ] {
        check_joined(format, &[file]);
    }
}
