"""Test whether a model separates the senses of words: 35 words with two senses each, four sentences per sense.

    python scripts/senses.py MODEL [--layer top|mix|1|2] [--table TABLE] [--json]

MODEL is a biLM, or word vectors: these are tested as a bag of context, the mean of the other words of the sentence. A
biLM that does not exceed the bag of context has learned no more about senses than which words stand near. The test is
described in `firth.probes.separation`. Layer 0 of a biLM, which has no context, is the control: all its cosines are 1,
and no word passes. The last line is about the clusters that maps of senses show: the share of a word's occurrences
whose sense is the most frequent one in their cluster, on average, with as many clusters as senses. By chance it is far
above a half, because two clusters of eight occurrences are seldom both even.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from firth.formats.registry import load
from firth.maps.senses import SenseMap
from firth.probes.bag import BagReader
from firth.probes.separation import (
    TABLE,
    SenseTable,
    Separation,
    list_spans,
    read_sense_table,
    separate_layers,
    separate_words,
)
from firth.probes.separation import summarize_separations as summary
from firth.vectors.words import WordVectors


def judge(model: Any, layer: str | int = "top", table: SenseTable | None = None) -> list[Separation]:
    """The separation of every word by one layer of a biLM, by the mix of its layers, or by a bag of word vectors."""
    table = table or read_sense_table()
    if isinstance(model, WordVectors):
        [found] = separate_layers(BagReader("vectors", model), table).values()
        return found
    spans = list_spans(table)
    arrays = model.embed([span.words for span in spans], layers=layer)
    return separate_words(np.stack([array[span.start] for array, span in zip(arrays, spans)]), table)


def cluster_words(bilm: Any, table: SenseTable | None = None) -> float:
    """The share of the occurrences whose sense is the most frequent one in their cluster, on average over the words."""
    shares = []
    for word, senses in (table or read_sense_table()).items():
        gold = [sense for sense, spans in senses.items() for _ in spans]
        sentences = [span.words for spans in senses.values() for span in spans]
        found = SenseMap.of(bilm, sentences, [word], senses=len(senses))
        clusters = {label: Counter[str]() for label in found.labels.tolist()}
        for one, label in zip(found.occurrences, found.labels.tolist()):
            clusters[label][gold[one.sentence]] += 1
        shares.append(sum(max(counts.values()) for counts in clusters.values()) / len(found))
    return float(np.mean(shares))


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
    parser.add_argument("model", help="A biLM or word vectors: a file, a folder or the name of a shipped model.")
    parser.add_argument(
        "--layer", default="top", help="top, mix or a number; 0 is the layer without context. Default: top."
    )
    parser.add_argument("--table", type=Path, default=TABLE, help="The table of sentences.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    args = parser.parse_args()
    layer = int(args.layer) if args.layer.isdigit() else args.layer
    model, table = load(args.model), read_sense_table(args.table)
    found = judge(model, layer, table)
    clusters = None if isinstance(model, WordVectors) else cluster_words(model, table)
    if args.json:
        words = [asdict(one) for one in found]
        print(json.dumps({"summary": summary(found) | {"clusters": clusters}, "words": words}, indent=2))
    else:
        print(format_table(found))
        if clusters is not None:
            print(f"clusters of a map of senses: {clusters:.1%} of the occurrences are in one of their sense")


if __name__ == "__main__":
    main()
