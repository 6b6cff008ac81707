"""Captures the same network in Keras and in PyTorch, and compares where a step's time goes: shares of op families.

    python -m benchmarks.frameworks [--models ResNet50,VGG16,MobileNetV2] [--pixels 64] [--batch-size 16] [--core N]
                                    [--without-onednn]

Keras runs in the environment of TensorFlow that the tests make (``tests/environments/tensorflow.txt``), with
oneDNN, which PyTorch uses too; --without-onednn lets TensorFlow take kernels of its own for the backward
convolutions, as it does by default on some processors. Both stay on one core.
"""

import argparse
import os
import tempfile
from pathlib import Path

from tests.capture.environments import run_in

from profet.capture.plan import CapturePlan
from profet.profiles.families import op_families
from profet.profiles.formats import read_profile
from profet.profiles.profile import Profile
from profet.sweep.machines import Machine
from profet.sweep.measuring import measure
from profet.sweep.request import Limits, Run, Task
from profet.sweep.workloads import Workload

_PLAIN = ("conv_forward", "conv_backward_data", "conv_backward_filter")
GROUPS = {
    "convolution": (*_PLAIN, "depthwise", "depthwise_backward_filter"),
    "batch norm": ("norm_forward", "norm_backward"),
    "matmul": ("matmul",),
}
PLAN = CapturePlan(warm_up=3, timed=8, profiled=3)
_KERAS = """
import os
os.sched_setaffinity(0, {CORE})
os.environ.update(TF_ENABLE_ONEDNN_OPTS="USED", OMP_NUM_THREADS="1")
import keras
import numpy
import tensorflow
import profet.capture.keras

tensorflow.config.threading.set_intra_op_parallelism_threads(1)
tensorflow.config.threading.set_inter_op_parallelism_threads(1)
shape = (PIXELS, PIXELS, 3)
net = keras.applications.MODEL(weights=None, classes=10, input_shape=shape, classifier_activation=None)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
net.compile(loss=loss, optimizer=keras.optimizers.SGD(1e-3), jit_compile=False)
images = numpy.random.rand(STEPS * BATCH, *shape).astype("float32")
labels = numpy.random.randint(10, size=STEPS * BATCH)
counts = {"warm_up": WARM_UP, "timed": TIMED, "profiled": PROFILED}
profiler = profet.capture.keras.StepProfiler("keras.json", batch_size=BATCH, **counts)
net.fit(images, labels, batch_size=BATCH, verbose=0, callbacks=[profiler])
"""


def in_keras(workload: Workload, core: int, folder: Path, with_onednn: bool = True) -> Profile:
    """Capture a network of keras.applications."""
    words: dict[str, object] = {"CORE": core, "USED": int(with_onednn)}
    words |= {"MODEL": workload.model, "PIXELS": workload.pixels, "BATCH": workload.batch_size}
    words |= {"STEPS": PLAN.steps + 1, "WARM_UP": PLAN.warm_up, "TIMED": PLAN.timed, "PROFILED": PLAN.profiled}
    script = _KERAS
    for word, value in words.items():
        script = script.replace(word, str(value))
    done = run_in("tensorflow", script, folder)
    if done.returncode:
        raise SystemExit(f"{workload.name} in Keras: {done.stderr.strip().splitlines()[-1]}")
    return read_profile(folder / "keras.json")


def in_pytorch(workload: Workload, core: int, folder: Path) -> Profile:
    """Capture the network of the zoo, as a sweep does."""
    machine, limits = Machine("here", device="cpu"), Limits(waited=1.0, spread=10.0)
    outcome = measure(Task(Run("exp01", machine.name, workload), machine, PLAN, core, limits))
    if not outcome.profile:
        raise SystemExit(f"{workload.name} in PyTorch: {outcome.note}")
    (folder / "pytorch.json").write_text(outcome.profile)
    return read_profile(folder / "pytorch.json")


def shares(profile: Profile) -> dict[str, float]:
    """Return the share of each group in a step, in percent."""
    families = op_families().families(list(profile.device_us))
    total = profile.device_total_us
    return {
        name: 100
        * sum(us for us, family in zip(profile.device_us.values(), families, strict=True) if family in members)
        / total
        for name, members in GROUPS.items()
    }


def row(workload: Workload, core: int, with_onednn: bool) -> str:
    """Return the line of the table for one network; print how long its steps are, and what is doubtful."""
    with tempfile.TemporaryDirectory() as name:
        profiles = in_keras(workload, core, Path(name), with_onednn), in_pytorch(workload, core, Path(name))
    for profile in profiles:
        print(f"{workload.name}, {profile.framework}: {profile.step_latency_ms or 0.0:.0f} ms a step")
        for warning in profile.warnings:
            print(f"warning: {workload.name}, {profile.framework}: {warning}")
    cells = [", ".join(f"{share:.1f}" for share in shares(profile).values()) for profile in profiles]
    return f"| {workload.model} | {' | '.join(cells)} |"


def main() -> None:
    """Capture and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="ResNet50,VGG16,MobileNetV2")
    parser.add_argument("--pixels", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--without-onednn", action="store_true")
    arguments = parser.parse_args()
    table = [f"| % of the step: {', '.join(GROUPS)} | Keras | PyTorch |", "|---|---|---|"]
    for model in arguments.models.split(","):
        workload = Workload(model, arguments.pixels, arguments.batch_size)
        table.append(row(workload, arguments.core, not arguments.without_onednn))
    print("\n".join(table))


if __name__ == "__main__":
    main()
