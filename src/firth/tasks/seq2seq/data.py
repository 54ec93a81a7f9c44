"""Pairs of a source and a target text, from a table or derived from running text.

tabs      each line is source TAB target
next      a sentence, and the one that follows it
title     lines `# Title` with text below them: the text is the source, the title the target
itself    a sentence is its own target
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Literal

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.tasks.located_text import LocatedText
from firth.tasks.task import require_gold
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
    origin: LocatedText | None = field(default=None, kw_only=True, compare=False, repr=False)  # of a text of a user

    @property
    def sentences(self) -> tuple[Words, ...]:
        """The one input: the source."""
        return (self.source,)

    def with_sentences(self, sentences: Sequence[Words]) -> Seq2SeqExample:
        """The example with other spellings of the words of its source."""
        return replace(self, source=sentences[0])

    @property
    def gold(self) -> Words:
        """The target, which must be known."""
        return require_gold(self.target, self.source)


def read_pairs(path: Name, kind: Kind, tokenizer: Tokenizer, longest: int, limit: int = 0) -> list[Seq2SeqExample]:
    """The pairs of a file, or the first `limit` of them; texts are truncated to `longest` words.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.tsv"
    >>> _ = file.write_text("Tea, please.\\tDu thé.\\n")
    >>> read_pairs(file, "tabs", Tokenizer(), 2)
    [Seq2SeqExample(source=('Tea', ','), target=('Du', 'thé'))]
    """
    pairs: Iterable[tuple[list[str], list[str]]]
    if kind in ("tabs", "title"):
        texts = _read_table(path) if kind == "tabs" else _read_titles(path)
        pairs = ((tokenizer.words(source), tokenizer.words(target)) for source, target in texts)
    else:
        sentences = Corpus(path, tokenizer=tokenizer).sentences()
        pairs = pairwise(sentences) if kind == "next" else ((words, words) for words in sentences)
    full = ((source[:longest], target[:longest]) for source, target in pairs if source and target)
    examples = [Seq2SeqExample(tuple(source), tuple(target)) for source, target in islice(full, limit or None)]
    if not examples:
        raise FormatError(path, "the file has no pairs of texts")
    return examples


def _read_table(path: Name) -> Iterator[tuple[str, str]]:
    for number, line in read_lines(path, blank=False):
        fields = line.split("\t")
        if len(fields) != 2 or not all(field.strip() for field in fields):
            problem = f"expected a source, a tab and a target, found {len(fields)} fields"
            if len(fields) == 2:
                problem = "expected a source, a tab and a target, but one of them is empty"
            cure = "For running text set the option pairs to next or itself"
            raise FormatError(path, problem, line=number, cure=cure)
        yield fields[0], fields[1]


def _read_titles(path: Name) -> Iterator[tuple[str, str]]:
    """Texts with the titles above them; a title without text is left out."""
    title, text = "", ""
    for number, line in read_lines(path, blank=False):
        if line.startswith("# "):
            if title and text:
                yield text, title
            title, text = line[2:], ""
        elif not title:
            raise FormatError(path, "text above the first title", line=number, cure="A title is '# Title'")
        else:
            text += ("\n" if text else "") + line
    if title and text:
        yield text, title
