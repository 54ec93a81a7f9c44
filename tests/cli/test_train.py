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
