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
from firth.evaluation.statistics import pearson, spearman
from firth.files import Name, read_lines
from firth.probes.readers import Place, Reader, read_at, unit
from firth.progress import Report, silent
from firth.text.tokenize import Tokenizer

Values = NDArray[np.float64]
ENDS = frozenset(".!?")
SCWS_FIELDS, WIC_FIELDS = 18, 5


class Pair(NamedTuple):
    """Two words at their places, and what people say about them."""

    one: Place
    other: Place
    gold: float


def wic(data: Name, gold: Name) -> list[Pair]:
    """The pairs of WiC: 1.0 where both words mean the same, else 0.0."""
    answers = [line for _, line in read_lines(gold) if line]
    found: list[Pair] = []
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
        found.append(Pair(places[0], places[1], float(answers[number - 1] == "T")))
    if len(found) != len(answers):
        raise FormatError(gold, f"has {len(answers)} answers for {len(found)} pairs", cure="Is it of the same part?")
    return found


def scws(path: Name, *, whole: bool = False) -> list[Pair]:
    """The pairs of SCWS with the mean of ten ratings from 0 to 10; the text is tokenized already.

    A biLM reads sentences: of each text the one that holds the word is kept, unless the `whole` is asked for.
    """
    found = []
    for number, line in read_lines(path):
        fields = line.split("\t")
        if len(fields) != SCWS_FIELDS:
            raise FormatError(path, f"expected {SCWS_FIELDS} columns, found {len(fields)}", line=number)
        places = [tokenized_place(path, number, text, whole) for text in fields[5:7]]
        try:
            found.append(Pair(places[0], places[1], float(fields[7])))
        except ValueError as error:
            raise FormatError(path, f"expected a mean rating, found {fields[7]!r}", line=number) from error
    return found


def tokenized_place(path: Name, number: int, text: str, whole: bool) -> Place:
    """The word between <b> and </b> in text whose words are parted by blanks.

    >>> tokenized_place("f", 1, "It rained . We drank <b> green tea </b> . Then", False)
    Place(words=['We', 'drank', 'green', 'tea', '.'], start=2, stop=4)
    """
    words = text.split()
    if words.count("<b>") != 1 or words.count("</b>") != 1:
        raise FormatError(path, "one word must stand between <b> and </b> in each text", line=number)
    start, stop = words.index("<b>"), words.index("</b>") - 1
    place = Place([word for word in words if word not in ("<b>", "</b>")], start, stop)
    if stop <= start:
        raise FormatError(path, "there is no word between <b> and </b>", line=number)
    return place if whole else sentence_of(place)


def sentence_of(place: Place) -> Place:
    """The word in its own sentence, where a text is tokenized: sentences end behind . ! and ?

    >>> sentence_of(Place(["Rain", ".", "Tea", "!", "Fog"], 2, 3))
    Place(words=['Tea', '!'], start=0, stop=1)
    """
    begin, end = place.start, place.stop
    while begin > 0 and place.words[begin - 1] not in ENDS:
        begin -= 1
    while end < len(place.words) and place.words[end - 1] not in ENDS:
        end += 1
    return Place(place.words[begin:end], place.start - begin, place.stop - begin)


class Changing(NamedTuple):
    """Two words in two texts: their places in each, and how alike they are there."""

    first: Pair
    second: Pair


def cosimlex(path: Name, *, whole: bool = False) -> list[Changing]:
    """The pairs of CoSimLex: in each text both words stand between <strong> and </strong>."""
    found = []
    tokenizer = Tokenizer()
    rows = csv.DictReader((line for _, line in read_lines(path)), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, row in enumerate(rows, 2):
        pairs = []
        for text in ("1", "2"):
            names = f"context{text}", f"sim{text}", f"word1_context{text}", f"word2_context{text}"
            context, rating, one, other = (row.get(name) or "" for name in names)
            places = strong_places(context, tokenizer, whole)
            try:
                pairs.append(Pair(places[one.lower()], places[other.lower()], float(rating)))
            except (KeyError, ValueError) as error:
                problem = f"expected {one!r} and {other!r} in <strong> and a number for sim{text}"
                raise FormatError(path, problem, line=number) from error
        found.append(Changing(*pairs))
    return found


def strong_places(text: str, tokenizer: Tokenizer, whole: bool) -> dict[str, Place]:
    """The words between <strong> and </strong> in running text, by themselves in small letters.

    Blanks are put around them, so that of `high-<strong>alcohol</strong>` the marked part is a word.

    >>> found = strong_places("It rained. We had <strong>tea</strong>, no <strong>Milk</strong>.", Tokenizer(), False)
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


def cosines(reader: Reader, pairs: Sequence[Pair], report: Report = silent) -> Values:
    """How alike the words of each pair are where they stand, for each name of a reader, (names, pairs)."""
    ones = unit(read_at(reader, [pair.one for pair in pairs], report))
    others = unit(read_at(reader, [pair.other for pair in pairs], report))
    return np.asarray((ones * others).sum(-1).double().cpu().numpy(), np.float64)


def golds(pairs: Sequence[Pair]) -> Values:
    """What people say about pairs."""
    return np.array([pair.gold for pair in pairs])


def threshold(scores: Values, same: Values) -> float:
    """Where to cut so that most scores above are 1 and most below 0: midway between two scores, the lowest such cut.

    >>> threshold(np.array([0.1, 0.4, 0.5, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]))
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


def uncentered(x: Values, y: Values) -> float | None:
    """Pearson's correlation without taking the means off: the cosine of two lists. None where one is all zeros.

    >>> round(uncentered(np.array([1.0, 2.0]), np.array([2.0, 1.0])), 4)
    0.8
    """
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return None if scale == 0 else float(x @ y) / scale


def harmonic(x: Values, y: Values) -> float | None:
    """The harmonic mean of Pearson's and Spearman's correlation; 0 where one of them is not above 0.

    >>> round(harmonic(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])), 4)
    0.9909
    """
    linear, ranked = pearson(x, y), spearman(x, y)
    if linear is None or ranked is None:
        return None
    return 2 * linear * ranked / (linear + ranked) if min(linear, ranked) > 0 else 0.0
