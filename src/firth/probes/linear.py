"""Linear probes: one multinomial logistic regression per layer.

All layers are trained in the same loop and share only the batches. The inputs are standardized by the training words.
The learning rate of a layer is halved when its dev accuracy does not rise, and each layer keeps its best weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from firth.errors import OptionError
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent

Ids = NDArray[np.int64]
ROWS = 1 << 13  # words per chunk in inference


@dataclass(frozen=True)
class LayerTable:
    """The layers of many words, (layers, words, dim); with `with_mean` their mean is one more layer.

    >>> LayerTable(torch.tensor([[[1.0]], [[3.0]]]), with_mean=True).rows(torch.tensor([0]))
    tensor([[[1.]],
    <BLANKLINE>
            [[3.]],
    <BLANKLINE>
            [[2.]]])
    """

    layers: Tensor
    with_mean: bool = False

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of layers, words and dimensions."""
        layers, words, dim = self.layers.shape
        return layers + self.with_mean, words, dim

    def rows(self, rows: Tensor | slice) -> Tensor:
        """Some of the words, in float32."""
        layers = self.layers[:, rows].float()
        return torch.cat([layers, layers.mean(0, keepdim=True)]) if self.with_mean else layers

    def chunks(self) -> Iterator[Tensor]:
        """All words, in chunks."""
        for start in range(0, self.shape[1], ROWS):
            yield self.rows(slice(start, start + ROWS))


@dataclass(frozen=True)
class LayerClassifiers:
    """One linear classifier per layer: weight (dim, classes) and bias of the standardized inputs."""

    weight: Tensor
    bias: Tensor
    center: Tensor
    scale: Tensor
    epochs: tuple[int, ...] = ()  # the best epoch of each layer

    def logits(self, rows: Tensor) -> Tensor:
        """The logits of words (layers, words, dim): (layers, words, classes)."""
        return torch.baddbmm(self.bias[:, None], (rows - self.center[:, None]) / self.scale[:, None], self.weight)

    @torch.no_grad()
    def predict(self, table: LayerTable) -> Ids:
        """The predicted class of each word by each layer, (layers, words)."""
        found = [self.logits(rows).argmax(-1).cpu().numpy() for rows in table.chunks()]
        return np.concatenate(found, axis=1) if found else np.zeros((table.shape[0], 0), np.int64)


@dataclass(frozen=True)
class LinearProbe(Recipe):
    """Trains classifiers of words from their vectors, for several layers at once.

    >>> words = LayerTable(torch.tensor([[[0.0, 1.0], [0.1, 3.0], [1.0, 2.0], [0.9, 2.0]]]))
    >>> probe = LinearProbe(learning_rate=0.1, epochs=20).fit(words, [0, 0, 1, 1], words, [0, 0, 1, 1])
    >>> probe.predict(words).tolist()
    [[0, 0, 1, 1]]
    """

    epochs: int = option(30, "Maximum number of passes over the training words.", minimum=1)
    batch: int = option(512, "Words per training step.", minimum=1)
    learning_rate: float = option(1e-3, "Step size of Adam; halved when dev accuracy does not rise.", minimum=0)
    patience: int = option(3, "Stop when dev accuracy has not risen in this many epochs.", minimum=1)
    decay: float = option(0.0, "Weight decay; 0 disables it.", minimum=0)
    seed: int = option(1, "Seed of the random numbers.", minimum=0)

    def fit(
        self,
        train: LayerTable,
        labels: Ids | list[int],
        dev: LayerTable,
        dev_labels: Ids | list[int],
        *,
        classes: int | None = None,
        report: Report = silent,
    ) -> LayerClassifiers:
        """The classifiers of all layers of a table. Labels count from 0; a dev label of -1 is never correct."""
        target, dev_target = np.asarray(labels, np.int64), np.asarray(dev_labels, np.int64)
        if not len(target) or len(target) != train.shape[1] or len(dev_target) != dev.shape[1]:
            problem = f"{train.shape[1]} and {dev.shape[1]} words have {len(target)} and {len(dev_target)} labels"
            raise OptionError(f"LinearProbe: {problem}. Each word needs one label, and there must be training words")
        state = ProbeTraining(self, train, classes or int(target.max()) + 1)
        targets, rng = torch.from_numpy(target).to(state.device), np.random.default_rng(self.seed)
        for epoch in range(1, self.epochs + 1):
            for rows in np.array_split(rng.permutation(len(target)), max(1, len(target) // self.batch)):
                batch = torch.from_numpy(rows).to(state.device)
                state.step(train.rows(batch), targets[batch])
            predicted = state.current.predict(dev)
            accuracy = (predicted == dev_target).mean(1) if len(dev_target) else np.full(len(predicted), float(epoch))
            state.keep_best(epoch, accuracy)
            report(Progress("linear probe", epoch, self.epochs, "epochs", {"accuracy": float(state.best.max())}))
            if state.stale.min() >= self.patience:
                break
        return state.best_classifiers


class ProbeTraining:
    """The state of a training: the current classifiers, and the best of each layer so far."""

    def __init__(self, probe: LinearProbe, table: LayerTable, classes: int) -> None:
        layers, _, dim = table.shape
        center, scale = mean_and_deviation(table)
        self.device = center.device
        weight = torch.zeros(layers, dim, classes, device=self.device, requires_grad=True)
        bias = torch.zeros(layers, classes, device=self.device, requires_grad=True)
        self.current = LayerClassifiers(weight, bias, center, scale)
        self.rates = torch.full((layers, 1, 1), probe.learning_rate, device=self.device)
        self.adam = Adam([weight, bias], probe.decay)
        self.best_classifiers = LayerClassifiers(
            weight.detach().clone(), bias.detach().clone(), center, scale, (0,) * layers
        )
        self.best, self.stale = np.full(layers, -1.0), np.zeros(layers, np.int64)

    def step(self, rows: Tensor, labels: Tensor) -> None:
        """One step on a batch, (layers, words, dim). The sum of the losses keeps the layers independent."""
        logits = self.current.logits(rows).flatten(0, 1)
        loss = functional.cross_entropy(logits, labels.repeat(len(rows)), reduction="sum") / len(labels)
        self.adam.step(loss, self.rates)

    def keep_best(self, epoch: int, accuracy: NDArray[np.float64]) -> None:
        """Stores the layers whose accuracy rose, and halves the learning rate of the others."""
        better = accuracy > self.best
        self.best, self.stale = np.where(better, accuracy, self.best), np.where(better, 0, self.stale + 1)
        improved = torch.from_numpy(better).to(self.device)
        best, current = self.best_classifiers, self.current
        for stored, parameter in ((best.weight, current.weight), (best.bias, current.bias)):
            stored[improved] = parameter.detach()[improved]
        self.rates[~improved] *= 0.5
        epochs = tuple(epoch if is_better else before for is_better, before in zip(better, best.epochs))
        self.best_classifiers = replace(best, epochs=epochs)


class Adam:
    """Adam with one learning rate per layer; torch's Adam has one per tensor."""

    def __init__(self, weights: list[Tensor], decay: float) -> None:
        self.weights, self.decay, self.steps = weights, decay, 0
        self.means = [torch.zeros_like(one) for one in weights]
        self.squares = [torch.zeros_like(one) for one in weights]

    def step(self, loss: Tensor, rates: Tensor, beta: float = 0.9, gamma: float = 0.999) -> None:
        """One step on all weights; `rates` are (layers, 1, 1)."""
        grads = torch.autograd.grad(loss, self.weights)
        self.steps += 1
        with torch.no_grad():
            for weight, grad, mean, square in zip(self.weights, grads, self.means, self.squares):
                mean.lerp_(grad, 1 - beta)
                square.mul_(gamma).addcmul_(grad, grad, value=1 - gamma)
                size = (square / (1 - gamma**self.steps)).sqrt_().add_(1e-8)
                rate = rates.reshape(-1, *(1 for _ in weight.shape[1:]))
                if self.decay:
                    weight.mul_(1 - rate * self.decay)
                weight.sub_(rate * (mean / (1 - beta**self.steps)) / size)


def mean_and_deviation(table: LayerTable) -> tuple[Tensor, Tensor]:
    """The mean and standard deviation of each dimension, (layers, dim); a constant dimension has deviation 1.

    >>> [one.tolist() for one in mean_and_deviation(LayerTable(torch.tensor([[[1.0, 5.0], [3.0, 5.0]]])))]
    [[[2.0, 5.0]], [[1.0, 1.0]]]
    """
    total = torch.zeros(table.shape[0], table.shape[2], dtype=torch.float64, device=table.layers.device)
    for rows in table.chunks():
        total += rows.double().sum(1)
    center = total / table.shape[1]
    total = torch.zeros_like(total)
    for rows in table.chunks():
        total += (rows.double() - center[:, None]).square().sum(1)
    scale = (total / table.shape[1]).sqrt()
    return center.float(), torch.where(scale > 1e-6, scale, torch.ones_like(scale)).float()
