"""Makes the models that come with firth again: each is one name here.

    python scripts/pretrained.py word2vec-en [--from MODEL] [--out FOLDER] [--cache FOLDER] [--threads 1]
    python scripts/pretrained.py elmo-en --from MODEL

The text is that of the data folder (see `firth.data`). A model is trained on the whole text and vocabulary, cut to its
most frequent words, made small, judged before and after, and written with its card into src/firth/pretrained. With one
thread every run gives the same numbers. `--from` takes a model that was trained by the same recipe before, all words of
it. An ELMo is always trained before, on a GPU (scripts/pretrain_elmo.py).
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cards import elmo_card, static_card
from few_rows import with_few_rows
from firth import data, evaluate
from firth.errors import OptionError
from firth.evaluate import Score
from firth.formats.registry import load, save
from firth.models.counts import Counts
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.quantization import quantize_rows
from firth.models.word2vec import Word2Vec
from firth.options import Recipe
from firth.pretrained import shipped
from firth.runtime import Runtime
from firth.show.cards import write_card
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.vectors.rows import Int8Rows, Rows
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors
from senses import judge, summary

ENGLISH = ("wordsim353", "simlex999", "men", "rarewords", "semeval2017-en", "google", "msr")
PERSIAN = ("fa/similarity-semeval2017", "fa/analogy-sbu", "fa/categories-sbu")
LINES = 1000  # of the held-out articles
KEPT = ("recipe", "tokenizer", "corpus", "tokens", "loss", "versions")


@dataclass(frozen=True)
class Plan:
    """How a static model is made: its text, its recipe, and how much of it is kept and how."""

    texts: tuple[str, ...]
    tokenizer: Tokenizer
    recipe: Recipe
    words: int
    rows: Literal["int8", "product"]
    sets: tuple[str, ...]
    ngrams: int = 0


def english(recipe: Recipe, words: int, rows: Literal["int8", "product"], ngrams: int = 0) -> Plan:
    """A plan for the English text, which is cut into words already."""
    texts = ("en-01.txt.xz", "en-02.txt.xz")
    return Plan(texts, Tokenizer(mode="whitespace", normalizer=None), recipe, words, rows, ENGLISH, ngrams)


SVD = Counts(
    kind="svd", max_words=40_000, window=5, weighting="harmonic", context_smoothing=0.75, eigenvalue_power=0.0, dim=100
)
PLANS = {
    "word2vec-en": english(Word2Vec(window=10, negatives=10, subsample=1e-4), 18_000, "int8"),
    "glove-en": english(Glove(window=10, x_max=50, min_count=10), 18_000, "product"),
    "svd-en": english(SVD, 18_000, "product"),
    "fasttext-en": english(FastText(buckets=500_000), 15_000, "product", 18_000),
    # Two letters as the shortest n-gram: a letter and the edge of a word, which every word has. In English that costs
    # three points of similarity, and only a fiftieth of unseen words, numbers and abbreviations, have none without it.
    "fasttext-fa": Plan(
        ("fa-01.txt.xz",),
        Tokenizer(normalizer=Normalizer.persian()),
        FastText(minn=2, maxn=5, buckets=300_000, window=8, min_count=3, epochs=25),
        12_000,
        "product",
        PERSIAN,
        15_000,
    ),
}


def make_static(name: str, source: str | None, out: Path, cache: Path | None, threads: int) -> None:
    """Trains (or opens what was trained), cuts, shrinks, judges and writes one static model."""
    plan, runtime = PLANS[name], Runtime(threads)
    trained = fitted(plan, cache, runtime) if source is None else already_fitted(plan, source)
    small = shrunk(kept(trained, plan), plan, runtime)
    small.metadata = {one: trained.metadata[one] for one in KEPT if one in trained.metadata}
    small.metadata |= {"texts": plan.texts, "words_trained": len(trained)}
    listed = scores(first_words(trained, plan), plan.sets), scores(first_words(small, plan), plan.sets)
    unseen = None
    if isinstance(small, SubwordVectors):  # judged by what words are like: answers are words of the list anyway
        pairs = [name for name in plan.sets if data.SETS[name].task == "similarity"]
        unseen = scores(trained, pairs), scores(small, pairs)
        small.metadata["scores_with_unseen_words"] = {one.name: short(one) for one in unseen[1]}
    small.metadata["scores"] = {one.name: short(one) for one in listed[1]}
    save(small, out / name, precision="int8")
    write_card(out / name, static_card(name, out / name, small, listed, unseen))


def fitted(plan: Plan, cache: Path | None, runtime: Runtime) -> WordVectors:
    """The recipe of a plan, fitted to its text."""
    texts = [data.folder() / "data" / "corpora" / text for text in plan.texts]
    corpus = Corpus(texts, tokenizer=plan.tokenizer, cache=cache, threads=runtime.threads)
    trained: WordVectors = plan.recipe.fit(corpus, runtime=runtime)  # type: ignore[attr-defined]
    return trained


def already_fitted(plan: Plan, source: str) -> WordVectors:
    """A model that was trained before; it must have been by the recipe of the plan."""
    trained: WordVectors = load(source)
    recipe = {one: value for one, value in trained.metadata["recipe"].items() if one != "name"}
    if recipe != json.loads(json.dumps(plan.recipe.as_dict())):
        raise OptionError(f"{source}: was trained by another recipe, {recipe}")
    return trained


def kept(trained: WordVectors, plan: Plan) -> WordVectors:
    """The words that stay, and of a fastText model the n-grams that do."""
    if isinstance(trained, SubwordVectors):
        return with_few_rows(trained, plan.words, plan.ngrams)
    return first_words(trained, plan)


def first_words(vectors: WordVectors, plan: Plan) -> WordVectors:
    """The words that stay, as plain vectors."""
    return WordVectors(vectors.vocabulary.top(plan.words), vectors.matrix[: plan.words])


def shrunk(vectors: WordVectors, plan: Plan, runtime: Runtime) -> WordVectors:
    """The same words in fewer bytes."""
    rows: Rows
    if plan.rows == "int8":
        rows = Int8Rows.from_rows(vectors.rows)
    else:
        rows = quantize_rows(vectors.rows, 2, True, runtime=runtime)
    if isinstance(vectors, SubwordVectors):
        return SubwordVectors(vectors.vocabulary, rows, vectors.subwords)
    return WordVectors(vectors.vocabulary, rows)


def scores(vectors: WordVectors, sets: Sequence[str]) -> list[Score]:
    """What each test set says (analogies by 3CosAdd); the coverage tells of questions whose words are not known."""
    return [one for one in evaluate.evaluate(vectors, list(sets)) if "3CosMul" not in one.metric]


def short(score: Score) -> dict[str, Any]:
    """A score in few values, for the metadata."""
    value = None if score.value is None else round(score.value, 4)
    return {"metric": score.metric, "value": value, "used": score.used, "of": score.total}


def make_elmo(name: str, source: str, out: Path, threads: int) -> None:
    """Makes a trained biLM small, judges it before and after, and writes it."""
    bilm = load(source)
    bilm.metadata = {one: value for one, value in bilm.metadata.items() if one != "curve"}
    if "held_out" in bilm.metadata:
        bilm.metadata["held_out"] = {k: v for k, v in bilm.metadata["held_out"].items() if k != "looks"}
    before = elmo_scores(bilm, threads)
    save(bilm, out / name, precision="int8")
    small = load(out / name)
    after = elmo_scores(small, threads)
    small.metadata["scores"] = after
    save(small, out / name, precision="int8")
    write_card(out / name, elmo_card(name, out / name, small, before, after))


def elmo_scores(bilm: Any, threads: int) -> dict[str, Any]:
    """Perplexity on the first held-out articles, and how many words have their senses apart, by layer."""
    with lzma.open(data.folder() / "data" / "corpora" / "wikitext103-valid.tokens.xz", "rt", encoding="utf-8") as lines:
        text = "".join(itertools.islice(lines, LINES))
    corpus = Corpus.of([text], tokenizer=Tokenizer(mode="whitespace", normalizer=None), threads=threads)
    found = {"perplexity": bilm.perplexity(corpus, runtime=Runtime(threads)).as_dict()}
    return found | {f"senses, {layer}": summary(judge(bilm, layer)) for layer in ("mix", "top", 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*PLANS, "elmo-en"]
    parser.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--from", dest="source", metavar="MODEL", help="the model that was trained already")
    parser.add_argument("--out", type=Path, default=shipped.HERE, help="where the folder NAME is written")
    parser.add_argument("--cache", type=Path, help="keep the text's tokens here, so that it is read once")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if given.name in PLANS:
        make_static(given.name, given.source, given.out, given.cache, given.threads)
    elif given.source is None:
        parser.error("elmo-en needs --from MODEL, a biLM that scripts/pretrain_elmo.py made")
    else:
        make_elmo(given.name, given.source, given.out, given.threads)
    size = sum(file.stat().st_size for file in (given.out / given.name).iterdir())
    print(json.dumps({"model": given.name, "bytes": size}))


if __name__ == "__main__":
    main()
