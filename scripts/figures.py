"""Draws the figures of the pages of the families and of notebooks in docs/images, from trainings of firth:

    python scripts/figures.py [name …]

Needs the extra `study`. All texts and models come with firth. The trainings run on one thread with a fixed seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import firth
from firth.maps.senses import SenseMap, example_sentences
from firth.show.chart_style import COLORS, SMALL, STYLE

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
ONE = firth.Runtime(threads=1)
DRINKS = ["hot tea with milk", "strong tea with sugar", "hot coffee with milk", "strong coffee with sugar"]
WEATHER = ["cold rain and wind", "cold snow and wind"]


def tour_corpus() -> firth.Corpus:
    """The text of `firth tour` in lower case."""
    tokenizer = firth.Tokenizer(normalizer=firth.Normalizer(fold_case=True))
    return firth.Corpus.of([files("firth").joinpath("tour.txt").read_text(encoding="utf-8")], tokenizer=tokenizer)


def panels(titles: Sequence[str], height: float = 3.2) -> tuple[Figure, Any]:
    """A figure with a panel for each title."""
    figure = Figure(figsize=(9.0, height), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(titles)))
    for one, title in zip(axes, titles):
        one.set_title(title, loc="left", fontsize=10, fontweight="bold")
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def name_points(axes: Any, points: Any, names: Sequence[str], color: str, marker: str = "o") -> None:
    """Points with their names."""
    axes.scatter(points[:, 0], points[:, 1], s=22, color=color, marker=marker)
    for name, (x, y) in zip(names, points):
        axes.annotate(name, (x, y), (5, 4), textcoords="offset points", fontsize=SMALL, va="top")


def in_plane(vectors: Any) -> Any:
    """Vectors on their two principal axes."""
    centered = vectors - vectors.mean(axis=0)
    return centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T


def draw_counts() -> Figure:
    """Counts, PPMI and SVD of the same six sentences."""
    corpus = firth.Corpus.of(DRINKS + WEATHER)
    words = ["tea", "coffee", "milk", "sugar", "hot", "strong", "rain", "snow", "wind", "cold"]
    figure, axes = panels(["co-occurrence counts", "positive PMI", "SVD of PPMI, two dimensions"], 3.4)
    for one, kind in zip(axes, ("co-occurrence", "ppmi")):
        matrix = firth.Counts(kind=kind, window=3).fit(corpus)
        cells = np.array([[matrix.value(word, context) for context in words] for word in words])
        one.imshow(cells, cmap="Blues", vmax=cells.max() * 1.3)
        for row, column in np.argwhere(cells > 0):
            ink = "white" if cells[row, column] > 0.7 * cells.max() else STYLE["text.color"]
            one.text(column, row, f"{cells[row, column]:.1f}", ha="center", va="center", fontsize=6, color=ink)
        one.set_xticks(range(len(words)), words, rotation=90)
        one.set_yticks(range(len(words)), words)
        one.tick_params(length=0)
    vectors = firth.Counts(kind="svd", dim=2, window=3).fit(corpus)
    axes[2].margins(0.3)
    places: dict[tuple[float, float], list[str]] = {}  # words with the same contexts share a point
    for word in words:
        x, y = (round(float(number), 2) + 0.0 for number in vectors[word])
        places.setdefault((x, y), []).append(word)
    name_points(axes[2], np.array(list(places)), ["\n".join(names) for names in places.values()], COLORS[0])
    return figure


def draw_ngrams() -> Figure:
    """Counts against continuation counts, and the next word after "strong", with and without smoothing."""
    corpus = tour_corpus()
    sentences = [["<s>", *sentence, "</s>"] for sentence in corpus.sentences()]
    counts = Counter(word for sentence in sentences for word in sentence[1:])
    pairs = Counter(pair for sentence in sentences for pair in pairwise(sentence))
    kinds = Counter(second for _, second in pairs)
    figure, axes = panels(["a word's count and what precedes it", "the next word after “strong”"])
    shown = [word for word in counts if word.isalpha()]
    points = np.array([(counts[word], kinds[word]) for word in shown], float)
    axes[0].plot([1, 80], [1, 80], color=STYLE["grid.color"], zorder=0)
    axes[0].scatter(points[:, 0], points[:, 1], s=10, color=COLORS[0])
    for word in ("the", "was", "cup", "king", "tea", "crown"):
        axes[0].annotate(word, (counts[word], kinds[word]), (4, -8), textcoords="offset points", fontsize=SMALL)
    axes[0].set(xscale="log", yscale="log", xlabel="occurrences", ylabel="different words before it")
    for axis in (axes[0].xaxis, axes[0].yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    model = firth.Ngram(order=2).fit(corpus)
    after = ["tea", "coffee", "wind", "the", "cocoa"]
    strong = sum(count for (first, _), count in pairs.items() if first == "strong")
    plain = [pairs["strong", word] / strong for word in after]
    smooth = [model.probability(word, ["strong"]) for word in after]
    places = np.arange(len(after))
    axes[1].bar(places - 0.2, plain, 0.38, color=COLORS[0], label="relative frequency")
    axes[1].bar(places + 0.2, smooth, 0.38, color=COLORS[1], label="Kneser-Ney")
    for place, value in zip(places, smooth):
        axes[1].annotate(
            f"{value:.2g}", (place + 0.2, value), (0, 2), textcoords="offset points", ha="center", fontsize=7
        )
    axes[1].set_xticks(places, after)
    axes[1].legend(frameon=False)
    return figure


def draw_word2vec() -> Figure:
    """The dot products of skip-gram with negative sampling against the logarithm that they approach."""
    recipe = firth.Word2Vec(
        dim=12, window=3, min_count=1, subsample=0, negatives=2, shared_negatives=0, dynamic_window=False,
        epochs=60, learning_rate=0.1, keep_outputs=True,
    )  # fmt: skip
    texts = DRINKS + WEATHER
    products, targets = [], []
    model: Any = recipe.fit([text.split() for text in texts] * 60, runtime=ONE)
    losses = model.metadata["loss"]
    words = model.vocabulary.words
    pairs = Counter(pair for text in texts for pair in recipe.examples(text.split()))
    rows = Counter(word for word, _ in pairs.elements())
    noise = np.array(model.vocabulary.counts, float) ** 0.75
    noise /= noise.sum()
    for (word, context), count in pairs.items():
        context_id = words.index(context)
        products.append(float(model[word] @ model.outputs[context_id]))
        targets.append(np.log(count / (recipe.negatives * noise[context_id] * (rows[word] - count))))
    figure, axes = panels(["the loss falls", "a dot product approaches a logarithm of counts"])
    axes[0].plot(range(1, len(losses) + 1), losses, color=COLORS[0])
    axes[0].set(xlabel="epoch", ylabel="loss of a prediction")
    ends = [min(targets), max(targets)]
    axes[1].plot(ends, ends, color=STYLE["grid.color"], zorder=0)
    axes[1].scatter(targets, products, s=14, color=COLORS[1])
    axes[1].set(xlabel="log #(w, c) / (k · P(c) · (#(w) − #(w, c)))", ylabel="x · y after training")
    return figure


def draw_glove() -> Figure:
    """The weight of a cell, and what the model says of each cell against the logarithm of its count."""
    corpus = tour_corpus()
    counts = firth.Counts(kind="co-occurrence", window=5, weighting="harmonic").fit(corpus)
    recipe = firth.Glove(dim=30, window=5, min_count=1, x_max=5.0, epochs=60)
    state = recipe.fit_state(corpus, runtime=ONE)
    every = state.parameters
    cells = counts.matrix.tocoo()
    ids = [state.vocabulary.id(word) for word in counts.vocabulary.words]
    rows, columns = np.array(ids)[cells.row], np.array(ids)[cells.col]
    products = (every.words[rows, :-1] * every.contexts[columns, :-1]).sum(axis=1)
    fitted = products + every.words[rows, -1] + every.contexts[columns, -1]  # the last number of a row is the bias
    figure, axes = panels(["the weight of a count", "every cell of the matrix after training"])
    counts_shown = np.linspace(0.01, 10, 200)
    axes[0].plot(counts_shown, np.minimum(1, (counts_shown / recipe.x_max) ** recipe.alpha), color=COLORS[0])
    axes[0].set(xlabel="X, with x_max = 5", ylabel="f(X)")
    logs = np.log(cells.data)
    axes[1].plot([logs.min(), logs.max()], [logs.min(), logs.max()], color=STYLE["axes.edgecolor"], zorder=0)
    axes[1].scatter(logs[::4], fitted[::4], s=4, color=COLORS[1], alpha=0.4, rasterized=True)
    axes[1].set(xlabel="log X", ylabel="w · w̃ + b + b̃")
    return figure


def draw_fasttext() -> Figure:
    """What each n-gram adds to the vector of a word that the model has not seen."""
    vectors: Any = firth.load("fasttext-en")
    figure, axes = panels([f"shares of “{word}”" for word in ("footballing", "rebuilders")], 3.4)
    for one, word in zip(axes, ("footballing", "rebuilders")):
        best = sorted(vectors.explain(word), key=lambda share: -share.share)[:10][::-1]
        one.barh(range(len(best)), [share.share for share in best], color=COLORS[0])
        one.set_yticks(range(len(best)), [share.ngram for share in best])
        one.set_xlabel("neighbors: " + ", ".join(name for name, _ in vectors.most_similar(word, topn=4)))
    return figure


def draw_doc2vec() -> Figure:
    """Documents of two topics in the plane, and new documents among them."""
    tea = ["she put the kettle on the stove", "hot tea with milk and sugar", "the cup of tea is hot"]
    rain = ["the wind drives the rain", "a cloud brings rain and wind", "the storm is over the hill"]
    recipe = firth.Doc2Vec(architecture="pv-dbow", dim=20, min_count=1, epochs=60, subsample=0)
    model = recipe.fit((tea + rain) * 30, runtime=ONE)
    new = ["milk and sugar", "a storm and wind"]
    plane = in_plane(np.concatenate([model.documents.matrix, model.infer(new)]))
    topic = np.arange(180) % 6 < 3
    figure, axes = panels(["180 documents of two topics, and two new ones"], 3.6)
    axes[0].scatter(*plane[:180][topic].T, s=12, color=COLORS[0], label="kettle, tea, milk")
    axes[0].scatter(*plane[:180][~topic].T, s=12, color=COLORS[1], label="wind, rain, storm")
    name_points(axes[0], plane[180:], new, COLORS[3], "*")
    axes[0].legend(frameon=False)
    return figure


def draw_classifier() -> Figure:
    """A classifier of two dimensions: words, and the line where both labels have probability ½."""
    lines = ["__label__drink hot tea with milk", "cold milk please __label__drink",
             "__label__sky rain and wind", "the hot sun __label__sky"] * 50  # fmt: skip
    corpus = firth.Corpus.of(lines, tokenizer=firth.Tokenizer(mode="whitespace"))
    model: Any = firth.FastTextClassifier(dim=2, learning_rate=0.5).fit(corpus, runtime=ONE)
    words = [word for word in model.words if word != "</s>"]
    points = np.stack([model.get_word_vector(word) for word in words])
    figure, axes = panels(["words of a classifier with two dimensions"], 3.6)
    drink, sky = model.get_output_matrix()[[model.labels.index("__label__drink"), model.labels.index("__label__sky")]]
    normal = drink - sky
    reach = np.abs(points).max() * 1.2
    direction = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal) * reach
    axes[0].plot([-direction[0], direction[0]], [-direction[1], direction[1]], color=COLORS[3], linestyle="--")
    axes[0].annotate("P(drink) = P(sky) = ½", direction * 0.9, (6, 0), textcoords="offset points", fontsize=SMALL)
    is_drink = points @ normal > 0
    for side, color in ((is_drink, COLORS[0]), (~is_drink, COLORS[1])):
        name_points(axes[0], points[side], [word for word, here in zip(words, side) if here], color)
    axes[0].set_aspect("equal")
    return figure


def draw_elmo() -> Figure:
    """Each occurrence of "bank" in the plane, in each layer."""
    pairs = example_sentences("en")["bank"]
    senses = sorted({sense for sense, _ in pairs})
    found = SenseMap.of(firth.load("elmo-en"), [sentence for _, sentence in pairs], ["bank"])
    labels = [pairs[one.sentence][0] for one in found.occurrences]
    figure, axes = panels(["layer 0: characters", "layer 1", "layer 2"], 3.2)
    for layer, one in enumerate(axes):
        plane = in_plane(found.vectors[layer])
        for sense, color in zip(senses, COLORS):
            here = np.array([label == sense for label in labels])
            one.scatter(*plane[here].T, s=20, color=color, label=sense)
        one.set(xticks=[], yticks=[])
    axes[0].set(xlim=(-1, 1), ylim=(-1, 1))
    axes[2].legend(frameon=False, fontsize=SMALL)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "counts": draw_counts,
    "ngrams": draw_ngrams,
    "word2vec": draw_word2vec,
    "glove": draw_glove,
    "fasttext": draw_fasttext,
    "doc2vec": draw_doc2vec,
    "classifier": draw_classifier,
    "elmo": draw_elmo,
}
PLOTS: dict[str, Callable[[], Figure]] = {  # of the page about notebooks
    "plot-analogy": lambda: firth.plot.analogy(firth.load("word2vec-en"), "man", "king", "woman"),
    "plot-senses": lambda: firth.plot.senses(firth.load("elmo-en"), "bank"),
    "plot-curves": lambda: firth.plot.curves(firth.load("ner")),
}


def draw(name: str, folder: Path) -> Path:
    """Draws the figure of a page as SVG."""
    path = folder / f"{name}.svg"
    style: Any = {**matplotlib.rcParamsDefault, **STYLE}
    with matplotlib.rc_context(style):
        (FIGURES | PLOTS)[name]().savefig(path, format="svg", dpi=120, metadata={"Date": None})
    return path


def main(names: list[str]) -> None:
    """Draws the figures of these names, or all."""
    for name in names or FIGURES | PLOTS:
        path = draw(name, FOLDER)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
