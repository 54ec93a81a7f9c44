"""Commands that read and write addresses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from firth.cli.main import main

TEXT = b"the king drinks hot tea in the cold rain\nthe queen drinks cold coffee in the sun\n" * 30


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def command(*arguments: str) -> Any:
        main([*arguments, "--json"])
        lines = capsys.readouterr().out.splitlines()
        return [json.loads(line) for line in lines] if len(lines) > 1 else json.loads(lines[0])

    return command


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit, match="2"):
        main(list(arguments))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_a_model_is_trained_shown_and_queried_at_addresses(run: Callable[..., Any], memory: Any) -> None:
    memory.pipe_file("/t/a.txt", TEXT)
    flags = ["--dim", "8", "--min-count", "1", "--epochs", "1"]
    values = run("train", "word2vec", "memory://t", *flags, "--out", "memory://m/w")
    assert values["card"] == "memory://m/w/README.md"
    assert {"/m/w/config.json", "/m/w/README.md"} <= set(memory.find("/m/w"))
    assert run("info", "memory://m/w")["dim"] == 8
    assert "word2vec" in run("card", "memory://m/w")["card"]
    assert run("neighbors", "memory://m/w", "tea")["query"] == "tea"
    run("convert", "memory://m/w", "memory://m/w.bin")
    assert run("info", "memory://m/w.bin")["words"] == run("info", "memory://m/w")["words"]


def test_text_is_counted_and_tokenized_at_addresses(run: Callable[..., Any], memory: Any) -> None:
    memory.pipe_file("/t/a.txt", TEXT)
    memory.pipe_file("/t/b.csv.txt", TEXT)
    assert run("vocab", "memory://t/*.txt", "--out", "memory://v.txt")["tokens"] == 2 * 30 * 17
    assert memory.cat_file("/v.txt").startswith(b"the\t")
    main(["tokens", "memory://t/a.txt", "--out", "memory://a.tok.gz"])
    assert memory.cat_file("/a.tok.gz")[:2] == b"\x1f\x8b"
    counted = run("train", "counts", "memory://t/a.txt", "--out", "memory://c", "--min-count", "1")
    assert counted["model"] == "counts"


def test_vectors_of_lines_are_written_to_an_address(run: Callable[..., Any], memory: Any) -> None:
    memory.pipe_file("/a.txt", TEXT)
    done = run("embed", "svd-en", "memory://a.txt", "--out", "memory://a.hdf5", "--pooling", "mean")
    assert (done["sentences"], done["path"]) == (60, "memory://a.hdf5")
    assert memory.cat_file("/a.hdf5")[:4] == b"\x89HDF"


def test_an_output_at_an_address_is_protected(capsys: pytest.CaptureFixture[str], memory: Any) -> None:
    memory.pipe_file("/t/a.txt", TEXT)
    memory.pipe_file("/v.txt", b"mine")
    assert "the file exists" in fails(capsys, "vocab", "memory://t", "--out", "memory://v.txt")
    assert "is an input" in fails(capsys, "vocab", "memory://t/a.txt", "--out", "memory://t/a.txt")
    assert "lies in the input" in fails(capsys, "vocab", "memory://t", "--out", "memory://t/v.txt")
    assert "contains other files" in fails(capsys, "train", "counts", "memory://v.txt", "--out", "memory://t")
    assert memory.cat_file("/v.txt") == b"mine"
    main(["vocab", "memory://t", "--out", "memory://v.txt", "--force"])
    assert memory.cat_file("/v.txt").startswith(b"the\t")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["vocab", "s4://bucket/a.txt"], "the scheme s4:// is unknown"),
        (["vocab", "memory://nothing.txt"], "no such file"),
        (["info", "memory://nothing"], "no such file"),
        (["info", "filecache::file:///etc/passwd"], "chain"),
        (["vocab", "file:///etc/passwd"], "Give its path without file://"),
        (["train", "counts", "README.md", "--out", "https://example.com/m"], "can be read, but not written"),
        (["train", "word2vec", "README.md", "--out", "memory://m", "--checkpoint", "s3://b/s"], "must be on this"),
    ],
)
def test_mistakes_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str], memory: Any, arguments: list[str], said: str
) -> None:
    assert said in fails(capsys, *arguments)


def test_the_token_file_of_a_remote_text_is_used_until_the_text_changes(web: Any, tmp_path: Any) -> None:
    from firth.text.corpus import Corpus

    web.files["a.txt"] = TEXT
    cache = tmp_path / "tokens"
    first = Corpus(web.address("a.txt"), cache=cache).tokens()
    web.requests.clear()
    again = Corpus(web.address("a.txt"), cache=cache).tokens()
    assert again.fingerprint == first.fingerprint
    assert len(web.starts("a.txt")) == 1  # only the head, to see what it is
    web.files["a.txt"] = TEXT.replace(b"tea", b"fog")
    assert "fog" in Corpus(web.address("a.txt"), cache=cache).vocabulary


def test_a_task_is_trained_on_examples_at_an_address(run: Callable[..., Any], memory: Any) -> None:
    pytest.importorskip("torch")
    memory.pipe_file("/train.txt", b"(4 (3 good) (2 tea))\n(0 (1 bad) (2 rain))\n" * 4)
    flags = ["--train", "memory://train.txt", "--embedding", "svd-en", "--epochs", "1", "--out", "memory://task"]
    assert run("task", "sentiment", *flags)["out"] == "memory://task"
    assert "/task/config.json" in memory.find("/task")
    assert run("predict", "memory://task", "good tea")
