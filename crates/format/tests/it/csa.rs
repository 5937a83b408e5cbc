//! `csa`: the example of the standard, marks for the end of games, Floodgate's lines, rsshogi.
//!
//! The example comes from "CSA標準棋譜ファイル形式" V2.2 and V3.0, which is public.

use kyokumen_format::{
    CsaVersion, DecodeError, Ending, Format, Game, GameResult, Header, HeaderKey, WriteOptions,
    chunks, count, read_games, write_game, write_game_with,
};
use kyokumen_shogi::sfen;
use kyokumen_testing::game_properties::check_file;
use kyokumen_testing::games::read_game;

const EXAMPLE: &str = "\
'CSA encoding=UTF-8
'----------棋譜ファイルの例----------
V3.0
N+NAKAHARA
N-YONENAGA
$EVENT:13th World Computer Shogi Championship
$TIME_LIMIT:00:25+00
P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 * -HI *  *  *  *  * -KA *\u{20}
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  *\u{20}
P5 *  *  *  *  *  *  *  *  *\u{20}
P6 *  *  *  *  *  *  *  *  *
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA * * * * * +HI *
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
'先手番
+
+2726FU,T0
'** 30 -8384FU +2625FU #1234
-3334FU
T6.123
'*プログラムが読むコメント
%CHUDAN
'----------
";

fn read(text: &str) -> Result<Game, DecodeError> {
    read_game(Format::Csa, text.as_bytes())
}

fn usi(game: &Game) -> String {
    let moves: Vec<String> = game.moves.iter().map(|played| played.best_move.to_string()).collect();
    moves.join(" ")
}

/// Result and ending of a game with these moves, followed by `rest`.
fn end(moves: &str, rest: &str) -> (Option<GameResult>, Option<Ending>) {
    let game = read(&format!("PI\n+\n{moves}{rest}\n")).unwrap();
    assert_eq!(game.broken, None, "{rest}");
    (game.result, game.ending)
}

#[test]
fn the_example_of_the_standard_is_read() {
    let game = read(EXAMPLE).unwrap();
    assert_eq!(game.start.to_string(), sfen::START);
    assert_eq!(usi(&game), "2g2f 3c3d");
    let evals: Vec<_> = game.moves.iter().map(|played| played.eval_cp).collect();
    assert_eq!(evals, [Some(30), None]);
    assert_eq!((game.result, game.ending), (None, Some(Ending::Interruption)));
    let two = format!("{EXAMPLE}/\r\n{EXAMPLE}");
    assert_eq!(chunks(Format::Csa, two.as_bytes()).count(), 2);
    check_file(Format::Csa, two.as_bytes());
    // `Shift_JIS`, as in V2.2 files.
    let sjis =
        [b"N+\x8d\xe3\x8eR\r\n".as_slice(), EXAMPLE.replace('\n', "\r\n").as_bytes()].concat();
    assert_eq!(usi(&read_game(Format::Csa, &sjis).unwrap()), "2g2f 3c3d");
}

#[test]
fn start_positions_are_read_in_three_forms() {
    let two_pieces = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
    for (lines, expected) in [
        ("PI82HI22KA\n-\n", two_pieces),
        ("+\n", sfen::START),
        ("P+59OU00KI00FU\nP-51OU00AL\n+\n", "4k4/9/9/9/9/9/9/9/4K4 b GP2r2b3g4s4n4l17p 1"),
        ("P5 * +TO *  *  * +UM *  * -RY\nP-51OU\n-\n", "4k4/9/9/9/1+P3+B2+r/9/9/9/9 w - 1"),
    ] {
        assert_eq!(read(lines).unwrap().start.to_string(), expected, "{lines}");
    }
    for (lines, at) in [
        ("PI82KA\n+\n", 0),
        ("V2.2\nP1-KY-KE-XX\n+\n", 5),
        ("P+55FU5\n+\n", 0),
        ("PI\nP+00HI\n+\n", 0),
        ("P+55FU\n+\n", 0),
        ("hello\n", 0),
        ("P+59OU52KI\nP-51OU\n+\n", 0),
    ] {
        assert_eq!(read(lines).unwrap_err().offset, at, "{lines}");
        assert_eq!(count(Format::Csa, lines.as_bytes()), 1);
    }
}

#[test]
fn drops_and_promotions_are_read_and_invalid_moves_are_errors() {
    let moves = "PI\n+\n+7776FU\n-3334FU\n+8822UM\n-3122GI\n+0033KA\n";
    let game = read(moves).unwrap();
    assert_eq!(usi(&game), "7g7f 3c3d 8h2b+ 3a2b B*3c");
    for (line, good) in [
        ("+5152OU\n", 5),
        ("-5152KI\n", 5),
        ("-0055OU\n", 5),
        ("-5162OU\n-8384FU\n%TORYO", 6),
        ("-9190KY\n", 5),
        ("-8384TO\n", 5),
        ("-9191KY\n", 5),
        ("-2233GI\n+0055KA\n", 6),
    ] {
        let text = format!("{moves}{line}");
        let records = read(&text).unwrap().records();
        assert_eq!(records.iter().filter(|record| record.is_ok()).count(), good, "{line}");
        assert_eq!(records.len(), good + 1);
        assert!(records[good].as_ref().unwrap_err().offset >= moves.len(), "{line}");
    }
}

#[test]
fn marks_refer_to_the_side_to_move() {
    use Ending::{Declaration, IllegalMove, Impasse, Interruption, MoveLimit, Repetition, TimeUp};
    use GameResult::{BlackWin, Draw, WhiteWin};
    for (mark, black_to_move, white_to_move) in [
        ("%TORYO", (Some(WhiteWin), None), (Some(BlackWin), None)),
        ("%TSUMI", (Some(WhiteWin), None), (Some(BlackWin), None)),
        ("%KACHI", (Some(BlackWin), Some(Declaration)), (Some(WhiteWin), Some(Declaration))),
        ("%TIME_UP", (Some(WhiteWin), Some(TimeUp)), (Some(BlackWin), Some(TimeUp))),
        ("%ILLEGAL_MOVE", (Some(WhiteWin), Some(IllegalMove)), (Some(BlackWin), Some(IllegalMove))),
        (
            "%+ILLEGAL_ACTION",
            (Some(WhiteWin), Some(IllegalMove)),
            (Some(WhiteWin), Some(IllegalMove)),
        ),
        (
            "%-ILLEGAL_ACTION",
            (Some(BlackWin), Some(IllegalMove)),
            (Some(BlackWin), Some(IllegalMove)),
        ),
        ("%SENNICHITE", (Some(Draw), Some(Repetition)), (Some(Draw), Some(Repetition))),
        ("%JISHOGI", (Some(Draw), Some(Impasse)), (Some(Draw), Some(Impasse))),
        ("%HIKIWAKE", (Some(Draw), Some(Impasse)), (Some(Draw), Some(Impasse))),
        ("%MAX_MOVES", (Some(Draw), Some(MoveLimit)), (Some(Draw), Some(MoveLimit))),
        ("%CHUDAN", (None, Some(Interruption)), (None, Some(Interruption))),
        ("%ERROR", (None, Some(Interruption)), (None, Some(Interruption))),
        ("%MATTA", (None, None), (None, None)),
        ("%FUZUMI", (None, None), (None, None)),
        ("'no mark", (None, None), (None, None)),
    ] {
        assert_eq!(end("", mark), black_to_move, "{mark}");
        assert_eq!(end("+7776FU,T1\n", mark), white_to_move, "{mark}");
    }
}

/// shogi-server's `game_result.rb` writes no mark for some endings, and the mark of resignation for a lost connection.
#[test]
fn a_floodgate_summary_overrides_the_mark() {
    use Ending::{IllegalMove, Interruption, MoveLimit, Repetition};
    use GameResult::{BlackWin, Draw, WhiteWin};
    for (rest, result, ending) in [
        ("'summary:max_moves:a draw:b draw", Draw, Some(MoveLimit)),
        ("'summary:oute_sennichite:a lose:b win", WhiteWin, Some(Repetition)),
        ("%TORYO\n'summary:abnormal:a win:b lose", BlackWin, Some(Interruption)),
        ("%TORYO\n'summary:toryo:a lose:b win", WhiteWin, None),
        ("%KACHI\n'summary:illegal kachi:a lose:b win", WhiteWin, Some(IllegalMove)),
        ("+7775FU\n'summary:illegal move:a lose:b win", WhiteWin, Some(IllegalMove)),
    ] {
        assert_eq!(end("", rest), (Some(result), ending), "{rest}");
    }
    assert_eq!(end("", "'summary:unheard of:a lose:b win"), (None, None));
    let time = "%TORYO\n$END_TIME:2026/01/01 00:00:00";
    assert_eq!(end("", time), (Some(WhiteWin), None));
}

#[test]
fn an_illegal_move_may_end_a_game() {
    let black_loses = (Some(GameResult::WhiteWin), Some(Ending::IllegalMove));
    assert_eq!(end("+7775FU\nT3\n", "%ILLEGAL_MOVE"), black_loses);
    assert_eq!(end("+7775FU\n", "%+ILLEGAL_ACTION"), black_loses);
    let game = read("PI\n+\n+7775FU\n%TORYO\n").unwrap();
    assert_eq!(game.records().len(), 1);
}

#[test]
fn evaluations_are_from_black_s_point_of_view() {
    let text = "PI\n+\n+7776FU\n'** 120 -3334FU\n-3334FU\nT1\n'** 130\n'** 1\n+2726FU\n'** 100000\n-8384FU\n'** 100000\n+2625FU\n'** none\n";
    let evals: Vec<_> = read(text).unwrap().moves.iter().map(|played| played.eval_cp).collect();
    assert_eq!(evals, [Some(120), Some(-130), Some(i16::MAX), Some(i16::MIN), None]);
}

#[test]
fn a_game_is_written_in_the_form_of_the_standard() {
    let text =
        "V2.2\nPI\n+\n+7776FU\n'** 120\n-3334FU\n'** 130\n+8822UM\n-3122GI\n+0033KA\n%TORYO\n";
    let mut out = Vec::new();
    write_game(Format::Csa, &read(text).unwrap(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text);

    let text = "V2.2\nP1 *  *  *  * -OU *  *  *  * \nP2 *  *  *  *  *  *  *  *  * \nP3 *  *  *  * +FU *  *  *  * \nP4 *  *  *  *  *  *  *  *  * \nP5 *  *  *  *  *  *  *  *  * \nP6 *  *  *  *  *  *  *  *  * \nP7 *  *  *  *  *  *  *  *  * \nP8 *  *  *  *  *  *  *  *  * \nP9 *  *  *  * +OU *  *  *  * \nP+00KI00KI\n+\n+0052KI\n%CHUDAN\n'summary:toryo:black lose:white win\n";
    let mut out = Vec::new();
    write_game(Format::Csa, &read(text).unwrap(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

/// The end of a truncated file is not a game.
#[test]
fn a_head_alone_is_a_bad_record() {
    for head in ["V2.2\n", "V2.2\nN+A\nPI", "N+A\n$EVENT:x\n", "PI\n/\n"] {
        assert!(read_game(Format::Csa, head.as_bytes()).is_err(), "{head}");
    }
    for game in ["V2.2\nPI\n+\n", "PI\n+\n%CHUDAN\n/\n"] {
        assert!(read_game(Format::Csa, game.as_bytes()).is_ok(), "{game}");
    }
}

/// Names, entries, times and comments are preserved. Unknown lines are skipped and counted.
#[test]
fn game_information_is_read_and_written() {
    let text = "\
V2.2
N+Black
N-White, the second
$EVENT:Cup
$SITE:Tokyo
$START_TIME:2026/11/25 10:00:00
$TIME_LIMIT:00:25+10
$OPENING:YAGURA
$NOTE:x
PI
+
'*of the start
+7776FU
T12
'*of the move
-3334FU
T1
%TORYO
T3
'*of the end
";
    let game = read(text).unwrap();
    assert_eq!(game.info.headers.len(), 8);
    assert_eq!(game.info.headers[0], Header { key: HeaderKey::Black, value: "Black".to_owned() });
    assert_eq!(game.info.headers[7].key, HeaderKey::Other("備考".to_owned()));
    assert_eq!(game.info.comments, ["of the start"]);
    assert_eq!(game.moves[0].annotation.as_ref().unwrap().elapsed_ms, Some(12_000));
    assert_eq!(game.moves[0].annotation.as_ref().unwrap().comments, ["of the move"]);
    assert_eq!(
        (game.info.end_elapsed_ms, &*game.info.end_comments),
        (Some(3000), &["of the end".to_owned()][..])
    );
    assert!(Format::Csa.lost_info(&game).is_zero());
    assert_eq!(written(&game, CsaVersion::V2_2), text);
    assert_eq!(written(&game, CsaVersion::V3_0), text.replace("V2.2", "V3.0"));

    let skipping = text.replace("$SITE:Tokyo", "a line\n$no entry").replace("T1\n", "Tx\n");
    let game = read(&skipping).unwrap();
    assert_eq!((game.info.skipped_lines, game.moves.len(), game.broken), (3, 2, None));
}

fn written(game: &Game, csa_version: CsaVersion) -> String {
    let mut out = Vec::new();
    write_game_with(Format::Csa, game, WriteOptions { csa_version }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn versions_differ_in_times_endings_and_the_line_of_the_encoding() {
    let v3 = "'CSA encoding=UTF-8\nV3.0\nN+先手\nPI\n+\n+7776FU\nT6.12\n%MAX_MOVES\n";
    let v2 =
        "V2.2\nN+先手\nPI\n+\n+7776FU\nT6\n%JISHOGI\n'summary:max_moves:black draw:white draw\n";
    let game = read(v3).unwrap();
    assert_eq!(game.moves[0].annotation.as_ref().unwrap().elapsed_ms, Some(6120));
    assert_eq!(written(&game, CsaVersion::V3_0), v3);
    assert_eq!(written(&game, CsaVersion::V2_2), v2);
    let again = read(v2).unwrap();
    assert_eq!((again.result, again.ending), (game.result, game.ending));
    let ascii = read("V3.0\nN+Black\nPI\n+\n").unwrap();
    assert_eq!(written(&ascii, CsaVersion::V3_0), "V3.0\nN+Black\nPI\n+\n");
}

/// Programs that do not read summaries still see a draw.
#[test]
fn a_draw_without_a_reason_has_a_mark_for_a_draw() {
    let mut game = read("V2.2\nPI\n+\n").unwrap();
    game.result = Some(GameResult::Draw);
    let text = written(&game, CsaVersion::V2_2);
    assert!(text.ends_with("%HIKIWAKE\n'summary:draw:black draw:white draw\n"), "{text}");
    let again = read(&text).unwrap();
    assert_eq!((again.result, again.ending), (Some(GameResult::Draw), None));
}

/// A comment with the evaluation is not repeated. A comment with another evaluation is corrected.
#[test]
fn evaluations_are_written_once() {
    let text = "V2.2\nPI\n+\n+7776FU\n'** 30 -3334FU\n'*#評価値=50\n-3334FU\n+2726FU\n";
    let mut game = read(text).unwrap();
    assert_eq!(game.moves[1].eval_cp, Some(-50));
    assert_eq!(written(&game, CsaVersion::V2_2), text);
    (game.moves[0].eval_cp, game.moves[1].eval_cp) = (Some(1), Some(2));
    let again = read(&written(&game, CsaVersion::V2_2)).unwrap();
    let evals: Vec<_> = again.moves.iter().map(|played| played.eval_cp).collect();
    assert_eq!(evals, [Some(1), Some(2), None]);
}

/// The first comment becomes the evaluation. The second one is kept, even if a writer puts it first.
#[test]
fn a_repeated_evaluation_is_kept() {
    let text = "V2.2\nPI\n+\n+7776FU\n'** 30\n'** 30\n";
    assert_eq!(written(&read(text).unwrap(), CsaVersion::V2_2), text);
}

#[test]
fn an_unknown_mark_ends_the_game_for_an_unknown_reason() {
    let game = read("PI\n+\n+7776FU\n%FOO\n").unwrap();
    assert_eq!((game.result, game.ending, game.broken.clone()), (None, None, None));
    assert_eq!((game.records().len(), game.info.skipped_lines), (1, 1));
}

/// A separator ends a game, and so does the version line of the next one. So files can be joined unchanged.
#[test]
fn games_are_separated_by_separators_and_version_lines() {
    let game = "V2.2\nPI\n+\n+7776FU\n%TORYO\n";
    let encoded = format!("'CSA encoding=UTF-8\n{}", game.replace("V2.2", "V3.0"));
    for (file, games) in [
        (game.to_owned(), 1),
        (format!("{game}{game}"), 2),
        (format!("{game}/\n{game}"), 2),
        (format!("/\n{game}/\n/\n{game}/\n\n"), 2),
        (format!("{game}{encoded}\u{feff}{game}"), 3),
        (format!("\u{feff}' a remark\n{game}/\n' a remark\n"), 1),
    ] {
        check_file(Format::Csa, file.as_bytes());
        let chunks: Vec<_> = chunks(Format::Csa, file.as_bytes()).collect();
        let read = chunks.iter().flat_map(|chunk| read_games(Format::Csa, chunk));
        let read: Vec<Game> = read.map(Result::unwrap).collect();
        assert_eq!(read.len(), games, "{file}");
        assert!(read.iter().all(|game| game.moves.len() == 1));
        // Each copy follows one separator, without byte order marks.
        let mut out = Vec::new();
        for chunk in chunks {
            Format::Csa.copy_chunk(chunk, &mut out);
        }
        let out = String::from_utf8(out).unwrap();
        assert_eq!((out.matches("/\n").count(), out.starts_with("/\n")), (games, true), "{out}");
        assert!(!out.contains('\u{feff}'));
    }
}

/// Files exist in three encodings. The encoding line of V3.0 names the encoding of the copy.
#[test]
fn texts_in_other_encodings_are_read_and_copied_in_utf_8() {
    let text = "'CSA encoding=SHIFT_JIS\nV3.0\nN+石田流\nN-居飛車穴熊\n$EVENT:大会の名\nPI\n+\n+7776FU\n'*角道を開けた\n%TORYO\n";
    for encoding in [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP] {
        let bytes = encoding.encode(text).0;
        let game = read_game(Format::Csa, &bytes).unwrap();
        let values: Vec<_> = game.info.headers.iter().map(|header| header.value.as_str()).collect();
        assert_eq!(values, ["石田流", "居飛車穴熊", "大会の名"]);
        let annotation = game.moves[0].annotation.as_ref().unwrap();
        assert_eq!(annotation.comments, ["角道を開けた"]);
        let mut copy = Vec::new();
        Format::Csa.write_chunk(&bytes, &mut copy).unwrap();
        let expected = format!("/\n{}", text.replace("SHIFT_JIS", "UTF-8"));
        assert_eq!(String::from_utf8(copy).unwrap(), expected);
    }
}

#[test]
fn the_side_to_move_alone_begins_an_even_game() {
    let game = read("V2.2\n-\n-3334FU\n+7776FU\n").unwrap();
    assert_eq!((usi(&game).as_str(), game.broken), ("3c3d 7g7f", None));
    assert_eq!(game.start.to_string(), sfen::START.replace(" b ", " w "));
    assert_eq!(read("V2.2\n+\n+7776FU\n").unwrap().start.to_string(), sfen::START);
}

/// Formats with whole seconds count the times with fractions.
#[test]
fn fractions_of_seconds_are_counted_where_they_are_lost() {
    let text = "V3.0\nPI\n+\n+7776FU\nT1.5\n-3334FU\nT2\n%TORYO\nT0.25\n";
    let game = read(text).unwrap();
    for format in [Format::Csa, Format::Kif, Format::Kifu, Format::Jkf] {
        let lost = format.lost_info(&game);
        assert_eq!((lost.time_fractions, lost.times), (2, 0), "{format}");
        assert_eq!(lost.to_string(), "2 time fractions");
    }
    for format in [Format::Usi, Format::Ki2] {
        let lost = format.lost_info(&game);
        assert_eq!((lost.time_fractions, lost.times), (0, 3), "{format}");
    }
    let v3 = WriteOptions { csa_version: CsaVersion::V3_0 };
    assert!(Format::Csa.lost_info_with(&game, v3).is_zero());
    assert_eq!(written(&game, CsaVersion::V3_0), text);
}

/// It is written after the end mark.
#[test]
fn the_time_before_an_end_without_a_mark_is_counted() {
    let mut game = read("PI\n+\n+7776FU\n%TORYO\nT2\n").unwrap();
    for format in [Format::Csa, Format::Kifu, Format::Jkf] {
        assert!(format.lost_info(&game).is_zero(), "{format}");
    }
    game.result = None;
    for format in [Format::Csa, Format::Kifu, Format::Jkf] {
        assert_eq!(format.lost_info(&game).times, 1, "{format}");
        let mut out = Vec::new();
        write_game(format, &game, &mut out).unwrap();
        assert_eq!(read_game(format, &out).unwrap().info.end_elapsed_ms, None, "{format}");
    }
}

#[test]
fn entries_with_the_keyword_of_another_are_not_written_and_counted() {
    let entry = |key, value: &str| Header { key, value: value.to_owned() };
    let other = |name: &str, value| entry(HeaderKey::Other(name.to_owned()), value);
    let mut game = read("V2.2\nPI\n+\n").unwrap();
    game.info.headers = vec![
        other("備考", "1"),
        other("NOTE", "2"),
        entry(HeaderKey::Black, "A"),
        entry(HeaderKey::Black, "B"),
        other("EVENT", "3"),
        other("表題", "4"),
        other("表題", "5"),
    ];
    assert_eq!(Format::Csa.lost_info(&game).headers, 4);
    assert_eq!(written(&game, CsaVersion::V2_2), "V2.2\nN+A\n$EVENT:4\n$NOTE:1\nPI\n+\n");
}

/// This took hours when each entry was compared with all entries before it.
#[test]
fn a_header_of_very_many_entries_is_written_and_counted() {
    let entries: Vec<String> = (0..300_000).map(|entry| format!("$K{entry}:1")).collect();
    let mut game = read(&format!("V2.2\n{}\nPI\n+\n", entries.join("\n"))).unwrap();
    let title = Header { key: HeaderKey::Other("表題".to_owned()), value: "x".to_owned() };
    game.info.headers.extend(std::iter::repeat_n(title, 300_000));
    for format in [Format::Csa, Format::Jkf] {
        assert_eq!(format.lost_info(&game).headers, 299_999, "{format}");
        let mut out = Vec::new();
        write_game(format, &game, &mut out).unwrap();
        assert_eq!(read_game(format, &out).unwrap().info.headers.len(), 300_001, "{format}");
    }
}

#[test]
fn half_width_katakana_are_recognised_as_shift_jis() {
    let text = |name: &str| format!("V2.2\nN+{name}\nPI\n+\n+7776FU\n");
    for name in ["ｱｲｳｴ", "ﾊﾌﾞ ﾖｼﾊﾙ", "ﾀﾆｶﾞﾜ･ｺｳｼﾞ", "ﾜﾀﾅﾍﾞ", "ｼｮｳｷﾞ", "ｻｰﾊﾞｰ", "ﾌｧﾙｺﾝ"]
    {
        let game = read_game(Format::Csa, &encoding_rs::SHIFT_JIS.encode(&text(name)).0).unwrap();
        assert_eq!(game.info.headers[0].value, name);
    }
    for name in ["羽生善治", "佐藤康光", "谷川浩司", "居飛車穴熊", "森内俊之", "渡辺明\nN-羽生善治"]
    {
        let game = read_game(Format::Csa, &encoding_rs::EUC_JP.encode(&text(name)).0).unwrap();
        assert_eq!(game.info.headers[0].value, name.split('\n').next().unwrap());
    }
}

/// They must not be read as the start of an even game.
#[test]
fn commas_alone_are_not_a_position() {
    for text in [",\n", "'comment\n,,\n", "/\n,\n"] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains("a line of the CSA standard"), "{error}");
    }
}
