"""Training examples of the shipped task models that are not simply read from a file of their task.

Names. `wnut_examples` maps the six types of WNUT-17 onto the four of CoNLL-2003, `semcor_examples` reads names from the
senses of SemCor, and `company_examples` writes sentences of our own about companies whose names are also other words.

    WNUT-17                   CoNLL-2003        SemCor
    person                    PER               proper name with the lemma person
    location                  LOC               proper name with the lemma location, capitalized noun.location
    corporation, group        ORG               proper name with the lemma group
    product, creative-work    MISC              capitalized adjective that belongs to a place or a people

A sentence of SemCor with a capitalized word that is none of these, and is no weekday, month or first word, is left
out: nobody marked what it names. So is the part of SemCor where only verbs have senses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, product
from typing import NamedTuple

import numpy as np

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.probes.sense_files import COLUMNS, split_row, split_token
from firth.tasks.coref.swap import NAMES
from firth.tasks.ner.data import NerExample, read_entities
from firth.tasks.tags import Span

WNUT = {
    "person": "PER",
    "location": "LOC",
    "corporation": "ORG",
    "group": "ORG",
    "product": "MISC",
    "creative-work": "MISC",
}


def wnut_examples(path: Name) -> list[NerExample]:
    """The sentences of WNUT-17 with the types of CoNLL-2003."""
    return [
        NerExample(one.words, tuple(span._replace(label=WNUT[span.label]) for span in one.gold))
        for one in read_entities(path, 0, -1, "keep")
    ]


PROPER = {"person": "PER", "location": "LOC", "group": "ORG"}
TITLES = frozenset(
    [
        "Mr.",
        "Mrs.",
        "Ms.",
        "Miss",
        "Dr.",
        "Prof.",
        "Sir",
        "Lord",
        "Lady",
        "President",
        "Gov.",
        "Governor",
        "Mayor",
        "Sen.",
        "Senator",
        "Rep.",
        "Judge",
        "Justice",
        "Gen.",
        "General",
        "Col.",
        "Colonel",
        "Capt.",
        "Captain",
        "Lt.",
        "Sgt.",
        "Maj.",
        "Major",
        "Rev.",
        "Father",
        "Sister",
        "Brother",
        "Pope",
        "King",
        "Queen",
        "Prince",
        "Premier",
        "Secretary",
        "Sheriff",
        "Chairman",
        "Uncle",
        "Aunt",
        "Mister",
        "Madame",
        "Congressman",
        "Detective",
        "Chief",
        "The",
        "the",
    ]
)
CLOSED = frozenset(
    ["DT", "PRP", "PRP$", "IN", "CC", "WRB", "RB", "EX", "WP", "WDT", "TO", "VBP", "VBZ", "VBD", "MD", "UH"]
)
LOCATION, TIME, PERTAINS, VERB, ADVERB = "1:15", "1:28", "3:01", "2:", "4:"  # parts of sense keys: word class and file


class SemcorToken(NamedTuple):
    """A row of SemCor, without its place."""

    token: str
    lemma: str
    pos: str
    keys: str

    @property
    def kind(self) -> str:
        """The word class and the file of the first sense, as in 1:15; empty without a sense."""
        return self.keys.partition("%")[2][:4] if self.keys != "_" else ""


def semcor_examples(path: Name) -> list[NerExample]:
    """The sentences of SemCor whose names are all known; of those without a name every third."""
    found = []
    rows = (split_row(path, number, line) for number, line in read_lines(path) if line)
    if next(rows, None) != COLUMNS:
        raise FormatError(path, f"expected the columns {' '.join(COLUMNS)}", line=1)
    for (document, _), tokens in groupby(rows, key=lambda row: row[:2]):
        if document.startswith("brownv"):
            continue
        example = name_example([SemcorToken(*row[2:]) for row in tokens])
        if example is not None:
            found.append(example)
    bare = [example for example in found if not example.gold]
    kept = set(map(id, bare[::3]))
    return [example for example in found if example.gold or id(example) in kept]


def name_example(tokens: list[SemcorToken]) -> NerExample | None:
    """A sentence with its names; None where a word may be a name of an unknown type.

    >>> tokens = [("Ann_Lee", "person", "NNP", "person%1:03:00::"), ("left", "leave", "VB", "leave%2:38:01::")]
    >>> name_example([SemcorToken(*token) for token in tokens])
    NerExample(words=('Ann', 'Lee', 'left'), entities=(Span(label='PER', start=0, end=2),))
    >>> name_example([SemcorToken("He", "he", "PRP", "_"), SemcorToken("likes", "like", "VB", "like%2:37:05::"),
    ...               SemcorToken("Tosca", "tosca", "NN", "_")]) is None
    True
    """
    words: list[str] = []
    entities = []
    for number, token in enumerate(tokens):
        parts, start = split_token(token.token), len(words)
        words += parts
        label = name_type(token, is_first=number == 0 or not tokens[number - 1].token[-1].isalnum())
        if label is None or (label == "PER" and any(part.islower() for part in parts)):  # an office, not a name
            return None
        if label:
            skipped = next((place for place, part in enumerate(parts) if part not in TITLES), len(parts))
            if skipped < len(parts):
                entities.append(Span(label, start + skipped, len(words)))
    return NerExample(tuple(words), tuple(entities))


def name_type(token: SemcorToken, *, is_first: bool) -> str | None:
    """The type of a token that is a name, an empty string for one that is none, None where it is not known.

    >>> name_type(SemcorToken("Paris", "paris", "NN", "paris%1:15:00::"), is_first=False)
    'LOC'
    >>> name_type(SemcorToken("Friday", "friday", "NN", "friday%1:28:00::"), is_first=False)
    ''
    """
    if token.pos == "NNP" and token.lemma in PROPER:
        return PROPER[token.lemma]
    if not token.token[0].isupper() or token.token == "I" or token.token in TITLES:
        return ""
    if token.kind.startswith(LOCATION):
        return "LOC"
    if token.kind.startswith(PERTAINS) and not is_first:
        return "MISC"
    if token.kind.startswith((TIME, VERB, ADVERB)) or (not token.kind and token.pos in CLOSED):
        return ""
    return "" if is_first and token.pos not in ("NNP", "NNPS") and "_" not in token.token and is_common(token) else None


def is_common(token: SemcorToken) -> bool:
    """Whether a capitalized word at the beginning of a sentence is an ordinary word: it has a sense of no person.

    >>> is_common(SemcorToken("Tea", "tea", "NN", "tea%1:13:00::"))
    True
    """
    return bool(token.kind) and not token.kind.startswith(("1:18", "1:14", PERTAINS))


COMPANIES = [
    "Apple",
    "Amazon",
    "Shell",
    "Target",
    "Gap",
    "Oracle",
    "Jaguar",
    "Orange",
    "Visa",
    "Ford",
    "Intel",
    "Siemens",
    "Toyota",
    "Samsung",
    "Sony",
    "Nokia",
    "Bayer",
    "Renault",
    "Fiat",
    "Volvo",
    "Google",
    "Microsoft",
    "Facebook",
    "Netflix",
    "Boeing",
    "Airbus",
    "Nestle",
    "Unilever",
    "Philips",
    "Bosch",
    "Puma",
    "Adidas",
    "Nike",
    "Lego",
    "Reuters",
    "Barclays",
    "Nintendo",
    "Honda",
    "Tesla",
    "Twitter",
    "Uber",
    "Dell",
    "Cisco",
    "Adobe",
    "Kodak",
    "Xerox",
    "Texaco",
    "Exxon",
    "Lufthansa",
    "Ryanair",
    "General_Motors",
    "Goldman_Sachs",
    "Wells_Fargo",
    "Morgan_Stanley",
    "Deutsche_Bank",
    "Credit_Suisse",
    "Air_France",
    "British_Airways",
    "Arsenal",
    "Chelsea",
    "Liverpool",
    "Juventus",
    "Barcelona",
    "Ajax",
    "Real_Madrid",
    "Manchester_United",
    "NATO",
    "UNESCO",
    "FIFA",
    "OPEC",
    "NASA",
    "BBC",
    "Harvard_University",
    "Columbia_University",
    "Labour_Party",
    "Red_Cross",
    "Greenpeace",
    "Interpol",
    "World_Bank",
    "United_Nations",
]
PLACES = [
    "Berlin",
    "London",
    "Paris",
    "Rome",
    "Madrid",
    "Vienna",
    "Tokyo",
    "Boston",
    "Chicago",
    "Dublin",
    "Oslo",
    "Moscow",
    "Warsaw",
    "Prague",
    "Athens",
    "Cairo",
    "Delhi",
    "Sydney",
    "Toronto",
    "Seattle",
    "Texas",
    "California",
    "Germany",
    "France",
    "Italy",
    "Spain",
    "Brazil",
    "Japan",
    "China",
    "India",
    "Mexico",
    "Canada",
    "New_York",
    "Los_Angeles",
    "San_Francisco",
    "Hong_Kong",
    "South_Africa",
    "New_Zealand",
]
FAMILY = [
    "Miller",
    "Smith",
    "Jones",
    "Weber",
    "Rossi",
    "Silva",
    "Tanaka",
    "Brown",
    "Novak",
    "Garcia",
    "Martin",
    "Kim",
    "Singh",
    "Olsen",
    "Taylor",
    "Moore",
]
SENTENCES = [
    "{P} works at {O} in {L} .",
    "{O} opened an office in {L} on Monday .",
    "He left {O} for {Q} last year .",
    "{O} said that profits rose in the third quarter .",
    "Shares of {O} fell by two percent .",
    "{P} , who runs {O} , lives in {L} .",
    "The head of {O} met {P} in {L} .",
    "{O} and {Q} signed a contract in {L} .",
    "She used to work for {O} before she moved to {L} .",
    "A spokesman for {O} declined to comment .",
    "{O} bought a smaller rival from {Q} .",
    "Workers at {O} in {L} went on strike .",
    "{P} joined {O} in May .",
    "The report by {O} was published in {L} .",
    "{O} 's plans for {L} were criticized by {Q} .",
    "According to {O} , the plant near {L} will close .",
    "{O} beat {Q} in {L} .",
    "{P} of {O} flew to {L} .",
    "In {L} , {O} has more staff than {Q} .",
    "{P} sued {O} .",
    "{O} wants to sell its branch in {L} to {Q} .",
    "We bought shares of {O} , not of {Q} .",
    "They met at {O} in {L} .",
]
PLAIN = [
    "She ate an apple in {L} .",
    "The amazon is a long river , said {P} .",
    "The shell lay on the beach near {L} .",
    "{P} missed the target .",
    "There is a gap between {L} and the coast .",
    "An orange fell from the table .",
    "{P} crossed the ford on foot .",
    "A puma was seen near {L} .",
    "{P} lost her visa in {L} .",
    "{P} was born in {L} .",
    "{P} left {L} for {M} .",
    "The road from {L} to {M} is closed .",
]
COUNT = 900


def company_examples(path: Name | None = None) -> list[NerExample]:
    """Sentences of our own about organizations, people and places, the same at every call; `path` is not used.

    >>> examples = company_examples()
    >>> len(examples), " ".join(examples[0].words)
    (900, 'Monica Moore works at Boeing in Moscow .')
    """
    rng = np.random.default_rng(12)
    people = [f"{first}_{last}" for first, last in product(NAMES.replace("/", " ").split(), FAMILY)]
    patterns = [*SENTENCES, *SENTENCES, *PLAIN]
    return [fill_pattern(patterns[number % len(patterns)], people, rng) for number in range(COUNT)]


def fill_pattern(pattern: str, people: list[str], rng: np.random.Generator) -> NerExample:
    """A sentence with names instead of {P}erson, {O} and {Q} (organizations), {L} and {M} (places)."""
    organizations, places = rng.permutation(COMPANIES), rng.permutation(PLACES)
    names = {"{P}": ("PER", people[rng.integers(len(people))])}
    names |= {mark: ("ORG", str(one)) for mark, one in zip(("{O}", "{Q}"), organizations)}
    names |= {mark: ("LOC", str(one)) for mark, one in zip(("{L}", "{M}"), places)}
    words: list[str] = []
    entities = []
    for word in pattern.split():
        label, name = names.get(word, ("", word))
        start = len(words)
        words += name.split("_")
        if label:
            entities.append(Span(label, start, len(words)))
    return NerExample(tuple(words), tuple(entities))


def name_counts(examples: list[NerExample]) -> Iterator[tuple[str, int]]:
    """How many names of each type the examples have."""
    labels = sorted(span.label for example in examples for span in example.gold)
    for label, group in groupby(labels):
        yield label, len(list(group))
