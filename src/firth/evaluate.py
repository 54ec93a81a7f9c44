"""How good word vectors and language models are: tests with known answers, and scores that say how much they rest on.

A test never hides what it left out. Every `Score` carries how many of its questions the model could be asked, and an
interval that shows how far another draw of questions could have moved it.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from firth import data
from firth.evaluation import questions, statistics
from firth.evaluation.analogies import solve
from firth.evaluation.lookup import Lookup
from firth.files import Name
from firth.models.ngram_model import NgramModel
from firth.models.perplexity import Perplexity, Surprises
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.vectors.neighbors import ANALOGY_METHODS, AnalogyMethod, check_method
from firth.vectors.words import WordVectors

SETS = data.SETS
FITTING = 0.05  # a set is tried unasked where the vocabulary has at least this share of its words

Vectors = WordVectors | Lookup
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Score:
    """What a test found. `used` of `total` questions could be asked; with none, `value` is None.

    >>> print(Score("similarity", "men", "spearman", 0.71, (0.69, 0.73), used=2990, total=3000))
    men: spearman 0.7100 (0.6900 to 0.7300), 2990 of 3000 used
    """

    task: str
    name: str
    metric: str
    value: float | None
    interval: tuple[float, float] | None
    used: int
    total: int
    details: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def coverage(self) -> float:
        """The share of the test that the model could be asked."""
        return self.used / self.total if self.total else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The score as plain values, ready for JSON."""
        return {**dataclasses.asdict(self), "coverage": self.coverage}

    def __str__(self) -> str:
        value = "not measured" if self.value is None else f"{self.value:.4f}"
        interval = "" if self.interval is None else f" ({self.interval[0]:.4f} to {self.interval[1]:.4f})"
        return f"{self.name}: {self.metric} {value}{interval}, {self.used} of {self.total} used"


def evaluate(
    vectors: WordVectors,
    sets: Name | Iterable[Name] | None = None,
    *,
    restrict_vocab: int = 300_000,
    case_insensitive: bool = True,
    normalize: bool = True,
    compose: bool = True,
    dummy4unknown: bool = False,
    seed: int = 0,
    runtime: Runtime | None = None,
    report: Report = silent,
) -> list[Score]:
    """The scores of word vectors on test sets, each a name in `SETS` or a file; analogies give a score a method.

    How a set's words find their vectors is told by `Lookup`, which has the first four options.
    Without `sets`, every named set is tried that is there and has at least one in twenty of its words in the
    vocabulary: Persian vectors are not asked English questions.
    """
    lookup = Lookup(
        vectors,
        restrict_vocab=restrict_vocab,
        case_insensitive=case_insensitive,
        normalize=normalize,
        compose=compose,
    )
    chosen: list[Name] = [name for name in data.available() if fits(lookup, name)] if sets is None else _listed(sets)
    scores: list[Score] = []
    for done, source in enumerate(chosen):
        report(Progress(f"evaluating {_name(source)}", done, len(chosen), "sets"))
        task = questions.task_of(source)
        if task == "similarity":
            scores.append(similarity(lookup, source, dummy4unknown=dummy4unknown, seed=seed))
        elif task == "analogy":
            scores += _analogies(lookup, source, tuple(ANALOGY_METHODS), dummy4unknown, runtime)
        else:
            scores.append(categories(lookup, source, seed=seed))
    report(Progress("evaluating", len(chosen), len(chosen), "sets"))
    return scores


def _listed(sets: Name | Iterable[Name]) -> list[Name]:
    return [sets] if isinstance(sets, (str, os.PathLike)) else list(sets)


def fits(vectors: Vectors, source: Name) -> bool:
    """Whether the vocabulary has at least one in twenty of a set's words."""
    lookup, words = _lookup(vectors), questions.words_of(source)
    return sum(lookup.find(word) >= 0 for word in words) >= FITTING * len(words)


def similarity(
    vectors: Vectors, source: Name, *, dummy4unknown: bool = False, resamples: int = 1000, seed: int = 0
) -> Score:
    """How well the cosines of pairs of words follow people's judgement: Spearman's rank correlation.

    Pairs with an unknown word are left out, or count as a cosine of 0 with `dummy4unknown`. Pearson's correlation is
    among the details. The interval is a bootstrap over the pairs.
    """
    lookup, pairs = _lookup(vectors), questions.read_pairs(source)
    found = {word: lookup.vector(word) for word in dict.fromkeys(word for pair in pairs for word in pair[:2])}
    judged, cosines, used = [], [], 0
    for pair in pairs:
        first, second = found[pair.first], found[pair.second]
        if first is not None and second is not None:
            used += 1
            judged.append(pair.score)
            cosines.append(float(first @ second))
        elif dummy4unknown:
            judged.append(pair.score)
            cosines.append(0.0)
    x, y = np.array(judged, np.float64), np.array(cosines, np.float64)
    value = statistics.spearman(x, y)
    interval = None if value is None else statistics.spearman_interval(x, y, resamples=resamples, seed=seed)
    details = {"pearson": statistics.pearson(x, y)}
    return Score("similarity", _name(source), "spearman", value, interval, used, len(pairs), details)


def analogies(
    vectors: Vectors,
    source: Name,
    *,
    method: AnalogyMethod = "3cosadd",
    dummy4unknown: bool = False,
    runtime: Runtime | None = None,
) -> Score:
    """How often the best answer to "a is to b as c is to what?" is the expected one.

    Questions with an unknown word are left out, or count as wrong with `dummy4unknown`. The details hold the same for
    each section and for the groups of semantic and syntactic sections, each with its own coverage and interval.
    """
    check_method(method)
    return _analogies(_lookup(vectors), source, (method,), dummy4unknown, runtime)[0]


def _analogies(
    lookup: Lookup, source: Name, methods: Sequence[AnalogyMethod], dummy4unknown: bool, runtime: Runtime | None
) -> list[Score]:
    sections = questions.read_analogies(source)
    answers = solve(lookup, [question for section in sections.values() for question in section], methods, runtime)
    names = np.repeat(list(sections), [len(section) for section in sections.values()])  # of each question
    groups = np.array([_group(name) for name in names])
    scores = []
    for method in methods:
        right = answers.right(method)
        whole = _accuracy(right, answers.asked, dummy4unknown)
        details = {
            "correct": whole["correct"],
            "groups": _by(groups[groups != ""], groups, right, answers.asked, dummy4unknown),
            "sections": _by(names[names != ""], names, right, answers.asked, dummy4unknown),
        }
        metric = f"accuracy, {ANALOGY_METHODS[method]}"
        value, interval = whole["accuracy"], whole["interval"]
        scores.append(Score("analogy", _name(source), metric, value, interval, whole["used"], len(right), details))
    return scores


def _group(section: str) -> Literal["semantic", "syntactic", ""]:
    if not section:
        return ""
    return "syntactic" if section.lower().startswith(("gram", "syntactic")) else "semantic"


def _by(
    kinds: Iterable[str], kind_of: NDArray[np.str_], right: Flags, asked: Flags, dummy4unknown: bool
) -> dict[str, dict[str, Any]]:
    """The accuracy of each kind of question."""
    found = {}
    for kind in dict.fromkeys(kinds):
        here = kind_of == kind
        found[str(kind)] = _accuracy(right[here], asked[here], dummy4unknown)
    return found


def _accuracy(right: Flags, asked: Flags, dummy4unknown: bool) -> dict[str, Any]:
    correct, used, total = int(right.sum()), int(asked.sum()), len(asked)
    count = total if dummy4unknown else used
    accuracy = correct / count if count else None
    interval = statistics.wilson(correct, count)
    return {"accuracy": accuracy, "interval": interval, "correct": correct, "used": used, "total": total}


def categories(
    vectors: Vectors, source: Name, *, category_column: Literal[1, 2] | None = None, starts: int = 10, seed: int = 0
) -> Score:
    """How pure clusters of the words are: the share of words that belong to the commonest category of their cluster.

    k-means finds as many clusters as there are categories, by the vectors alone. The details hold the normalized
    mutual information, and the purity that clusters of the same sizes reach by chance. A word that stands in two
    categories counts twice.
    """
    lookup, members = _lookup(vectors), questions.read_categories(source, category_column=category_column)
    found = [(member.category, vector) for member in members if (vector := lookup.vector(member.word)) is not None]
    name, used = _name(source), len(found)
    if not found:
        return Score("categories", name, "purity", None, None, 0, len(members))
    names, truth = np.unique([category for category, _ in found], return_inverse=True)
    clusters = statistics.k_means(np.stack([vector for _, vector in found]), len(names), seed=seed, starts=starts)
    table = statistics.contingency(clusters, truth)
    correct = statistics.majority(table)
    rng = np.random.default_rng(seed)
    shuffled = [statistics.majority(statistics.contingency(rng.permutation(clusters), truth)) for _ in range(20)]
    details = {
        "categories": len(names),
        "mutual_information": statistics.mutual_information(table),
        "purity_by_chance": sum(shuffled) / len(shuffled) / used,
    }
    interval = statistics.wilson(correct, used)
    return Score("categories", name, "purity", correct / used, interval, used, len(members), details)


def _lookup(vectors: Vectors) -> Lookup:
    return vectors if isinstance(vectors, Lookup) else Lookup(vectors)


def _name(source: Name) -> str:
    return str(source) if str(source) in SETS else Path(source).stem


class LanguageModel(Protocol):
    """Anything that gives the natural logarithm of the probability of each word of a sentence, and then of its end."""

    def log_probs(self, words: Sequence[str], /) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class RankedSentence:
    """A sentence and how likely a language model finds it, the end of the sentence counted as a word."""

    words: tuple[str, ...]
    log_prob: float
    per_word: float
    unknown_words: tuple[str, ...] = ()

    @property
    def unknown(self) -> int:
        """How many of the words the model does not know."""
        return len(self.unknown_words)

    def as_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON; the logarithm of an impossible sentence is None."""
        log_prob = self.log_prob if math.isfinite(self.log_prob) else None
        return {**dataclasses.asdict(self), "log_prob": log_prob, "unknown": self.unknown}


def rank_sentences(model: LanguageModel, sentences: Iterable[str | Sequence[str]]) -> list[RankedSentence]:
    """Sentences by falling probability per word (the geometric mean), so that long ones are not at a disadvantage.

    A sentence is a list of words, or text with blanks between the words.

    >>> class Coin:
    ...     def log_probs(self, words):
    ...         return np.log([0.5 if word == "heads" else 0.25 for word in words] + [1.0])
    >>> [(" ".join(one.words), round(one.per_word, 3)) for one in rank_sentences(Coin(), ["tails", "heads heads"])]
    [('heads heads', 0.63), ('tails', 0.5)]
    """
    ranked = []
    for sentence in sentences:
        words = tuple(sentence.split() if isinstance(sentence, str) else sentence)
        log_probs = model.log_probs(words)
        log_prob = float(log_probs.sum())
        per_word = math.exp(log_prob / len(log_probs))
        ranked.append(RankedSentence(words, log_prob, per_word, _unknown(model, words)))
    return sorted(ranked, key=lambda one: -one.per_word)


def perplexity(model: LanguageModel, sentences: Iterable[Sequence[str]], *, name: str = "text") -> Score:
    """How many equally likely words a model wavers between, on average, at each word and each end of a sentence.

    `used` of `total` words are known to the model; unknown words count with the probability that the model gives
    them, and the details also have the perplexity without them. Where the model finds a word impossible the value is
    None. The interval treats sentences as the units that chance draws.

    >>> class Die:
    ...     def log_probs(self, words):
    ...         return np.full(len(words) + 1, np.log(1 / 6))
    >>> round(perplexity(Die(), [["1", "5"], ["3"]]).value, 6)
    6.0
    """
    surprises = Surprises.joined(_surprises(model, sentences))
    if not len(surprises.words):
        nothing = dict.fromkeys(("log_prob", "bits_per_token", "without_unknown"))
        return Score("language", name, "perplexity", None, None, 0, 0, {"sentences": 0, "tokens": 0, **nothing})
    found = Perplexity.of([surprises])
    possible = math.isfinite(found.log_prob)
    edges = statistics.ratio_interval(surprises.log_probs, surprises.words.astype(np.float64)) if possible else None
    details = {
        "sentences": found.sentences,
        "tokens": found.words,
        "log_prob": _finite(found.log_prob),
        "bits_per_token": _finite(-found.log_prob / found.words / math.log(2)),
        "without_unknown": _finite(found.without_unknown),
    }
    interval = None if edges is None else (math.exp(-edges[1]), math.exp(-edges[0]))
    value, total = _finite(found.value), found.words - found.sentences
    return Score("language", name, "perplexity", value, interval, total - found.unknown, total, details)


def _surprises(model: LanguageModel, sentences: Iterable[Sequence[str]]) -> Iterator[Surprises]:
    """What each sentence adds to the perplexity; an n-gram model tells it of many at a time."""
    if isinstance(model, NgramModel):
        yield from model.surprises(sentences)
        return
    for words in sentences:
        strange = set(_unknown(model, words))
        known = np.array([word not in strange for word in words] + [True], bool)
        yield Surprises.of_sentence(model.log_probs(words), known)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _unknown(model: LanguageModel, words: Sequence[str]) -> tuple[str, ...]:
    vocabulary = getattr(model, "vocabulary", None)
    return () if vocabulary is None else tuple(word for word in words if word not in vocabulary)
