#!/usr/bin/env python3
"""Makes `docs/stats.png` and `docs/mates.png`, screenshots of Chromium: the top of a page of `kyokumen stats` about
self-play games, and a mate on a page of `kyokumen solve`.

The pages are the same each time, but the look of the text depends on the installed fonts. Needs a build with networks,
the Debian packages `chromium`, `chromium-driver` and `fonts-noto-cjk`, and the packages of
`tests/engines/requirements.txt`.

    cargo build --features network
    python3 benches/page_pictures.py --kyokumen target/debug/kyokumen
"""

import argparse
import io
import pathlib
import shutil
import subprocess
import tempfile

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

ROOT = pathlib.Path(__file__).resolve().parents[1]
GAMES = ["--games", "400", "--playouts", "8", "--max-moves", "256", "--seed", "3", "--to", "psv"]
# A position of random play from data/sample.psv.
PROBLEM = "1ns1g3l/4s4/2pp1p1kp/4p4/1p5n1/6G1n/2SPP1PP1/4GS2R/1N2K1L1L b RBGLPb7p 67"
CHROMIUM = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]


class Camera:
    def __init__(self, folder):
        options = webdriver.ChromeOptions()
        for option in (*CHROMIUM, f"--user-data-dir={folder}"):
            options.add_argument(option)
        options.binary_location = shutil.which("chromium")
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))

    def open(self, page, width):
        metrics = {"width": width, "height": 2000, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get(page.as_uri())

    def take(self, output, selector, colors):
        """Saves the page down to the end of an element. Few colours are enough for flat surfaces and text."""
        last = self.driver.find_element(By.CSS_SELECTOR, selector).rect
        picture = Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")
        picture = picture.crop((0, 0, picture.width, round(last["y"] + last["height"]) + 7))
        picture.quantize(colors, dither=Image.Dither.NONE).save(output, optimize=True)
        print(f"{output}: {picture.width} x {picture.height}, {output.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/debug/kyokumen")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs", help="folder for the pictures")
    options = parser.parse_args()
    kyokumen = options.kyokumen.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def run(*arguments):
            return subprocess.run([kyokumen, *arguments], cwd=folder, check=True, stdout=subprocess.PIPE).stdout

        run("selfplay", "--model", ROOT / "data/network.onnx", "-o", ".", "--name", "selfplay", *GAMES)
        run("stats", "selfplay.psv", "--html", "stats.html", "--lang", "en")
        line = ("--shortest", "--all=line", "--lang", "en", "--to", "html")
        (folder / "mates.html").write_bytes(run("solve", PROBLEM, *line))
        camera = Camera(folder / "browser")
        camera.open(folder / "stats.html", 1160)
        camera.take(options.output / "stats.png", ".plots figure:nth-child(2)", 64)
        camera.open(folder / "mates.html", 900)
        for _ in range(5):
            camera.driver.find_elements(By.CSS_SELECTOR, ".controls button")[2].click()
        camera.take(options.output / "mates.png", ".problem", 96)
        camera.driver.quit()


if __name__ == "__main__":
    main()
