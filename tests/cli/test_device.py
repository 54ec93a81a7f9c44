"""Where a recipe is trained, as a person types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.cli.main import main
from firth.errors import MissingExtra, OptionError
from firth.runtime import Runtime


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
