"""A vocabulary as a text file with one word on each line, as ELMo's programs read and write it."""

from __future__ import annotations

from firth.errors import FormatError
from firth.files import Name, read_bytes
from firth.text.character_ids import BEGIN, END
from firth.text.vocabulary import Vocabulary, to_word

LAST = "!!!MAXTERMID"  # a line that bilm-tf skips
UNKNOWN = "<UNK>"


def read_vocabulary(path: Name) -> Vocabulary:
    """The words of a UTF-8 vocabulary file, one per line, compressed or not.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "vocab.txt"
    >>> _ = file.write_text("<S>\\n</S>\\n<UNK>\\ntea\\n")
    >>> read_vocabulary(file).words
    ('<S>', '</S>', '<UNK>', 'tea')
    """
    lines = read_bytes(path).split(b"\n")
    if lines and not lines[-1].strip():
        lines.pop()
    words = [to_word(line.strip()) for line in lines]
    return Vocabulary(word for word in words if word != LAST)


def read_softmax_vocabulary(path: Name) -> Vocabulary:
    """A vocabulary file for a softmax: it has <S>, </S> and <UNK>, at least one other word, and each word once."""
    words = read_vocabulary(path)
    marks = BEGIN, END, UNKNOWN
    for mark in marks:
        if mark not in words:
            cure = f"Its first lines should be {', '.join(marks[:2])} and {marks[2]}"
            raise FormatError(path, f"the vocabulary has no {mark}", cure=cure)
    if len(words) <= len(marks):
        raise FormatError(path, "the vocabulary has no word to predict", cure="Add one word on each line")
    seen: dict[str, int] = {}
    for line, word in enumerate(words.words, 1):
        if not word:
            raise FormatError(path, "the line is empty", line=line, cure="Write one word on each line")
        if seen.setdefault(word, line) != line:
            raise FormatError(path, f"{word!r} is also on line {seen[word]}", line=line, cure="Write each word once")
    return words
