#!/usr/bin/env python3
"""Tests the completions in bash, zsh and fish, and the manual pages in groff.

The shells complete a few command lines as if a user pressed the tab key. The Debian packages of zsh, fish and groff are
installed if they are missing, which needs root.

Exit status 0: all correct, 1: something is wrong, 2: something is missing.

    cargo build --release && python3 tests/engines/shells.py
"""

import pathlib
import subprocess
import sys
import tempfile

from programs import Wrong, call, environment, install, try_out

# Program and typed word, and some of the completions that must be offered.
TYPED = [
    ("kyokumen", "con", {"convert"}),
    ("kyokumen", "s", {"solve", "stats", "status", "shuffle", "split", "sample", "selfplay"}),
    ("gen-filter", "--ma", {"--mated", "--max-abs-eval", "--max-ply"}),
]

BASH = """\
source {script}
COMP_WORDS=({program} {word}) COMP_CWORD=1 COMP_LINE="{program} {word}" COMP_POINT=${{#COMP_LINE}}
function=$(complete -p {program} | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
"$function" {program} {word} {program}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

# Completions of a function are visible only during a completion, so a pseudo-terminal sends the key.
ZSH = """\
zmodload zsh/zpty
zpty shell 'PS1= zsh -f -i'
zpty -w shell 'fpath=({folder} $fpath); autoload -Uz compinit; compinit -D -u; LISTMAX=0; zstyle ":completion:*" list-prompt ""; stty columns 200; print rea""dy'
zpty -r -m shell line '*ready*'
zpty -w -n shell '{program} {word}'$'\\t\\t'
sleep 1
zpty -w -n shell $'\\C-u'
zpty -w shell 'print do""ne'
zpty -r -m shell line '*done*'
print -r -- "$line"
"""


def completions(shell, program, script, env):
    script.write_text(call("kyokumen", "completions", shell, "--program", program, env=env))
    return script


def expect(shell, program, word, found, expected):
    missing = {offer for offer in expected if offer not in found}
    if missing:
        raise Wrong(f"{shell} does not offer {missing} for {program} {word}: {found}")
    print(f"{shell}: {program} {word}<TAB>: {', '.join(sorted(expected))}")


def check(folder):
    install(["zsh", "fish", "groff"], ["zsh", "fish", "groff"])
    env = environment(folder)
    with tempfile.TemporaryDirectory(prefix="kyokumen-shells-") as temporary:
        place = pathlib.Path(temporary)
        for program, word, expected in TYPED:
            script = completions("bash", program, place / f"{program}.bash", env)
            offered = call("bash", "-c", BASH.format(script=script, program=program, word=word), env=env)
            expect("bash", program, word, offered.split(), expected)
            script = completions("fish", program, place / f"{program}.fish", env)
            offered = call("fish", "-c", f"source {script}; complete --do-complete '{program} {word}'", env=env)
            expect("fish", program, word, [line.split("\t")[0] for line in offered.splitlines()], expected)
            completions("zsh", program, place / f"_{program}", env)
            offered = call("zsh", "-f", "-c", ZSH.format(folder=place, program=program, word=word), env=env)
            expect("zsh", program, word, offered, expected)
        check_pages(place / "man", env)


def check_pages(folder, env):
    call("kyokumen", "man", folder, env=env)
    pages = sorted(folder.iterdir())
    names = {page.name for page in pages}
    missing = {"kyokumen.1", "kyokumen-convert.1", "gen-filter.1", "kyokumen-usi.1"} - names
    if missing:
        raise Wrong(f"the pages {missing} are missing: {names}")
    for page in pages:
        done = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            raise Wrong(f"groff on {page.name}: {done.stderr}")
    print(f"groff: {len(pages)} manual pages")


if __name__ == "__main__":
    sys.exit(try_out(__doc__, check))
