"""Predictions where no predictor was learnt: of a target, or from an anchor, that the catalogue alone knows."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from profet.errors import BundleError, InputError
from profet.instances.catalogue import Catalogue
from profet.instances.instance import Instance
from profet.names import suggest
from profet.predictors.answer import Answer, Caution
from profet.predictors.bundle import Bundle
from profet.predictors.card import AccuracyCard, TargetPrediction, family_times
from profet.predictors.data_sheets.asking import Asking
from profet.predictors.data_sheets.rates import Rates, rates
from profet.predictors.data_sheets.routes import (
    KnownMachines,
    as_it_is,
    target_from_sheet,
    target_from_strange_anchor,
)
from profet.predictors.data_sheets.spread import PART, SheetSpread, spreads_from_state
from profet.predictors.intervals import WIDENED, interval_ms
from profet.predictors.manifest import EXTRAPOLATED, LEARNT
from profet.predictors.pair_prediction import PairQuestion, Told
from profet.profiles.profile import LARGEST_TIME

AskLearnt = Callable[[str, str], Told]
"""Predicts from an anchor for a target that the bundle has."""

_AND = " and "


def predict_from_sheets(bundle: Bundle, catalogue: Catalogue, asked: PairQuestion, ask_learnt: AskLearnt) -> Told:
    """Predict one target as the same GPU in another machine, else from data sheets.

    Raises:
        InputError: an instance that is unknown, has no whole GPU, or one whose rates nobody states; or a profile
            from which no usable latency comes out.
        BundleError: the bundle's measured errors do not load.
    """
    anchor = _instance(catalogue, asked.anchor, bundle.anchors, "anchor")
    here = _with_same_gpu(catalogue, anchor, asked.anchor, bundle.anchors)
    targets = sorted({pair.target for pair in bundle.pairs}) if here is None else bundle.targets(here)
    target = _instance(catalogue, asked.target, targets, "target")
    there = _with_same_gpu(catalogue, target, asked.target, targets)
    if here is not None and there is not None:
        return _elsewhere(asked, here, there, ask_learnt(here, there))
    known = known_machines(bundle, catalogue)
    if here is None and there is not None:
        known = known.with_target(there, [anchor for anchor in bundle.anchors if bundle.has(anchor, there)])
    ask = Asking(bundle, asked)
    try:
        with np.errstate(all="ignore"):
            if here is not None and anchor is not None and target is not None and anchor.gpu == target.gpu:
                answer = as_it_is(asked.profiles, here, known, ask)
            elif here is not None:
                answer = target_from_sheet(asked.profiles, here, _rates(catalogue, target), known, ask)
            else:
                sheet = None if there is not None else _rates(catalogue, target)
                answer = target_from_strange_anchor(
                    asked.profiles, _rates(catalogue, anchor), there or asked.target, sheet, known, ask
                )
    except ValueError as error:
        raise InputError(
            f"{asked.anchor} → {asked.target} is not in the bundle, and cannot be had from data sheets: {error}"
        ) from None
    strange = {} if here else {"anchor": _one_of(anchor, asked.anchor)}
    strange |= {} if there else {"target": _one_of(target, asked.target)}
    return _told(asked, answer, strange, sheet_spreads(bundle), ask.beside)


def known_machines(bundle: Bundle, catalogue: Catalogue) -> KnownMachines:
    """Return what a bundle has learnt, and the rates of its machines that the catalogue states."""
    learnt: dict[str, list[str]] = {}
    for pair in bundle.pairs:
        if pair.basis == LEARNT:
            learnt.setdefault(pair.anchor, []).append(pair.target)
    held = {name for pair in bundle.pairs for name in (pair.anchor, pair.target)}
    names = sorted(held & set(catalogue.instances))
    found = {name: rates(catalogue.gpu(catalogue.instances[name])) for name in names}
    return KnownMachines(learnt, {name: each for name, each in found.items() if each is not None})


def sheet_spreads(bundle: Bundle) -> dict[tuple[str, bool], SheetSpread]:
    """Return how far off data sheets were measured to be; empty where that was not measured.

    Raises:
        BundleError: what the bundle keeps of it does not load.
    """
    state = bundle.part(PART)
    try:
        return {} if state is None else spreads_from_state(state)
    except (KeyError, TypeError, ValueError) as error:
        raise BundleError(f"{bundle.where}: its {PART} part does not load ({error!r}); train it again") from None


def _instance(catalogue: Catalogue, name: str, known: Sequence[str], role: str) -> Instance | None:
    """Return what the catalogue knows of an instance; None where the bundle alone knows it.

    Raises:
        InputError: neither knows it, or it has no GPU, or a share of one.
    """
    instance = catalogue.instances.get(name)
    if instance is None:
        if name not in known:
            raise InputError(f"{role} {name!r} is not in the bundle; {suggest(name, known)}")
        return None
    if name not in known and (instance.gpu is None or (instance.gpu_count or 1.0) < 1):
        has = "no GPU" if instance.gpu is None else "a share of a GPU"
        raise InputError(f"{role} {name!r} is not in the bundle and has {has}; name an instance with a whole GPU")
    return instance


def _with_same_gpu(catalogue: Catalogue, instance: Instance | None, name: str, known: Sequence[str]) -> str | None:
    """Return an instance's own name where it is known, else that of a known one with the same GPU; None without."""
    if name in known or instance is None:
        return name if name in known else None
    gpus = {each: catalogue.instances[each].gpu for each in known if each in catalogue.instances}
    return next((each for each, gpu in gpus.items() if gpu == instance.gpu), None)


def _one_of(instance: Instance | None, name: str) -> str:
    count = 1.0 if instance is None else instance.gpu_count or 1.0
    return name if count <= 1 else f"{name} (one of its {count:g} GPUs)"


def _rates(catalogue: Catalogue, instance: Instance | None) -> Rates:
    gpu = None if instance is None else catalogue.gpu(instance)
    found = rates(gpu)
    if instance is None or found is None:
        name = "its GPU" if instance is None else f"the {instance.gpu} of {instance.name}"
        raise ValueError(
            f"nobody states the float32 rate and the memory bandwidth of {name}; tell them with: profet instances"
            f" add {'NAME' if instance is None else instance.name} --force --fp32-tflops N --bandwidth-gb-s N"
        )
    return found


def _elsewhere(asked: PairQuestion, anchor: str, target: str, told: Told) -> Told:
    """Say of a machine what was predicted for another with the same GPU, twice as uncertain in logs."""
    found, cautions = told
    others = [known for known, own in ((anchor, asked.anchor), (target, asked.target)) if known != own]
    explanation = f"as {_AND.join(others)}, with the same GPU; this host was not measured"
    low_ms, high_ms = (
        None if end is None else found.latency_ms * (end / found.latency_ms) ** WIDENED
        for end in (found.low_ms, found.high_ms)
    )
    card = replace(found.card, expected_log_error=None, widened=low_ms is not None)
    prediction = TargetPrediction(
        asked.target, found.latency_ms, low_ms, high_ms, found.interval, card, EXTRAPOLATED, explanation
    )
    return prediction, [*cautions, Caution(f"{asked.anchor} → {asked.target}: {explanation}")]


def _told(
    asked: PairQuestion,
    answer: Answer,
    strange: dict[str, str],
    spreads: dict[tuple[str, bool], SheetSpread],
    beside: float,
) -> Told:
    """Put an answer and how far off such answers are together.

    Args:
        asked: what was asked.
        answer: to it.
        strange: what nobody measured, by its role.
        spreads: how far off data sheets are.
        beside: half an interval that comes to theirs, in natural logs, its error independent of theirs.
    """
    latency_ms = float(answer.latency_ms[0])
    if not 0 < latency_ms < LARGEST_TIME:
        raise InputError(f"no usable latency for {asked.target} ({latency_ms:g} ms): check the profile's times")
    latency_known = not np.isnan(asked.profiles.step_latency_ms[0])
    spread = {role: spreads[role, latency_known] for role in strange if (role, latency_known) in spreads}
    widened = asked.doubtful or any(caution.unmeasured for caution in answer.cautions)
    half = _half_width(spread, asked.interval) if len(spread) == len(strange) else float("nan")
    half = float(np.hypot(half, beside)) * (WIDENED if widened else 1.0)
    has_interval = not np.isnan(half)
    low_ms, high_ms = (float(end[0]) for end in interval_ms(answer.latency_ms, np.array([half])))
    explanation = f"from the data sheet of {_AND.join(strange.values())}; {_how_far_off(strange, spread)}"
    card = AccuracyCard(
        next(iter(spread.values())).error if len(spread) == len(strange) == 1 else None,
        None,
        {name: float(values[0]) for name, values in answer.members.items()},
        family_times(answer),
        (),
        None,
        widened and has_interval,
    )
    prediction = TargetPrediction(
        asked.target,
        latency_ms,
        low_ms if has_interval else None,
        high_ms if has_interval else None,
        asked.interval if has_interval else None,
        card,
        EXTRAPOLATED,
        explanation,
    )
    caution = f"{asked.anchor} → {asked.target} was never measured: extrapolated {explanation}; measure a short run"
    return prediction, [*answer.cautions, Caution(caution)]


def _half_width(spread: dict[str, SheetSpread], level: float) -> float:
    """Return half the interval's width in natural logs; the errors of both ends are taken as independent."""
    return float(np.hypot.reduce([each.half_width(level) for each in spread.values()]))


def _how_far_off(strange: dict[str, str], spread: dict[str, SheetSpread]) -> str:
    if len(spread) < len(strange):
        return "how far off that is was not measured when the bundle was trained"
    told = (
        f"{each.error.mape:.0f} % as {role} on {len(each.instances)} GPUs left out in turn"
        for role, each in spread.items()
    )
    return f"off by {_AND.join(told)}"
