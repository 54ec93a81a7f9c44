"""Blocked answers to analogies, against a plain reference and against gensim."""

from __future__ import annotations

import numpy as np
import pytest

from firth.evaluate import analogy_search
from firth.evaluate.analogy_search import solve
from firth.evaluate.lookup import Lookup
from firth.evaluate.questions import AnalogyQuestion
from firth.runtime import Runtime
from firth.text.subwords import Subwords
from firth.vectors.neighbors import ANALOGY_METHODS, AnalogyMethod
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors


def solve_plainly(lookup: Lookup, question: AnalogyQuestion, method: AnalogyMethod) -> int:
    """One question at a time, as the papers write it."""
    a, b, c = (lookup.unit @ lookup.vector(word) for word in question[:3])
    if method == "3cosadd":
        scores = b + c - a
    else:
        scores = (1 + b) / 2 * (1 + c) / 2 / ((1 + a) / 2 + 1e-6)
    own = {lookup.find(word) for word in question[:3]}
    return int(max((score, -first) for score, first in zip(scores, lookup.spellings) if first not in own)[1] * -1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("method", ANALOGY_METHODS)
def test_blocks_and_threads_answer_as_one_question_at_a_time(
    monkeypatch: pytest.MonkeyPatch, method: AnalogyMethod, threads: int
) -> None:
    monkeypatch.setattr(analogy_search, "CELLS", 1)  # the smallest blocks: 256 words
    monkeypatch.setattr(analogy_search, "TILE", 1000)
    rng = np.random.default_rng(0)
    words = [f"W{i}" if i % 3 else f"w{i - 1}" for i in range(600)]
    lookup = Lookup(WordVectors(words, rng.standard_normal((600, 5)).astype(np.float32)))
    questions = [AnalogyQuestion(*(words[i] for i in row)) for row in rng.integers(0, 600, (80, 4))]
    answers = solve(lookup, questions, [method], Runtime(threads))
    assert answers.known.all()
    assert answers.predicted[method].tolist() == [solve_plainly(lookup, question, method) for question in questions]


def test_no_spelling_of_the_questions_words_is_an_answer() -> None:
    words = ["king", "King", "man", "woman", "queen", "Queen"]
    vectors = WordVectors(words, [[1, 1], [0.9, 1.1], [1, 0], [-1, 0], [-1, 1], [-1, 1.01]])
    answers = solve(Lookup(vectors), [AnalogyQuestion("man", "woman", "KING", "QUEEN")])
    for method in ANALOGY_METHODS:
        assert answers.predicted[method].tolist() == [4]
        assert answers.correct(method).all()


def test_a_question_with_an_unknown_word_is_not_asked() -> None:
    vectors = WordVectors(["a", "b", "c", "d"], np.eye(4))
    answers = solve(Lookup(vectors), [AnalogyQuestion("a", "b", "c", "x"), AnalogyQuestion("x", "b", "c", "d")])
    assert answers.known.tolist() == [False, False]
    assert answers.predicted["3cosadd"].tolist() == [-1, -1]


def test_where_every_word_is_in_the_question_there_is_no_answer() -> None:
    vectors = WordVectors(["a", "b", "c"], np.eye(3))
    answers = solve(Lookup(vectors), [AnalogyQuestion("a", "b", "c", "a")])
    assert answers.predicted["3cosadd"].tolist() == answers.predicted["3cosmul"].tolist() == [-1]
    assert not answers.correct("3cosadd").any()


def test_opposite_vectors_do_not_break_the_product() -> None:
    vectors = WordVectors(["a", "b", "c", "d"], [[1, 0], [-1, 0], [1, 0], [0, 1]])
    assert solve(Lookup(vectors), [AnalogyQuestion("a", "b", "c", "d")]).predicted["3cosmul"].tolist() == [3]


def test_an_unseen_word_can_be_asked_about_but_not_be_the_answer() -> None:
    rows = np.random.default_rng(0).standard_normal((54, 4)).astype(np.float32)
    vectors = SubwordVectors(["tea", "cup", "pot", "jar"], rows, Subwords(minn=2, maxn=3, buckets=50))
    asked = [AnalogyQuestion("teas", "tea", "cup", "pot"), AnalogyQuestion("tea", "cup", "pot", "teapot")]
    assert solve(Lookup(vectors), asked).known.tolist() == [True, False]


@pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning")
def test_the_multiplicative_answers_are_gensims() -> None:
    gensim = pytest.importorskip("gensim.models")
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(500)]
    matrix = rng.standard_normal((500, 12)).astype(np.float32)
    theirs = gensim.KeyedVectors(12)
    theirs.add_vectors(words, matrix)
    questions = [AnalogyQuestion(*(words[i] for i in rng.choice(500, 4, replace=False))) for _ in range(60)]
    ours = solve(Lookup(WordVectors(words, matrix)), questions, ["3cosmul"]).predicted["3cosmul"]
    for (a, b, c, _), id in zip(questions, ours):
        assert theirs.most_similar_cosmul(positive=[b, c], negative=[a], topn=1)[0][0] == words[id]
