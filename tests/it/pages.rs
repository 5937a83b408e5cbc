//! HTML pages of `solve` and `inspect`: their content, and that text of an input never becomes markup.
//!
//! `tests/engines/pages.py` opens them in a browser.

use snapbox::{assert_data_eq, str};

use crate::harness::Dir;

fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

/// Checks that a page loads no external resources, has balanced tags, and defines all symbols that it uses.
fn assert_sound(page: &str) {
    for foreign in
        ["http:", "https:", "<link", "<img", "url(", "@import", "NaN", "<script>alert", "<p></p>"]
    {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let scripts = count(page, "<script");
    assert!(scripts <= 1);
    let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'";
    assert_eq!(count(page, policy), 1);
    assert_eq!(count(page, "; script-src 'sha256-"), scripts);
    let markup = page.split("<script>").next().unwrap();
    for tag in [
        "svg",
        "figure",
        "figcaption",
        "section",
        "div",
        "g",
        "text",
        "ol",
        "ul",
        "li",
        "p",
        "button",
        "dl",
        "dd",
    ] {
        let opened = count(markup, &format!("<{tag}>")) + count(markup, &format!("<{tag} "));
        assert_eq!(opened, count(markup, &format!("</{tag}>")), "{tag}");
    }
    for piece in markup.split("<use href=\"#").skip(1) {
        let name = piece.split('"').next().unwrap();
        assert_eq!(count(page, &format!("id=\"{name}\"")), 1, "{name}");
    }
}

#[test]
fn solve_writes_a_page_with_playable_mates() {
    let dir = Dir::new();
    // A mate by Black, a position without mate, a mate by White, and a side that is already mated.
    let problems = "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1\t<script>alert(1)</script>\n\
                    lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n\
                    +L4kp2/9/2gs1pB+R1/n1pgp4/6P2/S2G3r1/P3+b1G2/2P6/+lP1K1+n3 w 2SN2L4Pn6p 1\n\
                    4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 1\n";
    let name = if cfg!(windows) { "a & b.sfen" } else { "<script>alert(2) & 'b'.sfen" };
    dir.write(name, problems);
    let arguments = ["solve", name, "--shortest", "--to", "html", "--threads"];
    let ran = dir.kyokumen([&arguments[..], &["1"]].concat()).succeeds();
    let page = ran.text();
    assert_sound(&page);
    assert_eq!(count(&page, "class=\"card problem\""), 4);
    // Lines of 5 and 3 plies, each with its start position, and two positions without a line.
    assert_eq!(count(&page, "class=\"mate\""), 4);
    assert_eq!(count(&page, "<figure class=\"step\">"), 6 + 4);
    assert_eq!(count(&page, "class=\"k-board\""), 6 + 4 + 2);
    assert_eq!(count(&page, "<li><span class=\"move\""), 6 + 4);
    assert_eq!(count(&page, "type=\"range\""), 2, "only a line has a slider");
    for text in [
        "<h2>1: &lt;script&gt;alert(1)&lt;/script&gt; · win in 5</h2>",
        "<span>1. ▲２三と</span> <small>3c2c</small>",
        "<h2>2: no mate</h2>",
        "<span>2. ▲同角成</span> <small>3c6f+</small>",
        "<h2>4: already mated</h2>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "position sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 1<",
        "4 positions: 2 win, 1 loss, 1 no mate",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let again = dir.kyokumen([&arguments[..], &["3"]].concat()).run();
    assert_eq!(page, again.text(), "the page does not depend on threads");
    let ran = dir.kyokumen(["solve", "4k4/9/9/9/9/9/9/9/4K4 b - 1", "--to", "html"]).succeeds();
    assert_eq!(
        count(&ran.text(), "class=\"moves"),
        0,
        "a position without a line has no list of moves"
    );
    assert_sound(&ran.text());
    dir.write("none.sfen", "# nothing\n");
    let ran = dir.kyokumen(["solve", "none.sfen", "--to", "html"]).exits(&[3]);
    assert_eq!(count(&ran.text(), "<script"), 0, "without a position there is no script");
}

#[test]
fn the_page_of_a_collection_marks_alternatives_and_lists_bad_records() {
    let dir = Dir::new();
    dir.write("a.sfen", format!("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\n<bad>\n{COOKED}\n"));
    let words = ["solve", "--all", "a.sfen", "--to", "html", "--lang", "ja"];
    let page = dir.kyokumen(words).exits(&[3]).text();
    assert_sound(&page);
    for text in [
        "3局面: 詰み 2、不正 1",
        "<a class=\"win\" href=\"#p1\">1: 1手で詰み</a>",
        "<a class=\"win\" href=\"#p3\">3: 1手で詰み · <strong>余詰</strong></a>",
        "<section class=\"card problem\" id=\"p3\">\n<h2>3: 1手で詰み</h2>",
        "<h2>不正 1</h2>\n<ul>\n<li>line 2: character 1: found &#39;&lt;&#39;, expected a piece, a digit from 1 to 9, or \
         +</li>\n</ul>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
}

/// A rook that mates from three squares, and a longer mate.
const COOKED: &str = "3pk4/9/4G4/9/9/9/9/9/9 b R 1";

#[test]
fn the_page_of_all_moves_has_alternatives_and_variations() {
    let dir = Dir::new();
    let page = dir.kyokumen(["solve", "--all", COOKED, "--to", "html"]).succeeds().text();
    assert_sound(&page);
    for text in [
        "<h2>win in 1</h2>",
        "<strong>not unique: 3 alternatives</strong>",
        "<summary>other checks that mate or are undecided: 3</summary>",
        "<li><i>distance in 1</i> <span class=\"line\" data-usi=\"R*1a\">▲１一飛</span></li>",
        "<li><i class=\"fault\">other in 3</i> \
         <span class=\"line\" data-usi=\"R*5b 5a4a 5c4b\">▲５二飛 △４一玉 ▲４二金</span></li>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    assert!(!page.contains("data-usi=\"R*4a\""), "checks that do not mate are left out");
    let line = ["solve", "--all=line", COOKED, "--solution", "R*5b", "--to", "html"];
    let page = dir.kyokumen([&line[..], &["--lang", "ja"]].concat()).succeeds().text();
    assert_sound(&page);
    for text in [
        "<html lang=\"ja\">",
        "<title>局面</title>",
        "<h2>3手で詰み</h2>",
        "<strong>余詰あり（4通り）</strong>",
        "<li><i class=\"fault\">早詰 1手</i> <span class=\"line\" data-usi=\"R*1a\">▲１一飛</span></li>",
        "<p>ほかに受けはない</p>",
        "<li><i>最終手余詰 1手</i> <span class=\"line\" data-usi=\"5b4b+\">▲４二飛成</span></li>",
        "<li class=\"end\"><p>詰み</p></li>",
        "aria-label=\"盤面反転\"",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    // The page plays the intended solution, which is not the mate that was found first.
    assert_eq!(count(&page, "<li><span class=\"move\""), 1 + 3);
    let refused = dir.kyokumen(["solve", "--all", COOKED, "--to", "kif"]).run().transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 2
error: --all cannot be used with game records (--to), which hold only the mating line; use --to html or --json, or remove --to

"#]]
    );
}

/// The line of a page can end before the mate. In the first problem, the page leaves out a futile interposition and its
/// capture.
#[test]
fn the_heading_of_a_page_has_the_length_of_the_whole_mate() {
    let dir = Dir::new();
    let solve = |problem: &str, more: &[&str]| {
        let words = ["solve", "--all=line", problem, "--threads", "1", "--to", "html"];
        let page = dir.kyokumen([&words[..], more].concat()).succeeds().text();
        assert_sound(&page);
        page
    };
    let page = solve("5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1", &[]);
    assert_eq!(count(&page, "<li><span class=\"move\""), 1 + 3);
    for text in [
        "<h2>win in 5</h2>",
        " · 3 plies, without futile interpositions · ",
        // The replies that are equally long without futile interpositions keep their order.
        "<summary>longest of 16 replies</summary>\n<ul>\n<li><i>longest in 2</i>",
        "<li class=\"end\"><p>mate</p><details open><summary>6 replies</summary>\n<ul>\n<li><i>futile in 2</i>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    // The last intended move does not give check: the line ends before it.
    let page = solve(COOKED, &["--solution", "R*5b 5a4a 5b3b"]);
    assert_eq!(count(&page, "<li><span class=\"move\""), 1 + 2);
    for text in [
        "<h2>win in 3</h2>",
        "<li class=\"end\"><p>wrong at move 3: 5b3b does not give check</p>\
         <details open><summary>checks that mate or are undecided: 2</summary>\n<ul>\n<li><i>in 1</i>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    // The first intended move does not mate: the page plays the mate that was found.
    let page = solve(COOKED, &["--solution", "R*4a"]);
    for text in ["<h2>win in 1</h2>", "wrong at move 1: R*4a is proven not to mate", "1. ▲３一飛"]
    {
        assert!(page.contains(text), "{text}\n{page}");
    }
    assert!(!page.contains("earlier board"), "{page}");
}

#[test]
fn undecided_checks_are_counted_without_a_move_of_the_line() {
    let dir = Dir::new();
    let problem = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1";
    let words = ["solve", "--all", "--nodes", "1", "--all-nodes", "1", "--threads", "1"];
    let words = [&words[..], &[problem, "--to", "html", "--lang"]].concat();
    for (language, text) in [
        (
            "en",
            "<li class=\"end\"><details open><summary>checks that mate or are undecided: 8</summary>\n<ul>\n\
             <li><i>unknown (node limit)</i>",
        ),
        (
            "ja",
            "<li class=\"end\"><details open><summary>詰む王手・不明な王手: 8</summary>\n<ul>\n\
             <li><i>不明（ノード数の上限）</i>",
        ),
    ] {
        let page = dir.kyokumen([&words[..], &[language]].concat()).succeeds().text();
        assert_sound(&page);
        assert!(page.contains(text), "{text}\n{page}");
    }
}

#[test]
fn problems_of_a_page_have_their_names_and_plies() {
    let dir = Dir::new();
    let problem = |name: &str| format!("作品名：{name}\n{}", kyokumen_testing::literals::PROBLEM);
    dir.write("one.kif", problem("初夢"));
    let page = dir.line("solve one.kif --to html").succeeds().text();
    for text in ["<title>初夢</title>", "<p>one.kif · one position", "<h2>win in 1</h2>"] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    dir.write("two.bod", problem("初夢") + &problem("&夢"));
    let page = dir.line("solve two.bod --to html").succeeds().text();
    for text in
        ["<title>two.bod</title>", "<h2>1: 初夢 · win in 1</h2>", ">2: &amp;夢 · win in 1</a>"]
    {
        assert!(page.contains(text), "{text}\n{page}");
    }
    dir.write("number.kif", format!("作品番号：12\n{}", kyokumen_testing::literals::PROBLEM));
    let page = dir.line("solve number.kif --to html").succeeds().text();
    assert!(page.contains("<title>12</title>"), "{page}");
    // A move or a number beside a position is not its name.
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    let columns = ["G*5b", "1", "No. 3", "Infinity", " "];
    dir.write("five.sfen", columns.map(|column| format!("{sfen}\t{column}\n")).concat());
    let page = dir.line("solve five.sfen --to html").succeeds().text();
    for text in [
        "<h2>1: win in 1</h2>\n<p>Black to move · G*5b · 0 nodes</p>",
        "<h2>2: win in 1</h2>\n<p>Black to move · 1 · 0 nodes</p>",
        "<h2>3: No. 3 · win in 1</h2>\n<p>Black to move · 0 nodes</p>",
        "<h2>4: Infinity · win in 1</h2>\n<p>Black to move · 0 nodes</p>",
        "<h2>5: win in 1</h2>\n<p>Black to move · 0 nodes</p>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
}

#[test]
fn inspect_writes_a_page_of_boards_with_arrows() {
    let dir = Dir::new();
    let name = if cfg!(windows) { "a & b.sfen" } else { "<script>alert(2) & 'b'.sfen" };
    // A move, a drop that mates, an illegal move, and a line that is not a position.
    let start = kyokumen::shogi::sfen::START;
    let head = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
    let lines = format!(
        "{start}\t7g7f\t35\t1\tb\n{head}\tG*5b\t-29999\t77\tw\n{start}\t5i5a\t0\t1\td\n<script>alert(1)</script>\n"
    );
    dir.write(name, lines);
    let more = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 2\t3c3d\t-7\t2\tb\n";
    dir.write("more.sfen", more);
    let arguments =
        ["inspect", name, "more.sfen", "--html", "boards.html", "--solve", "--nodes", "1000"];
    let ran = dir.kyokumen(&arguments).run();
    assert_eq!(
        (ran.code, &*ran.text(), &*ran.stderr),
        (Some(3), "", "  boards.html\n"),
        "one line is bad"
    );
    let page = dir.text("boards.html");
    assert_sound(&page);
    assert_eq!(count(&page, "class=\"k-board\""), 4);
    assert_eq!(count(&page, "class=\"k-arrow\""), 4);
    assert_eq!(count(&page, "<figure class=\"bad\">"), 1);
    for text in [
        "<b>0: ☗７六歩 <small>7g7f</small></b><span>Black to move</span>",
        "<dt>eval</dt><dd>35 cp</dd>",
        "<dt>result</dt><dd>black won</dd>",
        "<b>1: ☗５二金 <small>G*5b</small></b>",
        "<dt>mate</dt><dd class=\"mated\">win in 1</dd>\n<dt>line</dt><dd>☗５二金</dd>",
        "<b>2: illegal <small>5i5a</small></b>",
        "<dt>unusual</dt><dd>move illegal</dd>",
        "<b>0: ☖３四歩 <small>3c3d</small></b><span>White to move</span>",
        "<dt>mate</dt><dd>no mate</dd>",
        "<html lang=\"en\">",
        "<title>2 files of positions</title>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let japanese = ["--force", "--lang", "ja"];
    dir.kyokumen([&arguments[..], &japanese].concat()).exits(&[3]);
    let page_in_japanese = dir.text("boards.html");
    assert_sound(&page_in_japanese);
    for text in [
        "<html lang=\"ja\">",
        "<title>2個の局面ファイル</title>",
        "<span>先手番</span>",
        "<dt>評価値</dt><dd>35 cp</dd>",
        "<dt>勝敗</dt><dd>先手勝ち</dd>",
        "<dt>詰み</dt><dd class=\"mated\">1手で詰み</dd>\n<dt>手順</dt><dd>☗５二金</dd>",
        "<dt>注意</dt><dd>指し手が反則</dd>",
    ] {
        assert!(page_in_japanese.contains(text), "{text}\n{page_in_japanese}");
    }
    let mut refused = dir.kyokumen(&arguments).run().transcript;
    dir.kyokumen([&arguments[..], &["--force", "--threads", "3"]].concat()).exits(&[3]);
    assert_eq!(page, dir.text("boards.html"));
    // An error while a page is written leaves no file.
    refused += &dir
        .kyokumen(["inspect", "more.sfen", "--range", "5", "--html", "none.html"])
        .run()
        .transcript;
    assert!(!dir.join("none.html").exists());
    refused += &dir.kyokumen(["inspect", "more.sfen", "--nodes", "5"]).run().transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 1
error: boards.html exists; replace it with --force
status 2
error: more.sfen has 1 record, numbered from 0, but 5..6 begins with record 5
status 2
error: search limits need --solve

"#]]
    );
}

#[test]
fn pages_with_too_many_boards_are_refused() {
    let dir = Dir::new();
    dir.write("a.hcp", crate::archive::archive(kyokumen::format::Format::Hcp, 6000));
    let inspect = ["inspect", "a.hcp", "--range", "..", "--html", "a.html"];
    let solve = ["solve", "a.hcp", "--to", "html", "--nodes", "1", "--depth", "1"];
    let transcripts = [&inspect[..], &solve].map(|words| {
        let ran = dir.kyokumen(words).run();
        assert_eq!(ran.text(), "");
        ran.transcript
    });
    assert_data_eq!(
        transcripts.concat(),
        str![[r#"
status 2
error: a page holds at most 5000 boards; choose some with --range or --sample
status 2
a.hcp, record 5 (file offset 160): byte 1: both kings are on 1a
...
a.hcp, record 214 (file offset 6848): byte 1: both kings are on 1a
error: a page holds at most 5000 positions; select the first ones with --limit

"#]]
    );
    assert!(!dir.join("a.html").exists());
}
