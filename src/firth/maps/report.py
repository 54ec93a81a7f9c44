"""A report of word vectors: one HTML file with map, neighbors, evaluation and card, for reading without a server."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

import numpy as np

from firth.errors import OptionError
from firth.maps.cache import cached_map
from firth.maps.clusters import Clusters
from firth.maps.layout import Layout, PointMap
from firth.maps.scatter import SCRIPT, PlotField, ScatterData
from firth.show.markdown import render_markdown
from firth.show.notebook import FactSheet
from firth.vectors.words import WordVectors

PAGE = Path(__file__).resolve().parent / "static" / "report.html"
NEIGHBORS = 10
SENSES = (
    "Each point is an occurrence of the word in a sentence, colored by sense. Words that the model predicts at the "
    "place name a sense, or words around it. Points are placed by their context, or by the layers of the model, which "
    "the sliders mix: layer 0 does not see the text."
)
ScoreRow = Sequence[object]  # task, set, measure, value, interval, used, of


def make_report(
    name: str,
    model: FactSheet,
    *,
    card: str = "",
    scores: Iterable[ScoreRow] = (),
    senses: Mapping[str, ScatterData] | None = None,
    words: int = 20_000,
    version: str = "",
    command: str = "",
) -> str:
    """The page of a model.

    Word vectors have a map of their most frequent words; neighbors are searched among these, in all dimensions.
    `senses` are plots of occurrences by word, as `SenseMap.scatter` makes them. `card` is Markdown. `command` is the
    one that the page recommends; by default it opens the model in the explorer.

    >>> vectors = WordVectors(["tea", "coffee", "rain", "snow"], np.eye(4) + 0.1)
    >>> page = make_report("small", vectors, card="Four **words**.")
    >>> "Four <strong>words</strong>." in page, "http" in page.replace("http://www.w3.org", "")
    (True, False)
    """
    texts = {"caption": "", "map": "", "near": "", "neighbors": "0"}
    if isinstance(model, WordVectors):
        texts |= draw_map(model, words)
    plots = {word: encode(data.pack()) for word, data in (senses or {}).items()}
    if not texts["map"] and not plots:
        raise OptionError("a report needs word vectors, or senses of words")
    facts = ((escape(key), escape(value)) for key, value in model.facts())
    texts |= {
        "title": escape(name),
        "command": escape(command or f"firth explore {name}"),
        "facts": "".join(f"<div><dt>{key}</dt><dd dir='auto'>{value}</dd></div>" for key, value in facts),
        "evaluation": draw_scores(scores),
        "card": render_markdown(card, level=2),
        "version": escape(version),
        "senses": json.dumps(plots).replace("<", "\\u003c"),
        "senses_caption": SENSES if plots else "",
        "script": SCRIPT.read_text(encoding="utf-8").replace("</script", "<\\/script"),
    }
    return Template(PAGE.read_text(encoding="utf-8")).substitute(texts)


def draw_map(vectors: WordVectors, words: int) -> dict[str, str]:
    """The map of the most frequent words and their neighbors, as texts of the page."""
    if words < 1 or not len(vectors):
        raise OptionError("a report needs at least one word")
    size = min(words, len(vectors))
    unit = vectors.unit[:size]
    result = cached_map(unit, Layout())
    return {
        "caption": describe_map(size, len(vectors), result),
        "map": encode(map_data(list(vectors.vocabulary[:size]), unit, result).pack()),
        "near": encode(pack_neighbors(vectors, size)),
        "neighbors": str(min(NEIGHBORS, size - 1)),
    }


def describe_map(size: int, total: int, result: PointMap) -> str:
    """What the map shows and how true it is.

    >>> describe_map(2, 5, PointMap(np.zeros((2, 2), np.float32), np.array([0, 1], np.float32)))
    "The 2 most frequent of 5 words. 50\xa0% of a word's ten nearest neighbors are among its ten nearest on this map."
    """
    which = f"{size:,} words." if size == total else f"The {size:,} most frequent of {total:,} words."
    percent = f"{100 * result.quality:.0f}\u00a0%"
    return f"{which} {percent} of a word's ten nearest neighbors are among its ten nearest on this map."


def map_data(words: Sequence[str], unit: np.ndarray, result: PointMap) -> ScatterData:
    """The map with clusters, frequency and kept neighbors as colors."""
    clusters = Clusters.of(unit)
    rank = 1 - np.log1p(np.arange(len(words))) / np.log1p(len(words))
    fields = [
        PlotField("cluster", "clusters", "category", clusters.labels, clusters.names(words)),
        PlotField("frequency", "frequency", "ramp", rank, low="rare", high="frequent"),
        PlotField("kept", "neighbors kept", "ramp", result.kept, low="0", high="10"),
    ]
    return ScatterData([result.positions], names=words, fields=fields)


def pack_neighbors(vectors: WordVectors, size: int) -> bytes:
    """Ids as uint32, then cosines · 10,000 as int16, of the neighbors of the first words among these."""
    count = min(NEIGHBORS, size - 1)
    own = [(row,) for row in range(size)]
    ids, cosines = vectors.search(vectors.unit[:size], count, exclude=own, limit=size)
    return ids.astype("<u4").tobytes() + np.rint(cosines * 10_000).astype("<i2").tobytes()


def draw_scores(scores: Iterable[ScoreRow]) -> str:
    """The evaluation as a section; nothing without scores.

    >>> draw_scores([]), draw_scores([("similarity", "men", "spearman", 0.5, "–", 9, 10)]).count("<td")
    ('', 7)
    """
    rows = ["".join(map(draw_cell, range(len(row)), row)) for row in scores]
    if not rows:
        return ""
    names = ("task", "set", "measure", "value", "95 % interval", "used", "of")
    head = "".join(f"<th class='number'>{one}</th>" if k > 2 else f"<th>{one}</th>" for k, one in enumerate(names))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    region = 'class="card scores scroll" tabindex="0" role="region" aria-label="Evaluation"'
    return f"<h2>Evaluation</h2><div {region}>{table}</div>"


def draw_cell(column: int, cell: object) -> str:
    """A value of the table of scores. From the fourth column on there are numbers."""
    text = "–" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell)
    if isinstance(cell, int):
        text = f"{cell:,}"
    return f"<td class='number'>{escape(text)}</td>" if column > 2 else f"<td>{escape(text)}</td>"


def encode(data: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(data).decode()
