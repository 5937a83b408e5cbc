//! KIF and KI2 in the forms that programs and people write: names, comments, times, variations, spellings, encodings.
//! Also checks the form that is written.

use kyokumen_format::{
    Annotation, Ending, Field, Format, Game, GameResult, Header, HeaderKey, Played, Variation,
    Warning, chunks, notation, records, write_game,
};
use kyokumen_shogi::Position;
use kyokumen_testing::game_properties::{check_file, content};
use kyokumen_testing::games::{random_game, read_game};
use kyokumen_testing::literals::PROBLEM;
use kyokumen_testing::positions::Random;

use crate::kif::{EXAMPLE, read, usi, written};

/// All information that the formats can hold about a game.
const ANNOTATED: &str = "\
手合割：平手
開始日時：2024/01/01 10:00:00
棋戦：テスト：決勝
先手：Player A
後手：Player B
備考：なし
手数----指手---------消費時間--
*初手の前のコメント
&はじめ
   1 ７六歩(77)   ( 0:10/00:00:10)
*コメント
**評価値=12 読み筋
&しおり
   2 ３四歩(33)   ( 0:12/00:00:12)
   3 ２二角成(88) ( 0:15/00:00:25)
   4 同　銀(31)   (61:03/01:01:15)
**評価値=-30
   5 ４五角打     ( 0:01/00:00:26)
   6 投了         ( 0:06/01:01:21)
まで5手で先手の勝ち
*終局後

変化：5手
   5 ５五角打     ( 0:02/00:00:27)
   6 中断         ( 0:00/01:01:15)
まで5手で中断
*変化の終わり

変化：4手
   4 同　飛(82)   ( 0:05/00:00:17)
*悪手
   5 ６五角打     ( 0:05/00:00:30)

変化：5手
   5 ５五角打
   6 ３三角打

変化：4手
   4 ８四歩(83)
";

fn shift_jis(text: &str) -> Vec<u8> {
    encoding_rs::SHIFT_JIS.encode(text).0.into_owned()
}

#[test]
fn names_comments_times_bookmarks_and_variations_are_kept() {
    let game = read(ANNOTATED).unwrap();
    let [start, event, ..] = &game.info.headers[..] else { panic!() };
    assert_eq!((&start.key, &*start.value), (&HeaderKey::StartTime, "2024/01/01 10:00:00"));
    assert_eq!((&event.key, &*event.value), (&HeaderKey::Event, "テスト：決勝"));
    assert_eq!(game.info.headers[4].key, HeaderKey::Other("備考".to_owned()));
    assert_eq!(game.info.comments, ["初手の前のコメント"]);
    assert_eq!(game.info.bookmark.as_deref(), Some("はじめ"));
    assert_eq!(
        (game.info.end_elapsed_ms, &*game.info.end_comments),
        (Some(6000), &["終局後".to_owned()][..])
    );
    let first = game.moves[0].annotation.as_deref().unwrap();
    assert_eq!((first.elapsed_ms, first.bookmark.as_deref()), (Some(10_000), Some("しおり")));
    assert_eq!(first.comments, ["コメント", "*評価値=12 読み筋"]);
    assert_eq!((game.moves[0].eval_cp, game.moves[3].eval_cp), (Some(12), Some(30)));
    let fourth = game.moves[3].annotation.as_deref().unwrap();
    assert_eq!((fourth.elapsed_ms, fourth.comments.len()), (Some(3_663_000), 0));
    let [taken, other] = &fourth.variations[..] else { panic!("{:?}", fourth.variations) };
    assert_eq!((taken.moves.len(), other.moves.len()), (2, 1));
    let nested = &taken.moves[1].annotation.as_deref().unwrap().variations;
    assert_eq!((nested.len(), nested[0].moves.len()), (1, 2));
    let last = &game.moves[4].annotation.as_deref().unwrap().variations[0];
    assert_eq!((last.ending, &*last.end_comments[0]), (Some(Ending::Interruption), "変化の終わり"));

    // The text is written like this in KIF, and without times in KI2.
    assert_eq!(
        written(&game),
        ANNOTATED.replace("   6 中断         ( 0:00/01:01:15)\n", "   6 中断\n")
    );
    for format in [Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u] {
        let mut out = Vec::new();
        write_game(format, &game, &mut out).unwrap();
        assert_eq!(
            std::str::from_utf8(&out).is_ok(),
            matches!(format, Format::Kifu | Format::Ki2u)
        );
        let again = content(read_game(format, &out).unwrap());
        let (mut without_times, mut expected) = (again.clone(), content(game.clone()));
        if matches!(format, Format::Ki2 | Format::Ki2u) {
            assert_eq!(format.lost_info(&game).times, 9);
            forget_times(&mut without_times);
            forget_times(&mut expected);
        } else {
            assert!(format.lost_info(&game).is_zero());
        }
        assert_eq!(without_times, expected, "{format}");
        check_file(format, &out.repeat(2));
    }
}

fn forget_times(game: &mut Game) {
    fn forget(moves: &mut [Played]) {
        for played in moves {
            if let Some(annotation) = &mut played.annotation {
                annotation.elapsed_ms = None;
                annotation.variations.iter_mut().for_each(|variation| forget(&mut variation.moves));
            }
            played.annotation.take_if(|annotation| **annotation == Annotation::default());
        }
    }
    game.info.end_elapsed_ms = None;
    forget(&mut game.moves);
}

#[test]
fn ki2_is_written_like_in_books() {
    let mut out = Vec::new();
    write_game(Format::Ki2u, &read(ANNOTATED).unwrap(), &mut out).unwrap();
    let expected = "\
手合割：平手
開始日時：2024/01/01 10:00:00
棋戦：テスト：決勝
先手：Player A
後手：Player B
備考：なし

*初手の前のコメント
&はじめ
▲７六歩
*コメント
**評価値=12 読み筋
&しおり
△３四歩    ▲２二角成  △同　銀
**評価値=-30
▲４五角
まで5手で先手の勝ち
*終局後

変化：5手
▲５五角
まで5手で中断
*変化の終わり

変化：4手
△同　飛
*悪手
▲６五角

変化：5手
▲５五角    △３三角

変化：4手
△８四歩
";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

/// Sides, digits, spaces, brackets, kings and dragons in the spellings of programs and people.
#[test]
fn moves_are_read_in_all_spellings() {
    for (format, moves, expected) in [
        (Format::Kif, "   1 ▲７六歩(77)\n   2 △３四歩(33)\n", "7g7f 3c3d"),
        (
            Format::Kif,
            "１　７六歩（７７）　（０：０１／００：００：０１）\n２　３四歩（３３）\n",
            "7g7f 3c3d",
        ),
        (
            Format::Kif,
            "1 76歩(77)\n2 ☖３四歩(33)\n3 22角成(88)\n4 同銀(31)\n5 5五角打\n",
            "7g7f 3c3d 8h2b+ 3a2b B*5e",
        ),
        (Format::Kif, "\t1\t７六歩(77)\n\t2\t３四歩(33)\t( 0:01/00:00:01)\n", "7g7f 3c3d"),
        (
            Format::Kif,
            "1▲７六歩(77)\n2▽３四歩(33)\n3 ２二角不成(88)\n4 同　銀　(31)\n",
            "7g7f 3c3d 8h2b 3a2b",
        ),
        (Format::Kif, "1 ▲７六歩   ( 0:01/00:00:01)\n2 △３四歩\n3 ▲５八金右\n", "7g7f 3c3d 4i5h"),
        (Format::Kif, "1.７六歩(77)\n2．３四歩(33)\n3、２六歩(27)\n4.投了\n", "7g7f 3c3d 2g2f"),
        (Format::Kif, "▲先手：A\n△後手：B\n1 ７六歩(77)\n", "7g7f"),
        (Format::Ki2u, "▲26歩 △34歩\n", "2g2f 3c3d"),
        (
            Format::Ki2u,
            "☗７六歩☖３四歩☗２二角成☖同銀\n▼５五角　▽３三銀",
            "7g7f 3c3d 8h2b+ 3a2b B*5e 2b3c",
        ),
        (Format::Ki2u, "　▲７六歩(77)　△３四歩(33)\n▲２二角生△２二同銀", "7g7f 3c3d 8h2b 3a2b"),
    ] {
        let game = read_game(format, format!("手合割:平手\n{moves}").as_bytes()).unwrap();
        assert_eq!((usi(&game).as_str(), game.broken), (expected, None), "{moves}");
    }
    let large = "\
後手の持駒：飛角金４銀四桂四香四歩１８
９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
|　・　・　・　・ｖ王　・　・　・　・｜一
| * * * * * * * * *|二
| ・ ・ ・ ・ ・ ・ ・ ・ ・|三
| 竜 ・ ・ ・ 角 ・ ・ ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・ ・ ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九
+---------------------------+
先手の持駒：なし
▲９二竜王 △５二金打 ▲６三角成 △４一玉 ▲５二馬
";
    let game = read_game(Format::Ki2u, large.as_bytes()).unwrap();
    assert_eq!((usi(&game).as_str(), game.broken), ("9d9b G*5b 5d6c+ 5a4a 6c5b", None));
}

#[test]
fn unknown_lines_are_skipped_and_counted() {
    let head = "手合割：平手\n盤面回転\n先手：a\n手数----指手---------消費時間--\n";
    let text = format!("{head}   1 ７六歩(77)\n*a\n   2 封じ手       (90:00/3:00:00)\n");
    let game = read(&text).unwrap();
    assert_eq!(
        (usi(&game).as_str(), game.ending, game.info.skipped_lines),
        ("7g7f", Some(Ending::Interruption), 1)
    );
    assert_eq!(game.info.end_elapsed_ms, Some(5_400_000));
    let records: Vec<_> = records(Format::Kif, Format::Kif.dialect(), text.as_bytes()).collect();
    let warnings = records[0].as_ref().unwrap().warnings().unwrap();
    assert!(records.len() == 1 && warnings.contains(Warning::LinesSkipped));
    // A line that may have been a move is not skipped, and a damaged move does not end a game.
    for moves in [
        "   1 ７六歩(77)\n2\n   3 ２六歩(27)\n",
        "   1 ７六歩(77)\n？？\n   4 ３四歩(33)\n",
        "   1 七歩(77)\n",
    ] {
        assert!(read(&format!("{head}{moves}")).unwrap().broken.is_some(), "{moves}");
    }
    assert_eq!(
        usi(&read(&format!("{head}   1 ７六歩(77)\n？？\n   2 ３四歩(33)\n")).unwrap()),
        "7g7f 3c3d"
    );
    // 投了 without a number, and between KI2 moves.
    for (moves, played) in [
        ("   1 ７六歩(77)\n投了 ( 0:03/00:00:03)\n", 1),
        ("▲７六歩 △３四歩 投了\n", 2),
        ("▲７六歩\n投了\n", 1),
    ] {
        let game = read(&format!("{head}{moves}")).unwrap();
        let winner = if played == 1 { GameResult::BlackWin } else { GameResult::WhiteWin };
        assert_eq!(
            (game.moves.len(), game.result, game.broken),
            (played, Some(winner), None),
            "{moves}"
        );
    }
    assert!(read("盤面回転\n").is_err());
}

/// Some programs mark a variation only by a lower move number.
#[test]
fn a_number_that_goes_back_begins_a_variation() {
    let text = "1 ７六歩(77)\n2 ３四歩(33)\n3 ２六歩(27)\n2 ８四歩(83)\n3 ２六歩(27)\n";
    let game = read(text).unwrap();
    assert_eq!((usi(&game).as_str(), game.broken), ("7g7f 3c3d 2g2f", None));
    let variations = &game.moves[1].annotation.as_deref().unwrap().variations;
    assert_eq!((variations.len(), variations[0].moves.len()), (1, 2));
    // Another list of moves is another game.
    let list = "手数----指手---------消費時間--\n";
    assert_eq!(chunks(Format::Kif, format!("{list}{text}{list}{text}").as_bytes()).count(), 2);
}

#[test]
fn variations_that_cannot_be_placed_are_skipped() {
    for variation in [
        "変化：9手\n   9 ２六歩(27)\n",
        "変化：0手\n",
        "変化：手\n",
        "変化：2手\n   2 ５五角(22)\n",
    ] {
        let game = read(&format!("{EXAMPLE}\n{variation}")).unwrap();
        assert_eq!((usi(&game).as_str(), game.broken), ("7g7f 3c3d", None), "{variation}");
        assert!(game.info.skipped_lines > 0, "{variation}");
    }
}

/// Each variation begins in the one before it.
#[test]
fn nested_variations_are_read_up_to_a_maximum_depth() {
    let mut position = Position::start();
    let mut text =
        format!("手合割：平手\n{}\n", notation(&position, position.legal_moves()[1], None));
    let mut last = None;
    for number in 1..=150 {
        let other = position.legal_moves()[0];
        text.extend([format!("変化：{number}手\n{}", notation(&position, other, last))]);
        position.make(other);
        last = Some(other.to());
        text.extend([notation(&position, position.legal_moves()[1], last), "\n".to_owned()]);
    }
    let game = read(&text).unwrap();
    assert_eq!((game.broken, game.info.skipped_lines > 0), (None, true));
    let (mut depth, mut played) = (0, &game.moves[0]);
    while let Some(variation) =
        played.annotation.as_deref().and_then(|annotation| annotation.variations.first())
    {
        depth += 1;
        let Some(next) = variation.moves.get(1) else { break };
        played = next;
    }
    assert_eq!(depth, 100);
    check_file(Format::Ki2u, text.as_bytes());
}

#[test]
fn other_encodings_are_read_or_an_error_that_names_them() {
    let game = read(EXAMPLE).unwrap();
    let euc = encoding_rs::EUC_JP.encode(EXAMPLE).0;
    let content_of = |bytes: &[u8]| content(read_game(Format::Kif, bytes).unwrap());
    assert_eq!(content_of(&euc), content(game.clone()));
    assert_eq!(chunks(Format::Kif, &euc.repeat(2)).count(), 2);
    check_file(Format::Kif, &euc.repeat(2));
    assert_eq!(content_of(&shift_jis(EXAMPLE)), content(game.clone()));
    assert_eq!(content_of(format!("\u{feff}{EXAMPLE}").as_bytes()), content(game));
    let wide: Vec<u8> = EXAMPLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = read_game(Format::Kif, &wide).unwrap_err().to_string();
    assert_eq!(
        error,
        "expected text in UTF-8, Shift_JIS or EUC-JP (convert the file to UTF-8 first), found UTF-16LE"
    );
}

#[test]
fn a_character_that_shift_jis_lacks_is_an_error_that_names_it() {
    for (text, expected) in [
        (
            EXAMPLE.replace("先手の対局者名", "👍"),
            "the header has '👍' (U+1F44D), which Shift_JIS cannot encode",
        ),
        (
            EXAMPLE.replace("*コメント", "*한"),
            "a comment has '한' (U+D55C), which Shift_JIS cannot encode",
        ),
    ] {
        let mut out = b"before".to_vec();
        let error =
            write_game(Format::Kif, &read(&text).unwrap(), &mut out).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        let error = Format::Kif.write_chunk(text.as_bytes(), &mut out).unwrap_err().to_string();
        assert!(error.starts_with(expected) && out == b"before", "{error}");
        write_game(Format::Kifu, &read(&text).unwrap(), &mut out).unwrap();
    }
    // Characters with another code point in Shift_JIS.
    let text = EXAMPLE.replace("コメント", "〜−☗☖");
    let mut out = Vec::new();
    write_game(Format::Kif, &read(&text).unwrap(), &mut out).unwrap();
    assert!(encoding_rs::SHIFT_JIS.decode(&out).0.contains("*～－▲△\n"));
}

#[test]
fn chunks_are_copied_only_if_they_have_the_syntax_encoding_and_line_ends_of_the_format() {
    let written = |format: Format, chunk: &[u8]| {
        let mut out = Vec::new();
        format.write_chunk(chunk, &mut out).unwrap();
        out
    };
    let utf_8 = format!("#KIF version=2.0 encoding=UTF-8\n{ANNOTATED}")
        .replace("   6 投了  ", "   6 投了      ");
    let in_shift_jis = shift_jis(&utf_8.replace("encoding=UTF-8", "encoding=Shift_JIS"));
    assert!(written(Format::Kifu, utf_8.as_bytes()) == utf_8.as_bytes());
    assert!(written(Format::Kif, &in_shift_jis) == in_shift_jis);
    assert!(written(Format::Kif, utf_8.as_bytes()) == in_shift_jis);
    assert!(written(Format::Kifu, &in_shift_jis) == utf_8.as_bytes());
    let with_crlf = format!("\u{feff}{}", utf_8.replace('\n', "\r\n"));
    assert!(written(Format::Kifu, with_crlf.as_bytes()) == utf_8.as_bytes());
    assert!(written(Format::Kif, with_crlf.as_bytes()) == in_shift_jis);
    assert!(written(Format::Kifu, &encoding_rs::EUC_JP.encode(&utf_8).0) == utf_8.as_bytes());
    // Moves in words become numbered moves, and the other way round.
    let words = "手合割：平手\n先手：A\n\n▲７六歩    △３四歩\nまで2手で中断\n";
    let numbered = "手合割：平手\n先手：A\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 中断\nまで2手で中断\n";
    for (from, chunk) in [("utf-8", words), ("utf-8", numbered)] {
        assert_eq!(
            String::from_utf8(written(Format::Kifu, chunk.as_bytes())).unwrap(),
            numbered,
            "{from}"
        );
        assert_eq!(written(Format::Kif, chunk.as_bytes()), shift_jis(numbered));
        assert_eq!(String::from_utf8(written(Format::Ki2u, chunk.as_bytes())).unwrap(), words);
        assert_eq!(written(Format::Ki2, &shift_jis(chunk)), shift_jis(words));
    }
    // A game that cannot be written again is an error.
    let broken = "手合割：平手\n▲７六歩 △５五角\n";
    assert!(Format::Kifu.write_chunk(broken.as_bytes(), &mut Vec::new()).is_err());
    // Other text loses only its byte order mark.
    assert_eq!(written(Format::Usi, "\u{feff}startpos\r\n".as_bytes()), b"startpos\r\n");
}

#[test]
fn the_format_of_a_text_is_detected_by_its_moves_and_encoding() {
    let words = "手合割：平手\n▲７六歩\n";
    for (text, expected) in [
        (EXAMPLE.as_bytes().to_vec(), Format::Kifu),
        (shift_jis(EXAMPLE), Format::Kif),
        (words.as_bytes().to_vec(), Format::Ki2u),
        (shift_jis(words), Format::Ki2),
        (PROBLEM.as_bytes().to_vec(), Format::Bod),
        (format!("{PROBLEM}手数----指手---------消費時間--\n").into_bytes(), Format::Kifu),
    ] {
        assert_eq!(Format::of_kif_text(&text), expected);
    }
}

#[test]
fn diagrams_are_records_of_bod() {
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    let record =
        kyokumen_format::RecordRef::new(Format::Bod, PROBLEM.as_bytes()).unwrap().record().unwrap();
    assert_eq!((record.setup.to_string().as_str(), record.ply), (sfen, Some(1)));
    let later = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
    let mut out = Vec::new();
    let record = kyokumen_format::Record {
        ply: Some(2),
        ..kyokumen_format::Record::new(later.parse().unwrap())
    };
    kyokumen_format::encode(Format::Bod, &record, &kyokumen_format::Fill::default(), &mut out)
        .unwrap();
    let text = std::str::from_utf8(&out).unwrap();
    assert!(
        text.starts_with("後手の持駒：なし\n  ９ ８")
            && text.ends_with("先手の持駒：なし\n後手番\n手数＝1　まで\n"),
        "{text}"
    );
    let two = [&*out, PROBLEM.as_bytes(), &out].concat();
    let found: Vec<_> = chunks(Format::Bod, &two)
        .flat_map(|chunk| records(Format::Bod, Format::Bod.dialect(), chunk))
        .map(|record| record.unwrap().setup().unwrap().to_string())
        .collect();
    assert_eq!(found, [later, sfen, later]);
    check_file(Format::Bod, &two);
    check_file(Format::Bod, &shift_jis(&String::from_utf8(two).unwrap()));
    let game =
        kyokumen_format::RecordRef::new(Format::Bod, EXAMPLE.as_bytes()).unwrap_err().to_string();
    assert!(game.contains("a diagram without moves (use kif for games)"), "{game}");
}

fn annotated_game(seed: u64) -> Game {
    let mut game = random_game(seed);
    let mut random = Random::new(seed);
    let texts = ["良い手", "*", "*評価値=x", "a：b", "　空白", "変化：3手", "   1 ７六歩(77)", ""];
    let comments = |random: &mut Random| -> Vec<String> {
        (0..random.below(3)).map(|_| (*random.pick(&texts)).to_owned()).collect()
    };
    let keys = [
        HeaderKey::Black,
        HeaderKey::White,
        HeaderKey::Event,
        HeaderKey::TimeLimit,
        HeaderKey::Other("表題".into()),
    ];
    for _ in 0..random.below(4) {
        game.info
            .headers
            .push(Header { key: random.pick(&keys).clone(), value: "値：1".to_owned() });
    }
    game.info.comments = comments(&mut random);
    if game.result.is_some() && game.ending.is_none() {
        game.info.end_elapsed_ms = Some(random.below(4000) as u64 * 1000);
        game.info.end_comments = comments(&mut random);
    }
    let mut position = Position::try_from(&game.start).unwrap();
    for played in &mut game.moves {
        played.candidates.clear();
        played.is_not_for_training = false;
        let annotation = Annotation {
            elapsed_ms: (random.below(2) == 0).then(|| random.below(9000) as u64 * 1000),
            comments: comments(&mut random),
            bookmark: (random.below(9) == 0).then(|| "しおり".to_owned()),
            variations: (0..random.below(2))
                .filter_map(|_| variation(&position, played.best_move, &mut random, 2))
                .collect(),
        };
        position.make(played.best_move);
        played.annotation = (annotation != Annotation::default()).then(|| Box::new(annotation));
    }
    game
}

/// A random variation. Its first move is not `excluded`.
fn variation(
    position: &Position,
    excluded: kyokumen_shogi::Move,
    random: &mut Random,
    depth: usize,
) -> Option<Variation> {
    let mut position = position.clone();
    let mut moves = Vec::new();
    for number in 0..=random.below(4) {
        let legal: Vec<_> =
            position.legal_moves().into_iter().filter(|m| number > 0 || *m != excluded).collect();
        if legal.is_empty() {
            break;
        }
        let best_move = *random.pick(&legal);
        let mut played = Played::new(best_move, 0);
        if depth > 0 && number > 0 && random.below(3) == 0 {
            played.annotate().variations.extend(variation(&position, best_move, random, depth - 1));
            played.annotation.take_if(|annotation| **annotation == Annotation::default());
        }
        moves.push(played);
        position.make(best_move);
    }
    let variation = Variation { moves, result: None, ending: None, end_comments: Vec::new() };
    (!variation.moves.is_empty()).then_some(variation)
}

#[test]
fn annotated_games_are_read_back() {
    for format in [Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u] {
        for seed in 0..200 {
            let mut game = annotated_game(seed);
            if matches!(format, Format::Ki2 | Format::Ki2u) {
                forget_times(&mut game);
            }
            assert!(format.lost_info(&game).is_zero());
            let mut out = Vec::new();
            write_game(format, &game, &mut out).unwrap();
            let again = content(read_game(format, &out).unwrap());
            let mut twice = Vec::new();
            format.write_chunk(&out, &mut twice).unwrap();
            assert_eq!(twice, out, "{format} {seed}");
            let chunks: Vec<_> = chunks(format, &out.repeat(2)).map(<[u8]>::to_vec).collect();
            assert_eq!(chunks, [out.clone(), out.clone()], "{format} {seed}");
            let lost = format.lost_of_game(&game.start, game.result, game.ending);
            let mut expected = content(game);
            if lost.contains(Field::Ending) {
                // KI2 writes the move limit as another draw.
                let is_draw = expected.result == Some(GameResult::Draw);
                expected.ending = is_draw.then_some(Ending::Impasse);
            }
            assert_eq!(again, expected, "{format} {seed}: {}", String::from_utf8_lossy(&out));
        }
    }
}
