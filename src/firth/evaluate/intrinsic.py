"""Intrinsic tests of word vectors: similarity, analogies and categories.

Every `Score` contains its coverage, the share of questions whose words are all known, and a 95 % interval, which shows
how much the value could change with other questions of the same kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from firth import data
from firth.arguments import checked
from firth.evaluate import questions, statistics
from firth.evaluate.analogy_search import solve
from firth.evaluate.lookup import Lookup
from firth.evaluate.score import Score, Scores
from firth.evaluate.senses import senses
from firth.files import Name
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.show.bar import shows_progress
from firth.vectors.neighbors import ANALOGY_METHODS, AnalogyMethod, check_method
from firth.vectors.words import WordVectors

FITTING = 0.05  # the least share of a set's words that the vocabulary must contain for a set to be chosen by default

Vectors = WordVectors | Lookup
Flags = NDArray[np.bool_]


@checked
@shows_progress
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
    progress: bool = False,
) -> Scores:
    """The scores of word vectors on test sets. An analogy set gives one score per method, the others one score.

    Each set is a name in `SETS` or a file. By default, all named sets are used that are available and of which the
    vocabulary contains at least 5 % of the words, so that Persian vectors are not tested on English sets. The first
    four options are explained at `Lookup`. Sets of words in context are for contextual models, see `senses`.
    `progress` shows a bar, in a terminal or a notebook.
    """
    lookup = Lookup(
        vectors,
        restrict_vocab=restrict_vocab,
        case_insensitive=case_insensitive,
        normalize=normalize,
        compose=compose,
    )
    sources: list[Name]
    if sets is None:
        static = [name for name in data.available() if data.SETS[name].task != "senses"]
        sources = [name for name in static if fits(lookup, name)]
    else:
        sources = [sets] if isinstance(sets, (str, os.PathLike)) else list(sets)
    scores = Scores()
    for done, source in enumerate(sources):
        report(Progress(f"evaluating {_name(source)}", done, len(sources), "sets"))
        task = questions.task_of(source)
        if task == "similarity":
            scores.append(similarity(lookup, source, dummy4unknown=dummy4unknown, seed=seed))
        elif task == "analogy":
            scores += _analogies(lookup, source, tuple(ANALOGY_METHODS), dummy4unknown, runtime)
        elif task == "senses":
            scores.append(senses(vectors, source, seed=seed))
        else:
            scores.append(categories(lookup, source, seed=seed))
    report(Progress("evaluating", len(sources), len(sources), "sets"))
    return scores


def fits(vectors: Vectors, source: Name) -> bool:
    """Whether the vocabulary contains at least 5 % of a set's words."""
    lookup, words = _lookup(vectors), questions.words_of(source)
    return sum(lookup.find(word) >= 0 for word in words) >= FITTING * len(words)


def similarity(
    vectors: Vectors, source: Name, *, dummy4unknown: bool = False, resamples: int = 1000, seed: int = 0
) -> Score:
    """Spearman's rank correlation between the cosines of word pairs and human ratings.

    Pairs with an unknown word are left out; with `dummy4unknown` they count with a cosine of 0. The details contain
    Pearson's correlation. The interval is a bootstrap over the pairs with `resamples` draws.
    """
    lookup, pairs = _lookup(vectors), questions.read_pairs(source)
    vector_of = {word: lookup.vector(word) for word in dict.fromkeys(word for pair in pairs for word in pair[:2])}
    ratings, cosines, used = [], [], 0
    for pair in pairs:
        first, second = vector_of[pair.first], vector_of[pair.second]
        if first is not None and second is not None:
            used += 1
            ratings.append(pair.score)
            cosines.append(float(first @ second))
        elif dummy4unknown:
            ratings.append(pair.score)
            cosines.append(0.0)
    x, y = np.array(ratings, np.float64), np.array(cosines, np.float64)
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
    """The accuracy of the best answer to questions of the form "a is to b as c is to what?".

    Questions with an unknown word are left out; with `dummy4unknown` they count as wrong. The details contain the
    accuracy, coverage and interval of each section, and of the semantic and syntactic sections together.
    """
    check_method(method)
    return _analogies(_lookup(vectors), source, (method,), dummy4unknown, runtime)[0]


def _analogies(
    lookup: Lookup, source: Name, methods: Sequence[AnalogyMethod], dummy4unknown: bool, runtime: Runtime | None
) -> list[Score]:
    sections = questions.read_analogies(source)
    answers = solve(lookup, [question for section in sections.values() for question in section], methods, runtime)
    names = np.repeat(list(sections), [len(section) for section in sections.values()])  # (questions,)
    groups = np.array([_group(name) for name in names])
    scores = []
    for method in methods:
        correct = answers.correct(method)
        overall = _accuracy(correct, answers.known, dummy4unknown)
        details = {
            "correct": overall["correct"],
            "groups": _accuracies(groups, correct, answers.known, dummy4unknown),
            "sections": _accuracies(names, correct, answers.known, dummy4unknown),
        }
        metric = f"accuracy, {ANALOGY_METHODS[method]}"
        value, interval, used = overall["accuracy"], overall["interval"], overall["used"]
        scores.append(Score("analogy", _name(source), metric, value, interval, used, len(correct), details))
    return scores


def _group(section: str) -> Literal["semantic", "syntactic", ""]:
    if not section:
        return ""
    return "syntactic" if section.lower().startswith(("gram", "syntactic")) else "semantic"


def _accuracies(labels: NDArray[np.str_], correct: Flags, known: Flags, dummy4unknown: bool) -> dict[str, Any]:
    """The accuracy of the questions of each label; questions without a label are left out."""
    accuracies = {}
    for label in dict.fromkeys(labels[labels != ""]):
        rows = labels == label
        accuracies[str(label)] = _accuracy(correct[rows], known[rows], dummy4unknown)
    return accuracies


def _accuracy(correct: Flags, known: Flags, dummy4unknown: bool) -> dict[str, Any]:
    hits, used, total = int(correct.sum()), int(known.sum()), len(known)
    count = total if dummy4unknown else used
    accuracy = hits / count if count else None
    interval = statistics.wilson(hits, count)
    return {"accuracy": accuracy, "interval": interval, "correct": hits, "used": used, "total": total}


def categories(
    vectors: Vectors, source: Name, *, category_column: Literal[1, 2] | None = None, starts: int = 10, seed: int = 0
) -> Score:
    """The purity of k-means clusters: the share of words in the most frequent category of their cluster.

    There are as many clusters as categories; `starts` runs of k-means are made and the tightest one counts. The
    details contain the normalized mutual information and the purity of random clusters of the same sizes. A word in
    two categories counts twice.
    """
    lookup, members = _lookup(vectors), questions.read_categories(source, category_column=category_column)
    known = [(member.category, vector) for member in members if (vector := lookup.vector(member.word)) is not None]
    name, used = _name(source), len(known)
    if not known:
        return Score("categories", name, "purity", None, None, 0, len(members))
    names, truth = np.unique([category for category, _ in known], return_inverse=True)
    clusters = statistics.k_means(np.stack([vector for _, vector in known]), len(names), seed=seed, starts=starts)
    table = statistics.contingency(clusters, truth)
    correct = statistics.majority_count(table)
    rng = np.random.default_rng(seed)
    shuffled = [statistics.majority_count(statistics.contingency(rng.permutation(clusters), truth)) for _ in range(20)]
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
    return str(source) if str(source) in data.SETS else Path(source).stem
