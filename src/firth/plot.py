"""Pictures of models as figures of matplotlib: `firth.plot.map(vectors)`. A notebook shows a figure by itself.

`figure.savefig("map.svg")` writes it. Needs matplotlib: `pip install 'firth[notebook]'`. The interactive plots are
`vectors.map()` and `maps/notebook.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from firth.arguments import checked
from firth.errors import OptionError
from firth.explorer.answers.curves import TrainingCurves, collect, lines_of, read_curves
from firth.lazy import import_name
from firth.maps.analogies import RelationPlot, draw_parallelogram, find_relation
from firth.maps.cache import cached_map
from firth.maps.clusters import Clusters
from firth.maps.senses import LANGUAGES, SenseMap, example_sentences
from firth.show.chart_style import COLORS, SMALL, darken, new_figure
from firth.show.charts import LineChart, StackedBarChart, make_figure, plot_style
from firth.show.curves import INK, PALE
from firth.show.numbers import abbreviate
from firth.vectors.words import WordVectors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = 150  # most words that a map names
FEW = 200  # points that no label may cover
LETTER, LINE = 0.6, 1.25  # mean width of a letter and height of a line, in sizes of the type
Box = tuple[float, float, float, float]  # left, low, right, high

__all__ = ["analogy", "curves", "layer_weights", "map", "relation", "senses"]


@checked
def map(vectors: WordVectors, words: int = 2000, *, labels: int = LABELS, width: float = 8.0) -> Figure:
    """The map of the most frequent words: near words lie near each other. Colors are clusters.

    As many words as fit are written, the most frequent first, at most `labels`, without numbers and punctuation.
    `width` is in inches. The layout is that of `vectors.map()`, and is kept in the cache.

    >>> figure = map(WordVectors(["tea", "coffee", "rain", "snow"], [[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]]))
    >>> sorted(text.get_text() for text in figure.axes[0].texts if text.get_text())
    ['coffee', 'rain', 'snow', 'tea']
    """
    _need_matplotlib()
    unit = vectors.first_unit_rows(min(words, len(vectors)))
    if len(unit) < 3:
        raise OptionError(f"a map needs at least three words, but there are {len(unit)}")
    clusters, names = Clusters.of(unit), list(vectors.vocabulary[: len(unit)])
    positions = np.asarray(cached_map(unit).positions)
    with plot_style():
        figure, axes = new_figure(f"{len(unit):,} words", "", width, 0.75 * width)
        _plane(axes, positions)
        colors = [COLORS[label % len(COLORS)] for label in clusters.labels]
        axes.scatter(positions[:, 0], positions[:, 1], s=200 / len(unit) ** 0.5, c=colors, linewidths=0)
        shown = [row for row, name in enumerate(names) if any(letter.isalpha() for letter in name)]
        inks = [darken(colors[row]) for row in shown]
        _write_labels(figure, axes, positions[shown], [names[row] for row in shown], inks, labels)
    return figure


@checked
def analogy(vectors: WordVectors, a: str, b: str, c: str, *, answers: int = 3, width: float = 6.0) -> Figure:
    """a is to b as c is to what? The parallelogram of a, b, c and b − a + c in its own plane, and the answers.

    >>> words = WordVectors(["man", "king", "woman", "queen"], [[3, 0, 0], [3, 2, 0], [-3, 0.1, 1], [-3, 2, 1]])
    >>> figure = analogy(words, "man", "king", "woman", answers=1)
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    ['man', 'king', 'woman', 'queen', 'king − man + woman']
    """
    _need_matplotlib()
    found = [word for word, _ in vectors.analogy(a, b, c, answers)]
    data = draw_parallelogram(vectors, a, b, c, found, "answers")
    positions = np.asarray(data.layers[0])
    with plot_style():
        figure, axes = new_figure(f"{a} is to {b} as {c} is to {found[0] if found else '?'}", "", width, 0.75 * width)
        _plane(axes, positions, margin=0.15)
        for arrow in data.arrows:
            dashed = "--" if arrow.get("dashed") else "-"
            _draw_arrow(axes, positions[arrow["from"]], positions[arrow["to"]], COLORS[arrow["tone"]], dashed)
        kinds = np.asarray(data.fields[0].values)
        colors = [(INK, COLORS[1], PALE)[kind] for kind in kinds]
        axes.scatter(positions[:, 0], positions[:, 1], s=28, c=colors, edgecolors=INK, linewidths=0.6, zorder=3)
        _write_labels(
            figure, axes, positions, list(data.names or ()), [INK] * len(positions), len(positions), force=True
        )
    return figure


@checked
def relation(
    vectors: WordVectors, pairs: str | Sequence[tuple[str, str]], *, language: str = "en", width: float = 7.0
) -> Figure:
    """The pairs of a relation as arrows, which are parallel where the relation is one direction of the space.

    `pairs` is the name of a relation ("capitals", "gender", "tense", "plural", "comparative"), or pairs of words.

    >>> words = WordVectors(["man", "king", "woman", "queen"], [[3, 0, 0], [3, 2, 0], [-3, 0.1, 1], [-3, 2, 1]])
    >>> relation(words, [("man", "king"), ("woman", "queen")]).axes[0].get_title(loc="left")
    '2 pairs; mean cosine of the offsets 0.9...'
    """
    _need_matplotlib()
    chosen = find_relation(pairs, language) if isinstance(pairs, str) else [(first, second) for first, second in pairs]
    found = RelationPlot.of(vectors, chosen)
    count, positions = len(found.pairs), np.asarray(found.positions)
    title = f"{count} pairs; mean cosine of the offsets {found.parallel:.2f}"
    with plot_style():
        figure, axes = new_figure(f"{pairs}: {title}" if isinstance(pairs, str) else title, "", width, 0.75 * width)
        _plane(axes, positions, margin=0.12)
        for place in range(count):
            _draw_arrow(axes, positions[place], positions[place + count], PALE, "-")
        colors = np.repeat(COLORS[:2], count).tolist()
        axes.scatter(positions[:, 0], positions[:, 1], s=16, c=colors, zorder=3)
        names = [pair[side] for side in (0, 1) for pair in found.pairs]
        inks = [darken(color) for color in colors]
        _write_labels(figure, axes, positions, names, inks, len(names), force=True)
    return figure


@checked
def senses(
    bilm: Any,
    word: str,
    sentences: Sequence[str | Sequence[str]] | None = None,
    *,
    layers: Sequence[float] = (1.0, 1.0, 1.0),
    width: float = 8.0,
) -> Figure:
    """The occurrences of a word in sentences, each a point: the same word in other contexts has other vectors.

    Colors are senses, found by clustering; `layers` are the weights of the three layers of the biLM. Without sentences,
    the example sentences of the word are taken, if firth has some.
    """
    _need_matplotlib()
    if sentences is None:
        tables = [example_sentences(language) for language in LANGUAGES]
        sentences = [text for table in tables for _, text in table.get(word, ())]
        if not sentences:
            raise OptionError(f"there are no example sentences with {word!r}. Pass sentences that have it")
    if len(layers) != 3 or not sum(layers):
        raise OptionError(f"layers is {list(layers)}, but must be three weights, not all of them 0")
    found = SenseMap.of(bilm, sentences, [word])
    weights = np.asarray(layers, np.float64) / sum(layers)
    mixed = found.mixed((float(weights[0]), float(weights[1]), float(weights[2])), unit=True)
    positions = mixed @ found.axes((float(weights[0]), float(weights[1]), float(weights[2])))
    with plot_style():
        figure, axes = new_figure(f"{word}: {len(found)} occurrences", "", width, 0.65 * width)
        _plane(axes, positions, margin=0.18)
        for label, name in enumerate(found.names):
            rows = np.flatnonzero(found.labels == label)
            color = COLORS[label % len(COLORS)]
            axes.scatter(positions[rows, 0], positions[rows, 1], s=26, color=color, label=name)
        named = "words that the model predicts there" if found.predicted else "typical words around them"
        figure.legend(loc="outside lower left", ncols=2, frameon=False, title=f"senses, by {named}")
        inks = [darken(COLORS[label % len(COLORS)]) for label in found.labels]
        texts = [_shorten_context(one.words, one.position) for one in found.occurrences]
        _write_labels(figure, axes, positions, texts, inks, len(texts))
    return figure


@checked
def layer_weights(model: Any, *, title: str = "Weights of the layers of the biLM") -> Figure:
    """The shares of a biLM's layers in the mixes of a model: a task's model, an `ElmoEmbedding`, a `ScalarMix`.

    Several are passed as a table, such as `{"ner": ner, "sentiment": sentiment}`, also with shares as numbers.

    >>> layer_weights({"ner": [0.2, 0.5, 0.3], "qa": [0.4, 0.4, 0.2]}).axes[0].get_title(loc="left")
    'Weights of the layers of the biLM'
    """
    _need_matplotlib()
    rows = {}
    for name, one in (model if isinstance(model, Mapping) else {"": model}).items():
        for place, shares in _shares(one).items():
            rows[" ".join(filter(None, (str(name), place))) or "mix"] = shares
    sizes = {len(shares) for shares in rows.values()}
    if len(sizes) != 1:
        raise OptionError(f"the mixes have {', '.join(str(size) for size in sorted(sizes)) or 'no'} layers each")
    series = {f"layer {layer}": [shares[layer] for shares in rows.values()] for layer in range(sizes.pop())}
    return make_figure(StackedBarChart(title, tuple(rows), series))


def _shares(model: Any) -> dict[str, Sequence[float]]:
    """The shares of the layers in each mix of a model, by the name of the mix."""
    if hasattr(model, "shares"):
        return {"": [float(share) for share in model.shares.tolist()]}
    if hasattr(model, "mixes"):
        return {f"mix {number}": _shares(mix)[""] for number, mix in enumerate(model.mixes, 1)}
    if hasattr(model, "inputs"):
        found = dict(model.inputs.shares)
        if not found:
            raise OptionError("this model has no ELMo, and so no weights of layers")
        return found
    values = np.asarray(model, np.float64) if isinstance(model, (list, tuple, np.ndarray)) else np.empty((0, 0))
    if values.ndim != 1 or not len(values):
        raise OptionError(f"a {type(model).__name__} has no weights of layers. Use a task's model or a mix")
    return {"": values.tolist()}


@checked
def curves(training: Any, *, title: str = "") -> Figure:
    """The curves of a training: of a model, a folder with checkpoints, a log of JSON lines, or a shipped model.

    The upper chart has the loss or the perplexity in training and on held-out text, the lower one the scores on the
    dev set, where there are some.

    >>> figure = curves("word2vec-en")
    >>> figure.axes[0].get_xlabel(), len(figure.axes[0].lines[0].get_xdata())
    ('epoch', 5)
    """
    _need_matplotlib()
    found = _read_training(training)
    main = {name: points for name, points in found.curves.items() if name.endswith(("loss", "perplexity", "average"))}
    scores = {name: points for name, points in found.curves.items() if name.startswith("dev ") and name not in main}
    charts = [(kind, some) for kind, some in (("loss", main), ("score", scores)) if some]
    if not charts:
        problem = "this record of a training has neither a loss nor scores"
        raise OptionError(f"{problem}. A log that was written with --log or in a folder of checkpoints has them")
    if len(charts) == 1:
        return make_figure(LineChart(title or "Training", found.axis, charts[0][0], charts[0][1]))
    return _stack(title or "Training", found.axis, charts)


def _read_training(training: Any) -> TrainingCurves:
    if isinstance(training, (str, PathLike)):
        return read_curves(str(training))
    metadata = getattr(training, "metadata", None)
    if not isinstance(metadata, Mapping):
        raise OptionError(f"a {type(training).__name__} has no record of a training. Pass a model, a folder or a log")
    return collect(lines_of(metadata))


def _stack(title: str, axis: str, charts: Sequence[tuple[str, Mapping[str, Any]]]) -> Figure:
    """Charts of lines below each other, with one horizontal axis."""
    with plot_style():
        figure, first = new_figure(title, charts[0][0], 6.8, 5.6)
        first.remove()
        panels = figure.subplots(len(charts), 1, sharex=True)
        figure.suptitle(title, x=0.02, ha="left", fontsize=11, fontweight="bold")
        for axes, (label, lines) in zip(panels, charts):
            axes.spines[["top", "right", "left"]].set_visible(False)
            axes.tick_params(length=0)
            axes.grid(axis="y")
            axes.set_ylabel(label)
            for number, (name, points) in enumerate(lines.items()):
                xs, ys = zip(*points)
                size = 4.0 if len(points) <= 30 else 0.0
                axes.plot(xs, ys, color=COLORS[number % len(COLORS)], marker="o", markersize=size, label=name)
            axes.legend(frameon=False, fontsize=SMALL)
        panels[-1].set_xlabel(axis)
        panels[-1].xaxis.set_major_formatter(lambda value, _: abbreviate(round(value, 9), 6))
    return figure


def _need_matplotlib() -> None:
    import_name("matplotlib", "drawing figures", "notebook")


def _plane(axes: Axes, positions: NDArray[Any], margin: float = 0.03) -> None:
    """Axes without numbers around points."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    low, high = positions.min(axis=0), positions.max(axis=0)
    room = np.where(high > low, high - low, 1.0) * margin
    axes.set_xlim(low[0] - room[0], high[0] + room[0])
    axes.set_ylim(low[1] - room[1], high[1] + room[1])


def _draw_arrow(axes: Axes, start: NDArray[Any], end: NDArray[Any], color: str, dashes: str) -> None:
    look: Any = {"arrowstyle": "->", "color": color, "linewidth": 1.2, "linestyle": dashes, "shrinkA": 4, "shrinkB": 4}
    axes.annotate("", tuple(end), tuple(start), arrowprops=look)


def _write_labels(
    figure: Figure,
    axes: Axes,
    positions: NDArray[Any],
    names: Sequence[str],
    colors: Sequence[str],
    most: int,
    *,
    force: bool = False,
) -> None:
    """Writes the names of points, the first ones first, where they cover neither each other nor points nearby.

    A name is tried on the side away from the middle of the plot first, then on the other sides. With `force` it is
    written on the first side if none is free. A name that would leave the figure is moved inside.
    """
    figure.draw_without_rendering()
    pixel = figure.dpi / 72  # of a point of type
    places = axes.transData.transform(positions).tolist()
    middle = float(np.mean([y for _, y in places]))
    near = 2.5 * pixel
    taken = [(x - near, y - near, x + near, y + near) for x, y in places] if len(places) <= FEW else []
    written = 0
    for name, position, (x, y), color in zip(names, positions, places, colors):
        if written >= most:
            break
        wide, high = LETTER * SMALL * pixel * max(1, len(name)), LINE * SMALL * pixel
        up = high if y >= middle else -high
        shifts = [(0.0, up), (0.0, -up), ((wide + high) / 2, 0.0), (-(wide + high) / 2, 0.0)]
        most_left, most_right = wide / 2, max(wide / 2, figure.bbox.width - wide / 2)
        centers = [(min(max(x + across, most_left), most_right), y + over) for across, over in shifts]
        boxes = [(left - wide / 2, low - high / 2, left + wide / 2, low + high / 2) for left, low in centers]
        free = [number for number, box in enumerate(boxes) if _is_free(box, taken)]
        if not free and not force:
            continue
        chosen = free[0] if free else 0
        taken.append(boxes[chosen])
        written += 1
        across, over = (centers[chosen][0] - x) / pixel, (centers[chosen][1] - y) / pixel
        where: Any = {"xytext": (across, over), "textcoords": "offset points", "ha": "center", "va": "center"}
        text = axes.annotate(name, (float(position[0]), float(position[1])), color=color, fontsize=SMALL, **where)
        text.set_in_layout(False)  # a long name does not make the plot smaller


def _is_free(box: Box, taken: Sequence[Box]) -> bool:
    return all(box[2] <= one[0] or one[2] <= box[0] or box[3] <= one[1] or one[3] <= box[1] for one in taken)


def _shorten_context(words: Sequence[str], position: int, around: int = 2) -> str:
    """A word with the words around it.

    >>> _shorten_context("We sat on the river bank all day long".split(), 5)
    '… the river bank all day …'
    """
    first, last = max(0, position - around), min(len(words), position + around + 1)
    return ("… " if first else "") + " ".join(words[first:last]) + (" …" if last < len(words) else "")
