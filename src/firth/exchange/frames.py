"""Vectors, embeddings, neighbors and scores as frames of pandas, polars or Arrow, and from them.

Every frame goes through an Arrow table, so any package with Arrow's PyCapsule interface is read. Vectors are a column
of fixed-size lists of float32 over the memory of the matrix: they are not copied on the way to Arrow, nor from there.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.exchange.ranked import rank_words
from firth.lazy import import_name, import_package
from firth.text.corpus import Corpus, check_words
from firth.text.vocabulary import Vocabulary, make_printable, to_bytes
from firth.vectors.conversions import FrameLibrary
from firth.vectors.rows import MOST_DIM, Floats
from firth.vectors.words import WordVectors

Near = Sequence[tuple[str, float]]
BATCH = 1024  # texts that are encoded together


def arrow() -> Any:
    """The package pyarrow."""
    return import_name("pyarrow", "a frame", "arrow")


@checked
def to_frame(value: Any, library: FrameLibrary = "pandas") -> Any:
    """A frame of word vectors, of neighbors, or of scores.

    | value | columns |
    |---|---|
    | `WordVectors` | word, count (if known), vector |
    | neighbors: a list of (word, cosine), or such lists by query | query (if by query), rank, word, cosine |
    | the scores of `firth.evaluate` | task, name, metric, value, low, high, used, total, coverage |
    | an array of vectors as rows | vector |

    `library` is "pandas", "polars" or "arrow". Needs the extra `arrow`, and pandas or polars for their frames.

    >>> print(to_frame({"tea": [("coffee", 0.75)]}, "arrow").to_pylist())
    [{'query': 'tea', 'rank': 1, 'word': 'coffee', 'cosine': 0.75}]
    """
    if isinstance(value, WordVectors):
        return vectors_to_frame(value, library)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return _finish(arrow().table({"vector": vector_column(np.asarray(value, np.float32))}), library)
    if isinstance(value, Mapping) and all(_is_near(near) for near in value.values()):
        return neighbors_to_frame(value, library)
    if isinstance(value, Sequence) and _is_near(value):
        frame = _neighbors_table({"": value}).drop_columns(["query"])
        return _finish(frame, library)
    if isinstance(value, Sequence) and not isinstance(value, str) and all(hasattr(one, "coverage") for one in value):
        return scores_to_frame(value, library)
    raise OptionError(f"{value!r:.80} has no frame. Pass word vectors, neighbors, scores, or an array of rows")


def _is_near(value: Any) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    return all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) for one in value)


def _finish(table: Any, library: FrameLibrary) -> Any:
    """An Arrow table as a frame of a library."""
    if library == "arrow":
        return table
    if library == "polars":
        return import_package("polars", "a frame of polars").from_arrow(table)
    if library != "pandas":
        raise OptionError(f"library is {library!r}, but must be 'arrow', 'pandas' or 'polars'")
    import_package("pandas", "a frame of pandas")
    return table.to_pandas()


def vectors_to_frame(vectors: WordVectors, library: FrameLibrary = "pandas") -> Any:
    """Word vectors as a frame; see `to_frame`."""
    columns: dict[str, Any] = {"word": word_column(vectors.vocabulary)}
    if vectors.vocabulary.counts is not None:
        columns["count"] = arrow().array(np.ascontiguousarray(vectors.vocabulary.counts))
    columns["vector"] = vector_column(vectors.matrix)
    return _finish(arrow().table(columns), library)


def vector_column(matrix: Floats) -> Any:
    """The rows of a matrix as an Arrow column of fixed-size lists over the same memory."""
    pa = arrow()
    flat = np.ascontiguousarray(matrix).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), max(1, matrix.shape[1]))


def word_column(vocabulary: Vocabulary) -> Any:
    """Words as an Arrow column of text. Words that are not UTF-8 get replacement characters, with a warning."""
    pa = arrow()
    words = list(vocabulary)
    broken = [word for word in words if not word.isascii() and make_printable(word) != word]
    if broken:
        problem = f"{len(broken):,} words are not UTF-8, which a frame cannot have, such as {to_bytes(broken[0])!r}"
        warnings.warn(f"{problem}. Their invalid bytes are question marks there", stacklevel=5)
        words = [make_printable(word) for word in words]
    return pa.array(words, pa.large_string())


def neighbors_to_frame(near: Mapping[str, Near], library: FrameLibrary = "pandas") -> Any:
    """Neighbors by query, as of `most_similar`, in one frame; see `to_frame`."""
    return _finish(_neighbors_table(near), library)


def _neighbors_table(near: Mapping[str, Near]) -> Any:
    pa = arrow()
    rows = [
        (query, rank, word, cosine) for query, words in near.items() for rank, (word, cosine) in enumerate(words, 1)
    ]
    queries, ranks, words, cosines = zip(*rows) if rows else ((), (), (), ())
    return pa.table(
        {
            "query": pa.array(map(make_printable, queries), pa.string()),
            "rank": pa.array(ranks, pa.int32()),
            "word": pa.array(map(make_printable, words), pa.string()),
            "cosine": pa.array(cosines, pa.float64()),
        }
    )


def scores_to_frame(scores: Sequence[Any], library: FrameLibrary = "pandas") -> Any:
    """The scores of evaluations as a frame; see `to_frame`. A score that was not measured is null."""
    pa = arrow()
    rows = [one.as_dict() for one in scores]
    intervals = [row["interval"] or (None, None) for row in rows]
    texts = {name: pa.array([str(row[name]) for row in rows], pa.string()) for name in ("task", "name", "metric")}
    numbers = {
        "value": [row["value"] for row in rows],
        "low": [low for low, _ in intervals],
        "high": [high for _, high in intervals],
    }
    columns = {name: pa.array(values, pa.float64()) for name, values in numbers.items()}
    whole = {name: pa.array([row[name] for row in rows], pa.int64()) for name in ("used", "total")}
    share = {"coverage": pa.array([row["coverage"] for row in rows], pa.float64())}
    return _finish(pa.table({**texts, **columns, **whole, **share}), library)


@checked
def encode_frame(
    model: Any,
    source: Any,
    column: str = "text",
    *,
    library: FrameLibrary | None = None,
    vector: str = "vector",
    **settings: Any,
) -> Any:
    """A frame with a column of vectors, one for each text, as `model.encode` gives them.

    `source` is a frame, whose columns are kept, or a list of texts. The result is a frame of the same library, or of
    `library`. Settings are those of `encode`, such as `pooling="sif"`.

    >>> vectors = WordVectors(["hot", "tea"], [[1, 0], [0, 1]])
    >>> encode_frame(vectors, ["hot tea"], library="arrow").to_pylist()
    [{'text': 'hot tea', 'vector': [0.5, 0.5]}]
    """
    if not hasattr(model, "encode") or not hasattr(model, "tokenizer"):
        raise OptionError(f"{model!r:.80} does not encode texts. Pass word vectors or a biLM")
    pa = arrow()
    if _is_frame(source):
        table, found = as_arrow(source), library or library_of(source)
    else:
        texts = check_words([source] if isinstance(source, str) else source, "the list of texts")
        table, found = pa.table({column: pa.array(texts, pa.string())}), library or "pandas"
    rows = model.encode(list(column_texts(table, column)), **settings)
    if vector in table.column_names:
        raise OptionError(f"the frame has a column {vector!r} already. Name another: vector='embedding'")
    return _finish(table.append_column(vector, vector_column(rows)), found)


def _is_frame(source: Any) -> bool:
    pa = arrow()
    is_known = isinstance(source, (pa.Table, pa.RecordBatch)) or _is_pandas(source) or _is_polars(source)
    return is_known or hasattr(source, "__arrow_c_stream__")


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns")


def _is_polars(frame: Any) -> bool:
    return (
        type(frame).__module__.partition(".")[0] == "polars"
        and hasattr(frame, "to_arrow")
        and hasattr(frame, "columns")
    )


def library_of(frame: Any) -> FrameLibrary:
    """The library that a frame is of; Arrow for any other."""
    name = type(frame).__module__.partition(".")[0]
    return "pandas" if name == "pandas" else "polars" if name == "polars" else "arrow"


def as_arrow(frame: Any) -> Any:
    """A frame as an Arrow table: of Arrow, pandas, polars, or any package with Arrow's PyCapsule interface."""
    pa = arrow()
    try:
        table = _table_of(frame, pa)
        if table is not None:
            _ = table.column_names  # may not be UTF-8
            return table
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"the frame cannot be read as Arrow ({_first_line(error)})") from error
    raise OptionError(f"{type(frame).__name__} is no frame. Pass one of pandas, polars or Arrow")


def _table_of(frame: Any, pa: Any) -> Any:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if _is_pandas(frame):
        return pa.Table.from_pandas(frame, preserve_index=False)
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    if _is_polars(frame):  # before version 1.3, which has the interface
        return frame.to_arrow()
    return None


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def find_column(table: Any, name: str) -> Any:
    """A column of a table in one piece."""
    if name not in table.column_names:
        raise OptionError(
            f"the frame has no column {name!r}. Its columns are {', '.join(map(repr, table.column_names))}"
        )
    if table.column_names.count(name) > 1:
        raise OptionError(f"the frame has several columns {name!r}. Rename them first")
    column = table.column(name)
    pa = arrow()
    try:
        column.validate(full=True)  # offsets and indices: a compiled loop reads texts by them
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    except pa.ArrowException as error:
        raise OptionError(f"the column {name!r} of the frame is damaged ({_first_line(error)})") from error


def check_complete(column: Any, name: str) -> Any:
    """A column, if it has a value in each row."""
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise OptionError(f"the column {name!r} has no value in row {row}. Drop or fill such rows first")
    return column


def column_texts(table: Any, name: str) -> Iterator[str]:
    """The texts of a column, one after another."""
    column = check_complete(find_column(table, name), name)
    pa = arrow()
    if isinstance(column.type, pa.DictionaryType):
        words = column.dictionary  # Arrow cannot decode views of texts, which polars uses
        words = words.cast(pa.large_string()) if _is_view(words.type) else words
        column = pa.DictionaryArray.from_arrays(column.indices, words).dictionary_decode()
    kinds = pa.types
    if not (kinds.is_string(column.type) or kinds.is_large_string(column.type) or _is_view(column.type)):
        raise OptionError(f"the column {name!r} has values of the type {column.type}, but texts are needed")
    for start in range(0, len(column), BATCH):
        try:
            yield from column.slice(start, BATCH).to_pylist()
        except UnicodeDecodeError as error:  # of views, which Arrow does not validate
            raise OptionError(f"the column {name!r} of the frame is damaged ({error})") from error


def _is_view(kind: Any) -> bool:
    is_view = getattr(arrow().types, "is_string_view", None)
    return is_view is not None and bool(is_view(kind))


@checked
def corpus_from_frame(frame: Any, column: str = "text", *, tags: str | None = None, **options: Any) -> Corpus:
    """A corpus whose documents are the texts of a column; `tags` is the column of their tags, for doc2vec.

    Options are those of `Corpus`, such as `tokenizer`.

    >>> corpus_from_frame(arrow().table({"text": ["Hot tea.", "Cold rain."]})).vocabulary.words[0]
    '.'
    """
    table = as_arrow(frame)
    corpus = Corpus.of(list(column_texts(table, column)), **options)
    return corpus if tags is None else corpus.with_tags(column_texts(table, tags))


def vectors_from_frame(
    frame: Any, *, word: str = "word", vector: str = "vector", count: str | None = "count"
) -> WordVectors:
    """Word vectors from a frame; see `WordVectors.from_frame`."""
    table = as_arrow(frame)
    words = _vocabulary(table, word)
    rows = column_matrix(find_column(table, vector), vector)
    counts = None
    if count is not None and count in table.column_names:
        counts = _counts(find_column(table, count), count)
    vocabulary, rows = rank_words(words, counts, rows, "the frame")
    return WordVectors(vocabulary, rows)


def _vocabulary(table: Any, name: str) -> Vocabulary:
    """The words of a column; those of a large_string column are not copied."""
    pa = arrow()
    column = find_column(table, name)
    if column.type == pa.large_string() and not column.null_count and len(column):
        _, offsets, data = column.buffers()
        edges = np.frombuffer(offsets, np.int64, column.offset + len(column) + 1)[column.offset :]
        blob = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
        return Vocabulary.from_arrays(blob, edges[:-1], edges[1:])
    return Vocabulary(column_texts(table, name))


def _counts(column: Any, name: str) -> NDArray[np.int64]:
    pa = arrow()
    try:
        numbers = check_complete(column, name).cast(pa.int64())
    except pa.ArrowException as error:
        raise OptionError(f"the column {name!r} has values of the type {column.type}, but counts are needed") from error
    return np.asarray(numbers.to_numpy(zero_copy_only=False), np.int64)


def column_matrix(column: Any, name: str) -> Floats:
    """A column of lists as a matrix of float32; fixed-size lists of float32 are not copied."""
    pa = arrow()
    check_complete(column, name)
    kind = column.type
    if pa.types.is_fixed_size_list(kind):
        dim = int(kind.list_size)
        values = column.values.slice(column.offset * dim, len(column) * dim)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = np.unique(np.asarray(column.value_lengths()))
        if len(lengths) > 1:
            problem = f"vectors of {int(lengths[0])} and of {int(lengths[-1])} numbers"
            raise OptionError(f"the column {name!r} has {problem}. All must have the same length")
        dim, values = int(lengths[0]) if len(lengths) else 1, column.flatten()
    else:
        raise OptionError(f"the column {name!r} has values of the type {kind}, but lists of numbers are needed")
    is_numbers = pa.types.is_floating(values.type) or pa.types.is_integer(values.type)
    if not is_numbers or values.null_count or not 1 <= dim <= MOST_DIM:
        problem = f"lists of {dim:,} values of the type {values.type}, {values.null_count:,} of them missing"
        raise OptionError(f"the column {name!r} has {problem}, but vectors of numbers are needed")
    with np.errstate(over="ignore"):
        numbers = np.asarray(values.to_numpy(zero_copy_only=False), np.float32)
    if not np.isfinite(numbers.sum(dtype=np.float64)):  # a sum of floats cannot overflow a double
        row = int(np.argmin(np.isfinite(numbers))) // dim
        raise OptionError(f"the column {name!r} has a vector in row {row} that is not finite in float32")
    return numbers.reshape(-1, dim)
