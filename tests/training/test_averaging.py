"""Trainings on a cluster: copies of workers, averaged round by round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.runtime import Runtime
from firth.training.averaging import average, copy_learner, find_changes


@dataclass(frozen=True)
class Workers(Runtime):
    """Tasks in this process, as many at once as there are workers."""

    slots: int = 1
    every: int = 2000

    @property
    def workers(self) -> int:
        return self.slots

    @property
    def average_every(self) -> int:
        return self.every


@pytest.fixture(scope="module")
def corpus() -> firth.Corpus:
    draw = np.random.default_rng(3)
    topics = [[f"{letter}{number}" for number in range(30)] for letter in "abcd"]
    return firth.Corpus.of([" ".join(draw.choice(topics[line % 4], 12)) for line in range(3000)])


RECIPES: list[Any] = [
    firth.Word2Vec(dim=8, epochs=2, min_count=1, subsample=0),
    firth.Word2Vec(dim=8, epochs=1, min_count=1, objective="both"),
    firth.FastText(dim=8, epochs=1, min_count=1, buckets=500),
    firth.Glove(dim=8, epochs=3, min_count=1, window=3),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
def test_one_worker_is_one_thread(corpus: firth.Corpus, recipe: Any) -> None:
    """The mean of one copy is this copy: the same bits as without a cluster."""
    alone = recipe.fit(corpus, runtime=Runtime(1))
    together = recipe.fit(corpus, runtime=Workers(1, slots=1, every=50_000))
    np.testing.assert_array_equal(together.matrix, alone.matrix)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
def test_several_workers_learn(corpus: firth.Corpus, recipe: Any) -> None:
    vectors = recipe.fit(corpus, runtime=Workers(1, slots=3))
    again = recipe.fit(corpus, runtime=Workers(1, slots=3))
    np.testing.assert_array_equal(vectors.matrix, again.matrix)
    near = np.mean([vectors.similarity("a1", f"a{number}") for number in range(2, 12)])
    far = np.mean([vectors.similarity("a1", f"b{number}") for number in range(2, 12)])
    assert near > far
    averaging = vectors.metadata["averaging"]
    assert averaging.items() >= {"workers": 3, "every": 2000}.items()
    if isinstance(recipe, firth.Word2Vec):
        assert averaging["learning_rate"] == pytest.approx(0.025 * 3**0.5)


def test_a_learning_rate_that_is_given_is_used_as_it_is(corpus: firth.Corpus) -> None:
    for recipe in (firth.Word2Vec(dim=4, learning_rate=0.02), firth.Word2Vec(dim=4, architecture="cbow")):
        vectors = replace(recipe, epochs=1, min_count=1).fit(corpus, runtime=Workers(1, slots=3))
        assert vectors.metadata["averaging"]["learning_rate"] == recipe.first_rate


def test_an_interrupted_training_resumes_with_the_same_bits(corpus: firth.Corpus, tmp_path: Path) -> None:
    recipe = RECIPES[0]
    whole = recipe.fit(corpus, runtime=Workers(1, slots=2))
    rounds = 0

    class Stop(Exception):
        pass

    def stop(progress: Any) -> None:
        nonlocal rounds
        rounds += progress.step == "training"
        if rounds == 2:
            raise Stop

    with pytest.raises(Stop):
        recipe.fit(corpus, runtime=Workers(1, slots=2), checkpoint=tmp_path, checkpoint_seconds=0, report=stop)
    resumed = recipe.fit(corpus, runtime=Workers(1, slots=2), checkpoint=tmp_path)
    np.testing.assert_array_equal(resumed.matrix, whole.matrix)
    with pytest.raises(firth.FirthError, match="averaging"):
        recipe.fit(corpus, runtime=Workers(1, slots=3), checkpoint=tmp_path)


def test_changes_that_agree_are_averaged_and_others_added() -> None:
    old = np.zeros((4, 2), np.float32)
    new = [np.array([[2, 0], [0, 3], [0, 0], [1, 1]]), np.array([[4, 0], [6, 0], [0, 0], [1, 1]])]
    average({"x": old}, [find_changes("x", old, one) for one in new])
    assert old.tolist() == [[3, 0], [6, 3], [0, 0], [1, 1]]


def test_any_number_of_workers() -> None:
    for count in range(1, 9):
        rows = np.ones((2, 4), np.float32)
        same = [find_changes("x", rows, rows + np.float32(0.5)) for _ in range(count)]
        average({"x": rows}, same)
        np.testing.assert_allclose(rows, 1.5)  # copies that agree are not counted twice


def test_squared_gradients_are_added() -> None:
    rows = np.ones((1, 4), np.float32)
    average({"x": rows}, [find_changes("x", rows, rows + np.float32(0.5)) for _ in range(3)], summed=2)
    np.testing.assert_allclose(rows, [[1.5, 1.5, 2.5, 2.5]])


def test_a_copy_shares_nothing() -> None:
    @dataclass
    class Learner:
        rows: np.ndarray

        @property
        def arrays(self) -> dict[str, np.ndarray]:
            return {"rows": self.rows}

    rows = np.ones((2, 16), np.float32)
    rows.flags.writeable = False  # as what a worker gets
    copied = copy_learner(Learner(rows))
    copied.rows[:] = 2
    assert rows.max() == 1
    assert copied.rows.ctypes.data % 64 == 0
