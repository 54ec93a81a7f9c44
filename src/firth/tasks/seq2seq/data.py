"""Pairs of texts, one to be said for the other: from a table, or made of running text.

tabs      every line is source TAB target
next      a sentence, and the one that follows it
title     lines `# Title` with text below them: the title is to be said for the text
itself    a sentence is to be said again
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal

from firth.errors import FormatError, OptionError
from firth.files import Name, read_lines
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

Kind = Literal["tabs", "next", "title", "itself"]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Seq2SeqExample:
    """The words of a source and, where it is known, of its target.

    >>> Seq2SeqExample(("hello", "you"), ("bonjour",)).sentences
    (('hello', 'you'),)
    """

    source: Words
    target: Words | None = None

    @property
    def sentences(self) -> tuple[Words, ...]:
        """What is embedded: the source."""
        return (self.source,)

    @property
    def known(self) -> Words:
        """The target, which must be known if the pair is to be learnt from or judged by."""
        if self.target is None:
            text = " ".join(self.source)
            raise OptionError(f"no target is known for {text!r:.80}: it can be answered, but not be judged")
        return self.target


def read_pairs(path: Name, kind: Kind, tokenizer: Tokenizer, longest: int, limit: int = 0) -> list[Seq2SeqExample]:
    """The pairs of a file, or the first `limit` of them; longer texts are cut to `longest` words.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.tsv"
    >>> _ = file.write_text("Tea, please.\\tDu thé.\\nRain!\\tIl pleut.\\n")
    >>> read_pairs(file, "tabs", Tokenizer(), 2)
    [Pair(source=('Tea', ','), target=('Du', 'thé')), Pair(source=('Rain', '!'), target=('Il', 'pleut'))]
    """
    if kind in ("tabs", "title"):
        texts = _tabs(path) if kind == "tabs" else _titles(path)
        found = _cut(((tokenizer.words(source), tokenizer.words(target)) for source, target in texts), longest)
    else:
        sentences = Corpus(path, tokenizer=tokenizer).sentences()
        found = _cut(pairwise(sentences) if kind == "next" else ((words, words) for words in sentences), longest)
    pairs = list(islice(found, limit or None))
    if not pairs:
        raise FormatError(path, "holds no pairs of texts")
    return pairs


def _cut(found: Iterable[tuple[list[str], list[str]]], longest: int) -> Iterator[Seq2SeqExample]:
    for source, target in found:
        if source and target:
            yield Seq2SeqExample(tuple(source[:longest]), tuple(target[:longest]))


def _tabs(path: Name) -> Iterator[tuple[str, str]]:
    for number, line in _lines(path):
        fields = line.split("\t")
        if len(fields) != 2 or not all(field.strip() for field in fields):
            problem = f"expected a source, a tab and a target, found {len(fields)} fields"
            if len(fields) == 2:
                problem = "expected a source, a tab and a target, but one of them is empty"
            raise FormatError(path, problem, line=number, cure="For running text say how pairs are made: next, itself")
        yield fields[0], fields[1]


def _titles(path: Name) -> Iterator[tuple[str, str]]:
    """Titles with the text below them, up to the next one; a title without text is left out."""
    title, below = "", ""
    for number, line in _lines(path):
        if line.startswith("# "):
            if title and below:
                yield below, title
            title, below = line[2:], ""
        elif not title:
            raise FormatError(path, "text stands above the first title", line=number, cure="A title is '# Title'")
        else:
            below += ("\n" if below else "") + line
    if title and below:
        yield below, title


def _lines(path: Name) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    return ((number, line) for number, line in read_lines(path) if line.strip())
