"""What a biLM with a softmax says about words: how likely a sentence is, which word fits a gap, how a text goes on."""

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
from firth.neural.inference import embed
from firth.neural.inference.embed import Sentences
from firth.neural.layers import UNKNOWN
from firth.neural.state import BiLMState
from firth.text.character_ids import BEGIN, END
from firth.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

Probabilities = NDArray[np.float64]
LOGITS = 1 << 24  # at a time: a softmax may have a million words
SPELLINGS = {BEGIN: (BEGIN, "<s>"), END: (END, "</s>")}


@dataclass(frozen=True)
class BiLMScore:
    """How likely a sentence is: read forwards (its end counted), backwards (its beginning counted), and both together.

    Logarithms are natural. `per_word` is the geometric mean of all probabilities of both directions.
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
    """The likeliest words of a gap: by what stands before it, by what stands behind it, and by both."""

    forward: list[tuple[str, float]]
    backward: list[tuple[str, float]]
    both: list[tuple[str, float]]


class LanguageModelHead:
    """The softmax of a biLM and the words it predicts."""

    def __init__(self, bilm: BiLM) -> None:
        if bilm.softmax is None or bilm.vocabulary is None:
            raise OptionError(
                "this biLM has no softmax, so it predicts no words; official ELMo weights come without. Train one, or "
                "put the softmax and its vocabulary beside the weights"
            )
        self.bilm, self.softmax, self.vocabulary = bilm, bilm.softmax, bilm.vocabulary
        self.begin, self.end = (_find(self.vocabulary, SPELLINGS[word]) for word in (BEGIN, END))
        self.unknown = _find(self.vocabulary, UNKNOWN)

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The places of words in the softmax; a word that is not there has that of <UNK>."""
        ids = self.vocabulary.ids(words)
        if self.unknown < 0 and np.any(ids < 0):
            word = words[int(np.argmin(ids))]
            raise UnknownWord(word, self.vocabulary.near(word))
        return np.where(ids < 0, self.unknown, ids)

    def log_probs(self, said: Tensor, targets: NDArray[np.int64]) -> Probabilities:
        """The logarithm of the probability of each target after what was said, (n, dim)."""
        found = []
        step = max(1, LOGITS // len(self.vocabulary))
        for start in range(0, len(targets), step):
            logits = self.softmax(said[start : start + step]).float()
            places = torch.from_numpy(targets[start : start + step]).to(logits.device)
            found.append(logits.gather(1, places[:, None])[:, 0] - logits.logsumexp(1))
        return torch.cat(found).cpu().double().numpy()

    def probabilities(self, said: Tensor) -> Probabilities:
        """The probability of every word after what was said, (dim)."""
        return torch.softmax(self.softmax(said).double(), 0).cpu().numpy()


def _find(vocabulary: Vocabulary, spellings: Sequence[str]) -> int:
    return next((id for id in map(vocabulary.find, spellings) if id >= 0), -1)


@torch.no_grad()
def score(bilm: BiLM, sentences: Sentences) -> list[BiLMScore]:
    """How likely each sentence is; see `BiLM.score`."""
    heads = LanguageModelHead(bilm)
    lists = embed.to_word_lists(sentences)
    found: dict[int, BiLMScore] = {}
    for places in embed.batches([len(words) + 2 for words in lists], embed.BATCH_TOKENS):
        batch = [lists[place] for place in places]
        lengths = [len(words) + 2 for words in batch]
        top = embed.contextual_layers(bilm, embed.token_vectors(bilm, batch), lengths, "float32")[-1]
        end = 0
        for place, words in zip(places, batch):
            end += len(words) + 2
            found[place] = _score(heads, words, top[end - len(words) - 2 : end])
    return [found[place] for place in range(len(lists))]


def _score(heads: LanguageModelHead, words: list[str], top: Tensor) -> BiLMScore:
    """The score of one sentence, from its top layer with <S> and </S>, (length + 2, 2 · dim)."""
    ids = heads.ids(words)
    ahead, behind = top.chunk(2, 1)
    forward = heads.log_probs(ahead[:-1], np.append(ids, heads.end)).sum()
    backward = heads.log_probs(behind[1:], np.append(heads.begin, ids)).sum()
    both = float(forward + backward)
    unknown = int(np.count_nonzero(ids == heads.unknown))
    per_word = math.exp(both / (2 * len(words) + 2))
    return BiLMScore(tuple(words), float(forward), float(backward), both, unknown, per_word)


@torch.no_grad()
def distributions(
    bilm: BiLM, left: str | Sequence[str], right: str | Sequence[str]
) -> tuple[Probabilities, Probabilities]:
    """The probability of every word after `left` and before `right`, by its place in the vocabulary."""
    heads = LanguageModelHead(bilm)
    before, behind = embed.to_word_lists([left, right])
    ahead, _ = _read(bilm, bilm.forward_layers, [BEGIN, *before], bilm.blank(1), 0)
    back, _ = _read(bilm, bilm.backward_layers, [END, *reversed(behind)], bilm.blank(1), 1)
    return heads.probabilities(ahead), heads.probabilities(back)


def _read(
    bilm: BiLM, layers: nn.ModuleList, words: list[str], state: BiLMState, direction: int
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """What the top layer of one direction says after words, (dim), and what all its layers remember."""
    vectors = bilm.token_vectors.of(bilm.encoder, words)[None]
    lengths = torch.tensor([len(words)], device=vectors.device)
    outputs, end = bilm.read(layers, vectors, lengths, state, direction)
    return outputs[-1][0, -1], end


def predict(bilm: BiLM, left: str | Sequence[str], right: str | Sequence[str], topn: int) -> Prediction:
    """The likeliest words between `left` and `right`; see `BiLM.predict`."""
    forward, backward = distributions(bilm, left, right)
    heads = LanguageModelHead(bilm)
    both = forward * backward
    both /= both.sum() or 1.0

    def best(probabilities: Probabilities) -> list[tuple[str, float]]:
        order = np.argsort(-probabilities, kind="stable")
        order = order[order != heads.unknown][:topn]
        return [(heads.vocabulary[int(id)], float(probabilities[id])) for id in order]

    return Prediction(best(forward), best(backward), best(both))


@torch.no_grad()
def generate(
    bilm: BiLM,
    prompt: str | Sequence[str],
    *,
    length: int,
    seed: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> list[str]:
    """Words drawn to go on with a prompt; see `BiLM.generate`."""
    _check(length, temperature, top_k, top_p)
    heads, rng = LanguageModelHead(bilm), np.random.default_rng(seed)
    (words,) = embed.to_word_lists([prompt])
    said, (cells, heard) = _read(bilm, bilm.forward_layers, [BEGIN, *words], bilm.blank(1), 0)
    drawn: list[str] = []
    while len(drawn) < length:
        probabilities = heads.probabilities(said)
        never = [id for id in (heads.unknown, heads.begin) if id >= 0]
        probabilities[never] = 0
        id = draw(probabilities, temperature, top_k, top_p, rng)
        if id == heads.end:
            break
        drawn.append(heads.vocabulary[id])
        state = BiLMState(cells[None], heard[None])
        said, (cells, heard) = _read(bilm, bilm.forward_layers, drawn[-1:], state, 0)
    return drawn


def _check(length: int, temperature: float, top_k: int | None, top_p: float | None) -> None:
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
    """A word drawn: the probabilities sharpened or levelled, cut to the k likeliest, then to those that make up p.

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
