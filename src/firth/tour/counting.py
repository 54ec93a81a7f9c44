"""Steps of the tour on counts: tokens, frequencies, co-occurrence, and vectors from counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from rich.columns import Columns
from rich.text import Text

from firth.models.count_matrix import CountMatrix
from firth.models.counts import ENGLISH_STOP_WORDS, Counts
from firth.show import terminal
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.tour.materials import Materials, TourStep

OWN_PROBES = ("ice", "steam", "solid", "gas", "water", "fashion")
PERSIAN = "او كتاب‌ها را می‌خواند، و چای می‌نوشد."


def tokenize(materials: Materials) -> TourStep:
    """Splits text into tokens."""
    samples = ["Nobody can't be happy on such an evening, says Dr. Firth; it's 3.5 °C.", PERSIAN]
    tokenizers = [Tokenizer(), Tokenizer(normalizer=Normalizer.persian())]
    split = [tokenizer.words(sample) for tokenizer, sample in zip(tokenizers, samples)]
    picture = Text("\n").join(Text(" · ").join(Text(word, style="cyan") for word in words) for words in split)
    return TourStep(
        "Tokens",
        "Text in any script is split into tokens: contractions as in the Penn Treebank, Persian letters unified.",
        picture,
        f"firth tokens {materials.name}",
        {"tokens": split},
    )


def count_words(materials: Materials) -> TourStep:
    """Counts the words of the text."""
    token_ids = materials.corpus.tokens()
    words: Vocabulary = token_ids.vocabulary
    pairs = words.most_common(12)
    title = f"{len(token_ids):,} tokens, {len(words):,} words: a few are frequent, most are rare"
    return TourStep(
        "Counts",
        "The text is read once. The id of a word is its rank by frequency: the most frequent word has id 0.",
        terminal.bars(title, pairs, header=("word", "count")),
        f"firth vocab {materials.name} --fold-case",
        {"tokens": len(token_ids), "types": len(words), "words": pairs},
    )


def weight_by_tfidf(materials: Materials) -> TourStep:
    """Finds the words that distinguish a document from the others."""
    weights = cast(CountMatrix, Counts(kind="tf-idf", stop_words=ENGLISH_STOP_WORDS).fit(materials.corpus))
    matrix = weights.matrix.tocsr()
    shown = np.argsort(-matrix.getnnz(axis=1), kind="stable")[:3]
    tables, values = [], {}
    for document in sorted(shown.tolist()):
        row = matrix[[document]]
        order = np.argsort(-row.data, kind="stable")[:5]
        best = [(weights.columns[int(row.indices[i])], float(row.data[i])) for i in order]
        tables.append(terminal.bars(f"document {document + 1}", best, header=("word", "tf-idf"), width=8))
        values[str(document + 1)] = best
    return TourStep(
        "TF-IDF",
        "A word has a high weight in a document if it is frequent there and rare in the other documents.",
        Columns(tables, padding=(0, 3)),
        f"firth train counts {materials.name} --kind tf-idf --documents line --stop-words english --fold-case "
        "--out tfidf/",
        values,
    )


def count_cooccurrence(materials: Materials) -> TourStep:
    """Counts which words occur near each other."""
    words = list(materials.words[:8])
    ids = materials.counts.rows.ids(words)
    contexts = find_distinctive_contexts(materials, words)
    columns = materials.counts.columns.ids(contexts)
    block = np.asarray(materials.counts.matrix.tocsr()[ids][:, columns].todense())
    return TourStep(
        "Co-occurrence",
        "How often two words occur within five words of each other: you shall know a word by the company it keeps.",
        terminal.heat("", block, words, contexts),
        f"firth train counts {materials.name} --kind co-occurrence --window 5 --fold-case --out counts/",
        {"rows": words, "columns": contexts, "counts": block.tolist()},
    )


def find_distinctive_contexts(materials: Materials, words: Sequence[str], topn: int = 8) -> list[str]:
    """The content words that occur most often near these words."""
    stop = set(ENGLISH_STOP_WORDS)
    totals: dict[str, float] = {}
    for word in words:
        for context, count in materials.counts.top(word, 30):
            if context.isalpha() and context not in stop and context not in words:
                totals[context] = totals.get(context, 0.0) + float(count)
    return sorted(totals, key=lambda word: (-totals[word], word))[:topn]


def compare_ratios(materials: Materials) -> TourStep:
    """Compares two words by ratios of co-occurrence probabilities, as GloVe does."""
    first, second, *probes = OWN_PROBES
    if materials.paths:
        first, second = materials.words[:2]
        probes = find_distinctive_contexts(materials, [first, second], 4)
    table = materials.counts.ratio(first, second, probes)
    return TourStep(
        "Ratios",
        f"P(probe | {first}) / P(probe | {second}): far from 1 if the probe goes with one of them, near 1 otherwise.",
        table,
        f"firth ratio counts/ {first} {second} {' '.join(probes)}",
        table.as_dict(),
    )


def find_neighbors(materials: Materials) -> TourStep:
    """Makes vectors from counts by PPMI and SVD, and finds nearest neighbors."""
    words = [word for word in materials.words[:8:2] if word in materials.vectors]
    neighbors = {word: materials.vectors.most_similar(word, topn=4) for word in words}
    tables = [terminal.bars(word, near, header=("neighbor", "cosine"), width=8) for word, near in neighbors.items()]
    return TourStep(
        "PPMI and SVD",
        "Positive pointwise mutual information, then a truncated SVD: words with similar contexts get similar vectors.",
        Columns(tables, padding=(0, 3)),
        f"firth train counts {materials.name} --kind svd --dim {materials.vectors.dim} --window 2 --min-count 2 "
        f"--stop-words english --no-punctuation --fold-case --out vectors/ && "
        f"firth neighbors vectors/ {' '.join(words)}",
        neighbors,
    )


def draw_map(materials: Materials) -> TourStep:
    """Projects the vectors to two dimensions."""
    words = [word for word in materials.words if word in materials.vectors]
    rows = materials.vectors.unit[materials.vectors.vocabulary.ids(words)]
    centered = rows - rows.mean(axis=0)
    left, strength, _ = np.linalg.svd(centered, full_matrices=False)
    points = left[:, :2] * strength[:2]
    return TourStep(
        "A map",
        "The vectors of some words, projected to their first two principal components.",
        Text(terminal.scatter(words, points, width=70, height=14), style="cyan"),
        f"firth similarity vectors/ {' '.join(words[:4])}",
        {"words": words, "points": points.tolist()},
    )
