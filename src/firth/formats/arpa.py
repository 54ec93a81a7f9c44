r"""ARPA files: the text format of n-gram models that KenLM, SRILM and IRSTLM read and write.

    \data\
    ngram 1=4
    ngram 2=2

    \1-grams:
    -0.5	</s>
    -99	<s>	-0.3
    -0.6	tea	-0.2
    -1.2	<unk>

    \2-grams:
    -0.2	<s> tea
    -0.1	tea </s>

    \end\

Numbers are log10; what follows the words is the backoff, 0 where it is missing. Where a file has no <unk>, unknown
words get log10 -100, as in KenLM. An n-gram whose prefix is not in the file is an error, as in KenLM; a missing suffix
is not. Probabilities above one, other numbers of lines than the header promises and words that are not among the
1-grams are errors too.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError, OptionError
from firth.files import Name, write_bytes
from firth.formats.reading import iterate_line_blocks, open_blocks
from firth.kernels import arpa as lines
from firth.kernels import decimals, vector_files
from firth.kernels import ngram as kernel
from firth.kernels import words as words_kernel
from firth.models.ngram_model import SPELLINGS, NgramModel
from firth.progress import Progress, Report, silent
from firth.text.vocabulary import Vocabulary, to_word

LONGEST_LINE = 1 << 20
ROOM = 1 << 17  # n-grams per block
MOST_ORDERS = 1000
NO_UNKNOWN = -100.0
SPACES = np.frombuffer(b" \t\r\n", np.uint8)
BLANKS = re.compile(rb"[ \t]+")
PROMISE = re.compile(rb"ngram\s+(\d{1,6})\s*=\s*(\d{1,18})")
PROBLEMS = {  # by the names of their codes in the kernel
    "NO_NUMBER": "expected a log10 probability, found {0!r}",
    "POSITIVE": "log10 probability {0} is above 0, so the probability is above 1",
    "NO_BACKOFF": "expected a log10 backoff at the end, found {last!r}",
    "FEW_FIELDS": "expected a log10 probability and {n} word(s), found {count} field(s)",
    "MANY_FIELDS": "expected a log10 probability, {n} word(s) and a backoff, found {count} fields",
    "NO_WORD": "{line!r} has a word that is not among the 1-grams",
    "NO_PREFIX": "the first {shorter} words of {line!r} are not among the {shorter}-grams",
}
Numbers = NDArray[np.float32]
Ids = NDArray[np.int64]
Parse = Callable[[NDArray[np.uint8], int], tuple[int, int, int]]  # (block, place) to (place, rows, problem)


def read(path: Name, *, report: Report = silent) -> NgramModel:
    """The model in an ARPA file, compressed or not.

    >>> import os, tempfile
    >>> text = "ngram 1=3\\n\\n\\\\1-grams:\\n-99\\t<s>\\n-0.3\\t</s>\\n-0.3\\ttea\\n\\n\\\\end\\\\\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tea.arpa")
    ...     _ = open(path, "w").write("\\\\data\\\\\\n" + text)
    ...     read(path)
    NgramModel(order 1: 4 words)
    """
    with open_blocks(path) as source:
        blocks = iterate_line_blocks(source, LONGEST_LINE)
        ended = (block if block[-1] == 10 else np.append(block, np.uint8(10)) for block in blocks)
        reader = _Reader(path, ended, report)
        promised = read_header(reader)
        vocabulary, log10, backoffs = read_words(reader, promised[0])
        trie = _Trie(vocabulary, log10, backoffs)
        for n, count in enumerate(promised[1:], 2):
            trie.add(*read_ngrams(reader, n, count, trie))
        if (line := reader.text_line()) != b"\\end\\":
            raise reader.error(f"expected \\end\\ after the {len(promised)}-grams, found {_quote_line(line)}")
    try:
        return trie.model()
    except OptionError as error:
        raise FormatError(path, f"is not an n-gram model: {error}") from error


class _Reader:
    """The read position in a file: its blocks, the offset in the current block and the line number."""

    def __init__(self, path: Name, blocks: Iterator[NDArray[np.uint8]], report: Report) -> None:
        self.path, self.blocks, self.report = path, blocks, report
        self.block = np.empty(0, np.uint8)
        self.at, self.line = 0, 0
        self.rest: tuple[NDArray[np.uint8], int] | None = None  # the block after a line that stands alone, and a place

    def error(self, problem: str, cure: str = "") -> FormatError:
        return FormatError(self.path, problem, line=self.line, cure=cure)

    def has_more(self) -> bool:
        while self.at == len(self.block):
            if self.rest is not None:
                (self.block, self.at), self.rest = self.rest, None
                continue
            block = next(self.blocks, None)
            if block is None:
                return False
            self.block, self.at = block, 0
        return True

    def peek(self) -> bytes:
        stop, _ = decimals.line_end(self.block, self.at)
        return self.block[self.at : stop].tobytes()

    def skip(self) -> None:
        _, self.at = decimals.line_end(self.block, self.at)
        self.line += 1

    def text_line(self) -> bytes | None:
        """The next line that is not empty; None at the end of the file."""
        while self.has_more():
            line = self.peek()
            self.skip()
            if line:
                return line
        return None

    def section(self, n: int, promised: int, parse: Parse) -> None:
        """Parses the lines of one section block by block and checks their number."""
        if (line := self.text_line()) != b"\\%d-grams:" % n:
            raise self.error(f"expected \\{n}-grams: as the header promised, found {_quote_line(line)}")
        count = 0
        while self.has_more():
            place, rows, problem = parse(self.block, self.at)
            self.at, self.line, count = place, self.line + rows, count + rows
            if problem == lines.HARD_NUMBER:
                self._simplify()
            elif problem != lines.FINE:
                self.line += 1
                raise self.explain(problem, n)
            elif rows < ROOM and self.at < len(self.block):
                break  # an empty line, or the next section
            self.report(Progress(f"reading {n}-grams", count, promised, "n-grams"))
        if count != promised:
            self.line += 1
            raise self.error(f"the header promised {promised:,} {n}-grams, but there are {count:,}")

    def explain(self, problem: int, n: int) -> FormatError:
        line = self.peek()
        fields = [to_word(one) for one in BLANKS.split(line)]
        words = " ".join(fields[1 : n + 1])
        values = {"last": fields[-1], "n": n, "count": len(fields), "line": words, "shorter": n - 1}
        text = next(text for name, text in PROBLEMS.items() if getattr(lines, name) == problem)
        return self.error(text.format(*fields[:1], **values))

    def _simplify(self) -> None:
        """Rewrites the numbers of the current line with few digits; the kernel cannot parse ones like 1e-400.

        The line becomes a block of its own, and the rest of the block comes after it.
        """
        _, after = decimals.line_end(self.block, self.at)
        before = self.peek()
        fields = BLANKS.split(before)
        for i in (0, -1):
            with contextlib.suppress(ValueError):
                fields[i] = str(np.float32(float(fields[i]))).encode()
        if b" ".join(fields) == before:
            self.line += 1
            raise self.error(f"a number is too long or too small: {_quote_line(before)}")
        self.rest = self.block, after
        self.block, self.at = np.frombuffer(b" ".join(fields) + b"\n", np.uint8), 0


def _quote_line(line: bytes | None) -> str:
    """Quotes the start of a line for an error message."""
    return "the end of the file" if line is None else repr(to_word(line[:60]))


def read_header(reader: _Reader) -> list[int]:
    r"""The number of n-grams of each order, from the lines after \data\."""
    if (line := reader.text_line()) != b"\\data\\":
        raise reader.error(f"expected \\data\\, found {_quote_line(line)}", "This is not an ARPA file")
    promised: list[int] = []
    while reader.has_more() and not (line := reader.peek()).startswith(b"\\"):
        reader.skip()
        match = PROMISE.fullmatch(line)
        if line and (match is None or int(match[1]) != len(promised) + 1 or len(promised) == MOST_ORDERS):
            raise reader.error(f"expected 'ngram {len(promised) + 1}=' and a number, found {_quote_line(line)}")
        if match is not None:
            promised.append(int(match[2]))
    if not promised or promised[0] == 0:
        raise reader.error("the header promises no 1-grams")
    return promised


def read_words(reader: _Reader, promised: int) -> tuple[Vocabulary, Numbers, Numbers]:
    """The 1-grams, with <unk> added if it is missing; <s> and </s> are required."""
    words: list[NDArray[np.uint8]] = []
    sizes: list[Ids] = []
    numbers: list[tuple[Numbers, Numbers]] = []

    def parse(block: NDArray[np.uint8], at: int) -> tuple[int, int, int]:
        starts, ends = np.empty(ROOM, np.int64), np.empty(ROOM, np.int64)
        log10, backoffs = np.empty(ROOM, np.float32), np.empty(ROOM, np.float32)
        place, rows, problem = lines.read_words(block, at, 0, starts, ends, log10, backoffs)
        sizes.append(ends[:rows] - starts[:rows])  # a slice of the difference would keep all of it
        words.append(np.empty(sizes[-1].sum(), np.uint8))
        vector_files.copy_words(block, starts[:rows], ends[:rows], words[-1])
        numbers.append((log10[:rows].copy(), backoffs[:rows].copy()))
        return place, rows, problem

    reader.section(1, promised, parse)
    ends = np.cumsum(np.concatenate(sizes))
    vocabulary = Vocabulary.from_arrays(np.concatenate(words), np.concatenate([[0], ends[:-1]]), ends)
    log10, backoffs = (np.concatenate(column) for column in zip(*numbers))
    _check_words(reader, vocabulary)
    if not any(name in vocabulary for name in SPELLINGS["<unk>"]):
        vocabulary = Vocabulary([*vocabulary, "<unk>"])
        log10, backoffs = np.append(log10, np.float32(NO_UNKNOWN)), np.append(backoffs, np.float32(0))
    return vocabulary, log10, backoffs


def _check_words(reader: _Reader, vocabulary: Vocabulary) -> None:
    slots = np.zeros(1 << max(4, (2 * len(vocabulary)).bit_length()), np.uint64)
    if words_kernel.index(vocabulary.blob, vocabulary.starts, vocabulary.ends, slots):
        twice = next(i for i, id in enumerate(vocabulary.ids(vocabulary).tolist()) if id != i)
        raise reader.error(f"the word {vocabulary[twice]!r} is listed twice among the 1-grams")
    for name in ("<s>", "</s>"):
        if not any(spelling in vocabulary for spelling in SPELLINGS[name]):
            raise reader.error(f"{name} is not among the 1-grams", "Every sentence begins with <s> and ends with </s>")


class _Trie:
    """The n-grams read so far."""

    def __init__(self, vocabulary: Vocabulary, log10: Numbers, backoffs: Numbers) -> None:
        self.vocabulary = vocabulary
        self.levels = [len(vocabulary)]
        self.starts = np.array([len(vocabulary)], np.int64)
        self.words = np.arange(len(vocabulary), dtype=np.uint32)
        self.log10, self.backoffs = log10, backoffs

    @property
    def base(self) -> int:
        """The first node of the highest order."""
        return sum(self.levels[:-1])

    def add(self, keys: NDArray[np.uint64], log10: Numbers, backoffs: Numbers) -> None:
        """Adds an order: n-grams by rising key."""
        children, words = np.empty(self.levels[-1] + 1, np.int64), np.empty(len(keys), np.uint32)
        kernel.unpack(keys, len(self.vocabulary), len(self.words), children, words)
        self.starts = np.concatenate([self.starts[:-1], children])
        self.words = np.concatenate([self.words, words])
        self.log10, self.backoffs = np.concatenate([self.log10, log10]), np.concatenate([self.backoffs, backoffs])
        self.levels.append(len(keys))

    def model(self) -> NgramModel:
        """The finished model, without empty highest orders."""
        levels = list(self.levels)
        while levels[-1] == 0:
            levels.pop()
        inner = sum(levels[:-1])
        backoffs = self.backoffs[:inner].copy()
        return NgramModel(self.vocabulary, levels, self.starts[: inner + 1], self.words, self.log10, backoffs)


def read_ngrams(reader: _Reader, n: int, promised: int, trie: _Trie) -> tuple[NDArray[np.uint64], Numbers, Numbers]:
    """The n-grams of one order above 1, sorted by key."""
    vocabulary = trie.vocabulary
    names = (vocabulary.blob, vocabulary.starts, vocabulary.ends, vocabulary.slots)
    runs = [(np.empty(0, np.uint64), np.empty(0, np.float32), np.empty(0, np.float32))]

    def parse(block: NDArray[np.uint8], at: int) -> tuple[int, int, int]:
        keys, log10, backoffs = np.empty(ROOM, np.uint64), np.empty(ROOM, np.float32), np.empty(ROOM, np.float32)
        place, rows, problem = lines.read_ngrams(
            block, at, 0, n, names, trie.starts, trie.words, trie.base, keys, log10, backoffs
        )
        runs.append((keys[:rows].copy(), log10[:rows].copy(), backoffs[:rows].copy()))
        return place, rows, problem

    reader.section(n, promised, parse)
    keys, log10, backoffs = (np.concatenate(column) for column in zip(*runs))
    if np.all(keys[1:] > keys[:-1]):
        return keys, log10, backoffs
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    repeats = np.flatnonzero(keys[1:] == keys[:-1])
    if len(repeats):
        reader.line -= len(keys) - 1 - int(order[repeats + 1].min())
        raise reader.error(f"this {n}-gram is listed twice")
    return keys, log10[order], backoffs[order]


def write(model: NgramModel, path: Name, *, report: Report = silent) -> None:
    """Writes an ARPA file, compressed by the ending of its name. Numbers have the fewest digits that keep every bit."""
    vocabulary = model.vocabulary
    text = np.empty(int((vocabulary.ends - vocabulary.starts).sum()), np.uint8)
    vector_files.copy_words(vocabulary.blob, vocabulary.starts, vocabulary.ends, text)
    if np.isin(text, SPACES).any() or np.any(vocabulary.starts == vocabulary.ends):
        raise FormatError(path, "a word of the model is empty or contains a space, which this format cannot store")
    if int(model.words.max()) >= len(vocabulary):
        raise FormatError(path, "the model has word ids beyond its vocabulary", cure="Train it again")
    with write_bytes(path) as file:
        counts = "".join(f"ngram {n}={count}\n" for n, count in model.counts.items())
        file.write(b"\\data\\\n" + counts.encode())
        for n in model.counts:
            file.write(b"\n\\%d-grams:\n" % n)
            for done, chunk in _format_ngrams(model, n):
                file.write(chunk)
                report(Progress(f"writing {n}-grams", done, model.levels[n - 1], "n-grams"))
        file.write(b"\n\\end\\\n")


def _format_ngrams(model: NgramModel, n: int) -> Iterator[tuple[int, bytes]]:
    """The lines of one section in chunks, each with the number of lines so far."""
    vocabulary = model.vocabulary
    edges = np.cumsum([0, *model.levels])
    names = (vocabulary.blob, vocabulary.starts, vocabulary.ends)
    trie = (model.starts, model.words, model.log10, model.backoffs)
    longest = int((vocabulary.ends - vocabulary.starts).max())
    out = np.empty(max(ROOM * 16, n * (longest + 1) + 64), np.uint8)
    node, last, path = int(edges[n - 1]), int(edges[n]), edges[:n].copy()
    while node < last:
        node, size = lines.write_ngrams(node, last, path, edges[:n], *names, *trie, out)
        yield node - int(edges[n - 1]), out[:size].tobytes()
