"""What stays of tokenized text: English sentences that no dev or test set holds and that were not seen before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

import corpus_kernels as kernels
from corpus_heldout import HELD_OUT, TITLED, read_titles
from corpus_text import key_of_title, tokenize
from firth.errors import OptionError

Keys = NDArray[np.uint64]
CHUNK = 1 << 24  # bytes sifted at once
LONGEST = 256  # tokens of a sentence
TEST_RUN = 13  # words in a row that a sentence may not share with a dev or test set
NEAR_RUN, NEAR_SHARE, NEAR_LEAST = 8, 0.5, 2  # see kernels.decide
REASONS = (
    "kept",
    "near-duplicate paragraph",
    "sentence of a dev or test set",
    "13 words in a row of a dev or test set",
    "duplicate sentence",
    "formula or link",
    "shorter than 3 words",
    "longer than 256 tokens",
    "no end of a sentence",
    "symbols and numbers",
    "capitals",
    "not English",
)
GAPPED, SHORT, LONG, UNENDED, SYMBOLS, CAPITALS, FOREIGN = range(5, 12)
ENDS = np.frombuffer(b".!?\"')]:;\xa6\x94", np.uint8)  # the last bytes are those of an ellipsis and of a dash
FUNCTION_WORDS = (
    "a about after all also an and any are as at be been before being but by can could did do does each for from had "
    "has have he her him his how i if in into is it its made may me more most much must my no not of on one only or "
    "other our out over s she should so some such t than that the their them then there these they this those "
    "through to two under up upon us very was we were what when where which while who whom whose will with would "
    "you your"
)


class Measures(NamedTuple):
    """Lines and words of a piece of tokenized text, as `kernels.measure` fills them."""

    raw: NDArray[np.uint8]
    lines: NDArray[np.int64]  # (lines, 10)
    keys: Keys  # (lines,)
    words: Keys  # (words,)
    line_of: NDArray[np.int64]  # (words,)


def measure(text: bytes, functions: Keys) -> Measures:
    """The lines and words of a text."""
    raw = np.frombuffer(text, np.uint8)
    most_lines, most_words = text.count(b"\n") + 2, len(text) // 2 + 2
    lines, keys = np.empty((most_lines, 10), np.int64), np.empty(most_lines, np.uint64)
    words, line_of = np.empty(most_words, np.uint64), np.empty(most_words, np.int64)
    count, found = kernels.measure(raw, functions, lines, keys, words, line_of)
    return Measures(raw, lines[:count], keys[:count], words[:found], line_of[:found])


def hash_words(words: str) -> Keys:
    """The sorted hashes of words."""
    return np.sort(measure(words.encode(), np.empty(0, np.uint64)).words)


class Seen:
    """A set of 64-bit keys in one array, at most half full."""

    def __init__(self) -> None:
        self.table: Keys = np.zeros(1 << 16, np.uint64)
        self.count = 0

    def reserve(self, more: int) -> None:
        """Makes room for so many new keys."""
        size = len(self.table)
        while 2 * (self.count + more) > size:
            size *= 2
        if size > len(self.table):
            old, self.table = self.table, np.zeros(size, np.uint64)
            kernels.insert_all(self.table, old[old != 0])

    def add(self, keys: Keys) -> None:
        """Adds keys; those that are there already change nothing."""
        self.reserve(len(keys))
        self.count += kernels.insert_all(self.table, keys[keys != 0])


class HeldOut(NamedTuple):
    """What dev and test sets hold: sentence keys, runs of words, titles, and the number of sentences by set."""

    sentences: Seen
    runs: Seen
    titles: set[str]
    sizes: dict[str, int]


def load_held_out(data: Path) -> HeldOut:
    """The held-out text of every set in HELD_OUT. A sentence counts as the set splits it and as we split it."""
    sentences, runs, sizes = Seen(), Seen(), {}
    none = np.empty(0, np.uint64)
    for name, reader in HELD_OUT.items():
        if not (data / name).is_file():
            raise OptionError(f"{data / name}: no such file, so its sentences cannot be removed. Set FIRTH_DATA")
        texts = [text for text in reader(data / name) if text]
        whole = measure("\n".join(texts).encode(), none)
        split = measure(tokenize(texts), none)
        sentences.add(whole.keys)
        sentences.add(split.keys)
        found = np.empty(len(split.words) + 1, np.uint64)
        runs.add(found[: kernels.hash_runs(split.words, TEST_RUN, found)])
        sizes[name] = len(split.lines)
    titles = {key_of_title(title) for name in TITLED for title in read_titles(data / name)}
    return HeldOut(sentences, runs, titles, sizes)


def reject(text: Measures) -> NDArray[np.int8]:
    """For each line the reason why it is no English sentence, or 0."""
    _, ends, _, tokens, words, alphabetic, functions, capitals, foreign, gaps = text.lines.T
    starts = text.lines[:, 0]
    reasons = np.zeros(len(tokens), np.int8)
    reasons[((words >= 8) & (15 * functions < words)) | (5 * foreign > ends - starts)] = FOREIGN
    reasons[(alphabetic >= 3) & (2 * capitals > alphabetic)] = CAPITALS
    reasons[5 * alphabetic < 2 * tokens] = SYMBOLS
    reasons[~np.isin(text.raw[ends - 1], ENDS)] = UNENDED
    reasons[tokens > LONGEST] = LONG
    reasons[words < 3] = SHORT
    reasons[gaps > 0] = GAPPED
    return reasons


@dataclass(frozen=True)
class Sieve:
    """Decides what stays, with what was seen so far."""

    held_out: HeldOut
    sentences: Seen
    runs: Seen
    functions: Keys

    def sift(self, chunk: bytes) -> tuple[bytes, NDArray[np.int8], NDArray[np.int64], Keys, Keys]:
        """The kept lines of whole paragraphs; reasons and tokens of all lines; new sentence keys and new runs."""
        text = measure(chunk, self.functions)
        reasons = reject(text)
        in_test = np.zeros(len(reasons), np.bool_)
        kernels.mark_runs(text.words, text.line_of, TEST_RUN, self.held_out.runs.table, in_test)
        self.sentences.reserve(len(text.lines))
        self.runs.reserve(len(text.words))
        new = np.empty((2, len(text.words) + len(text.lines)), np.uint64)
        new_keys, new_runs = kernels.decide(
            text.lines,
            text.keys,
            text.words,
            text.line_of,
            reasons > 0,
            in_test,
            self.held_out.sentences.table,
            NEAR_RUN,
            NEAR_SHARE,
            NEAR_LEAST,
            self.sentences.table,
            self.runs.table,
            reasons,
            new,
        )
        self.sentences.count += new_keys
        self.runs.count += new_runs
        out = np.empty(len(text.raw) + 1, np.uint8)
        size = kernels.gather(text.raw, text.lines, reasons == kernels.KEPT, out)
        return out[:size].tobytes(), reasons, text.lines[:, 3], new[0, :new_keys].copy(), new[1, :new_runs].copy()


def read_chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """A file in pieces of about this size that end with a paragraph."""
    rest = b""
    with open(path, "rb") as file:
        while piece := file.read(size):
            piece = rest + piece
            end = piece.rfind(b"\n\n") + 2
            if end == 1:
                rest = piece
                continue
            rest = piece[end:]
            yield piece[:end]
    if rest:
        yield rest


def sift_source(path: Path, sieve: Sieve, out: BinaryIO) -> tuple[dict[str, Any], Keys, Keys]:
    """Writes the kept sentences of a tokenized source; returns counts by reason, new sentence keys and new runs."""
    sentences, tokens = np.zeros(len(REASONS), np.int64), np.zeros(len(REASONS), np.int64)
    keys, runs = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    for chunk in read_chunks(path):
        kept, reasons, lengths, new_keys, new_runs = sieve.sift(chunk)
        out.write(kept)
        sentences += np.bincount(reasons, minlength=len(REASONS))
        tokens += np.bincount(reasons, lengths, len(REASONS)).astype(np.int64)
        keys.append(new_keys)
        runs.append(new_runs)
    counts = {name: {"sentences": int(sentences[i]), "tokens": int(tokens[i])} for i, name in enumerate(REASONS)}
    return {"reasons": counts}, np.concatenate(keys), np.concatenate(runs)
