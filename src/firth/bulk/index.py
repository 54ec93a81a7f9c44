"""An index of occurrences: every word of a text (or only some words) with its contextual vector."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from firth.bulk.embed_file import BulkEmbedder, check_target, row_shape, tokens_for
from firth.bulk.embedder import as_layers, embedder
from firth.bulk.fingerprint import fingerprint
from firth.bulk.journal import Journal
from firth.bulk.lines import LineBlock, LineReader
from firth.bulk.remote_embedder import embed_on_cluster
from firth.errors import OptionError
from firth.files import Name, staged
from firth.formats import native
from firth.formats.reading import RowSelection
from firth.formats.registry import load
from firth.progress import Report, silent
from firth.remote.addresses import address_of
from firth.runtime import Runtime
from firth.text.extraction import Extraction
from firth.text.model_tokenizer import tokenizer_of
from firth.text.tokenize import TokenizerLike
from firth.text.vocabulary import Vocabulary, to_bytes, to_word
from firth.vectors.occurrences import Occurrences

VECTORS, PLACES, IDS, LENGTHS, WORDS = "vectors", "places", "ids", "lengths", "words"


class IndexWriter:
    """Writes the rows of occurrences and the text as word numbers, in order of first occurrence."""

    def __init__(self, journal: Journal, dtype: str, only: frozenset[str] | None = None) -> None:
        self.journal, self.dtype, self.only = journal, dtype, only
        self.state: dict[str, Any] = {}
        stored = journal.path(WORDS).read_bytes().split(b"\n")[:-1] if journal.size(WORDS) else []
        self.numbers = {to_word(word): number for number, word in enumerate(stored)}

    def append(self, block: LineBlock, arrays: Sequence[NDArray[Any]]) -> None:
        """Appends the words of the block and the rows of the indexed ones."""
        words = [word for sentence in block.sentences for word in sentence]
        new = [word for word in dict.fromkeys(words) if word not in self.numbers]
        self.numbers.update(zip(new, range(len(self.numbers), len(self.numbers) + len(new))))
        self.journal.append(WORDS, b"".join(to_bytes(word) + b"\n" for word in new))
        first = self.journal.size(IDS) // 4
        self.journal.append(IDS, np.array([self.numbers[word] for word in words], "<u4"))
        self.journal.append(LENGTHS, np.array([len(sentence) for sentence in block.sentences], "<i8"))
        if not words:
            return
        rows = np.concatenate(arrays)
        if self.only is not None:
            wanted = np.flatnonzero([word in self.only for word in words])
            rows = rows[wanted]
            self.journal.append(PLACES, (first + wanted).astype("<i8"))
        self.journal.append(VECTORS, np.ascontiguousarray(rows))

    def occurrences(self, dim: int, metadata: dict[str, Any]) -> Occurrences:
        """The written data as an artifact: words ranked by count, vectors memory-mapped."""
        ids = self._read(IDS, "<u4")
        words = list(self.numbers)
        counts = np.bincount(ids, minlength=len(words)).tolist()
        vocabulary = Vocabulary.from_counts(dict(zip(words, counts)))
        ranks = vocabulary.ids(words).astype(np.uint32)
        starts = np.concatenate([[0], np.cumsum(self._read(LENGTHS, "<i8"))]).astype(np.int64)
        rows = self._read(VECTORS, self.dtype).reshape(-1, dim)
        places = None if self.only is None else self._read(PLACES, "<i8")
        return Occurrences(vocabulary, ranks[ids], starts, rows, places=places, metadata=metadata)

    def _read(self, name: str, dtype: str) -> NDArray[Any]:
        return np.memmap(self.journal.path(name), dtype, "r") if self.journal.size(name) else np.empty(0, dtype)

    def finish(self) -> str:
        """Does nothing: `index_file` saves the occurrences."""
        return ""


def index_file(
    model: Any,
    inputs: Name | Iterable[Name],
    out: Name,
    *,
    layers: str = "top",
    dtype: Literal["float16", "float32"] = "float16",
    words: Iterable[str] | None = None,
    tokenizer: TokenizerLike | None = None,
    errors: Literal["strict", "replace"] = "strict",
    column: str | int | None = None,
    html: bool | None = None,
    model_path: str = "",
    identity: str = "",
    restart: bool = False,
    block_tokens: int | None = None,
    runtime: Runtime | None = None,
    report: Report = silent,
    **settings: Any,
) -> Occurrences:
    """Reads every line of the inputs as a sentence and saves an index of its words at `out`, a folder.

    `words` restricts the index to these words. The same call resumes a killed run. `model` is a model or, for a cluster
    as `runtime`, the path or name of one.
    """
    path = model
    if isinstance(model, (str, os.PathLike)):
        model_path, identity = model_path or os.fspath(model), identity or fingerprint(model)
        model = load(model)
    if layers == "all":
        raise OptionError("layers is 'all', but an index is over one layer, or over their mix")
    if address_of(out) is not None:
        with staged(out) as place:
            reading: dict[str, Any] = {"tokenizer": tokenizer, "errors": errors, "column": column, "html": html}
            running: dict[str, Any] = {
                "model_path": model_path,
                "identity": identity,
                "restart": restart,
                "report": report,
                "runtime": runtime,
            }
            what: dict[str, Any] = {"layers": layers, "dtype": dtype, "words": words, "block_tokens": block_tokens}
            return index_file(path, inputs, place, **what, **reading, **running, **settings)
    lines = LineReader.of(inputs, tokenizer or tokenizer_of(model), errors, Extraction(column, html))
    embed = embedder(model, as_layers(layers), **settings)
    if runtime is not None and runtime.workers:
        embed = embed_on_cluster(embed, path, identity, as_layers(layers), None, settings, runtime)
    row = row_shape(embed, pooled=False)
    block_tokens = block_tokens or tokens_for(row, embed.block_bytes)
    only = None if words is None else frozenset(words)
    check_target(out, folder=True)
    about = {"model": model_path, "layers": layers, "tokenizer": lines.tokenizer.as_dict(), "files": list(lines.paths)}
    used_settings = {name: value for name, value in settings.items() if value is not None}
    job = {
        **about,
        "identity": identity,
        "dtype": dtype,
        "words": None if only is None else sorted(only),
        "errors": errors,
        **({} if column is None and html is None else {"column": column, "html": html}),
        "block_tokens": block_tokens,
        "settings": used_settings,
    }
    with Journal(out, job, restart=restart) as journal:
        writer = IndexWriter(journal, dtype, only)
        BulkEmbedder(lines, embed, journal, writer, dtype, report=report).run(block_tokens)
        native.write(writer.occurrences(row[0], {**about, "settings": used_settings}), out)
        journal.discard()
    return cast(Occurrences, native.read(out, RowSelection()))
