"""Keeps finished folds in a folder, so that a long validation can be stopped and continued."""

import hashlib
import io
import json
import zipfile
from importlib import resources
from pathlib import Path

import numpy as np

from profet.errors import InputError, OutputError
from profet.files import reason, whole_file
from profet.profiles.arrays import FloatArray

Answer = dict[str, FloatArray]


class Checkpoint:
    """Answers of finished folds, each under a key of everything that it depends on.

    Args:
        folder: where they are kept; made if it is not there.
        facts: what all folds share, such as the data set's fingerprint and the method.

    Raises:
        OutputError: the folder cannot be made.
    """

    def __init__(self, folder: str | Path, facts: dict[str, object]):
        self._folder = Path(folder)
        self._facts = json.dumps({**facts, "code": _code_fingerprint()}, sort_keys=True)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made ({reason(error)}); name another folder") from None

    def load(self, fold: str, rows: int) -> Answer | None:
        """Return the answer of a fold of so many rows, or None where it is not there yet.

        Raises:
            InputError: the file is damaged.
        """
        path = self._path(fold)
        if not path.exists():
            return None
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                answer = {name: arrays[name] for name in arrays.files}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise InputError(f"{path}: damaged; remove it and run again") from None
        if not _is_answer(answer, rows):
            raise InputError(f"{path}: not the answer of this fold; remove it and run again")
        return answer

    def store(self, fold: str, answer: Answer) -> None:
        """Keep the answer of a fold, whole or not at all.

        Raises:
            OutputError: the disk refused.
        """
        with whole_file(self._path(fold), force=True) as stream:
            np.savez(stream, **answer)  # type: ignore[arg-type]

    def _path(self, fold: str) -> Path:
        return self._folder / f"{hashlib.sha256(f'{self._facts} {fold}'.encode()).hexdigest()[:32]}.npz"


def _is_answer(answer: Answer, rows: int) -> bool:
    fits = all(column.dtype.kind == "f" and column.shape == (rows,) for column in answer.values())
    latencies = [answer.get(name) for name in ("with_latency_ms", "without_latency_ms")]
    return fits and all(column is not None and np.isfinite(column).all() for column in latencies)


def _code_fingerprint() -> str:
    """SHA-256 of the predictors' source: what another version answered must not be taken for this one's."""
    digest = hashlib.sha256()
    package = Path(str(resources.files("profet")))
    for name in ("evaluation", "predictors", "datasets", "profiles", "names.py", "data/op_families.toml"):
        for path in sorted((package / name).rglob("*.py")) or [package / name]:
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
