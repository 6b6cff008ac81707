"""From the hardware metrics of one run to how long its epochs take elsewhere, with what should make one careful."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from profet.errors import BundleError, InputError
from profet.predictors.bundle import Bundle
from profet.predictors.epochs.hardware_metrics import METHOD, PART, HardwareMetrics, LearntRatio
from profet.predictors.epochs.metrics_runs import FEATURES, Limits, MetricsRun, features
from profet.predictors.intervals import DEFAULT_LEVEL, WIDENED
from profet.profiles.arrays import FloatArray
from profet.quantities import MS_PER_S

_BUSY = "utilization_gpu_mean"


@dataclass(frozen=True)
class EpochOnTarget:
    """How long an epoch takes on one target; times are None where the anchor's is unknown.

    Args:
        target: the instance.
        ratio: of the epoch's time there over that on the anchor.
        ratio_low: lower end of its interval; None where none was calibrated.
        ratio_high: upper end.
        epoch_s: how long an epoch takes there.
        low_s: lower end of its interval.
        high_s: upper end.
        interval: chance that the interval holds, as calibrated.
        sample_ms: time per sample there; None where it is unknown how many an epoch has.
        mape: error of this pair on models left out, in percent.
        runs: how many it was learnt from.
    """

    target: str
    ratio: float
    ratio_low: float | None
    ratio_high: float | None
    epoch_s: float | None
    low_s: float | None
    high_s: float | None
    interval: float | None
    sample_ms: float | None
    mape: float | None
    runs: int


@dataclass(frozen=True)
class EpochPrediction:
    """How long an epoch takes on each target, given the metrics of a run on the anchor."""

    anchor: str
    anchor_epoch_s: float | None
    predictions: tuple[EpochOnTarget, ...]
    warnings: tuple[str, ...]
    method: str = METHOD


def load_hardware_metrics(bundle: Bundle) -> HardwareMetrics:
    """Return what a bundle learnt from hardware metrics.

    Raises:
        InputError: it has learnt nothing from them.
        BundleError: what it has does not load.
    """
    state = bundle.part(PART)
    if state is None:
        raise InputError(
            f"{bundle.where}: has learnt nothing from hardware metrics; train one with:"
            f" profet train METRICS.dataset --method {METHOD} -o BUNDLE"
        )
    try:
        return HardwareMetrics.from_state(state)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BundleError(f"{bundle.where}: its {PART} do not load ({error!r}); train it again") from None


def predict_epochs(
    run: MetricsRun,
    learnt: HardwareMetrics,
    anchor: str,
    targets: Sequence[str] = (),
    interval: float = DEFAULT_LEVEL,
) -> EpochPrediction:
    """Predict how long an epoch takes on targets from a run's hardware metrics on an anchor.

    Args:
        run: its metrics, with what is known of its size and its time.
        learnt: ratios of epoch times.
        anchor: the instance it ran on.
        targets: the instances asked about; all that were learnt for this anchor unless given.
        interval: chance that low to high is to hold, between 0 and 1.

    Raises:
        InputError: unknown anchor or target, or metrics without the GPU's utilisation.
    """
    if not 0 < interval < 1:
        raise InputError(f"interval of {interval:g}: a chance lies between 0 and 1, such as 0.9")
    wanted = list(dict.fromkeys(targets)) or learnt.targets(anchor)
    X = features(run, learnt.limits.get(anchor, Limits()))[None, :]
    if np.isnan(X[0, FEATURES.index("GPU utilisation")]):
        raise InputError(f"the metrics lack {_BUSY} (0 to 100); sample utilization.gpu during the run")
    timed = not np.isnan(X[0, 0])
    pairs = {target: learnt.learnt(anchor, target, timed) for target in wanted}
    warnings = [*_missing(X[0, 1:]), *_untimed(run), *_unlike(X if timed else X[:, 1:], pairs)]
    widened = WIDENED if np.isnan(X[0, 1:]).any() else 1.0
    answers = [
        _on_target(run, target, pair, X if timed else X[:, 1:], interval, widened) for target, pair in pairs.items()
    ]
    if any(pair.calibration is not None and interval > pair.calibration.highest_level for pair in pairs.values()):
        warnings.append(f"no interval at {interval:g}: too few runs support it; ask for less with --interval")
    return EpochPrediction(anchor, run.epoch_s, tuple(answers), tuple(warnings))


def _on_target(
    run: MetricsRun, target: str, pair: LearntRatio, X: FloatArray, interval: float, widened: float
) -> EpochOnTarget:
    ratio = float(np.exp(pair.ratio.predict(X)[0][0]))
    half_width = np.nan
    if pair.calibration is not None:
        half_width = float(pair.calibration.half_width(np.ones((1, 1)), interval)[0]) * widened
    ends = (None, None) if np.isnan(half_width) else (ratio * exp(-half_width), ratio * exp(half_width))
    low, high = ends
    epoch_s = None if run.epoch_s is None else run.epoch_s * ratio
    sample_ms = None
    if epoch_s is not None and run.epoch_samples is not None:
        sample_ms = epoch_s * MS_PER_S / run.epoch_samples
    return EpochOnTarget(
        target,
        ratio,
        low,
        high,
        epoch_s,
        None if run.epoch_s is None or low is None else run.epoch_s * low,
        None if run.epoch_s is None or high is None else run.epoch_s * high,
        None if low is None else interval,
        sample_ms,
        pair.mape,
        pair.runs,
    )


def _missing(known: FloatArray) -> list[str]:
    names = [name for name, value in zip(FEATURES[1:], known, strict=True) if np.isnan(value)]
    if not names:
        return []
    return [
        f"unknown: {', '.join(names)}; taken to be as in the mean of what was learnt from, intervals are widened"
    ]


def _untimed(run: MetricsRun) -> list[str]:
    if run.epoch_s is None:
        return [
            "how long an epoch took on the anchor is unknown, so only ratios are told; say it with --anchor-epoch"
        ]
    if run.epoch_steps is None:
        return ["how many steps an epoch has is unknown: say --epoch-samples and --profiled-batch-size"]
    return []


def _unlike(X: FloatArray, pairs: dict[str, LearntRatio]) -> list[str]:
    """Say for which targets the run is further from those learnt from than nearly all that were held out."""
    far = [
        target for target, pair in pairs.items() if pair.far is not None and pair.ratio.predict(X)[1][0] > pair.far
    ]
    if not far:
        return []
    return [
        f"this run is unlike what was learnt from for {', '.join(far)}, more than 95 % of the runs that errors were"
        " measured on; the interval may be too narrow: measure an epoch there"
    ]
