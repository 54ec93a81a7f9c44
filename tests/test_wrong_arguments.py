"""Wrong arguments end in errors of firth's own: a table of values is passed to every parameter of the public API."""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.compat.gensim import KeyedVectors
from firth.compat.kenlm import KenlmModel
from firth.models.phrases import PhraseModel
from firth.models.supervised_vectors import SupervisedVectors
from firth.text.subwords import Subwords
from firth.vectors.occurrences import Occurrences


class Zero(float):
    """A class that can be called with anything, as a function of the caller may be."""

    def __new__(cls, *_: object) -> Zero:
        return super().__new__(cls, 0.0)


TABLE: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "7": lambda: 7,
    "1.5": lambda: 1.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "a complex number": lambda: 1j,
    "a huge number": lambda: -(10**30),
    "an empty string": lambda: "",
    "a blank": lambda: " ",
    "an unknown word": lambda: "xyzzy",
    "a null character": lambda: "\x00",
    "half a surrogate pair": lambda: "\ud800",
    "a newline": lambda: "a\nb",
    "bytes": lambda: b"tea",
    "a bytearray": lambda: bytearray(b"tea"),
    "a missing file": lambda: Path("no/such/file"),
    "an empty list": list,
    "a list with an empty list": lambda: [[]],
    "a list with None": lambda: [None],
    "a list of numbers": lambda: [1, 2],
    "a list with an empty string": lambda: [""],
    "a list of bytes": lambda: [b"tea"],
    "a word and a number": lambda: ["tea", 3],
    "nested lists": lambda: [[["tea"]]],
    "an empty tuple": tuple,
    "a pair": lambda: ("tea", 2),
    "a dict": lambda: {"tea": 1},
    "a set": lambda: {"tea"},
    "an iterator": lambda: iter([1, 2]),
    "an object": object,
    "a class": lambda: Zero,
    "a function": lambda: lambda *_: None,
    "a module": lambda: types,
    "an array of words": lambda: np.array(["tea", "rain"]),
    "a column": lambda: np.ones((3, 1)),
    "a matrix": lambda: np.ones((2, 2)),
    "a vector with nan": lambda: np.array([np.nan, 1.0]),
    "an empty array": lambda: np.zeros(0),
    "a number of NumPy": lambda: np.float32(2.5),
    "an array of objects": lambda: np.array([None, {}], object),
}
TEXT = ["hot tea and rain", "cold tea", "rain and rain"]
# Not checked, with the reason.
EXEMPT = {
    "Runtime.map": "calls the function of the caller, whose errors are the caller's",
    "Runtime.stream": "calls the function of the caller, whose errors are the caller's",
    "Runtime.add_up": "takes tensors of a training",
    "Runtime.gather": "takes tensors of a training",
    "Runtime.from_main": "takes a number of a training",
    "BiLM.contextualize": "takes tensors; torch's errors are those that its users know",
    "BiLM.read": "takes tensors",
    "BiLM.of_tensors": "takes tensors",
    "ScalarMix.forward": "takes tensors",
    "ScalarMix.mixed": "takes tensors",
    "Elmo.fit": "a text that is right by chance would be trained on; its arguments are checked as those of Word2Vec",
    "ElmoEmbedding.forward": "takes tensors; torch's errors are those that its users know",
    "ElmoEmbedding.layers": "takes tensors",
    "ElmoEmbedding.train": "has the signature of torch's modules",
    "Elmo.value": "looks up an option of a preset, for the training",
    "BiLM.blank": "the state of a batch, for the training",
    "PhraseModel.__init__": "takes the arrays of a training",
    "Elmo.plan": "as fit",
    "Elmo.new": "as fit",
    "FastText.fit": "as Word2Vec.fit",
    "FastTextClassifier.fit": "as Word2Vec.fit",
    "Doc2Vec.fit": "as Word2Vec.fit",
    "Glove.fit": "as Word2Vec.fit",
    "Glove.fit_counts": "as Word2Vec.fit",
    "Vocabulary.from_arrays": "takes the buffers of a memory-mapped file",
    "DocumentVectors.__init__": "takes the arrays of a training",
    "PhraseModel.compact": "takes the arrays of a training",
    "SegmenterModel.__init__": "takes the arrays of a training",
    "SegmenterModel.cut": "takes the arrays of the tokenizer",
    "VectorMap.__init__": "takes the arrays of an alignment",
}
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
INTERNAL = ("from_parts", "to_parts", "report", "self", "cls", "bilm")  # methods of file formats; callbacks


@cache
def examples() -> dict[str, Any]:
    """An object of each public class, small enough to be asked thousands of times."""
    from firth.neural.architecture import Architecture

    corpus = firth.Corpus.of(TEXT)
    words = firth.WordVectors(firth.Vocabulary(["rain", "tea"], [3, 2]), [[1, 0], [0, 1]])
    subwords = firth.SubwordVectors(["tea"], np.arange(22).reshape(11, 2), Subwords(3, 3, 10))
    lines = ["__label__drink hot tea", "__label__sky hot sun"] * 4
    classifier = firth.FastTextClassifier(dim=4, epochs=1).fit(lines)
    ngram = firth.Ngram(order=2).fit(corpus)
    marks = ["<S>", "</S>", "<UNK>", "tea", "rain"]
    occurrences = Occurrences(["tea", "rain"], [0, 1], [0, 2], [[0, 1], [1, 0]])
    return {
        "Corpus": corpus,
        "Vocabulary": corpus.vocabulary,
        "Tokenizer": firth.Tokenizer(),
        "Normalizer": firth.Normalizer(),
        "Runtime": firth.Runtime(1),
        "WordVectors": words,
        "SubwordVectors": subwords,
        "Occurrences": occurrences,
        "CountMatrix": firth.Counts(kind="tf-idf").fit(corpus),
        "NgramModel": ngram,
        "PhraseModel": firth.Phrases(delta=0, threshold=0).fit(corpus),
        "Classifier": firth.Classifier(classifier),
        "BiLM": firth.BiLM(Architecture.named("tiny"), vocabulary=firth.Vocabulary(marks)),
        "SegmenterModel": firth.SegmenterModel(["北京", "我"], np.ones(2, np.float32)),
        "VectorMap": firth.VectorMap(np.eye(2), np.zeros(2), np.zeros(2)),
        "Segmenter": firth.Segmenter(),
        "KeyedVectors": KeyedVectors(words),
        "SupervisedVectors": classifier,
        "KenlmModel": KenlmModel(ngram),
        "DocumentVectors": firth.Doc2Vec(dim=4, epochs=1, min_count=1, subsample=0).fit(TEXT, tags=["a", "b", "tea"]),
        "ScalarMix": firth.ScalarMix(3),
        "CountsTransformer": firth.CountsTransformer().fit(TEXT),
        "Embedder": firth.Embedder(words).fit(TEXT),
        "WordVectorTransformer": firth.WordVectorTransformer(words, pooling="tf-idf").fit(TEXT),
        "ElmoTransformer": firth.ElmoTransformer(firth.BiLM(Architecture.named("tiny"))).fit(TEXT),
        "FastTextEstimator": firth.FastTextEstimator(dim=4, epochs=1).fit(TEXT * 2, [0, 1] * len(TEXT)),
        "Phrases": firth.Phrases(delta=0),
        "Counts": firth.Counts(),
        "Ngram": firth.Ngram(order=2),
        "Word2Vec": firth.Word2Vec(dim=4, epochs=1, min_count=1, subsample=0),
    }


CLASSES: dict[str, type] = {
    **{name: value for name in dir(firth) if isinstance(value := getattr(firth, name), type)},
    **{one.__name__: one for one in (PhraseModel, Occurrences, KeyedVectors, SupervisedVectors, KenlmModel)},
}


def right_arguments() -> dict[str, Any]:
    """A right value for each required parameter, by its name."""
    some = examples()
    right: dict[str, Any] = dict.fromkeys(["word", "a", "key", "row", "column"], "tea")
    right |= dict.fromkeys(["b", "c", "first", "second"], "rain")
    right |= {name: ["tea", "rain"] for name in ("words", "keys", "vocabulary", "probes", "positive")}
    right |= dict.fromkeys(["sentences", "documents", "texts", "corpus", "blocks", "source", "X"], TEXT)
    right |= dict.fromkeys(["text", "sentence"], "hot tea")
    right |= {"batch": [["hot", "tea"]], "tags": ["a", "b", "c"]}
    right |= {"queries": ["tea"], "vector": [1.0, 0.0], "rows": np.eye(2), "ids": [0, 1], "starts": [0, 2]}
    right |= {"n": 2, "min_count": 1, "counts": {"tea": 1}, "count": 3, "other": some["Vocabulary"], "strength": 0.1}
    right |= {"model": some["SubwordVectors"], "dtype": "int8", "tokenizer": some["Tokenizer"], "values": {}}
    right |= {"subwords": Subwords(3, 3, 10), "weights": [[1, 0], [0, 1]], "layers": 3, "layer": 0, "attr": "count"}
    right |= {
        "artifact": some["WordVectors"],
        "path": "xyzzy",
        "paths": "xyzzy",
        "pairs": "wordsim353",
        "analogies": "google",
    }
    right |= {"tags": ["a", "b", "c"], "inputs": "lines.txt", "out": "out.safetensors"}
    right |= {"vectors": some["WordVectors"], "architecture": some["BiLM"].architecture, "name": "dim"}
    right |= {"index": 0, "subword": "<te", "label": "__label__sky"}
    right |= {"frame": some["WordVectors"].to_frame("arrow"), "folder": "xyzzy", "repository": "xyzzy"}
    right |= {"value": some["WordVectors"]}
    return right


def special_arguments(owner: str) -> dict[str, Any]:
    """Right values that differ from class to class."""
    some = examples()
    if owner == "Occurrences":
        return {"row": 0, "vectors": np.eye(2), "vocabulary": ["tea", "rain"]}
    if owner == "DocumentVectors":
        tags = {"words": ["a", "b"], "queries": ["a"], "vector": [1.0] * 4, "a": "a", "b": "b", "c": "tea", "word": "a"}
        return {**tags, "positive": ["a"], "keys": ["a", "b"]}
    if owner == "SubwordVectors":
        return {"words": ["tea", "teapot"], "b": "teapot"}
    if owner == "ElmoEmbedding":
        return {"bilm": some["BiLM"]}
    if owner == "DocumentVectors":
        model = some["DocumentVectors"]
        tags: dict[str, Any] = {"word": "0", "a": "0", "b": "1", "c": "2", "first": ["0"], "second": ["1"], "key": "0"}
        tags |= {name: ["0", "1"] for name in ("words", "keys", "positive", "probes")} | {"queries": ["0"]}
        arrays = {"rows": model.rows, "vocabulary": model.words.vocabulary, "outputs": model.outputs}
        return tags | arrays | {"vector": [1.0, 0.0, 0.0, 0.0]}
    if owner == "Classifier":
        return {"model": some["Classifier"].model}
    if owner == "CountMatrix":
        matrix = some["CountMatrix"]
        return {"matrix": matrix.matrix, "rows": matrix.rows, "columns": matrix.columns, "row": "0"}
    if owner == "NgramModel":
        model = some["NgramModel"]
        parts = {name: getattr(model, name) for name in ("levels", "starts", "log10", "backoffs")}
        return {"vocabulary": model.vocabulary, **parts}
    return {"queries": np.eye(2)} if owner == "search" else {}


def parameters(owner: str, function: Callable[..., Any]) -> list[inspect.Parameter]:
    given = inspect.signature(function).parameters.values()
    return [one for one in given if one.name not in INTERNAL or (owner, one.name) == ("ElmoEmbedding", "bilm")]


def callables() -> Iterator[tuple[str, str]]:
    """(class or "firth", name) of every public callable; a class stands for its constructor."""
    for name, kind in CLASSES.items():
        if issubclass(kind, BaseException):
            continue
        yield name, "__init__"
        for method, function in inspect.getmembers(kind, callable):
            own = getattr(function, "__module__", "") or ""
            if own.startswith("firth") and (not method.startswith("_") or method == "__call__"):
                yield name, method
    yield from (("firth", name) for name in dir(firth) if inspect.isfunction(getattr(firth, name)))


def find(owner: str, name: str) -> Callable[..., Any]:
    if owner == "firth":
        return getattr(firth, name)
    kind = CLASSES[owner]
    if name == "__init__":
        return kind
    is_bound = inspect.ismethod(getattr(kind, name))  # of the class
    if owner not in examples() and owner not in RECIPES and not is_bound:
        pytest.skip(f"this test has no example of {owner}")
    return getattr(examples().get(owner, kind() if owner in RECIPES else kind), name)


RECIPES = [name for name, kind in CLASSES.items() if hasattr(kind, "from_toml")]
CALLABLES = [(owner, name) for owner, name in callables() if f"{owner}.{name}" not in EXEMPT and name not in INTERNAL]


def call(function: Callable[..., Any], arguments: dict[str, Any], names: list[str]) -> None:
    """Calls a function, and draws the first items of a result that is computed as it is read."""
    positional = [arguments[name] for name in names if name in arguments]
    result = function(*positional, **{name: value for name, value in arguments.items() if name not in names})
    if isinstance(result, Iterator):
        for _, _ in zip(range(3), result):
            pass


def failures(owner: str, name: str) -> Iterator[str]:
    """The calls of one function that end in an error that is not firth's own."""
    function = find(owner, name)
    right = right_arguments() | special_arguments(owner) | special_arguments(name)
    options = [one for one in parameters(owner, function) if one.kind is not inspect.Parameter.VAR_KEYWORD]
    needed = [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is inspect.Parameter.empty and one.kind not in VARIADIC
    ]
    if not set(needed) <= set(right):
        pytest.skip(f"this test knows no right value of {', '.join(set(needed) - set(right))}")
    required = {name: right[name] for name in needed}
    names = [one.name for one in options if one.kind is inspect.Parameter.POSITIONAL_ONLY]
    for option in options:
        for title, make in TABLE.items():
            arguments = required | {option.name: make()}
            try:
                if option.kind is inspect.Parameter.VAR_POSITIONAL:
                    function(make())
                else:
                    call(function, arguments, names)
            except firth.FirthError:
                continue
            except Exception as error:
                yield f"{option.name} = {title}: {type(error).__name__}: {error!s:.100}"


@pytest.mark.parametrize("owner, name", CALLABLES, ids=lambda name: name.strip("_"))
def test_a_wrong_argument_is_an_error_of_firth(
    owner: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lines.txt").write_text("hot tea\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(failures(owner, name)) == []


def test_the_exemptions_are_names_of_the_api() -> None:
    assert set(EXEMPT) <= {f"{owner}.{name}" for owner, name in callables()}
