"""How much a layer tells about a word, as far as a linear classifier can hear it.

One multinomial logistic regression is learnt for each layer, all of them in the same loop: they share the batches and
nothing else. Numbers are standardized by the training words. The rate is halved when a layer's accuracy on the held-out
words does not rise, and each layer keeps the weights that were best there.
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
ROWS = 1 << 13  # words that are looked at at once where nothing is learnt


@dataclass(frozen=True)
class LayerTable:
    """The layers of many words, (layers, words, dim), kept as halves; the mean of them is a further layer if asked for.

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
        """Layers, words, and the length of a vector."""
        layers, words, dim = self.layers.shape
        return layers + self.with_mean, words, dim

    def rows(self, rows: Tensor | slice) -> Tensor:
        """Some of the words, in float32."""
        found = self.layers[:, rows].float()
        return torch.cat([found, found.mean(0, keepdim=True)]) if self.with_mean else found

    def chunks(self) -> Iterator[Tensor]:
        """All words, a few at a time."""
        for start in range(0, self.shape[1], ROWS):
            yield self.rows(slice(start, start + ROWS))


@dataclass(frozen=True)
class LayerClassifiers:
    """What was learnt: for each layer a weight (dim, classes) and a bias, behind a shift and a scale."""

    weight: Tensor
    bias: Tensor
    center: Tensor
    scale: Tensor
    epochs: tuple[int, ...] = ()

    def scores(self, rows: Tensor) -> Tensor:
        """The scores of all classes, (layers, words, classes), of words (layers, words, dim)."""
        return torch.baddbmm(self.bias[:, None], (rows - self.center[:, None]) / self.scale[:, None], self.weight)

    @torch.no_grad()
    def predict(self, table: LayerTable) -> Ids:
        """The class of each word by each layer, (layers, words)."""
        found = [self.scores(rows).argmax(-1).cpu().numpy() for rows in table.chunks()]
        return np.concatenate(found, axis=1) if found else np.zeros((table.shape[0], 0), np.int64)


@dataclass(frozen=True)
class LinearProbe(Recipe):
    """Learns to tell the classes of words from their vectors, for several layers at once.

    >>> words = LayerTable(torch.tensor([[[0.0, 1.0], [0.1, 3.0], [1.0, 2.0], [0.9, 2.0]]]))
    >>> probe = LinearProbe(learning_rate=0.1, epochs=20).fit(words, [0, 0, 1, 1], words, [0, 0, 1, 1])
    >>> probe.predict(words).tolist()
    [[0, 0, 1, 1]]
    """

    epochs: int = option(30, "times that the training words are read, at most", minimum=1)
    batch: int = option(512, "words of a step", minimum=1)
    learning_rate: float = option(1e-3, "step size of Adam, halved when the held-out words do no better", minimum=0)
    patience: int = option(3, "stop after so many readings without progress", minimum=1)
    decay: float = option(0.0, "weight decay", minimum=0)
    seed: int = option(1, "where the random numbers start", minimum=0)

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
        """The classifiers of all layers of a table; labels count from 0, and -1 among the held-out is never right."""
        target, judged = np.asarray(labels, np.int64), np.asarray(dev_labels, np.int64)
        if not len(target) or len(target) != train.shape[1] or len(judged) != dev.shape[1]:
            problem = f"{train.shape[1]} and {dev.shape[1]} words have {len(target)} and {len(judged)} labels"
            raise OptionError(f"LinearProbe: {problem}. Each word needs one, and there must be some to learn from")
        state = ProbeTraining(self, train, classes or int(target.max()) + 1)
        right, rng = torch.from_numpy(target).to(state.device), np.random.default_rng(self.seed)
        for epoch in range(1, self.epochs + 1):
            for rows in np.array_split(rng.permutation(len(target)), max(1, len(target) // self.batch)):
                chosen = torch.from_numpy(rows).to(state.device)
                state.step(train.rows(chosen), right[chosen])
            said = state.now.predict(dev)
            state.keep(epoch, (said == judged).mean(1) if len(judged) else np.full(len(said), float(epoch)))
            report(Progress("linear probe", epoch, self.epochs, "epochs", {"accuracy": float(state.best.max())}))
            if state.waited.min() >= self.patience:
                break
        return state.kept


class ProbeTraining:
    """The classifiers of all layers while they learn, and of each the best so far."""

    def __init__(self, probe: LinearProbe, table: LayerTable, classes: int) -> None:
        layers, _, dim = table.shape
        center, scale = mean_and_deviation(table)
        self.device = center.device
        weight = torch.zeros(layers, dim, classes, device=self.device, requires_grad=True)
        bias = torch.zeros(layers, classes, device=self.device, requires_grad=True)
        self.now = LayerClassifiers(weight, bias, center, scale)
        self.rates = torch.full((layers, 1, 1), probe.learning_rate, device=self.device)
        self.adam = Adam([weight, bias], probe.decay)
        self.kept = LayerClassifiers(weight.detach().clone(), bias.detach().clone(), center, scale, (0,) * layers)
        self.best, self.waited = np.full(layers, -1.0), np.zeros(layers, np.int64)

    def step(self, rows: Tensor, labels: Tensor) -> None:
        """Learns from a batch, (layers, words, dim): the losses of layers are added, so each follows its own."""
        scores = self.now.scores(rows).flatten(0, 1)
        loss = functional.cross_entropy(scores, labels.repeat(len(rows)), reduction="sum") / len(labels)
        self.adam.step(loss, self.rates)

    def keep(self, epoch: int, accuracy: NDArray[np.float64]) -> None:
        """Keeps the layers that are better than ever; the others go on more slowly."""
        better = accuracy > self.best
        self.best, self.waited = np.where(better, accuracy, self.best), np.where(better, 0, self.waited + 1)
        chosen = torch.from_numpy(better).to(self.device)
        for kept, now in ((self.kept.weight, self.now.weight), (self.kept.bias, self.now.bias)):
            kept[chosen] = now.detach()[chosen]
        self.rates[~chosen] *= 0.5
        epochs = tuple(epoch if is_better else before for is_better, before in zip(better, self.kept.epochs))
        self.kept = replace(self.kept, epochs=epochs)


class Adam:
    """Adam with a rate for each layer: torch's own has one for a whole tensor."""

    def __init__(self, weights: list[Tensor], decay: float) -> None:
        self.weights, self.decay, self.steps = weights, decay, 0
        self.means = [torch.zeros_like(one) for one in weights]
        self.squares = [torch.zeros_like(one) for one in weights]

    def step(self, loss: Tensor, rates: Tensor, beta: float = 0.9, gamma: float = 0.999) -> None:
        """Moves all weights down the gradient of a loss; rates are (layers, 1, 1)."""
        slopes = torch.autograd.grad(loss, self.weights)
        self.steps += 1
        with torch.no_grad():
            for weight, slope, mean, square in zip(self.weights, slopes, self.means, self.squares):
                mean.lerp_(slope, 1 - beta)
                square.mul_(gamma).addcmul_(slope, slope, value=1 - gamma)
                size = (square / (1 - gamma**self.steps)).sqrt_().add_(1e-8)
                rate = rates.reshape(-1, *(1 for _ in weight.shape[1:]))
                if self.decay:
                    weight.mul_(1 - rate * self.decay)
                weight.sub_(rate * (mean / (1 - beta**self.steps)) / size)


def mean_and_deviation(table: LayerTable) -> tuple[Tensor, Tensor]:
    """The mean and the deviation of each number of each layer, (layers, dim); what never varies has deviation 1.

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
