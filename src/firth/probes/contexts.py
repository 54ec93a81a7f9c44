"""Words in context: three test sets and their usual measures.

- WiC: does a word have the same meaning in two sentences? Accuracy, with the cosine threshold that is best in training.
- SCWS: how similar are two words, each in its own text? Spearman's rank correlation with the mean human rating.
- CoSimLex: how similar are two words in each of two texts? The uncentered Pearson correlation of the changes from one
  text to the other, and the harmonic mean of Pearson's and Spearman's correlation of the ratings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firth.errors import FormatError
from firth.evaluate.statistics import pearson, spearman
from firth.files import Name, read_lines
from firth.probes.readers import LayerReader, WordSpan, read_spans, unit
from firth.progress import Report, silent
from firth.text.tokenize import Tokenizer

Values = NDArray[np.float64]
ENDS = frozenset(".!?")
SCWS_FIELDS, WIC_FIELDS = 18, 5


class ContextPair(NamedTuple):
    """Two words in context and their human rating."""

    one: WordSpan
    other: WordSpan
    gold: float


def read_wic(data: Name, gold: Name) -> list[ContextPair]:
    """The pairs of WiC; the rating is 1.0 where both words have the same meaning, else 0.0."""
    answers = [line for _, line in read_lines(gold) if line]
    pairs: list[ContextPair] = []
    for number, line in read_lines(data):
        fields = line.split("\t")
        if len(fields) != WIC_FIELDS or number > len(answers) or answers[number - 1] not in ("T", "F"):
            problem = f"expected {WIC_FIELDS} columns and an answer T or F in {Path(gold).name}"
            raise FormatError(data, problem, line=number)
        spans = []
        places = fields[2].split("-")
        if len(places) != 2:
            raise FormatError(data, f"expected the places of two words, found {fields[2]!r}", line=number)
        for place, text in zip(places, fields[3:]):
            words = text.split()
            if not place.isdecimal() or len(place) > 9 or int(place) >= len(words):
                raise FormatError(data, f"no word {place} in {text!r}", line=number)
            spans.append(WordSpan(words, int(place), int(place) + 1))
        pairs.append(ContextPair(spans[0], spans[1], float(answers[number - 1] == "T")))
    if len(pairs) != len(answers):
        raise FormatError(
            gold, f"has {len(answers)} answers for {len(pairs)} pairs", cure="Use the gold file of the same part"
        )
    return pairs


def read_scws(path: Name, *, whole: bool = False) -> list[ContextPair]:
    """The pairs of SCWS with the mean of ten ratings from 0 to 10.

    Each text is cut to the sentence that contains the word, unless `whole` is set.
    """
    pairs = []
    for number, line in read_lines(path):
        fields = line.split("\t")
        if len(fields) != SCWS_FIELDS:
            raise FormatError(path, f"expected {SCWS_FIELDS} columns, pairs {len(fields)}", line=number)
        spans = [find_tagged_word(path, number, text, whole) for text in fields[5:7]]
        try:
            pairs.append(ContextPair(spans[0], spans[1], float(fields[7])))
        except ValueError as error:
            raise FormatError(path, f"expected a mean rating, pairs {fields[7]!r}", line=number) from error
    return pairs


def find_tagged_word(path: Name, number: int, text: str, whole: bool) -> WordSpan:
    """The word between <b> and </b> in a tokenized text.

    >>> find_tagged_word("f", 1, "It rained . We drank <b> green tea </b> . Then", False)
    WordSpan(words=['We', 'drank', 'green', 'tea', '.'], start=2, stop=4)
    """
    words = text.split()
    if words.count("<b>") != 1 or words.count("</b>") != 1:
        raise FormatError(path, "expected one word between <b> and </b> in each text", line=number)
    start, stop = words.index("<b>"), words.index("</b>") - 1
    span = WordSpan([word for word in words if word not in ("<b>", "</b>")], start, stop)
    if stop <= start:
        raise FormatError(path, "no word between <b> and </b>", line=number)
    return span if whole else cut_to_sentence(span)


def cut_to_sentence(span: WordSpan) -> WordSpan:
    """The word in its sentence of a tokenized text; sentences end after . ! and ?

    >>> cut_to_sentence(WordSpan(["Rain", ".", "Tea", "!", "Fog"], 2, 3))
    WordSpan(words=['Tea', '!'], start=0, stop=1)
    """
    begin, end = span.start, span.stop
    while begin > 0 and span.words[begin - 1] not in ENDS:
        begin -= 1
    while end < len(span.words) and span.words[end - 1] not in ENDS:
        end += 1
    return WordSpan(span.words[begin:end], span.start - begin, span.stop - begin)


class ContextShift(NamedTuple):
    """Two words in a first and in a second text, with a rating in each."""

    first: ContextPair
    second: ContextPair


def read_cosimlex(path: Name, *, whole: bool = False) -> list[ContextShift]:
    """The pairs of CoSimLex; in each text, both words are between <strong> and </strong>."""
    shifts = []
    tokenizer = Tokenizer()
    lines = read_lines(path, blank=False)
    columns = next(lines, (1, ""))[1].split("\t")
    for number, line in lines:
        row = dict(zip(columns, line.split("\t")))
        pairs = []
        for text in ("1", "2"):
            names = f"context{text}", f"sim{text}", f"word1_context{text}", f"word2_context{text}"
            context, rating, one, other = (row.get(name, "") for name in names)
            spans = find_strong_words(context, tokenizer, whole)
            try:
                pairs.append(ContextPair(spans[one.lower()], spans[other.lower()], float(rating)))
            except (KeyError, ValueError) as error:
                problem = f"expected {one!r} and {other!r} in <strong> and a number for sim{text}"
                raise FormatError(path, problem, line=number) from error
        shifts.append(ContextShift(*pairs))
    return shifts


def find_strong_words(text: str, tokenizer: Tokenizer, whole: bool) -> dict[str, WordSpan]:
    """The words between <strong> and </strong> in untokenized text, by their lower-case form.

    Spaces are added around them, so that the marked part of `high-<strong>alcohol</strong>` becomes a word.

    >>> text = "It rained. We had <strong>tea</strong>, no <strong>Milk</strong>."
    >>> words = find_strong_words(text, Tokenizer(), False)
    >>> words["tea"]
    WordSpan(words=['We', 'had', 'tea', ',', 'no', 'Milk', '.'], start=2, stop=3)
    >>> words["milk"].start
    5
    """
    plain, marked = "", []
    for number, part in enumerate(text.replace("</strong>", "<strong>").split("<strong>")):
        if number % 2:
            marked.append((len(plain) + 1, len(plain) + 1 + len(part)))
            part = f" {part} "
        plain += part
    sentences = tokenizer.sentences(plain)
    if whole:
        sentences = [[token for sentence in sentences for token in sentence]]
    words: dict[str, WordSpan] = {}
    for begin, end in marked:
        for sentence in sentences:
            inside = [n for n, token in enumerate(sentence) if token.start < end and token.end > begin]
            if inside:
                span = WordSpan([token.text for token in sentence], inside[0], inside[-1] + 1)
                words.setdefault(plain[begin:end].lower(), span)
    return words


def cosines(reader: LayerReader, pairs: Sequence[ContextPair], report: Report = silent) -> Values:
    """The cosine of each pair of words in context, by each layer: (layers, pairs)."""
    ones = unit(read_spans(reader, [pair.one for pair in pairs], report))
    others = unit(read_spans(reader, [pair.other for pair in pairs], report))
    return np.asarray((ones * others).sum(-1).double().cpu().numpy(), np.float64)


def gold_ratings(pairs: Sequence[ContextPair]) -> Values:
    """The human ratings of pairs."""
    return np.array([pair.gold for pair in pairs])


def best_threshold(scores: Values, same: Values) -> float:
    """The threshold with the best accuracy, midway between two scores; the lowest of equally good ones.

    >>> best_threshold(np.array([0.1, 0.4, 0.5, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]))
    0.45
    """
    order = np.argsort(scores, kind="stable")
    ranked, labels = scores[order], same[order]
    # correct[k]: correct answers with the threshold below the k-th lowest score
    correct = np.concatenate([[labels.sum()], labels.sum() + np.cumsum(1 - 2 * labels)])
    allowed = np.concatenate([[True], ranked[1:] > ranked[:-1], [True]])  # equal scores stay together
    cut = int(np.argmax(np.where(allowed, correct, -1)))
    if cut == 0:
        return -math.inf
    return math.inf if cut == len(ranked) else float((ranked[cut - 1] + ranked[cut]) / 2)


def accuracy(scores: Values, same: Values, cut: float) -> float:
    """The share of pairs that a threshold classifies correctly.

    >>> accuracy(np.array([0.2, 0.6, 0.9]), np.array([0.0, 0.0, 1.0]), 0.5)
    0.6666666666666666
    """
    return float(((scores > cut) == (same > 0.5)).mean())


def uncentered_correlation(x: Values, y: Values) -> float | None:
    """Pearson's correlation without centering: the cosine of two lists. None if one is all zeros.

    >>> round(uncentered_correlation(np.array([1.0, 2.0]), np.array([2.0, 1.0])), 4)
    0.8
    """
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return None if scale == 0 else float(x @ y) / scale


def harmonic_correlation(x: Values, y: Values) -> float | None:
    """The harmonic mean of Pearson's and Spearman's correlation; 0 if one of them is not positive.

    >>> round(harmonic_correlation(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])), 4)
    0.9909
    """
    linear, ranked = pearson(x, y), spearman(x, y)
    if linear is None or ranked is None:
        return None
    return 2 * linear * ranked / (linear + ranked) if min(linear, ranked) > 0 else 0.0
