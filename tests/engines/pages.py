#!/usr/bin/env python3
"""Opens the pages of `stats`, `inspect`, `solve` and `marubatsu show` in Chromium.

A page must load no external resources, run only its own script, log no errors to the console, need no horizontal
scrolling on a phone, differ in light and dark, and show something. Mates are played with buttons, keys, the slider and
the list, and so are the alternatives of `solve --all`. The script draws the same boards as the program. Without
JavaScript all boards must be visible. File names and columns that look like markup must stay text.
The Debian packages of Chromium, its driver and Japanese fonts are installed if they are missing, which needs root.

Exit status 0: all correct, 1: something is wrong, 2: something is missing.

    cargo build --release && python3 tests/engines/pages.py

The variable KYOKUMEN_SCREENSHOTS names a folder for screenshots.
"""

import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from programs import ROOT, Missing, Wrong, call, environment, install, try_out

try:
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

ATTACK = "<script>window.attacked = 1</script><img src=x onerror='window.attacked = 1'>"

# A mate in five by Black, no mate, and a mate in three by White.
PROBLEMS = [
    "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1",
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "+L4kp2/9/2gs1pB+R1/n1pgp4/6P2/S2G3r1/P3+b1G2/2P6/+lP1K1+n3 w 2SN2L4Pn6p 1",
]

# A mate in three with three shorter mates beside it.
COOKED = "3pk4/9/4G4/9/9/9/9/9/9 b R 1"

PAGES = ("stats", "stats-ja", "inspect", "solve", "solve-all", "marubatsu")

OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]

PHONE, DESK = (390, 844), (1280, 900)


def make_pages(folder, env):
    """Creates the pages, by name. The names of their inputs are attacks."""
    problems = folder / f"{ATTACK.replace('/', '')} & problems.sfen"
    problems.write_text("".join(f"{sfen}\t{ATTACK}\n" for sfen in PROBLEMS))
    records = folder / f"{ATTACK.replace('/', '')} & records.psv"
    shutil.copy(ROOT / "data/sample.psv", records)
    bad = folder / "bad.sfen"
    bad.write_text(f"{PROBLEMS[1]}\t7g7f\t-35\t1\tb\n{ATTACK}\n")
    pages = {name: folder / f"{name}.html" for name in PAGES}
    call("kyokumen", "stats", records, "--html", pages["stats"], "--progress", "none", env=env)
    call("kyokumen", "stats", records, "--html", pages["stats-ja"], "--lang", "ja", "--progress", "none", env=env)
    call("kyokumen", "inspect", records, bad, "--html", pages["inspect"], "--solve", "--nodes", 1000, env=env, statuses=(3,))
    pages["solve"].write_text(call("kyokumen", "solve", problems, "--shortest", "--to", "html", env=env))
    line = ["--all=line", "--solution", "R*5b", "--lang", "ja", "--to", "html"]
    pages["solve-all"].write_text(call("kyokumen", "solve", COOKED, *line, env=env))
    call("kyokumen", "marubatsu", "show", "oxo/.x./.o.", "--plies", 4, "--html", pages["marubatsu"], env=env)
    return pages


class Browser:
    """Chromium with a separate profile folder."""

    def __init__(self, folder, javascript=True):
        options = webdriver.ChromeOptions()
        for option in (*OPTIONS, f"--user-data-dir={folder}"):
            options.add_argument(option)
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        if not javascript:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def resize(self, size):
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def theme(self, theme):
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, page):
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(page.as_uri())

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses requested since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def picture(self):
        return Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def shown(self, selector):
        return [element for element in self.all(selector) if element.is_displayed()]

    def js(self, script):
        return self.driver.execute_script(f"return {script}")


def expect(what, found, expected):
    if found != expected:
        raise Wrong(f"{what}: {found!r}, expected {expected!r}")


def look_at(browser, name, page, screenshots):
    """Checks the properties that every page must have."""
    pictures = {}
    for theme in ("light", "dark"):
        browser.theme(theme)
        for size in (DESK, PHONE):
            browser.resize(size)
            browser.open(page)
            expect(f"{name}: console", browser.console(), [])
            expect(f"{name}: requests", browser.requests(), [page.as_uri()])
            picture = pictures[theme, size] = browser.picture()
            colors = picture.getcolors(1 << 24)
            if len(colors) < 20 or max(count for count, _ in colors) > 0.98 * picture.width * picture.height:
                raise Wrong(f"{name}: nothing is visible, {len(colors)} colours")
            # Elements wider than a phone scroll separately.
            expect(f"{name}: fits {size}", browser.js("document.documentElement.scrollWidth <= innerWidth"), True)
            if screenshots:
                picture.save(screenshots / f"{name}-{theme}-{size[0]}.png")
    corners = [pictures[theme, DESK].getpixel((1, 1)) for theme in ("light", "dark")]
    if sum(corners[0]) < sum(corners[1]) + 300:
        raise Wrong(f"{name}: dark is not dark: {corners}")
    browser.theme("light")
    browser.resize(DESK)
    browser.open(page)
    expect(f"{name}: attacked", browser.js("window.attacked"), None)
    expect(f"{name}: broken pictures", len(browser.all("img")), 0)
    print(f"opened      {name}")


def try_policy(browser, name, page, folder):
    """Checks that the content security policy blocks markup that is injected into a page."""
    attacked = folder / "attacked.html"
    foreign = "https://kyokumen.invalid/picture.png"
    body = page.read_text().replace("<main>", f"<main>{ATTACK}<img src='{foreign}'><p id='there'></p>", 1)
    attacked.write_text(body)
    browser.open(attacked)
    expect(f"{name}: injected", len(browser.all("#there")), 1)
    expect(f"{name}: injected script", browser.js("window.attacked"), None)
    # A browser may list an address that it refuses to request.
    refused = [message for message in browser.console() if "Content Security Policy" in message]
    if len(refused) < 3:
        raise Wrong(f"{name}: not refused: {refused}")
    print(f"guarded     {name}")


def play(browser, page):
    """Plays the mates."""
    browser.open(page)
    expect("solve: title", ATTACK.replace("/", "") in browser.driver.title, True)
    mates = browser.all(".mate")
    expect("solve: mates", len(mates), 3)
    mate = mates[0]
    first, back, forward, last, flip = mate.find_elements(By.CSS_SELECTOR, ".controls button")
    slider = mate.find_element(By.CSS_SELECTOR, "input")

    def at(ply, what):
        shown = [boards for boards in mate.find_elements(By.CSS_SELECTOR, ".boards") if boards.is_displayed()]
        expect(f"{what}: boards", len(shown), 1)
        expect(f"{what}: ply", mate.get_attribute("data-ply"), str(ply))
        expect(f"{what}: slider", slider.get_attribute("value"), str(ply))
        moves = mate.find_elements(By.CSS_SELECTOR, ".moves button")
        current = [number for number, move in enumerate(moves) if move.get_attribute("aria-current")]
        expect(f"{what}: list", current, [ply])
        expect(f"{what}: ends", [first.is_enabled(), last.is_enabled()], [ply > 0, ply < 5])
        return shown[0].find_element(By.CSS_SELECTOR, "svg").get_attribute("innerHTML")

    at(0, "start")
    forward.click()
    boards = [at(1, "forward")]
    for ply in range(2, 6):
        forward.click()
        boards.append(at(ply, "forward"))
    expect("boards that differ", len(set(boards)), 5)
    back.click()
    expect("back", at(4, "back"), boards[3])
    first.click()
    at(0, "first")
    last.click()
    expect("last", at(5, "last"), boards[4])
    mate.find_elements(By.CSS_SELECTOR, ".moves button")[2].click()
    expect("list", at(2, "list"), boards[1])
    body = browser.all("body")[0]
    for key, ply in ((Keys.ARROW_RIGHT, 3), (Keys.END, 5), (Keys.ARROW_LEFT, 4), (Keys.HOME, 0)):
        body.send_keys(key)
        at(ply, "keys")
    slider.send_keys(Keys.ARROW_RIGHT)
    at(1, "slider")
    # The keys control the mate that was used last.
    mates[2].find_elements(By.CSS_SELECTOR, ".controls button")[2].click()
    body.send_keys(Keys.ARROW_RIGHT)
    expect("second mate", mates[2].get_attribute("data-ply"), "2")
    board = at(1, "first mate")
    flip.click()
    if at(1, "flipped") == board:
        raise Wrong("solve: the board was not flipped")
    flip.click()
    expect("flipped twice", at(1, "flipped twice"), board)
    expect("solve: console", browser.console(), [])
    print("played      solve")


def compare_boards(browser, page, folder):
    """Compares the boards that the script draws with those of the program, which the page shows without JavaScript."""
    browser.open(page)
    # In the page without its script, all boards of the program can be read.
    static = folder / "static.html"
    static.write_text(re.sub("<script>.*</script>", "", page.read_text(), flags=re.DOTALL))
    pieces = ("return [...arguments[0].querySelectorAll('rect, text, use')]"
              ".map(it => it.cloneNode(true).outerHTML).join('')")

    def pictures(boards):
        return [browser.driver.execute_script(pieces, board) for board in boards]

    drawn = []
    for mate in browser.all(".mate"):
        forward = mate.find_elements(By.CSS_SELECTOR, ".controls button")[2:3]
        board = mate.find_element(By.CSS_SELECTOR, ".k-board")
        drawn += pictures([board])
        while forward and forward[0].is_enabled():
            forward[0].click()
            drawn += pictures([board])
    browser.open(static)
    expected = pictures(browser.all(".k-board"))
    expect("boards of the script", len(drawn), len(expected))
    for number, (board, other) in enumerate(zip(drawn, expected, strict=True)):
        expect(f"board {number} of the script", board, other)
    print(f"compared    {len(drawn)} boards")


def play_alternatives(browser, page):
    """Plays the moves beside the main line."""
    browser.open(page)
    expect("all: language", browser.js("document.documentElement.lang"), "ja")
    mate = browser.all(".mate")[0]
    first, back, forward, last, _ = mate.find_elements(By.CSS_SELECTOR, ".controls button")
    slider = mate.find_element(By.CSS_SELECTOR, "input")
    lines = mate.find_elements(By.CSS_SELECTOR, ".line")
    expect("all: alternatives", [line.text for line in lines], ["▲１一飛", "▲２一飛", "▲３一飛", "▲４二飛成"])
    def current():
        return mate.find_element(By.CSS_SELECTOR, "[aria-current]").text

    lines[1].find_element(By.CSS_SELECTOR, "button").click()
    expect("all: first move", (mate.get_attribute("data-ply"), slider.get_attribute("max")), ("1", "1"))
    expect("all: current", current(), "▲２一飛")
    expect("all: aside", "aside" in mate.get_attribute("class"), True)
    # The promotion replaces the last move of the main line.
    lines[3].find_element(By.CSS_SELECTOR, "button").click()
    expect("all: last move", (mate.get_attribute("data-ply"), slider.get_attribute("max")), ("3", "3"))
    expect("all: end", [forward.is_enabled(), last.is_enabled()], [False, False])
    back.click()
    expect("all: main line", (mate.get_attribute("data-ply"), current()), ("2", "2. △４一玉\n5a4a"))
    forward.click()
    expect("all: forward", current(), "▲４二飛成")
    first.click()
    expect("all: start", current(), "開始局面")
    expect("all: console", browser.console(), [])
    print("played      solve-all")


def without_javascript(browser, pages):
    browser.open(pages["solve"])
    expect("without JavaScript: boards", len(browser.shown(".k-board")), 6 + 4 + 1)
    expect("without JavaScript: captions", len(browser.shown("figcaption")), 6 + 4)
    expect("without JavaScript: controls", len(browser.shown("button, input")), 0)
    expect("without JavaScript: lists", len(browser.shown(".moves")), 2)
    for name in ("stats", "inspect"):
        browser.open(pages[name])
        if not browser.shown("svg"):
            raise Wrong(f"{name}: nothing is visible without JavaScript")
    print("read        without JavaScript")


def check(folder):
    if webdriver is None:
        raise Missing("selenium or Pillow is missing; pip install -r tests/engines/requirements.txt")
    install(["chromium", "chromium-driver", "fonts-noto-cjk"], ["chromium", "chromedriver"])
    screenshots = os.environ.get("KYOKUMEN_SCREENSHOTS")
    screenshots = pathlib.Path(screenshots) if screenshots else None
    with tempfile.TemporaryDirectory(prefix="kyokumen-pages-") as temporary:
        temporary = pathlib.Path(temporary)
        pages = make_pages(temporary, environment(folder))
        with Browser(temporary / "browser") as browser:
            for name, page in pages.items():
                look_at(browser, name, page, screenshots)
            for name in ("stats", "inspect", "solve", "solve-all"):
                try_policy(browser, name, pages[name], temporary)
            play(browser, pages["solve"])
            for name in ("solve", "solve-all"):
                compare_boards(browser, pages[name], temporary)
            play_alternatives(browser, pages["solve-all"])
        with Browser(temporary / "browser without JavaScript", javascript=False) as browser:
            without_javascript(browser, pages)


if __name__ == "__main__":
    sys.exit(try_out(__doc__, check))
