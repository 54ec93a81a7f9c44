"""The token file: word ids and the offsets of sentences and documents.

    bytes 0-63     magic, version, checksum of the counts, number of tokens, sentences, documents and words, and the
                   checksums of all that follows and of the vocabulary
    then           ids (uint32), padded to a multiple of eight bytes
    then           sentences (uint64): ids before each sentence's start, and before the end
    then           documents (uint64): sentences before each document's start, and before the end

All numbers are little-endian. The vocabulary is beside the file (`name.tokens` and `name.vocab`), as readable text.
"""

from __future__ import annotations

import bisect
import hashlib
import os
import shutil
import struct
import tempfile
import zlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.files import Name
from firth.kernels import text_to_ids as kernel
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary

MAGIC = b"FIRTHTOK"
VERSION = 2
HEADER = struct.Struct("<8sII4QII8x")  # magic, version, checksum, counts, checksums of the data and the vocabulary
BLOCK = 1 << 20


class TokenFile:
    """The memory-mapped ids of a corpus.

    `ids` are ranks in `vocabulary`, which has every word of the text. Sentence s is
    `ids[sentences[s]:sentences[s + 1]]`, document d is the sentences from `documents[d]` to `documents[d + 1]`.

    Kernels index memory with what a file contains. So it is checked whole when it is opened, unless this process has
    just written it and passes its vocabulary.
    """

    def __init__(self, path: Name, vocabulary: Vocabulary | None = None) -> None:
        self.path = Path(path)
        tokens, sentences, documents, words, checksums = _read_header(self.path)
        offset = HEADER.size
        self.ids = _map(self.path, np.dtype("<u4"), offset, tokens)
        offset += 4 * tokens + (-4 * tokens) % 8
        self.sentences = _map(self.path, np.dtype("<u8"), offset, sentences + 1)
        self.documents = _map(self.path, np.dtype("<u8"), offset + 8 * (sentences + 1), documents + 1)
        if self.sentences[-1] != tokens or self.documents[-1] != sentences:
            raise FormatError(self.path, "the offsets do not end where the text ends", cure="Read the corpus again")
        self.vocabulary = Vocabulary.load(vocabulary_path(self.path)) if vocabulary is None else vocabulary
        if len(self.vocabulary) != words or self.vocabulary.total != tokens:
            problem = f"the vocabulary beside it has {len(self.vocabulary):,} words, not the {words:,} of this text"
            raise FormatError(self.path, problem, cure="Read the corpus again")
        if vocabulary is None:
            self._check(checksums)

    def _check(self, checksums: tuple[int, int]) -> None:
        """Refuses ids without a word, offsets that fall, and a file that changed after it was written."""
        has_words = not len(self.ids) or int(self.ids.max()) < len(self.vocabulary)
        offsets = ((self.sentences, len(self.ids)), (self.documents, len(self.sentences) - 1))
        rises = all(array[0] == 0 and array[-1] == end and _is_rising(array) for array, end in offsets)
        if not has_words or not rises or _sum_files(self.path) != checksums:
            raise FormatError(self.path, "the file is damaged", cure="Read the corpus again")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        sentences, documents = len(self.sentences) - 1, len(self.documents) - 1
        return (
            f"TokenFile({len(self):,} tokens of {len(self.vocabulary):,} words, "
            f"{sentences:,} sentence{'s' * (sentences != 1)}, {documents:,} document{'s' * (documents != 1)})"
        )

    def sentence(self, number: int) -> NDArray[np.uint32]:
        """The ids of one sentence."""
        return self.ids[int(self.sentences[number]) : int(self.sentences[number + 1])]

    def document(self, number: int) -> NDArray[np.uint32]:
        """The ids of one document."""
        first, last = int(self.documents[number]), int(self.documents[number + 1])
        return self.ids[int(self.sentences[first]) : int(self.sentences[last])]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of ids, sentences, documents and words."""
        digest = hashlib.sha256(self.vocabulary.fingerprint.encode())
        for array in (self.ids, self.sentences, self.documents):
            for start in range(0, len(array), BLOCK):
                digest.update(array[start : start + BLOCK].data)
        return digest.hexdigest()[:16]


def _is_rising(array: NDArray[np.uint64]) -> bool:
    """Whether no number is smaller than the one before. The array may be larger than memory: it is read in pieces."""
    starts = range(0, len(array), BLOCK)
    return all(bool(np.all(piece[1:] >= piece[:-1])) for piece in (array[at : at + BLOCK + 1] for at in starts))


def vocabulary_path(path: Name) -> Path:
    """The path of the vocabulary of a token file."""
    return Path(path).with_suffix(".vocab")


def _read_header(path: Path) -> tuple[int, int, int, int, tuple[int, int]]:
    with open(path, "rb") as file:
        head = file.read(HEADER.size)
        size = os.fstat(file.fileno()).st_size
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise FormatError(path, "not a token file")
    _, version, checksum, *counts, data, vocabulary = HEADER.unpack(head)
    if version != VERSION:
        raise FormatError(path, f"written by another version of firth: format version {version}, not {VERSION}")
    if checksum != _checksum(counts):
        raise FormatError(path, "the header is damaged", cure="Read the corpus again")
    tokens, sentences, documents, words = counts
    whole = HEADER.size + 4 * tokens + (-4 * tokens) % 8 + 8 * (sentences + 1) + 8 * (documents + 1)
    if size != whole:
        raise FormatError(path, f"has {size:,} bytes, but {whole:,} were written", cure="Read the corpus again")
    return tokens, sentences, documents, words, (data, vocabulary)


def _sum_files(path: Path) -> tuple[int, int]:
    """The checksums of all that follows the header, and of the vocabulary."""
    return _sum_bytes(path, HEADER.size), _sum_bytes(vocabulary_path(path), 0)


def _sum_bytes(path: Path, start: int) -> int:
    checksum = 0
    with open(path, "rb") as file:
        file.seek(start)
        while piece := file.read(BLOCK):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _checksum(counts: list[int]) -> int:
    return zlib.crc32(struct.pack("<4Q", *counts))


def _map(path: Path, kind: np.dtype[Any], offset: int, count: int) -> NDArray[Any]:
    if count == 0:
        return np.zeros(0, kind)  # an empty range cannot be mapped
    return np.memmap(path, kind, mode="r", offset=offset, shape=(count,))


class TokenWriter:
    """Writes a token file in one pass, with the ids of the workers' tables, and renumbers them in place at the end.

    Memory does not grow with the text: offsets are in two temporary files until the end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tokens, self.sentences, self.documents = 0, 0, 0
        self.last_end = 0  # the number of ids before the end of the last whole sentence
        self.runs: list[tuple[int, int]] = []  # (position of the first id, table) of each run of ids of one table
        self._ids = open(path, "wb")
        self._ids.write(bytes(HEADER.size))
        self._sentences, self._documents = (tempfile.TemporaryFile(dir=path.parent) for _ in range(2))
        self._sentences.write(bytes(8))
        self._documents.write(bytes(8))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        for file in (self._ids, self._sentences, self._documents):
            file.close()

    def add(self, table: int, ids: NDArray[np.uint32], ends: NDArray[np.uint32]) -> None:
        """Appends ids of a table and the ends of their sentences; the last sentence may stay open."""
        places = ends.astype(np.uint64) + np.uint64(self.tokens)
        if len(places) and places[0] == self.last_end:  # a line that continues in this chunk without a word
            places = places[1:]
        if len(ids) and (not self.runs or self.runs[-1][1] != table):
            self.runs.append((self.tokens, table))
        self._ids.write(ids.data)
        self.tokens += len(ids)
        self._end_sentences(places)

    def end_sentence(self) -> None:
        """Ends the open sentence, if any."""
        if self.last_end < self.tokens:
            self._end_sentences(np.array([self.tokens], np.uint64))

    def _end_sentences(self, places: NDArray[np.uint64]) -> None:
        if len(places):
            self._sentences.write(places.data)
            self.sentences += len(places)
            self.last_end = int(places[-1])

    def end_documents(self, places: NDArray[np.uint64]) -> None:
        """Ends documents after these numbers of sentences, counted from the start of the file."""
        self._documents.write(places.data)
        self.documents += len(places)

    def renumber(self, numbers: Mapping[int, NDArray[np.uint32]], runtime: Runtime) -> None:
        """Replaces every id by its final id, numbers[table][id]."""
        self._ids.flush()
        runtime.map(lambda start: self._renumber_block(start, numbers), range(0, self.tokens, BLOCK))

    def _renumber_block(self, start: int, numbers: Mapping[int, NDArray[np.uint32]]) -> None:
        ids = np.empty(min(BLOCK, self.tokens - start), np.uint32)
        with open(self.path, "r+b", buffering=0) as file:
            file.seek(HEADER.size + 4 * start)
            file.readinto(ids.data.cast("B"))
            run = bisect.bisect_right(self.runs, start, key=lambda run: run[0]) - 1
            at = 0
            while at < len(ids):
                last = run + 1 == len(self.runs)
                stop = len(ids) if last else min(len(ids), self.runs[run + 1][0] - start)
                kernel.renumber(ids[at:stop], numbers[self.runs[run][1]])
                at, run = stop, run + 1
            file.seek(HEADER.size + 4 * start)
            file.write(ids.data)

    def finish(self, vocabulary: Path, words: int) -> None:
        """Appends the offsets and writes the header, which completes the file; the vocabulary is already written."""
        self._ids.write(bytes((-4 * self.tokens) % 8))
        for offsets in (self._sentences, self._documents):
            offsets.seek(0)
            shutil.copyfileobj(offsets, self._ids, 1 << 20)
        self._ids.flush()
        counts = [self.tokens, self.sentences, self.documents, words]
        self._ids.seek(0)
        checksums = _sum_bytes(self.path, HEADER.size), _sum_bytes(vocabulary, 0)
        self._ids.write(HEADER.pack(MAGIC, VERSION, _checksum(counts), *counts, *checksums))
        self._ids.flush()
