"""The library of ONNX Runtime in the installed package `onnxruntime`."""

from __future__ import annotations

import glob
import importlib.util
import os

_VARIABLE = "ORT_DYLIB_PATH"


def find_onnx_runtime() -> None:
    """Names the library of the installed package `onnxruntime` in ORT_DYLIB_PATH, unless this is set.

    The package itself is not loaded. Without it, the Rust code searches the other places.
    """
    if os.environ.get(_VARIABLE):
        return
    spec = importlib.util.find_spec("onnxruntime")
    if spec is None or spec.origin is None:
        return
    folder = os.path.join(os.path.dirname(spec.origin), "capi")
    libraries = glob.glob(os.path.join(folder, "libonnxruntime.*")) + glob.glob(os.path.join(folder, "onnxruntime.dll"))
    if libraries:
        os.environ[_VARIABLE] = libraries[0]
