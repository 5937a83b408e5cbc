#!/usr/bin/env python3
"""Solves long mate problems one by one and checks each proof.

    cargo build --profile dist
    python3 benches/long_mates.py --kyokumen target/dist/kyokumen --seconds 60 --hash-mb 2048 [NAME …]

The problems are in `long_mates.tsv`. NAME selects those whose name contains it. Each search runs on one thread, on one
core, without a node limit, and is repeatable unless the time limit stops it. `kyokumen verify --proof` checks each
proof. Prints a Markdown table with the beginning of the SHA-256 of each proof file.

With `--usi` other mate solvers take turns with Kyokumen, with the same limits. Their columns have the CPU time from
`go mate` to `checkmate`, and in brackets the plies of their mate.

Exit status: 0 if done, 1 if a result of Kyokumen contradicts the file or a proof is wrong.
"""

import argparse
import hashlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

from measuring import figure, pin_to_one_core, table
from position_sets import columns

PROBLEMS = pathlib.Path(__file__).with_name("long_mates.tsv")
COLUMNS = ["problem", "stated", "plies", "counted", "nodes", "search", "CPU time of all", "memory", "SHA-256 of the proof"]
ENDED = "ended early"


class UsiSolver:
    """A mate solver with the USI protocol. Each problem starts a new process."""

    def __init__(self, text):
        """`text` is NAME=PROGRAM, followed by options NAME=VALUE, all separated by commas."""
        (self.name, self.program), *self.options = (part.split("=", 1) for part in text.split(","))

    def solve(self, sfen, seconds, hash_mb):
        """The CPU time and the plies of the mate, or why there is none, as text."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        try:
            with subprocess.Popen([self.program], text=True, errors="replace", **pipes) as engine:
                try:
                    return self.answer(engine, sfen, seconds, hash_mb)
                finally:
                    engine.kill()
        except OSError as error:
            return f"failed: {error.strerror}"

    def answer(self, engine, sfen, seconds, hash_mb):
        lines = queue.SimpleQueue()
        threading.Thread(target=pass_on, args=(engine, lines), daemon=True).start()
        options = [["USI_Hash", hash_mb], ["Threads", 1], *self.options]
        send(engine, "usi")
        if not awaited(lines, "usiok", 60):
            return ENDED
        send(engine, *(f"setoption name {name} value {value}" for name, value in options), "isready")
        if not awaited(lines, "readyok", 60):
            return ENDED
        send(engine, "usinewgame", f"position sfen {sfen}")
        # Some solvers clear the table after `readyok`.
        time.sleep(1 + hash_mb / 1000)
        before = cpu_seconds(engine.pid)
        send(engine, "go mate infinite")
        answered = awaited(lines, "checkmate", seconds)
        if not answered:
            return ENDED if engine.poll() is not None else "–"
        answer, at_answer = answered
        if answer in ("", "timeout", "none"):
            return "–"
        found = "no mate" if answer == "nomate" else len(answer.split())
        return f"{figure(at_answer - before)} s ({found})"


def send(engine, *lines):
    engine.stdin.write("".join(f"{line}\n" for line in lines))
    engine.stdin.flush()


def pass_on(engine, lines):
    """Passes the lines of the engine on, each with the CPU time at its arrival, and None at the end."""
    for line in engine.stdout:
        lines.put((line.strip(), cpu_seconds(engine.pid)))
    lines.put(None)


def awaited(lines, word, seconds):
    """What follows the word in the first line that begins with it, and the CPU time then. None if it does not come in
    time or the engine ends."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            line = lines.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            return None
        if line is None:
            return None
        text, cpu_time = line
        first, _, rest = text.partition(" ")
        if first == word:
            return rest, cpu_time


def cpu_seconds(pid):
    """The CPU time of a process, by Linux."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(command):
    """The output of a command, its CPU time in seconds, and its largest memory in MiB."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10


def contradicts(stated, verdict):
    return verdict != "unknown" and (verdict == "win") != (stated != "no mate")


def solved(arguments, sfen, stated, proof):
    """The columns of Kyokumen, and the number of wrong results."""
    limits = ["--threads", "1", "--time", str(arguments.seconds), "--hash-mb", str(arguments.hash_mb)]
    command = [arguments.kyokumen, "solve", sfen, *limits, "--json", "--proof", proof, "--force"]
    output, cpu_time, memory_mib = run(command)
    solution = json.loads(output)
    verdict = solution["verdict"]
    wrong, digest = contradicts(stated, verdict), "–"
    if verdict == "win":
        checked = subprocess.run([arguments.kyokumen, "verify", "--proof", proof], capture_output=True, check=False)
        wrong += checked.returncode != 0
        digest = hashlib.sha256(proof.read_bytes()).hexdigest()[:16]
    plies = solution["plies"] if verdict == "win" else verdict.replace("_", " ")
    counted = solution["tsume_plies"] or (solution["tsume_plies_null"] or "–").replace("_", " ")
    search = figure(solution["elapsed_ms"] / 1000)
    figures = [f"{solution['nodes']:,}", f"{search} s", f"{figure(cpu_time)} s", f"{memory_mib} MiB", digest]
    return [plies, counted, *figures], wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kyokumen", default="target/dist/kyokumen", help="the program")
    parser.add_argument("--seconds", type=float, default=60, help="time limit for a problem")
    parser.add_argument("--hash-mb", type=int, default=2048, help="memory of the table in MiB")
    parser.add_argument(
        "--usi",
        type=UsiSolver,
        action="append",
        default=[],
        metavar="NAME=PROGRAM[,OPTION=VALUE…]",
        help="another mate solver (no script that starts it), with options to set; can be repeated",
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    pin_to_one_core()
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        proof = pathlib.Path(folder) / "mate.proofs"
        for sfen, stated, name in columns(PROBLEMS):
            if arguments.names and not any(part in name for part in arguments.names):
                continue
            print(name, file=sys.stderr)
            row, wrong_here = solved(arguments, sfen, stated, proof)
            wrong += wrong_here
            peers = [peer.solve(sfen, arguments.seconds, arguments.hash_mb) for peer in arguments.usi]
            rows.append([name, stated, *row, *peers])
            print(*rows[-1], sep="\t", file=sys.stderr)
    print(table([*COLUMNS, *(peer.name for peer in arguments.usi)], rows))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
