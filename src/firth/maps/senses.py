"""Senses of a word: its occurrences in sentences, each with its contextual vectors, clustered and named.

An occurrence has a vector in every layer of a biLM. Layer 0 does not depend on the context, so that all occurrences are
one point there. The layers at a word say much about the word and its syntax. What tells its senses apart is its place:
the clusters are found on the context without the word, `layers="context"` of `BiLM.embed`, and the words that the biLM
predicts there name the senses.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError, UnknownWord
from firth.files import read_lines
from firth.maps.clusters import Clusters
from firth.maps.layout import principal_axes
from firth.maps.scatter import PlotField, ScatterData
from firth.models.stop_words import STOP_WORDS
from firth.text.tokenize import Tokenizer
from firth.vectors.neighbors import unit_rows
from firth.vectors.occurrences import Occurrence

FOLDER = Path(__file__).resolve().parent / "sentences"
LANGUAGES = ("en", "fa")
MOST = 2000  # occurrences
MOST_SENSES = 5
NEARLY = 0.85  # of the largest silhouette: more senses must tell more
AROUND = 8  # words on each side that may name a sense
RARE = 1e-4  # added to the probability of a word in the other senses
Weights = tuple[float, float, float]
EQUAL: Weights = (1 / 3, 1 / 3, 1 / 3)


@cache
def example_sentences(language: str = "en") -> dict[str, tuple[tuple[str, str], ...]]:
    """Sentences with ambiguous words, written for this purpose: (sense, sentence) pairs by word.

    >>> sorted({sense for sense, _ in example_sentences()["bat"]})
    ['animal', 'sport']
    """
    if language not in LANGUAGES:
        raise OptionError(f"there are no example sentences in {language!r}. There are: {', '.join(LANGUAGES)}")
    table: dict[str, list[tuple[str, str]]] = {}
    for _, line in read_lines(FOLDER / f"{language}.tsv"):
        word, sense, sentence = line.split("\t")
        table.setdefault(word, []).append((sense, sentence))
    return {word: tuple(rows) for word, rows in table.items()}


def find_occurrences(sentences: Iterable[str | Sequence[str]], word: str) -> list[Occurrence]:
    """The occurrences of a word, whatever their case; text is tokenized.

    >>> [found.marked() for found in find_occurrences(["The bank is closed. Try the other bank."], "bank")]
    ['The [bank] is closed . Try the other bank .', 'The bank is closed . Try the other [bank] .']
    """
    tokenizer = Tokenizer()
    found = []
    for number, sentence in enumerate(sentences):
        words = tuple(tokenizer.words(sentence)) if isinstance(sentence, str) else tuple(sentence)
        folded = word.casefold()
        found += [Occurrence(one, number, at, words, 1.0) for at, one in enumerate(words) if one.casefold() == folded]
    return found


@dataclass(frozen=True, eq=False)
class SenseMap:
    """Occurrences of words with their vectors (3 layers, occurrences, dim), their senses and the names of these.

    `words[i]` is the word that was asked for; `labels[i]` is the sense of occurrence i, an index into `names`.
    `contexts` (occurrences, dim) are the contexts without the word, by which the senses were found. `predicted` says
    that the names are words that the biLM predicts at the place, and not words of the sentences.
    """

    occurrences: Sequence[Occurrence]
    words: Sequence[str]
    vectors: NDArray[np.float32]
    contexts: NDArray[np.float32]
    labels: NDArray[np.int64]
    names: Sequence[str]
    predicted: bool = False

    @classmethod
    def of(
        cls, bilm: Any, sentences: Sequence[str | Sequence[str]], words: Sequence[str], *, senses: int | None = None
    ) -> SenseMap:
        """Embeds the sentences with one of the words, and clusters the occurrences of each word into senses.

        By default there are 2 to 5 senses: the fewest whose silhouette is nearly the largest. A biLM without a full
        softmax, such as the official ones, predicts no words: then the context is the forward state of the previous
        word and the backward state of the next one, and words of the sentences name the senses.
        """
        found = [(word, one) for word in dict.fromkeys(words) for one in find_occurrences(sentences, word)][:MOST]
        for word in words:
            if not any(asked == word for asked, _ in found):
                raise UnknownWord(word, near_words(word, sentences))
        texts = {one.sentence: list(one.words) for _, one in found}
        arrays = dict(zip(texts, bilm.embed(list(texts.values()), layers="all")))
        vectors = np.stack([arrays[one.sentence][:, one.position] for _, one in found], axis=1)  # (layers, found, dim)
        if len(vectors) != 3:
            raise OptionError(f"senses need a biLM of two LSTM layers, but this one has {len(vectors) - 1}")
        places = Places.of(bilm, [(arrays[one.sentence][2], one.position) for _, one in found])
        contexts = places.states
        if places.candidates:
            around = dict(zip(texts, bilm.embed(list(texts.values()), layers="context")))
            contexts = np.stack([around[one.sentence][one.position] for _, one in found])
        labels = np.zeros(len(found), np.int64)
        names: list[str] = []
        for word in dict.fromkeys(words):
            rows = np.array([row for row, (asked, _) in enumerate(found) if asked == word])
            inner = cluster_senses(contexts[rows], senses)
            labels[rows] = inner + len(names)
            named = places.name(rows, inner, word) or name_senses([found[row][1] for row in rows], inner)
            names += [f"{word}: {name}" for name in named] if len(words) > 1 else named
        predicted = bool(places.candidates)
        return cls([one for _, one in found], [word for word, _ in found], vectors, contexts, labels, names, predicted)

    def __len__(self) -> int:
        return len(self.occurrences)

    def mixed(self, weights: Weights = EQUAL, gamma: float = 1.0, *, unit: bool = False) -> NDArray[np.float32]:
        """γ · Σ s_j · layer_j of each occurrence; scaled to length 1 if `unit` is on."""
        mixed = gamma * np.tensordot(np.asarray(weights, np.float32), self.vectors, 1)
        return unit_rows(mixed) if unit else np.asarray(mixed, np.float32)

    def axes(self, weights: Weights = EQUAL, *, unit: bool = True) -> NDArray[np.float32]:
        """The two principal axes (dim, 2) of the mixed vectors. If these are all equal, of layers 1 and 2."""
        mixed = self.mixed(weights, unit=unit)
        if np.allclose(mixed, mixed[:1], atol=1e-6):
            mixed = self.vectors[1:].sum(axis=0)
        return principal_axes(mixed)

    def scatter(
        self,
        weights: Weights = EQUAL,
        gamma: float = 1.0,
        *,
        unit: bool = True,
        starts_with_contexts: bool = True,
        sense: str = "senses",
        mean: str = "mean",
    ) -> ScatterData:
        """The plot: each occurrence is a point, and so is the mean of a word, one vector for all its senses.

        It has the positions of the layers, which can be mixed, and those of the contexts.
        """
        vectors = self._with_means(self.vectors)
        axes = self.axes(weights, unit=unit)
        around = unit_rows(self.contexts)
        contexts = [split_context(one) for one in self.occurrences]
        contexts += [(f"{mean}: ", word, "") for word in dict.fromkeys(self.words)]
        labels = np.concatenate([self.labels, np.full(vectors.shape[1] - len(self), len(self.names))])
        field = PlotField("sense", sense, "category", labels, [*self.names, mean])
        names = [""] * len(self) + [f"{word} ({mean})" for word in dict.fromkeys(self.words)]
        return ScatterData(
            [layer @ axes for layer in vectors],
            names=names,
            contexts=contexts,
            fields=[field],
            vectors=vectors,
            mixing=weights,
            gamma=gamma,
            second=self._with_means(around) @ principal_axes(around),
            starts_second=starts_with_contexts,
            tags=[{"at": at, "text": name, "tone": tone} for tone, (at, name) in enumerate(self.typical())],
        )

    def _with_means(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Vectors (…, occurrences, dim), and after them the mean of each word."""
        means = [rows[..., [one == word for one in self.words], :].mean(axis=-2) for word in dict.fromkeys(self.words)]
        return np.concatenate([rows, np.stack(means, axis=-2)], axis=-2)

    def typical(self) -> list[tuple[int, str]]:
        """For each sense, the occurrence nearest to its center, and the name of the sense."""
        rows = unit_rows(self.contexts)
        found = []
        for label, name in enumerate(self.names):
            members = np.flatnonzero(self.labels == label)
            center = rows[members].mean(axis=0)
            found.append((int(members[(rows[members] @ center).argmax()]), name))
        return found


@dataclass(frozen=True, eq=False)
class Places:
    """What a biLM knows about the places of words without the words: its states there, and the words that it predicts.

    `likely` has the probability of each of `candidates` at each place. Without a full softmax there are none.
    """

    states: NDArray[Any]
    candidates: tuple[str, ...]
    likely: NDArray[Any]

    @classmethod
    def of(cls, bilm: Any, places: Sequence[tuple[NDArray[Any], int]]) -> Places:
        """The places, each with the top layer of its sentence (words, dim) and its position there."""
        from firth.neural.bilm import BiLM

        states = np.stack([find_states(layer, position) for layer, position in places])
        try:
            substitutes = bilm.weight_cache.contexts(bilm).substitutes if isinstance(bilm, BiLM) else None
        except OptionError:  # it has no full softmax
            substitutes = None
        if substitutes is None:
            return cls(states, (), np.zeros((len(states), 0)))
        likely = substitutes.probabilities(substitutes.weight.new_tensor(states))
        return cls(states, substitutes.words, likely.cpu().numpy())

    def name(self, rows: NDArray[Any], labels: NDArray[np.int64], word: str, count: int = 3) -> list[str]:
        """A name for each sense: the words that are predicted there, and not in the others; [] without candidates.

        A word w is typical of sense s by P(w | s) · log (P(w | s) / P(w | other senses)), smoothed.
        """
        names = []
        for label in range(int(labels.max()) + 1 if self.candidates else 0):
            here, there = (self.likely[rows[same]] for same in (labels == label, labels != label))
            inside = here.mean(axis=0)
            outside = there.mean(axis=0) if len(there) else np.zeros_like(inside)
            scores = inside * np.log((inside + 1e-9) / (outside + RARE))
            seen = {word.casefold(): ""}
            for place in np.argsort(-scores, kind="stable").tolist():
                seen.setdefault(self.candidates[place].casefold(), self.candidates[place])
                if len(seen) > count:
                    break
            names.append(" · ".join([*seen.values()][1:]))
        return names


def find_states(layer: NDArray[Any], position: int) -> NDArray[Any]:
    """The forward state of the previous word and the backward state of the next one; zero outside of the sentence.

    >>> find_states(np.array([[1, 10], [2, 20], [3, 30]]), 1).tolist()
    [1, 30]
    >>> find_states(np.array([[1, 10], [2, 20], [3, 30]]), 2).tolist()
    [2, 0]
    """
    half = layer.shape[1] // 2
    before = layer[position - 1, :half] if position > 0 else np.zeros_like(layer[0, :half])
    after = layer[position + 1, half:] if position + 1 < len(layer) else np.zeros_like(layer[0, half:])
    return np.concatenate([before, after])


def map_examples(bilm: Any, language: str = "en", words: Iterable[str] | None = None) -> dict[str, ScatterData]:
    """The plots of the example words of a language, or of some of them."""
    table = example_sentences(language)
    chosen = table if words is None else words
    return {word: SenseMap.of(bilm, [text for _, text in table[word]], [word]).scatter() for word in chosen}


def near_words(word: str, sentences: Iterable[str | Sequence[str]], count: int = 3) -> list[str]:
    """Words of the sentences that are spelled like a word."""
    tokenizer = Tokenizer()
    known = {one for text in sentences for one in (tokenizer.words(text) if isinstance(text, str) else text)}
    return difflib.get_close_matches(word, sorted(known), count)


def split_context(one: Occurrence) -> tuple[str, str, str]:
    """The sentence before the word, the word, and the rest.

    >>> split_context(Occurrence("play", 0, 1, ("to", "play", "ball"), 1.0))
    ('to ', 'play', ' ball')
    """
    before, after = one.words[: one.position], one.words[one.position + 1 :]
    return " ".join((*before, "")), one.word, " ".join(("", *after))


def cluster_senses(vectors: NDArray[Any], senses: int | None = None) -> NDArray[np.int64]:
    """The sense of each occurrence, by spherical k-means around the mean of all.

    >>> cluster_senses(np.array([[1, 5], [1, 6], [9, 5], [9, 6.0]]), 2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    unit = unit_rows(vectors - vectors.mean(axis=0))
    if senses is not None:
        return Clusters.of(unit, min(senses, len(unit)), starts=20).labels
    most = min(MOST_SENSES, len(unit) // 3)
    if most < 2:
        return np.zeros(len(unit), np.int64)
    tried = [Clusters.of(unit, count, starts=20).labels for count in range(2, most + 1)]
    scores = [silhouette(unit, labels) for labels in tried]
    return next(labels for labels, score in zip(tried, scores) if score >= NEARLY * max(scores))


def silhouette(unit: NDArray[Any], labels: NDArray[np.int64]) -> float:
    """The mean silhouette of unit vectors by 1 - cosine (Rousseeuw, 1987); a cluster of one counts as 0.

    >>> unit = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> silhouette(unit, np.array([0, 0, 1, 1])), silhouette(unit, np.array([0, 1, 0, 1]))
    (1.0, -0.5)
    """
    distances = 1 - unit @ unit.T
    members = labels == np.arange(labels.max() + 1)[:, None]  # (clusters, points)
    sizes = members.sum(axis=1)
    sums = distances @ members.T  # (points, clusters)
    rows = np.arange(len(labels))
    inside = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / np.maximum(sizes, 1)
    means[:, sizes == 0] = np.inf
    means[rows, labels] = np.inf
    outside = means.min(axis=1)
    largest = np.maximum(inside, outside)
    values = np.where((sizes[labels] > 1) & (largest > 0), (outside - inside) / np.where(largest > 0, largest, 1), 0.0)
    return float(values.mean())


def name_senses(occurrences: Sequence[Occurrence], labels: NDArray[np.int64], count: int = 3) -> list[str]:
    """A name for each sense: the words that occur around it, and not around the others.

    A word w is typical of sense s by P(w | s) · log (P(w | s) / P(w | other senses)), smoothed. Function words do not
    count.
    """
    around = [weigh_context(one) for one in occurrences]
    names = []
    for label in range(int(labels.max()) + 1):
        inside, outside = Counter[str](), Counter[str]()
        for weights, own in zip(around, labels.tolist()):
            (inside if own == label else outside).update(weights)
        members = int((labels == label).sum())
        others = len(occurrences) - members
        scores = {}
        for word, weight in inside.items():
            here, there = weight / max(members, 1), (outside[word] + 0.25) / (others + 1)
            scores[word] = here * math.log(here / there)
        best = sorted(scores, key=lambda word: (-scores[word], word))[:count]
        names.append(" · ".join(best) or str(label + 1))
    return names


def weigh_context(one: Occurrence) -> dict[str, float]:
    """The words around an occurrence, near ones with a little more weight; no function words, no words of two letters.

    >>> weigh_context(Occurrence("bat", 0, 2, ("he", "swung", "bat"), 1.0))
    {'swung': 1.2}
    """
    weights: dict[str, float] = {}
    first = max(0, one.position - AROUND)
    for place, word in enumerate(one.words[first : one.position + AROUND + 1], first):
        folded = word.casefold()
        if (
            len(word) > 2
            and word[0].isalpha()
            and folded not in STOP_WORDS["english"]
            and folded != one.word.casefold()
        ):
            weights[folded] = max(weights.get(folded, 0.0), 1 + 0.2 / abs(place - one.position))
    return weights
