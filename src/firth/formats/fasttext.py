"""fastText's own files: `.bin` (versions 11 and 12, and the oldest without a magic number) and quantized `.ftz`.

Little-endian throughout: [magic, version], twelve int32 arguments and a double, the dictionary, the input matrix, the
output matrix. The input matrix is memory-mapped. Values that `WordVectors` does not have are kept in
`metadata["fasttext"]`, so that a file is written back byte for byte.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError, OptionError
from firth.files import Name
from firth.formats.reading import Bytes, RowSelection, read_whole
from firth.formats.vector_table import select
from firth.kernels import vector_files as kernel
from firth.text.subwords import MOST_CHARACTERS, MOST_PRUNED_BUCKETS, Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.rows import CENTROIDS, MOST_DIM, DenseRows, ProductRows, Rows
from firth.vectors.subwords import Output, SubwordVectors
from firth.vectors.words import WordVectors

MAGIC = struct.pack("<i", 793712314)
NEWEST, OLDEST = 12, 0  # the oldest files have no version number; here it is 0
ARGUMENTS = (
    "dim",
    "ws",
    "epoch",
    "minCount",
    "neg",
    "wordNgrams",
    "loss",
    "model",
    "bucket",
    "minn",
    "maxn",
    "lrUpdateRate",
)
LOSSES = {1: "hs", 2: "ns", 3: "softmax", 4: "ova"}
MODELS = {1: "cbow", 2: "skipgram", 3: "supervised"}


class Cursor:
    """A read position in a file; reading beyond the end of the file is an error."""

    def __init__(self, path: Name, blob: Bytes) -> None:
        self.path, self.blob, self.at = path, blob, 0

    def read(self, layout: str, what: str) -> tuple[Any, ...]:
        """The next values of a `struct` layout."""
        size = struct.calcsize(layout)
        return struct.unpack(layout, self.read_array("u1", size, what).tobytes())

    def read_array(self, dtype: str, count: int, what: str) -> NDArray[Any]:
        """The next `count` numbers, as a view."""
        size = count * np.dtype(dtype).itemsize
        left = len(self.blob) - self.at
        if count < 0 or size > left:
            problem = f"{what} would need {size:,} bytes, but only {left:,} are left"
            raise FormatError(self.path, problem, offset=self.at, cure="The file is cut short or broken")
        numbers = np.frombuffer(self.blob.data, dtype, count, self.at) if count else np.empty(0, dtype)
        self.at += size
        return numbers

    def error(self, problem: str) -> FormatError:
        """An error at the read position."""
        return FormatError(self.path, problem, offset=self.at)


def is_fasttext(head: bytes) -> bool:
    """Whether a file starts with the magic number of fastText, or with the arguments of the oldest version.

    >>> is_fasttext(MAGIC + bytes(100)), is_fasttext(b"the 0.1 0.2 " * 10)
    (True, False)
    """
    if head.startswith(MAGIC):
        return True
    if len(head) < 76:
        return False
    values = dict(zip(ARGUMENTS, struct.unpack_from("<12i", head)))
    size, words, labels = struct.unpack_from("<3i", head, 56)
    plausible = 1 <= values["dim"] <= MOST_DIM and values["loss"] in LOSSES and values["model"] in MODELS
    return plausible and size > 0 and words >= 0 and labels >= 0 and size == words + labels


def read(path: Name, part: RowSelection) -> WordVectors:
    """The model in a `.bin` or `.ftz` file; a selection of its rows is plain word vectors."""
    vectors = read_model(path)
    return vectors if part.whole else select(vectors, part)


def read_model(path: Name) -> SubwordVectors:
    """The whole model in a `.bin` or `.ftz` file."""
    cursor = Cursor(path, read_whole(path))
    version = OLDEST
    if cursor.blob[:4].tobytes() == MAGIC:
        _, version = cursor.read("<ii", "the version")
        if version not in (11, 12):
            raise FormatError(path, f"fastText version {version} is not known, only 11, 12 and the oldest", offset=4)
    arguments = _read_arguments(cursor)
    dictionary = _read_dictionary(cursor, version, arguments["bucket"])
    input_quantized = output_quantized = False
    if version != OLDEST:
        (input_quantized,) = cursor.read("<?", "the flag of a quantized input")
    input_rows = _read_rows(cursor, arguments["dim"], input_quantized, "the input matrix")
    if version != OLDEST:
        (output_quantized,) = cursor.read("<?", "the flag of a quantized output")
    # fastText quantizes the output only together with the input, whatever the flag says.
    output_rows = _read_rows(cursor, arguments["dim"], input_quantized and output_quantized, "the output matrix")
    if cursor.at != len(cursor.blob):
        raise cursor.error(f"{len(cursor.blob) - cursor.at:,} bytes follow after the end of the model")
    model = MODELS[arguments["model"]]
    maxn = 0 if model == "supervised" and version < NEWEST else arguments["maxn"]
    oldest = version == OLDEST  # only this version gives </s> n-grams
    subwords = Subwords(arguments["minn"], maxn, arguments["bucket"], dictionary.pruned, sentence_end=oldest)
    output = Output(
        output_rows,
        dictionary.labels if len(dictionary.labels) else None,
        cast(Literal["cbow", "skipgram", "supervised"], model),
        cast(Literal["hs", "ns", "softmax", "ova"], LOSSES[arguments["loss"]]),
    )
    original = arguments | {"version": version, "qout": output_quantized, "tokens": dictionary.tokens}
    metadata = {"format": "ftz" if input_quantized else "fasttext", "fasttext": original}
    try:
        return SubwordVectors(dictionary.words, input_rows, subwords, output=output, metadata=metadata)
    except OptionError as error:
        raise FormatError(path, f"the parts of the model do not fit together: {error}") from error


def _read_arguments(cursor: Cursor) -> dict[str, Any]:
    *values, sampling = cursor.read("<12id", "the arguments")
    arguments: dict[str, Any] = dict(zip(ARGUMENTS, values)) | {"t": sampling}
    if not 1 <= arguments["dim"] <= MOST_DIM:
        raise cursor.error(f"vectors of {arguments['dim']} numbers are not possible")
    for name, known in (("loss", LOSSES), ("model", MODELS)):
        if arguments[name] not in known:
            raise cursor.error(f"the {name} has the number {arguments[name]}, but only 1 to {max(known)} are known")
    if arguments["bucket"] < 0 or not all(0 <= arguments[name] <= MOST_CHARACTERS for name in ("minn", "maxn")):
        raise cursor.error(
            f"n-grams of {arguments['minn']} to {arguments['maxn']} characters in {arguments['bucket']} buckets "
            "are not possible"
        )
    return arguments


@dataclass(frozen=True)
class Dictionary:
    """The words and labels of a model, and for a pruned model the buckets that still have a row."""

    words: Vocabulary
    labels: Vocabulary
    tokens: int
    pruned: dict[int, int] | None


def _read_dictionary(cursor: Cursor, version: int, buckets: int) -> Dictionary:
    size, word_count, label_count = cursor.read("<3i", "the sizes of the dictionary")
    (tokens,) = cursor.read("<q", "the number of tokens")
    pruned_size = -1
    if version != OLDEST:
        (pruned_size,) = cursor.read("<q", "the size of the pruned index")
    if min(word_count, label_count) < 0 or size != word_count + label_count:
        raise cursor.error(f"a dictionary of {size} cannot have {word_count} words and {label_count} labels")
    if size * 10 > len(cursor.blob) - cursor.at:
        raise cursor.error(
            f"a dictionary of {size:,} does not fit into the {len(cursor.blob) - cursor.at:,} bytes left"
        )
    starts, ends, counts = (np.empty(size, np.int64) for _ in range(3))
    kinds = np.empty(size, np.int8)
    after = int(kernel.scan_dictionary(cursor.blob, cursor.at, starts, ends, counts, kinds))
    if after < 0:
        raise cursor.error(f"the file ends inside the dictionary of {size:,}")
    cursor.at = after
    if np.any(kinds[:word_count] != 0) or np.any(kinds[word_count:] != 1):
        raise cursor.error("the dictionary must list words first and then labels")
    every = Vocabulary.from_arrays(cursor.blob, starts, ends, counts)
    pruned = None
    if pruned_size >= 0:
        pairs = cursor.read_array("<i4", 2 * pruned_size, "the pruned index").reshape(-1, 2)
        if buckets > MOST_PRUNED_BUCKETS or np.any(pairs < 0) or np.any(pairs[:, 0] >= buckets):
            raise cursor.error(f"the pruned index names buckets that are not among the {buckets:,} of the model")
        pruned = dict(pairs.tolist())
    return Dictionary(every.top(word_count), every.take(np.arange(word_count, size)), tokens, pruned)


def _read_rows(cursor: Cursor, dim: int, quantized: bool, what: str) -> Rows:
    norms = cursor.read("<?", what)[0] if quantized else False
    rows, columns = cursor.read("<qq", what)
    if columns != dim or rows < 0:
        raise cursor.error(f"{what} has {rows:,} rows of {columns:,} numbers, but the dim of the model is {dim}")
    if not quantized:
        return DenseRows(cursor.read_array("<f4", rows * dim, what).reshape(rows, dim))
    (code_count,) = cursor.read("<i", what)
    codes = cursor.read_array("u1", code_count, what)
    dsub, centroids = _read_quantizer(cursor, dim, what)
    pieces = -(-dim // dsub)
    if code_count != rows * pieces:
        raise cursor.error(
            f"{what} has {code_count:,} codes, but {rows:,} rows of {pieces} pieces need {rows * pieces:,}"
        )
    if not norms:
        return ProductRows(codes.reshape(rows, pieces), centroids, dim, dsub)
    norm_codes = cursor.read_array("u1", rows, f"the norms of {what}")
    _, norm_centroids = _read_quantizer(cursor, 1, f"the norms of {what}")
    return ProductRows(codes.reshape(rows, pieces), centroids, dim, dsub, norm_codes, norm_centroids)


def _read_quantizer(cursor: Cursor, dim: int, what: str) -> tuple[int, NDArray[np.float32]]:
    quantizer_dim, pieces, dsub, last = cursor.read("<4i", f"the quantizer of {what}")
    fits = quantizer_dim == dim and dsub >= 1 and pieces == -(-dim // dsub)
    if not fits or last != dim - (pieces - 1) * dsub:
        raise cursor.error(f"the quantizer of {what} cuts {quantizer_dim} numbers into {pieces} pieces of {dsub}")
    centroids = cursor.read_array("<f4", CENTROIDS * dim, f"the centroids of {what}")
    return dsub, centroids.astype(np.float32)  # a copy, and so aligned
