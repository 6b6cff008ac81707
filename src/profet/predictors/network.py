"""The published dense network: 128-64-32-16 rectified units, trained on the mean absolute percentage error.

Training needs numpy alone: with batches of 16 rows the network is so small that a framework would spend
its time on dispatch, and a bundle must load without one.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_ADAM_BETA1, _ADAM_BETA2, _ADAM_EPSILON = np.float32(0.9), np.float32(0.999), 1e-7
_SMALLEST_ANSWER = np.float32(1e-7)


@dataclass(frozen=True)
class NetworkSettings:
    """How the network is built and trained; the defaults are the published ones."""

    hidden: tuple[int, ...] = (128, 64, 32, 16)
    learning_rate: float = 1e-3
    decay: float = 0.9
    decay_steps: int = 1000
    batch_rows: int = 16
    max_epochs: int = 200
    patience: int = 5


class _Parameters:
    """Weights and biases of every layer as views of one flat vector, so that Adam is a few vector operations."""

    def __init__(self, sizes: tuple[int, ...]):
        self.flat = np.zeros(sum((a + 1) * b for a, b in pairwise(sizes)), np.float32)
        self.weights: list[Float32] = []
        self.biases: list[Float32] = []
        start = 0
        for rows, columns in pairwise(sizes):
            middle, end = start + rows * columns, start + (rows + 1) * columns
            self.weights.append(self.flat[start:middle].reshape(rows, columns))
            self.biases.append(self.flat[middle:end])
            start = end

    def glorot(self, generator: "np.random.Generator") -> None:
        """Draw the weights uniformly as Glorot and Bengio (2010) do, Keras' default; biases stay zero."""
        for weight in self.weights:
            limit = np.sqrt(6 / sum(weight.shape))
            weight[:] = generator.uniform(-limit, limit, weight.shape)

    def activations(self, X: Float32) -> list[Float32]:
        """Return the input and every layer's output, the last of shape (rows, 1)."""
        outputs = [X]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = outputs[-1] @ weight
            hidden += bias
            np.maximum(hidden, 0, out=hidden)
            outputs.append(hidden)
        outputs.append(outputs[-1] @ self.weights[-1] + self.biases[-1])
        return outputs

    def backpropagate(self, outputs: list[Float32], slope: Float32, gradient: "_Parameters") -> None:
        """Write the gradient of the loss, given its slope at the output, of shape (rows, 1)."""
        for layer in range(len(self.weights) - 1, -1, -1):
            np.matmul(outputs[layer].T, slope, out=gradient.weights[layer])
            slope.sum(axis=0, out=gradient.biases[layer])
            if layer:
                slope = slope @ self.weights[layer].T
                slope *= outputs[layer] > 0


class _Adam:
    """Adam (Kingma and Ba, 2015) with an exponentially decaying rate; epsilon as in Keras."""

    def __init__(self, settings: NetworkSettings, size: int):
        self._settings = settings
        self._mean, self._square = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self._step = 0

    def update(self, parameters: Float32, gradient: Float32) -> None:
        """Move the parameters one step against the gradient, in place."""
        rate = self._settings.learning_rate * self._settings.decay ** (self._step / self._settings.decay_steps)
        self._step += 1
        rate *= np.sqrt(1 - float(_ADAM_BETA2) ** self._step) / (1 - float(_ADAM_BETA1) ** self._step)
        self._mean += (gradient - self._mean) * (1 - _ADAM_BETA1)
        self._square += (gradient * gradient - self._square) * (1 - _ADAM_BETA2)
        parameters -= np.float32(rate) * self._mean / (np.sqrt(self._square) + np.float32(_ADAM_EPSILON))


@dataclass(frozen=True)
class Network:
    """A trained network: layer i maps its input by ``weights[i]`` (inputs, units) and ``biases[i]`` (units,)."""

    weights: tuple[Float32, ...]
    biases: tuple[Float32, ...]

    def __post_init__(self) -> None:
        shapes = [(*weight.shape, *bias.shape) for weight, bias in zip(self.weights, self.biases, strict=True)]
        fits = all(len(shape) == 3 and shape[1] == shape[2] for shape in shapes)
        if not shapes or not fits or any(a[1] != b[0] for a, b in pairwise(shapes)) or shapes[-1][1] != 1:
            raise ValueError("a network whose layers do not fit together")

    @classmethod
    def fit(cls, X: Float64, y: Float64, seed: int, settings: NetworkSettings | None = None) -> Self:
        """Train until the training loss has not fallen for `patience` epochs.

        Args:
            X: features, shape (rows, features), unscaled as published.
            y: answers above zero, shape (rows,).
            seed: of the initial weights and of the order of the rows.
            settings: of the training; the published ones unless given.
        """
        settings = settings or NetworkSettings()
        generator = np.random.default_rng(seed)
        X32, y32 = X.astype(np.float32), y.astype(np.float32)[:, None]
        parameters = _Parameters((X.shape[1], *settings.hidden, 1))
        gradient = _Parameters((X.shape[1], *settings.hidden, 1))
        parameters.glorot(generator)
        adam = _Adam(settings, parameters.flat.size)
        best_loss, epochs_without_gain = np.inf, 0
        for _ in range(settings.max_epochs):
            order = generator.permutation(len(X32))
            loss = _run_epoch(parameters, gradient, adam, X32[order], y32[order], settings.batch_rows)
            epochs_without_gain = 0 if loss < best_loss else epochs_without_gain + 1
            best_loss = min(loss, best_loss)
            if epochs_without_gain >= settings.patience:
                break
        return cls(tuple(w.copy() for w in parameters.weights), tuple(b.copy() for b in parameters.biases))

    def predict(self, X: Float64) -> Float64:
        """Return answers of shape (rows,) for features of shape (rows, features)."""
        output = X.astype(np.float32)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            output = np.maximum(output @ weight + bias, 0)
        return (output @ self.weights[-1] + self.biases[-1])[:, 0].astype(np.float64)


def _run_epoch(
    parameters: _Parameters, gradient: _Parameters, adam: _Adam, X: Float32, y: Float32, batch_rows: int
) -> float:
    """Train on every row once, in the order given; return the mean absolute percentage error met on the way."""
    loss = 0.0
    for start in range(0, len(X), batch_rows):
        answers = y[start : start + batch_rows]
        outputs = parameters.activations(X[start : start + batch_rows])
        error = outputs[-1] - answers
        scale = np.float32(100) / np.maximum(np.abs(answers), _SMALLEST_ANSWER)
        loss += float((np.abs(error) * scale).sum())
        parameters.backpropagate(outputs, np.sign(error) * scale / np.float32(len(answers)), gradient)
        adam.update(parameters.flat, gradient.flat)
    return loss / len(X)
