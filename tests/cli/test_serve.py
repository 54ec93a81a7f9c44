from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from firth.cli.main import main
from firth.cli.serve import read_token


def test_the_token_comes_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("from-a-file\n")
    monkeypatch.setenv("FIRTH_TOKEN", "from-the-environment")
    assert read_token(str(tmp_path / "token")) == "from-a-file"
    assert read_token(None) == "from-the-environment"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["svd-en", "--host", "0.0.0.0"], "Set --token-file or FIRTH_TOKEN"),
        (["svd-en", "--token-file", "none"], "none: no such file"),
        (["svd-en", "--timeout", "0"], "seconds is 0.0"),
        (["svd-en", "svd-en"], "two models are called 'svd-en'"),
        (["no-such-model", "--port", "0"], "no-such-model"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastapi", reason="needs the extra serve: pip install 'firth[serve]'")
    monkeypatch.delenv("FIRTH_TOKEN", raising=False)
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(SystemExit) as stopped,
    ):  # a browser's test leaves a loop in this one
        pool.submit(main, ["serve", *arguments]).result()
    assert stopped.value.code == 2
    assert problem in capsys.readouterr().err
