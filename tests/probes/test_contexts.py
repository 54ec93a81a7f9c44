from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from firth.errors import FormatError
from firth.probes import contexts
from firth.probes.readers import StaticReader, WordSpan
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors


@given(some.lists(some.tuples(some.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5]), some.booleans()), min_size=1, max_size=12))
def test_no_other_threshold_is_better(pairs: list[tuple[float, bool]]) -> None:
    scores, same = (np.array(one, float) for one in zip(*pairs))
    found = contexts.accuracy(scores, same, contexts.best_threshold(scores, same))
    others = [contexts.accuracy(scores, same, cut) for cut in (-1.0, 0.15, 0.25, 0.35, 0.45, 2.0)]
    assert found == pytest.approx(max(others))


def test_the_measures_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=50), rng.normal(size=50)
    y += x
    linear, ranked = stats.pearsonr(x, y).statistic, stats.spearmanr(x, y).statistic
    assert contexts.harmonic_correlation(x, y) == pytest.approx(stats.hmean([linear, ranked]))
    mirrored = stats.pearsonr(np.concatenate([x, -x]), np.concatenate([y, -y])).statistic  # means are 0
    assert contexts.uncentered_correlation(x, y) == pytest.approx(mirrored)
    assert contexts.uncentered_correlation(x, np.zeros(50)) is None
    assert contexts.harmonic_correlation(x, np.ones(50)) is None
    assert contexts.harmonic_correlation(x, -x) == 0


def test_the_cosine_is_that_of_the_words_where_they_stand() -> None:
    reader = StaticReader("x", WordVectors(["tea", "rain"], [[1, 0], [1, 1]]))
    one, other = WordSpan(["some", "tea"], 1, 2), WordSpan(["rain", "fell"], 0, 1)
    found = contexts.cosines(
        reader, [contexts.ContextPair(one, other, 1.0), contexts.ContextPair(one, WordSpan(["x"], 0, 1), 0.0)]
    )
    assert np.allclose(found, [[0.5**0.5, 0.0]])


def test_wic_is_read_with_its_answers(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("carry\tV\t2-1\tYou must carry gear .\tSound carries well .\n")
    (tmp_path / "gold").write_text("F\n")
    [pair] = contexts.read_wic(tmp_path / "data", tmp_path / "gold")
    assert [place.words[place.start] for place in (pair.one, pair.other)] == ["carry", "carries"]
    assert pair.gold == 0
    (tmp_path / "data").write_text("carry\tV\t9-1\tYou must carry gear .\tSound carries well .\n")
    with pytest.raises(FormatError, match="no word 9"):
        contexts.read_wic(tmp_path / "data", tmp_path / "gold")
    (tmp_path / "gold").write_text("maybe\n")
    with pytest.raises(FormatError, match="an answer T or F"):
        contexts.read_wic(tmp_path / "data", tmp_path / "gold")


def test_a_marked_word_that_is_part_of_another_becomes_a_word() -> None:
    found = contexts.find_strong_words(
        "A high-<strong>alcohol</strong> brew and <strong>whisky</strong>.", Tokenizer(), True
    )
    assert found["alcohol"].words[found["alcohol"].start] == "alcohol"
    assert found["whisky"].words == found["alcohol"].words


def test_texts_without_marks_are_named(tmp_path: Path) -> None:
    line = "\t".join(["1", "tea", "n", "rain", "n", "no mark", "a <b> mark </b>", "5.0", *(["1"] * 10)])
    (tmp_path / "scws.txt").write_text(line + "\n")
    with pytest.raises(FormatError, match=":1: expected one word between"):
        contexts.read_scws(tmp_path / "scws.txt")


def test_the_three_sets_are_whole(data: Path) -> None:
    folder = data / "data/intrinsic/context"
    train = contexts.read_wic(folder / "wic/train/train.data.txt", folder / "wic/train/train.gold.txt")
    assert len(train) == 5428
    assert contexts.gold_ratings(train).mean() == 0.5
    scws = contexts.read_scws(folder / "scws.txt")
    assert len(scws) == 2003
    assert scws[0].one.words[scws[0].one.start] == "Brazil"
    pairs = contexts.read_cosimlex(folder / "cosimlex-en.csv")
    assert len(pairs) == 340
    assert (pairs[0].first.gold, pairs[0].second.gold) == (2.27, 1.37)


@pytest.mark.parametrize("places", ["0", "0-1-2", "0-9", "0-" + "9" * 5000, "0-²"])
def test_places_of_wic_that_are_not_two_words_are_refused(tmp_path: Path, places: str) -> None:
    (tmp_path / "data").write_text(f"play\tN\t{places}\tplay now\tthe play\n")
    (tmp_path / "gold").write_text("T\n")
    with pytest.raises(FormatError, match=r"data:1: "):
        contexts.read_wic(tmp_path / "data", tmp_path / "gold")


def test_a_carriage_return_in_cosimlex_is_no_exception_of_the_csv_module(tmp_path: Path) -> None:
    (tmp_path / "cosimlex").write_bytes(b"word1\tcontext1\n\ntea\tSome \r tea\n")
    with pytest.raises(FormatError, match=r"cosimlex:3: "):
        contexts.read_cosimlex(tmp_path / "cosimlex")
