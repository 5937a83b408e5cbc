#!/usr/bin/env python3
"""Opens the page that solves mate problems in Chromium.

The page is served as static files. Problems are pasted, opened as files and set up by clicks and keys, solved, stopped and
played. The page is used in both languages, in light and dark, on a phone, after the server has ended, without some of its
files, and during an update. `mate.html` is opened from the disk. The Debian packages of Chromium and Japanese fonts are
installed if they are missing, which needs root.

Exit status 0: all correct, 1: something is wrong, 2: something is missing.

    site/build && python3 tests/engines/solving_page.py [FOLDER]

Screenshots are written next to the folder: target/site-pictures.
"""

import functools
import http.server
import pathlib
import re
import shutil
import sys
import tempfile
import threading
import time

from pages import DESK, PHONE, ActionChains, Browser, Keys, expect, webdriver
from programs import ROOT, Missing, Wrong, exit_status, install

MATE_IN_3 = "1+R2g1b2/lp+P3p2/n2Sk1ns1/p1N2pg1l/3RpPP1p/P1pP3PP/3sP1n2/L3GKG1L/B8 b 2Psp 149"
# A mate in one: R*1a, R*2a or R*3a. R*5b mates in three.
NOT_UNIQUE = "3pk4/9/4G4/9/9/9/9/9/9 b R 1"
# A mate in three that begins with R*5b.
WITH_LINE = "3pk4/9/4G4/9/9/9/9/9/9 b Rr2b3g4s4n4l17p 1"
NO_MATE = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
# Not solved within the time of this test.
ENDLESS = "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1"
GOLD = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
MATED = "4k4/4G4/4P4/9/9/9/9/9/9 w 2r2b3g4s4n4l17p 2"
# A long mate: 105 plies without futile interpositions. Its alternatives take longer than this test.
LONG = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1"
PATIENCE_S = 30


class Files(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"


class Page:
    """The page in a browser."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address
        browser.driver.get(address)

    def one(self, selector):
        return self.browser.all(selector)[0]

    def click(self, selector):
        self.one(selector).click()

    def text(self, selector):
        return self.one(selector).text

    def error(self):
        return self.text("#error").splitlines()[0] if self.text("#error") else ""

    def shown_sfen(self):
        return self.one("#board").get_attribute("aria-label").split(": ", 1)[1]

    def square(self, name):
        """The button of a square on a board that is not turned: `5a`."""
        return self.browser.all("#board button")[(ord(name[1]) - ord("a")) * 9 + 9 - int(name[0])]

    def until(self, what, found, expected):
        end = time.monotonic() + PATIENCE_S
        while (value := found()) != expected:
            if time.monotonic() > end:
                raise Wrong(f"{what}: {value!r}, expected {expected!r}; error {self.text('#error')!r}")
            time.sleep(0.05)

    def paste(self, text):
        self.browser.driver.execute_script("document.getElementById('text').value = arguments[0]", text)
        self.click("#read")

    def solve(self, text, verdict):
        if text is not None:
            self.paste(text)
            self.until("read", self.shown_sfen, text)
        self.click("#solve")
        self.until("verdict", lambda: self.text("#verdict"), verdict)
        self.until("ends", lambda: self.one("#stop").is_enabled(), False)


def check_console(page, what):
    expect(f"{what}: console", page.browser.console(), [])


def play(page):
    page.solve(MATE_IN_3, "Mate in 3")
    expect("details", page.text("#details").startswith("Black attacks · The solution"), True)
    moves = [button.text for button in page.browser.all("#moves > li > button")]
    expect("moves", [move.split()[1] for move in moves], ["+Rx5a", "K-4c", "S-5d+"])
    expect("moves in Japanese", [move.split()[2] for move in moves], ["▲５一龍", "△４三玉", "▲５四銀成"])
    boards = [page.shown_sfen()]
    for ply in (1, 2, 3):
        page.click("#forward")
        expect("slider", page.one("#ply").get_attribute("value"), str(ply))
        current = page.browser.all("#moves [aria-current]")
        expect("current move", [move.text for move in current], [moves[ply - 1]])
        boards.append(page.shown_sfen())
    expect("boards that differ", len(set(boards)), 4)
    expect("at the end", page.one("#forward").is_enabled(), False)
    page.click("#back")
    expect("back", page.shown_sfen(), boards[2])
    body = page.one("body")
    for key, ply in ((Keys.HOME, 0), (Keys.ARROW_RIGHT, 1), (Keys.END, 3), (Keys.ARROW_LEFT, 2)):
        body.send_keys(key)
        expect("keys", page.shown_sfen(), boards[ply])
    page.browser.all("#moves > li > button")[0].click()
    expect("list", page.shown_sfen(), boards[1])
    page.click("#flip")
    expect("flipped", page.browser.all("#board button.to")[0].get_attribute("aria-label"), "5a: black dragon")
    page.click("#flip")
    page.solve(NO_MATE, "No mate")
    expect("no moves", len(page.browser.shown("#line")), 0)
    print("played      mates")


def show_alternatives(page):
    page.solve(NOT_UNIQUE, "Mate in 1")
    expect("details", "not unique" in page.text("#details"), True)
    badges = [badge.text for badge in page.browser.all(".badge")]
    expect("alternatives", badges[-1:], ["alternative: R*5b"])
    expect("flaws", all(badge.startswith("flaw: R*") for badge in badges[:-1]) and len(badges) == 3, True)
    expect("checks", page.text("#here-title"), "Checks here")
    page.browser.all(".badge")[-1].click()
    expect("variation", page.text("#line-title"), "Variation")
    expect("variation's board", page.shown_sfen().split()[0], "3pk4/4R4/4G4/9/9/9/9/9/9")
    expect("variation's moves", len(page.browser.all("#moves > li")), 3)
    page.click("#main-line")
    expect("solution", (page.text("#line-title"), page.shown_sfen()), ("Solution", NOT_UNIQUE))
    print("marked      alternatives")


def move_pieces(page):
    """Plays moves on the board: the solution, a move that does not mate, and an alternative."""
    page.solve(MATE_IN_3, "Mate in 3")
    boards = [page.shown_sfen()]
    for ply, (start, end) in enumerate((("8a", "5a"), ("5c", "4c")), 1):
        page.square(start).click()
        expect("picked", page.square(start).get_attribute("aria-pressed"), "true")
        page.square(end).click()
        expect("played", (page.shown_sfen() in boards, page.one("#ply").get_attribute("value")), (False, str(ply)))
        boards.append(page.shown_sfen())
    ActionChains(page.browser.driver).drag_and_drop(page.square("6c"), page.square("5d")).perform()
    # Without promotion the move does not mate.
    page.browser.driver.switch_to.alert.accept()
    expect("dragged", page.one("#ply").get_attribute("value"), "3")
    page.square("5d").send_keys(Keys.HOME)
    expect("by key", page.shown_sfen(), boards[0])
    page.solve(NOT_UNIQUE, "Mate in 1")
    for square, error in (("5e", "R*5e is not in the solution."), ("5b", "")):
        page.click("#near [data-kind='R']")
        page.square(square).click()
        expect("error", page.text("#error"), error)
    expect("alternative", (page.text("#line-title"), page.square("5b").get_attribute("aria-label")), ("Variation", "5b: black rook"))
    page.click("#first")
    page.square("5c").click()
    page.square("4b").click()
    expect("no mate", page.text("#error"), "G-4b does not mate.")
    print("moved       pieces")


def set_up(page):
    """Sets up a mate in one with clicks, and changes it with keys."""
    page.click("#edit")
    page.click("#clear")
    page.click("#solve")
    expect("no king", page.text("#error"), "Place the defender's king first.")
    for kind, square in (("K", "5a"), ("P", "5c")):
        page.click(f"#box [data-kind='{kind}']")
        page.square(square).click()
    page.click("#box [data-kind='G']")
    # The whole row of a hand is a target, not only its name.
    row = page.one("#near")
    ActionChains(page.browser.driver).move_to_element_with_offset(row, row.size["width"] // 2 - 5, 0).click().perform()
    expect("set up", page.shown_sfen(), "4k4/9/4P4/9/9/9/9/9/9 b G 1")
    expect("as text", page.one("#text").get_attribute("value"), GOLD)
    page.browser.driver.refresh()
    page.until("kept by the address", page.shown_sfen, "4k4/9/4P4/9/9/9/9/9/9 b G 1")
    page.click("#edit")
    page.until("the rest is kept", lambda: page.one("#rest").is_selected(), True)
    # A piece of the box is chosen while a piece of the board is.
    page.square("5c").click()
    page.click("#box [data-kind='S']")
    expect("not moved to the box", page.square("5c").get_attribute("aria-label"), "5c: black pawn")
    page.click("#box [data-kind='S']")
    drag = lambda piece, target: ActionChains(page.browser.driver).drag_and_drop(piece, target).perform()
    drag(page.square("5c"), page.square("4c"))
    expect("dragged", page.shown_sfen(), "4k4/9/5P3/9/9/9/9/9/9 b G 1")
    drag(page.one("#near [data-kind='G']"), page.square("4d"))
    expect("dragged from a hand", page.shown_sfen(), "4k4/9/5P3/5G3/9/9/9/9/9 b - 1")
    drag(page.square("4d"), page.one("#near .owner"))
    drag(page.square("4c"), page.square("5c"))
    expect("dragged back", page.shown_sfen(), "4k4/9/4P4/9/9/9/9/9/9 b G 1")
    page.browser.all("#side option")[1].click()
    expect("White attacks", (page.shown_sfen(), page.text("#details")), ("4k4/9/4P4/9/9/9/9/9/9 w G 1", "White attacks"))
    page.click("#undo")
    # The first tap selects a piece, the next ones change it.
    square = page.square("5c")
    square.click()
    for form in ("black promoted pawn", "white pawn", "white promoted pawn", "black pawn"):
        square.click()
        expect("form", square.get_attribute("aria-label"), f"5c: {form}")
    tab_stops = page.browser.all("#board [tabindex='0']")
    expect("tab stop", [stop.get_attribute("aria-label") for stop in tab_stops], ["5c: black pawn"])
    square.send_keys(Keys.ESCAPE)
    square.send_keys(Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    focused = page.browser.driver.switch_to.active_element
    expect("focus", focused.get_attribute("aria-label"), "6d: empty")
    page.click("#box [data-kind='S']")
    page.square("6d").send_keys(Keys.ENTER)
    expect("by key", page.square("6d").get_attribute("aria-label"), "6d: black silver")
    page.square("6d").send_keys(Keys.DELETE)
    expect("deleted", page.square("6d").get_attribute("aria-label"), "6d: empty")
    page.click("#undo")
    expect("undone", page.square("6d").get_attribute("aria-label"), "6d: black silver")
    page.click("#undo")
    # Positions that break a rule are solved, with a warning.
    for kind, square in (("P", "5d"), ("N", "1b")):
        page.click(f"#box [data-kind='{kind}']")
        page.square(square).click()
    warnings = "Black attacks · Two pawns on a file: 5. · Without any future move: 1b."
    expect("warnings", page.text("#details"), warnings)
    page.click("#undo")
    page.click("#undo")
    page.solve(None, "Mate in 1")
    expect("the rest is the defender's", page.shown_sfen(), GOLD)
    expect("unique", "The solution is unique." in page.text("#details"), True)
    page.click("#last")
    expect("mated", page.shown_sfen(), MATED)
    page.click("#edit")
    expect("as it was set up", page.shown_sfen(), "4k4/9/4P4/9/9/9/9/9/9 b G 1")
    page.click("#edit")
    expect("the solution again", page.shown_sfen(), GOLD)
    # A position within a game, without a mate.
    page.paste(f"sfen {NO_MATE} moves 7g7f 3c3d")
    page.until("moves", lambda: len(page.browser.all("#moves > li")), 2)
    page.click("#forward")
    shown = page.shown_sfen()
    page.solve(None, "No mate")
    page.click("#edit")
    expect("the solved position", page.shown_sfen(), shown)
    page.click("#edit")
    print("set up      a problem")


def compare(page):
    """Compares the moves of the text with the solution."""
    for moves, words in (
        ("R*5b 5a4a 5c4b", "The moves of the text are the solution."),
        ("R*5b 5a4a 5b4b+", "Move 3 of the text is R-4b+; the solution has G-4b."),
        ("R*4a", "Move 1 of the text is R*4a; the solution has R*5b."),
    ):
        page.paste(f"sfen {WITH_LINE} moves {moves}")
        page.until("moves", lambda count=len(moves.split()): len(page.browser.all("#moves > li")), len(moves.split()))
        page.solve(None, "Mate in 3")
        expect("comparison", words in page.text("#details"), True)
    print("compared    moves with the solution")


def stop(page):
    page.paste(ENDLESS)
    page.until("read", page.shown_sfen, ENDLESS)
    page.click("#solve")
    count = lambda: int(page.text("#count").replace(",", "") or 0)
    page.until("count", lambda: count() > 0, True)
    before = count()
    page.until("count grows", lambda: count() > before, True)
    # The second search ends the first one.
    page.click("#solve")
    page.until("count of the second search", lambda: count() > 0, True)
    expect("can be stopped", page.one("#stop").is_enabled(), True)
    page.click("#stop")
    page.until("stopped", lambda: page.text("#verdict"), "Undecided")
    expect("reason", "stopped" in page.text("#details"), True)
    # The search for alternatives.
    page.paste(LONG)
    page.until("read", page.shown_sfen, LONG)
    page.click("#solve")
    page.until("alternatives", lambda: page.text("#phase"), "Searching for alternatives…")
    expect("length", page.text("#verdict"), "Mate in at most 105")
    facts = "Black attacks · the mate found first has 109 plies, counting futile interpositions"
    expect("details", page.text("#details"), facts)
    page.click("#stop")
    page.until("stopped", lambda: page.text("#details").startswith(f"{facts} · The search for alternatives was stopped. · "), True)
    page.one("#panel summary").click()
    page.browser.all("#nodes option")[1].click()
    page.solve(ENDLESS, "Undecided")
    expect("reason", "the node limit was reached" in page.text("#details"), True)
    page.browser.all("#nodes option")[-1].click()
    page.solve(NOT_UNIQUE, "Mate in 1")
    page.browser.all("#nodes option")[0].click()
    page.solve(GOLD, "Mate in 1")
    print("stopped     a search")


def drop(page, path):
    """Drops a file or folder, as from a file manager."""
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        page.browser.driver.execute_cdp_cmd("Input.dispatchDragEvent", {"type": kind, "x": 10, "y": 10, "data": data})


def read_files(page, folder):
    page.one("#file").send_keys(str(ROOT / "data/sample.kif"))
    page.until("file", lambda: len(page.browser.all("#problem option")) > 1, True)
    expect("a game", page.shown_sfen(), NO_MATE)
    page.click("#forward")
    expect("its move", page.text("#moves [aria-current]").split()[2], "▲４八玉")
    page.paste("4k4/9/9/9/9/9/9/9/4K5 b - 1")
    page.until("error", page.error, "line 1: character 21: rank i has 10 squares, expected 9")
    page.one("#file").send_keys(str(ROOT / "data/sample.psv"))
    page.until("binary", page.error, "sample.psv: This is not a text in UTF-8, Shift_JIS or EUC-JP.")
    attack = folder / "attack.sfen"
    title = "<img src=x onerror='window.attacked = 1'>"
    attack.write_text(f"{GOLD}\t{title}\n{MATE_IN_3}\n")
    page.one("#file").send_keys(str(attack))
    page.until("titles", lambda: len(page.browser.all("#problem option")), 2)
    expect("title", page.browser.all("#problem option")[0].get_attribute("textContent"), f"1. {title}")
    # What was set up for one problem does not apply to the next one.
    page.click("#edit")
    page.square("5c").send_keys(Keys.DELETE)
    page.click("#rest")
    page.browser.all("#problem option")[1].click()
    expect("second problem", page.shown_sfen(), MATE_IN_3)
    expect("the rest", page.one("#rest").is_selected(), False)
    expect("undo", page.one("#undo").is_enabled(), False)
    page.click("#edit")
    # An unreadable text changes nothing, and is forgotten when a problem is chosen.
    page.solve(None, "Mate in 3")
    expect("length", page.browser.all("#problem option")[1].text, "2. (Mate in 3)")
    page.click("#forward")
    shown = page.shown_sfen()
    page.paste("unreadable")
    page.until("unreadable", lambda: page.text("#error").startswith("line 1: character "), True)
    expect("old answer", (page.text("#verdict"), page.shown_sfen()), ("Mate in 3", shown))
    expect("says so", page.text("#error").splitlines()[1], "The board still shows the position before.")
    page.paste(f"{GOLD}\nunreadable\n{MATE_IN_3}")
    page.until("skipped", lambda: page.text("#error").split("; ")[0], "1 unreadable problem skipped")
    expect("the others", len(page.browser.all("#problem option")), 2)
    page.browser.all("#problem option")[0].click()
    page.solve(None, "Mate in 1")
    drop(page, folder)
    page.until("folder", lambda: page.text("#error").startswith(f"{folder.name}: "), True)
    page.browser.driver.execute_script(
        "const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'a.sfen'));"
        "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))", GOLD)
    page.until("dropped", page.shown_sfen, GOLD)
    # Typed text is read by the button that solves it.
    page.browser.driver.execute_script("document.getElementById('text').value = ''")
    page.one("#text").send_keys(MATE_IN_3)
    page.click("#solve")
    page.until("typed", lambda: page.text("#verdict"), "Mate in 3")
    page.one("#text").send_keys("x")
    page.click("#solve")
    page.until("typed error", lambda: page.text("#error").startswith("line 1: character "), True)
    print("read        files and typed text")


def switch_language(page):
    page.solve(NOT_UNIQUE, "Mate in 1")
    page.click("#language")
    expect("language", page.browser.js("document.documentElement.lang"), "ja")
    expect("verdict", page.text("#verdict"), "1手詰")
    expect("badge", page.browser.all(".badge")[-1].text, "余詰: ▲５二飛")
    page.browser.driver.refresh()
    expect("kept", page.text("#solve"), "解く")
    unnamed = "[...document.querySelectorAll('button, input, select, textarea')].filter((element) => element.offsetParent" \
        " && !element.textContent.trim() && !element.getAttribute('aria-label') && !element.labels?.length).length"
    expect("controls without a name", page.browser.js(unnamed), 0)
    page.solve(NO_MATE, "不詰")
    page.paste("4k4/9/9/9/9/9/9/9/4K5 b - 1")
    page.until("error", page.error, "読み込めません：1行目：21文字目：九段目のマスが10個です（9個必要）")
    page.click("#language")
    expect("error in English", page.error(), "line 1: character 21: rank i has 10 squares, expected 9")
    page.click("#language")
    page.paste("4k4/9/9/9/9/9/9/9/4K4 x - 1")
    # Without a translation, the message is English.
    page.until("other error", lambda: page.text("#error").splitlines(), [
        "読み込めません：", "line 1: character 23: found 'x', expected b or w, the side to move", "盤面は読み込む前のままです。",
    ])
    page.paste("4k4/9/9/9/9/9/9/9/P3K4 b 18P 1")
    page.until("too many", lambda: page.error().split("：")[-1], "歩が盤上と持駒に19枚あります（全部で18枚のはずです）")
    page.paste(NO_MATE)
    page.until("read", page.shown_sfen, NO_MATE)
    page.click("#language")
    print("switched    the language")


def look(page, pictures):
    """Light and dark, desktop and phone, solved and while setting up."""
    browser = page.browser
    for theme in ("light", "dark"):
        for size in (DESK, PHONE):
            browser.theme(theme)
            browser.resize(size)
            page.solve(NOT_UNIQUE, "Mate in 1")
            page.click("#forward")
            for state in ("solved", "set-up"):
                if state == "set-up":
                    page.click("#edit")
                browser.driver.execute_script("scrollTo(0, 0)")
                fits = "document.documentElement.scrollWidth <= innerWidth"
                expect(f"fits {size}, {state}", browser.js(fits), True)
                height = browser.js("document.documentElement.scrollHeight")
                browser.resize((size[0], max(size[1], height)))
                browser.picture().save(pictures / f"{state}-{theme}-{size[0]}.png")
                browser.resize(size)
            page.click("#edit")
    browser.resize((320, 568))
    page.paste(f"{NOT_UNIQUE}\t{'a long title ' * 20}\n{NO_MATE}")
    page.until("titles", lambda: len(browser.all("#problem option")), 2)
    page.solve(None, "Mate in 1")
    expect("fits a small phone", browser.js(fits), True)
    browser.resize(PHONE)
    small = "[...document.querySelectorAll('button, summary')].filter((button) => button.offsetParent && button.offsetHeight < 30).length"
    expect("buttons too small to touch", browser.js(small), 0)
    corner = browser.picture().getpixel((1, 1))
    expect("dark is dark", sum(corner) < 150, True)
    browser.theme("light")
    browser.resize(DESK)
    print("looked at   light and dark, desktop and phone")


def without_server(page, server):
    controlled = "navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)"
    page.until("offline copy", lambda: page.browser.js(controlled), True)
    server.shutdown()
    server.server_close()
    page.browser.driver.get(page.address)
    page.solve(MATE_IN_3, "Mate in 3")
    print("reloaded    without a server")


def damage(browser, folder):
    """Opens the page without some of its files, then updates it."""
    for name, message in (("kyokumen_site.wasm", "kyokumen_site.wasm: 404"), ("worker.js", "worker.js cannot be loaded")):
        file = folder / name
        file.rename(folder / "moved")
        server, address = serve(folder)
        page = Page(browser, address)
        page.click("#solve")
        page.until(f"without {name}", lambda: message in page.text("#error"), True)
        server.shutdown()
        server.server_close()
        (folder / "moved").rename(file)
    _, address = serve(folder)
    page = Page(browser, address)
    page.until("offline copy", lambda: browser.js("navigator.serviceWorker.controller !== null"), True)
    offline = folder / "offline.js"
    offline.write_text(re.sub('VERSION = "', 'VERSION = "next', offline.read_text()))
    browser.js("navigator.serviceWorker.ready.then((registration) => registration.update()).then(() => null)")
    waits = "navigator.serviceWorker.ready.then((registration) => registration.waiting !== null)"
    page.until("the new version waits", lambda: browser.js(waits), True)
    browser.console()
    print("damaged     and updated the page")


def from_disk(browser, folder):
    browser.driver.get_log("performance")
    page = Page(browser, (folder / "mate.html").as_uri())
    page.solve(MATE_IN_3, "Mate in 3")
    foreign = [address for address in browser.requests() if address.startswith("http")]
    expect("requests", foreign, [])
    check_console(page, "mate.html")
    print("opened      mate.html from the disk")


def check(folder):
    if webdriver is None:
        raise Missing("selenium or Pillow is missing; pip install -r tests/engines/requirements.txt")
    install(["chromium", "chromium-driver", "fonts-noto-cjk"], ["chromium", "chromedriver"])
    pictures = folder.parent / "site-pictures"
    pictures.mkdir(exist_ok=True)
    server, address = serve(folder)
    with tempfile.TemporaryDirectory(prefix="kyokumen-site-") as temporary:
        temporary = pathlib.Path(temporary)
        with Browser(temporary / "browser") as browser:
            page = Page(browser, address)
            for step in (play, show_alternatives, move_pieces, set_up, compare, stop, switch_language):
                step(page)
                check_console(page, step.__name__)
            read_files(page, temporary)
            look(page, pictures)
            foreign = [url for url in browser.requests() if url.startswith("http") and not url.startswith(address)]
            expect("requests", foreign, [])
            check_console(page, "all")
            without_server(page, server)
            from_disk(browser, folder)
            damage(browser, shutil.copytree(folder, temporary / "damaged"))


if __name__ == "__main__":
    site = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/site").resolve()
    sys.exit(exit_status(lambda: check(site)))
