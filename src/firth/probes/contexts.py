"""Words judged in context: three test sets, and the measures that are usual for each.

- WiC: does a word mean the same in two sentences? Accuracy, with the threshold of the cosine that is best in training.
- SCWS: how alike are two words, each in its own text? Spearman's rank correlation with people's mean rating.
- CoSimLex: how alike are two words in one text, and in another? The uncentered Pearson correlation of the changes from
  text to text, and the harmonic mean of Pearson's and Spearman's correlation of the ratings themselves.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.evaluate.statistics import pearson, spearman
from firth.files import Name, read_lines
from firth.probes.readers import LayerReader, Place, read_places, unit
from firth.progress import Report, silent
from firth.text.tokenize import Tokenizer

Values = NDArray[np.float64]
ENDS = frozenset(".!?")
SCWS_FIELDS, WIC_FIELDS = 18, 5


class ContextPair(NamedTuple):
    """Two words at their places, and what people say about them."""

    one: Place
    other: Place
    gold: float


def read_wic(data: Name, gold: Name) -> list[ContextPair]:
    """The pairs of WiC: 1.0 where both words mean the same, else 0.0."""
    answers = [line for _, line in read_lines(gold) if line]
    found: list[ContextPair] = []
    for number, line in read_lines(data):
        fields = line.split("\t")
        if len(fields) != WIC_FIELDS or number > len(answers) or answers[number - 1] not in ("T", "F"):
            problem = f"expected {WIC_FIELDS} columns and an answer T or F in {Path(gold).name}"
            raise FormatError(data, problem, line=number)
        places = []
        for place, text in zip(fields[2].split("-"), fields[3:]):
            words = text.split()
            if not place.isdecimal() or int(place) >= len(words):
                raise FormatError(data, f"there is no word {place} in {text!r}", line=number)
            places.append(Place(words, int(place), int(place) + 1))
        found.append(ContextPair(places[0], places[1], float(answers[number - 1] == "T")))
    if len(found) != len(answers):
        raise FormatError(gold, f"has {len(answers)} answers for {len(found)} pairs", cure="Is it of the same part?")
    return found


def read_scws(path: Name, *, whole: bool = False) -> list[ContextPair]:
    """The pairs of SCWS with the mean of ten ratings from 0 to 10; the text is tokenized already.

    A biLM reads sentences: of each text the one that holds the word is kept, unless the `whole` is asked for.
    """
    found = []
    for number, line in read_lines(path):
        fields = line.split("\t")
        if len(fields) != SCWS_FIELDS:
            raise FormatError(path, f"expected {SCWS_FIELDS} columns, found {len(fields)}", line=number)
        places = [find_tagged_word(path, number, text, whole) for text in fields[5:7]]
        try:
            found.append(ContextPair(places[0], places[1], float(fields[7])))
        except ValueError as error:
            raise FormatError(path, f"expected a mean rating, found {fields[7]!r}", line=number) from error
    return found


def find_tagged_word(path: Name, number: int, text: str, whole: bool) -> Place:
    """The word between <b> and </b> in text whose words are parted by blanks.

    >>> find_tagged_word("f", 1, "It rained . We drank <b> green tea </b> . Then", False)
    Place(words=['We', 'drank', 'green', 'tea', '.'], start=2, stop=4)
    """
    words = text.split()
    if words.count("<b>") != 1 or words.count("</b>") != 1:
        raise FormatError(path, "one word must stand between <b> and </b> in each text", line=number)
    start, stop = words.index("<b>"), words.index("</b>") - 1
    place = Place([word for word in words if word not in ("<b>", "</b>")], start, stop)
    if stop <= start:
        raise FormatError(path, "there is no word between <b> and </b>", line=number)
    return place if whole else cut_to_sentence(place)


def cut_to_sentence(place: Place) -> Place:
    """The word in its own sentence, where a text is tokenized: sentences end behind . ! and ?

    >>> cut_to_sentence(Place(["Rain", ".", "Tea", "!", "Fog"], 2, 3))
    Place(words=['Tea', '!'], start=0, stop=1)
    """
    begin, end = place.start, place.stop
    while begin > 0 and place.words[begin - 1] not in ENDS:
        begin -= 1
    while end < len(place.words) and place.words[end - 1] not in ENDS:
        end += 1
    return Place(place.words[begin:end], place.start - begin, place.stop - begin)


class ContextShift(NamedTuple):
    """Two words in two texts: their places in each, and how alike they are there."""

    first: ContextPair
    second: ContextPair


def read_cosimlex(path: Name, *, whole: bool = False) -> list[ContextShift]:
    """The pairs of CoSimLex: in each text both words stand between <strong> and </strong>."""
    found = []
    tokenizer = Tokenizer()
    rows = csv.DictReader((line for _, line in read_lines(path)), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, row in enumerate(rows, 2):
        pairs = []
        for text in ("1", "2"):
            names = f"context{text}", f"sim{text}", f"word1_context{text}", f"word2_context{text}"
            context, rating, one, other = (row.get(name) or "" for name in names)
            places = find_strong_words(context, tokenizer, whole)
            try:
                pairs.append(ContextPair(places[one.lower()], places[other.lower()], float(rating)))
            except (KeyError, ValueError) as error:
                problem = f"expected {one!r} and {other!r} in <strong> and a number for sim{text}"
                raise FormatError(path, problem, line=number) from error
        found.append(ContextShift(*pairs))
    return found


def find_strong_words(text: str, tokenizer: Tokenizer, whole: bool) -> dict[str, Place]:
    """The words between <strong> and </strong> in running text, by themselves in small letters.

    Blanks are put around them, so that of `high-<strong>alcohol</strong>` the marked part is a word.

    >>> text = "It rained. We had <strong>tea</strong>, no <strong>Milk</strong>."
    >>> found = find_strong_words(text, Tokenizer(), False)
    >>> found["tea"]
    Place(words=['We', 'had', 'tea', ',', 'no', 'Milk', '.'], start=2, stop=3)
    >>> found["milk"].start
    5
    """
    plain, spans = "", []
    for number, part in enumerate(text.replace("</strong>", "<strong>").split("<strong>")):
        if number % 2:
            spans.append((len(plain) + 1, len(plain) + 1 + len(part)))
            part = f" {part} "
        plain += part
    sentences = tokenizer.sentences(plain)
    if whole:
        sentences = [[token for sentence in sentences for token in sentence]]
    found: dict[str, Place] = {}
    for begin, end in spans:
        for sentence in sentences:
            inside = [n for n, token in enumerate(sentence) if token.start < end and token.end > begin]
            if inside:
                place = Place([token.text for token in sentence], inside[0], inside[-1] + 1)
                found.setdefault(plain[begin:end].lower(), place)
    return found


def cosines(reader: LayerReader, pairs: Sequence[ContextPair], report: Report = silent) -> Values:
    """How alike the words of each pair are where they stand, for each name of a reader, (names, pairs)."""
    ones = unit(read_places(reader, [pair.one for pair in pairs], report))
    others = unit(read_places(reader, [pair.other for pair in pairs], report))
    return np.asarray((ones * others).sum(-1).double().cpu().numpy(), np.float64)


def gold_ratings(pairs: Sequence[ContextPair]) -> Values:
    """What people say about pairs."""
    return np.array([pair.gold for pair in pairs])


def best_threshold(scores: Values, same: Values) -> float:
    """Where to cut so that most scores above are 1 and most below 0: midway between two scores, the lowest such cut.

    >>> best_threshold(np.array([0.1, 0.4, 0.5, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]))
    0.45
    """
    order = np.argsort(scores, kind="stable")
    ranked, labels = scores[order], same[order]
    right = np.concatenate([[labels.sum()], labels.sum() + np.cumsum(1 - 2 * labels)])  # cut below word 0, 1, ...
    allowed = np.concatenate([[True], ranked[1:] > ranked[:-1], [True]])  # equal scores stay together
    cut = int(np.argmax(np.where(allowed, right, -1)))
    if cut == 0:
        return -math.inf
    return math.inf if cut == len(ranked) else float((ranked[cut - 1] + ranked[cut]) / 2)


def accuracy(scores: Values, same: Values, cut: float) -> float:
    """The share of pairs that a threshold puts on the right side.

    >>> accuracy(np.array([0.2, 0.6, 0.9]), np.array([0.0, 0.0, 1.0]), 0.5)
    0.6666666666666666
    """
    return float(((scores > cut) == (same > 0.5)).mean())


def uncentered_correlation(x: Values, y: Values) -> float | None:
    """Pearson's correlation without taking the means off: the cosine of two lists. None where one is all zeros.

    >>> round(uncentered_correlation(np.array([1.0, 2.0]), np.array([2.0, 1.0])), 4)
    0.8
    """
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return None if scale == 0 else float(x @ y) / scale


def harmonic_correlation(x: Values, y: Values) -> float | None:
    """The harmonic mean of Pearson's and Spearman's correlation; 0 where one of them is not above 0.

    >>> round(harmonic_correlation(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])), 4)
    0.9909
    """
    linear, ranked = pearson(x, y), spearman(x, y)
    if linear is None or ranked is None:
        return None
    return 2 * linear * ranked / (linear + ranked) if min(linear, ranked) > 0 else 0.0
