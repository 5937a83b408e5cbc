#!/usr/bin/env python3
"""Assembles the page: pack.py MODULE.wasm FOLDER

Copies the files of the page, fills in the version of its cache, and writes mate.html, the page in one file.
"""

import base64
import hashlib
import json
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
FILES = ("index.html", "page.js", "answer.js", "board.js", "drag.js", "solver.js", "text.js", "style.css", "worker.js", "manifest.webmanifest", "icon.svg")
MODULE = "kyokumen_site.wasm"


def bundled(folder):
    """The page's script, with its imported modules inlined."""

    def inside(found):
        clause, name = found[1].removeprefix("* as "), found[2]
        text = folder.joinpath(name).read_text()
        exported = re.findall(r"^export (?:const|function|class) (\w+)", text, re.MULTILINE)
        body = re.sub("^export ", "", text, flags=re.MULTILINE)
        return f"const {clause} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();"

    return re.sub(r'^import (.*) from "\./(.*)";$', inside, folder.joinpath("page.js").read_text(), flags=re.MULTILINE)


def single(folder):
    """The page with its styles, scripts, worker and WebAssembly module inside."""
    page, style, script = folder.joinpath("index.html").read_text(), folder.joinpath("style.css").read_text(), bundled(folder)
    module = base64.b64encode(folder.joinpath(MODULE).read_bytes()).decode()
    worker = folder.joinpath("worker.js").read_text()
    data = f"globalThis.KYOKUMEN = {json.dumps({'worker': worker, 'module': module})};"
    sums = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in (data, script)
    )
    policy = (
        f"default-src 'none'; script-src {sums} 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'"
    )
    if "</script" in data or "</script" in script:
        sys.exit("error: a script contains its own end")
    page = re.sub(r'(Security-Policy" content=")[^"]*', lambda found: found[1] + policy, page)
    page = re.sub(r'<link rel="(manifest|icon)"[^>]*>\n', "", page)
    page = page.replace('<link rel="stylesheet" href="style.css">', f"<style>\n{style}</style>")
    scripts = f'<script>{data}</script>\n<script type="module">{script}</script>'
    return page.replace('<script type="module" src="page.js"></script>', scripts)


def main():
    module, folder = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(HERE / name, folder / name)
    shutil.copyfile(module, folder / MODULE)
    files = [*FILES, MODULE]
    version = hashlib.sha256(b"".join(folder.joinpath(name).read_bytes() for name in files)).hexdigest()[:16]
    offline = HERE.joinpath("offline.js").read_text()
    offline = offline.replace("@VERSION@", version).replace('"@FILES@"', json.dumps(["./", *files])[1:-1])
    folder.joinpath("offline.js").write_text(offline)
    folder.joinpath("mate.html").write_text(single(folder))
    bytes_of_module = folder.joinpath(MODULE).stat().st_size
    print(f"{folder}: version {version}, {MODULE} {bytes_of_module} bytes")


if __name__ == "__main__":
    main()
