"""The context for JAX, in an environment that has it (made as those of the readers' tests are)."""

from pathlib import Path

from profet import read_profile
from profet.profiles.families import op_families
from tests.capture.environments import run_in

TRAIN = """
import jax
import jax.numpy as jnp
import profet.capture.jax
from jax.profiler import TraceAnnotation as annotation

layout = ("NHWC", "HWIO", "NHWC")

def loss(weights, images, labels):
    hidden = jax.lax.conv_general_dilated(images, weights["conv"], (1, 1), "VALID", dimension_numbers=layout)
    scores = jax.nn.relu(hidden).reshape(len(images), -1) @ weights["dense"]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1))

@jax.jit
def step(weights, images, labels):
    return jax.tree.map(lambda w, g: w - 0.01 * g, weights, jax.grad(loss)(weights, images, labels))

weights = {"conv": jnp.full((3, 3, 3, 8), 0.1), "dense": jnp.full((14 * 14 * 8, 4), 0.01)}
batch = jnp.ones((8, 16, 16, 3)), jnp.zeros(8, int)
with profet.capture.jax.StepProfiler("p.json", instance="c5.large", batch_size=8, pixels=16) as profiler:
    for _ in range(STEPS):
        weights = step(weights, *batch)
        profiler.step(weights)
"""

SECRETS = {
    "def loss": '@jax.jit\n@jax.named_scope("secret_scope")\ndef secret_loss',
    "grad(loss)": "grad(secret_loss)",
    "def step": "def secret_step",
    "        weights = step(": '        with annotation("secret range"):\n            weights = secret_step(',
    '"conv"': '"secret_conv"',
}
"""What the user of TRAIN may call its parts."""


def test_a_loop_in_jax_is_captured(tmp_path: Path) -> None:
    done = run_in("jax", TRAIN.replace("STEPS", "50"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "profet: wrote p.json: " in done.stderr
    profile = read_profile(tmp_path / "p.json")
    assert (profile.framework, profile.instance, profile.batch_size, profile.pixels) == ("jax", "c5.large", 8, 16)
    assert len(profile.latency_samples_ms) == 30
    assert {"conv_forward", "matmul", "idle"} <= set(op_families().families(list(profile.device_us)))
    assert profile.hardware


def test_a_loop_that_ends_early_is_told(tmp_path: Path) -> None:
    done = run_in("jax", TRAIN.replace("STEPS", "12"), tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1].startswith("profet: p.json: not written: the training took 12 steps")


def test_names_that_the_user_gave_stay_out_of_the_profile(tmp_path: Path) -> None:
    script = TRAIN.replace("STEPS", "50")
    for name, secret in SECRETS.items():
        assert name in script
        script = script.replace(name, secret)
    done = run_in("jax", script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "secret" not in (tmp_path / "p.json").read_text().lower()
    profile = read_profile(tmp_path / "p.json")
    assert {"PjitFunction", "(other ranges)"} <= set(profile.host_us)
    assert {"conv_forward", "matmul", "idle"} <= set(op_families().families(list(profile.device_us)))
