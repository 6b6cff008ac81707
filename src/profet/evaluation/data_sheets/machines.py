"""The instances of a data set as their data sheets tell of them: which GPUs can be left out, and what remains."""

from collections.abc import Mapping
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
    """

    known: KnownMachines
    gpus: Mapping[str, str]

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
        targets = {a: tuple(t for t in stated if t != a) for a in dataset.anchors if a in stated}
        return cls(KnownMachines(targets, stated), gpus)

    def like(self, instance: str) -> set[str]:
        """Return the instances with the same GPU, this one among them."""
        return {name for name, gpu in self.gpus.items() if gpu == self.gpus[instance]}

    def pairs(self) -> list[Pair]:
        """Return every anchor and target with different GPUs, where another GPU was learnt on the anchor."""
        return [
            (anchor, target)
            for anchor, targets in self.known.targets.items()
            for target in targets
            if anchor not in self.like(target) and set(targets) - self.like(target)
        ]
