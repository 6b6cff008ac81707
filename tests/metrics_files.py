"""Made-up tables of hardware metrics, in the form of the public data."""

from typing import Any

import numpy as np

COLUMNS = (
    "Instances,model,batchsize,datasize,totaldata,total_latency_second,one_epoch_average_second,utilization_gpu_mean,"
    "utilization_gpu_std,utilization_memory_mean,power_drawW_mean,clocks_current_smMHz_mean,clocks_max_smMHz,"
    "power_limitW,fan_speed,uuid,compute_mode,CUDA Cores"
)
SPEED = {"g4dn": 1.0, "g5": 0.4, "p3": 0.5}
LIMITS = {"g4dn": (1590, 70), "g5": (1710, 300), "p3": (1530, 300)}
MODELS = ("VGG19", "ResNet50", "LeNet5", "AlexNet")


def step_ms(instance: str, model: str, batch: int, pixels: int) -> float:
    """How long a step takes on a made-up instance: work that its GPU does, and a gap that it does not."""
    return SPEED[instance] * (1 + MODELS.index(model)) * batch * (pixels / 64) ** 2 / 10 + 2.0


def row(instance: str, model: str, batch: int, pixels: int, /, **cells: Any) -> str:
    """One run as a line of the table; cells, by column, replace what would stand there."""
    steps = -(-5000 // batch)
    step = step_ms(instance, model, batch, pixels)
    epoch_s = (1.2 * steps * step + 1.0 * steps + 200) / 1000
    busy = 100 * (1 - 2.0 / step)
    clock, limit = LIMITS[instance]
    values = [instance, model, batch, pixels, 5000, 10 * epoch_s, epoch_s, busy, 3.0, busy / 2, limit * busy / 120]
    found = dict(
        zip(
            COLUMNS.split(","),
            [*values, 0.95 * clock, clock, limit, "[N/A]", "GPU-1", "Default", 5120],
            strict=True,
        )
    )
    return ",".join(str(cell) for cell in {**found, **cells}.values())


def table(*lines: str) -> str:
    """The table of these lines, or of every model at every size on every instance."""
    every = [
        row(instance, model, batch, pixels)
        for instance in SPEED
        for model in MODELS
        for batch in (16, 64, 256)
        for pixels in (32, 64, 128)
    ]
    return "\n".join([COLUMNS, *(lines or every)]) + "\n"


def without(text: str, column: str) -> str:
    """The same table without a column."""
    place = text.partition("\n")[0].split(",").index(column)
    lines = [np.delete(np.array(line.split(","), object), place) for line in text.splitlines()]
    return "\n".join(",".join(line) for line in lines) + "\n"
