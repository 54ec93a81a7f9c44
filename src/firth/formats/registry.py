"""The table of all file formats. Files are detected by content, never by name alone.

>>> list(FORMATS)
['native', 'word2vec', 'word2vec-binary', 'glove', 'vec', 'fasttext', 'ftz', 'arpa', 'elmo']
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from firth.arguments import checked
from firth.errors import FormatError, OptionError
from firth.files import COMPRESSIONS, NO_TEXT, STDIN, Name, check_output, recover_folder
from firth.formats import (
    arpa,
    elmo,
    elmo_files,
    elmo_write,
    fasttext,
    fasttext_write,
    native,
    unsupported,
    word2vec_binary,
    word2vec_text,
)
from firth.formats import precision as precisions
from firth.formats.elmo_zip import zip_contains_elmo
from firth.formats.precision import Precision
from firth.formats.reading import RowSelection, read_head
from firth.models.ngram_model import NgramModel
from firth.models.supervised_vectors import SupervisedVectors
from firth.models.word2vec_model import Word2VecModel
from firth.pretrained import shipped
from firth.text.segmentation import is_function_name
from firth.text.vocabulary import Vocabulary, to_bytes
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors


@dataclass(frozen=True)
class Format:
    """A format: its description, file endings, reader, writer, and the kinds of artifacts it can store."""

    sentence: str
    endings: tuple[str, ...]
    read: Callable[[Name, RowSelection], Any]
    write: Callable[[Any, Name], None]
    kinds: tuple[str, ...] | None = (WordVectors.kind, SubwordVectors.kind, Word2VecModel.kind)

    def can_store(self, artifact: Any) -> bool:
        """Whether an artifact can be written in this format."""
        return self.kinds is None or getattr(artifact, "kind", None) in self.kinds


def _read_arpa(path: Name, part: RowSelection) -> NgramModel:
    if not part.whole:
        raise OptionError(f"{os.fspath(path)}: limit and vocabulary select vectors, but this is an n-gram model")
    return arpa.read(path)


def _text_writer(kind: word2vec_text.Kind) -> Callable[[WordVectors, Name], None]:
    return partial(word2vec_text.write, kind=kind)


FORMATS = {
    "native": Format("firth's own folder, memory-mapped", (), native.read, native.write, None),
    "word2vec": Format(
        "text with a header line, one word a line", (".txt", ".w2v"), word2vec_text.read, _text_writer("word2vec")
    ),
    "word2vec-binary": Format("word2vec's binary file", (".bin",), word2vec_binary.read, word2vec_binary.write),
    "glove": Format("text without a header line", (".glove",), word2vec_text.read, _text_writer("glove")),
    "vec": Format("the text that fastText writes", (".vec",), word2vec_text.read, _text_writer("vec")),
    "fasttext": Format("fastText's model", (".bin",), fasttext.read, fasttext_write.write),
    "ftz": Format("fastText's quantized model", (".ftz",), fasttext.read, fasttext_write.write_quantized),
    "arpa": Format("an n-gram model as text", (".arpa", ".lm"), _read_arpa, arpa.write, (NgramModel.kind,)),
    "elmo": Format(
        "ELMo's options.json and weights.hdf5, in a folder or a zip archive", (), elmo.read, elmo_write.write, ("bilm",)
    ),
}


# Kinds that can be saved with reduced precision.
REDUCIBLE = WordVectors.kind, SubwordVectors.kind, Word2VecModel.kind, native.BILM, native.TASK


def detect(path: Name) -> str:
    """The name of the format of a file or folder, detected from its content.

    >>> detect("no/such/file")
    Traceback (most recent call last):
    firth.errors.OptionError: no/such/file: no such file or folder
    """
    if os.path.isdir(path):
        if elmo_files.contains_elmo(path):
            return "elmo"
        if not (Path(path) / native.CONFIG).is_file():
            cure = "Use a file of vectors, a folder that firth wrote, or the folder of an ELMo model"
            raise FormatError(path, f"the folder contains no {native.CONFIG}, so it is not a firth model", cure=cure)
        return "native"
    if not os.path.exists(path):
        if recover_folder(path):
            return detect(path)
        raise OptionError(_describe_missing(path))
    if not os.path.isfile(path):
        raise OptionError(f"{os.fspath(path)}: is neither a file nor a folder")
    if zip_contains_elmo(path):
        return "elmo"
    head, whole = read_head(path)
    if not head:
        raise FormatError(path, "the file is empty")
    if elmo_files.is_elmo(head):
        return "elmo"
    unsupported.refuse(path, head)
    if fasttext.is_fasttext(head):
        return "fasttext"
    if is_arpa(head):
        return "arpa"
    layout = word2vec_text.detect_layout(head, whole)
    if layout is not None:
        return layout.kind
    if word2vec_binary.is_word2vec_binary(head):
        return "word2vec-binary"
    raise unsupported.describe_unknown(path, head)


def is_binary_model(path: Name) -> bool:
    """Whether a file is word vectors or a fastText model in a binary format. Text is not, whatever it contains.

    >>> is_binary_model("README.md")
    False
    """
    head, _ = read_head(path)
    if NO_TEXT.search(head) is None:
        return False
    return fasttext.is_fasttext(head) or word2vec_binary.is_word2vec_binary(head)


def _describe_missing(path: Name) -> str:
    """The error for a missing file; a single word without an ending may be a misspelled pretrained model."""
    name = os.fspath(path)
    problem = f"{name}: no such file or folder"
    if Path(name).name != name or Path(name).suffix:
        return problem
    return f"{problem}, and no pretrained model of this name. {shipped.suggest(name)}"


def is_arpa(head: bytes) -> bool:
    r"""Whether a line `\data\` is near the start, as in every ARPA file.

    >>> is_arpa(b"\n\\data\\\nngram 1=3\n")
    True
    """
    return any(line.strip() == b"\\data\\" for line in head[: 1 << 16].split(b"\n"))


@checked
def load(
    path: Name,
    *,
    limit: int | None = None,
    vocabulary: Vocabulary | Iterable[str] | Name | None = None,
    format: str | None = None,
    encoding: str | None = None,
) -> Any:
    """Opens vectors or a model in any known format; `format` overrides detection by content.

    A name of `firth.pretrained.shipped.SHIPPED`, such as "word2vec-en", opens a model shipped with firth, unless the
    current folder contains a file of that name.

    `limit` loads only the first rows, `vocabulary` (words, or a file of words) only the rows of these words; other
    rows are never kept in memory. `encoding` is that of the words in a file of vectors, such as "latin-1"; the default
    is UTF-8, whose invalid bytes are kept as they are.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "small.txt").write_text("tea 1 2\\nrain 3 4\\n")
    ...     load(Path(folder, "small.txt"), vocabulary=["rain"])["rain"]
    array([3., 4.], dtype=float32)
    """
    part = RowSelection.of(limit, vocabulary)
    path = shipped.locate(path)
    if format is not None and format not in FORMATS:
        raise OptionError(f"no format is called {format!r}. Known formats: {', '.join(FORMATS)}")
    if format is not None and not os.path.exists(path):
        raise OptionError(_describe_missing(path))
    artifact = FORMATS[format or detect(path)].read(path, part)
    if encoding is not None:
        return decode_words(artifact, encoding, path)
    output = artifact.output if isinstance(artifact, SubwordVectors) else None
    is_supervised = output is not None and output.model == "supervised" and output.labels is not None
    return SupervisedVectors.from_vectors(artifact) if is_supervised else artifact


def decode_words(artifact: Any, encoding: str, path: Name) -> WordVectors:
    """Vectors whose words are decoded again, from an encoding that contains ASCII.

    >>> decode_words(WordVectors(["caf\\udce9"], [[1.0, 2.0]]), "latin-1", "cafe.txt").vocabulary.words
    ('café',)
    """
    if type(artifact) is not WordVectors:
        raise OptionError(
            f"{os.fspath(path)}: encoding is for files of word vectors, not for {type(artifact).__name__}"
        )
    try:
        words = [to_bytes(word).decode(encoding) for word in artifact.vocabulary]
    except (LookupError, UnicodeDecodeError) as error:
        raise OptionError(f"{os.fspath(path)}: the words cannot be decoded as {encoding!r}: {error}") from error
    return WordVectors(Vocabulary(words, artifact.vocabulary.counts), artifact.rows, metadata=artifact.metadata)


@checked
def save(
    artifact: Any,
    path: Name,
    *,
    format: str | None = None,
    precision: Precision | None = None,
    file_bytes: int | None = None,
) -> None:
    """Writes vectors or a model in `format`; by default the ending of the file name selects the format.

    A name without an ending is a folder in firth's own format. A further `.gz`, `.bz2`, `.xz` or `.zst` compresses the
    file. Writing is atomic. `precision`, "float16" or "int8" (one scale per row), stores the weights of word vectors or
    networks in that type and compresses the word lists of firth's own format. `file_bytes` limits the size of the files
    of arrays in that format, for places that limit it: a large model then has several.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(WordVectors(["tea"], [[0.1, 2]]), Path(folder, "tea.vec"))
    ...     Path(folder, "tea.vec").read_text()
    '1 2\\ntea 0.1 2.0 \\n'
    """
    if not hasattr(artifact, "to_parts"):
        raise OptionError(f"{artifact!r:.80} is no model. Pass what firth.load or fit returns")
    _refuse_standard_output(path)
    warn_of_function(artifact, path)
    if format is None:
        format = format_for(artifact, path)
    if format not in FORMATS:
        raise OptionError(f"no format is called {format!r}. Known formats: {', '.join(FORMATS)}")
    if not FORMATS[format].can_store(artifact):
        fitting = [name for name, known in FORMATS.items() if known.can_store(artifact)]
        name = type(artifact).__name__
        raise OptionError(f"{os.fspath(path)}: a {name} cannot be written as {format}, only as {', '.join(fitting)}")
    if file_bytes is not None and format != "native":
        raise OptionError(f"{os.fspath(path)}: only firth's own format, a folder, can be divided into files")
    if precision is not None:
        precisions.check(precision)
    reducible = precision is None or getattr(artifact, "kind", None) in REDUCIBLE
    if format == "native" and reducible:
        native.write(artifact, path, precision, file_bytes)
    elif precision is None:
        FORMATS[format].write(artifact, path)
    elif isinstance(artifact, WordVectors):
        FORMATS[format].write(precisions.reduce_vectors(artifact, precision), path)
    else:
        problem = f"a {type(artifact).__name__} cannot be written as {format} with reduced precision"
        raise OptionError(
            f"{os.fspath(path)}: {problem}. Only word vectors, and networks in firth's own format, can be"
        )


def warn_of_function(artifact: Any, path: Name) -> None:
    """Warns that a function that segmented the text of a model cannot be saved with it."""
    metadata = getattr(artifact, "metadata", None)
    tokenizer = metadata.get("tokenizer") if isinstance(metadata, Mapping) else None
    segment = tokenizer.get("segment") if isinstance(tokenizer, Mapping) else None
    if is_function_name(segment):
        problem = (
            f"the text of this model was split into words by the function {str(segment)[10:-1]}, which is not stored"
        )
        cure = "After loading, pass lists of words; or train with the name of a segmenter"
        warnings.warn(f"{os.fspath(path)}: {problem}. {cure}", stacklevel=3)


def check_target(path: Name) -> None:
    """Checks before training that the model can be saved: refuses an unknown ending and a blocked target."""
    _refuse_standard_output(path)
    format_for(None, path)
    check_output(path)


def _refuse_standard_output(path: Name) -> None:
    if os.fspath(path) == "":
        raise OptionError("the output has no name. Name a file or a folder")
    if os.fspath(path) == STDIN:
        raise OptionError("a model cannot be written to standard output. Name a file or a folder")


def format_for(artifact: Any, path: Name) -> str:
    """The format in which `save` writes a model to a file of this name.

    >>> format_for(None, "vectors"), format_for(None, "vectors.bin"), format_for(None, "vectors.vec.gz")
    ('native', 'word2vec-binary', 'vec')
    """
    name = Path(path).name.lower()
    for packing in COMPRESSIONS.values():
        name = name.removesuffix("." + packing)
    ending = Path(name).suffix
    if not ending:
        return "native"
    if ending == ".bin":
        return "fasttext" if isinstance(artifact, SubwordVectors) else "word2vec-binary"
    if ending == ".txt" and "glove" in name:
        return "glove"
    for known, format in FORMATS.items():
        if ending in format.endings:
            return known
    known_endings = sorted({ending for format in FORMATS.values() for ending in format.endings})
    raise OptionError(
        f"{os.fspath(path)}: the ending {ending} names no format. Use {', '.join(known_endings)}, "
        "no ending for a folder in firth's own format, or name the format"
    )
