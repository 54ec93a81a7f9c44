"""Bulk embedding: embeds a text of any size line by line and writes the vectors to disk.

    lines ─ blocks of some thousand words ─→ model.embed (sorts by length, returns in order) ─→ writer

While the model embeds a block, the next block is read, the previous one written, and the one before it synced to disk.
A GPU may have started the next block. So only a few blocks are in memory. After each block the journal is committed: a
killed run resumes after the last finished block, and its output is the same, byte for byte.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.bulk.embedder import BLOCK_BYTES, Embed, Sentences, as_layers, embedder
from firth.bulk.fingerprint import fingerprint
from firth.bulk.hdf5 import Hdf5Writer
from firth.bulk.journal import Journal, Snapshot
from firth.bulk.lines import LineBlock, LineReader, prefetch
from firth.bulk.parquet import ParquetWriter
from firth.bulk.remote_embedder import embed_on_cluster
from firth.bulk.shards import ShardWriter
from firth.bulk.write_behind import WriteBehind
from firth.errors import OptionError
from firth.files import STDIN, Name, check_output, staged, total_size
from firth.formats.registry import load
from firth.neural.inference.sentence_arrays import convert
from firth.options import Recipe, option
from firth.progress import Progress, Report, silent
from firth.remote.addresses import address_of
from firth.runtime import Runtime
from firth.text.coverage import collect_coverage
from firth.text.extraction import Extraction
from firth.text.model_tokenizer import tokenizer_of
from firth.text.tokenize import TokenizerLike
from firth.vectors.rows import Floats

FEWEST, MOST = 8_192, 131_072  # tokens per block


class Writer(Protocol):
    """Writes blocks of arrays; `state` is needed to resume, and `finish` returns the name of the finished result."""

    state: dict[str, Any]

    def append(self, block: LineBlock, arrays: Sequence[NDArray[Any]]) -> None: ...
    def finish(self) -> str: ...


@dataclass(frozen=True)
class BulkOptions(Recipe):
    """Output of bulk embedding."""

    layers: str = option(
        "mix", "Layers to write: mix (their weighted mean), all, top, the number of one layer, or context."
    )
    pooling: Literal["mean", "max", "first-last"] | None = option(None, "Write one pooled vector per sentence.")
    dtype: Literal["float32", "float16"] = option("float32", "Type of the numbers in the output.")
    format: Literal["hdf5", "safetensors", "parquet"] | None = option(
        None, "Output format; by default it follows from the ending of OUT."
    )
    use_sentence_keys: bool = option(False, "HDF5 only: name each dataset by its sentence instead of its number.")
    forget_sentences: bool = option(False, "Leave the text of the sentences out of the output.")

    def format_for(self, out: Name) -> str:
        """The `format` option, or the format for the ending of a name."""
        if self.format is not None:
            return self.format
        ending = Path(out).suffix.lower()
        endings = {ending: name for name, format in FORMATS.items() for ending in format.endings}
        if ending not in endings:
            known = ", ".join(endings)
            raise OptionError(f"{os.fspath(out)}: the ending {ending!r} names no format. Use {known}, or --format")
        return endings[ending]


def _open_hdf5(journal: Journal, bulk: BulkOptions, row: tuple[int, ...]) -> Writer:
    keys: Literal["sentence", "number"] = "sentence" if bulk.use_sentence_keys else "number"
    return Hdf5Writer(journal, bulk.dtype, keys=keys, texts=not bulk.forget_sentences)


def _open_shards(journal: Journal, bulk: BulkOptions, row: tuple[int, ...]) -> Writer:
    return ShardWriter(journal, bulk.dtype, row, pooled=bulk.pooling is not None)


def _open_parquet(journal: Journal, bulk: BulkOptions, row: tuple[int, ...]) -> Writer:
    pooled, texts = bulk.pooling is not None, not bulk.forget_sentences
    return ParquetWriter(journal, bulk.dtype, row, pooled=pooled, texts=texts)


@dataclass(frozen=True)
class WriterFormat:
    """An output format: the endings of its names, its writer, and the file that marks its folder (None: no folder)."""

    endings: tuple[str, ...]
    open: Callable[[Journal, BulkOptions, tuple[int, ...]], Writer]
    marker: str | None = None


FORMATS = {
    "hdf5": WriterFormat((".hdf5", ".h5"), _open_hdf5),
    "safetensors": WriterFormat((".safetensors",), _open_shards, "index.json"),
    "parquet": WriterFormat((".parquet",), _open_parquet, "_firth.json"),
}
MARKS = "config.json", *(format.marker for format in FORMATS.values() if format.marker)  # of folders that firth wrote


@dataclass(frozen=True)
class EmbeddingReport:
    """Result of a run.

    `resumed` is the number of sentences from an earlier run; `zero_rows` counts rows of zeros, such as unknown words.
    """

    path: str
    sentences: int
    tokens: int
    zero_rows: int
    row: tuple[int, ...]
    dtype: str
    resumed: int
    seconds: float
    tokens_per_second: float

    def as_dict(self) -> dict[str, Any]:
        """The values by name."""
        return asdict(self)


@checked
def embed_file(
    model: Any,
    inputs: Name | Iterable[Name],
    out: Name,
    bulk: BulkOptions | None = None,
    *,
    tokenizer: TokenizerLike | None = None,
    errors: Literal["strict", "replace"] = "strict",
    column: str | int | None = None,
    html: bool | None = None,
    identity: str = "",
    restart: bool = False,
    block_tokens: int | None = None,
    runtime: Runtime | None = None,
    report: Report = silent,
    **settings: Any,
) -> EmbeddingReport:
    """Embeds every line of the inputs and writes the arrays to `out`, atomically.

    Called again with the same arguments, it resumes a killed run. `model` is a model, or the name or path of one.
    `identity` is a fingerprint of the model, such as `fingerprint(path)`, and detects a changed model. Further settings
    are those of `BulkOptions`, if `bulk` is left out; the others are passed to the model's `embed`. A run with
    `stateful=True` starts again instead of resuming. With a cluster as `runtime`, its workers embed the blocks; `model`
    is a path or a name then, which they open themselves.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "lines.txt").write_text("hot tea\\ncold rain\\n")
    ...     done = embed_file("svd-en", Path(folder, "lines.txt"), Path(folder, "lines.safetensors"), pooling="mean")
    >>> done.sentences
    2
    """
    path = model
    if isinstance(model, (str, os.PathLike)):
        identity, model = identity or fingerprint(model), load(model)
    if bulk is None:
        names = [field.name for field in fields(BulkOptions) if field.name in settings]
        bulk = BulkOptions(**{name: settings.pop(name) for name in names})
    format = bulk.format_for(out)
    if bulk.use_sentence_keys and format != "hdf5":
        raise OptionError(f"use_sentence_keys is for hdf5, but the output format is {format}")
    if address_of(out) is not None:
        with staged(out, MARKS) as place:
            reading: dict[str, Any] = {"tokenizer": tokenizer, "errors": errors, "column": column, "html": html}
            running: dict[str, Any] = {"identity": identity, "restart": restart, "report": report}
            running |= {"block_tokens": block_tokens, "runtime": runtime}
            done = embed_file(path, inputs, place, bulk, **reading, **running, **settings)
        return replace(done, path=os.fspath(out))
    lines = LineReader.of(inputs, tokenizer or tokenizer_of(model), errors, Extraction(column, html))
    layers = as_layers(bulk.layers)
    embed = embedder(model, layers, bulk.pooling, **settings)
    if runtime is not None and runtime.workers:
        embed = embed_on_cluster(embed, path, identity, layers, bulk.pooling, settings, runtime)
    row = row_shape(embed, bulk.pooling is not None)
    block_tokens = block_tokens or tokens_for(row, embed.block_bytes)
    check_target(out, folder=FORMATS[format].marker is not None)
    job = {
        **bulk.as_dict(),
        "format": format,
        "model": identity,
        "tokenizer": lines.tokenizer.as_dict(),
        "errors": errors,
        **({} if column is None and html is None else {"column": column, "html": html}),
        "block_tokens": block_tokens,
        "settings": {name: value for name, value in settings.items() if value is not None},
    }
    # The state of a stateful run is not kept on disk, so it starts again.
    with Journal(out, job, restart=restart or bool(settings.get("stateful"))) as journal:
        resumed, before, begin = journal.number("sentences"), journal.number("tokens"), time.perf_counter()
        if journal.published:
            journal.discard()
        else:
            writer = FORMATS[format].open(journal, bulk, row)
            BulkEmbedder(lines, embed, journal, writer, bulk.dtype, bulk.pooling is not None, report).run(block_tokens)
            journal.publish(writer.finish(), journal.state)
        state, seconds = journal.state, time.perf_counter() - begin
    counts = {name: state[name] for name in ("sentences", "tokens", "zero_rows")}
    return EmbeddingReport(
        os.fspath(out),
        **counts,
        row=row,
        dtype=bulk.dtype,
        resumed=resumed,
        seconds=seconds,
        tokens_per_second=(state["tokens"] - before) / seconds,
    )


def row_shape(embed: Embed, pooled: bool) -> tuple[int, ...]:
    """The shape of a row, (dim,) or (layers, dim), taken from the output for an empty sentence."""
    shape = embed([[]])[0].shape
    return shape if pooled else (*shape[:-2], shape[-1])


def tokens_for(row: tuple[int, ...], block_bytes: int = BLOCK_BYTES) -> int:
    """The number of tokens per block for rows of this shape.

    >>> tokens_for((1024,)), tokens_for((3, 1024)), tokens_for((50,)), tokens_for((1024,), 512 << 20)
    (16384, 8192, 131072, 131072)
    """
    return max(FEWEST, min(MOST, block_bytes // (4 * int(np.prod(row)))))


def check_target(out: Name, folder: bool) -> None:
    """Refuses an output path that cannot be written, before any work."""
    path = Path(out)
    if os.fspath(out) == STDIN:
        raise OptionError("vectors cannot be written to standard output. Name a file or a folder")
    if path.is_dir() and not folder:
        raise OptionError(f"{path}: is a folder, but a file is to be written there. Choose another name")
    if path.exists() and not path.is_dir() and folder:
        raise OptionError(f"{path}: is a file, but a folder is to be written there. Choose another name")
    check_output(path, MARKS)


@dataclass(frozen=True)
class BulkEmbedder:
    """Embeds a text block by block and passes the arrays to a writer."""

    lines: LineReader
    embed: Embed
    journal: Journal
    writer: Writer
    dtype: str
    pooled: bool = False
    report: Report = silent

    def run(self, block_tokens: int) -> None:
        """Embeds the remaining blocks; reading, writing and syncing run in other threads."""
        state: dict[str, Any] = {name: self.journal.number(name) for name in ("sentences", "tokens", "zero_rows")}
        state["digest"] = self.journal.state.get("digest", "")
        begin, before, size = time.perf_counter(), state["tokens"], total_size(self.lines.paths)
        read = self.lines.blocks(block_tokens, skip=state["sentences"], digest=state["digest"])
        with (
            collect_coverage(),
            closing(prefetch(read)) as blocks,
            WriteBehind(self.append, self.journal.sync) as pipeline,
        ):
            for block, arrays in self._embed_blocks(blocks):
                pipeline.wait_for_write()  # the state of the last block is complete now
                state = {
                    "sentences": state["sentences"] + len(block.lines),
                    "tokens": state["tokens"] + block.tokens,
                    "zero_rows": state["zero_rows"],
                    "digest": block.digest,
                }
                pipeline.submit(block, arrays, state)
                rate = (state["tokens"] - before) / (time.perf_counter() - begin)
                values = {"sentences": state["sentences"], "tokens/s": rate}
                self.report(Progress("embedding", block.read, size, "bytes", values))
        if not self.journal.state:
            self.journal.commit({**state, **self.writer.state})

    def _embed_blocks(self, blocks: Iterator[LineBlock]) -> Iterator[tuple[LineBlock, list[Floats]]]:
        """Each block with its arrays; the model may read blocks ahead."""
        taken = deque[LineBlock]()

        def sentences() -> Iterator[Sentences]:
            for block in blocks:
                taken.append(block)
                yield block.sentences

        for arrays in self.embed.blocks(sentences(), self.dtype):
            yield taken.popleft(), arrays

    def append(self, block: LineBlock, arrays: Sequence[NDArray[Any]], state: dict[str, Any]) -> Snapshot:
        """Writes the arrays of a block; returns the snapshot to sync."""
        state["zero_rows"] += count_zero_rows(arrays, self.pooled)
        self.writer.append(block, self._cast(arrays))
        return self.journal.snapshot({**self.writer.state, **state})

    def _cast(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        runtime = Runtime.from_env()

        def cast(part: slice) -> list[NDArray[Any]]:
            return [np.ascontiguousarray(convert(array, self.dtype)) for array in arrays[part]]

        return list(chain.from_iterable(runtime.map(cast, runtime.shares(len(arrays)))))


def count_zero_rows(arrays: Iterable[NDArray[Any]], pooled: bool) -> int:
    """Counts the rows that are zero in every layer.

    >>> count_zero_rows([np.array([[0, 1], [0, 0]]), np.ones((1, 2)), np.ones((0, 2))], pooled=False)
    1
    """
    if pooled:
        return sum(not array.any() for array in arrays)
    count = 0
    for array in arrays:
        if not array[..., 0].all():  # few rows start with zero; only these are checked completely
            layers = array if array.ndim == 3 else array[None]
            candidates = np.flatnonzero(layers[0, :, 0] == 0)
            count += int(np.count_nonzero(~layers[:, candidates].any(axis=(0, 2))))
    return count
