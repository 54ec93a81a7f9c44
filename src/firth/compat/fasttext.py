"""The functions of fastText's Python module, for code that is ported from it.

The models that they return are those of `firth.load`: the methods of fastText are on the models themselves.
"""

from __future__ import annotations

import os
import re
from typing import Any

from firth.arguments import checked
from firth.errors import OptionError, suggest
from firth.files import Name
from firth.formats.registry import load
from firth.models.classifier import FastTextClassifier
from firth.models.fasttext import FastText
from firth.models.supervised_vectors import SupervisedVectors
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.vectors.subwords import SubwordVectors

EOS, BOW, EOW = "</s>", "<", ">"
LOSSES = {
    "ns": "negative-sampling",
    "hs": "hierarchical-softmax",
    "softmax": "softmax",
    "ova": "one-vs-all",
}
OPTIONS = {  # the names of fastText and ours
    "lr": "learning_rate",
    "dim": "dim",
    "ws": "window",
    "epoch": "epochs",
    "minCount": "min_count",
    "min_count": "min_count",
    "minCountLabel": "min_label_count",
    "minn": "minn",
    "maxn": "maxn",
    "neg": "negatives",
    "wordNgrams": "word_ngrams",
    "word_ngrams": "word_ngrams",
    "bucket": "buckets",
    "t": "subsample",
    "label": "label_prefix",
    "label_prefix": "label_prefix",
    "seed": "seed",
}
IGNORED = "verbose", "lrUpdateRate", "lr_update_rate"  # they change no result here


@checked
def load_model(path: Name) -> SubwordVectors:
    """Opens a model of fastText or of firth."""
    vectors = load(path)
    if not isinstance(vectors, SubwordVectors):
        raise OptionError(f"{path}: holds no fastText model but a {type(vectors).__name__}")
    return vectors


def train_supervised(input: Name, **options: Any) -> SupervisedVectors:
    """Trains a classifier on a file of labeled lines, with options under the names of fastText."""
    known = [name for name in OPTIONS if OPTIONS[name] in FastTextClassifier.__dataclass_fields__]
    ignored = ("ws", "t")  # classifiers have neither windows nor subsampling
    chosen, corpus, runtime, start = _read_options(input, known, options, ignored)
    if chosen.get("min_label_count") == 0:
        chosen["min_label_count"] = 1
    recipe = FastTextClassifier(**({"dim": start.dim} if start is not None else {}) | chosen)
    return recipe.fit(corpus, runtime=runtime, start=start)


def train_unsupervised(input: Name, model: str = "skipgram", **options: Any) -> SubwordVectors:
    """Trains word vectors on a file of tokenized lines, with options under the names of fastText."""
    known = [name for name in OPTIONS if OPTIONS[name] in FastText.__dataclass_fields__]
    ignored = ("label", "label_prefix", "wordNgrams", "word_ngrams", "minCountLabel")
    chosen, corpus, runtime, start = _read_options(input, known, options, ignored)
    kinds = {"skipgram": "skip-gram", "cbow": "cbow"}
    if model not in kinds:
        raise OptionError(f"model is {model!r}, but must be 'skipgram' or 'cbow'")
    recipe = FastText(**({"dim": start.dim} if start is not None else {}) | chosen | {"architecture": kinds[model]})
    return recipe.fit(corpus, runtime=runtime, start=start)


def tokenize(text: str) -> list[str]:
    """The words of a text, split as fastText splits it: an end of a line is a word, too.

    >>> tokenize("hot  tea\\n")
    ['hot', 'tea', '</s>']
    """
    return [EOS if word == "\n" else word for word in re.findall(r"\n|[^ \t\n\v\f\r\0]+", text)]


def _read_options(
    path: Name, known: list[str], options: dict[str, Any], ignored: tuple[str, ...]
) -> tuple[dict[str, Any], Corpus, Runtime, Any]:
    chosen: dict[str, Any] = {}
    runtime, start = Runtime.from_env(), None
    for name, value in options.items():
        if name in known:
            chosen[OPTIONS[name]] = value
        elif name == "loss":
            if value not in LOSSES:
                raise OptionError(f"loss is {value!r}, but must be one of {', '.join(map(repr, LOSSES))}")
            chosen["objective"] = LOSSES[value]
        elif name == "thread":
            runtime = Runtime.from_env(value)
        elif name in ("pretrainedVectors", "pretrained_vectors"):
            start = load(value) if value else None
        elif name not in (*IGNORED, *ignored):
            raise OptionError(f"no option is called {name!r}. {suggest(name, [*known, 'loss', 'thread'])}")
    return chosen, Corpus([os.fspath(path)], tokenizer=Tokenizer(mode="whitespace")), runtime, start
