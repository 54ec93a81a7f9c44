"""Training step by step: the steps go down the gradient of their loss, and repeat exactly."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.explorer.answers.lesson import ALGORITHMS, Lesson, logistic_step, ngrams, take_lesson, windows

TEXT = "the king drinks tea\nthe queen drinks coffee"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_loss_falls_and_the_same_arguments_give_the_same_numbers(algorithm: str) -> None:
    lesson = take_lesson(algorithm, TEXT, 600)
    assert np.mean(lesson.losses[-50:]) < 0.9 * np.mean(lesson.losses[:50])
    np.testing.assert_array_equal(take_lesson(algorithm, TEXT, 600).first, lesson.first)
    assert take_lesson(algorithm, TEXT, 0).last is None


def test_a_step_is_the_gradient_of_its_loss() -> None:
    def make() -> Lesson:
        rng = np.random.default_rng(3)
        return Lesson(
            ("a", "b", "c"), ("a", "b", "c"), ("a", "b", "c"), rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), []
        )

    wanted, tiny = [(1, 1.0), (2, 0.0)], 1e-6
    before, after = make(), make()
    logistic_step(after, [0, 2], wanted, tiny, 0, (1,))
    for table in ("first", "second"):
        moved = (getattr(before, table) - getattr(after, table)) / tiny
        for place in np.ndindex(3, 4):
            losses = []
            for shift in (1e-5, -1e-5):
                shifted = make()
                getattr(shifted, table)[place] += shift
                losses.append(logistic_step(shifted, [0, 2], wanted, 0.0, 0, (1,)).loss)
            assert moved[place] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-4)


def test_windows_end_at_the_sentence_and_fasttext_has_rows_of_trigrams() -> None:
    assert list(windows([["a", "b"], ["c"], ["d", "e"]], 2)) == [(0, (1,)), (1, (0,)), (3, (4,)), (4, (3,))]
    assert ngrams("tea") == ("<te", "tea", "ea>")
    lesson = take_lesson("fasttext", "tea tee", 1)
    assert {"<te", "ee>"} <= set(lesson.names)
    assert lesson.last is not None
    assert len(lesson.last.inputs) == 4


def test_a_cell_of_glove_approaches_its_logarithm() -> None:
    lesson = take_lesson("glove", "tea cup tea cup tea", 1500, rate=0.5)
    assert lesson.last is not None
    [prediction] = lesson.last.predictions
    assert prediction.score == pytest.approx(prediction.wanted, abs=0.2)


@pytest.mark.parametrize(("algorithm", "text"), [("bert", "a b"), ("cbow", "a"), ("cbow", "a " * 500)])
def test_what_cannot_be_learned_is_an_error(algorithm: str, text: str) -> None:
    with pytest.raises(OptionError):
        take_lesson(algorithm, text, 1)
