"""A corpus: text of any size, read once, in parallel, into a memory-mapped token file.

    files → chunks of whole lines → (in threads) words → ids of the thread's own table → token file → final ids

Memory holds a few chunks and the vocabulary, never the whole text.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from firth.errors import FormatError, OptionError
from firth.files import STDIN, Name, atomic_file, decode, expand, total_size
from firth.kernels import text_to_ids as kernel
from firth.progress import Progress, Report, silent
from firth.runtime import Runtime
from firth.text.chunks import AT_BLANKS, AT_LINES, AT_PARAGRAPHS, CHUNK, PADDING, Chunk, Scan, Tables, chunks
from firth.text.tokenfile import VERSION, TokenFile, TokenWriter, vocabulary_path
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

Errors = Literal["strict", "replace"]
Documents = Literal["file", "line"]
BLANKS = " \t\r\v\f"


class Corpus:
    """Text from files, folders, glob patterns or standard input ('-'), compressed or not.

    >>> corpus = Corpus.of(["The cat sat. The dog ran.", "The end."], tokenizer=Tokenizer(mode="whitespace"))
    >>> corpus.tokens()
    TokenFile(8 tokens of 6 words, 2 sentences, 2 documents)
    >>> corpus.vocabulary
    Vocabulary(6 words, 8 tokens: The, cat, dog, …)

    A document is a file, or a line with `documents="line"`; with `field`, files are JSON lines and the text under that
    key of each record is a document. Bytes that are not UTF-8 raise FormatError with their offset, or become U+FFFD
    with `errors="replace"`. `cache` is a folder for the token file, which is used again until a file or an option
    changes.
    """

    def __init__(
        self,
        paths: Name | Iterable[Name],
        *,
        tokenizer: Tokenizer | None = None,
        field: str | None = None,
        errors: Errors = "strict",
        documents: Documents = "file",
        cache: Name | None = None,
        threads: int | None = None,
    ) -> None:
        for name, value, legal in (("errors", errors, Errors), ("documents", documents, Documents)):
            if value not in get_args(legal):
                raise OptionError(f"{name} is {value!r}, but must be one of {', '.join(map(repr, get_args(legal)))}")
        self.tokenizer = Tokenizer() if tokenizer is None else tokenizer
        self.field, self.errors, self.documents = field, errors, documents
        self.cache = None if cache is None else Path(cache)
        self.runtime = Runtime.from_env(threads)
        self.paths = expand(paths)
        self._texts: tuple[str, ...] | None = None
        self._tokens: TokenFile | None = None
        self._is_consumed = False

    @classmethod
    def of(cls, texts: Iterable[str], **options: Any) -> Corpus:
        """A corpus of texts in memory, each of them a document; the options are those of `Corpus`."""
        if isinstance(texts, str):
            raise OptionError("a corpus needs a list of texts. For one text write Corpus.of([text])")
        corpus = cls(STDIN, **options)
        corpus.paths, corpus._texts = [], tuple(texts)
        return corpus

    def __repr__(self) -> str:
        if self._texts is not None:
            where = f"{len(self._texts):,} text{'s' * (len(self._texts) != 1)} in memory"
        else:
            where = f"{self.paths[0]}" + (f" and {len(self.paths) - 1:,} more" if len(self.paths) > 1 else "")
        return f"Corpus({where}" + (")" if self._tokens is None else f": {self._tokens!r})")

    @property
    def vocabulary(self) -> Vocabulary:
        """All words of the corpus with their counts; reads the corpus on first use."""
        return self.tokens().vocabulary

    @property
    def fingerprint(self) -> str:
        """A hash of the words, sentences and documents."""
        return self.tokens().fingerprint

    def tokens(self, report: Report = silent) -> TokenFile:
        """The corpus as ids. The first call reads the text; later calls return the same file."""
        if self._tokens is None:
            if self.cache is None or STDIN in self.paths:
                self._tokens = self._read_temporary(report)
            else:
                self._tokens = self._read_cached(self.cache, report)
        return self._tokens

    def sentences(self) -> Iterator[list[str]]:
        """The words of each sentence, one sentence at a time."""
        tokens = self.tokens()
        words = tokens.vocabulary.words
        for start in range(0, len(tokens.sentences) - 1, 4096):
            ends = tokens.sentences[start : start + 4097].astype(np.int64)
            ids = tokens.ids[ends[0] : ends[-1]].tolist()
            places = (ends - ends[0]).tolist()
            for first, last in itertools.pairwise(places):
                yield [words[id] for id in ids[first:last]]

    def texts(self) -> Iterator[str]:
        """The unchanged text of each document, one document at a time."""
        if self._texts is not None:
            yield from self._texts
            return
        self._check_unread()
        for path in self.paths:
            cut = chunks(path, count_lines=self.field is not None)
            if self.field is not None or self.documents == "line":
                for chunk in cut:
                    yield from (text for text, _ in self._split(chunk))
            else:
                yield "".join(map(self._decode, cut))

    def _check_unread(self) -> None:
        if self._is_consumed:
            raise OptionError("standard input can be read only once. Save it to a file first")
        self._is_consumed = STDIN in self.paths

    def _read_temporary(self, report: Report) -> TokenFile:
        folder = tempfile.mkdtemp(prefix="firth-")
        clean = partial(_remove, folder, os.getpid())
        try:
            tokens = self._read(Path(folder) / "corpus.tokens", report)
        except BaseException:
            clean()
            raise
        weakref.finalize(tokens, clean)
        return tokens

    def _read_cached(self, folder: Path, report: Report) -> TokenFile:
        path = folder / f"{self._key()}.tokens"
        if path.exists():
            try:
                return TokenFile(path)
            except (FormatError, OSError):
                pass  # the cached file is damaged: read the text again
        return self._read(path, report)

    def _key(self) -> str:
        """A hash of all that the token file depends on: files, options, versions."""
        options = VERSION, version("firth"), self.tokenizer, self.field, self.errors, self.documents
        digest = hashlib.sha256(repr(options).encode())
        for path in self.paths:
            status = os.stat(path)
            digest.update(repr((os.path.abspath(path), status.st_size, status.st_mtime_ns)).encode())
        for text in self._texts or ():
            digest.update(f"{len(text)}:".encode() + text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:24]

    def _read(self, path: Path, report: Report) -> TokenFile:
        tables = Tables()
        total, unit = total_size(self.paths), "bytes"
        if self._texts is not None:
            total, unit = sum(map(len, self._texts)), "characters"
        with atomic_file(path) as draft, TokenWriter(draft) as writer:
            done = 0
            for scan in self._scans(tables):
                self._write(writer, scan)
                done += scan.size
                report(Progress("reading", done, total, unit, {"words": writer.tokens}))
            normalizer = self.tokenizer.normalizer
            vocabulary, numbers = tables.merge(normalizer.fold if normalizer and normalizer.fold_case else None)
            writer.renumber(numbers, self.runtime)
            writer.finish(len(vocabulary))
            vocabulary.save(vocabulary_path(path))
        return TokenFile(path, vocabulary)

    def _write(self, writer: TokenWriter, scan: Scan) -> None:
        before = writer.sentences
        writer.add(scan.table, scan.ids, scan.ends)
        if scan.is_last:
            writer.end_sentence()
        if scan.documents is not None:
            writer.end_documents((before + np.cumsum(scan.documents)).astype(np.uint64))
        elif self.documents == "line":
            writer.end_documents(np.arange(writer.documents + 1, writer.sentences + 1, dtype=np.uint64))
        elif scan.is_last:
            writer.end_documents(np.array([writer.sentences], np.uint64))

    @property
    def _is_plain(self) -> bool:
        """Whether words are split at white space only, so that bytes need no decoding."""
        tokenizer = self.tokenizer
        return tokenizer.mode == "whitespace" and tokenizer.normalizer is None and not tokenizer.paragraphs

    def _scans(self, tables: Tables) -> Iterator[Scan]:
        if self._texts is not None:
            return self.runtime.stream(partial(self._scan_texts, tables), _make_batches(self._texts))
        self._check_unread()
        scan: Callable[[Tables, Chunk], Scan]
        if self.field is not None:
            scan = self._scan_documents
        elif self._is_plain:
            scan = self._scan_plain
        else:
            scan = self._scan_documents if self.documents == "line" else self._scan_running
        cuts = AT_LINES
        if scan == self._scan_plain:
            cuts = AT_BLANKS
        elif scan == self._scan_running and self.tokenizer.paragraphs:
            cuts = AT_PARAGRAPHS
        counted = self.field is not None
        cut = (chunk for path in self.paths for chunk in chunks(path, cuts, count_lines=counted))
        return self.runtime.stream(partial(scan, tables), cut)

    def _scan_plain(self, tables: Tables, chunk: Chunk) -> Scan:
        data: bytearray | bytes = chunk.data
        size = chunk.size
        invalid = int(kernel.find_invalid_utf8(np.frombuffer(data, np.uint8), size))
        if invalid >= 0:
            data = self._decode(chunk).encode() + PADDING
            size = len(data) - len(PADDING)
        with tables.borrow() as table:
            return Scan(
                table.number, *table.scan(data, size, chunk.is_continued), size=chunk.read, is_last=chunk.is_last
            )

    def _scan_running(self, tables: Tables, chunk: Chunk) -> Scan:
        text = self._decode(chunk)
        with tables.borrow() as table:
            ids, ends = table.count(self.tokenizer.encode(text))
        return Scan(table.number, ids, ends, size=chunk.read, is_last=chunk.is_last)

    def _scan_documents(self, tables: Tables, chunk: Chunk) -> Scan:
        scan = self._scan_texts(tables, [(text, (chunk.path, line)) for text, line in self._split(chunk)])
        return Scan(scan.table, scan.ids, scan.ends, scan.documents, chunk.read, chunk.is_last)

    def _scan_texts(self, tables: Tables, texts: list[tuple[str, tuple[str, int | None]]]) -> Scan:
        checked = (self._check_surrogates(text, *place) for text, place in texts)
        blocks, counts = zip(*self.tokenizer.encode_documents(checked))
        sentences = list(itertools.chain(*counts))
        size = sum(len(text) for text, _ in texts)
        with tables.borrow() as table:
            ids, ends = table.count(blocks)
        return Scan(table.number, ids, ends, np.array(sentences, np.int64), size)

    def _check_surrogates(self, text: str, name: str, line: int | None) -> str:
        """The text, if it can be encoded; a lone surrogate cannot."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            if self.errors == "replace":
                return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            problem = f"character {error.start} is half of a surrogate pair"
            raise FormatError(name, problem, line=line, cure='Use errors="replace" to read it as U+FFFD') from error
        return text

    def _decode(self, chunk: Chunk) -> str:
        cure = 'Use errors="replace" to read such bytes as U+FFFD'
        return decode(chunk.text, chunk.path, offset=chunk.offset + chunk.start, errors=self.errors, cure=cure)

    def _split(self, chunk: Chunk) -> Iterator[tuple[str, int | None]]:
        """The documents of a chunk with their line numbers; blank lines are skipped."""
        for number, line in enumerate(self._decode(chunk).split("\n"), chunk.line + 1):
            if not line.strip(BLANKS):
                continue
            yield (line.rstrip("\r"), None) if self.field is None else (self._parse(chunk.path, line, number), number)

    def _parse(self, path: str, line: str, number: int) -> str:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(path, f"not JSON: {error}", line=number) from error
        text = record.get(self.field) if isinstance(record, dict) else None
        if isinstance(text, str):
            return text
        problem = f"no text under {self.field!r}"
        raise FormatError(path, problem, line=number, cure=_list_fields(record))


def _list_fields(record: Any) -> str:
    if not isinstance(record, dict):
        return "A line must be a JSON object"
    return f"The record has: {', '.join(map(repr, list(record)[:8]))}"


def _make_batches(texts: Iterable[str]) -> Iterator[list[tuple[str, tuple[str, None]]]]:
    batch: list[tuple[str, tuple[str, None]]] = []
    size = 0
    for number, text in enumerate(texts):
        batch.append((text, (f"text {number}", None)))
        size += len(text)
        if size >= CHUNK:
            yield batch
            batch, size = [], 0
    yield batch


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not delete the file of its parent
        shutil.rmtree(folder, ignore_errors=True)
