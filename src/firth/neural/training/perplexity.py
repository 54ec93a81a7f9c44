"""The perplexity of a biLM on a text."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from firth.errors import OptionError
from firth.neural.adaptive_softmax import AdaptiveSoftmax
from firth.neural.language import LanguageModelHead
from firth.neural.softmax import FullSoftmax, Softmax
from firth.neural.training.lstm import LayerInputs, run_layers
from firth.neural.training.streams import Streams
from firth.neural.training.vocabulary import TrainingVocabulary
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.coverage import Coverage, report_coverage
from firth.text.model_tokenizer import Sentences
from firth.text.tokenfile import TokenFile

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

STEPS = 20  # words of a row that run at a time; the result does not depend on it


@dataclass(frozen=True)
class BiLMPerplexity:
    """The loss in nats per word of the forward and the backward model, over all words and sentence ends.

    `unknown` counts the words that are not in the softmax and are scored as <UNK>; it is None where it was not counted.

    >>> BiLMPerplexity(math.log(8), math.log(2), 100).as_dict()
    {'forward': 8.0, 'backward': 2.0, 'average': 4.0, 'words': 100}
    """

    forward_loss: float
    backward_loss: float
    words: int
    unknown: int | None = None

    @property
    def loss(self) -> float:
        """The mean of both directions, in nats."""
        return (self.forward_loss + self.backward_loss) / 2

    @property
    def average(self) -> float:
        """The perplexity of both directions together: the geometric mean."""
        return perplexity_of(self.loss)

    def as_dict(self) -> dict[str, float]:
        """The values by name, ready for JSON."""
        both = perplexity_of(self.forward_loss), perplexity_of(self.backward_loss)
        values = dict(zip(("forward", "backward", "average"), (*both, self.average)))
        counts = {"words": self.words} | ({} if self.unknown is None else {"unknown": self.unknown})
        return {name: float(f"{value:.6g}") for name, value in values.items()} | counts


def perplexity_of(loss: float) -> float:
    """e to the loss, without an overflow."""
    return math.exp(min(loss, 700.0))


class HeldOutText:
    """A held-out text, in rows whose state is carried from batch to batch.

    Every word and every sentence end counts once in each direction, with the exact softmax. With `sentences` the state
    is reset at each sentence, as when sentences are embedded.
    """

    def __init__(
        self,
        bilm: BiLM,
        softmax: Softmax,
        tokens: TokenFile,
        runtime: Runtime,
        *,
        rows: int,
        steps: int,
        sentences: bool = False,
        precision: torch.dtype = torch.float32,
    ) -> None:
        self.bilm, self.softmax, self.runtime = bilm, softmax, runtime
        self.sentences, self.precision = sentences, precision
        self.types = TrainingVocabulary(bilm, tokens.vocabulary)
        rows = max(1, min(rows, len(tokens.sentences) - 1))
        targets, lengths = self.types.targets, self.types.lengths
        self.mine = range(rows)[runtime.shard(rows)]
        share = slice(self.mine.start, self.mine.stop)
        self.streams = Streams(tokens, targets, rows=rows, steps=steps, lengths=lengths, whole=True, mine=share)

    @torch.no_grad()
    def perplexity(self, report: Report = silent) -> BiLMPerplexity:
        """The perplexity of the biLM with its current weights."""
        device = self.types.device
        sums = torch.zeros(3, dtype=torch.float64, device=device)  # both directions, and how many words
        state = self.bilm.blank(len(self.mine))
        for number, batch in enumerate(self.streams.read(0) if self.mine else ()):
            report(Progress("perplexity", number, self.streams.batches, "batches"))
            batch = batch.to(device)
            vectors = self.types.vectors(batch.words, self.precision)
            fresh = batch.fresh if self.sentences else None
            inputs = LayerInputs(vectors[batch.forward], vectors[batch.backward], state, None, fresh)
            ahead, behind, state = run_layers(self.bilm, inputs)
            sums += torch.stack(
                [
                    self._log_prob(ahead, batch.forward_targets),
                    self._log_prob(behind, batch.backward_targets),
                    (batch.forward_targets >= 0).sum().double(),
                ]
            )
        self.runtime.add_up([sums])
        forward, backward, words = sums.tolist()
        return BiLMPerplexity(-forward / max(1, words), -backward / max(1, words), int(words))

    def _log_prob(self, hidden: Tensor, targets: Tensor) -> Tensor:
        return self.softmax.log_prob(hidden.flatten(0, 1), targets.flatten()).double().sum()


def perplexity(
    bilm: BiLM,
    text: Sentences | TokenFile,
    *,
    sentences: bool = True,
    rows: int = 32,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> BiLMPerplexity:
    """The perplexity of a text, forward and backward. The biLM needs a softmax. Also a method of `BiLM`.

    Every word and every sentence end counts, with the exact softmax. The state is reset at each sentence, as in
    `score`; `rows`, the number of sentences that run together, changes the time and not the result. Without
    `sentences` each row carries its state on, as in the original programs.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> from firth.text.vocabulary import Vocabulary
    >>> bilm = BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain"]))
    >>> result = bilm.perplexity(Corpus.of(["tea and rain"]))
    >>> result.words, result.unknown  # "and" is not in the softmax
    (4, 1)
    """
    head = LanguageModelHead(bilm)
    softmax = head.softmax if isinstance(head.softmax, AdaptiveSoftmax) else FullSoftmax(head.softmax)
    if not isinstance(text, (TokenFile, Corpus, PathLike)):
        text = Corpus.of(list(bilm.tokenizer.sentences(text)))
    if not isinstance(text, TokenFile):
        text = Corpus.of(text, tokenizer=bilm.tokenizer.tokenizer).tokens(report)
    tokens = text
    if rows < 1:
        raise OptionError(f"rows is {rows}, but must be at least 1")
    if not len(tokens):
        raise OptionError("the text has no words, so there is no perplexity")
    runtime = runtime or Runtime.from_env()
    held_out = HeldOutText(bilm, softmax, tokens, runtime, rows=rows, steps=STEPS, sentences=sentences)
    is_unknown = held_out.types.targets[: len(tokens.vocabulary)] == head.unknown
    unknown = int(np.asarray(tokens.vocabulary.counts)[is_unknown].sum())
    report_coverage(Coverage(len(tokens), unknown))
    return replace(held_out.perplexity(report), unknown=unknown)
