"""A corpus: text of any size, read once, in parallel, into a memory-mapped token file.

    files → chunks of whole lines → (in threads) words → ids of the thread's own table → token file → final ids

Memory holds a few chunks and the vocabulary, never the whole text.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import platform
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import ClusterError, FormatError, OptionError
from firth.files import (
    STDIN,
    Name,
    atomic_file,
    compression,
    decode,
    expand,
    refuse_address,
    total_size,
    versions_of,
)
from firth.installed import find_version
from firth.kernels import text_to_ids as kernel
from firth.lazy import import_name
from firth.locks import locked
from firth.progress import Progress, Report, silent
from firth.remote.addresses import looks_like_address
from firth.runtime import Runtime
from firth.temporary import TemporaryFolder
from firth.text.chunks import (
    AT_BLANKS,
    AT_LINES,
    AT_PARAGRAPHS,
    CHUNK,
    PADDING,
    ByteRange,
    Chunk,
    Cuts,
    Scan,
    Tables,
    chunks,
    pack_scans,
    split_file,
    unpack_scans,
)
from firth.text.extraction import Extraction
from firth.text.segmentation import hint_at_segmenters
from firth.text.tokenfile import VERSION, TokenFile, TokenWriter, vocabulary_path
from firth.text.tokenize import EncodedTokens, Tokenizer, TokenizerLike, as_tokenizer
from firth.text.vocabulary import Vocabulary, to_bytes

Errors = Literal["strict", "replace"]
Documents = Literal["file", "line", "tagged-line"]
Document = str | tuple[str, ...]  # in memory: a text, or the tokens of one sentence
PlacedDocument = tuple[Document, tuple[str, int | None]]  # with the name of its file and its line
BLANKS = " \t\r\v\f"
SHARD = 64 << 20  # bytes of a file that a worker of a cluster reads as one task
TAG_END, TAG_SEPARATOR = "\t", ","  # in a tagged line


@checked
class Corpus:
    """Text from files, folders, glob patterns, addresses or standard input ('-'), compressed or not.

    >>> corpus = Corpus.of(["The cat sat. The dog ran.", "The end."], tokenizer=Tokenizer(mode="whitespace"))
    >>> corpus.tokens()
    TokenFile(8 tokens of 6 words, 2 sentences, 2 documents)
    >>> corpus.vocabulary
    Vocabulary(6 words, 8 tokens: The, cat, dog, …)

    `tokenizer` is a `Tokenizer`, or any function from a sentence to its words, such as `jieba.cut`. A document is a
    file, or a line with `documents="line"`; with `documents="tagged-line"`, the tags of the document, separated by
    commas, and a tab stand before its text. With `field`, files are JSON lines and the text under that key of each
    record is a document. With `column`, a name or a number from 1, files are tables (CSV or separated by tabs) and each
    cell of that column is a document. With `html`, HTML pages are read as their visible text. Tables and pages for
    which nothing is said are errors; see `Extraction`. Bytes that are not UTF-8 raise FormatError with their offset, or
    become U+FFFD with `errors="replace"`. `cache` is a folder for the token file, which is used again until a file or
    an option changes; that of an address changes with its fingerprint.
    """

    def __init__(
        self,
        paths: Name | Iterable[Name],
        *,
        tokenizer: TokenizerLike | None = None,
        field: str | None = None,
        column: str | int | None = None,
        html: bool | None = None,
        errors: Errors = "strict",
        documents: Documents = "file",
        cache: Name | None = None,
        threads: int | None = None,
    ) -> None:
        for name, value, legal in (("errors", errors, Errors), ("documents", documents, Documents)):
            if value not in get_args(legal):
                raise OptionError(f"{name} is {value!r}, but must be one of {', '.join(map(repr, get_args(legal)))}")
        if field is not None and documents == "tagged-line":
            raise OptionError("a record of JSON lines is a document, so documents='tagged-line' cannot have a field")
        self.tokenizer = as_tokenizer(tokenizer)
        self.field, self.errors, self.documents = field, errors, documents
        if cache is not None:
            refuse_address(cache, "the cache of token files")
        self.cache = None if cache is None else Path(cache)
        self.runtime = Runtime.from_env(threads)
        self.paths = expand(paths)
        if column is not None and (field is not None or documents == "tagged-line"):
            raise OptionError("a column is of a table, but field and documents='tagged-line' are for other files")
        self.extraction = Extraction(column, html)
        is_plain = field is not None or documents == "tagged-line"
        self._kinds = {} if is_plain else self.extraction.check(self.paths)
        self._texts: tuple[Document, ...] | None = None
        self._tags: list[str | tuple[str, ...]] | None = None
        self._tokens: TokenFile | None = None
        self._is_consumed = False
        self.hints_at_segmenters = True

    @classmethod
    def of(cls, texts: Source, **options: Any) -> Corpus:
        """A corpus in memory: a text, or a list of documents. The options are those of `Corpus`.

        A document is a text, or a list of tokens, which is one sentence and is not tokenized. A `Path`, or a list of
        them, is read as by `Corpus`; a `Corpus` is returned as it is. Recipes accept all of these in `fit`.

        >>> list(Corpus.of(["The cat sat. The dog ran.", ["Dr.", "Watson"]]).sentences())
        [['The', 'cat', 'sat', '.'], ['The', 'dog', 'ran', '.'], ['Dr.', 'Watson']]
        """
        if isinstance(texts, Corpus):
            return texts
        if isinstance(texts, PathLike):
            return cls(texts, **options)
        if isinstance(texts, str):
            check_not_a_file(texts)
            texts = [texts]
        check_list(texts, "the corpus is")
        items = list(texts)
        if items and all(isinstance(item, PathLike) for item in items):
            return cls(items, **options)  # type: ignore[arg-type]
        documents = tuple(
            item if isinstance(item, str) else check_tokens(item, f"document {place}")
            for place, item in enumerate(items)
        )
        if options.get("tokenizer") is None and documents and not any(isinstance(one, str) for one in documents):
            options["tokenizer"] = Tokenizer(mode="whitespace")
        corpus = cls(STDIN, **options)
        corpus.paths, corpus._texts = [], documents
        return corpus

    @classmethod
    def from_frame(cls, frame: Any, column: str = "text", *, tags: str | None = None, **options: Any) -> Corpus:
        """A corpus of the texts in a column of a frame (pandas, polars, Arrow); `tags` is the column of their tags.

        Needs the extra `arrow`. The options are those of `Corpus`.
        """
        read = import_name("firth.exchange.frames:corpus_from_frame", "a corpus from a frame", "arrow")
        corpus: Corpus = read(frame, column, tags=tags, **options)
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

    def tokens(self, report: Report = silent, runtime: Runtime | None = None) -> TokenFile:
        """The corpus as ids. The first call reads the text; later calls return the same file.

        If `runtime` is a cluster, its workers read files; standard input and texts in memory are read here.
        """
        if self._tokens is None:
            reader = self
            if runtime is not None and runtime.workers and self._texts is None and STDIN not in self.paths:
                reader = copy(self)
                reader.runtime = runtime
            if self.cache is None or STDIN in self.paths:
                self._tokens = reader._read_temporary(report)
            else:
                self._tokens = reader._read_cached(self.cache, report)
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

    def with_tags(self, tags: Iterable[str | Iterable[str]]) -> Corpus:
        """The same corpus with a tag, or several, for each document.

        >>> Corpus.of(["hot tea", "cold rain"]).with_tags(["drink", ("sky", "cold")]).tags
        ['drink', ('sky', 'cold')]
        """
        check_list(tags, "the tags are")
        corpus = copy(self)
        corpus._tags = [
            tag if isinstance(tag, str) else tuple(check_words(tag, "the tags of document", place))
            for place, tag in enumerate(tags)
        ]
        return corpus

    @property
    def tags(self) -> list[str | tuple[str, ...]] | None:
        """The tags of each document; None if it has none. Those of tagged lines are read from the files."""
        if self._tags is None and self.documents == "tagged-line" and self._texts is None:
            self._check_unread()
            read = (self._split_tags(chunk) for path in self.paths for chunk in chunks(path, count_lines=True))
            self._tags = [
                tuple(tag.strip() for tag in tags.split(TAG_SEPARATOR)) for lines in read for tags, _, _ in lines
            ]
        return self._tags

    def texts(self) -> Iterator[str]:
        """The unchanged text of each document, one document at a time."""
        if self._texts is not None:
            yield from (text if isinstance(text, str) else " ".join(text) for text in self._texts)
            return
        self._check_unread()
        for path in self.paths:
            if self._is_extracted(path):
                yield from (text for text, _ in self._extract(path))
                continue
            cut = chunks(path, count_lines=self._counts_lines)
            if self.field is not None or self.documents != "file":
                for chunk in cut:
                    yield from (text for text, _ in self._split(chunk))
            else:
                yield "".join(map(self._decode, cut))

    def _check_unread(self) -> None:
        if self._is_consumed:
            raise OptionError("standard input can be read only once. Save it to a file first")
        self._is_consumed = STDIN in self.paths

    def _read_temporary(self, report: Report) -> TokenFile:
        folder = TemporaryFolder("corpus")
        try:
            tokens = self._read(folder.path / "corpus.tokens", report)
        except BaseException:
            folder.close()
            raise
        weakref.finalize(tokens, folder.close)
        return tokens

    def _read_cached(self, folder: Path, report: Report) -> TokenFile:
        """The token file in the cache. Of several processes that need it, one reads the text and the others wait."""
        key = self._key()
        path = folder / f"{key}.tokens"
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            if path.exists():
                try:
                    return TokenFile(path)
                except (FormatError, OSError):
                    pass  # the cached file is damaged: read the text again
            return self._read(path, report, key)

    def _key(self) -> str:
        """A hash of all that the token file depends on: files, options, versions."""
        options = (
            VERSION,
            find_version("firth") or "unknown",
            self.tokenizer,
            self.field,
            self.errors,
            self.documents,
            self.extraction,
        )
        digest = hashlib.sha256(repr(options).encode())
        segment = self.tokenizer.segment
        if segment is not None and not isinstance(segment, str):
            raise OptionError("a function that segments has no name, so its words cannot be cached. Leave out cache")
        if segment is not None and os.path.isdir(segment):
            digest.update(repr((os.path.abspath(segment), os.stat(segment).st_mtime_ns)).encode())
        for version_of_file in versions_of(self.paths):
            digest.update(repr(version_of_file).encode())
        for text in self._texts or ():
            raw = text if isinstance(text, str) else repr(text)
            digest.update(f"{type(text).__name__[:1]}{len(raw)}:".encode() + raw.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:24]

    def _read(self, path: Path, report: Report, key: str | None = None) -> TokenFile:
        """Reads the text into a token file. One that changes in the meantime does not fit its key in the cache."""
        tables = Tables()
        total, unit = total_size(self.paths), "bytes"
        if any(map(self._is_extracted, self.paths)):
            total, unit = None, "characters"
        if self._texts is not None:
            total, unit = sum(map(_count_characters, self._texts)), "characters"
        with atomic_file(path) as draft, TokenWriter(draft) as writer:
            done = 0
            for scan in self._scan_on_cluster(tables) if self.runtime.workers else self._scans(tables):
                self._write(writer, scan)
                done += scan.size
                report(Progress("reading", done, total, unit, {"words": writer.tokens}))
            normalizer = self.tokenizer.normalizer
            vocabulary, numbers = tables.merge(normalizer.fold if normalizer and normalizer.fold_case else None)
            writer.renumber(numbers, self.runtime)
            vocabulary.save(vocabulary_path(path))
            writer.finish(vocabulary_path(path), len(vocabulary))
            if key is not None and self._key() != key:
                raise self._changed()
        if self.hints_at_segmenters and self.tokenizer.mode == "running" and self.tokenizer.segment is None:
            hint_at_segmenters(vocabulary)
        return TokenFile(path, vocabulary)

    def _changed(self) -> OptionError:
        return OptionError(f"{self.paths[0]}: the text changed while it was read. Start again")

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
            places = ((text, (f"text {number}", None)) for number, text in enumerate(self._texts))
            return self.runtime.stream(partial(self._scan_texts, tables), _make_batches(places))
        self._check_unread()
        return self._scan_files(tables, [FilePart(path) for path in self.paths])

    def _scan_on_cluster(self, tables: Tables) -> Iterator[Scan]:
        """The scans of all files in their order; workers read parts of them, each with a table of its own."""
        reader = copy(self)
        reader.runtime, reader.paths, reader.cache = Runtime(1), [], None
        shared = ShardReader(reader, os.getcwd())
        has_name = self.tokenizer.segment is None or isinstance(self.tokenizer.segment, str)
        stage = f"reading {self._key()}" if has_name else ""
        versions = versions_of(self.paths)
        with tables.borrow() as table:
            for shard in self.runtime.scatter(ShardReader.read, self._split_files(), shared=shared, stage=stage):
                yield from unpack_scans(shard, table)
        if versions_of(self.paths) != versions:  # workers may have read parts of different versions
            raise self._changed()

    def _split_files(self) -> Iterator[FilePart]:
        """The files in parts for workers. A part of a file whose errors name lines, or that is packed, is the file."""
        _, cuts = self._scanner()
        for path in self.paths:
            size = os.path.getsize(path) if os.path.isfile(path) else None
            if size is None or self._is_extracted(path) or self._counts_lines or compression(path) is not None:
                yield FilePart(path, size=size)
            else:
                yield from (FilePart(path, part, size) for part in split_file(path, cuts, SHARD))

    def _scanner(self) -> tuple[Callable[[Tables, Chunk], Scan], Cuts]:
        """The function that scans a chunk of plain text, and where chunks may end."""
        scan: Callable[[Tables, Chunk], Scan]
        if self.field is not None:
            scan = self._scan_documents
        elif self._is_plain and self.documents != "tagged-line":
            scan = self._scan_plain
        else:
            scan = self._scan_running if self.documents == "file" else self._scan_documents
        cuts = AT_LINES
        if scan == self._scan_plain:
            cuts = AT_BLANKS
        elif scan == self._scan_running and self.tokenizer.paragraphs:
            cuts = AT_PARAGRAPHS
        return scan, cuts

    def _scan_files(self, tables: Tables, parts: Sequence[FilePart]) -> Iterator[Scan]:
        """The scans of files, or of parts of files."""
        scan, cuts = self._scanner()
        if any(self._is_extracted(part.path) for part in parts):
            return self.runtime.stream(lambda job: job[0](tables, job[1]), self._jobs(parts, scan, cuts))
        cut = (chunk for part in parts for chunk in self._chunks(part, cuts))
        return self.runtime.stream(partial(scan, tables), cut)

    def _chunks(self, part: FilePart, cuts: Cuts) -> Iterator[Chunk]:
        return chunks(part.path, cuts, count_lines=self._counts_lines, part=part.bytes)

    def _is_extracted(self, path: str) -> bool:
        """Whether a file is a table or a page, so that its text is not the file itself."""
        return self._kinds.get(path, "text") != "text"

    def _extract(self, path: str) -> Iterator[tuple[str, int]]:
        """The documents of a table or a page with their line numbers."""
        for text, line in self.extraction.documents(path, self._kinds[path], self.errors):
            if self._kinds[path] == "html" and self.documents == "line":
                yield from ((block, line) for block in text.split("\n"))
            else:
                yield text, line

    def _jobs(
        self, parts: Sequence[FilePart], scan: Callable[[Tables, Chunk], Scan], cuts: Cuts
    ) -> Iterator[tuple[Callable[..., Scan], Any]]:
        """The functions and arguments that scan files, some of which are tables or pages."""
        for part in parts:
            if self._is_extracted(part.path):
                texts = ((text, (part.path, line)) for text, line in self._extract(part.path))
                yield from ((self._scan_texts, batch) for batch in _make_batches(texts))
            else:
                yield from ((scan, chunk) for chunk in self._chunks(part, cuts))

    @property
    def _counts_lines(self) -> bool:
        """Whether errors name the number of a line."""
        return self.field is not None or self.documents == "tagged-line"

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

    def _scan_texts(self, tables: Tables, texts: Sequence[PlacedDocument]) -> Scan:
        blocks: list[EncodedTokens] = []
        sentences: list[int] = []
        for is_text, some in itertools.groupby(texts, lambda item: isinstance(item[0], str)):
            if is_text:
                checked = (self._check_surrogates(text, *place) for text, place in some if isinstance(text, str))
                for block, counts in self.tokenizer.encode_documents(checked):
                    blocks.append(block)
                    sentences += counts
            else:
                lists = [[self._check_surrogates(word, *place) for word in words] for words, place in some]
                blocks.append(encode_words(lists))
                sentences += [min(len(words), 1) for words in lists]
        size = sum(_count_characters(text) for text, _ in texts)
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
        if self.documents == "tagged-line":
            yield from ((text, number) for _, text, number in self._split_tags(chunk))
            return
        for number, line in enumerate(self._decode(chunk).split("\n"), chunk.line + 1):
            if not line.strip(BLANKS):
                continue
            yield (line.rstrip("\r"), None) if self.field is None else (self._parse(chunk.path, line, number), number)

    def _split_tags(self, chunk: Chunk) -> Iterator[tuple[str, str, int]]:
        """The tagged lines of a chunk: tags, text and line number."""
        for number, line in enumerate(self._decode(chunk).split("\n"), chunk.line + 1):
            if line.strip(BLANKS):
                tags, tab, text = line.rstrip("\r").partition(TAG_END)
                if not tab or not tags.strip():
                    cure = "A tagged line is a tag, or several with commas, a tab and the text"
                    raise FormatError(chunk.path, "has no tab after the tags", line=number, cure=cure)
                yield tags, text, number

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


@dataclass(frozen=True)
class FilePart:
    """A file of a corpus, or some bytes of it. `size` is that of the whole file, if it is on disk."""

    path: str
    bytes: ByteRange | None = None
    size: int | None = None


@dataclass(frozen=True)
class ShardReader:
    """Reads parts of files in the process of a worker, in the folder to which relative paths belong."""

    corpus: Corpus
    folder: str

    def read(self, part: FilePart) -> dict[str, NDArray[Any]]:
        """The scans of a part and the words of its table, as arrays."""
        tables = Tables()
        with contextlib.chdir(self.folder) if os.path.isdir(self.folder) else contextlib.nullcontext():
            if part.size is not None and os.path.isfile(part.path) and os.path.getsize(part.path) != part.size:
                sizes = f"{os.path.getsize(part.path):,} bytes there, but {part.size:,} where the command runs"
                cure = "Copy it there again, or use a disk that all nodes share"
                raise ClusterError(f"node {platform.node()}", f"{part.path} has {sizes}", cure=cure)
            scans = list(self.corpus._scan_files(tables, [part]))
        with tables.borrow() as table:
            return pack_scans(scans, table)


Source = Corpus | str | PathLike[str] | Iterable[str | PathLike[str] | Sequence[str]]  # what `Corpus.of` accepts


def _list_fields(record: Any) -> str:
    if not isinstance(record, dict):
        return "A line must be a JSON object"
    return f"The record has: {', '.join(map(repr, list(record)[:8]))}"


def encode_words(sentences: Sequence[Sequence[str]]) -> EncodedTokens:
    """Sentences of words as the tokenizer would encode them.

    >>> encode_words([["New York", "is"], [], ["big"]]).last
    array([0, 1, 1], dtype=uint8)
    """
    words = [to_bytes(word) for sentence in sentences for word in sentence]
    last = np.zeros(len(words), np.uint8)
    last[np.cumsum([len(sentence) for sentence in sentences if len(sentence)], dtype=np.int64) - 1] = 1
    lengths = np.fromiter(map(len, words), np.int32, len(words))
    return EncodedTokens(np.frombuffer(b"".join(words), np.uint8), lengths, last)


def check_list(source: object, subject: str) -> None:
    """Raises OptionError for what is not iterable, and for bytes."""
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        problem = f"{subject} {source!r:.80}, but must be a text or a list of texts or lists of words"
        raise OptionError(f"{problem}. For a file pass Path(name) or Corpus(name)")


def check_words(words: object, what: str, place: int | None = None) -> list[str]:
    """A list of tokens, checked: any iterable of strings.

    >>> check_words(("hot", "tea"), "sentence")
    ['hot', 'tea']
    >>> check_words(7, "sentence", 0)
    Traceback (most recent call last):
    firth.errors.OptionError: sentence 0 is 7, but must be text or a list of words
    """
    try:
        if isinstance(words, list) or (isinstance(words, Iterable) and not isinstance(words, (str, bytes))):
            tokens = list(words)
            "".join(tokens)  # the fastest check that all of them are strings
            return tokens
    except TypeError:
        pass
    name = what if place is None else f"{what} {place}"
    raise OptionError(f"{name} is {words!r:.80}, but must be text or a list of words")


def check_tokens(words: object, place: str) -> tuple[str, ...]:
    """The tokens of a document: as `check_words`, and none of them empty."""
    tokens = tuple(check_words(words, place))
    if "" in tokens:
        raise OptionError(f"{place} has an empty token at {tokens.index('')}. Remove it")
    return tokens


def check_not_a_file(text: str) -> None:
    """Raises OptionError if a text is the name of a file or an address: a string is text, a file is a `Path`."""
    if looks_like_address(text):
        raise OptionError(f"{text!r} is a text here, but also an address. To read the file pass Corpus({text!r})")
    if len(text) < 1000 and "\n" not in text and (os.sep in text or Path(text).suffix) and os.path.isfile(text):
        raise OptionError(f"{text!r} is a text here, but also the name of a file. To read the file pass Path({text!r})")


def _count_characters(text: Document) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))


def _make_batches(texts: Iterable[PlacedDocument]) -> Iterator[list[PlacedDocument]]:
    batch: list[PlacedDocument] = []
    size = 0
    for text, place in texts:
        batch.append((text, place))
        size += _count_characters(text)
        if size >= CHUNK:
            yield batch
            batch, size = [], 0
    yield batch
