"""What a bundle tells of its own errors: models and families left out, calibrations, and how errors go together."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from profet.datasets.dataset import Dataset
from profet.evaluation.checkpoint import Answer as Columns
from profet.evaluation.held_out import LATENCY_KNOWN, calibrations_of
from profet.evaluation.joint_scores import SAME_RUN, join_scores, repeat_spread, signed_scores
from profet.evaluation.leave_out import Question, Validation, validate
from profet.evaluation.parallel import Track
from profet.predictors.intervals import Calibration
from profet.predictors.joint_errors import JointErrors
from profet.predictors.manifest import MeasuredError
from profet.predictors.measured import Measured


def left_out(
    dataset: Dataset,
    question: Question,
    pairs: list[tuple[str, str]],
    track: Track,
    checkpoint_folder: str | Path | None,
) -> list[Validation]:
    """Leave out models, then whole families, in the pairs that have several; one validation an anchor."""
    validations = []
    for leave_out in ("model", "family"):
        several = _pairs_of_several(dataset, pairs, leave_out)
        if leave_out == "model" and not several:
            several = {anchor: (target,) for anchor, target in pairs[:1]}  # validate says what is missing
        for anchor, targets in several.items():
            asked = replace(question, leave_out=leave_out, anchors=(anchor,), targets=targets)
            validations.append(validate(dataset, asked, track, checkpoint_folder))
    return validations


def measured_errors(validations: list[Validation]) -> dict[tuple[str, str], Measured]:
    """Collect the errors of every pair, and calibrate it on the models left out."""
    found = {}
    for validation in validations:
        if validation.question.leave_out == "model":
            for names, rows in validation.rows.groupby(["anchor", "target"]):
                pair = (str(names[0]), str(names[1]))
                found[pair] = Measured(tuple(_errors(validations, pair)), _calibrations(rows))
    return found


def joint_errors(
    dataset: Dataset, validations: list[Validation], measured: dict[tuple[str, str], Measured]
) -> dict[tuple[str, bool], JointErrors]:
    """Put the errors on models left out beside each other, by anchor and whether its latency is known."""
    found = {}
    for validation in validations:
        if validation.question.leave_out != "model":
            continue
        (anchor,) = validation.question.anchors
        for latency, known in LATENCY_KNOWN.items():
            scores = {anchor: repeat_spread(dataset, anchor)}
            for target, rows in validation.rows.groupby("target"):
                calibration = measured[anchor, str(target)].calibrations.get(known)
                if calibration is not None:
                    values = signed_scores(_columns(rows), rows["true_ms"].to_numpy(float), latency, calibration)
                    scores[str(target)] = pd.Series(values, pd.MultiIndex.from_frame(rows[SAME_RUN]))
            joined = join_scores(scores)
            if joined is not None:
                found[anchor, known] = joined
    return found


def _columns(rows: pd.DataFrame) -> Columns:
    """Return the columns of held-out predictions among a validation's."""
    names = [str(name) for name in rows if str(name).startswith(tuple(LATENCY_KNOWN))]
    return {name: rows[name].to_numpy(float) for name in names}


def _calibrations(rows: pd.DataFrame) -> dict[bool, Calibration]:
    calibrations = calibrations_of(_columns(rows), rows["true_ms"].to_numpy(float))
    return {LATENCY_KNOWN[latency]: calibration for latency, calibration in calibrations.items()}


def _pairs_of_several(dataset: Dataset, pairs: list[tuple[str, str]], what: str) -> dict[str, tuple[str, ...]]:
    """Return the targets by anchor whose runs are of more than one model or family, so that one can be left out."""
    found: dict[str, tuple[str, ...]] = {}
    for anchor, target in pairs:
        if len(set(dataset.runs[what].iloc[dataset.pair(anchor, target)[0]])) > 1:
            found[anchor] = (*found.get(anchor, ()), target)
    return found


def _errors(validations: list[Validation], pair: tuple[str, str]) -> Iterator[MeasuredError]:
    for validation in validations:
        for latency, known in LATENCY_KNOWN.items():
            metrics = validation.pairs_by(f"{latency}_ms").get(pair)
            if metrics is not None:
                yield MeasuredError(validation.question.leave_out, known, metrics.mape, metrics.r2, metrics.rmse_ms)
