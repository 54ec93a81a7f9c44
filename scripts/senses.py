"""Test whether a biLM separates the senses of words: 35 words with two senses each, four sentences per sense.

    python scripts/senses.py MODEL [--layer top|mix|1|2] [--table tests/senses.tsv] [--json]

The sentences were written for this test. Sentences of the same sense share no content word except the word itself, so
that repeated context words cannot make them similar. A word passes if the mean cosine between occurrences of the same
sense is higher than that between occurrences of different senses; by chance half of the words pass. `nearest` counts
the occurrences whose nearest neighbor has the same sense. 3 of the 7 other occurrences do, so chance is 43 %. Layer 0,
which has no context, is the control: all its cosines are 1, and no word passes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.formats.registry import load
from firth.text.tokenize import Tokenizer
from firth.vectors.occurrences import find_marked_word

TABLE = Path(__file__).resolve().parents[1] / "tests" / "senses.tsv"
ROUNDING = (
    1e-6  # smaller differences of cosines count as equal; without context all cosines of a word are 1, up to rounding
)

Occurrence = tuple[list[str], int]
Senses = Mapping[str, Mapping[str, Sequence[Occurrence]]]
Embed = Callable[[list[list[str]]], Sequence[NDArray[np.float32]]]


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


def read_senses(path: Path = TABLE) -> dict[str, dict[str, list[Occurrence]]]:
    """Word → sense → sentences with the index of the word, from a table of word, sense and sentence with [word]."""
    table: dict[str, dict[str, list[Occurrence]]] = {}
    tokenizer = Tokenizer(mode="whitespace")
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        word, sense, sentence = line.split("\t")
        table.setdefault(word, {}).setdefault(sense, []).append(find_marked_word(sentence, tokenizer))
    return table


def separations(embed: Embed, table: Senses) -> list[Separation]:
    """The separation of every word by a function that embeds each sentence as an array (length, dim)."""
    occurrences = [
        (word, sense, one) for word, senses in table.items() for sense, ones in senses.items() for one in ones
    ]
    arrays = embed([words for _, _, (words, _) in occurrences])
    found = []
    for word, senses in table.items():
        own = [(sense, array[one[1]]) for (other, sense, one), array in zip(occurrences, arrays) if other == word]
        labels = np.array([sense for sense, _ in own])
        found.append(separation(word, tuple(senses), labels, np.stack([vector for _, vector in own])))
    return found


def separation(word: str, senses: tuple[str, ...], labels: NDArray[Any], vectors: NDArray[np.float32]) -> Separation:
    """The separation of the vectors of one word, (occurrences, dim); `labels` are their senses.

    >>> labels = np.array(["river", "river", "money", "money"])
    >>> separation("bank", ("river", "money"), labels, np.array([[1.0, 0], [2, 0], [0, 1], [0, 3]]))
    Separation(word='bank', senses=('river', 'money'), same=1.0, cross=0.0, nearest=4, total=4)
    """
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = unit @ unit.T
    alike = labels[:, None] == labels[None, :]
    others = ~np.eye(len(labels), dtype=bool)
    same = float(cosines[alike & others].mean())
    cross = float(cosines[~alike].mean())
    nearest = np.where(others, cosines, -2.0)
    best_same = np.where(alike, nearest, -2.0).max(axis=1)
    best_cross = np.where(alike, -2.0, nearest).max(axis=1)
    return Separation(word, senses, same, cross, int((best_same > best_cross + ROUNDING).sum()), len(labels))


def judge(bilm: Any, layer: str | int = "top", table: Senses | None = None) -> list[Separation]:
    """The separation of every word by one layer of a biLM, or by the mix of its layers."""
    return separations(lambda sentences: bilm.embed(sentences, layers=layer), table or read_senses())


def summary(found: Sequence[Separation]) -> dict[str, Any]:
    """The means over all words."""
    return {
        "words": len(found),
        "passed": sum(one.passed for one in found),
        "nearest": sum(one.nearest for one in found) / sum(one.total for one in found),
        "same": float(np.mean([one.same for one in found])),
        "cross": float(np.mean([one.cross for one in found])),
    }


def format_table(found: Sequence[Separation]) -> str:
    """A table of the results."""
    lines = [f"{'word':9} {'senses':20} {'same':>7} {'cross':>7} {'apart':>7} nearest"]
    for one in sorted(found, key=lambda one: one.cross - one.same):
        mark = "" if one.passed else "   NOT APART"
        lines.append(
            f"{one.word:9} {' / '.join(one.senses):20} {one.same:7.4f} {one.cross:7.4f} {one.same - one.cross:+7.4f} "
            f"{one.nearest} of {one.total}{mark}"
        )
    total = summary(found)
    lines.append(
        f"{total['passed']} of {total['words']} words pass; the nearest occurrence has the same sense for "
        f"{total['nearest']:.1%} (chance 43 %); mean cosines {total['same']:.4f} and {total['cross']:.4f}"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="A biLM: a file, a folder or the name of a shipped model.")
    parser.add_argument(
        "--layer", default="top", help="top, mix or a number; 0 is the layer without context. Default: top."
    )
    parser.add_argument("--table", type=Path, default=TABLE, help="The table of sentences.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    args = parser.parse_args()
    layer = int(args.layer) if args.layer.isdigit() else args.layer
    found = judge(load(args.model), layer, read_senses(args.table))
    if args.json:
        print(json.dumps({"summary": summary(found), "words": [asdict(one) for one in found]}, indent=2))
    else:
        print(format_table(found))


if __name__ == "__main__":
    main()
