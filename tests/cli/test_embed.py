"""Bulk work and biLMs from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.bulk.shards import Shards
from firth.cli.main import main
from firth.text.vocabulary import Vocabulary

LINES = ["they play ball", "", "a play on stage"]


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return str(path)


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    path = tmp_path / "tiny.txt"
    path.write_text("play 1 0.1\nball 0.9 0.2\nstage 0 1\na 0.1 0.9\n")
    return str(path)


@pytest.fixture(scope="module")
def bilm(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    words = Vocabulary(["<S>", "</S>", "<UNK>", "tea", "rain", "strong"])
    path = tmp_path_factory.mktemp("bilm") / "tiny"
    firth.save(BiLM(Architecture.named("tiny"), vocabulary=words), path)
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_word_vectors_are_embedded(capsys: pytest.CaptureFixture[str], text: str, vectors: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out.safetensors")
    done = answer(capsys, "embed", vectors, text, "--out", out, "--dtype", "float16", "--tokens", "whitespace")
    assert (done["sentences"], done["tokens"], done["zero_rows"]) == (3, 7, 2)
    assert Shards(out)[0].tolist()[1] == [1, np.float16(0.1)]


def test_a_bilm_is_embedded_layer_by_layer(
    capsys: pytest.CaptureFixture[str], text: str, bilm: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "out.safetensors")
    assert answer(capsys, "embed", bilm, text, "--out", out, "--layers", "all")["row"] == [3, 32]
    wanted = firth.load(bilm).embed([line.split() for line in LINES], layers="all")
    assert all(np.array_equal(a, b) for a, b in zip(Shards(out), wanted))


def test_a_word_is_found_by_its_context(
    capsys: pytest.CaptureFixture[str], text: str, bilm: str, tmp_path: Path
) -> None:
    index = str(tmp_path / "index")
    assert answer(capsys, "index", bilm, text, "--out", index, "--dtype", "float32")["occurrences"] == 7
    assert answer(capsys, "info", index)["kind"] == "Occurrences"
    found = answer(capsys, "neighbors", index, "--context", "they [play] ball", "--topn", "1")
    assert (found[0]["line"], found[0]["position"]) == (1, 1)
    assert found[0]["cosine"] == pytest.approx(1, abs=1e-6)
    context = ("--context", "on a [play]", "--same-word")
    assert {one["word"] for one in answer(capsys, "neighbors", bilm, "--index", index, *context)} == {"play"}
    main(["neighbors", index, *context])
    assert "on a [play]" in capsys.readouterr().out


def test_a_bilm_ranks_sentences_by_each_direction(capsys: pytest.CaptureFixture[str], bilm: str) -> None:
    model = firth.load(bilm)
    for by in ("forward", "backward", "joint"):
        found = answer(capsys, "score", bilm, "strong tea", "tea strong rain", "rain", "--by", by)
        ranks = [one["per_word"][by] for one in found]
        assert ranks == sorted(ranks, reverse=True)
    [score] = model.score([["strong", "tea"]])
    one = next(one for one in found if one["words"] == ["strong", "tea"])
    assert one["per_word"]["forward"] == pytest.approx(np.exp(score.forward / 3))
    assert one["log_prob"] == pytest.approx(score.forward + score.backward)


def test_the_perplexity_of_a_bilm_is_what_its_scores_say(
    capsys: pytest.CaptureFixture[str], bilm: str, tmp_path: Path
) -> None:
    lines = ["strong tea", "rain and strong tea", "tea"]
    path = tmp_path / "held-out.txt"
    for one in lines:
        path.write_text(one + "\n")
        told = answer(capsys, "perplexity", bilm, str(path), "--tokens", "whitespace")
        [score] = answer(capsys, "score", bilm, one)
        assert told["average"] == pytest.approx(1 / score["per_word"]["joint"], rel=1e-5)
        assert told["forward"] == pytest.approx(1 / score["per_word"]["forward"], rel=1e-5)
        assert told["backward"] == pytest.approx(1 / score["per_word"]["backward"], rel=1e-5)
        assert (told["words"], told["unknown"]) == (len(one.split()) + 1, score["unknown"])
    path.write_text("\n".join(lines))
    apart = answer(capsys, "perplexity", bilm, str(path), "--tokens", "whitespace")
    scores = answer(capsys, "score", bilm, *lines)
    assert np.log(apart["forward"]) == pytest.approx(-sum(one["forward"] for one in scores) / 10, rel=1e-5)
    together = answer(
        capsys, "perplexity", bilm, str(path), "--tokens", "whitespace", "--packing", "streams", "--rows", "1"
    )
    assert together["words"] == apart["words"] == 10
    assert together["forward"] != apart["forward"]


def test_a_bilm_writes_text(capsys: pytest.CaptureFixture[str], bilm: str) -> None:
    flags = ("generate", bilm, "strong", "-n", "3", "--length", "4", "--top-p", "0.9")
    texts = answer(capsys, *flags)
    assert texts == answer(capsys, *flags)
    assert all(text.split()[0] == "strong" and len(text.split()) <= 5 for text in texts)


def test_info_tells_what_a_bilm_is(capsys: pytest.CaptureFixture[str], bilm: str) -> None:
    told = answer(capsys, "info", bilm)
    assert (told["kind"], told["dim"], told["layers"]) == ("BiLM", 32, 3)


def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], text: str, vectors: str, bilm: str, tmp_path: Path
) -> None:
    out = str(tmp_path / "o.hdf5")
    assert "names no format" in mistake(capsys, "embed", vectors, text, "--out", str(tmp_path / "o.csv"))
    assert "--device is for contextual models" in mistake(
        capsys, "embed", vectors, text, "--out", out, "--device", "cpu"
    )
    assert "precision is for contextual models" in mistake(
        capsys, "embed", vectors, text, "--out", out, "--precision", "int8"
    )
    assert "layers is 7" in mistake(capsys, "embed", bilm, text, "--out", out, "--layers", "7")
    assert "not an index" in mistake(capsys, "neighbors", vectors, "--context", "to [play]")
    assert "name a word" in mistake(capsys, "neighbors", vectors)
    assert "go with --context" in mistake(capsys, "neighbors", vectors, "tea", "--same-word")
    assert "name no others" in mistake(capsys, "neighbors", vectors, "tea", "--context", "to [play]")
    assert "no softmax" in mistake(capsys, "perplexity", plain_bilm(tmp_path), text)
    assert "rows is 0" in mistake(capsys, "perplexity", bilm, text, "--rows", "0")
    assert "--packing is for biLMs" in mistake(capsys, "perplexity", vectors, text, "--packing", "streams")


def plain_bilm(folder: Path) -> str:
    """A biLM that predicts nothing."""
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    firth.save(BiLM(Architecture.named("tiny")), folder / "plain")
    return str(folder / "plain")
