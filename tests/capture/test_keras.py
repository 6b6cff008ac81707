"""The callback for Keras, in an environment that has TensorFlow (made as those of the readers' tests are)."""

import re
from pathlib import Path

import pytest

from profet import read_profile
from profet.profiles.families import op_families
from tests.capture.environments import run_in
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "how-to" / "capture.md"
STEPS = 50

FIT = """
import keras
import numpy as np
import profet.capture.keras

layers = keras.layers
model = keras.Sequential(
    [layers.Input((16, 16, 3)), layers.Conv2D(8, 3, activation="relu"), layers.Flatten(), layers.Dense(4)]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(loss=loss, optimizer="sgd", COMPILE)
images, labels = np.random.rand(8 * STEPS, 16, 16, 3), np.random.randint(4, size=8 * STEPS)
profiler = profet.capture.keras.StepProfiler("p.json", batch_size=8)
model.fit(images, labels, batch_size=8, verbose=0, callbacks=[profiler])
print(model.jit_compile)
"""

SECRETS = {
    "import numpy as np": """import numpy as np
import tensorflow

@tensorflow.function
def secret_function(values):
    return values * 2

class Secret(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        with tensorflow.profiler.experimental.Trace("secret range"):
            secret_function(tensorflow.zeros(3))
""",
    "layers.Flatten()": 'layers.Flatten(name="secret_layer")',
    "layers.Dense(4)]": 'layers.Dense(4, name="secret_end")], name="secret_model"',
    "callbacks=[": "callbacks=[Secret(), ",
}
"""What the user of FIT may call its parts, and do beside."""


def fit(folder: Path, compiled: str = "jit_compile=False", steps: int = STEPS) -> tuple[str, str]:
    """Fit a small CNN; return whether XLA compiles it afterwards, and what the capture said."""
    done = run_in("tensorflow", FIT.replace("COMPILE", compiled).replace("STEPS", str(steps)), folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1], "\n".join(x for x in done.stderr.splitlines() if x.startswith("profet: "))


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    (block,) = re.findall(r"```\n(import keras\n.*?)```", PAGE.read_text(), re.DOTALL)
    done = run_in("tensorflow", block, tmp_path)
    assert done.returncode == 0, done.stderr
    profile = read_profile(tmp_path / "profile.json")
    assert (profile.instance, profile.batch_size, profile.pixels) == ("g4dn.xlarge", 32, 64)


def test_a_model_that_xla_compiles_is_captured_without_and_goes_on_with_it(tmp_path: Path) -> None:
    compiled, told = fit(tmp_path, "jit_compile=True")
    assert compiled == "True"
    assert "jit_compile is off while this is captured" in told
    profile = read_profile(tmp_path / "p.json")
    assert (profile.framework, profile.pixels, len(profile.latency_samples_ms)) == ("tensorflow", 16, 30)
    families = set(op_families().families(list(profile.device_us)))
    assert {"conv_forward", "conv_backward_filter", "matmul", "idle"} <= families
    assert profile.device_calls["Conv2DBackpropFilter"] == 1


def test_steps_that_cannot_be_told_apart_are_refused_in_one_line(tmp_path: Path) -> None:
    _, told = fit(tmp_path, "steps_per_execution=5")
    assert told == (
        "profet: p.json: not written: several steps run at once; compile the model with steps_per_execution=1"
    )
    assert not (tmp_path / "p.json").exists()


@pytest.mark.parametrize("steps", [20])
def test_too_few_steps_are_told(tmp_path: Path, steps: int) -> None:
    _, told = fit(tmp_path, steps=steps)
    assert f"not written: the training took {steps} steps, a capture needs 46" in told


def test_names_that_the_user_gave_stay_out_of_the_profile(tmp_path: Path) -> None:
    script = FIT.replace("COMPILE", "jit_compile=False").replace("STEPS", str(STEPS))
    for name, secret in SECRETS.items():
        assert script.count(name) == 1
        script = script.replace(name, secret)
    done = run_in("tensorflow", script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "secret" not in (tmp_path / "p.json").read_text().lower()
    profile = read_profile(tmp_path / "p.json")
    assert {"EagerLocalExecute", "(other ranges)"} <= set(profile.host_us)
    assert profile.device_calls["Conv2DBackpropFilter"] == 1
