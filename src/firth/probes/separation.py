"""The sense test: are occurrences of a word in one sense more similar than occurrences in different senses?

`senses.tsv` beside this file has 35 English words with two senses each and four sentences per sense, written for this
test; `senses-fa.tsv` has 16 Persian words.
Sentences of the same sense share no content word except the word itself, so that repeated context words cannot make
them similar. A word passes if the mean cosine between occurrences of the same sense is higher than that between
occurrences of different senses; by chance half of the words pass. `nearest` counts the occurrences whose nearest
neighbor has the same sense: 3 of the 7 other occurrences do, so chance is 43 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.probes.readers import LayerReader, WordSpan, read_spans
from firth.text.tokenize import Tokenizer
from firth.vectors.occurrences import find_marked_word

TABLE = Path(__file__).with_name("senses.tsv")
TABLES = {"en": TABLE, "fa": TABLE.with_name("senses-fa.tsv")}  # by language
ROUNDING = 1e-6  # smaller differences of cosines count as equal; without context all cosines are 1, up to rounding

SenseTable = Mapping[str, Mapping[str, Sequence[WordSpan]]]  # word → sense → occurrences


@dataclass(frozen=True)
class Separation:
    """How well the senses of one word are separated."""

    word: str
    senses: tuple[str, ...]
    same: float
    cross: float
    nearest: int
    total: int

    @property
    def passed(self) -> bool:
        """Whether occurrences of the same sense are more similar than those of different senses."""
        return self.same > self.cross + ROUNDING


def read_sense_table(path: Name = TABLE) -> dict[str, dict[str, list[WordSpan]]]:
    """The occurrences by word and sense, from a table of word, sense and sentence with the word in [brackets]."""
    table: dict[str, dict[str, list[WordSpan]]] = {}
    tokenizer = Tokenizer(mode="whitespace")
    for number, line in read_lines(path):
        if number > 1:
            if line.count("\t") != 2:
                raise FormatError(path, "expected a word, a sense and a sentence in tabs", line=number)
            word, sense, sentence = line.split("\t")
            words, place = find_marked_word(sentence, tokenizer)
            table.setdefault(word, {}).setdefault(sense, []).append(WordSpan(words, place, place + 1))
    return table


def list_spans(table: SenseTable) -> list[WordSpan]:
    """All occurrences, word by word and sense by sense."""
    return [span for senses in table.values() for spans in senses.values() for span in spans]


def separate_words(vectors: NDArray[Any], table: SenseTable) -> list[Separation]:
    """The separation of every word by the vectors of `list_spans`, (occurrences, dim)."""
    found, start = [], 0
    for word, senses in table.items():
        labels = np.array([sense for sense, spans in senses.items() for _ in spans])
        found.append(separation(word, tuple(senses), labels, vectors[start : start + len(labels)]))
        start += len(labels)
    return found


def separation(word: str, senses: tuple[str, ...], labels: NDArray[Any], vectors: NDArray[Any]) -> Separation:
    """The separation of the vectors of one word, (occurrences, dim); `labels` are their senses.

    The cosine with a vector of zeros is 0.

    >>> labels = np.array(["river", "river", "money", "money"])
    >>> separation("bank", ("river", "money"), labels, np.array([[1.0, 0], [2, 0], [0, 1], [0, 3]]))
    Separation(word='bank', senses=('river', 'money'), same=1.0, cross=0.0, nearest=4, total=4)
    """
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    cosines = unit @ unit.T
    alike = labels[:, None] == labels[None, :]
    others = ~np.eye(len(labels), dtype=bool)
    same = float(cosines[alike & others].mean())
    cross = float(cosines[~alike].mean())
    nearest = np.where(others, cosines, -2.0)
    best_same = np.where(alike, nearest, -2.0).max(axis=1)
    best_cross = np.where(alike, -2.0, nearest).max(axis=1)
    return Separation(word, senses, same, cross, int((best_same > best_cross + ROUNDING).sum()), len(labels))


def separate_layers(reader: LayerReader, table: SenseTable) -> dict[str, list[Separation]]:
    """The separation of every word by each layer of a reader."""
    layers = read_spans(reader, list_spans(table)).cpu().numpy()
    return {name: separate_words(vectors, table) for name, vectors in zip(reader.names, layers)}


def summarize_separations(found: Sequence[Separation]) -> dict[str, Any]:
    """The number of words, how many pass, the share of nearest occurrences of the same sense, and mean cosines."""
    return {
        "words": len(found),
        "passed": sum(one.passed for one in found),
        "nearest": sum(one.nearest for one in found) / sum(one.total for one in found),
        "same": float(np.mean([one.same for one in found])),
        "cross": float(np.mean([one.cross for one in found])),
    }
