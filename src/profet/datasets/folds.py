"""How to divide runs so that what scores a predictor was never seen by it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.datasets.dataset import Dataset, Rows
from profet.errors import InputError
from profet.names import suggest


@dataclass(frozen=True)
class Fold:
    """One division of n runs.

    Args:
        left_out: the model or family (or names joined by +) that the fold scores.
        train: mask of the runs to learn from, shape (n,).
        test: mask of the runs to score, shape (n,).
    """

    left_out: str
    train: npt.NDArray[np.bool_]
    test: npt.NDArray[np.bool_]


def leave_out_folds(
    dataset: Dataset, rows: Rows, leave_out: str, models: Sequence[str] | None = None
) -> Iterator[Fold]:
    """Divide some runs by model or by model family, leaving out one at a time.

    Args:
        dataset: that the rows belong to.
        rows: indices of the runs to divide, shape (n,).
        leave_out: "model" or "family".
        models: leave out these models together, as the only fold, instead.

    Raises:
        InputError: nothing would be left to learn from, or a model is unknown.
    """
    groups = dataset.runs["model" if models else leave_out].to_numpy()[rows]
    known = sorted(set(groups))
    if models:
        for model in models:
            if model not in known:
                raise InputError(f"model {model!r} is not among these runs; {suggest(model, known)}")
    parts = [sorted(set(models))] if models else [[name] for name in known]
    for part in parts:
        test = np.isin(groups, part)
        if test.all():
            raise InputError(f"leaving out {' and '.join(part)} leaves nothing to learn from; add other models")
        yield Fold("+".join(part), ~test, test)
