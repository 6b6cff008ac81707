"""Records three steps of a small CNN with TensorFlow's profiler: keras|marked|unmarked FILE.xplane.pb.

Run in an environment that has TensorFlow.
"""

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

STEPS, BATCH = 3, 8


def model() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Input((16, 16, 3)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(4),
        ]
    )


@contextlib.contextmanager
def recording(path: str):
    with tempfile.TemporaryDirectory() as folder:
        options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
        tf.profiler.experimental.start(folder, options=options)
        yield
        tf.profiler.experimental.stop()
        shutil.copy(next(Path(folder).rglob("*.xplane.pb")), path)


def by_keras(path: str, images: np.ndarray, labels: np.ndarray) -> None:
    net = model()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile(loss=loss, optimizer="sgd", jit_compile=False)
    net.fit(images, labels, batch_size=BATCH, verbose=0)
    with recording(path):
        net.fit(images, labels, batch_size=BATCH, verbose=0)


def by_hand(path: str, images: np.ndarray, labels: np.ndarray, marked: bool) -> None:
    net, optimizer = model(), tf.keras.optimizers.SGD()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer.build(net.trainable_variables)

    @tf.function
    def step(some_images: tf.Tensor, some_labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            value = loss(some_labels, net(some_images, training=True))
        gradients = tape.gradient(value, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return value

    batch = tf.constant(images[:BATCH]), tf.constant(labels[:BATCH])
    for _ in range(2):
        step(*batch).numpy()
    with recording(path):
        for number in range(STEPS):
            with contextlib.ExitStack() as marks:
                if marked:
                    marks.enter_context(tf.profiler.experimental.Trace("train", step_num=number + 10, _r=1))
                step(*batch).numpy()


def main(how: str, path: str) -> None:
    random = np.random.default_rng(1)
    images = random.random((STEPS * BATCH, 16, 16, 3), np.float32)
    labels = random.integers(4, size=STEPS * BATCH)
    if how == "keras":
        by_keras(path, images, labels)
    else:
        by_hand(path, images, labels, how == "marked")


if __name__ == "__main__":
    main(*sys.argv[1:])
