//! Properties of any bytes that are read as a file of games, or of another format whose chunks vary in length.
//!
//! The tests check generated and damaged games. The fuzz targets check hostile input.

use kyokumen_format::{
    Annotation, Ending, Format, Game, GameResult, InfoCounts, Played, Variation, chunks, count,
    read_games, records, write_game,
};

/// Numbers of bytes after the end of a chunk for testing that they do not change the end.
const BYTES_AFTER: [usize; 6] = [0, 1, 31, 40, 1000, usize::MAX];

/// Checks that every byte belongs to one chunk, that the end of a chunk does not depend on later bytes, that the number
/// of records is counted correctly, and that complete games are read back from their own format.
pub fn check_file(format: Format, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = format.chunk_end(rest, true).expect("the last chunk ends with the bytes");
        assert!(0 < end && end <= rest.len(), "{end} of {}", rest.len());
        check_end(format, rest, end);
        rest = &rest[end..];
    }
    for chunk in chunks(format, bytes) {
        check_chunk(format, chunk);
    }
}

fn check_end(format: Format, rest: &[u8], end: usize) {
    // A block of whole chunks is read like a file.
    assert_eq!(format.chunk_end(&rest[..end], true), Some(end));
    for after in BYTES_AFTER {
        let known = &rest[..end.saturating_add(after).min(rest.len())];
        let found = format.chunk_end(known, false);
        assert!(found.is_none_or(|found| found == end), "{found:?}, not {end}");
    }
    let within = format.chunk_end(&rest[..end / 2], false).filter(|_| end > 1);
    assert!(within.is_none(), "{within:?} of {end}");
}

fn check_chunk(format: Format, chunk: &[u8]) {
    let mut read = 0;
    for record in records(format, format.dialect(), chunk) {
        read += 1;
        if let Ok(record) = record {
            assert!(record.record().is_ok() && record.warnings().is_ok());
        }
    }
    assert_eq!(count(format, chunk), read);
    read_games(format, chunk).flatten().for_each(|game| check_game(format, game));
}

fn check_game(format: Format, game: Game) {
    let is_whole = game.records().iter().all(Result::is_ok);
    let mut written = Vec::new();
    // A format may read information that it cannot write.
    let is_held = InfoCounts { time_fractions: 0, ..format.lost_info(&game) }.is_zero();
    if is_whole
        && is_held
        && write_game(format, &game, &mut written).is_ok()
        && !is_ambiguous(format, &written)
    {
        let again = chunks(format, &written).flat_map(|chunk| read_games(format, chunk));
        let again: Vec<Game> =
            again.map(|game| held(format, game.expect("written by the library"))).collect();
        assert_eq!(again, [held(format, game)]);
    }
}

/// Whether a line in `Shift_JIS` is also valid UTF-8 and would be read as UTF-8.
fn is_ambiguous(format: Format, written: &[u8]) -> bool {
    let is_utf_8 = |line: &[u8]| !line.is_ascii() && str::from_utf8(line).is_ok();
    matches!(format, Format::Kif | Format::Ki2)
        && written.split(|byte| *byte == b'\n').any(is_utf_8)
}

/// The content of a game that its format preserves when the game is written again.
fn held(format: Format, game: Game) -> Game {
    let mut game = content(game);
    game.info.skipped_lines = 0;
    if matches!(format, Format::Csa | Format::Jkf) {
        hold_info(&mut game);
    }
    if matches!(format, Format::Ki2 | Format::Ki2u) {
        hold_endings(&mut game);
    }
    game
}

/// KI2 writes the move limit as another draw.
fn hold_endings(game: &mut Game) {
    hold_ending(game.result, &mut game.ending);
    hold_endings_of(&mut game.moves);
    game.info.end_variations.iter_mut().for_each(hold_variation_ending);
}

fn hold_endings_of(moves: &mut [Played]) {
    let annotations = moves.iter_mut().filter_map(|played| played.annotation.as_mut());
    annotations
        .for_each(|annotation| annotation.variations.iter_mut().for_each(hold_variation_ending));
}

fn hold_variation_ending(variation: &mut Variation) {
    hold_ending(variation.result, &mut variation.ending);
    hold_endings_of(&mut variation.moves);
}

fn hold_ending(result: Option<GameResult>, ending: &mut Option<Ending>) {
    if (result, *ending) == (Some(GameResult::Draw), Some(Ending::MoveLimit)) {
        *ending = Some(Ending::Impasse);
    }
}

/// Whole seconds, sorted entries, comments as single lines. Comments after an end without a mark belong to the last
/// move.
fn hold_info(game: &mut Game) {
    hold_moves(&mut game.moves);
    let info = &mut game.info;
    hold_lines(&mut info.comments);
    hold_lines(&mut info.end_comments);
    hold_variations(&mut info.end_variations);
    hold_seconds(&mut info.end_elapsed_ms);
    if game.result.is_none() && game.ending != Some(Ending::Interruption) {
        let end_comments = std::mem::take(&mut info.end_comments);
        match game.moves.last_mut() {
            _ if end_comments.is_empty() => {}
            Some(last) => last.annotate().comments.extend(end_comments),
            None => info.comments.extend(end_comments),
        }
    }
    for header in &mut info.headers {
        header.value = header.value.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    info.headers.sort_by_key(|header| format!("{:?}", header.key));
}

fn hold_moves(moves: &mut [Played]) {
    for played in moves {
        played.offset = 0;
        let Some(annotation) = &mut played.annotation else { continue };
        hold_seconds(&mut annotation.elapsed_ms);
        hold_lines(&mut annotation.comments);
        hold_variations(&mut annotation.variations);
        if **annotation == Annotation::default() {
            played.annotation = None;
        }
    }
}

fn hold_variations(variations: &mut [Variation]) {
    for variation in variations {
        hold_moves(&mut variation.moves);
        hold_lines(&mut variation.end_comments);
        let is_marked =
            variation.result.is_some() || variation.ending == Some(Ending::Interruption);
        if let Some(last) = variation.moves.last_mut()
            && !is_marked
            && !variation.end_comments.is_empty()
        {
            last.annotate().comments.append(&mut variation.end_comments);
        }
    }
}

fn hold_seconds(elapsed_ms: &mut Option<u64>) {
    *elapsed_ms = elapsed_ms.map(|elapsed_ms| elapsed_ms / 1000 * 1000);
}

fn hold_lines(comments: &mut Vec<String>) {
    let line = |comment: &String| comment.replace(['\r', '\n'], " ").trim().to_owned();
    *comments = comments.iter().map(line).collect();
}

/// The content of a game, without byte offsets.
pub fn content(mut game: Game) -> Game {
    game.is_position = false;
    game.info.skipped_lines = 0;
    forget_places(&mut game.moves);
    game.info.end_variations.iter_mut().for_each(|variation| forget_places(&mut variation.moves));
    game
}

fn forget_places(moves: &mut [Played]) {
    for played in moves {
        played.offset = 0;
        for variation in
            played.annotation.iter_mut().flat_map(|annotation| &mut annotation.variations)
        {
            forget_places(&mut variation.moves);
        }
    }
}
