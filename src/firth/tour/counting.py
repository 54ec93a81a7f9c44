"""The first half of the tour: words are counted, and counts become vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.columns import Columns
from rich.text import Text

from firth.models.count_matrix import CountMatrix
from firth.models.counts import ENGLISH_STOP_WORDS, Counts
from firth.show import terminal
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.tour.materials import Materials, Step

OWN_PROBES = ("ice", "steam", "solid", "gas", "water", "fashion")
PERSIAN = "او كتاب‌ها را می‌خواند، و چای می‌نوشد."


def tokens(luggage: Materials) -> Step:
    """Words before meaning."""
    samples = ["Nobody can't be happy on such an evening, says Dr. Firth; it's 3.5 °C.", PERSIAN]
    tokenizers = [Tokenizer(), Tokenizer(normalizer=Normalizer.persian())]
    split = [tokenizer.words(sample) for tokenizer, sample in zip(tokenizers, samples)]
    picture = Text("\n").join(Text(" · ").join(Text(word, style="cyan") for word in words) for words in split)
    return Step(
        "Tokens",
        "Text in any script becomes words: contractions as in the Penn Treebank, half-spaces kept, letters unified.",
        picture,
        f"firth tokens {luggage.name}",
        {"tokens": split},
    )


def vocabulary(luggage: Materials) -> Step:
    """How often each word occurs."""
    found = luggage.corpus.tokens()
    words: Vocabulary = found.vocabulary
    pairs = words.most_common(12)
    title = f"{len(found):,} tokens, {len(words):,} words: a few are everywhere, most are rare"
    return Step(
        "Counts",
        "The text is read once; every word gets a number, the most frequent word number 0.",
        terminal.bars(title, pairs, header=("word", "count")),
        f"firth vocab {luggage.name} --fold-case",
        {"tokens": len(found), "types": len(words), "words": pairs},
    )


def tfidf(luggage: Materials) -> Step:
    """Words that tell one document from the others."""
    made = Counts(kind="tf-idf", stop_words=ENGLISH_STOP_WORDS).fit(luggage.corpus)
    if not isinstance(made, CountMatrix):
        raise TypeError(f"tf-idf made a {type(made).__name__}")
    matrix = made.matrix.tocsr()
    shown = np.argsort(-matrix.getnnz(axis=1), kind="stable")[:3]
    tables, values = [], {}
    for document in sorted(shown.tolist()):
        row = matrix[[document]]
        order = np.argsort(-row.data, kind="stable")[:5]
        best = [(made.columns[int(row.indices[i])], float(row.data[i])) for i in order]
        tables.append(terminal.bars(f"document {document + 1}", best, header=("word", "tf-idf"), width=8))
        values[str(document + 1)] = best
    return Step(
        "TF-IDF",
        "A word weighs more in a document where it is frequent, and less if it is in every document.",
        Columns(tables, padding=(0, 3)),
        f"firth train counts {luggage.name} --kind tf-idf --documents line --stop-words english --fold-case "
        "--out tfidf/",
        values,
    )


def company(luggage: Materials) -> Step:
    """Which words stand side by side."""
    words = list(luggage.words[:8])
    ids = luggage.counts.rows.ids(words)
    near = most_telling_contexts(luggage, words)
    columns = luggage.counts.columns.ids(near)
    block = np.asarray(luggage.counts.matrix.tocsr()[ids][:, columns].todense())
    return Step(
        "Co-occurrence",
        "How often two words stand within five words of each other: the company a word keeps.",
        terminal.heat("", block, words, near),
        f"firth train counts {luggage.name} --kind co-occurrence --window 5 --fold-case --out counts/",
        {"rows": words, "columns": near, "counts": block.tolist()},
    )


def most_telling_contexts(luggage: Materials, words: Sequence[str], topn: int = 8) -> list[str]:
    """The neighbors that most divide these words: frequent beside some of them, and not words of mere grammar."""
    stop = set(ENGLISH_STOP_WORDS)
    totals: dict[str, float] = {}
    for word in words:
        for context, count in luggage.counts.top(word, 30):
            if context.isalpha() and context not in stop and context not in words:
                totals[context] = totals.get(context, 0.0) + float(count)
    return sorted(totals, key=lambda word: (-totals[word], word))[:topn]


def ratios(luggage: Materials) -> Step:
    """GloVe's idea: the ratio of probabilities carries the meaning."""
    first, second, *probes = OWN_PROBES
    if luggage.paths:
        first, second = luggage.words[:2]
        probes = most_telling_contexts(luggage, [first, second], 4)
    table = luggage.counts.ratio(first, second, probes)
    return Step(
        "Ratios",
        f"A probe far above 1 goes with {first}, one far below 1 goes with {second}, one near 1 with both or neither.",
        table,
        f"firth ratio counts/ {first} {second} {' '.join(probes)}",
        table.as_dict(),
    )


def neighbors(luggage: Materials) -> Step:
    """Counts, weighed by surprise and pressed into a few dimensions, become vectors."""
    asked = [word for word in luggage.words[:8:2] if word in luggage.vectors]
    found = {word: luggage.vectors.most_similar(word, topn=4) for word in asked}
    tables = [terminal.bars(word, near, header=("neighbor", "cosine"), width=8) for word, near in found.items()]
    return Step(
        "PPMI and SVD",
        "Positive pointwise mutual information, then a truncated SVD: words with like company get like vectors.",
        Columns(tables, padding=(0, 3)),
        f"firth train counts {luggage.name} --kind svd --dim {luggage.vectors.dim} --window 2 --min-count 2 "
        f"--stop-words english --no-punctuation --fold-case --out vectors/ && "
        f"firth neighbors vectors/ {' '.join(asked)}",
        found,
    )


def word_map(luggage: Materials) -> Step:
    """The vectors, laid flat."""
    words = [word for word in luggage.words if word in luggage.vectors]
    rows = luggage.vectors.unit[luggage.vectors.vocabulary.ids(words)]
    centred = rows - rows.mean(axis=0)
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    points = left[:, :2] * strength[:2]
    return Step(
        "A map",
        "The two directions in which these words differ most.",
        Text(terminal.scatter(words, points, width=70, height=14), style="cyan"),
        f"firth similarity vectors/ {' '.join(words[:4])}",
        {"words": words, "points": points.tolist()},
    )
