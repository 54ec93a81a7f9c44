"""Scores of word vectors: by hand, by law, and equal to gensim's."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from firth import data as places
from firth.errors import FormatError, OptionError
from firth.evaluate import (
    SETS,
    analogies,
    categories,
    evaluate,
    fits,
    similarity,
)
from firth.evaluate.lookup import Lookup
from firth.progress import Progress
from firth.vectors.words import WordVectors

TINY = WordVectors(
    ["king", "man", "woman", "queen", "tea", "coffee"], [[1, 1], [1, 0], [-1, 0], [-1, 1], [0.2, -1], [0.1, -1]]
)
ANALOGIES = """: family
man woman king queen
woman man queen king
: gram1-drinks
man woman tea coffee
man woman tea wine
"""


def write(folder: Path, text: str, name: str = "set.txt") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_similarity_follows_the_ranks_and_counts_what_it_used(tmp_path: Path) -> None:
    file = write(tmp_path, "tea coffee 9\nking queen 5\nman woman 1\ntea dragon 3\n")
    score = similarity(TINY, file)
    assert (score.task, score.name, score.metric, score.used, score.total) == ("similarity", "set", "spearman", 3, 4)
    assert score.value == pytest.approx(1.0)
    assert score.coverage == 0.75


def test_an_unknown_word_can_count_as_a_cosine_of_zero(tmp_path: Path) -> None:
    file = write(tmp_path, "tea coffee 9\nking woman 2\nman woman 1\ntea dragon 8\n")
    score = similarity(TINY, file, dummy4unknown=True)
    cosines = [TINY.unit[4] @ TINY.unit[5], TINY.unit[0] @ TINY.unit[2], -1, 0]
    assert score.value == pytest.approx(stats.spearmanr([9, 2, 1, 8], cosines).statistic)
    assert score.details["pearson"] == pytest.approx(stats.pearsonr([9, 2, 1, 8], cosines).statistic)
    assert (score.used, score.total) == (3, 4)


def test_a_test_that_could_not_be_asked_has_no_value(tmp_path: Path) -> None:
    for score in (
        similarity(TINY, write(tmp_path, "sun moon 3\nrain snow 4\n")),
        analogies(TINY, write(tmp_path, ": s\nsun moon day night\n")),
        categories(TINY, write(tmp_path, "sky sun\nsky moon\n")),
    ):
        assert (score.value, score.interval, score.used) == (None, None, 0)
        assert score.total > 0
        assert "not measured, 0 of" in str(score)
        assert json.loads(json.dumps(score.as_dict(), allow_nan=False))["value"] is None


def test_judgements_that_are_all_the_same_have_no_correlation(tmp_path: Path) -> None:
    score = similarity(TINY, write(tmp_path, "tea coffee 5\nman woman 5\nking queen 5\n"))
    assert (score.value, score.used) == (None, 3)


def test_an_interval_is_the_same_for_the_same_seed_and_holds_the_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    vectors = WordVectors(words, rng.standard_normal((60, 8)).astype(np.float32))
    lines = [
        f"{a} {b} {vectors.unit[i] @ vectors.unit[i + 1] + 0.3 * rng.standard_normal()}"
        for i, (a, b) in enumerate(itertools.pairwise(words))
    ]
    file = write(tmp_path, "\n".join(lines))
    score = similarity(vectors, file, seed=3)
    assert score == similarity(vectors, file, seed=3)
    assert score.interval != similarity(vectors, file, seed=4).interval
    assert score.value is not None
    assert score.interval is not None
    assert score.interval[0] < score.value < score.interval[1]


def test_analogies_are_counted_by_section_by_group_and_in_all(tmp_path: Path) -> None:
    score = analogies(TINY, write(tmp_path, ANALOGIES))
    assert (score.metric, score.value, score.used, score.total) == ("accuracy, 3CosAdd", 1.0, 3, 4)
    sections = score.details["sections"]
    assert (sections["family"]["correct"], sections["family"]["used"], sections["family"]["total"]) == (2, 2, 2)
    assert (sections["gram1-drinks"]["used"], sections["gram1-drinks"]["total"]) == (1, 2)
    assert list(score.details["groups"]) == ["semantic", "syntactic"]
    assert score.details["groups"]["syntactic"]["total"] == 2


def test_unknown_questions_can_count_as_wrong(tmp_path: Path) -> None:
    score = analogies(TINY, write(tmp_path, ANALOGIES), dummy4unknown=True)
    assert (score.value, score.used, score.total) == (0.75, 3, 4)
    assert score.details["sections"]["gram1-drinks"]["accuracy"] == 0.5


def test_questions_without_sections_have_a_total_only(tmp_path: Path) -> None:
    score = analogies(TINY, write(tmp_path, "man\twoman\tking\tqueen\n"), method="3cosmul")
    assert (score.value, score.details["sections"], score.details["groups"]) == (1.0, {}, {})


def test_an_unknown_method_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="method is 'add', but must be one of '3cosadd', '3cosmul'"):
        analogies(TINY, write(tmp_path, ANALOGIES), method="add")  # type: ignore[arg-type]


def test_categories_that_stand_apart_are_pure(tmp_path: Path) -> None:
    text = "royal,king\nroyal,queen\ndrink,tea\ndrink,coffee\ndrink,milk\n"
    score = categories(TINY, write(tmp_path, text, "set.csv"))
    assert (score.metric, score.value, score.used, score.total) == ("purity", 1.0, 4, 5)
    assert score.details["mutual_information"] == pytest.approx(1.0)
    assert 0.5 <= score.details["purity_by_chance"] < 1


def test_evaluate_takes_names_and_files_and_reports_on_itself(tmp_path: Path) -> None:
    pairs = write(tmp_path, "tea coffee 9\nking queen 5\nman woman 1\n", "pairs.txt")
    asked = write(tmp_path, ANALOGIES, "asked.txt")
    groups = write(tmp_path, "royal,king\nroyal,queen\ndrink,tea\ndrink,coffee\n", "groups.csv")
    steps: list[Progress] = []
    scores = evaluate(TINY, [pairs, str(asked), groups], report=steps.append)
    assert [(one.name, one.metric) for one in scores] == [
        ("pairs", "spearman"),
        ("asked", "accuracy, 3CosAdd"),
        ("asked", "accuracy, 3CosMul"),
        ("groups", "purity"),
    ]
    assert steps[-1].share == 1
    assert evaluate(TINY, pairs) == scores[:1]


def test_named_sets_that_fit_are_found_and_others_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    for name, text in (("men", "tea coffee 9\nking queen 5\nman woman 1\n"), ("mturk", "sun moon 1\nrain snow 2\n")):
        file = tmp_path / SETS[name].file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert (fits(TINY, "men"), fits(TINY, "mturk")) == (True, False)
    assert [score.name for score in evaluate(TINY) if not SETS[score.name].ships] == ["men"]
    assert [score.used for score in evaluate(TINY, ["mturk"])] == [0]


def test_a_broken_line_stops_the_evaluation(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"set\.txt:2: "):
        evaluate(TINY, [write(tmp_path, "tea coffee 9\ntea coffee\n")])


@pytest.fixture(scope="module")
def glove(data: Path) -> tuple[WordVectors, Any]:
    """The same vectors for us and for gensim."""
    gensim = pytest.importorskip("gensim.models")
    lines = (data / "fixtures/vectors/glove.6B.50d.top20k.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    words = [line.split(" ", 1)[0] for line in lines]
    matrix = np.array([line.split(" ")[1:] for line in lines], np.float32)
    theirs = gensim.KeyedVectors(50)
    theirs.add_vectors(words, matrix)
    return WordVectors(words, matrix), theirs


@pytest.mark.parametrize("case_insensitive", [True, False])
@pytest.mark.parametrize("dummy4unknown", [True, False])
@pytest.mark.parametrize("name", ["wordsim353", "wordsim353-sim", "wordsim353-rel", "mturk"])
def test_similarity_equals_gensims(
    glove: tuple[WordVectors, Any], data: Path, name: str, case_insensitive: bool, dummy4unknown: bool
) -> None:
    ours, theirs = glove
    file = data / SETS[name].file
    options = {"case_insensitive": case_insensitive, "dummy4unknown": dummy4unknown}
    pearson, spearman, unknown = theirs.evaluate_word_pairs(str(file), **options)
    score = similarity(Lookup(ours, case_insensitive=case_insensitive), file, dummy4unknown=dummy4unknown)
    assert score.value == pytest.approx(spearman[0], abs=1e-6)
    assert score.details["pearson"] == pytest.approx(pearson[0], abs=1e-6)
    assert 100 * (1 - score.coverage) == pytest.approx(unknown)


def every_tenth(file: Path, folder: Path) -> Path:
    """Every tenth question of every section: gensim takes half a minute for all of them."""
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [line for i, line in enumerate(lines) if line.startswith(":") or i % 10 == 0]
    return write(folder, "\n".join(kept))


@pytest.mark.parametrize("dummy4unknown", [True, False])
def test_analogies_equal_gensims_in_every_section(
    glove: tuple[WordVectors, Any], data: Path, tmp_path: Path, dummy4unknown: bool
) -> None:
    ours, theirs = glove
    file = every_tenth(data / SETS["google"].file, tmp_path)
    limit = 5_000 if dummy4unknown else 300_000
    accuracy, sections = theirs.evaluate_word_analogies(str(file), restrict_vocab=limit, dummy4unknown=dummy4unknown)
    score = analogies(Lookup(ours, restrict_vocab=limit), file, dummy4unknown=dummy4unknown)
    assert score.value == pytest.approx(accuracy, abs=1e-12)
    found = score.details["sections"]
    assert list(found) == [section["section"] for section in sections[:-1]]
    for section in sections[:-1]:
        mine = found[section["section"]]
        assert mine["correct"] == len(section["correct"])
        asked = mine["total"] if dummy4unknown else mine["used"]
        assert asked == len(section["correct"]) + len(section["incorrect"])


def test_case_variants_are_treated_as_gensim_treats_them(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    rng = np.random.default_rng(7)
    words = list(dict.fromkeys(spelling for i in range(120) for spelling in (f"w{i}", f"W{i}")[: 1 + i % 2]))
    matrix = rng.standard_normal((len(words), 6)).astype(np.float32)
    theirs = gensim.KeyedVectors(6)
    theirs.add_vectors(words, matrix)
    lines = [" ".join(rng.choice(words, 3)) + " " for _ in range(400)]
    ours = WordVectors(words, matrix)
    asked = []
    for line in lines:  # expect what is there to be found, so that many are right
        a, b, c = line.split()
        near = theirs.most_similar(positive=[b, c], negative=[a], topn=4)
        asked.append(line + near[int(rng.integers(0, 4))][0].upper())
    file = write(tmp_path, ": all\n" + "\n".join(asked))
    for case_insensitive in (True, False):
        _, sections = theirs.evaluate_word_analogies(str(file), case_insensitive=case_insensitive)
        score = analogies(Lookup(ours, case_insensitive=case_insensitive), file)
        assert score.details["correct"] == len(sections[-1]["correct"]) > 20
        assert score.used == len(sections[-1]["correct"]) + len(sections[-1]["incorrect"])


def test_all_named_sets_can_be_asked(
    glove: tuple[WordVectors, Any], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(data))
    ours = glove[0]
    static = [name for name, one in places.SETS.items() if one.task != "senses"]
    english = [name for name in static if not name.startswith("fa/") and not name.endswith("-fa")]
    assert list(dict.fromkeys(score.name for score in evaluate(ours))) == english
    assert {score.used for score in evaluate(ours, [name for name in SETS if name.startswith("fa/s")])} == {0}


def test_the_package_is_a_function_too(tmp_path: Path) -> None:
    import firth

    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("tea\tcoffee\t9\ntea\train\t1\ncoffee\train\t2\n")
    vectors = WordVectors(["tea", "coffee", "rain"], [[1, 0.1], [1, 0.2], [0, 1]])
    firth.save(vectors, tmp_path / "vectors.txt")
    [score] = firth.evaluate(vectors, pairs)
    [same] = firth.evaluate(tmp_path / "vectors.txt", pairs)
    assert score.value == same.value == 1.0
    assert firth.evaluate.similarity(vectors, pairs).value == 1.0
