#!/usr/bin/env python3
"""Reads files compressed by liblzma (Python's module `lzma`) with every preset, check and filter, and damaged files.

    python3 tests/interop/xz_files.py --kyokumen target/release/kyokumen
"""

import argparse
import lzma
import pathlib
import random
import subprocess
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"


def settings():
    """Names of compression settings, with the arguments of `lzma.compress`."""
    for preset in range(10):
        yield f"preset {preset}", {"preset": preset}
    yield "preset 9e", {"preset": 9 | lzma.PRESET_EXTREME}
    for check in (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256):
        yield f"check {check}", {"check": check}
    last = {"id": lzma.FILTER_LZMA2, "preset": 6}
    for name in ("X86", "ARM", "ARMTHUMB", "POWERPC", "SPARC", "IA64"):
        yield name, {"filters": [{"id": getattr(lzma, f"FILTER_{name}")}, last]}
    for distance in (1, 40, 256):
        yield f"delta {distance}", {"filters": [{"id": lzma.FILTER_DELTA, "dist": distance}, last]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kyokumen", required=True)
    program = parser.parse_args().kyokumen
    records = (DATA / "sample.psv").read_bytes()

    with tempfile.TemporaryDirectory() as folder:
        source, output = pathlib.Path(folder, "a.psv.xz"), pathlib.Path(folder, "b.psv")

        def copy(compressed):
            source.write_bytes(compressed)
            words = [program, "convert", source, "-o", output, "--force", "--progress", "none"]
            run = subprocess.run(words, capture_output=True, text=True)
            return run.returncode, run.stderr

        count = 0
        for name, arguments in settings():
            code, message = copy(lzma.compress(records, **arguments))
            assert code == 0, f"{name}: {message}"
            assert output.read_bytes() == records, name
            count += 1
        print(f"{count} compression settings")

        # Streams of random sizes in one file, with padding between them.
        choice = random.Random(1)
        cuts = sorted(choice.randrange(len(records)) for _ in range(50))
        pieces = [records[a:b] for a, b in zip([0, *cuts], [*cuts, len(records)])]
        streams = b"".join(lzma.compress(piece) + bytes(4 * choice.randrange(4)) for piece in pieces)
        code, message = copy(streams)
        assert code == 0, message
        assert output.read_bytes() == records
        print(f"{len(pieces)} streams one after another")

        # Files that liblzma refuses are refused, and nothing is written.
        output.unlink()
        for _ in range(100):
            damaged = bytearray(streams)
            if choice.random() < 0.3:
                del damaged[choice.randrange(len(damaged)) :]
            else:
                damaged[choice.randrange(len(damaged))] ^= 1 << choice.randrange(8)
            code, message = copy(damaged)
            try:
                read = lzma.decompress(bytes(damaged))
            except lzma.LZMAError:
                assert code == 1 and "cannot read" in message and "Traceback" not in message, (code, message)
                assert not output.exists()
            else:
                # The file is cut at the end of a stream.
                assert code in (0, 1, 2), message
                if output.exists():
                    assert output.read_bytes() == read
                    output.unlink()
        print("100 damaged files")


main()
