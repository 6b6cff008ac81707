"""Makes the gradients of PyTorch's DistributedDataParallel those of the whole batch where ranks' batches differ."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from profet.errors import InputError

SampleCount = Callable[[tuple[Any, ...], Mapping[str, Any]], int]


def weight_gradients(model: DistributedDataParallel, samples_of: SampleCount | None = None) -> None:
    """Weigh each rank's gradient by its share of the samples, at every step.

    DistributedDataParallel takes the plain mean over ranks, which is the gradient of the mean loss only where all
    batches are alike. With n_r samples on rank r, whose loss is the mean over them, that gradient is the sum over
    r of n_r / Σn times the rank's own. The numbers are exchanged at every step, so that the last, smaller batch of
    an epoch is right too. Call it once, before the first step; it takes the place of the communication hook.

    Args:
        model: as it is trained. Its loss must be a mean over the batch, as PyTorch's losses are unless told
            otherwise; under gradient accumulation (``no_sync``) the mean over the rank's batches counts.
        samples_of: number of samples in the arguments of a forward pass; the first size of the first tensor unless
            given.
    """
    weighting = _Weighting(model.process_group, samples_of or first_size)
    model.register_forward_pre_hook(weighting.before_forward, with_kwargs=True)
    model.register_comm_hook(weighting, _sum_weighted)


def first_size(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """Return the first size of the first tensor among the arguments of a forward pass.

    Raises:
        InputError: there is no tensor that has one.
    """
    tensor = _first_tensor([*args, *kwargs.values()])
    if tensor is None:
        raise InputError(
            "no tensor among the arguments of the model: tell weight_gradients how to count, samples_of="
        )
    return int(tensor.shape[0])


def _first_tensor(values: Sequence[Any]) -> torch.Tensor | None:
    for value in values:
        if isinstance(value, torch.Tensor) and value.ndim:
            return value
        inside = value.values() if isinstance(value, Mapping) else value
        if isinstance(value, Mapping | list | tuple) and (found := _first_tensor(list(inside))) is not None:
            return found
    return None


class _Weighting:
    """Counts this rank's samples since the gradients were last exchanged, and says what its gradient weighs."""

    def __init__(self, group: Any, samples_of: SampleCount):
        self.group = group
        self._samples_of = samples_of
        self._counted: list[int] = []
        self._weight: torch.Tensor | None = None

    def before_forward(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not (module.training and torch.is_grad_enabled()):
            return
        if self._weight is not None:
            self._counted, self._weight = [], None
        self._counted.append(self._samples_of(args, kwargs))

    def weight(self, device: torch.device) -> torch.Tensor:
        """Return this rank's share of the step's samples, exchanged once a step without waiting on the host."""
        if self._weight is None:
            mine = torch.tensor(float(sum(self._counted)) / max(len(self._counted), 1), device=device)
            total = mine.clone()
            dist.all_reduce(total, group=self.group)
            self._weight = mine / total
        return self._weight


def _sum_weighted(weighting: _Weighting, bucket: dist.GradBucket) -> Future[torch.Tensor]:
    gradients = bucket.buffer()
    gradients.mul_(weighting.weight(gradients.device))
    summed = dist.all_reduce(gradients, group=weighting.group, async_op=True).get_future()
    return summed.then(lambda done: done.value()[0])
