"""`firth train`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firth.cli.main import main
from firth.errors import MissingExtra, OptionError
from firth.models.recipes import RECIPES
from firth.runtime import Runtime


def test_train_ratio_and_neighbors(answer: Callable[..., Any], text: str, tmp_path: Path) -> None:
    counts = str(tmp_path / "counts")
    answer("train", "counts", text, "--kind", "co-occurrence", "--fold-case", "--out", counts)
    ratios = answer("ratio", counts, "ice", "steam", "solid", "gas", "water", "fashion")
    assert "solid" in json.dumps(ratios)
    vectors = str(tmp_path / "vectors")
    answer("train", "counts", text, "--kind", "svd", "--dim", "20", "--fold-case", "--out", vectors)
    assert answer("info", vectors)["dim"] == 20


def test_word2vec_and_glove_are_trained_from_the_command_line(
    answer: Callable[..., Any], text: str, tmp_path: Path
) -> None:
    for name in ("word2vec", "glove"):
        out = str(tmp_path / name)
        flags = ("--dim", "10", "--min-count", "2", "--epochs", "2", "--fold-case")
        values = answer("train", name, text, *flags, "--out", out, "--checkpoint", str(tmp_path / f"{name}-state"))
        assert values["metadata"]["recipe"]["name"] == name
        assert (tmp_path / f"{name}-state" / "config.json").exists()
        assert answer("info", out)["dim"] == 10


def test_the_lines_of_a_file_become_documents_with_neighbors(
    answer: Callable[..., Any], mistake: Callable[..., str], tmp_path: Path
) -> None:
    lines = ["tea,hot\thot tea with milk", "rain\tcold rain and wind"] * 20
    (tmp_path / "tagged.tsv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "lines.txt").write_text("\n".join(line.split("\t")[1] for line in lines), encoding="utf-8")
    out, flags = str(tmp_path / "documents"), ("--dim", "8", "--min-count", "1", "--architecture", "pv-dbow")
    values = answer("train", "doc2vec", str(tmp_path / "lines.txt"), *flags, "--out", out)
    assert (values["kind"], values["tags"], values["words"], values["dim"]) == ("DocumentVectors", 40, 8, 8)
    flags += ("--documents", "tagged-line", "--epochs", "40", "--subsample", "0")
    answer("train", "doc2vec", str(tmp_path / "tagged.tsv"), *flags, "--out", out)
    [near] = answer("neighbors", out, "tea")
    assert [one["word"] for one in near["neighbors"]] == ["hot", "rain"]
    [near] = answer("neighbors", out, "--text", "rain and wind", "--top", "1")
    assert near["neighbors"][0]["word"] == "rain"
    assert "A doc2vec model of 3 tags, 8 numbers each." in (tmp_path / "documents" / "README.md").read_text()
    assert "needs word vectors" in mistake("evaluate", out)
    (tmp_path / "tagged.tsv").write_text("tea\thot\nno tab\n", encoding="utf-8")
    problem = mistake("train", "doc2vec", str(tmp_path / "tagged.tsv"), *flags, "--out", out)
    assert "tagged.tsv:2: has no tab after the tags" in problem


def test_the_words_to_train_can_be_in_a_file(answer: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("tea and milk and rain\n" * 20, encoding="utf-8")
    (tmp_path / "words.txt").write_text("tea\t90\nmilk\t7\n", encoding="utf-8")
    flags = "--dim", "4", "--vocabulary", str(tmp_path / "words.txt"), "--out", str(tmp_path / "vectors")
    assert answer("train", "word2vec", str(tmp_path / "text.txt"), *flags)["words"] == 2


def test_a_gpu_is_used_or_missed_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "vectors"
    text.write_text("a b c d e f\n" * 100, encoding="utf-8")
    asked = ["train", "word2vec", str(text), "--device", "cuda", "--min-count", "1", "--dim", "4", "--out", str(out)]
    try:
        Runtime(1, "cuda")
    except (OptionError, MissingExtra):
        with pytest.raises(SystemExit) as stop:
            main(asked)
        assert stop.value.code == 2
        assert "GPU" in capsys.readouterr().err
        assert not out.exists()
    else:
        main(asked)
        assert out.exists()


def test_labeled_lines_are_split_at_white_space_and_other_tokens_are_refused(
    answer: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, out = tmp_path / "labeled.txt", str(tmp_path / "model.bin")
    text.write_text("__label__a tea.\n__label__b Rain!\n" * 20, encoding="utf-8")
    asked = "train", "classifier", str(text), "--dim", "4", "--out", out
    with pytest.raises(SystemExit) as stop:
        main([*asked, "--tokens", "running"])
    assert stop.value.code == 2
    assert 'Invalid value "running" for --tokens. Choose from: "whitespace"' in capsys.readouterr().err
    assert answer(*asked, "--fold-case")["words"] == 3
    tuned = answer(*asked, "--autotune-validation", str(text), "--autotune-trials", "1", "--force")
    assert tuned["training"]["metric"] == "f1"
    assert tuned["training"]["score"] == tuned["metadata"]["autotune"]["score"]
    assert answer("predict", out, "rain!", "-k", "-1")[0]["labels"].keys() == {"__label__a", "__label__b"}


def test_a_recipe_without_a_twin_on_the_gpu_has_no_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a b c d e f\n" * 100, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["train", "glove", str(text), "--device", "cuda", "--out", str(tmp_path / "vectors")])
    assert "--device" in capsys.readouterr().err


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_explains_itself_and_its_flags(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", name, "--help"])
    shown = capsys.readouterr().out
    assert f"firth train {name}" in shown.split("For example:")[1]
    assert "Recipe" in shown


def test_elmo_continues_from_an_elmo_model_only(
    mistake: Callable[..., str], text: str, vectors: str, tmp_path: Path
) -> None:
    flags = ("--start", vectors, "--out", str(tmp_path / "model"))
    assert "continues from an ELMo model" in mistake("train", "elmo", text, *flags)


def test_a_training_ends_with_its_loss_time_speed_and_path(
    capsys: pytest.CaptureFixture[str], text: str, tmp_path: Path
) -> None:
    out, state = str(tmp_path / "vectors"), str(tmp_path / "state")
    command = ["train", "word2vec", text, "--dim", "4", "--min-count", "2", "--epochs", "2"]
    ends = []
    for _ in range(2):
        main([*command, "--out", out, "--checkpoint", state])
        ends.append(dict(line.split("\t") for line in capsys.readouterr().out.splitlines()))
    assert [end["resumed"] for end in ends] == ["False", "True"]
    assert {end["out"] for end in ends} == {out}
    assert float(ends[0]["loss"]) > 0
    assert 0 < float(ends[0]["words per second"]) < 1e9
    assert float(ends[0]["seconds"]) > 0
