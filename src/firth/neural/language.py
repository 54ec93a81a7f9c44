"""Language modeling with a biLM that has a softmax: score sentences, predict a missing word, generate text.

`score`, `log_probs`, `predict`, `distributions` and `generate` are also methods of `BiLM`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firth.errors import OptionError, UnknownWord
from firth.neural.device import work_sizes
from firth.neural.inference.layers_of import map_batches, run
from firth.neural.layers import UNKNOWN, find_mark
from firth.neural.state import BiLMState
from firth.text.character_ids import BEGIN, END
from firth.text.coverage import report_coverage
from firth.text.model_tokenizer import Sentences, TextLike

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

Probabilities = NDArray[np.float64]
LOGITS = 1 << 24  # that exist at a time: a softmax may have a million words
SPELLINGS = {BEGIN: (BEGIN, "<s>"), END: (END, "</s>")}


@dataclass(frozen=True)
class BiLMScore:
    """The log probability of a sentence: forward (with its end), backward (with its beginning), and their sum.

    Logarithms are natural. `per_word` is the geometric mean of all probabilities of both directions. `unknown` counts
    the words that the softmax lacks.
    """

    words: tuple[str, ...]
    forward: float
    backward: float
    log_prob: float
    unknown: int
    per_word: float

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Prediction:
    """The most probable words of a gap: given the left context, the right context, and both."""

    forward: list[tuple[str, float]]
    backward: list[tuple[str, float]]
    both: list[tuple[str, float]]


class LanguageModelHead:
    """The softmax of a biLM and the words that it predicts."""

    def __init__(self, bilm: BiLM) -> None:
        if bilm.softmax is None or bilm.vocabulary is None:
            raise OptionError(
                "this biLM has no softmax, so it cannot predict words. Official ELMo weights come without one. Train a "
                "softmax, or put one and its vocabulary beside the weights"
            )
        self.bilm, self.softmax, self.vocabulary = bilm, bilm.softmax, bilm.vocabulary
        self.begin, self.end = (find_mark(self.vocabulary, SPELLINGS[word]) for word in (BEGIN, END))
        self.unknown = find_mark(self.vocabulary, UNKNOWN)
        if self.begin < 0 or self.end < 0:
            cure = "Use the vocabulary that the softmax was trained with"
            raise OptionError(f"the vocabulary of this biLM has no {BEGIN} or no {END}. {cure}")

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The ids of words in the softmax; a word that is not there has the id of <UNK>."""
        ids = self.vocabulary.ids(words)
        if self.unknown < 0 and np.any(ids < 0):
            word = words[int(np.argmin(ids))]
            raise UnknownWord(word, self.vocabulary.near(word))
        return np.where(ids < 0, self.unknown, ids)

    def log_probs(self, hidden: Tensor, targets: NDArray[np.int64]) -> Probabilities:
        """The log probability of each target given its hidden state, (n, dim)."""
        parts = []
        step = max(1, LOGITS // len(self.vocabulary))
        for start in range(0, len(targets), step):
            logits = self.softmax(hidden[start : start + step]).float()
            places = torch.from_numpy(targets[start : start + step]).to(logits.device)
            parts.append(logits.gather(1, places[:, None])[:, 0] - logits.logsumexp(1))
        return torch.cat(parts).cpu().double().numpy()

    def probabilities(self, hidden: Tensor) -> Probabilities:
        """The probability of every word given a hidden state, (dim)."""
        return torch.softmax(self.softmax(hidden).double(), 0).cpu().numpy()


@torch.no_grad()
def score(bilm: BiLM, sentences: Sentences) -> list[BiLMScore]:
    """The log probability of each sentence, forward, backward and both. The biLM needs a softmax.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> from firth.text.vocabulary import Vocabulary
    >>> bilm = BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain"]))
    >>> [score.unknown for score in bilm.score([["tea", "milk"], ["rain"]])]
    [1, 0]
    """
    head = LanguageModelHead(bilm)
    lists = list(bilm.tokenizer.sentences(sentences))
    report_coverage(bilm.measure(lists))

    def score_batch(batch: list[list[str]]) -> list[BiLMScore]:
        tops = torch.split(run(bilm, batch)[-1], [len(words) + 2 for words in batch])
        return [_score(head, words, top) for words, top in zip(batch, tops)]

    batch_tokens = work_sizes(next(bilm.parameters()).device).batch_tokens
    return map_batches(score_batch, lists, [len(words) + 2 for words in lists], batch_tokens)


@torch.no_grad()
def log_probs(bilm: BiLM, sentence: TextLike) -> tuple[Probabilities, Probabilities]:
    """The natural log probability of each word of a sentence, forward and backward.

    Forward: of each word given those before it, then of the end of the sentence. Backward: of the beginning of the
    sentence, then of each word given those after it.

    >>> from firth.neural.bilm import Architecture, BiLM
    >>> from firth.text.vocabulary import Vocabulary
    >>> bilm = BiLM(Architecture.named("tiny"), vocabulary=Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain"]))
    >>> [len(values) for values in bilm.log_probs(["tea", "and", "rain"])]
    [4, 4]
    """
    words = bilm.tokenizer.words(sentence)
    return _log_probs(LanguageModelHead(bilm), words, run(bilm, [words])[-1])


def _log_probs(head: LanguageModelHead, words: list[str], top: Tensor) -> tuple[Probabilities, Probabilities]:
    """As `log_probs`, from the top layer of the sentence with <S> and </S>, (length + 2, 2 · dim)."""
    ids = head.ids(words)
    ahead, behind = top.chunk(2, 1)
    forward = head.log_probs(ahead[:-1], np.append(ids, head.end))
    backward = head.log_probs(behind[1:], np.append(head.begin, ids))
    return forward, backward


def _score(head: LanguageModelHead, words: list[str], top: Tensor) -> BiLMScore:
    """The score of one sentence, from its top layer with <S> and </S>, (length + 2, 2 · dim)."""
    forward, backward = (values.sum() for values in _log_probs(head, words, top))
    both = float(forward + backward)
    unknown = int(np.count_nonzero(head.ids(words) == head.unknown))
    per_word = math.exp(both / (2 * len(words) + 2))
    return BiLMScore(tuple(words), float(forward), float(backward), both, unknown, per_word)


@torch.no_grad()
def distributions(bilm: BiLM, left: TextLike = (), right: TextLike = ()) -> tuple[Probabilities, Probabilities]:
    """As `predict`, for every word of the vocabulary: its probability after `left`, and before `right`."""
    head = LanguageModelHead(bilm)
    before, after = map(bilm.tokenizer.words, (left, right))
    report_coverage(bilm.measure([before, after]))
    forward, _ = _run_direction(bilm, bilm.forward_layers, [BEGIN, *before], bilm.blank(1), 0)
    backward, _ = _run_direction(bilm, bilm.backward_layers, [END, *reversed(after)], bilm.blank(1), 1)
    return head.probabilities(forward), head.probabilities(backward)


def _run_direction(
    bilm: BiLM, layers: nn.ModuleList, words: list[str], state: BiLMState, direction: int
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """The top hidden state of one direction after words, (dim), and the final cell and hidden state of its layers."""
    vectors = bilm.token_vectors.of(bilm.encoder, words)[None]
    lengths = torch.tensor([len(words)], device=vectors.device)
    outputs, end = bilm.read(layers, vectors, lengths, state, direction)
    return outputs[-1][0, -1], end


def predict(bilm: BiLM, left: TextLike = (), right: TextLike = (), topn: int = 10) -> Prediction:
    """The most probable words of the gap between `left` and `right`, each with its probability.

    `forward` is given the left context, `backward` the right context, `both` is their normalized product. An empty
    context is the beginning or end of the sentence. <UNK> is left out.
    """
    forward, backward = distributions(bilm, left, right)
    head = LanguageModelHead(bilm)
    both = forward * backward
    both /= both.sum() or 1.0

    def best(probabilities: Probabilities) -> list[tuple[str, float]]:
        order = np.argsort(-probabilities, kind="stable")
        order = order[order != head.unknown][:topn]
        return [(head.vocabulary[int(id)], float(probabilities[id])) for id in order]

    return Prediction(best(forward), best(backward), best(both))


@torch.no_grad()
def generate(
    bilm: BiLM,
    prompt: TextLike = (),
    *,
    length: int = 40,
    seed: int = 1,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> list[str]:
    """Draws at most `length` words from the forward model, after the prompt.

    </S> ends the sentence; <UNK> is never drawn. A temperature below 1 makes probable words more probable, above 1
    less so. `top_k` limits the draw to the k most probable words, `top_p` to the most probable ones that together
    have this probability.
    """
    _check(length, seed, temperature, top_k, top_p)
    head, rng = LanguageModelHead(bilm), np.random.default_rng(seed)
    words = bilm.tokenizer.words(prompt)
    report_coverage(bilm.measure([words]))
    top, (cell, hidden) = _run_direction(bilm, bilm.forward_layers, [BEGIN, *words], bilm.blank(1), 0)
    generated: list[str] = []
    while len(generated) < length:
        probabilities = head.probabilities(top)
        never = [id for id in (head.unknown, head.begin) if id >= 0]
        probabilities[never] = 0
        id = draw(probabilities, temperature, top_k, top_p, rng)
        if id == head.end:
            break
        generated.append(head.vocabulary[id])
        state = BiLMState(cell[None], hidden[None])
        top, (cell, hidden) = _run_direction(bilm, bilm.forward_layers, generated[-1:], state, 0)
    return generated


def _check(length: int, seed: int, temperature: float, top_k: int | None, top_p: float | None) -> None:
    if seed < 0:
        raise OptionError(f"seed is {seed}, but must be at least 0")
    if length < 0:
        raise OptionError(f"length is {length}, but must be at least 0")
    if not temperature > 0:
        raise OptionError(f"temperature is {temperature}, but must be above 0")
    if top_k is not None and top_k < 1:
        raise OptionError(f"top_k is {top_k}, but must be at least 1")
    if top_p is not None and not 0 < top_p <= 1:
        raise OptionError(f"top_p is {top_p}, but must be above 0 and at most 1")


def draw(
    probabilities: Probabilities,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    rng: np.random.Generator,
) -> int:
    """Draws an id: the probabilities with a temperature, limited to the top k, then to the top ones that sum to p.

    >>> draw(np.array([0.1, 0.6, 0.3]), 1.0, None, 0.5, np.random.default_rng(1))
    1
    """
    order = np.argsort(-probabilities, kind="stable")[:top_k]
    kept = (probabilities[order] / probabilities[order[0]]) ** (1 / temperature)
    kept /= kept.sum()
    edges = np.cumsum(kept)
    if top_p is not None:
        edges = edges[: int(np.searchsorted(edges, top_p)) + 1]
    place = int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))
    return int(order[min(place, len(edges) - 1)])
