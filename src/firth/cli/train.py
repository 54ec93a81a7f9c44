"""`firth train RECIPE`: one command for every recipe, its flags the recipe's fields."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from firth import show
from firth.card import model_card, write_card
from firth.cli.answer import answer
from firth.cli.flags import Inputs, Json, Read, Reading, Target
from firth.cli.models import describe
from firth.formats.catalogue import save
from firth.models.recipes import RECIPES
from firth.options import Recipe
from firth.runtime import Runtime

TOKENS: dict[str, Any] = {"classifier": "whitespace"}  # labelled lines are cut at blanks, as fastText does
Checkpoint = Annotated[
    str | None,
    Parameter(help="a folder that keeps the state: a run that was stopped goes on where it was"),
]
HELP = """Train a model from text.

For example:

    firth train word2vec corpus.txt --out vectors/
    firth train --recipe my.toml corpus.txt --out vectors/      # name = "word2vec", dim = 300, …
"""
EXAMPLES = {
    "counts": """One-hot, document-term, TF-IDF, co-occurrence, PPMI and SVD: words as counts.

    For example:

        firth train counts corpus.txt --kind svd --dim 100 --out vectors/
        firth train counts corpus.txt --kind co-occurrence --window 10 --out counts/
        firth train counts articles.jsonl --field text --kind tf-idf --out tfidf/
    """,
    "ngram": """An n-gram language model with modified Kneser-Ney smoothing.

    For example:

        firth train ngram corpus.txt --order 3 --out model.arpa
        firth train ngram corpus.txt --order 5 --prune 0 0 1 --out model/
    """,
    "word2vec": """Word vectors by prediction: skip-gram or CBOW.

    For example:

        firth train word2vec corpus.txt --out vectors/
        firth train word2vec corpus/ --dim 300 --architecture cbow --checkpoint state/ --out vectors.bin
    """,
    "glove": """Word vectors from the ratios of co-occurrence probabilities.

    For example:

        firth train glove corpus.txt --dim 100 --window 10 --out vectors/
        firth train glove corpus.txt --out vectors.glove
    """,
    "fasttext": """Word vectors from pieces of words: also for words that were never seen.

    For example:

        firth train fasttext corpus.txt --out model.bin
        firth train fasttext labelled.txt --labels --out classifier.bin      # as firth train classifier
    """,
    "classifier": """fastText's classifier of texts: one text a line, its labels written as __label__NAME.

    For example:

        firth train classifier labelled.txt --word-ngrams 2 --epochs 20 --out classifier.bin
    """,
    "phrases": """Pairs of words that belong together, such as New York, in several passes.

    For example:

        firth train phrases corpus.txt --threshold 100 --passes 2 --out phrases/
    """,
}


def trainer(name: str, recipe_class: type[Recipe]) -> Callable[..., None]:
    """The command that trains one recipe: its flags are the recipe's fields."""
    resumable = "checkpoint" in inspect.signature(recipe_class.fit).parameters  # type: ignore[attr-defined]

    def train(
        inputs: Any, /, *, out: Any, recipe: Any, reading: Any = Reading(), checkpoint: Any = None, json: Any = False
    ) -> None:
        corpus = replace(reading, tokens=TOKENS.get(name, reading.tokens)).corpus(inputs)
        more = {"checkpoint": checkpoint} if resumable else {}
        with show.progress() as report:
            artifact = recipe.fit(corpus, runtime=Runtime.from_env(reading.threads), report=report, **more)
            save(artifact, out)
        page = model_card(Path(out).name, len(artifact), getattr(artifact, "dim", None), artifact.metadata)
        card = write_card(Path(out), page)
        values = {"out": out, "card": str(card), "model": name, "recipe": recipe.as_dict(), **describe(artifact)}
        answer(values, artifact, json)

    train.__name__ = name
    train.__doc__ = EXAMPLES[name]
    train.__annotations__ = {
        "inputs": Inputs,
        "out": Target,
        "recipe": Annotated[recipe_class, Parameter(name="*")],
        "reading": Read,
        "checkpoint": Checkpoint if resumable else Annotated[None, Parameter(show=False, parse=False)],
        "json": Json,
        "return": None,
    }
    train.__kwdefaults__ = {"recipe": recipe_class(), "reading": Reading(), "checkpoint": None, "json": False}
    return train


train = App(name="train", help=HELP, help_format="markdown")
for name, recipe in RECIPES.items():
    train.command(trainer(name, recipe), name=name)
