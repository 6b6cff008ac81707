"""Every instance that a run could take, with its time and cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from profet.advice.advice import Demands, Option
from profet.advice.data_parallel import beside_others
from profet.advice.extrapolation import Extrapolation
from profet.advice.latencies import Latency
from profet.advice.training_run import TrainingRun
from profet.errors import InputError
from profet.instances.catalogue import Catalogue
from profet.instances.instance import Instance, Price
from profet.names import suggest

SEVERAL_GPUS = "several GPUs"
"""Why an instance is left out where no assumption about scaling was given."""


@dataclass
class Offers:
    """Finds what each instance offers, and counts what had to be left out.

    Args:
        run: what is trained.
        demands: what was asked.
        catalogue: of instances and prices.
        known: latencies by instance.
        extrapolation: for the other instances.
        latencies: of the options made so far, by the key of their draws.
        left_out: how many instances were left out, by reason.
    """

    run: TrainingRun
    demands: Demands
    catalogue: Catalogue
    known: Mapping[str, Latency]
    extrapolation: Extrapolation
    latencies: dict[str, Latency] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def options(self, targets: Sequence[str]) -> Iterator[Option]:
        """Yield an option for each of the targets that has one; all instances where none is named.

        Raises:
            InputError: a target is neither in the catalogue nor known.
        """
        everywhere = [*self.known, *(name for name in self.catalogue.instances if name not in self.known)]
        for name in targets or everywhere:
            if name not in self.known and name not in self.catalogue.instances:
                raise InputError(
                    f"target {name!r} is unknown; {suggest(name, everywhere)}; add it: profet instances add"
                )
            option = self._option(name)
            if option is not None:
                yield option

    def _option(self, name: str) -> Option | None:
        instance = self.catalogue.instances.get(name)
        price = self._price(name)
        if price is None and self.demands.region is not None:
            self._leave_out(name, f"no {self.demands.kind_of_price} in {self.demands.region}")
            return None
        if name in self.known:
            return self._made(name, instance, 1, self.known[name], price)
        latency = None if instance is None else self._extrapolated(instance)
        if instance is None or latency is None:
            return None
        return self._made(name, instance, int(instance.gpu_count or 1), latency, price)

    def _extrapolated(self, instance: Instance) -> Latency | None:
        """Return the latency on all GPUs of an instance that nobody measured; None where it is left out."""
        gpus, scaling = instance.gpu_count or 0.0, self.demands.scaling
        latency = self.extrapolation.latency(instance)
        if instance.gpu is None:
            self._leave_out(instance.name, "no GPU")
        elif gpus < 1 or gpus != int(gpus):
            self._leave_out(instance.name, "a part of a GPU")
        elif gpus > 1 and scaling is None:
            self._leave_out(instance.name, SEVERAL_GPUS)
        elif latency is None:
            self._leave_out(instance.name, "a GPU of which too little is known")
        elif scaling is not None:
            return beside_others(latency, int(gpus), scaling, self.demands.interval)
        else:
            return latency
        return None

    def _leave_out(self, name: str, reason: str) -> None:
        self.left_out.setdefault(reason, []).append(name)

    def _price(self, name: str) -> Price | None:
        if name not in self.catalogue.instances:
            return None
        demands = self.demands
        price = self.catalogue.price(self.catalogue.find(name), demands.region, demands.spot, demands.currency)
        return None if price is None or price.per_hour(demands.spot) is None else price

    def _made(
        self, name: str, instance: Instance | None, gpus: int, latency: Latency, price: Price | None
    ) -> Option:
        self.latencies[latency.draws_key] = latency
        ends = (latency.ms, latency.low_ms, latency.high_ms)
        hours = [None if ms is None else self.run.hours(ms, gpus) for ms in ends]
        per_hour = None if price is None else price.per_hour(self.demands.spot)
        costs = [None if each is None or per_hour is None else each * per_hour for each in hours]
        return Option(
            target=name,
            provider=None if instance is None else instance.provider,
            gpu=None if instance is None else instance.gpu,
            gpus=gpus,
            basis=latency.basis,
            explanation=latency.explanation,
            latency_ms=latency.ms,
            latency_low_ms=latency.low_ms,
            latency_high_ms=latency.high_ms,
            draws=latency.draws_key,
            hours=self.run.hours(latency.ms, gpus),
            hours_low=hours[1],
            hours_high=hours[2],
            price_per_hour=per_hour,
            region=None if price is None else price.region,
            price_date=None if price is None else price.date,
            price_source=None if price is None else price.source,
            cost=costs[0],
            cost_low=costs[1],
            cost_high=costs[2],
            currency=self.demands.currency,
        )
