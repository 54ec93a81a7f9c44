"""The command line as a person types it: answers, JSON, and mistakes in one line."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.cli.main import COMMANDS, main
from firth.tour.materials import own_text


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("vectors") / "tiny.txt"
    path.write_text("tea 1 0.1 0\ncoffee 0.9 0.2 0\nboat 0 1 0\nship 0 0.9 0.1\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("text") / "tour.txt"
    path.write_text(own_text(), encoding="utf-8")
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON that a command prints."""
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a command fails with."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("firth: ")
    return captured.err


def test_neighbors_are_ranked_by_cosine(capsys: pytest.CaptureFixture[str], vectors: str) -> None:
    [found] = answer(capsys, "neighbors", vectors, "tea", "--topn", "2")
    assert [near["word"] for near in found["neighbors"]] == ["coffee", "boat"]


def test_the_picture_and_the_json_tell_the_same(capsys: pytest.CaptureFixture[str], vectors: str) -> None:
    main(["neighbors", vectors, "tea"])
    picture = capsys.readouterr().out
    for near in answer(capsys, "neighbors", vectors, "tea")[0]["neighbors"]:
        assert f"{near['cosine']:.4f}" in picture


def test_similarity_odd_and_vector(capsys: pytest.CaptureFixture[str], vectors: str) -> None:
    assert answer(capsys, "similarity", vectors, "boat", "ship")["cosine"] == pytest.approx(0.9939, abs=1e-4)
    assert np.shape(answer(capsys, "similarity", vectors, "tea", "boat", "ship")["cosines"]) == (3, 3)
    assert answer(capsys, "odd", vectors, "boat", "ship", "tea")["odd"] == "tea"
    assert answer(capsys, "vector", vectors, "boat") == {"boat": [0, 1, 0]}


def test_an_unknown_word_names_near_spellings(capsys: pytest.CaptureFixture[str], vectors: str) -> None:
    assert "Near spellings: 'coffee'" in mistake(capsys, "neighbors", vectors, "cofee")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("neighbors", "no-such-file.bin", "tea"), "no-such-file.bin"),
        (("neighbors", "x"), "neighbors"),
        (("train", "counts", "no-such-corpus", "--out", "x"), "no such file, folder or pattern"),
        (("train", "counts", "-", "--out", "x", "--window", "0"), "window is 0, but must be at least 1"),
        (("train", "counts", "-", "--out", "x", "--windw", "3"), "--windw"),
    ],
)
def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    assert message in mistake(capsys, *arguments)


def test_the_wrong_kind_of_model_is_named(capsys: pytest.CaptureFixture[str], vectors: str) -> None:
    assert "needs a language model" in mistake(capsys, "score", vectors, "strong tea")
    assert "no counts" in mistake(capsys, "ratio", vectors, "tea", "coffee", "boat")
    assert "no n-grams" in mistake(capsys, "explain", vectors, "tea")


def test_convert_keeps_every_number(capsys: pytest.CaptureFixture[str], vectors: str, tmp_path: Path) -> None:
    values = answer(capsys, "convert", vectors, str(tmp_path / "out.bin"), "--format", "word2vec-binary")
    assert values["words"] == 4
    assert np.array_equal(firth.load(tmp_path / "out.bin").matrix, firth.load(vectors).matrix)


def test_tokens_come_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("I can't go. می‌روم.".encode())))
    main(["tokens", "-", "--out", str(tmp_path / "tokens.txt.gz")])
    assert gzip.open(tmp_path / "tokens.txt.gz", "rt", encoding="utf-8").read() == "I ca n't go .\nمی‌روم .\n"


def test_tokens_as_json_point_into_the_source(capsys: pytest.CaptureFixture[str], text: str) -> None:
    main(["tokens", text, "--json"])
    source = Path(text).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [token["text"] for token in lines[0]][:3] == ["A", "firth", "is"]
    assert all(source[token["start"] : token["end"]] == token["text"] for line in lines for token in line)


def test_vocab_counts_what_is_there(capsys: pytest.CaptureFixture[str], text: str, tmp_path: Path) -> None:
    values = answer(capsys, "vocab", text, "--fold-case", "--out", str(tmp_path / "vocab.txt"), "--min-count", "2")
    assert values["words"][0]["word"] == "the"
    assert values["kept"] < values["types"]
    assert firth.Vocabulary.load(tmp_path / "vocab.txt").total <= values["tokens"]


def test_train_ratio_and_neighbors(capsys: pytest.CaptureFixture[str], text: str, tmp_path: Path) -> None:
    counts = str(tmp_path / "counts")
    answer(capsys, "train", "counts", text, "--kind", "co-occurrence", "--fold-case", "--out", counts)
    ratios = answer(capsys, "ratio", counts, "ice", "steam", "solid", "gas", "water", "fashion")
    assert "solid" in json.dumps(ratios)
    vectors = str(tmp_path / "vectors")
    answer(capsys, "train", "counts", text, "--kind", "svd", "--dim", "20", "--fold-case", "--out", vectors)
    assert answer(capsys, "info", vectors)["dim"] == 20


def test_train_score_perplexity_and_generate(capsys: pytest.CaptureFixture[str], text: str, tmp_path: Path) -> None:
    arpa = str(tmp_path / "model.arpa")
    answer(capsys, "train", "ngram", text, "--order", "3", "--fold-case", "--out", arpa)
    ranked = answer(capsys, "score", arpa, "powerful tea", "strong tea")
    assert [one["words"] for one in ranked] == [["strong", "tea"], ["powerful", "tea"]]
    assert answer(capsys, "perplexity", arpa, text, "--fold-case")["value"] > 1
    first = answer(capsys, "generate", arpa, "my mother", "--count", "2", "--seed", "3")
    assert first == answer(capsys, "generate", arpa, "my mother", "--count", "2", "--seed", "3")
    assert all(sentence.startswith("my mother") for sentence in first)


def test_evaluate_takes_a_file_of_pairs(capsys: pytest.CaptureFixture[str], vectors: str, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("tea\tcoffee\t9\nboat\tship\t10\ntea\tboat\t1\ntea\tkettle\t5\n")
    [score] = answer(capsys, "evaluate", vectors, str(pairs))
    assert (score["value"], score["used"], score["total"]) == (1.0, 3, 4)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_example(capsys: pytest.CaptureFixture[str], name: str) -> None:
    main([name, "--help"])
    shown = capsys.readouterr().out
    assert f"firth {name}" in shown.split("For example:")[1]
    assert "--json" in shown


def test_the_tour_makes_a_picture_and_a_command_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    steps = answer(capsys, "tour")
    assert [step["title"] for step in steps][:3] == ["Tokens", "Counts", "TF-IDF"]
    assert all(step["command"].startswith("firth ") for step in steps)
    [files] = [step for step in steps if step["title"] == "Files"]
    assert all(one["kept"] for one in files["values"]["formats"])
    assert steps[-1]["title"] == "Six tasks"


def test_the_tour_walks_over_a_text_of_the_users(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("The old lighthouse keeper watched the ships. The ships passed the lighthouse at night.\n" * 20)
    assert "lighthouse" in json.dumps(answer(capsys, "tour", str(path)))


def test_a_classifier_is_trained_tested_asked_and_made_small(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = tmp_path / "labeled.txt"
    lines.write_text("__label__drink hot tea\n__label__sky hot sun\n__label__drink cold milk\n" * 20)
    model = str(tmp_path / "c.bin")
    options = ("--dim", "8", "--learning-rate", "0.5", "--buckets", "0", "--out", model)
    answer(capsys, "train", "fasttext", str(lines), "--labels", *options)
    assert answer(capsys, "test", model, str(lines))["precision"] == 1.0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"milk tea\n\nhot sun\n")))
    found = answer(capsys, "predict", model, "-")
    assert [max(one["labels"], key=one["labels"].get) for one in found] == ["__label__drink", "__label__sky"]
    small = answer(capsys, "quantize", model, str(tmp_path / "c.ftz"))
    assert answer(capsys, "info", str(tmp_path / "c.ftz"))["words"] == small["words"]


def test_phrases_are_found_and_joined(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the new york times\nnew york wakes\nthe times change\n" * 3)
    found = str(tmp_path / "found")
    answer(capsys, "train", "phrases", str(text), "--threshold", "2", "--delta", "2", "--out", found)
    answer(capsys, "phrases", found, str(text), "--out", str(tmp_path / "joined.txt"))
    assert "the new_york times" in (tmp_path / "joined.txt").read_text()


def test_word2vec_and_glove_are_trained_from_the_command_line(
    capsys: pytest.CaptureFixture[str], text: str, tmp_path: Path
) -> None:
    for name in ("word2vec", "glove"):
        out = str(tmp_path / name)
        flags = ("--dim", "10", "--min-count", "2", "--epochs", "2", "--fold-case")
        values = answer(
            capsys, "train", name, text, *flags, "--out", out, "--checkpoint", str(tmp_path / f"{name}-state")
        )
        assert values["metadata"]["recipe"]["name"] == name
        assert (tmp_path / f"{name}-state" / "config.json").exists()
        assert answer(capsys, "info", out)["dim"] == 10
