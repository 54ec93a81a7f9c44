"""`firth train RECIPE`: one command for every recipe, its flags the recipe's fields."""

import inspect
from collections.abc import Callable, Mapping, Sized
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from firth.cli.flags import CorpusOptions, Inputs, Json, Read, Target
from firth.cli.models import describe, is_bilm
from firth.cli.output import answer, load_vectors
from firth.errors import OptionError
from firth.formats.registry import check_target, load, save
from firth.models.recipes import RECIPES
from firth.options import Recipe
from firth.runtime import Runtime
from firth.show import terminal
from firth.show.cards import model_card, write_card
from firth.show.curves import draw_curves

TOKENS: dict[str, Any] = {"classifier": "whitespace"}  # labeled lines are cut at blanks, as fastText does
Checkpoint = Annotated[
    str | None,
    Parameter(help="a folder that keeps the state: a run that was stopped goes on where it was"),
]
Start = Annotated[
    str | None,
    Parameter(help="vectors or a model to go on from: their words keep their rows, new ones join them"),
]
HeldOut = Annotated[
    str | None,
    Parameter(help="a text that is not trained on: its loss is told at the end of each epoch"),
]
Log = Annotated[str | None, Parameter(help="a file that grows with the training, a line of JSON now and then")]
EXTRAS: dict[str, Any] = {"checkpoint": Checkpoint, "start": Start, "held_out": HeldOut, "log": Log}
Device = Annotated[Literal["cpu", "cuda"], Parameter(help="where it is trained; cuda is an NVIDIA GPU")]
ON_GPU = {"word2vec", "elmo"}  # the recipes that have a twin there
HIDDEN = Annotated[None, Parameter(show=False, parse=False)]
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
        firth train word2vec new.txt --start vectors/ --held-out other.txt --out grown/
    """,
    "glove": """Word vectors from the ratios of co-occurrence probabilities.

    For example:

        firth train glove corpus.txt --dim 100 --window 10 --out vectors/
        firth train glove corpus.txt --out vectors.glove
    """,
    "fasttext": """Word vectors from pieces of words: also for words that were never seen.

    For example:

        firth train fasttext corpus.txt --out model.bin
        firth train fasttext new.txt --start model.bin --out grown.bin
        firth train fasttext labeled.txt --labels --out classifier.bin      # as firth train classifier
    """,
    "classifier": """fastText's classifier of texts: one text a line, its labels written as __label__NAME.

    For example:

        firth train classifier labeled.txt --word-ngrams 2 --epochs 20 --out classifier.bin
        firth train classifier labeled.txt --start cc.fa.300.vec --dim 300 --out classifier.bin
    """,
    "phrases": """Pairs of words that belong together, such as New York, in several passes.

    For example:

        firth train phrases corpus.txt --threshold 100 --passes 2 --out phrases/
    """,
    "elmo": """ELMo: two language models over the letters of words, whose layers are vectors of words in context.

    For example:

        firth train elmo corpus.txt --preset tiny --epochs 3 --out model/
        firth train elmo corpus/ --held-out other.txt --checkpoint state/ --device cuda --minutes 30 --out model/
        firth train elmo domain.txt --start model/ --held-out other.txt --epochs 1 --out tuned/
        torchrun --nproc-per-node 8 --no-python firth train elmo corpus/ --device cuda --batch 8192 --out model/
    """,
}


def load_bilm(path: str) -> Any:
    """The biLM in a file or folder; another kind of model is an error that says what it is."""
    model = load(path)
    if not is_bilm(model):
        raise OptionError(f"{path}: holds a {type(model).__name__}, but ELMo goes on from an ELMo model")
    return model


STARTS: dict[str, Callable[[str], Any]] = {"elmo": load_bilm}


def write_curves(out: Path, metadata: Mapping[str, Any]) -> None:
    """Draws how the training went, where the model tells it, into the model's folder."""
    if out.is_dir() and metadata.get("curve"):
        looks = metadata.get("held_out", {}).get("looks", ())
        (out / "curves.svg").write_text(draw_curves(metadata["curve"], looks), encoding="utf-8")


def trainer(name: str, recipe_class: type[Recipe]) -> Callable[..., None]:
    """The command that trains one recipe: its flags are the recipe's fields."""
    known = inspect.signature(recipe_class.fit).parameters  # type: ignore[attr-defined]

    def train(
        inputs: Any,
        /,
        *,
        out: Any,
        recipe: Any,
        reading: Any = CorpusOptions(),
        checkpoint: Any = None,
        start: Any = None,
        held_out: Any = None,
        log: Any = None,
        device: Any = "cpu",
        json: Any = False,
    ) -> None:
        check_target(out)
        reading = replace(reading, tokens=TOKENS.get(name, reading.tokens))
        more = {
            "checkpoint": checkpoint,
            "start": None if start is None else STARTS.get(name, load_vectors)(start),
            "held_out": None if held_out is None else reading.corpus([held_out]),
            "log": log,
        }
        more = {extra: value for extra, value in more.items() if extra in known}
        with terminal.progress() as report:
            runtime = Runtime.from_env(reading.threads, device)
            artifact = recipe.fit(reading.corpus(inputs), runtime=runtime, report=report, **more)
            if not runtime.is_main:  # other processes have helped, and are done
                return
            save(artifact, out)
        words = len(artifact) if isinstance(artifact, Sized) else len(artifact.vocabulary)
        page = model_card(Path(out).name, words, getattr(artifact, "dim", None), artifact.metadata)
        card = write_card(Path(out), page)
        write_curves(Path(out), artifact.metadata)
        values = {"out": out, "card": str(card), "model": name, "recipe": recipe.as_dict(), **describe(artifact)}
        answer(values, artifact, json)

    train.__name__ = name
    train.__doc__ = EXAMPLES[name]
    train.__annotations__ = {
        "inputs": Inputs,
        "out": Target,
        "recipe": Annotated[recipe_class, Parameter(name="*", consume_multiple=True)],
        "reading": Read,
        **{extra: kind if extra in known else HIDDEN for extra, kind in EXTRAS.items()},
        "device": Device if name in ON_GPU else HIDDEN,
        "json": Json,
        "return": None,
    }
    defaults = {
        "recipe": recipe_class(),
        "reading": CorpusOptions(),
        **dict.fromkeys(EXTRAS),
        "device": "cpu",
        "json": False,
    }
    train.__kwdefaults__ = defaults
    return train


train = App(name="train", help=HELP, help_format="markdown")
for name, recipe in RECIPES.items():
    train.command(trainer(name, recipe), name=name)
