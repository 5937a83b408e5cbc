"""The command line: `python -m kyokumen` and the program `kyokumen`."""

from __future__ import annotations

import signal
import sys

from kyokumen import _native
from kyokumen._onnx import find_onnx_runtime


def main() -> int:
    """Runs the command line with the arguments of the process. Returns the exit status."""
    # Python's handler would only note the signal while the command runs. The commands have handlers of their own.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    find_onnx_runtime()
    return _native.run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
