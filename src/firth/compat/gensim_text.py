"""gensim's sentences, tagged documents and rules for the vocabulary, for code that is ported from gensim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from firth.errors import OptionError
from firth.files import Name
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

RULE_DEFAULT, RULE_DISCARD, RULE_KEEP = 0, 1, 2
TrimRule = Callable[[str, int, int], int]
MAX_WORDS = 10_000  # words of a sentence


class TaggedDocument(NamedTuple):
    """The words of a document and its tags."""

    words: Sequence[str]
    tags: Sequence[Any]


class LineSentence:
    """The lines of a file as lists of words that blanks separate; it can be read again and again.

    The source is the name of a file, compressed or not, or an open file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("hot tea\\ncold rain\\n")
    ...     list(LineSentence(Path(folder, "a.txt"))), list(LineSentence(Path(folder, "a.txt"), limit=1))
    ([['hot', 'tea'], ['cold', 'rain']], [['hot', 'tea']])
    """

    def __init__(self, source: Any, max_sentence_length: int = MAX_WORDS, limit: int | None = None) -> None:
        self.source, self.max_sentence_length, self.limit = source, max_sentence_length, limit

    def __iter__(self) -> Iterator[list[str]]:
        for number, line in enumerate(self._lines()):
            if number == self.limit:
                return
            words = line.split()
            for start in range(0, max(len(words), 1), self.max_sentence_length):
                yield words[start : start + self.max_sentence_length]

    def _lines(self) -> Iterator[str]:
        if isinstance(self.source, (str, PathLike)):
            tokenizer = Tokenizer(mode="whitespace")
            yield from Corpus(Path(self.source), tokenizer=tokenizer, documents="line").texts()
            return
        if not hasattr(self.source, "seek"):
            raise OptionError(f"{self.source!r:.80} is neither the name of a file nor an open file")
        self.source.seek(0)
        for line in self.source:
            yield line if isinstance(line, str) else line.decode("utf-8")


class PathLineSentences:
    """The lines of a file, or of all files of a folder in the order of their names, as lists of words.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, line in (("a.txt", "hot tea"), ("b.txt", "cold rain")):
    ...         _ = Path(folder, name).write_text(line)
    ...     list(PathLineSentences(folder))
    [['hot', 'tea'], ['cold', 'rain']]
    """

    def __init__(self, source: Name, max_sentence_length: int = MAX_WORDS, limit: int | None = None) -> None:
        self.source, self.max_sentence_length, self.limit = Path(source), max_sentence_length, limit

    def __iter__(self) -> Iterator[list[str]]:
        is_file = self.source.is_file()
        files = [self.source] if is_file else sorted(path for path in self.source.iterdir() if path.is_file())
        for file in files:
            yield from LineSentence(file, self.max_sentence_length, self.limit)


def choose_counts(
    counts: Mapping[str, int], min_count: int, max_final_vocab: int | None = None, trim_rule: TrimRule | None = None
) -> tuple[Vocabulary, int]:
    """The words that gensim would keep, with their counts, and the `min_count` that has this effect.

    >>> found = choose_counts({"a": 5, "b": 1, "c": 2}, 2, trim_rule=lambda word, count, least: 2 * (word == "b"))
    >>> found[0].words, found[1]
    (('a', 'c', 'b'), 2)
    >>> choose_counts({"a": 5, "b": 1, "c": 2}, 1, max_final_vocab=1)[1]
    3
    """
    if max_final_vocab is not None:
        ranked = sorted(counts.values(), reverse=True)
        if max_final_vocab < len(ranked):
            min_count = max(min_count, ranked[max_final_vocab] + 1)  # as gensim: a higher min_count for all
    kept = {}
    for word, count in counts.items():
        rule = RULE_DEFAULT if trim_rule is None else trim_rule(word, count, min_count)
        if rule == RULE_KEEP or (rule == RULE_DEFAULT and count >= min_count):
            kept[word] = count
    return Vocabulary.from_counts(kept), min_count


def count_pruned(sentences: Iterable[Sequence[str]], most: int, trim_rule: TrimRule | None = None) -> dict[str, int]:
    """Counts of words in gensim's manner with `max_vocab_size`, which bounds memory: rare words are forgotten early.

    After each sentence that leaves more than `most` words, those with fewer than 1 occurrence are forgotten, the next
    time those with fewer than 2, and so on. The counts of words that come back are too low.

    >>> count_pruned([["tea", "milk"], ["tea", "rain"], ["tea", "sun"]], 2)
    {'tea': 3}
    """
    counts: Counter[str] = Counter()
    least = 1
    for sentence in sentences:
        counts.update(sentence)
        if len(counts) > most:
            kept = choose_counts(counts, least, None, trim_rule)[0]
            counts = Counter({word: counts[word] for word in kept})
            least += 1
    return dict(counts)
