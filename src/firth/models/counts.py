"""The ladder the field climbed: one-hot, document-term, TF-IDF, co-occurrence, PMI, SVD.

Each rung is one kind of the same recipe, and stands on the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity

from firth.errors import OptionError
from firth.models import weighting
from firth.models.cooccurrence import ContextWindow, Tokens, count_documents, count_pairs, parse_size
from firth.models.count_matrix import BY_DOCUMENT, CountMatrix
from firth.models.stop_words import ENGLISH_STOP_WORDS, STOP_WORDS
from firth.models.svd import truncated_svd
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

__all__ = ["ENGLISH_STOP_WORDS", "Counts", "choose_words"]


class TokenSource(Protocol):
    """Where words come from: a `Corpus`, or anything that gives its tokens and says how it cut them."""

    @property
    def tokenizer(self) -> Tokenizer: ...
    def tokens(self, report: Report = silent) -> Tokens: ...


@dataclass(frozen=True)
class Counts(Recipe):
    """Words as counts: a sparse matrix with names or, for `svd`, short vectors.

    >>> from firth.text.corpus import Corpus
    >>> corpus = Corpus.of(["I like deep learning .", "I like NLP .", "I enjoy flying ."])
    >>> counts = Counts(kind="co-occurrence", window=1).fit(corpus)
    >>> counts.value("I", "like"), counts.value("I", "enjoy"), counts.value("like", "deep")
    (2.0, 1.0, 1.0)
    """

    commands = (
        "firth train counts corpus.txt --kind svd --dim 100 --out vectors/",
        "firth train counts corpus.txt --kind co-occurrence --window 10 --out counts/",
        "firth train counts articles.jsonl --field text --kind tf-idf --out tfidf/",
    )

    kind: Literal["one-hot", "document-term", "tf-idf", "co-occurrence", "pmi", "ppmi", "svd"] = option(
        "co-occurrence", "which rung of the ladder"
    )
    min_count: int = option(1, "leave out words that are rarer", minimum=1)
    max_words: int | None = option(None, "keep at most so many words, the most frequent ones", minimum=1)
    stop_words: str | tuple[str, ...] = option(
        (), "words to leave out: a list (a,is,the) or 'english'; one in small letters also matches its capitals"
    )
    punctuation: bool | None = option(
        None, "keep tokens without a letter or digit; if not given, kept except by document-term and tf-idf"
    )
    window: int = option(5, "words looked at on each side, never across a sentence", minimum=1)
    direction: Literal["both", "left", "right"] = option("both", "the side on which a word looks for its contexts")
    weighting: Literal["flat", "harmonic"] = option("flat", "what a pair counts: 1, or 1 / distance as in GloVe")
    gaps: Literal["close", "keep"] = option(
        "close", "what a left-out word leaves behind: close: nothing, as in GloVe; keep: its place in the window"
    )
    log: Literal["natural", "base10"] = option("natural", "the logarithm in idf, log tf and PMI")
    tf: Literal["raw", "relative", "log"] = option("raw", "a word's count in a document, its share, or 1 + log count")
    smooth: Literal["none", "plus-one", "add-one"] = option(
        "none", "idf: log(N/df); plus-one: that + 1; add-one: log((1+N)/(1+df)) + 1, as in scikit-learn"
    )
    normalize: Literal["none", "l2"] = option("none", "l2: divide each row by its length")
    shift: float = option(1.0, "PMI: subtract log(shift), as k negative samples do")
    context_smoothing: float = option(
        1.0, "PMI: raise the counts of contexts to this power; 0.75 tames rare ones", minimum=0
    )
    svd_of: Literal["ppmi", "pmi", "co-occurrence", "tf-idf", "document-term"] = option(
        "ppmi", "svd: which matrix is decomposed; tf-idf gives latent semantic analysis"
    )
    dim: int = option(100, "svd: length of the vectors", minimum=1)
    eigenvalue_power: float = option(0.5, "svd: weigh dimensions by their singular values to this power", minimum=0)
    rounds: int = option(5, "svd: rounds of refinement; more are slower and more exact", minimum=0)
    seed: int = option(1, "svd: where the random numbers start", minimum=0)
    memory_limit: int | str = option("2 GB", "counting lays pairs aside on disk beyond this size")
    spill_folder: str | None = option(
        None, "where pairs are laid aside; the system's folder for passing files if not given"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_size(self.memory_limit)
        if not self.shift > 0:
            raise OptionError(f"Counts: shift is {self.shift!r}, but must be above 0")
        self.stop_list()

    def stop_list(self) -> frozenset[str]:
        """The words that are left out."""
        if not isinstance(self.stop_words, str):
            return frozenset(self.stop_words)
        if self.stop_words in STOP_WORDS:
            return STOP_WORDS[self.stop_words]
        if "," in self.stop_words:
            return frozenset(self.stop_words.split(","))
        names = ", ".join(map(repr, STOP_WORDS))
        raise OptionError(f"Counts: stop_words is {self.stop_words!r}, but must be a list of words or one of {names}")

    @property
    def matrix_kind(self) -> str:
        """The matrix that is counted: for svd, the one that is decomposed."""
        return self.svd_of if self.kind == "svd" else self.kind

    def fit(
        self, corpus: TokenSource, *, runtime: Runtime | None = None, report: Report = silent
    ) -> CountMatrix | WordVectors:
        """The matrix of this kind with the names of its rows and columns; for svd, the words' vectors."""
        runtime = runtime or Runtime.from_env()
        tokens = corpus.tokens(report)
        words, kept = choose_words(tokens.vocabulary, self)
        if not len(words):
            found = f"{len(tokens.vocabulary):,} words"
            raise OptionError(
                f"Counts: of {found} none is left. Lower min_count ({self.min_count}) or drop fewer words"
            )
        metadata = {
            "recipe": {"name": "counts", **self.as_dict()},
            "tokenizer": corpus.tokenizer.as_dict(),
            "tokens": len(tokens.ids),
        }
        if self.matrix_kind in BY_DOCUMENT:
            documents = count_documents(tokens, kept, len(words), runtime=runtime)
            return self._by_document(documents, words, metadata, runtime, report)
        if self.kind == "one-hot":
            return CountMatrix(identity(len(words), np.float64, "csr"), words, words, metadata)
        counts = count_pairs(
            tokens,
            kept,
            len(words),
            self._near(),
            memory_limit=parse_size(self.memory_limit),
            folder=self.spill_folder,
            runtime=runtime,
            report=report,
        )
        return self._by_word(counts, words, metadata, runtime, report)

    def _near(self) -> ContextWindow:
        before = 0 if self.direction == "right" else self.window
        after = 0 if self.direction == "left" else self.window
        return ContextWindow(before, after, harmonic=self.weighting == "harmonic", keep_places=self.gaps == "keep")

    def _by_document(
        self, counts: csr_matrix, words: Vocabulary, metadata: dict[str, Any], runtime: Runtime, report: Report
    ) -> CountMatrix | WordVectors:
        idf = None
        if self.matrix_kind == "tf-idf":
            idf = weighting.inverse_document_frequency(counts, self.log, self.smooth)
            counts = weighting.tf_idf(counts, idf, tf=self.tf, log=self.log)
        if self.kind == "svd":
            return self._vectors(counts.T.tocsr(), words, metadata, runtime, report)
        if self.normalize == "l2":
            counts = weighting.normalize_rows(counts)
        documents = Vocabulary(map(str, range(counts.shape[0])))
        return CountMatrix(counts, documents, words, metadata, idf=idf)

    def _by_word(
        self, counts: csr_matrix, words: Vocabulary, metadata: dict[str, Any], runtime: Runtime, report: Report
    ) -> CountMatrix | WordVectors:
        if self.matrix_kind in ("pmi", "ppmi"):
            counts = weighting.pmi(
                counts,
                shift=self.shift,
                context_smoothing=self.context_smoothing,
                positive=self.matrix_kind == "ppmi",
                log=self.log,
            )
        if self.kind == "svd":
            return self._vectors(counts, words, metadata, runtime, report)
        if self.normalize == "l2":
            counts = weighting.normalize_rows(counts)
        return CountMatrix(counts, words, words, metadata)

    def _vectors(
        self, matrix: csr_matrix, words: Vocabulary, metadata: dict[str, Any], runtime: Runtime, report: Report
    ) -> WordVectors:
        found = truncated_svd(matrix, self.dim, seed=self.seed, rounds=self.rounds, runtime=runtime, report=report)
        rows = found.rows(self.eigenvalue_power)
        if self.normalize == "l2":
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(lengths > 0, lengths, 1.0)
        return WordVectors(
            words, rows.astype(np.float32), metadata={**metadata, "singular_values": found.values.tolist()}
        )


def choose_words(vocabulary: Vocabulary, recipe: Counts) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The words that are counted, and for every id of the text the number among them, or -1.

    >>> words, kept = choose_words(Vocabulary(["a", "lazy", "!"], [3, 2, 1]), Counts(kind="tf-idf", stop_words=("a",)))
    >>> words.words, kept
    (('lazy',), array([-1,  0, -1], dtype=int32))
    """
    frequent = vocabulary.cut(recipe.min_count)
    punctuation = recipe.punctuation
    if punctuation is None:
        punctuation = recipe.matrix_kind not in BY_DOCUMENT
    stop = recipe.stop_list()
    chosen = np.arange(len(frequent))
    if stop or not punctuation:
        fits = [is_counted(word, stop, punctuation) for word in frequent]
        chosen = np.flatnonzero(np.array(fits, bool))
    chosen = chosen[: recipe.max_words]
    kept = np.full(len(vocabulary), -1, np.int32)
    kept[chosen] = np.arange(len(chosen))
    return frequent.take(chosen), kept


def is_counted(word: str, stop: frozenset[str], punctuation: bool) -> bool:
    """Whether a word is neither a stop word nor, unless it is wanted, mere punctuation."""
    if word in stop or word.lower() in stop:
        return False
    return punctuation or any(character.isalnum() for character in word)
