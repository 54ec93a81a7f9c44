"""The second half of the tour: what is learnt by predicting words, and the files that hold it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from rich.columns import Columns
from rich.console import Group
from rich.text import Text

from firth.formats.registry import load, save
from firth.models.counts import ENGLISH_STOP_WORDS
from firth.models.glove import Glove
from firth.models.word2vec import Word2Vec
from firth.options import Recipe
from firth.show import terminal
from firth.tour.materials import Materials, Step
from firth.vectors.words import WordVectors

OWN_ANALOGIES: tuple[tuple[str, str, str], ...] = (("man", "king", "woman"), ("mother", "tea", "father"))
OWN_SENTENCES = ("strong tea", "powerful tea", "strong engine", "powerful engine")


def trained(luggage: Materials) -> Step:
    """The three families that predict, on the same words."""
    recipes: dict[str, Recipe] = {
        "word2vec": Word2Vec(dim=30, epochs=60, min_count=2, window=3, subsample=0.0),
        "glove": Glove(dim=30, epochs=60, min_count=2, window=3),
        "fasttext": luggage.fasttext_recipe,
    }
    asked = [word for word in luggage.words[:8:2] if word in luggage.vectors]
    rows, values = [], {}
    for name, recipe in recipes.items():
        begin = time.perf_counter()
        vectors = luggage.fasttext if name == "fasttext" else recipe.fit(luggage.corpus)  # type: ignore[attr-defined]
        seconds = time.perf_counter() - begin
        near = {word: meaningful_neighbor(vectors, word) for word in asked if word in vectors.vocabulary}
        rows.append((name, f"{seconds:.1f} s", *(near.get(word, "–") for word in asked)))
        values[name] = near
    return Step(
        "Trained vectors",
        "word2vec, GloVe and fastText on the same text; each column the nearest word. So small a text teaches little.",
        terminal.table("", ["family", "trained in", *asked], rows),
        f"firth train word2vec {luggage.name} --dim 30 --epochs 60 --min-count 2 --window 3 --subsample 0 --fold-case "
        "--out word2vec/",
        values,
    )


def meaningful_neighbor(vectors: WordVectors, word: str) -> str:
    """The nearest word that is more than grammar."""
    near = vectors.most_similar(word, topn=1, allowed=lambda other: other.isalpha() and other not in ENGLISH_STOP_WORDS)
    return near[0][0] if near else "–"


def analogies(luggage: Materials) -> Step:
    """What is to one word as another is to a third?"""
    questions = OWN_ANALOGIES
    if luggage.paths:
        first, second, third, *_ = luggage.words
        questions = ((first, second, third),)
    found = {(a, b, c): luggage.fasttext.analogy(a, b, c, topn=3) for a, b, c in questions}
    tables = [
        terminal.bars(f"{a} : {b} = {c} : ?", near, header=("answer", "cosine"), width=8)
        for (a, b, c), near in found.items()
    ]
    return Step(
        "Analogies",
        "The step from one word to another, taken from a third: vectors can be added.",
        Columns(tables, padding=(0, 3)),
        f"firth analogy model.bin {' '.join(questions[0])}",
        {" ".join(question): near for question, near in found.items()},
    )


def unseen(luggage: Materials) -> Step:
    """A word that the text never had gets a vector from its pieces."""
    known = luggage.fasttext.vocabulary
    word = next(made for base in luggage.words for made in (base + "like", base + "ish") if made not in known)
    near = luggage.fasttext.most_similar(word, topn=5, allowed=lambda other: other.isalpha() and len(other) > 2)
    shares = [(share.ngram, share.share) for share in luggage.fasttext.explain(word)][:5]
    tables = [
        terminal.bars(f"near {word}", near, header=("neighbor", "cosine"), width=8),
        terminal.bars(f"pieces of {word}", shares, header=("piece", "share"), width=8),
    ]
    return Step(
        "An unseen word",
        f"The text has no {word!r}, but fastText has its pieces.",
        Columns(tables, padding=(0, 3)),
        f"firth train fasttext {luggage.name} --dim 30 --epochs 60 --min-count 2 --buckets 20000 --subsample 0 "
        f"--fold-case --out model.bin && firth neighbors model.bin {word} && firth explain model.bin {word}",
        {"word": word, "neighbors": near, "pieces": shares},
    )


def sentences(luggage: Materials) -> Step:
    """Which words may follow which."""
    asked: Sequence[str] = OWN_SENTENCES
    if luggage.paths:
        known = [" ".join(sentence[:8]) for sentence, _ in zip(luggage.corpus.sentences(), range(2))]
        asked = [*known, *(" ".join(reversed(sentence.split())) for sentence in known)]
    scored = sorted(((text, luggage.ngrams.score(text.split())) for text in asked), key=lambda pair: -pair[1].per_word)
    table = terminal.bars(
        "", [(text, one.per_word) for text, one in scored], header=("sentence", "probability per word")
    )
    start = [luggage.words[0]] if luggage.paths else ["my", "mother"]
    sampled = " ".join([*start, *luggage.ngrams.sample(start, length=20, seed=5)])
    quoted = " ".join(f'"{text}"' for text in asked[:2])
    return Step(
        "An n-gram language model",
        "Three words at a time, smoothed after Kneser and Ney: likely sentences, and new ones.",
        Group(table, Text(f"sampled: {sampled}", style="italic")),
        f"firth train ngram {luggage.name} --order 3 --fold-case --out model.arpa && firth score model.arpa {quoted}",
        {"scores": {text: one.per_word for text, one in scored}, "sampled": sampled},
    )


def formats(luggage: Materials) -> Step:
    """Every classic file, there and back."""
    rows = []
    for format, name in [("word2vec", "v.txt"), ("word2vec-binary", "v.bin"), ("glove", "glove.txt"), ("native", "v")]:
        path = luggage.folder / name
        save(luggage.vectors, path, format=format)
        size = sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]))
        begin = time.perf_counter()
        again = load(path)
        milliseconds = 1000 * (time.perf_counter() - begin)
        same = bool(np.array_equal(again.matrix, luggage.vectors.matrix))
        rows.append((format, size, milliseconds, "every bit" if same else "changed"))
    return Step(
        "Files",
        "Written in four formats and opened again, without being told which is which.",
        terminal.table("", ["format", "bytes", "ms to open", "kept"], rows),
        "firth convert vectors/ vectors.bin --format word2vec-binary && firth info vectors.bin",
        {"formats": [{"format": row[0], "bytes": row[1], "kept": row[3] == "every bit"} for row in rows]},
    )
