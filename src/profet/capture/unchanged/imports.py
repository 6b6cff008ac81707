"""Waits in a captured script's process for PyTorch's optimizers to be loaded; then the capture begins.

Stands alone: it runs before anything of Profet can be imported, in whatever Python the script has.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_AWAITED = "torch.optim.optimizer"
_OLDEST = (3, 11)


class _After:
    """Loads a module as its own loader does, then calls something."""

    def __init__(self, loader: Any, call: Callable[[], None]) -> None:
        self._loader, self._call = loader, call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create it as its own loader does."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run it, then call."""
        self._loader.exec_module(module)
        self._call()


class _Watch:
    """Finds the awaited module where the other finders do, and is gone then."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the signature of finders
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Find the module, and have the capture begin once it is loaded."""
        if name != _AWAITED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _After(spec.loader, _begin)  # type: ignore[assignment]
        return spec


def watch() -> None:
    """Begin to wait."""
    sys.meta_path.insert(0, _Watch())


def _begin() -> None:
    capture = json.loads(os.environ["PROFET_CAPTURE"])
    try:
        if sys.version_info < _OLDEST:
            version = ".".join(str(part) for part in sys.version_info[:2])
            raise RuntimeError("the script runs on Python " + version + "; captures need 3.11 or newer")
        _find_profet(capture["package"])
        from profet.capture.unchanged.attached import attach

        attach(capture["folder"], capture["warm_up"], capture["timed"], capture["profiled"])
    except Exception as error:
        problem = str(error) or type(error).__name__
        (Path(capture["folder"]) / "problem.txt").write_text(problem, encoding="utf-8")


def _find_profet(package: str) -> None:
    """Make the package that started the script known, but nothing that is installed beside it."""
    if "profet" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "profet", str(Path(package) / "__init__.py"), submodule_search_locations=[package]
    )
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["profet"] = module
        spec.loader.exec_module(module)
