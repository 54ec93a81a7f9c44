"""Count-based word representations: one-hot, document-term, TF-IDF, co-occurrence, PMI, SVD.

Each is one `kind` of the same recipe.
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
from firth.models.smart import SmartCode
from firth.models.stop_words import ENGLISH_STOP_WORDS, STOP_WORDS
from firth.models.svd import truncated_svd
from firth.models.token_lists import TokenLists
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.bar import shows_progress
from firth.text.corpus import Corpus, Source
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

__all__ = ["ENGLISH_STOP_WORDS", "Counts", "choose_words"]


class TokenSource(Protocol):
    """A source of tokens with their tokenizer: a `Corpus` or `TokenLists`."""

    @property
    def tokenizer(self) -> Tokenizer: ...
    def tokens(self, report: Report = silent, runtime: Runtime | None = None) -> Tokens: ...


@dataclass(frozen=True)
class Counts(Recipe):
    """Count-based representations: a sparse matrix with named rows and columns or, for `svd`, dense vectors.

    >>> from firth.text.corpus import Corpus
    >>> corpus = Corpus.of(["I like deep learning .", "I like NLP .", "I enjoy flying ."])
    >>> counts = Counts(kind="co-occurrence", window=1).fit(corpus)
    >>> counts.value("I", "like"), counts.value("I", "enjoy"), counts.value("like", "deep")
    (2.0, 1.0, 1.0)
    >>> Counts(kind="tf-idf", smart="ltc").fit(corpus)["deep"].round(4)
    array([0.6604, 0.    , 0.    ])
    """

    commands = (
        "firth train counts corpus.txt --kind svd --dim 100 --out vectors/",
        "firth train counts corpus.txt --kind co-occurrence --window 10 --out counts/",
        "firth train counts articles.jsonl --field text --kind tf-idf --out tfidf/",
        "firth train counts articles.jsonl --field text --kind tf-idf --smart ltc --out tfidf/",
    )

    kind: Literal["one-hot", "document-term", "tf-idf", "co-occurrence", "pmi", "ppmi", "svd"] = option(
        "co-occurrence", "Kind of matrix; svd gives dense vectors."
    )
    min_count: int = option(1, "Drop words with a lower count.", minimum=1)
    max_words: int | None = option(
        None, "Keep at most this many of the most frequent words; all by default.", minimum=1
    )
    stop_words: str | tuple[str, ...] = option(
        (), "Words to drop: a list (a,is,the) or 'english'. A lowercase stop word matches any case."
    )
    punctuation: bool | None = option(
        None, "Keep tokens without a letter or digit. By default only document-term and tf-idf drop them."
    )
    window: int = option(5, "Context words on each side, within the sentence.", minimum=1, maximum=1_000_000)
    direction: Literal["both", "left", "right"] = option("both", "Side of the word on which contexts are counted.")
    weighting: Literal["flat", "harmonic"] = option(
        "flat", "Weight of a pair: flat is 1, harmonic is 1 / distance as in GloVe."
    )
    gaps: Literal["close", "keep"] = option(
        "close", "Place of a dropped word in the window: close removes it, as in GloVe; keep preserves it."
    )
    log: Literal["natural", "base2", "base10"] = option("natural", "Base of the logarithm in idf, log tf and PMI.")
    tf: Literal["raw", "relative", "log"] = option(
        "raw", "Term frequency: the count, its share of the document, or 1 + log count."
    )
    smooth: Literal["none", "plus-one", "add-one"] = option(
        "none", "Smoothing of idf = log(N/df): plus-one adds 1; add-one is log((1+N)/(1+df)) + 1, as in scikit-learn."
    )
    normalize: Literal["none", "l2"] = option(
        "none", "Normalization of rows: l2 divides each row by its Euclidean norm."
    )
    smart: str | None = option(
        None,
        "tf-idf: SMART code in place of tf, smooth and normalize, such as ltc: term frequency n b l a d L, "
        "document frequency n f t p, normalization n c u b.",
    )
    slope: float = option(
        0.25, "SMART normalization u and b: share of the document's own length in its norm.", minimum=0, maximum=1
    )
    shift: float = option(1.0, "PMI: subtract log(shift); k corresponds to k negative samples of word2vec.")
    context_smoothing: float = option(
        1.0, "PMI: exponent of the context counts; 0.75 lowers the PMI of rare contexts.", minimum=0
    )
    svd_of: Literal["ppmi", "pmi", "co-occurrence", "tf-idf", "document-term"] = option(
        "ppmi", "svd: matrix to decompose; tf-idf gives latent semantic analysis."
    )
    dim: int = option(100, "svd: dimension of the vectors.", minimum=1, maximum=1_000_000)
    eigenvalue_power: float = option(0.5, "svd: exponent of the singular values that scale the dimensions.", minimum=0)
    rounds: int = option(5, "svd: power iterations; more are slower and more accurate.", minimum=0)
    seed: int = option(1, "svd: random seed.", minimum=0)
    memory_limit: int | str = option(
        "2 GB", "Memory for counting, in bytes or as '2 GB'; beyond it, counts are spilled to disk."
    )
    spill_folder: str | None = option(None, "Directory for spilled counts; the temporary directory by default.")

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_size(self.memory_limit)
        if not self.shift > 0:
            raise OptionError(f"Counts: shift is {self.shift!r}, but must be above 0")
        self.stop_list()
        if self.smart is not None:
            self._check_smart(self.smart)

    def _check_smart(self, code: str) -> None:
        try:
            SmartCode.parse(code)
        except OptionError as error:
            raise OptionError(f"Counts: {error}") from None
        if self.matrix_kind != "tf-idf":
            name = "svd_of" if self.kind == "svd" else "kind"
            problem = f"smart is {code!r}, a weighting of tf-idf, but {name} is {self.matrix_kind!r}"
            raise OptionError(f"Counts: {problem}. Use {name}='tf-idf'")
        names = ["tf", "smooth"] + ["normalize"] * (self.kind != "svd")  # svd normalizes vectors, not documents
        for name in names:
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                problem = f"smart is {code!r} and {name} is {getattr(self, name)!r}, but smart replaces {name}"
                raise OptionError(f"Counts: {problem}. Leave out one of them")

    def stop_list(self) -> frozenset[str]:
        """The words to drop."""
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
        """The kind of the counted matrix: for svd, of the matrix to decompose."""
        return self.svd_of if self.kind == "svd" else self.kind

    @shows_progress
    def fit(
        self,
        corpus: TokenLists | Source,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
    ) -> CountMatrix | WordVectors:
        """Counts a corpus. Returns a matrix with named rows and columns or, for svd, word vectors."""
        runtime = runtime or Runtime.from_env()
        source: TokenSource = corpus if isinstance(corpus, TokenLists) else Corpus.of(corpus)
        tokens = source.tokens(report, runtime)
        words, id_map = choose_words(tokens.vocabulary, self)
        if not len(words):
            problem = f"Counts: none of the {len(tokens.vocabulary):,} words is left"
            raise OptionError(f"{problem}. Lower min_count ({self.min_count}) or drop fewer words")
        metadata = {
            "recipe": {"name": "counts", **self.as_dict()},
            "tokenizer": source.tokenizer.as_dict(),
            "tokens": len(tokens.ids),
        }
        by_document, idf = self.matrix_kind in BY_DOCUMENT, None
        if by_document:
            matrix = count_documents(tokens, id_map, len(words), runtime=runtime)
        else:
            matrix = self._count_contexts(tokens, id_map, len(words), runtime, report)
        if self.matrix_kind == "tf-idf":
            code = None if self.smart is None else SmartCode.parse(self.smart)
            idf = weighting.inverse_document_frequency(matrix, self.log, code.idf if code else self.smooth)
            if code is None:
                matrix = weighting.tf_idf(matrix, idf, tf=self.tf, log=self.log)
            else:
                pivot = metadata["pivot"] = code.pivot(matrix, words)
                matrix = code.weigh(matrix, words, idf, log=self.log, slope=self.slope, pivot=pivot)
        if self.kind == "svd":
            return self._decompose(matrix.T.tocsr() if by_document else matrix, words, metadata, runtime, report)
        if self.normalize == "l2":
            matrix = weighting.normalize_rows(matrix)
        rows = Vocabulary(map(str, range(matrix.shape[0]))) if by_document else words
        return CountMatrix(matrix, rows, words, metadata, idf=idf)

    def _count_contexts(
        self, tokens: Tokens, id_map: NDArray[np.int32], size: int, runtime: Runtime, report: Report
    ) -> csr_matrix:
        if self.kind == "one-hot":
            return identity(size, np.float64, "csr")
        before = 0 if self.direction == "right" else self.window
        after = 0 if self.direction == "left" else self.window
        context = ContextWindow(before, after, harmonic=self.weighting == "harmonic", keep_gaps=self.gaps == "keep")
        limit, folder = parse_size(self.memory_limit), self.spill_folder
        counts = count_pairs(
            tokens, id_map, size, context, memory_limit=limit, folder=folder, runtime=runtime, report=report
        )
        if self.matrix_kind not in ("pmi", "ppmi"):
            return counts
        positive, smoothing = self.matrix_kind == "ppmi", self.context_smoothing
        return weighting.pmi(counts, shift=self.shift, context_smoothing=smoothing, positive=positive, log=self.log)

    def _decompose(
        self, matrix: csr_matrix, words: Vocabulary, metadata: dict[str, Any], runtime: Runtime, report: Report
    ) -> WordVectors:
        svd = truncated_svd(matrix, self.dim, seed=self.seed, rounds=self.rounds, runtime=runtime, report=report)
        rows = svd.rows(self.eigenvalue_power)
        if self.normalize == "l2":
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(norms > 0, norms, 1.0)
        metadata = {**metadata, "singular_values": svd.values.tolist()}
        return WordVectors(words, rows.astype(np.float32), metadata=metadata)


def choose_words(vocabulary: Vocabulary, recipe: Counts) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The words to count, and for every id of the text the id among them, or -1.

    >>> recipe = Counts(kind="tf-idf", stop_words=("a",))
    >>> words, id_map = choose_words(Vocabulary(["a", "lazy", "!"], [3, 2, 1]), recipe)
    >>> words.words, id_map
    (('lazy',), array([-1,  0, -1], dtype=int32))
    """
    frequent = vocabulary.cut(recipe.min_count)
    punctuation = recipe.punctuation
    if punctuation is None:
        punctuation = recipe.matrix_kind not in BY_DOCUMENT
    stop = recipe.stop_list()
    chosen = np.arange(len(frequent))
    if stop or not punctuation:
        counted = [is_counted(word, stop, punctuation) for word in frequent]
        chosen = np.flatnonzero(np.array(counted, bool))
    chosen = chosen[: recipe.max_words]
    id_map = np.full(len(vocabulary), -1, np.int32)
    id_map[chosen] = np.arange(len(chosen))
    return frequent.take(chosen), id_map


def is_counted(word: str, stop: frozenset[str], punctuation: bool) -> bool:
    """Whether a word is no stop word and, unless `punctuation` is on, has a letter or digit."""
    if word in stop or word.lower() in stop:
        return False
    return punctuation or any(character.isalnum() for character in word)
