"""Phrases with connector words inside, such as bank_of_america. Connectors link two words, but begin or end no phrase.

A candidate is a word, any connectors after it, and the next other word. As in gensim, its score depends on the counts
of its two outer words and of the whole; connectors themselves are not counted. Joining goes from left to right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from firth.errors import OptionError
from firth.files import Name, write_bytes
from firth.models.phrases import Phrase, PhraseModel
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.serialization import Parts
from firth.text.corpus import Corpus, Source
from firth.text.model_tokenizer import TextLike
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary, to_bytes

Key = tuple[str, ...]  # the words of a phrase
Table = dict[Key, tuple[int, float]]  # count and score of each phrase
Scorer = Callable[[int, int, int, int], float]  # of the counts of left, right and pair, and the number of words


def candidates(words: Sequence[str], connectors: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The places of each candidate: first word and last word.

    >>> list(candidates("the bank of america is".split(), frozenset({"the", "of"})))
    [(1, 3), (3, 4)]
    """
    left = -1
    for place, word in enumerate(words):
        if word not in connectors:
            if left >= 0:
                yield left, place
            left = place


def join_words(words: Sequence[str], connectors: frozenset[str], table: Container[Key], joiner: str) -> list[str]:
    """The words with the phrases of a table joined, from left to right.

    >>> join_words("the bank of america".split(), frozenset({"of"}), {("bank", "of", "america"): (3, 1.0)}, "_")
    ['the', 'bank_of_america']
    """
    joined: list[str] = []
    done = 0
    for first, last in candidates(words, connectors):
        if first >= done and tuple(words[first : last + 1]) in table:
            joined += [*words[done:first], joiner.join(words[first : last + 1])]
            done = last + 1
    return [*joined, *words[done:]]


def find_phrases(
    sentences: Iterable[Sequence[str]], connectors: frozenset[str], least: int, threshold: float, score: Scorer
) -> Table:
    """The candidates that occur at least so often and have a score above the threshold."""
    words: Counter[str] = Counter()
    pairs: Counter[Key] = Counter()
    total = 0
    for sentence in sentences:
        total += len(sentence)
        words.update(word for word in sentence if word not in connectors)
        pairs.update(tuple(sentence[first : last + 1]) for first, last in candidates(sentence, connectors))
    scores = {
        pair: (count, score(words[pair[0]], words[pair[-1]], count, total))
        for pair, count in pairs.items()
        if count >= least
    }
    return {pair: found for pair, found in scores.items() if found[1] > threshold}


class ConnectedPhrases(PhraseModel):
    """The phrases of each pass, with connector words inside. `Phrases(connectors=...)` makes one.

    >>> from firth.models.phrases import Phrases
    >>> text = ["the bank of america is large", "a bank of america note", "the river is large"] * 5
    >>> model = Phrases(threshold=1, delta=1, connectors=("of", "the", "a")).fit(text)
    >>> model.apply("the bank of america".split())
    ['the', 'bank_of_america']
    """

    kind = "connected-phrases"

    def __init__(
        self, tables: Sequence[Table], connectors: Iterable[str], joiner: str, metadata: Mapping[str, Any]
    ) -> None:
        super().__init__(Vocabulary(()), [], joiner, metadata)
        self.tables, self.connectors = list(tables), frozenset(connectors)

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    def __repr__(self) -> str:
        first = ", ".join(phrase.name for phrase in self.top(3))
        return f"ConnectedPhrases({len(self):,} phrases in {len(self.tables)} passes" + (
            f": {first}, …)" if first else ")"
        )

    def apply(self, words: TextLike) -> list[str]:
        """The words of one sentence, a text or a list of words, with its phrases joined."""
        tokens = self.tokenizer.words(words)
        for table in self.tables:
            tokens = join_words(tokens, self.connectors, table, self.joiner)
        return tokens

    def top(self, n: int = 10) -> list[Phrase]:
        """The n phrases with the highest scores, of all passes; those with equal scores by count, then by name."""
        every = [Phrase(self.joiner.join(key), *found) for table in self.tables for key, found in table.items()]
        return sorted(every, key=lambda phrase: (-phrase.score, -phrase.count, phrase.name))[:n]

    def rewrite(self, corpus: Source, path: Name, *, runtime: Runtime | None = None, report: Report = silent) -> Corpus:
        """Writes a corpus with joined phrases, one sentence per line, and returns the corpus of that file."""
        with write_bytes(path) as file:
            for sentence in self._read(corpus).sentences():
                file.write(to_bytes(" ".join(self.apply(sentence))) + b"\n")
        return Corpus(path, tokenizer=Tokenizer(mode="whitespace"))

    def to_parts(self) -> Parts:
        """The artifact taken apart, for a file."""
        tables = [[[list(key), *found] for key, found in table.items()] for table in self.tables]
        config = {"joiner": self.joiner, "connectors": sorted(self.connectors), "phrases": tables}
        return Parts(self.kind, {**config, "metadata": self.metadata}, {}, {"vocab": self.vocabulary})

    @classmethod
    def from_parts(cls, parts: Parts) -> ConnectedPhrases:
        """The artifact that `to_parts` took apart."""
        config = parts.config
        tables: list[Table] = []
        for table in config["phrases"]:
            tables.append({_check_words(key): (int(count), float(score)) for key, count, score in table})
        return cls(tables, _check_words(config["connectors"]), str(config["joiner"]), parts.metadata)


def _check_words(words: Any) -> Key:
    """Words of a file."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise OptionError(f"{words!r:.60} is not a list of words")
    return tuple(words)
