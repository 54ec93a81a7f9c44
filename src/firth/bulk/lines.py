"""Text as bulk work reads it: every line a sentence, in blocks of some thousand words, a few of them in memory."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeVar

from firth.errors import OptionError
from firth.files import STDIN, Name, decode, expand, iterate_lines, open_with_position
from firth.text.chunks import BYTE_ORDER_MARK
from firth.text.tokenize import Tokenizer

CURE = "Convert the file, or read it with --errors replace"
MOST_LINES = 1 << 16
BLANKS = Tokenizer(mode="whitespace")
NO_BLANKS = re.compile(r"[^\t-\r ]+")
OTHER_BLANKS = re.compile("[" + "".join(filter(str.isspace, map(chr, [*range(14, 32), *range(127, 0x3001)]))) + "]")
Item = TypeVar("Item")


@dataclass(frozen=True)
class LineBlock:
    """Consecutive lines of the text. `digest` tells all lines up to the end of this block from any others."""

    lines: list[str]
    sentences: list[list[str]]
    digest: str
    read: int  # bytes on disk, from the beginning

    @property
    def tokens(self) -> int:
        """How many words there are."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True)
class LineReader:
    """The lines of files, each a sentence; an empty line is an empty sentence."""

    paths: tuple[str, ...]
    tokenizer: Tokenizer
    errors: Literal["strict", "replace"] = "strict"

    @classmethod
    def of(cls, names: Name | Iterable[Name], tokenizer: Tokenizer, errors: Literal["strict", "replace"]) -> LineReader:
        """The lines of the files that names, folders, patterns and - stand for."""
        return cls(tuple(expand(names)), tokenizer, errors)

    @property
    def size(self) -> int | None:
        """Bytes on disk; None where some come through a pipe."""
        if any(not os.path.isfile(path) for path in self.paths):
            return None
        return sum(os.path.getsize(path) for path in self.paths)

    def blocks(self, tokens: int, *, skip: int = 0, digest: str = "") -> Iterator[LineBlock]:
        """Blocks of lines, each cut at the line that brings it to so many tokens: where they end depends on the text
        alone, so that whoever skips whole blocks gets the same ones behind them.

        The digest given is that of the lines to skip; if they have changed since, that is an error.
        """
        seen, raws = blake2b(digest_size=16), self._raw()
        skipped = 0
        for raw, *_ in itertools.islice(raws, skip):
            seen.update(raw + b"\n")
            skipped += 1
        if skip and (skipped < skip or seen.hexdigest() != digest):
            raise OptionError(
                f"{self.paths[0]}: is not the text that the unfinished run began with. Start over with --restart"
            )
        words = split_at_blanks if self.tokenizer == BLANKS else self.tokenizer.words
        raw_lines: list[bytes] = []
        lines: list[str] = []
        sentences: list[list[str]] = []
        count = read = 0

        for raw, path, number, read in raws:
            raw_lines.append(raw)
            line = decode(raw, path, line=number, errors=self.errors, cure=CURE).strip()
            sentence = words(line)
            lines.append(line)
            sentences.append(sentence)
            count += len(sentence)
            if count >= tokens or len(lines) >= MOST_LINES:
                yield LineBlock(lines, sentences, _digest(seen, raw_lines), read)
                raw_lines, lines, sentences, count = [], [], [], 0
        if lines:
            yield LineBlock(lines, sentences, _digest(seen, raw_lines), read)

    def _raw(self) -> Iterator[tuple[bytes, str, int, int]]:
        """Each line without its end, its file and number, and the bytes on disk read so far."""
        before = 0
        for path in self.paths:
            with open_with_position(path) as (file, position):
                place = 0
                for number, raw in iterate_lines(file, path):
                    if number % 256 == 1:
                        place = position() or 0
                    start = len(BYTE_ORDER_MARK) if number == 1 and raw.startswith(BYTE_ORDER_MARK) else 0
                    yield raw[start:].rstrip(b"\r\n"), path, number, before + place
            before += os.path.getsize(path) if path != STDIN and os.path.isfile(path) else 0


def _digest(seen: blake2b, raw_lines: list[bytes]) -> str:
    seen.update(b"\n".join([*raw_lines, b""]))
    return seen.hexdigest()


def split_at_blanks(line: str) -> list[str]:
    """The words of a line between ASCII white space, as the whitespace tokenizer has them, for short lines sooner.

    >>> split_at_blanks("a\xa0cup  of\ttea")
    ['a\xa0cup', 'of', 'tea']
    """
    return line.split() if OTHER_BLANKS.search(line) is None else NO_BLANKS.findall(line)


def prefetch(items: Iterator[Item]) -> Generator[Item, None, None]:
    """The items, the next one made in a thread while the caller works on this one.

    Whoever may leave before the last item closes it: else its thread would end whenever memory is tidied up, maybe
    while another thread begins, and then the two wait for each other for ever.

    >>> list(prefetch(iter("abc")))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
