"""Commands about words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.cli.main import main


def test_neighbors_are_ranked_by_cosine(answer: Callable[..., Any], vectors: str) -> None:
    [found] = answer("neighbors", vectors, "tea", "--topn", "2")
    assert [near["word"] for near in found["neighbors"]] == ["coffee", "boat"]


def test_the_picture_and_the_json_tell_the_same(
    answer: Callable[..., Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, vectors: str
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    main(["neighbors", vectors, "tea"])
    monkeypatch.undo()
    picture = capsys.readouterr().out
    for near in answer("neighbors", vectors, "tea")[0]["neighbors"]:
        assert f"{near['cosine']:.4f}" in picture


def test_similarity_odd_and_vector(answer: Callable[..., Any], vectors: str) -> None:
    assert answer("similarity", vectors, "boat", "ship")["cosine"] == pytest.approx(0.9939, abs=1e-4)
    assert np.shape(answer("similarity", vectors, "tea", "boat", "ship")["cosines"]) == (3, 3)
    assert answer("odd", vectors, "boat", "ship", "tea")["odd"] == "tea"
    assert answer("vector", vectors, "boat") == {"boat": [0, 1, 0]}


def test_an_unknown_word_names_near_spellings(mistake: Callable[..., str], vectors: str) -> None:
    assert "Near spellings: 'coffee'" in mistake("neighbors", vectors, "cofee")


def test_a_word_is_found_by_its_context(
    answer: Callable[..., Any], capsys: pytest.CaptureFixture[str], three_lines: str, bilm: str, tmp_path: Path
) -> None:
    index = str(tmp_path / "index")
    assert answer("index", bilm, three_lines, "--out", index, "--dtype", "float32")["occurrences"] == 7
    assert answer("info", index)["kind"] == "Occurrences"
    found = answer("neighbors", index, "--context", "they [play] ball", "--topn", "1")
    assert (found[0]["line"], found[0]["position"]) == (1, 1)
    assert found[0]["cosine"] == pytest.approx(1, abs=1e-6)
    context = ("--context", "on a [play]", "--same-word")
    assert {one["word"] for one in answer("neighbors", bilm, "--index", index, *context)} == {"play"}
    main(["neighbors", index, *context])
    assert "a [play] on stage" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"model": None}, "the metadata has no 'model'"),
        ({"layers": [1]}, "layers is '[1]'"),
        ({"layers": "9" * 5000}, "but must be mix, all, top"),
        ({"settings": {"unheard": 1}}, "the settings in its metadata do not fit"),
    ],
)
def test_an_index_that_somebody_changed_is_a_mistake(
    mistake: Callable[..., str],
    three_lines: str,
    bilm: str,
    answer: Callable[..., Any],
    tmp_path: Path,
    change: dict[str, Any],
    problem: str,
) -> None:
    answer("index", bilm, three_lines, "--out", str(tmp_path / "index"))
    config = json.loads((tmp_path / "index" / "config.json").read_text())
    config["config"]["metadata"] |= change
    (tmp_path / "index" / "config.json").write_text(json.dumps(config))
    assert problem in mistake("neighbors", str(tmp_path / "index"), "--context", "they [play] ball")


def test_the_wrong_words_or_model_are_mistakes(mistake: Callable[..., str], vectors: str) -> None:
    assert "give a word" in mistake("neighbors", vectors)
    assert "need --context" in mistake("neighbors", vectors, "tea", "--same-word")
    assert "give no other words" in mistake("neighbors", vectors, "tea", "--context", "to [play]")
    assert "at least two words" in mistake("similarity", vectors, "tea")
    assert "needs an index" in mistake("neighbors", vectors, "--context", "to [play]")
    assert "needs co-occurrence counts" in mistake("ratio", vectors, "tea", "coffee", "boat")
    assert "needs a fastText model" in mistake("explain", vectors, "tea")


def test_n_grams_of_a_word_are_explained(answer: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    [explained] = answer("explain", "fasttext-en", "teapots")
    assert explained["word"] == "teapots"
    main(["explain", "fasttext-en", "teapots"])
    assert explained["shares"][0]["ngram"] in capsys.readouterr().out
