"""Runs when a captured script's Python starts, and waits for PyTorch's optimizers; then the capture begins.

This folder is put before all others in PYTHONPATH; it takes itself away again, so that the script finds everything
as if it were not there, its own sitecustomize included.
"""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _wait_for_torch() -> None:
    spec = importlib.util.spec_from_file_location("_profet_imports", str(_HERE.parent / "imports.py"))
    if spec is not None and spec.loader is not None:
        imports = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(imports)
        imports.watch()


def _run_the_next() -> None:
    """Run the sitecustomize that this one stands before, if there is one."""
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if "PROFET_CAPTURE" in os.environ:
    _wait_for_torch()
_run_the_next()
