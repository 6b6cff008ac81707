"""Records three steps of a small CNN with JAX's profiler, and what JAX itself reads of it: FILE.xplane.pb.

Prints the time in µs by HLO operation as JSON. Run in an environment that has JAX.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

STEPS = 3


def loss(weights: dict[str, jax.Array], images: jax.Array, labels: jax.Array) -> jax.Array:
    layout = ("NHWC", "HWIO", "NHWC")
    hidden = jax.lax.conv_general_dilated(images, weights["conv"], (1, 1), "VALID", dimension_numbers=layout)
    scores = jax.nn.relu(hidden).reshape(len(images), -1) @ weights["dense"]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1))


@jax.jit
def step(weights: dict[str, jax.Array], images: jax.Array, labels: jax.Array) -> Any:
    value, gradients = jax.value_and_grad(loss)(weights, images, labels)
    return value, jax.tree.map(lambda weight, gradient: weight - 0.01 * gradient, weights, gradients)


def record(path: str) -> None:
    weights = {"conv": jnp.full((3, 3, 3, 8), 0.1), "dense": jnp.full((14 * 14 * 8, 4), 0.01)}
    batch = jnp.ones((8, 16, 16, 3)), jnp.zeros(8, int)
    value, weights = step(weights, *batch)
    value.block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=options):
            for number in range(STEPS):
                with jax.profiler.StepTraceAnnotation("train", step_num=number + 5):
                    value, weights = step(weights, *batch)
                    jax.block_until_ready(weights)
        shutil.copy(next(Path(folder).rglob("*.xplane.pb")), path)


def sums(path: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for plane in jax.profiler.ProfileData.from_file(path).planes:
        for line in plane.lines:
            for event in line.events:
                operation = dict(event.stats).get("hlo_op")
                if operation and not event.name.startswith("end: "):
                    found[operation] = found.get(operation, 0.0) + event.duration_ns / 1000
    return found


if __name__ == "__main__":
    record(sys.argv[1])
    sys.stdout.write(json.dumps(sums(sys.argv[1])) + "\n")
