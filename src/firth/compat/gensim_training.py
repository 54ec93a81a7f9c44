"""What gensim's `Word2Vec`, `FastText` and `Doc2Vec` share, over our recipes: options, vocabulary and training.

The vocabulary is found first (`build_vocab`), which gives the words random vectors; `train` continues from the vectors
so far. `workers` is the number of threads. `min_alpha` is stored but not used: the learning rate falls to 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from firth.compat.gensim import KeyedVectors
from firth.compat.gensim_text import TrimRule, choose_counts, count_pruned
from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import save
from firth.models.window_network import random_rows
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

SMALL = 10_000  # words of a text that one thread trains, so that its result can be repeated
IGNORED = ("sorted_vocab", "batch_words", "comment", "hashfxn", "null_word", "compute_loss", "progress_per")
KEPT = "gensim"  # in the metadata of a stored model: options that our recipes do not have
KEPT_NAMES = ["min_count", "max_vocab_size", "max_final_vocab", "workers", "min_alpha"]
KEPT_NAMES += ["alpha", "epochs", "corpus_count", "corpus_total_words"]
NAMES = {  # options under our names, which also restore a stored model
    "vector_size": "dim",
    "window": "window",
    "sample": "subsample",
    "seed": "seed",
    "ns_exponent": "noise_exponent",
    "alpha": "learning_rate",
    "shrink_windows": "dynamic_window",
    "epochs": "epochs",
}


class TrainedModel:
    """Base of the models. Options are attributes, which can be changed between two trainings.

    `model` is the artifact of our recipe; None before the first training.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "vector_size": 100,
        "alpha": 0.025,
        "window": 5,
        "sample": 1e-3,
        "seed": 1,
        "ns_exponent": 0.75,
        "shrink_windows": True,
        "epochs": 5,
        "hs": 0,
        "negative": 5,
        "min_count": 5,
        "max_vocab_size": None,
        "max_final_vocab": None,
        "trim_rule": None,
        "workers": 3,
        "min_alpha": 0.0001,
        "callbacks": (),
    }
    vector_size: int
    alpha: float
    window: int
    sample: float
    seed: int
    ns_exponent: float
    shrink_windows: bool
    epochs: int
    hs: int
    negative: int
    min_count: int
    max_vocab_size: int | None
    max_final_vocab: int | None
    trim_rule: TrimRule | None
    workers: int
    min_alpha: float
    callbacks: Sequence[Any]

    def __init__(self, texts: Any = None, corpus_file: Name | None = None, **options: Any) -> None:
        unknown = [name for name in options if name not in self.defaults and name not in IGNORED]
        if unknown:
            raise OptionError(f"{', '.join(unknown)}: not supported by {type(self).__name__.removeprefix('Gensim')}")
        for name, default in self.defaults.items():
            setattr(self, name, options.get(name, default))
        if not self.hs and not self.negative:
            raise OptionError("hs and negative are both 0: nothing would be trained")
        self.model: Any = None
        self.vocabulary, self.effective_min_count = Vocabulary((), ()), self.min_count
        self.raw_vocab: dict[str, int] = {}
        self.corpus_count = self.corpus_total_words = 0
        self.running_training_loss = 0.0
        self.wv = KeyedVectors(self.vector_size)
        self.recipe()  # reports wrong options now
        if texts is not None or corpus_file is not None:
            self.build_vocab(texts, corpus_file=corpus_file)
            self.train(texts, corpus_file=corpus_file)

    def recipe(self) -> Any:
        """The recipe of these options."""
        raise NotImplementedError

    def shared_options(self) -> dict[str, Any]:
        """The options of the recipe that all models have."""
        shared = {ours: getattr(self, name) for name, ours in NAMES.items()}
        shared["dynamic_window"] = bool(self.shrink_windows)
        objective = ("both" if self.negative else "hierarchical-softmax") if self.hs else "negative-sampling"
        return {**shared, "min_count": 1, "negatives": max(1, self.negative), "objective": objective}

    def restore_options(self, recipe: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
        """Sets the attributes from the options of a stored recipe, and from those that it does not have."""
        for name, ours in NAMES.items():
            if recipe.get(ours) is not None:
                setattr(self, name, recipe[ours])
        for name, value in kept.items():
            setattr(self, name, value)
        self.hs = int(recipe["objective"] in ("hierarchical-softmax", "both"))
        self.negative = 0 if recipe["objective"] == "hierarchical-softmax" else recipe["negatives"]

    def build_vocab(
        self,
        corpus_iterable: Any = None,
        corpus_file: Name | None = None,
        update: bool = False,
        trim_rule: TrimRule | None = None,
        **ignored: Any,
    ) -> None:
        """Counts the words. With `update`, those of an earlier text are kept, and their counts are added."""
        texts = self.open_texts(corpus_iterable, corpus_file)
        words, count = self._scan(texts, trim_rule)
        self.build_vocab_from_freq(self.raw_vocab, update=update, corpus_count=count, trim_rule=trim_rule)
        self.corpus_total_words = words

    def scan_vocab(
        self, corpus_iterable: Any = None, corpus_file: Name | None = None, trim_rule: TrimRule | None = None
    ) -> tuple[int, int]:
        """Counts the words of a text into `raw_vocab`; returns the numbers of words and of sentences."""
        return self._scan(self.open_texts(corpus_iterable, corpus_file), trim_rule)

    def _scan(self, corpus: Corpus, trim_rule: TrimRule | None) -> tuple[int, int]:
        tokens = corpus.tokens()
        self.raw_vocab = dict(corpus.vocabulary.most_common(len(corpus.vocabulary)))
        if self.max_vocab_size:
            self.raw_vocab = count_pruned(corpus.sentences(), self.max_vocab_size, trim_rule or self.trim_rule)
        return len(tokens), len(tokens.documents) - 1

    def prepare_vocab(self, trim_rule: TrimRule | None = None, **ignored: Any) -> dict[str, int]:
        """Chooses the words of `raw_vocab`, and says how many stay and go."""
        total = len(self.raw_vocab)
        self.build_vocab_from_freq(self.raw_vocab, trim_rule=trim_rule)
        kept = self.vocabulary
        return {
            "drop_unique": total - len(kept),
            "retain_total": kept.total,
            "num_retained_words": len(kept),
        }

    def build_vocab_from_freq(
        self,
        word_freq: Mapping[str, int],
        update: bool = False,
        corpus_count: int | None = None,
        trim_rule: TrimRule | None = None,
        **ignored: Any,
    ) -> None:
        """Takes the words and their counts; new words have random vectors."""
        rule = trim_rule or self.trim_rule
        found, self.effective_min_count = choose_counts(word_freq, self.min_count, self.max_final_vocab, rule)
        self.vocabulary = self.vocabulary.merge(found) if update else found
        self.corpus_count = corpus_count or 0
        if not update:
            self.model = None
        self.start_vectors()

    def start_vectors(self) -> None:
        """Gives words without a vector a random one, before the first step of the training."""
        raise NotImplementedError

    def random_vectors(self, count: int, bound: float) -> NDArray[np.float32]:
        """Random vectors, each number in ±bound."""
        rows = random_rows(count, self.vector_size, bound, self.seed, Runtime(1))
        return np.ascontiguousarray(rows[:, : self.vector_size])

    def train(
        self,
        corpus_iterable: Any = None,
        corpus_file: Name | None = None,
        total_examples: int | None = None,
        total_words: int | None = None,
        epochs: int | None = None,
        start_alpha: float | None = None,
        callbacks: Sequence[Any] = (),
        **ignored: Any,
    ) -> None:
        """Trains on a text, from the vectors so far. Callbacks have methods such as `on_epoch_end`.

        Neither the length of the text nor the number of epochs must be given.
        """
        corpus = self.open_texts(corpus_iterable, corpus_file)
        if not len(self.vocabulary):
            raise RuntimeError("you must first build vocabulary before training the model")
        options = {"epochs": epochs, "learning_rate": start_alpha}
        recipe = self.recipe(**{name: value for name, value in options.items() if value is not None})
        calls = [*self.callbacks, *callbacks]

        def call(name: str) -> None:
            for one in calls:
                getattr(one, name, lambda model: None)(self)

        def end_epoch(end: Any) -> None:
            self.adopt(end.vectors)
            call("on_epoch_end")
            if end.epoch < recipe.epochs:
                call("on_epoch_begin")

        call("on_train_begin")
        call("on_epoch_begin")
        small = len(corpus.tokens()) < SMALL
        runtime = Runtime.from_env(1 if small else self.workers)
        self.adopt(self.fit(recipe, corpus, runtime, end_epoch if calls else None))
        self.running_training_loss = float(sum(self.model.metadata["loss"]))
        call("on_train_end")

    def fit(self, recipe: Any, corpus: Corpus, runtime: Runtime, on_epoch: Any) -> Any:
        """The artifact after the training."""
        raise NotImplementedError

    def adopt(self, model: Any) -> None:
        """Takes an artifact as the state of this model."""
        raise NotImplementedError

    def get_latest_training_loss(self) -> float:
        """The losses of the epochs of the last training, summed; each is the mean loss of a prediction."""
        return self.running_training_loss

    def reset_from(self, other_model: TrainedModel) -> None:
        """Takes the vocabulary of another model, with new random vectors."""
        self.vocabulary, self.raw_vocab = other_model.vocabulary, dict(other_model.raw_vocab)
        self.corpus_count, self.corpus_total_words = other_model.corpus_count, other_model.corpus_total_words
        self.model = None
        self.start_vectors()

    def save(self, path: Name, **ignored: Any) -> None:
        """Saves the model as a folder in firth's own format; there are no separate files of arrays."""
        if self.model is None:
            raise OptionError("the model has no vocabulary yet: there is nothing to save. Call build_vocab first")
        self.model.metadata[KEPT] = {name: getattr(self, name) for name in KEPT_NAMES}
        save(self.model, path, format="native")

    def open_texts(self, texts: Any, corpus_file: Name | None) -> Corpus:
        """A list of lists of words, or a file with a sentence on each line, as a corpus."""
        if (texts is None) == (corpus_file is None):
            raise TypeError("give either a list of texts or corpus_file")
        if corpus_file is not None:
            if not isinstance(corpus_file, (str, Path)):
                raise TypeError(f"corpus_file is {corpus_file!r:.60}, but must be the name of a file")
            return Corpus(Path(corpus_file), tokenizer=Tokenizer(mode="whitespace"), documents="line")
        return Corpus.of([list_words(text) for text in check_iterable(texts)])


class SingleOutputModel(TrainedModel):
    """Base of the models with one output layer: of words, or of the inner nodes of the Huffman tree."""

    @property
    def syn1neg(self) -> NDArray[np.float32]:
        """The output vectors of the words, trained by negative sampling."""
        return self._outputs(self.negative)

    @property
    def syn1(self) -> NDArray[np.float32]:
        """The output vectors of the inner nodes of the Huffman tree, trained by hierarchical softmax."""
        return self._outputs(self.hs)

    def _outputs(self, is_trained: int) -> NDArray[np.float32]:
        if self.model is None or not is_trained:
            raise AttributeError("the model has no such output vectors: it is not trained so, or has no vocabulary yet")
        return self._output_rows()

    def _output_rows(self) -> NDArray[np.float32]:
        raise NotImplementedError


def check_iterable(texts: Any) -> Any:
    """Texts that can be read; a number is a TypeError, as in gensim."""
    if isinstance(texts, str) or not hasattr(texts, "__iter__"):
        raise TypeError(f"the texts are {texts!r:.60}, but must be a list of lists of words")
    return texts


def list_words(text: Any) -> list[str]:
    """The words of a sentence; a text is an error, since its characters would be the words.

    >>> list_words("hot tea")
    Traceback (most recent call last):
    firth.errors.OptionError: a sentence is the text 'hot tea', but must be a list of words: 'hot tea'.split()
    """
    if isinstance(text, str):
        raise OptionError(f"a sentence is the text {text!r:.60}, but must be a list of words: {text!r:.60}.split()")
    return list(text)
