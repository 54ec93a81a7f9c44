"""Which test sentences occur in the text that a biLM was trained on?

Sentences are compared without case, spaces and punctuation. Shorter ones than `SHORTEST` words are not counted: they
occur anywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.probes.contexts import ENDS
from firth.progress import Progress, Report, silent
from firth.studies.tasks.settings import SETTINGS
from firth.tasks.registry import find_task
from firth.text.normalize import Normalizer

SHORTEST = 5  # words
PERSIAN_LETTERS = Normalizer.persian()
NOT_LETTERS = re.compile(r"[\W_]+")


def hash_sentence(sentence: str, *, persian: bool = False) -> bytes:
    """A hash of the letters and digits of a sentence; `persian` unifies variant letters and digits first.

    >>> hash_sentence("It 's Tea !") == hash_sentence("its tea")
    True
    >>> hash_sentence("علي", persian=True) == hash_sentence("علی", persian=True)
    True
    """
    text = PERSIAN_LETTERS(sentence) if persian else sentence
    return blake2b(NOT_LETTERS.sub("", text.lower()).encode(), digest_size=8).digest()


def split_words(words: Sequence[str]) -> list[str]:
    """The sentences of a tokenized text, each at least `SHORTEST` words long; a sentence ends after . ! and ?

    >>> split_words("Rain . We had tea and some milk .".split())
    ['We had tea and some milk .']
    """
    sentences: list[list[str]] = [[]]
    for word in words:
        sentences[-1].append(word)
        if word in ENDS:
            sentences.append([])
    return [" ".join(one) for one in sentences if sum(any(map(str.isalnum, word)) for word in one) >= SHORTEST]


def hash_test_part(name: str) -> set[bytes]:
    """The hashes of the sentences in the test part of a setting."""
    setting = SETTINGS[name]
    task = find_task(setting.task)(**setting.network)
    texts = {words for example in setting.examples(task, "test") for words in example.sentences}
    persian = setting.language == "fa"
    return {hash_sentence(sentence, persian=persian) for words in texts for sentence in split_words(words)}


def count_overlap(
    tests: Mapping[str, set[bytes]], files: Iterable[Name], report: Report = silent, *, persian: bool = False
) -> dict[str, dict[str, int]]:
    """For each set of hashes, the number of sentences, and how many occur as a line of the files."""
    wanted, seen = set().union(*tests.values()), set[bytes]()
    for path in files:
        for number, line in read_lines(path):
            key = hash_sentence(line, persian=persian)
            if key in wanted:
                seen.add(key)
            if number % 100_000 == 0:
                report(Progress(f"comparing {Path(path).name}", number, None, "lines"))
    return {name: {"sentences": len(keys), "found": len(keys & seen)} for name, keys in tests.items()}


def read_overlap(path: Path) -> dict[str, float]:
    """The percentages of a file of `scripts/overlap.py`."""
    try:
        sets = json.loads(path.read_bytes())["sets"]
        return {name: round(100 * one["found"] / max(1, one["sentences"]), 1) for name, one in sets.items()}
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise FormatError(path, f"not counts of overlap: {error}", cure="Make it with scripts/overlap.py") from error
