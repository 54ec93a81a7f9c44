"""Lines in blocks."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.bulk.lines import LineBlock, LineReader, prefetch, split_at_spaces
from firth.errors import FormatError, OptionError
from firth.text.tokenize import Tokenizer


def lines_of(path: Path) -> LineReader:
    return LineReader.of(path, Tokenizer(mode="whitespace"), "strict")


@given(st.lists(st.integers(0, 7), max_size=30), st.integers(1, 12), st.data())
def test_whoever_skips_whole_blocks_gets_the_same_ones_behind_them(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], tokens: int, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("lines") / "text.txt"
    path.write_text("".join(" ".join(["w"] * length) + "\n" for length in lengths))
    blocks = list(lines_of(path).blocks(tokens))
    assert [len(sentence) for block in blocks for sentence in block.sentences] == lengths
    done = data.draw(st.integers(0, len(blocks)))
    skip = sum(len(block.lines) for block in blocks[:done])
    digest = blocks[done - 1].digest if done else ""
    assert list(lines_of(path).blocks(tokens, skip=skip, digest=digest)) == blocks[done:]


@given(st.text(st.sampled_from("ab é\t\x0b\x0c\r\x1c\x1f\x85\xa0\u2003\u3000😀"), max_size=20))
def test_words_between_blanks_are_those_of_the_tokenizer(line: str) -> None:
    assert split_at_spaces(line) == Tokenizer(mode="whitespace").words(line)


def test_a_text_that_changed_before_the_place_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("a b\nc d\ne f\n")
    first: LineBlock = next(lines_of(path).blocks(2))
    path.write_text("a B\nc d\ne f\n")
    with pytest.raises(OptionError, match="is not the text that the unfinished run started with"):
        list(lines_of(path).blocks(2, skip=1, digest=first.digest))
    path.write_text("")
    with pytest.raises(OptionError, match="is not the text"):
        list(lines_of(path).blocks(2, skip=1, digest=first.digest))


def test_several_files_packed_or_not_are_one_text(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes(b"\xef\xbb\xbftea time\r\n\r\nno end")
    (tmp_path / "2.txt.gz").write_bytes(gzip.compress("چای داغ\n".encode()))
    [block] = LineReader.of(tmp_path, Tokenizer(mode="whitespace"), "strict").blocks(100)
    assert block.lines == ["tea time", "", "no end", "چای داغ"]
    assert block.tokens == 6


def test_bytes_that_are_not_text_have_a_place(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"tea\ncaf\xe9\n")
    with pytest.raises(FormatError, match=r"text.txt:2: byte 0xe9 at column 4 is not UTF-8"):
        list(lines_of(path).blocks(9))
    [block] = LineReader.of(path, Tokenizer(mode="whitespace"), "replace").blocks(9)
    assert block.lines == ["tea", "caf�"]


def test_an_error_made_ahead_reaches_the_caller() -> None:
    def items():
        yield 1
        raise ValueError("later")

    made = prefetch(items())
    assert next(made) == 1
    with pytest.raises(ValueError, match="later"):
        next(made)


def test_ctrl_c_does_not_wait_for_an_input_that_sends_nothing() -> None:
    code = """
import os, signal, sys, threading
from contextlib import closing
from firth.bulk.lines import LineReader, prefetch
from firth.text.tokenize import Tokenizer
reader = LineReader.of("-", Tokenizer(mode="whitespace"), "strict")
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
try:
    with closing(prefetch(reader.blocks(1))) as blocks:
        print(next(blocks).lines, flush=True)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        next(blocks)
except KeyboardInterrupt:
    sys.exit(130)
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            child.stdin.write(b"tea\n")
            child.stdin.flush()
            assert child.wait(timeout=100) == 130, child.stderr.read()
            assert (child.stdout.read(), child.stderr.read()) == (b"['tea']\n", b"")
        finally:
            child.kill()
