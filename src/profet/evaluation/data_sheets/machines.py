"""The instances of a data set as their data sheets tell of them: which GPUs can be left out, and what remains."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.instances.catalogue import Catalogue
from profet.predictors.data_sheets.rates import rates
from profet.predictors.data_sheets.routes import KnownMachines

Pair = tuple[str, str]


@dataclass(frozen=True)
class Machines:
    """The instances of a data set, as their data sheets tell of them.

    Args:
        known: what can be learnt, with rates.
        gpus: name of the GPU, by instance.
        models: of the runs that both instances of a pair share, by pair; pairs that share none are not among them.
    """

    known: KnownMachines
    gpus: Mapping[str, str]
    models: Mapping[Pair, frozenset[str]]

    @classmethod
    def of(cls, dataset: Dataset, catalogue: Catalogue) -> "Machines":
        """Look up the instances of a data set; those without the rates of a data sheet take no part.

        Raises:
            InputError: fewer than three GPUs remain, so that none can be left out.
        """
        instances = {name: catalogue.instances[name] for name in dataset.instances if name in catalogue.instances}
        found = {name: rates(catalogue.gpu(instance)) for name, instance in instances.items()}
        stated = {name: each for name, each in found.items() if each is not None}
        gpus = {name: str(instances[name].gpu) for name in stated}
        if len(set(gpus.values())) < 3:
            raise InputError(
                "--leave-out instance needs three GPUs whose data sheets are known; of"
                f" {', '.join(dataset.instances)} it is known of {', '.join(gpus) or 'none'}; tell more with:"
                " profet instances add NAME --gpu GPU --fp32-tflops N --bandwidth-gb-s N"
            )
        pairs = [(a, t) for a in dataset.anchors for t in stated if a in stated and a != t]
        models = {pair: shared for pair in pairs if (shared := _shared_models(dataset, pair))}
        return cls(KnownMachines(_by_anchor(models), stated), gpus, models)

    def taught_without(self, models: Collection[str]) -> "Machines":
        """Return what can still be learnt where some models are left out."""
        left = {pair: of_pair for pair, of_pair in self.models.items() if of_pair - set(models)}
        return Machines(KnownMachines(_by_anchor(left), self.known.rates), self.gpus, left)

    def like(self, instance: str) -> set[str]:
        """Return the instances with the same GPU, this one among them."""
        return {name for name, gpu in self.gpus.items() if gpu == self.gpus[instance]}

    def pairs(self) -> list[Pair]:
        """Return every anchor and target with different GPUs, where another GPU was learnt on the anchor."""
        return [pair for pair in self.models if self.lead_to(pair)]

    def lead_to(self, pair: Pair) -> bool:
        """Whether a target can be had from an anchor over another GPU that was learnt there."""
        anchor, target = pair
        alike = self.like(target)
        return anchor not in alike and bool(set(self.known.targets.get(anchor, ())) - alike)


def _shared_models(dataset: Dataset, pair: Pair) -> frozenset[str]:
    try:
        here, _ = dataset.pair(*pair)
    except InputError:
        return frozenset()  # they share no run
    return frozenset(dataset.runs["model"].iloc[here])


def _by_anchor(pairs: Collection[Pair]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for anchor, target in pairs:
        found[anchor] = (*found.get(anchor, ()), target)
    return found
