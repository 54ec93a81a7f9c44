"""gensim's `Phrases` and `FrozenPhrases`, for code that is ported from gensim.

Counts are those of gensim: one table of words and of candidates, joined by the delimiter, so that its scores and its
`vocab` are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from math import log
from typing import Any, ClassVar, Self

from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load, save
from firth.models.connected_phrases import ConnectedPhrases, Key, candidates, join_words
from firth.models.phrases import ENGLISH_CONNECTORS

Sentences = Iterable[Iterable[str]]
Scorer = Callable[[int, int, int, int, float, int], float]


def original_scorer(
    worda_count: int,
    wordb_count: int,
    bigram_count: int,
    len_vocab: int,
    min_count: float,
    corpus_word_count: int,
) -> float:
    """The score of the word2vec paper, with gensim's number of types.

    >>> original_scorer(2, 3, 4, 12, 1, 100)
    6.0
    """
    return (bigram_count - min_count) / worda_count / wordb_count * len_vocab


def npmi_scorer(
    worda_count: int,
    wordb_count: int,
    bigram_count: int,
    len_vocab: int,
    min_count: float,
    corpus_word_count: int,
) -> float:
    """Normalized pointwise mutual information, from -1 to 1; -∞ for a pair with fewer than `min_count` occurrences."""
    if bigram_count < min_count:
        return float("-inf")
    shares = [count / corpus_word_count for count in (worda_count, wordb_count, bigram_count)]
    return log(shares[2] / (shares[0] * shares[1])) / -log(shares[2])


SCORERS: dict[str, Scorer] = {"default": original_scorer, "npmi": npmi_scorer}


class PhraseTransformation:
    """Joins the phrases of sentences. `score_candidate` says which words are a phrase."""

    def __init__(self, connector_words: Iterable[str] = frozenset()) -> None:
        self.connector_words = frozenset(connector_words)
        self.delimiter = "_"

    def score_candidate(
        self, word_a: str, word_b: str, in_between: Sequence[str]
    ) -> tuple[str, float] | tuple[None, None]:
        """The phrase and its score, or None twice if the words are no phrase."""
        raise NotImplementedError

    def __contains__(self, key: object) -> bool:
        words = list(key) if isinstance(key, tuple) else []
        return len(words) > 1 and self.score_candidate(words[0], words[-1], words[1:-1])[0] is not None

    def __getitem__(self, sentence: Any) -> Any:
        """A sentence with its phrases joined; sentences are joined when they are read, again and again."""
        if not hasattr(sentence, "__getitem__"):
            sentence = list(sentence)  # an iterator can be read once
        first = sentence[0] if len(sentence) else ""
        if not isinstance(first, str):
            return JoinedSentences(self, [list(one) for one in sentence] if is_once(first) else sentence)
        return join_words(list(sentence), self.connector_words, self, self.delimiter)

    def find_phrases(self, sentences: Sentences) -> dict[str, float]:
        """The phrases that occur in these sentences, with their scores."""
        found: dict[str, float] = {}
        for sentence in sentences:
            words, done = list(sentence), 0
            for first, last in candidates(words, self.connector_words):
                phrase, score = self.score_candidate(words[first], words[last], words[first + 1 : last])
                if first >= done and phrase is not None and score is not None:
                    found[phrase], done = score, last + 1
        return found


def is_once(sentence: Any) -> bool:
    """Whether a sentence can be read only once."""
    return iter(sentence) is sentence


class JoinedSentences:
    """Sentences with their phrases joined, whenever they are read."""

    def __init__(self, phrases: PhraseTransformation, sentences: Any) -> None:
        self.phrases, self.sentences = phrases, sentences

    def __iter__(self) -> Any:
        return (self.phrases[list(sentence)] for sentence in self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)


def prune(counts: dict[str, int], least: int) -> dict[str, int]:
    """The names with at least so many occurrences.

    >>> prune({"tea": 3, "rain": 1}, 2)
    {'tea': 3}
    """
    return {name: count for name, count in counts.items() if count >= least}


class GensimPhrases(PhraseTransformation):
    """gensim's phrases, in one pass. `scoring` is "default", "npmi" or a function with gensim's six parameters.

    >>> model = GensimPhrases([["new", "york", "is", "large"], ["new", "york"]] * 9, min_count=1, threshold=0.1)
    >>> model[["in", "new", "york"]], model.vocab["new_york"]
    (['in', 'new_york'], 18)
    """

    def __init__(
        self,
        sentences: Sentences | None = None,
        min_count: float = 5.0,
        threshold: float = 10.0,
        max_vocab_size: int = 40_000_000,
        delimiter: str = "_",
        progress_per: int = 10_000,
        scoring: str | Scorer = "default",
        connector_words: Iterable[str] = frozenset(),
    ) -> None:
        super().__init__(connector_words)
        if min_count <= 0:
            raise OptionError(f"min_count is {min_count}, but must be above 0")
        if isinstance(scoring, str) and scoring not in (*SCORERS, "original_scorer"):
            raise OptionError(f"scoring is {scoring!r}, but must be one of {', '.join(SCORERS)} or a function")
        if scoring in ("default", "original_scorer") and threshold <= 0:
            raise OptionError(f"threshold is {threshold}, but must be above 0 for the default score")
        if scoring == "npmi" and not -1 <= threshold <= 1:
            raise OptionError(f"threshold is {threshold}, but must be from -1 to 1 for npmi")
        self.min_count, self.threshold, self.max_vocab_size = min_count, threshold, max_vocab_size
        self.delimiter = delimiter
        self.scoring: Scorer = SCORERS.get(scoring, original_scorer) if isinstance(scoring, str) else scoring
        self.vocab: dict[str, int] = {}
        self.min_reduce, self.corpus_word_count = 1, 0
        if sentences is not None:
            self.add_vocab(sentences)

    def add_vocab(self, sentences: Sentences) -> None:
        """Counts the words and candidates of more sentences. As in gensim, a large table forgets rare ones early."""
        counts: dict[str, int] = {}
        least = 1
        for sentence in sentences:
            if isinstance(sentence, str):
                raise OptionError(f"a sentence is the text {sentence!r:.60}, but must be a list of words")
            words = list(sentence)
            self.corpus_word_count += len(words)
            pairs = (words[first : last + 1] for first, last in candidates(words, self.connector_words))
            free = (word for word in words if word not in self.connector_words)
            for name in chain(free, map(self.delimiter.join, pairs)):
                counts[name] = counts.get(name, 0) + 1
            if len(counts) > self.max_vocab_size:
                counts, least = prune(counts, least), least + 1
        if not self.vocab:
            self.vocab = counts
            return
        self.min_reduce = max(self.min_reduce, least)
        for name, count in counts.items():
            self.vocab[name] = self.vocab.get(name, 0) + count
        if len(self.vocab) > self.max_vocab_size:
            self.vocab, self.min_reduce = prune(self.vocab, self.min_reduce), self.min_reduce + 1

    def score_candidate(
        self, word_a: str, word_b: str, in_between: Sequence[str]
    ) -> tuple[str, float] | tuple[None, None]:
        """The phrase and its score, or None twice if its score is not above the threshold."""
        phrase = self.delimiter.join([word_a, *in_between, word_b])
        left, right, pair = (self.vocab.get(name, 0) for name in (word_a, word_b, phrase))
        if min(left, right, pair) <= 0:
            return None, None
        score = self.scoring(left, right, pair, len(self.vocab), self.min_count, self.corpus_word_count)
        return (phrase, score) if score > self.threshold else (None, None)

    def export_phrases(self) -> dict[str, float]:
        """The phrases with their scores."""
        found: dict[str, float] = {}
        for name in self.vocab:
            parts = name.split(self.delimiter)
            if len(parts) > 1:
                phrase, score = self.score_candidate(parts[0], parts[-1], parts[1:-1])
                if phrase is not None and score is not None:
                    found[phrase] = score
        return found

    def freeze(self) -> FrozenPhrases:
        """The phrases without the counts of all words and candidates."""
        return FrozenPhrases(self)

    def save(self, path: Name, **ignored: Any) -> None:
        """Saves the phrases as a folder in firth's own format."""
        self.freeze().save(path)

    @classmethod
    def load(cls, path: Name) -> FrozenPhrases:
        """Opens phrases that `save` wrote. They are frozen: counts of other candidates are not stored."""
        return FrozenPhrases.load(path)


class FrozenPhrases(PhraseTransformation):
    """Finished phrases with their scores.

    >>> frozen = FrozenPhrases(GensimPhrases([["new", "york", "is"], ["new", "york"]] * 9, threshold=0.2))
    >>> frozen[["in", "new", "york"]], list(frozen.phrasegrams)
    (['in', 'new_york'], ['new_york'])
    """

    names: ClassVar[dict[str, str]] = {"original_scorer": "default", "npmi_scorer": "npmi"}

    def __init__(self, phrases_model: Any) -> None:
        super().__init__(phrases_model.connector_words)
        self.delimiter, self.min_count = phrases_model.delimiter, phrases_model.min_count
        self.threshold, self.scoring = phrases_model.threshold, phrases_model.scoring
        self.phrasegrams: dict[str, float] = dict(phrases_model.export_phrases())

    def score_candidate(
        self, word_a: str, word_b: str, in_between: Sequence[str]
    ) -> tuple[str, float] | tuple[None, None]:
        """The phrase and its score, or None twice if the words are no phrase."""
        phrase = self.delimiter.join([word_a, *in_between, word_b])
        score = self.phrasegrams.get(phrase)
        return (None, None) if score is None else (phrase, score)

    def export_phrases(self) -> dict[str, float]:
        """The phrases with their scores."""
        return dict(self.phrasegrams)

    def save(self, path: Name, **ignored: Any) -> None:
        """Saves the phrases as a folder in firth's own format. A scorer of your own is not stored."""
        keys: dict[Key, tuple[int, float]] = {
            tuple(name.split(self.delimiter)): (0, score) for name, score in self.phrasegrams.items()
        }
        scoring = self.names.get(getattr(self.scoring, "__name__", ""), "own")
        recipe = {"name": "phrases", "min_count": self.min_count, "threshold": self.threshold, "scoring": scoring}
        save(ConnectedPhrases([keys], self.connector_words, self.delimiter, {"recipe": recipe}), path, format="native")

    @classmethod
    def load(cls, path: Name) -> Self:
        """Opens phrases that `save` wrote."""
        model = load(path)
        if not isinstance(model, ConnectedPhrases):
            raise OptionError(f"{path}: holds a {type(model).__name__}, not phrases that save wrote")
        recipe = model.metadata["recipe"]
        opened = cls(GensimPhrases(connector_words=model.connectors, delimiter=model.joiner))
        opened.min_count, opened.threshold = recipe["min_count"], recipe["threshold"]
        opened.scoring = SCORERS.get(recipe["scoring"], original_scorer)
        opened.phrasegrams = {
            model.joiner.join(key): score for table in model.tables for key, (_, score) in table.items()
        }
        return opened


__all__ = ["ENGLISH_CONNECTORS", "FrozenPhrases", "GensimPhrases", "npmi_scorer", "original_scorer"]
