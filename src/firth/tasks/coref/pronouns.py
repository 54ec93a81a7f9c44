"""How well the pronouns of men and of women are resolved: by gold clusters, and by the pairs of names of GAP.

GAP (Webster et al. 2018) has passages with a pronoun and two names, in columns separated by tabs: which name does the
pronoun stand for? It has as many feminine as masculine pronouns. Its measure is F1 over both names of all passages;
the bias is the feminine F1 divided by the masculine one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.tasks.coref.data import Document
from firth.tasks.coref.gender import AFTER_THE_HEAD
from firth.tasks.coref.swap import FEMININE, MASCULINE
from firth.tasks.located_text import LocatedText
from firth.tasks.tags import precision_recall_f1

COLUMNS = ["ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref"]
GENDER = dict.fromkeys(MASCULINE, "masculine") | dict.fromkeys(FEMININE, "feminine")
Answers = Sequence[Mapping[str, Any]]
Place = tuple[int, int]  # begin and end, in letters of a text or in words of a document


class Tally:
    """Right, found and true links of each gender, and their measures.

    >>> tally = Tally()
    >>> tally.add("feminine", right=1, found=2, true=2)
    >>> tally.add("masculine", right=2, found=2, true=2)
    >>> tally.scores()["bias"], tally.scores()["f1"]
    (0.5, 0.75)
    """

    def __init__(self) -> None:
        self.counts = {gender: [0, 0, 0] for gender in ("masculine", "feminine")}

    def add(self, gender: str, right: int, found: int, true: int) -> None:
        """Counts the links of a pronoun."""
        self.counts[gender] = [a + b for a, b in zip(self.counts[gender], (right, found, true))]

    def scores(self) -> dict[str, float]:
        """F1, precision and recall of all links and of each gender, and feminine divided by masculine F1."""
        both = [sum(pair) for pair in zip(*self.counts.values())]
        scores = precision_recall_f1(*both)
        for gender, counts in self.counts.items():
            scores |= {f"{gender}_{name}": value for name, value in precision_recall_f1(*counts).items()}
        masculine = scores["masculine_f1"]
        return scores | {"bias": scores["feminine_f1"] / masculine if masculine else 0.0}


def score_pronouns(documents: Sequence[Document], answers: Answers) -> dict[str, float]:
    """The measures of the pronouns he and she in all their forms, by gold clusters.

    A pronoun has a link if a mention of its cluster stands before it. It is right if the nearest such mention of the
    answer is one of the gold cluster.

    >>> document = Document((("Mary", "left", ".", "She", "ran", ".", "He", "sat"),), (((0, 1), (3, 4)),))
    >>> scores = score_pronouns([document], [{"clusters": [[[0, 1], [3, 4], [6, 7]]]}])
    >>> scores["feminine_f1"], scores["precision"]
    (1.0, 0.5)
    """
    tally = Tally()
    for document, answer in zip(documents, answers, strict=True):
        gold = _by_mention(document.gold)
        found = _by_mention(answer["clusters"])
        words = document.words
        for mention in sorted(gold.keys() | found.keys()):
            gender = GENDER.get(words[mention[0]].lower())
            if gender is None or mention[1] > mention[0] + 1:
                continue
            before = {one for one in gold.get(mention, ()) if one < mention}
            nearest = max((one for one in found.get(mention, ()) if one < mention), default=None)
            tally.add(gender, right=nearest in before, found=nearest is not None, true=bool(before))
    return tally.scores()


def _by_mention(clusters: Sequence[Sequence[Sequence[int]]]) -> dict[Place, set[Place]]:
    """All mentions of the cluster of each mention."""
    sets = [{(mention[0], mention[1]) for mention in cluster} for cluster in clusters]
    return {mention: cluster for cluster in sets for mention in cluster}


@dataclass(frozen=True)
class PronounCase:
    """A passage of GAP: a pronoun, two names and whether the pronoun stands for each."""

    text: str
    pronoun: Place  # in letters
    names: tuple[Place, Place]
    gold: tuple[bool, bool]

    @property
    def gender(self) -> str:
        """masculine or feminine."""
        return GENDER[self.text[slice(*self.pronoun)].lower()]


def read_gap(path: Name) -> list[PronounCase]:
    """The passages of a file of GAP.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "gap.tsv"
    >>> row = "1 text she 23 Ann 0 TRUE Eve 8 FALSE".split()
    >>> row[1] = "Ann met Eve, and later she left."
    >>> _ = file.write_text("\\t".join(COLUMNS) + "\\n" + "\\t".join(row) + "\\n")
    >>> [case] = read_gap(file)
    >>> case.gender, case.names, case.gold
    ('feminine', ((0, 3), (8, 11)), (True, False))
    """
    cases = []
    for number, line in read_lines(path, blank=False):
        fields = line.split("\t")
        if number == 1 and fields[: len(COLUMNS)] == COLUMNS:
            continue
        if number == 1 or len(fields) < len(COLUMNS):
            cure = f"The columns are {', '.join(COLUMNS)}, and the first line names them"
            raise FormatError(path, f"found {len(fields)} columns", line=number, cure=cure)
        row = dict(zip(COLUMNS, fields))
        places = [_place(path, number, row, name) for name in ("Pronoun", "A", "B")]
        if row["Pronoun"].lower() not in GENDER:
            raise FormatError(path, f"{row['Pronoun']!r} is no form of he or she", line=number)
        gold = row["A-coref"].upper() == "TRUE", row["B-coref"].upper() == "TRUE"
        cases.append(PronounCase(row["Text"], places[0], (places[1], places[2]), gold))
    if not cases:
        raise FormatError(path, "the file has no passages")
    return cases


def _place(path: Name, number: int, row: Mapping[str, str], name: str) -> Place:
    offset = row[f"{name}-offset"]
    start = int(offset) if offset.isdecimal() and len(offset) < 10 else -1
    end = start + len(row[name])
    if start < 0 or row["Text"][start:end] != row[name]:
        raise FormatError(path, f"{row[name]!r} does not stand at place {offset!r} of the text", line=number)
    return start, end


def score_gap(cases: Sequence[PronounCase], documents: Sequence[Document], answers: Answers) -> dict[str, float]:
    """The measures of GAP, from the answers to the texts of the cases: F1 of both genders, of each, and the bias.

    A pronoun stands for a name if its cluster has a mention whose head ends where the name ends. The head of a mention
    ends before a preposition, a relative pronoun or a comma.

    >>> from firth.tasks.coref.task import Coref
    >>> case = PronounCase("Ann Lee of York met Eve. She left.", (25, 28), ((0, 7), (20, 23)), (True, False))
    >>> documents = Coref().ask(case.text)
    >>> answers = [{"clusters": [[[0, 4], [7, 8]]]}]
    >>> score_gap([case], documents, answers)["feminine_f1"]
    1.0
    """
    tally = Tally()
    for case, document, answer in zip(cases, documents, answers, strict=True):
        located, words = document.located, document.words
        pronoun = _words_at(located, case.pronoun)
        ends: set[int] = set()
        for cluster in answer["clusters"]:
            if tuple(pronoun) in [tuple(mention) for mention in cluster]:
                ends = {head_end(words, start, end) for start, end in cluster}
        said = [_words_at(located, name)[1] in ends for name in case.names]
        right = sum(one and other for one, other in zip(said, case.gold))
        tally.add(case.gender, right=right, found=sum(said), true=sum(case.gold))
    return tally.scores()


def head_end(words: Sequence[str], start: int, end: int) -> int:
    """The place after the head of a mention.

    >>> head_end("the king of Spain left".split(), 0, 4), head_end(["Ann", "'s", "dog"], 0, 2)
    (2, 1)
    """
    stops = (place for place in range(start + 1, end) if words[place].lower() in AFTER_THE_HEAD)
    end = next(stops, end)
    return end - 1 if end > start + 1 and words[end - 1] in ("'s", "’s", "'", "’") else end


def _words_at(located: LocatedText, place: Place) -> Place:
    """The words that overlap with letters of the text: the first, and the one after the last."""
    touched = [
        number for number, (start, end) in enumerate(located.places or ()) if start < place[1] and end > place[0]
    ]
    return (touched[0], touched[-1] + 1) if touched else (-1, -1)
