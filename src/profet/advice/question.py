"""What is asked about a training run, as people say it, and what that means for a profile."""

from dataclasses import dataclass

from profet.advice.advice import Advice, Demands
from profet.advice.advise import advise
from profet.advice.data_parallel import parse_scaling
from profet.advice.training_run import TrainingRun
from profet.errors import InputError
from profet.instances.catalogue import Catalogue
from profet.predictors.bundle import Bundle
from profet.profiles.profile import Profile
from profet.quantities import DEFAULT_CURRENCY, S_PER_HOUR, Money


@dataclass(frozen=True)
class Question:
    """What the options of ``profet advise`` say of the run and its demands; see there."""

    anchor: str | None
    anchor_latency: float | None
    targets: tuple[str, ...]
    samples: int
    epochs: int
    batch_size: int | None
    startup_s: float
    first_epoch_s: float
    validation_share: float
    deadline_s: float | None
    budget: Money | None
    currency: str | None
    region: str | None
    spot: bool
    confidence: float
    interval: float
    scaling: str | None
    extrapolate: bool

    def run(self, profile: Profile) -> TrainingRun:
        """Return the run, of the profile's batch size unless one was given.

        Raises:
            InputError: neither says it, or see TrainingRun.
        """
        batch_size = self.batch_size or profile.batch_size
        if batch_size is None:
            raise InputError("the profile does not say its batch size; give it as --batch-size N")
        return TrainingRun(
            self.samples, self.epochs, batch_size, self.startup_s, self.first_epoch_s, self.validation_share
        )

    def demands(self) -> Demands:
        """Return what the run must keep to; the budget's currency is that of all prices.

        Raises:
            InputError: two currencies, or a range of scaling that is none.
        """
        said = None if self.budget is None else self.budget.currency
        if said is not None and self.currency is not None and said != self.currency:
            raise InputError(
                f"--budget is in {said}, --currency is {self.currency}; nothing is converted: give one"
            )
        return Demands(
            deadline_hours=None if self.deadline_s is None else self.deadline_s / S_PER_HOUR,
            budget=None if self.budget is None else self.budget.amount,
            currency=said or self.currency or DEFAULT_CURRENCY,
            region=self.region,
            spot=self.spot,
            confidence=self.confidence,
            interval=self.interval,
            scaling=None if self.scaling is None else parse_scaling(self.scaling),
            may_extrapolate=self.extrapolate,
        )

    def advise_on(self, profile: Profile, bundle: Bundle, catalogue: Catalogue) -> Advice:
        """Answer it.

        Raises:
            InputError, BundleError: see advise.
        """
        return advise(
            profile,
            self.run(profile),
            self.demands(),
            bundle=bundle,
            catalogue=catalogue,
            anchor=self.anchor,
            anchor_latency_ms=self.anchor_latency,
            targets=self.targets,
        )
