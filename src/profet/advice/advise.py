"""From one profile to advice: which instance to rent for a whole training run, how long, how much, how sure."""

import datetime
from collections.abc import Sequence

from profet.advice.advice import Advice, Demands, Option
from profet.advice.chances import chance_cheaper, with_chance_of_cheapest, with_chances
from profet.advice.choice import Choice, by_cost, choose, may_be_recommended, with_front
from profet.advice.extrapolation import Extrapolation
from profet.advice.faster_gpu import will_a_faster_gpu_help
from profet.advice.latencies import known_latencies
from profet.advice.notes import notes
from profet.advice.options import Offers
from profet.advice.training_run import TrainingRun
from profet.errors import InputError
from profet.instances.catalogue import Catalogue
from profet.predictors.bundle import Bundle
from profet.predictors.data_sheets.prediction import sheet_spreads
from profet.predictors.prediction import predict
from profet.profiles.arrays import FloatArray
from profet.profiles.profile import Profile


def advise(
    profile: Profile,
    run: TrainingRun,
    demands: Demands | None = None,
    *,
    bundle: Bundle | None = None,
    catalogue: Catalogue | None = None,
    anchor: str | None = None,
    anchor_latency_ms: float | None = None,
    targets: Sequence[str] | None = None,
    today: datetime.date | None = None,
) -> Advice:
    """Turn a profile of one training step into time, cost and risk of a whole run on every instance.

    Args:
        profile: of the step on the anchor, at the batch size of the run.
        run: what is to be trained.
        demands: deadline, budget, region and the like; none unless given.
        bundle: trained predictors; the shipped ones unless given.
        catalogue: of instances; the shipped one with the user's own unless given.
        anchor: the instance that was profiled; the profile's own unless given.
        anchor_latency_ms: its step latency with the profiler off; the profile's own unless given.
        targets: the instances asked about; all unless given.
        today: the day by which prices are old; today unless given.

    Raises:
        InputError: see predict; the profile is of another batch size; a target or region is unknown; no instance is
            left.
        BundleError: the bundle cannot be used.
    """
    demands = demands or Demands()
    bundle, catalogue = bundle or Bundle.load(), catalogue or Catalogue.load()
    _check(profile, run, demands, catalogue)
    prediction = predict(
        profile,
        bundle,
        anchor=anchor,
        anchor_latency_ms=anchor_latency_ms,
        interval=demands.interval,
        catalogue=catalogue,
    )
    known = known_latencies(prediction, bundle, demands.interval)
    spread = sheet_spreads(bundle).get(("target", prediction.anchor_latency_ms is not None))
    extrapolation = Extrapolation(prediction, known, catalogue, demands.interval, spread)
    offers = Offers(run, demands, catalogue, known, extrapolation)
    options = _offered(offers, targets or ())
    draws = {key: each.draws_ms for key, each in offers.latencies.items() if each.draws_ms is not None}
    options = with_chances(options, run, demands, draws)
    trusted = [option for option in options if may_be_recommended(option, demands)]
    others = [option for option in options if not may_be_recommended(option, demands)]
    trusted = with_front(sorted(with_chance_of_cheapest(trusted, run, draws), key=by_cost))
    choice = choose(trusted, demands)
    return Advice(
        anchor=prediction.anchor,
        anchor_latency_ms=prediction.anchor_latency_ms,
        method=prediction.method,
        run=run,
        demands=demands,
        options=tuple(sorted([*trusted, *others], key=by_cost)),
        recommended=_name(choice.recommended),
        nearest=_name(choice.nearest),
        next=_name(choice.next),
        p_cheaper_than_next=_sureness(choice, run, draws),
        faster_gpu=will_a_faster_gpu_help(profile, prediction.anchor_latency_ms),
        draws=draws,
        warnings=(
            *prediction.warnings,
            *notes(trusted, others, choice, offers, today or datetime.datetime.now(datetime.UTC).date()),
        ),
    )


def _check(profile: Profile, run: TrainingRun, demands: Demands, catalogue: Catalogue) -> None:
    if profile.batch_size is not None and profile.batch_size != run.batch_size:
        raise InputError(
            f"the profile is of batch size {profile.batch_size}, the run of {run.batch_size}: a step takes another"
            f" time then; profile a step at {run.batch_size}, or train at {profile.batch_size}"
        )
    if demands.region is not None:
        catalogue.check_region(demands.region)


def _offered(offers: Offers, targets: Sequence[str]) -> list[Option]:
    """Return the options among targets, all where none is named; a target that is named twice counts once."""
    options = list(offers.options(list(dict.fromkeys(targets))))
    if not options:
        reasons = "; ".join(f"{reason}: {', '.join(names[:3])}" for reason, names in offers.left_out.items())
        raise InputError(f"no instance is left to advise on ({reasons}); ask for other targets or another region")
    return options


def _name(option: Option | None) -> str | None:
    return None if option is None else option.target


def _sureness(choice: Choice, run: TrainingRun, draws: dict[str, FloatArray]) -> float | None:
    if choice.recommended is None or choice.next is None:
        return None
    return chance_cheaper(choice.recommended, choice.next, run, draws)
