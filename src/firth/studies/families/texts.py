"""The training texts of the families, each the beginning of the next, and the questions that all of them can answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from firth.errors import OptionError
from firth.evaluate import questions
from firth.evaluate.lookup import Lookup
from firth.files import atomic_file, open_bytes
from firth.studies.results import TEXT, data_file
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors


def write_text(path: Path, words: int) -> None:
    """Writes the first sentences of the English text with at least this many words, unless the file exists."""
    if path.is_file():
        return
    written = 0
    with atomic_file(path) as draft, open(draft, "wb") as file, open_bytes(data_file(TEXT)) as source:
        for line in source:
            file.write(line)
            written += len(line.split())
            if written >= words:
                break
        if written < words:
            raise OptionError(f"sizes: {words:,} words are needed, but {TEXT} has only {written:,}")


def read_sentences() -> Iterator[list[str]]:
    """The sentences of the English text."""
    with open_bytes(data_file(TEXT)) as source:
        for line in source:
            yield line.decode("utf-8").split()


def known_words(path: Path, min_count: int) -> Lookup:
    """A lookup of the words that occur at least `min_count` times in a text."""
    corpus = Corpus([path], tokenizer=Tokenizer(mode="whitespace", normalizer=None), threads=1)
    words = corpus.vocabulary.cut(min_count)
    return Lookup(WordVectors(words, np.zeros((len(words), 1), np.float32)))


def write_known_questions(known: Lookup, sets: Sequence[str], folder: Path) -> None:
    """Writes the questions of each set whose words are all known, unless the file exists."""
    for name in sets:
        path = folder / f"{name}.txt"
        if path.is_file():
            continue
        if questions.task_of(name) == "analogy":
            lines = _analogies(known, name)
        else:
            pairs = [pair for pair in questions.read_pairs(name) if _all_known(known, pair[:2])]
            lines = [f"{pair.first}\t{pair.second}\t{pair.score}" for pair in pairs]
        if not lines:
            raise OptionError(f"sizes: the words of {name} are too rare in the smallest text. Use a larger one")
        with atomic_file(path) as draft:
            draft.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _analogies(known: Lookup, name: str) -> list[str]:
    lines = []
    for section, members in questions.read_analogies(name).items():
        kept = ["\t".join(question) for question in members if _all_known(known, question)]
        lines += [f": {section}", *kept] if kept else []
    return lines


def _all_known(known: Lookup, words: Sequence[str]) -> bool:
    return all(known.find(word) >= 0 for word in words)
