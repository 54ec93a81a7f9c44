"""Senses: where sentences come from, and the plot of the occurrences of a word."""

from __future__ import annotations

import difflib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from firth.errors import UnknownWord
from firth.explorer.models import Models
from firth.explorer.problems import PageError
from firth.explorer.translations import Language, check_language
from firth.maps.senses import EQUAL, LANGUAGES, MOST, SenseMap, Weights, example_sentences
from firth.vectors.occurrences import Occurrences

KEPT = 32  # pasted texts and sense maps in memory


class Recent:
    """The values that were used last, each made once.

    >>> recent = Recent(2)
    >>> for number in range(3):
    ...     recent.put(number, str(number))
    >>> recent.get(0), recent.get(2)
    (None, '2')
    """

    def __init__(self, most: int = KEPT) -> None:
        self.most, self._lock = most, threading.Lock()
        self._values: OrderedDict[object, object] = OrderedDict()

    def put(self, key: object, value: object) -> None:
        """Keeps a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self.most:
                self._values.popitem(last=False)

    def get(self, key: object) -> object | None:
        """A value, or None."""
        with self._lock:
            return self._values.get(key)


PASTED, SENSES = Recent(), Recent()
MAKING = threading.Lock()


def keep_text(text: str) -> str:
    """Keeps a pasted text, and gives the key under which the address names it.

    >>> keep_text("a river bank") == keep_text("a river bank")
    True
    """
    key = sha256(text.encode()).hexdigest()[:16]
    PASTED.put(key, text)
    return key


def find_text(key: str) -> str:
    """A text that was pasted, by its key; "" if it is no longer in memory.

    >>> find_text(keep_text("a river bank")), find_text("0")
    ('a river bank', '')
    """
    text = PASTED.get(key)
    return text if isinstance(text, str) else ""


def example_words() -> dict[str, Language]:
    """The words that have example sentences, with their language.

    >>> example_words()["bank"], example_words()["شیر"]
    ('en', 'fa')
    """
    return {word: check_language(language) for language in LANGUAGES for word in example_sentences(language)}


def find_sentences(
    models: Models, words: Sequence[str], source: str = "", pasted: str = ""
) -> list[str] | list[list[str]]:
    """The sentences of the page: a pasted text by lines, those of an index, or the examples of the words.

    >>> find_sentences(Models(), ["bank"], pasted=keep_text("a river bank\\n\\na bank"))
    ['a river bank', 'a bank']
    """
    if pasted:
        text = find_text(pasted)
        if not text:
            raise PageError("pasted")
        return [line for line in text.splitlines() if line.strip()]
    if source:
        index = models.load(source)
        if not isinstance(index, Occurrences):
            raise PageError("index", name=source)
        rows = [row for word in words for row in index.of(word)[:MOST].tolist()]
        return [list(one) for one in dict.fromkeys(index.occurrence(row).words for row in rows)]
    known = example_words()
    found = [sentence for word in words if word in known for _, sentence in example_sentences(known[word])[word]]
    if not found:
        raise UnknownWord(words[0], difflib.get_close_matches(words[0], known, 3))
    return found


def make_senses(models: Models, parameters: Mapping[str, str]) -> SenseMap:
    """The senses that an address asks for: model, word (one or two), source, pasted, senses. Each is made once.

    >>> senses = make_senses(Models(), {"model": "elmo-en", "word": "bat", "senses": "2"})
    >>> len(senses), len(senses.names)
    (14, 2)
    """
    words = tuple(parameters.get("word", "").split())[:2]
    if not words:
        raise PageError("words")
    names = ("model", "source", "pasted", "senses")
    key = (id(models), words, *(parameters.get(name, "") for name in names))
    with MAKING:  # two visitors must not embed the same sentences twice
        found = SENSES.get(key)
        if isinstance(found, SenseMap):
            return found
        sentences = find_sentences(models, words, parameters.get("source", ""), parameters.get("pasted", ""))
        count = parameters.get("senses", "")
        senses = int(count) if count.isdecimal() and int(count) > 0 else None
        made = SenseMap.of(models.load(parameters.get("model", "")), sentences, words, senses=senses)
        SENSES.put(key, made)
        return made


def read_weights(text: str) -> Weights:
    """Three weights of the address; others are equal weights.

    >>> read_weights("0,0.5,1"), read_weights("a") == EQUAL
    ((0.0, 0.5, 1.0), True)
    """
    try:
        first, second, third = (min(1.0, max(0.0, float(part))) for part in text.split(","))
    except ValueError:
        return EQUAL
    return (first, second, third) if first + second + third > 0 else EQUAL


def shows_contexts(mix: str) -> bool:
    """Whether the page shows the contexts: there are no weights of layers."""
    return not mix


def read_gamma(text: str) -> float:
    """γ of the address; 1 if there is none.

    >>> read_gamma("2.5"), read_gamma("x"), read_gamma("99")
    (2.5, 1.0, 3.0)
    """
    try:
        return min(3.0, max(0.0, float(text)))
    except ValueError:
        return 1.0


def pack_senses(models: Models, parameters: Mapping[str, str]) -> bytes:
    """The plot of the senses that an address asks for.

    It begins with the contexts where the address has no weights. The axes of the layers are those of equal weights
    whatever the weights are, so that sliders and reloads keep the points in place.

    >>> from firth.maps.scatter import unpack
    >>> head, _ = unpack(pack_senses(Models(), {"model": "elmo-en", "word": "bat", "mix": "0,1,0"}))
    >>> head["size"], head["mixing"]
    (15, [0.0, 1.0, 0.0])
    """
    weights, gamma = read_weights(parameters.get("mix", "")), read_gamma(parameters.get("gamma", ""))
    sense, mean = (parameters.get(f"label-{name}", name) for name in ("sense", "mean"))
    starts = shows_contexts(parameters.get("mix", ""))
    plot = make_senses(models, parameters).scatter(starts_with_contexts=starts, sense=sense, mean=mean)
    return replace(plot, mixing=weights, gamma=gamma).pack()
