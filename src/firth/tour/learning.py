"""Steps of the tour on trained models: word vectors, n-gram models, and file formats."""

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
from firth.tour.materials import Materials, TourStep
from firth.vectors.words import WordVectors

OWN_ANALOGIES: tuple[tuple[str, str, str], ...] = (("man", "king", "woman"), ("mother", "tea", "father"))
OWN_SENTENCES = ("strong tea", "powerful tea", "strong engine", "powerful engine")


def train_vectors(materials: Materials) -> TourStep:
    """Trains word2vec, GloVe and fastText on the same text."""
    recipes: dict[str, Recipe] = {
        "word2vec": Word2Vec(dim=30, epochs=60, min_count=2, window=3, subsample=0.0),
        "glove": Glove(dim=30, epochs=60, min_count=2, window=3),
        "fasttext": materials.fasttext_recipe,
    }
    words = [word for word in materials.words[:8:2] if word in materials.vectors]
    rows, values = [], {}
    for name, recipe in recipes.items():
        begin = time.perf_counter()
        vectors = materials.fasttext if name == "fasttext" else recipe.fit(materials.corpus)  # type: ignore[attr-defined]
        seconds = time.perf_counter() - begin
        near = {word: nearest_content_word(vectors, word) for word in words if word in vectors.vocabulary}
        rows.append((name, f"{seconds:.1f} s", *(near.get(word, "–") for word in words)))
        values[name] = near
    return TourStep(
        "Trained vectors",
        "Nearest neighbors in word2vec, GloVe and fastText vectors that were trained on this very small text.",
        terminal.table("", ["family", "trained in", *words], rows),
        f"firth train word2vec {materials.name} --dim 30 --epochs 60 --min-count 2 --window 3 --subsample 0 "
        "--fold-case --out word2vec/",
        values,
    )


def nearest_content_word(vectors: WordVectors, word: str) -> str:
    """The nearest neighbor that is not a stop word."""
    near = vectors.most_similar(word, topn=1, allowed=lambda other: other.isalpha() and other not in ENGLISH_STOP_WORDS)
    return near[0][0] if near else "–"


def solve_analogies(materials: Materials) -> TourStep:
    """Completes analogies with fastText vectors."""
    questions = OWN_ANALOGIES
    if materials.paths:
        first, second, third, *_ = materials.words
        questions = ((first, second, third),)
    answers = {(a, b, c): materials.fasttext.analogy(a, b, c, topn=3) for a, b, c in questions}
    tables = [
        terminal.bars(f"{a} : {b} = {c} : ?", near, header=("answer", "cosine"), width=8)
        for (a, b, c), near in answers.items()
    ]
    return TourStep(
        "Analogies",
        "The difference between two vectors, added to a third one, points to the answer.",
        Columns(tables, padding=(0, 3)),
        f"firth analogy model.bin {' '.join(questions[0])}",
        {" ".join(question): near for question, near in answers.items()},
    )


def embed_unseen_word(materials: Materials) -> TourStep:
    """Makes the vector of an unseen word from its character n-grams."""
    known = materials.fasttext.vocabulary
    word = next(form for base in materials.words for form in (base + "like", base + "ish") if form not in known)
    near = materials.fasttext.most_similar(word, topn=5, allowed=lambda other: other.isalpha() and len(other) > 2)
    shares = [(share.ngram, share.share) for share in materials.fasttext.explain(word)][:5]
    tables = [
        terminal.bars(f"near {word}", near, header=("neighbor", "cosine"), width=8),
        terminal.bars(f"n-grams of {word}", shares, header=("n-gram", "share"), width=8),
    ]
    return TourStep(
        "An unseen word",
        f"The text does not contain {word!r}, but fastText knows its character n-grams.",
        Columns(tables, padding=(0, 3)),
        f"firth train fasttext {materials.name} --dim 30 --epochs 60 --min-count 2 --buckets 20000 --subsample 0 "
        f"--fold-case --out model.bin && firth neighbors model.bin {word} && firth explain model.bin {word}",
        {"word": word, "neighbors": near, "pieces": shares},
    )


def score_sentences(materials: Materials) -> TourStep:
    """Scores sentences with an n-gram model, and samples one."""
    texts: Sequence[str] = OWN_SENTENCES
    if materials.paths:
        known = [" ".join(sentence[:8]) for sentence, _ in zip(materials.corpus.sentences(), range(2))]
        texts = [*known, *(" ".join(reversed(sentence.split())) for sentence in known)]
    scored = sorted(
        ((text, materials.ngrams.score(text.split())) for text in texts), key=lambda pair: -pair[1].per_word
    )
    table = terminal.bars(
        "", [(text, one.per_word) for text, one in scored], header=("sentence", "probability per word")
    )
    start = [materials.words[0]] if materials.paths else ["my", "mother"]
    sampled = " ".join([*start, *materials.ngrams.sample(start, length=20, seed=5)])
    quoted = " ".join(f'"{text}"' for text in texts[:2])
    return TourStep(
        "An n-gram language model",
        "A trigram model with modified Kneser-Ney smoothing scores sentences and generates new ones.",
        Group(table, Text(f"sampled: {sampled}", style="italic")),
        f"firth train ngram {materials.name} --order 3 --fold-case --out model.arpa && firth score model.arpa {quoted}",
        {"scores": {text: one.per_word for text, one in scored}, "sampled": sampled},
    )


def convert_formats(materials: Materials) -> TourStep:
    """Writes vectors in several formats and reads them back."""
    rows = []
    for format, name in [("word2vec", "v.txt"), ("word2vec-binary", "v.bin"), ("glove", "glove.txt"), ("native", "v")]:
        path = materials.folder / name
        save(materials.vectors, path, format=format)
        size = sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]))
        load(path)  # the first time, kernels are compiled
        begin = time.perf_counter()
        loaded = load(path)
        microseconds = round(1e6 * (time.perf_counter() - begin))
        same = bool(np.array_equal(loaded.matrix, materials.vectors.matrix))
        rows.append((format, size, microseconds, "every bit" if same else "changed"))
    return TourStep(
        "Files",
        "The same vectors in four formats. firth recognizes the format of a file by its content.",
        terminal.table("", ["format", "bytes", "µs to open", "kept"], rows),
        "firth convert vectors/ vectors.bin --format word2vec-binary && firth info vectors.bin",
        {"formats": [{"format": row[0], "bytes": row[1], "kept": row[3] == "every bit"} for row in rows]},
    )
