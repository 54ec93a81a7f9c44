"""Errors for files that firth recognizes but does not open, and for unknown files."""

from __future__ import annotations

import re

from firth.errors import FormatError
from firth.files import Name

EXPORT = "Export it where it was made: vectors.save_word2vec_format('vectors.bin', binary=True), then open that file"
PICKLED = re.compile(rb"\x80[\x02-\x05]")
KNOWN: tuple[tuple[bytes, str, str], ...] = (
    (b"\x93NUMPY", "is a NumPy array: numbers without words", "Give the array and its words to WordVectors"),
    (b"SQLite format 3\0", "is an SQLite database", "Export its vectors as text or as word2vec binary"),
    (b"FIRTHTOK", "is a token file: an encoded text, not a model", "Train a model on it, then open that"),
    (b"ARROW1", "is an Arrow file", "Export its vectors as text or as word2vec binary"),
    (b"PAR1", "is a Parquet file", "Export its vectors as text or as word2vec binary"),
    (b"mmap lm http://kheafield.com/code", "is a KenLM binary", "Open the ARPA file that it was made from"),
    (b"%PDF", "is a PDF document", ""),
)


def refuse(path: Name, head: bytes) -> None:
    """Raises a FormatError for a recognized file that firth does not open; nothing is ever unpickled.

    >>> refuse("model.pkl", b"\\x80\\x04\\x95")
    Traceback (most recent call last):
    firth.errors.FormatError: model.pkl: is a Python pickle, which could run any code and is never opened. ...
    """
    if PICKLED.match(head):
        maker = "gensim model saved as a pickle" if b"gensim" in head else "Python pickle"
        if b"torch" in head:
            maker = "PyTorch file saved as a pickle"
        raise FormatError(path, f"is a {maker}, which could run any code and is never opened", cure=EXPORT)
    if head.startswith(b"PK\x03\x04"):
        raise _describe_archive(path, head)
    if re.match(rb".{8}\{\s*\"", head[:32], re.DOTALL) and b'"data_offsets"' in head:
        raise FormatError(path, "is a safetensors file without its words", cure="Open the folder that contains it")
    if len(head) > 262 and head[257:262] == b"ustar":
        raise FormatError(path, "is a tar archive", cure="Extract it, then open the files in it")
    for magic, problem, cure in KNOWN:
        if head.startswith(magic):
            raise FormatError(path, problem, cure=cure)


def _describe_archive(path: Name, head: bytes) -> FormatError:
    if b"/data.pkl" in head or b"archive/" in head:
        return FormatError(path, "is a PyTorch file, which contains a pickle and is never opened", cure=EXPORT)
    if b".npy" in head:
        cure = "Give its arrays and their words to WordVectors"
        return FormatError(path, "is a NumPy archive: arrays without words", cure=cure)
    return FormatError(path, "is a zip archive", cure="Extract it, then open the files in it")


def describe_unknown(path: Name, head: bytes) -> FormatError:
    """The error for an unknown file; it quotes the first bytes."""
    cure = "Expected vectors as text or binary, a fastText model, an ARPA file, or a folder that firth wrote"
    if head[:1] in (b"{", b"[", b"<"):
        kind = "JSON" if head[:1] in b"{[" else "a markup page"
        return FormatError(path, f"looks like {kind}, not like vectors or a model", cure=cure)
    first = head[:40]
    printable = re.fullmatch(rb"[^\x00-\x08\x0e-\x1f]*", first) is not None
    if printable:
        line = first.split(b"\n")[0].decode("utf-8", "replace")
        return FormatError(path, f"text that is not lines of a word and numbers; it begins {line!r}", cure=cure)
    return FormatError(path, f"unknown binary data; it begins {first[:16].hex(' ')}", cure=cure)
