#!/usr/bin/env python3
"""Draws a run of a command as a terminal shows it, line by line: the picture of the README.

    cargo build --release && python3 benches/record_run.py target/release docs/run.svg

What the programs print is real; between the lines some time passes so that it can be read.
"""

import html
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMANDS = [
    "gen-filter data/sample.hcp -o out",
    "head -c 230 out/sample.mated.jsonl",
    "kyokumen inspect data/sample.hcp --range 7",
]
WIDTH, LINE, LEFT = 860, 19, 18


def lines(programs):
    env = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": "/"}
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "data").symlink_to(ROOT / "data")
        for command in COMMANDS:
            yield "$ " + command, 1.2
            done = subprocess.run(
                shlex.split(command), cwd=folder, env=env, capture_output=True, text=True, check=True
            )
            for line in (done.stdout + done.stderr).splitlines():
                yield line if len(line) < 100 else line[:98] + " …", 0.15
            yield "", 0.5


def picture(shown):
    height = LINE * len(shown) + 40
    text, at = [], 0.0
    for number, (line, pause) in enumerate(shown):
        at += pause
        style = f"animation-delay:{at:.2f}s"
        kind = "command" if line.startswith("$ ") else "said"
        y = 32 + number * LINE
        text.append(f'<text x="{LEFT}" y="{y}" class="{kind}" style="{style}">{html.escape(line)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
        "<title>A run of gen-filter in a terminal</title>\n"
        "<style>rect{fill:#16181d}text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre;"
        "animation:come .1s both}.command{fill:#8fd18f}.said{fill:#d8dde6}@keyframes come{from{opacity:0}to{opacity:1}}"
        "@media(prefers-reduced-motion:reduce){text{animation:none}}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" rx="8"/>\n' + "\n".join(text) + "\n</svg>\n"
    )


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    programs, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    output.write_text(picture(list(lines(programs))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
