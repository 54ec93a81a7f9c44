"""Make the models that come with firth. Each model has a name.

    python scripts/pretrained.py word2vec-en --corpus CORPUS [--out FOLDER] [--cache FOLDER] [--threads 1]
    python scripts/pretrained.py fasttext-fa [--from MODEL]
    python scripts/pretrained.py elmo-en --from MODEL

English models are trained on the corpus that `scripts/corpus.py` wrote, Persian ones on the data folder (see
`firth.data`). A model is trained on the whole text and vocabulary, cut to its most frequent words, quantized, evaluated
before and after quantization, and written with its model card to src/firth/pretrained. With one thread on the CPU the
result is deterministic. `--from` uses a model that is already trained with the same recipe and the whole vocabulary.
ELMo needs `--from`: train it on a GPU with scripts/pretrain_elmo.py.
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

from cards import BAGS, elmo_card, language_of, static_card
from corpus_files import ONCE, PERSIAN_TOKENIZER, list_files, split_persian
from few_rows import prune
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
from firth.probes.bag import BAG
from firth.probes.separation import TABLES, read_sense_table
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
WHITESPACE = Tokenizer(mode="whitespace", normalizer=None)  # of text that is tokenized already
LINES = 1000  # lines of the held-out articles
METADATA_KEYS = ("recipe", "tokenizer", "corpus", "tokens", "loss", "versions")


@dataclass(frozen=True)
class Plan:
    """How a static model is made: recipe, number of words and n-grams, text, quantization and test sets.

    `texts` are files of the data folder; without any, the text is the English corpus.
    """

    recipe: Recipe
    words: int
    ngrams: int = 0
    texts: tuple[str, ...] = ()
    tokenizer: Tokenizer = WHITESPACE
    rows: Literal["int8", "product"] = "product"
    sets: tuple[str, ...] = ENGLISH


SVD = Counts(
    kind="svd", max_words=50_000, window=5, weighting="harmonic", context_smoothing=0.75, eigenvalue_power=0.0, dim=100
)
PLANS = {
    "word2vec-en": Plan(Word2Vec(window=10, negatives=10, subsample=1e-4, min_count=10), 50_000),
    "glove-en": Plan(Glove(window=10, x_max=100, min_count=20), 50_000),
    "svd-en": Plan(SVD, 50_000),
    "fasttext-en": Plan(FastText(buckets=1_000_000, min_count=10), 45_000, 11_700),
    # minn=2 gives every word an n-gram: a letter with the word boundary. In English it costs three points of
    # similarity, and without it only 2 % of unseen words (numbers and abbreviations) have no n-gram.
    "fasttext-fa": Plan(
        FastText(minn=2, maxn=5, buckets=300_000, window=8, min_count=3, epochs=25),
        12_000,
        15_000,
        ("fa-01.txt.xz", "fa-02.txt.xz"),
        # The rules of the first version, which the model that ships was trained with.
        Tokenizer(normalizer=Normalizer.persian(heh_yeh="keep", half_spaces=False, latin_words="convert"), rules=1),
        sets=PERSIAN,
    ),
}


def make_static(name: str, source: str | Corpus, out: Path, runtime: Runtime) -> None:
    """Trains a static model on a text or loads it; cuts, quantizes and evaluates it, and writes it with its card."""
    plan = PLANS[name]
    trained: WordVectors = (
        load_trained(plan, source) if isinstance(source, str) else plan.recipe.fit(source, runtime=runtime)  # type: ignore[attr-defined]
    )
    small = quantize(cut(trained, plan), plan, runtime)
    small.metadata = {one: trained.metadata[one] for one in METADATA_KEYS if one in trained.metadata}
    small.metadata |= {"texts": plan.texts or tuple(ONCE), "words_trained": len(trained)}
    listed = evaluate_sets(first_words(trained, plan), plan.sets), evaluate_sets(first_words(small, plan), plan.sets)
    unseen = None
    if isinstance(small, SubwordVectors):  # similarity sets only: answers of analogies are always known words
        pairs = [name for name in plan.sets if data.SETS[name].task == "similarity"]
        unseen = evaluate_sets(trained, pairs), evaluate_sets(small, pairs)
        small.metadata["scores_with_unseen_words"] = {one.name: summarize(one) for one in unseen[1]}
    small.metadata["scores"] = {one.name: summarize(one) for one in listed[1]}
    save(small, out / name, precision="int8")
    write_card(out / name, static_card(name, out / name, small, listed, unseen))


def open_text(plan: Plan, corpus: Path | None, cache: Path | None, threads: int) -> Corpus:
    """The text of a plan."""
    if plan.texts:
        files = [data.folder() / "data" / "corpora" / text for text in plan.texts]
    elif corpus is None:
        raise OptionError("this model is trained on the English corpus. Name its folder: --corpus CORPUS")
    else:
        files = list_files(corpus, ONCE)
    return Corpus(files, tokenizer=plan.tokenizer, cache=cache, threads=threads)


def load_trained(plan: Plan, source: str) -> WordVectors:
    """Loads a trained model. Its recipe must be that of the plan."""
    trained: WordVectors = load(source)
    recipe = {one: value for one, value in trained.metadata["recipe"].items() if one != "name"}
    if recipe != json.loads(json.dumps(plan.recipe.as_dict())):
        raise OptionError(f"{source}: the model was trained with another recipe: {recipe}")
    return trained


def cut(trained: WordVectors, plan: Plan) -> WordVectors:
    """The most frequent words, and the most important n-grams of a fastText model."""
    if isinstance(trained, SubwordVectors):
        return prune(trained, plan.words, plan.ngrams)
    return first_words(trained, plan)


def first_words(vectors: WordVectors, plan: Plan) -> WordVectors:
    """The most frequent words, as plain vectors."""
    return WordVectors(vectors.vocabulary.top(plan.words), vectors.matrix[: plan.words])


def quantize(vectors: WordVectors, plan: Plan, runtime: Runtime) -> WordVectors:
    """The same words with quantized rows."""
    rows: Rows
    if plan.rows == "int8":
        rows = Int8Rows.from_rows(vectors.rows)
    else:
        rows = quantize_rows(vectors.rows, 2, True, runtime=runtime)
    if isinstance(vectors, SubwordVectors):
        return SubwordVectors(vectors.vocabulary, rows, vectors.subwords)
    return WordVectors(vectors.vocabulary, rows)


def evaluate_sets(vectors: WordVectors, sets: Sequence[str]) -> list[Score]:
    """The score of each test set (analogies by 3CosAdd)."""
    return [one for one in evaluate.evaluate(vectors, list(sets)) if "3CosMul" not in one.metric]


def summarize(score: Score) -> dict[str, Any]:
    """The main values of a score, for the metadata."""
    value = None if score.value is None else round(score.value, 4)
    return {"metric": score.metric, "value": value, "used": score.used, "of": score.total}


def make_elmo(name: str, source: str, out: Path, threads: int) -> None:
    """Quantizes a trained biLM, evaluates it before and after, and writes it with its card."""
    bilm = load(source)
    bilm.metadata = {one: value for one, value in bilm.metadata.items() if one != "curve"}
    if "held_out" in bilm.metadata:
        bilm.metadata["held_out"] = {k: v for k, v in bilm.metadata["held_out"].items() if k != "looks"}
    before = evaluate_elmo(name, bilm, threads)
    save(bilm, out / name, precision="int8")
    write_elmo_card(name, out, before, threads)


def write_elmo_card(name: str, out: Path, before: dict[str, Any], threads: int) -> None:
    """Evaluates a quantized biLM and writes its card; `before` are its scores before quantization."""
    small = load(out / name)
    after = evaluate_elmo(name, small, threads)
    small.metadata["scores"] = after
    save(small, out / name, precision="int8")
    write_card(out / name, elmo_card(name, out / name, small, before, after))


def evaluate_elmo(name: str, bilm: Any, threads: int) -> dict[str, Any]:
    """Perplexity on a held-out text, and the separation of word senses by layer and by the bag of context."""
    language = language_of(name)
    table = read_sense_table(TABLES[language])
    found = {"perplexity": bilm.perplexity(HELD_OUT[language](threads), runtime=Runtime(threads)).as_dict()}
    found |= {f"senses, {layer}": summary(judge(bilm, layer, table)) for layer in ("mix", "top", 1)}
    return found | {f"senses, {BAG}": summary(judge(load(BAGS[language]), table=table))}


def english_held_out(threads: int) -> Corpus:
    """The first held-out articles of WikiText-103."""
    with lzma.open(data.folder() / "data" / "corpora" / "wikitext103-valid.tokens.xz", "rt", encoding="utf-8") as lines:
        text = "".join(itertools.islice(lines, LINES))
    return Corpus.of([text], tokenizer=WHITESPACE, threads=threads)


def persian_held_out(threads: int) -> Corpus:
    """The blocks of lines of the Persian text on which no biLM is trained."""
    return Corpus.of(["\n".join(split_persian()[1])], tokenizer=PERSIAN_TOKENIZER, threads=threads)


HELD_OUT = {"en": english_held_out, "fa": persian_held_out}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*PLANS, "elmo-en", "elmo-fa"]
    parser.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--from", dest="source", metavar="MODEL", help="A trained model to use instead of training.")
    parser.add_argument(
        "--out", type=Path, default=shipped.HERE, help="The parent of the folder NAME; default: src/firth/pretrained."
    )
    parser.add_argument("--corpus", type=Path, help="The folder that scripts/corpus.py wrote.")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="The device; cuda: word2vec only.")
    parser.add_argument("--cache", type=Path, help="A folder that caches the tokens of the text.")
    parser.add_argument("--threads", type=int, default=1, help="Number of threads; default: 1.")
    args = parser.parse_args()
    if args.name in PLANS:
        source = args.source or open_text(PLANS[args.name], args.corpus, args.cache, args.threads)
        make_static(args.name, source, args.out, Runtime(args.threads, args.device))
    elif args.source is None:
        parser.error(f"{args.name} needs --from MODEL, a biLM that scripts/pretrain_elmo.py made")
    else:
        make_elmo(args.name, args.source, args.out, args.threads)
    size = sum(file.stat().st_size for file in (args.out / args.name).iterdir())
    print(json.dumps({"model": args.name, "bytes": size}))


if __name__ == "__main__":
    main()
