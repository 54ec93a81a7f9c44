"""`firth tour`: a walk through what firth does, each step one picture and the one command that makes it.

A step is a function from the traveller's things (the text, its corpus) to a `Step`; `STEPS` is the walk. A new
capability adds its function there.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from firth import show
from firth.bulk.embedder import embedder
from firth.errors import OptionError
from firth.formats.catalogue import load, save
from firth.models.count_matrix import CountMatrix
from firth.models.counts import ENGLISH_STOP_WORDS, Counts
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.models.word2vec import Word2Vec
from firth.neighbours import cosine
from firth.occurrences import marked_word
from firth.options import Recipe
from firth.show import Bar
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors import SubwordVectors, WordVectors

OWN = "tour.txt"
OWN_WORDS = ("tea", "coffee", "king", "queen", "dog", "cat", "boat", "ferry", "rain", "snow", "bread", "fish")
OWN_PROBES = ("ice", "steam", "solid", "gas", "water", "fashion")
OWN_ANALOGIES: tuple[tuple[str, str, str], ...] = (("man", "king", "woman"), ("mother", "tea", "father"))
OWN_SENTENCES = ("strong tea", "powerful tea", "strong engine", "powerful engine")
ELMO = "elmo-en"
# One meaning twice and another once: the first is compared with the others.
CONTEXTS = (
    "We sat on the [bank] of the river and watched the water .",
    "The boat came to rest against the muddy [bank] .",
    "The central [bank] lowered its interest rates .",
)
DRINKS = (
    "She made strong tea for the guests .",
    "She made powerful tea for the guests .",
)
BEGUN = "The river"
PERSIAN = "او كتاب‌ها را می‌خواند، و چای می‌نوشد."


@dataclass(frozen=True)
class Step:
    """One stop of the walk: what it shows, in a sentence, a picture, a command and plain values."""

    title: str
    sentence: str
    picture: RenderableType
    command: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Luggage:
    """What the steps share: the text, and what has been made of it so far."""

    paths: tuple[str, ...]
    folder: Path
    elmo: str | None = None

    @property
    def name(self) -> str:
        """The text as the commands of the tour name it."""
        return " ".join(self.paths) or os.path.relpath(str(files("firth").joinpath(OWN)))

    @cached_property
    def corpus(self) -> Corpus:
        """Every line a document, words in small letters."""
        tokenizer = Tokenizer(normalizer=Normalizer(fold_case=True))
        if self.paths:
            return Corpus(self.paths, tokenizer=tokenizer, documents="line")
        return Corpus.of([line for line in own_text().splitlines() if line], tokenizer=tokenizer)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Twelve words worth looking at: ours, or the most frequent of the user's text that carry meaning."""
        if not self.paths:
            return OWN_WORDS
        stop = set(ENGLISH_STOP_WORDS)
        frequent = self.corpus.vocabulary[:2000]
        chosen = [word for word in frequent if len(word) > 2 and word.isalpha() and word not in stop][:12]
        if len(chosen) < 3:
            raise OptionError(f"{self.name}: too little text for a tour. Give a text of some hundred words or more")
        return tuple(chosen)

    @cached_property
    def contextual(self) -> tuple[str, Any] | None:
        """A contextual model and its name: the one given, else the one that comes with firth; None without torch."""
        if find_spec("torch") is None:
            return None
        name = ELMO if self.elmo is None else self.elmo
        return name, load(name)

    @cached_property
    def counts(self) -> CountMatrix:
        made = Counts(kind="co-occurrence", window=5, weighting="flat").fit(self.corpus)
        if not isinstance(made, CountMatrix):
            raise TypeError(f"co-occurrence made a {type(made).__name__}")
        return made

    @cached_property
    def vectors(self) -> WordVectors:
        frequent = self.corpus.vocabulary.cut(2)
        meaningful = [word for word in frequent if word.isalpha() and word not in ENGLISH_STOP_WORDS]
        dim = min(40, len(meaningful))
        recipe = Counts(kind="svd", window=2, dim=dim, min_count=2, stop_words="english", punctuation=False, seed=1)
        made = recipe.fit(self.corpus)
        if not isinstance(made, WordVectors):
            raise TypeError(f"svd made a {type(made).__name__}")
        return made

    @property
    def fasttext_recipe(self) -> FastText:
        return FastText(dim=30, epochs=60, min_count=2, buckets=20_000, subsample=0.0)

    @cached_property
    def fasttext(self) -> SubwordVectors:
        return self.fasttext_recipe.fit(self.corpus)

    @cached_property
    def ngrams(self) -> NgramModel:
        return Ngram(order=3).fit(self.corpus)


def own_text() -> str:
    """The small text that firth brings along."""
    return files("firth").joinpath(OWN).read_text(encoding="utf-8")


def tokens(luggage: Luggage) -> Step:
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


def vocabulary(luggage: Luggage) -> Step:
    """How often each word occurs."""
    found = luggage.corpus.tokens()
    words: Vocabulary = found.vocabulary
    pairs = words.most_common(12)
    title = f"{len(found):,} tokens, {len(words):,} words: a few are everywhere, most are rare"
    return Step(
        "Counts",
        "The text is read once; every word gets a number, the most frequent word number 0.",
        show.bars(title, pairs, header=("word", "count")),
        f"firth vocab {luggage.name} --fold-case",
        {"tokens": len(found), "types": len(words), "words": pairs},
    )


def tfidf(luggage: Luggage) -> Step:
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
        tables.append(show.bars(f"document {document + 1}", best, header=("word", "tf-idf"), width=8))
        values[str(document + 1)] = best
    return Step(
        "TF-IDF",
        "A word weighs more in a document where it is frequent, and less if it is in every document.",
        Columns(tables, padding=(0, 3)),
        f"firth train counts {luggage.name} --kind tf-idf --documents line --stop-words english --fold-case "
        "--out tfidf/",
        values,
    )


def company(luggage: Luggage) -> Step:
    """Which words stand side by side."""
    words = list(luggage.words[:8])
    ids = luggage.counts.rows.ids(words)
    near = most_telling_contexts(luggage, words)
    columns = luggage.counts.columns.ids(near)
    block = np.asarray(luggage.counts.matrix.tocsr()[ids][:, columns].todense())
    return Step(
        "Co-occurrence",
        "How often two words stand within five words of each other: the company a word keeps.",
        show.heat("", block, words, near),
        f"firth train counts {luggage.name} --kind co-occurrence --window 5 --fold-case --out counts/",
        {"rows": words, "columns": near, "counts": block.tolist()},
    )


def most_telling_contexts(luggage: Luggage, words: Sequence[str], topn: int = 8) -> list[str]:
    """The neighbours that most divide these words: frequent beside some of them, and not words of mere grammar."""
    stop = set(ENGLISH_STOP_WORDS)
    totals: dict[str, float] = {}
    for word in words:
        for context, count in luggage.counts.top(word, 30):
            if context.isalpha() and context not in stop and context not in words:
                totals[context] = totals.get(context, 0.0) + float(count)
    return sorted(totals, key=lambda word: (-totals[word], word))[:topn]


def ratios(luggage: Luggage) -> Step:
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


def neighbours(luggage: Luggage) -> Step:
    """Counts, weighed by surprise and pressed into a few dimensions, become vectors."""
    asked = [word for word in luggage.words[:8:2] if word in luggage.vectors]
    found = {word: luggage.vectors.most_similar(word, topn=4) for word in asked}
    tables = [show.bars(word, near, header=("neighbour", "cosine"), width=8) for word, near in found.items()]
    return Step(
        "PPMI and SVD",
        "Positive pointwise mutual information, then a truncated SVD: words with like company get like vectors.",
        Columns(tables, padding=(0, 3)),
        f"firth train counts {luggage.name} --kind svd --dim {luggage.vectors.dim} --window 2 --min-count 2 "
        f"--stop-words english --no-punctuation --fold-case --out vectors/ && "
        f"firth neighbors vectors/ {' '.join(asked)}",
        found,
    )


def word_map(luggage: Luggage) -> Step:
    """The vectors, laid flat."""
    words = [word for word in luggage.words if word in luggage.vectors]
    rows = luggage.vectors.unit[luggage.vectors.vocabulary.ids(words)]
    centred = rows - rows.mean(axis=0)
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    points = left[:, :2] * strength[:2]
    return Step(
        "A map",
        "The two directions in which these words differ most.",
        Text(show.scatter(words, points, width=70, height=14), style="cyan"),
        f"firth similarity vectors/ {' '.join(words[:4])}",
        {"words": words, "points": points.tolist()},
    )


def sentences(luggage: Luggage) -> Step:
    """Which words may follow which."""
    asked: Sequence[str] = OWN_SENTENCES
    if luggage.paths:
        known = [" ".join(sentence[:8]) for sentence, _ in zip(luggage.corpus.sentences(), range(2))]
        asked = [*known, *(" ".join(reversed(sentence.split())) for sentence in known)]
    scored = sorted(((text, luggage.ngrams.score(text.split())) for text in asked), key=lambda pair: -pair[1].per_word)
    table = show.bars("", [(text, one.per_word) for text, one in scored], header=("sentence", "probability per word"))
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


def trained(luggage: Luggage) -> Step:
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
        near = {word: meaningful_neighbour(vectors, word) for word in asked if word in vectors.vocabulary}
        rows.append((name, f"{seconds:.1f} s", *(near.get(word, "–") for word in asked)))
        values[name] = near
    return Step(
        "Trained vectors",
        "word2vec, GloVe and fastText on the same text; each column the nearest word. So small a text teaches little.",
        show.table("", ["family", "trained in", *asked], rows),
        f"firth train word2vec {luggage.name} --dim 30 --epochs 60 --min-count 2 --window 3 --subsample 0 --fold-case "
        "--out word2vec/",
        values,
    )


def meaningful_neighbour(vectors: WordVectors, word: str) -> str:
    """The nearest word that is more than grammar."""
    near = vectors.most_similar(word, topn=1, allowed=lambda other: other.isalpha() and other not in ENGLISH_STOP_WORDS)
    return near[0][0] if near else "–"


def analogies(luggage: Luggage) -> Step:
    """What is to one word as another is to a third?"""
    questions = OWN_ANALOGIES
    if luggage.paths:
        first, second, third, *_ = luggage.words
        questions = ((first, second, third),)
    found = {(a, b, c): luggage.fasttext.analogy(a, b, c, topn=3) for a, b, c in questions}
    tables = [
        show.bars(f"{a} : {b} = {c} : ?", near, header=("answer", "cosine"), width=8)
        for (a, b, c), near in found.items()
    ]
    return Step(
        "Analogies",
        "The step from one word to another, taken from a third: vectors can be added.",
        Columns(tables, padding=(0, 3)),
        f"firth analogy model.bin {' '.join(questions[0])}",
        {" ".join(question): near for question, near in found.items()},
    )


def unseen(luggage: Luggage) -> Step:
    """A word that the text never had gets a vector from its pieces."""
    known = luggage.fasttext.vocabulary
    word = next(made for base in luggage.words for made in (base + "like", base + "ish") if made not in known)
    near = luggage.fasttext.most_similar(word, topn=5, allowed=lambda other: other.isalpha() and len(other) > 2)
    shares = [(share.ngram, share.share) for share in luggage.fasttext.explain(word)][:5]
    tables = [
        show.bars(f"near {word}", near, header=("neighbour", "cosine"), width=8),
        show.bars(f"pieces of {word}", shares, header=("piece", "share"), width=8),
    ]
    return Step(
        "An unseen word",
        f"The text has no {word!r}, but fastText has its pieces.",
        Columns(tables, padding=(0, 3)),
        f"firth train fasttext {luggage.name} --dim 30 --epochs 60 --min-count 2 --buckets 20000 --subsample 0 "
        f"--fold-case --out model.bin && firth neighbors model.bin {word} && firth explain model.bin {word}",
        {"word": word, "neighbors": near, "pieces": shares},
    )


def without_torch(title: str) -> Step:
    """What stands where a contextual model would speak."""
    return Step(
        title,
        "A contextual model gives a word a vector for each sentence it is in. Such models need torch.",
        Text("skipped: torch is not installed", style="dim"),
        "pip install 'firth[elmo]' && firth tour",
        {"skipped": True},
    )


def contexts(luggage: Luggage) -> Step:
    """One word in two meanings, layer by layer."""
    title = 'The two banks of "bank"'
    if luggage.contextual is None:
        return without_torch(title)
    name, model = luggage.contextual
    split = [marked_word(text, Tokenizer()) for text in CONTEXTS]
    embedded = embedder(model, "all")([words for words, _ in split])
    first, same, other = (array[:, place] for array, (_, place) in zip(embedded, split))
    alike, unlike = ([cosine(a, b) for a, b in zip(first, one)] for one in (same, other))
    rows = [(f"layer {layer}", a, Bar(a, 12), b, Bar(b, 12)) for layer, (a, b) in enumerate(zip(alike, unlike))]
    columns = ["", CONTEXTS[1], "", CONTEXTS[2], ""]
    return Step(
        title,
        "ELMo gives a word a vector for each sentence. Layer 0 knows the spelling alone, so that its cosine is 1; from "
        "layer 1 on the sentence speaks too.",
        show.table(escape(f"cosine with {CONTEXTS[0]}"), [escape(name) for name in columns], rows),
        f"firth index {name} {luggage.name} --out words.index && "
        f'firth neighbors {name} --context "{CONTEXTS[0]}" --index words.index',
        {"contexts": list(CONTEXTS), "same_use": alike, "other_use": unlike},
    )


def told(luggage: Luggage) -> Step:
    """What a biLM thinks of sentences, and one that it makes."""
    title = "Strong tea, powerful tea"
    if luggage.contextual is None:
        return without_torch(title)
    name, model = luggage.contextual
    if model.softmax is None:
        return Step(
            title,
            f"{name} came without the softmax that tells words, so it can neither judge nor make sentences.",
            Text("skipped: no softmax", style="dim"),
            "firth tour",
            {"skipped": True},
        )
    scores = [(text, one.per_word) for text, one in zip(DRINKS, model.score([text.split() for text in DRINKS]))]
    made = " ".join([BEGUN, *model.generate(BEGUN, length=30, seed=0, temperature=0.6, top_k=20)])
    quoted = " ".join(f'"{text}"' for text in DRINKS)
    return Step(
        title,
        "The same model reads forwards and backwards: it knows which words keep company, and how a sentence may go on.",
        Group(
            show.bars("", scores, header=("sentence", "probability per word")),
            Text(f"generated: {made}", style="italic"),
        ),
        f'firth score {name} {quoted} && firth generate {name} "{BEGUN}" --count 1 --length 30 --seed 0 '
        "--temperature 0.6 --top-k 20",
        {"scores": dict(scores), "generated": made},
    )


def formats(luggage: Luggage) -> Step:
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
        show.table("", ["format", "bytes", "ms to open", "kept"], rows),
        "firth convert vectors/ vectors.bin --format word2vec-binary && firth info vectors.bin",
        {"formats": [{"format": row[0], "bytes": row[1], "kept": row[3] == "every bit"} for row in rows]},
    )


Build = Callable[[Luggage], Step]
STEPS: tuple[Build, ...] = (
    tokens,
    vocabulary,
    tfidf,
    company,
    ratios,
    neighbours,
    word_map,
    trained,
    unseen,
    analogies,
    sentences,
    contexts,
    told,
    formats,
)


def walk(
    paths: Sequence[str] = (), visit: Callable[[int, Step], None] | None = None, *, elmo: str | None = None
) -> list[Step]:
    """All steps on these texts, or on our own; `visit` sees each with its number as soon as it is made.

    `elmo` is where a contextual model lies, for the step that needs one.
    """
    made = []
    with tempfile.TemporaryDirectory(prefix="firth-tour-") as folder:
        luggage = Luggage(tuple(paths), Path(folder), elmo)
        for number, build in enumerate(STEPS, start=1):
            made.append(build(luggage))
            if visit is not None:
                visit(number, made[-1])
    return made
