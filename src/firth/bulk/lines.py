"""Reads text for bulk embedding: one sentence per line, in blocks of some thousand words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from queue import SimpleQueue
from threading import Thread
from typing import Literal, TypeVar

from firth.errors import OptionError
from firth.files import STDIN, Name, decode, expand, iterate_lines, open_with_position, total_size
from firth.text.chunks import BYTE_ORDER_MARK
from firth.text.extraction import Extraction
from firth.text.tokenize import Tokenizer, TokenizerLike, as_tokenizer
from firth.text.vocabulary import to_bytes

CURE = "Convert the file, or read it with --errors replace"
MOST_LINES = 1 << 16
PATIENCE = 0.5  # seconds
AS_PLAIN_TEXT = Extraction()
WHITESPACE = Tokenizer(mode="whitespace")
NO_SPACES = re.compile(r"[^\t-\r ]+")
OTHER_SPACES = re.compile("[" + "".join(filter(str.isspace, map(chr, [*range(14, 32), *range(127, 0x3001)]))) + "]")
Item = TypeVar("Item")


@dataclass(frozen=True)
class LineBlock:
    """Consecutive lines of the text. `digest` is a hash of all lines up to the end of this block."""

    lines: list[str]
    sentences: list[list[str]]
    digest: str
    read: int  # bytes on disk, from the beginning

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True)
class LineReader:
    """Reads the lines of files as sentences; an empty line is an empty sentence."""

    paths: tuple[str, ...]
    tokenizer: Tokenizer
    errors: Literal["strict", "replace"] = "strict"
    extraction: Extraction = AS_PLAIN_TEXT

    @classmethod
    def of(
        cls,
        names: Name | Iterable[Name],
        tokenizer: TokenizerLike,
        errors: Literal["strict", "replace"],
        extraction: Extraction = AS_PLAIN_TEXT,
    ) -> LineReader:
        """A reader of files, folders, patterns, or - for standard input.

        A cell of a table is one sentence, whatever lines it has; so is a block of an HTML page.
        """
        return cls(tuple(expand(names)), as_tokenizer(tokenizer), errors, extraction)

    def blocks(self, tokens: int, *, skip: int = 0, digest: str = "") -> Iterator[LineBlock]:
        """Blocks of whole lines with at least `tokens` tokens each. Their boundaries depend only on the text, so that a
        resumed run gets the same blocks.

        `digest` is the hash of the `skip` lines to skip; if they have changed, that is an error.
        """
        seen, raws = blake2b(digest_size=16), self._raw()
        skipped = 0
        for raw, *_ in itertools.islice(raws, skip):
            seen.update(raw + b"\n")
            skipped += 1
        if skip and (skipped < skip or seen.hexdigest() != digest):
            raise OptionError(
                f"{self.paths[0]}: is not the text that the unfinished run started with. Start over with --restart"
            )
        words = split_at_spaces if self.tokenizer == WHITESPACE else self.tokenizer.words
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
        kinds = self.extraction.check(self.paths)
        for path in self.paths:
            kind = kinds.get(path, "text")
            if kind != "text":
                for text, number in self.extraction.documents(path, kind, self.errors):
                    blocks = text.split("\n") if kind == "html" else [" ".join(text.splitlines())]
                    yield from ((to_bytes(block), path, number, before) for block in blocks)
                before += total_size([path]) or 0 if path != STDIN else 0
                continue
            with open_with_position(path) as (file, position):
                place = 0
                for number, raw in iterate_lines(file, path):
                    if number % 256 == 1:
                        place = position() or 0
                    start = len(BYTE_ORDER_MARK) if number == 1 and raw.startswith(BYTE_ORDER_MARK) else 0
                    yield raw[start:].rstrip(b"\r\n"), path, number, before + place
            before += total_size([path]) or 0 if path != STDIN else 0


def _digest(seen: blake2b, raw_lines: list[bytes]) -> str:
    seen.update(b"\n".join([*raw_lines, b""]))
    return seen.hexdigest()


def split_at_spaces(line: str) -> list[str]:
    """Splits a line at ASCII white space like the whitespace tokenizer, but faster for short lines.

    >>> split_at_spaces("a\xa0cup  of\ttea")
    ['a\xa0cup', 'of', 'tea']
    """
    return line.split() if OTHER_SPACES.search(line) is None else NO_SPACES.findall(line)


def prefetch(items: Iterator[Item]) -> Generator[Item, None, None]:
    """Yields the items while a thread computes the next one.

    A caller that stops before the last item closes the generator. It waits for the thread for `PATIENCE` seconds at
    most: Ctrl-C must not wait for a pipe or a server that sends nothing.

    >>> list(prefetch(iter("abc")))
    ['a', 'b', 'c']
    """
    asked: SimpleQueue[bool] = SimpleQueue()
    computed: SimpleQueue[tuple[Item | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while asked.get():
            try:
                computed.put((next(items, None), None))
            except BaseException as error:
                computed.put((None, error))

    thread = Thread(target=work, daemon=True)
    thread.start()
    asked.put(True)
    try:
        while True:
            item, error = computed.get()
            if error is not None:
                raise error
            if item is None:
                return
            asked.put(True)
            yield item
    finally:
        asked.put(False)
        thread.join(PATIENCE)
