"""Pairs of sentences that differ in one word, and what the second follows from: a test and, with other words, training.

    python scripts/lexical_contrast.py            writes src/firth/probes/lexical_contrast.tsv

Such pairs show whether a model knows words (Glockner et al. 2018, Breaking NLI): on them, models of SNLI guess. All
words, templates and sentences here are our own. No template and
no exchanged word of the test is one of training.

    change         second sentence                                          label
    synonym        the same in another word                                 entailment
    hypernym       a more general word                                      entailment
    cohyponym      another word of the same kind                            contradiction
    antonym        the opposite                                             contradiction
    number         another number                                           contradiction
    color          another color                                            contradiction
    hyponym        a more special word                                      neutral
    detail         an adjective that the first sentence does not have       neutral

Each label has a third of the pairs, so always the same label is right in 33.3 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from firth.files import Name
from firth.tasks.entailment.data import EntailmentExample
from firth.text.tokenize import Tokenizer

FILE = Path(__file__).resolve().parents[1] / "src" / "firth" / "probes" / "lexical_contrast.tsv"
HEADER = ("label", "premise", "hypothesis", "change")
LABELS = {
    "synonym": "entailment",
    "hypernym": "entailment",
    "cohyponym": "contradiction",
    "antonym": "contradiction",
    "number": "contradiction",
    "color": "contradiction",
    "hyponym": "neutral",
    "detail": "neutral",
}


@dataclass(frozen=True)
class WordList:
    """The words and templates of one set of pairs. A pair of words is written one/other, a kind hypernym:its hyponyms.

    `counts` is how many pairs there are of each change.
    """

    kinds: str
    synonyms: str  # nouns
    antonyms: str  # adjectives
    colors: str
    numbers: str
    details: str
    plurals: str
    things: tuple[str, ...]  # templates with a noun
    states: tuple[str, ...]  # templates with an adjective
    colored: tuple[str, ...]
    counted: tuple[str, ...]
    counts: dict[str, int]


TEST = WordList(
    kinds="instrument:guitar,violin,trumpet,flute flower:rose,tulip,daisy,lily tool:hammer,saw,wrench,drill "
    "fish:salmon,trout,shark,tuna boat:canoe,ferry,yacht,raft building:church,castle,barn,hotel "
    "drink:coffee,juice,beer,wine garment:coat,skirt,sweater,scarf insect:bee,ant,beetle,mosquito "
    "weapon:sword,rifle,spear,pistol vegetable:carrot,onion,cabbage,potato snake:cobra,viper,python "
    "reptile:lizard,turtle,crocodile",
    synonyms="sofa/couch automobile/car physician/doctor gift/present rock/stone film/movie pupil/student "
    "shop/store road/street lawyer/attorney cab/taxi picture/image ship/vessel infant/baby",
    antonyms="empty/full wet/dry clean/dirty hot/cold heavy/light rich/poor asleep/awake open/closed loud/quiet "
    "sick/healthy dead/alive thick/thin",
    colors="purple orange pink gray brown",
    numbers="four six seven nine eleven",
    details="broken expensive rusty famous foreign wooden",
    plurals="soldiers students tourists nurses sailors",
    things=(
        "The {X} is near the window .",
        "A photograph of a {X} hangs on the wall .",
        "Somebody has forgotten a {X} at the station .",
        "The visitors talk about the {X} .",
        "In the yard there is a {X} .",
    ),
    states=(
        "The room looks {X} today .",
        "Her neighbor 's box was {X} this morning .",
        "We found that everything there was {X} .",
        "The animal by the gate is {X} .",
    ),
    colored=(
        "The lady by the river wears a {X} hat .",
        "A {X} bus stops in front of the school .",
        "The door of the house is {X} .",
    ),
    counted=("{X} {Y} wait for the train .", "There are {X} {Y} in the hall .", "{X} {Y} sing a song together ."),
    counts={
        "synonym": 60,
        "hypernym": 60,
        "cohyponym": 36,
        "antonym": 36,
        "number": 24,
        "color": 24,
        "hyponym": 60,
        "detail": 60,
    },
)
TRAIN = WordList(
    kinds="animal:dog,cat,horse,cow,sheep,pig,goat,rabbit bird:eagle,owl,duck,parrot,crow fruit:apple,banana,pear,"
    "peach,cherry vehicle:truck,bicycle,tractor,motorcycle,van furniture:table,chair,bed,desk,shelf "
    "tree:oak,pine,maple,birch toy:doll,kite,puzzle,balloon person:man,woman,child,teacher,farmer "
    "monkey:gorilla,baboon,chimpanzee clothing:shirt,dress,jacket,shoe jewel:ruby,emerald,diamond "
    "musician:drummer,singer,pianist athlete:runner,swimmer,boxer container:bottle,basket,bucket,jar "
    "pet:hamster,parakeet,kitten worker:plumber,carpenter,electrician,painter",
    synonyms="kid/child bike/bicycle lady/woman guy/man cup/mug woods/forest home/house dad/father mom/mother "
    "hat/cap snack/bite photo/photograph mountain/peak puppy/dog stroll/walk bag/sack jet/plane lawn/grass",
    antonyms="big/small tall/short young/old happy/sad fast/slow hard/soft early/late long/brief strong/weak "
    "dark/bright cheap/costly busy/idle wide/narrow rough/smooth angry/calm sweet/bitter",
    colors="red blue green yellow black white",
    numbers="two three five eight ten twelve",
    details="tired large cute plastic striped lonely local favorite",
    plurals="men women children dogs players boys girls people",
    things=(
        "A {X} can be seen outside .",
        "He is looking at the {X} .",
        "There is a {X} in this picture .",
        "She points at a {X} with her finger .",
        "My friend likes the {X} very much .",
        "The {X} was in the middle of the street .",
        "Two people stand next to a {X} .",
    ),
    states=(
        "The man is {X} .",
        "It was a {X} day for all of us .",
        "The girl thinks that the water is {X} .",
        "This looks {X} to me .",
        "The dog in the grass seems {X} .",
    ),
    colored=(
        "A man in a {X} shirt is running .",
        "The {X} car is parked outside .",
        "She holds a {X} umbrella .",
        "The dog plays with a {X} ball .",
    ),
    counted=(
        "{X} {Y} are playing in the park .",
        "{X} {Y} walk down the street .",
        "A group of {X} {Y} sits on the grass .",
        "He sees {X} {Y} at the beach .",
    ),
    counts={
        "synonym": 500,
        "hypernym": 500,
        "cohyponym": 300,
        "antonym": 300,
        "number": 200,
        "color": 200,
        "hyponym": 500,
        "detail": 500,
    },
)


def write_pairs(words: WordList, seed: int = 1) -> list[tuple[str, str, str, str]]:
    """All pairs of a list as label, premise, hypothesis and change; none stands twice.

    >>> pairs = write_pairs(TEST)
    >>> len(pairs), len(set(pairs)), sum(label == "neutral" for label, *_ in pairs)
    (360, 360, 120)
    """
    rng = np.random.default_rng(seed)
    found: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for change, count in words.counts.items():
        every = [pair for pair in CHANGES[change](words) if pair[0] != pair[1]]
        fresh = [pair for pair in dict.fromkeys(every) if pair not in found]
        for place in sorted(rng.permutation(len(fresh))[:count].tolist()):
            found[fresh[place]] = (LABELS[change], *map(_sentence, fresh[place]), change)
    return list(found.values())


def _sentence(text: str) -> str:
    """Upper case at the beginning, and the article that goes with the next word."""
    words = text.split()
    for place, word in enumerate(words[:-1]):
        if word.lower() in ("a", "an"):
            words[place] = "an" if words[place + 1][0] in "aeiou" else "a"
    joined = " ".join(words)
    return joined[0].upper() + joined[1:]


def _kinds(words: WordList) -> list[tuple[str, list[str]]]:
    return [(kind, inside.split(",")) for kind, _, inside in (one.partition(":") for one in words.kinds.split())]


def _fill(templates: Sequence[str], one: str, other: str) -> list[tuple[str, str]]:
    return [(template.replace("{X}", one), template.replace("{X}", other)) for template in templates]


def _hypernyms(words: WordList) -> list[tuple[str, str]]:
    return [pair for kind, inside in _kinds(words) for one in inside for pair in _fill(words.things, one, kind)]


def _hyponyms(words: WordList) -> list[tuple[str, str]]:
    return [(other, one) for one, other in _hypernyms(words)]


def _cohyponyms(words: WordList) -> list[tuple[str, str]]:
    """Only in templates where one thing excludes the other: the same thing is named."""
    templates = [template for template in words.things if "The {X}" in template or "the {X}" in template]
    return [
        pair
        for _, inside in _kinds(words)
        for one in inside
        for other in inside
        if one != other
        for pair in _fill(templates, one, other)
    ]


def _both_ways(pairs: str, templates: Sequence[str]) -> list[tuple[str, str]]:
    words = [pair.split("/") for pair in pairs.split()]
    return [pair for one, other in words for pair in [*_fill(templates, one, other), *_fill(templates, other, one)]]


def _synonyms(words: WordList) -> list[tuple[str, str]]:
    return _both_ways(words.synonyms, words.things)


def _antonyms(words: WordList) -> list[tuple[str, str]]:
    return _both_ways(words.antonyms, words.states)


def _colors(words: WordList) -> list[tuple[str, str]]:
    colors = words.colors.split()
    return [pair for one in colors for other in colors if one != other for pair in _fill(words.colored, one, other)]


def _numbers(words: WordList) -> list[tuple[str, str]]:
    numbers = words.numbers.split()
    templates = [template.replace("{Y}", noun) for template in words.counted for noun in words.plurals.split()]
    return [pair for one in numbers for other in numbers if one != other for pair in _fill(templates, one, other)]


def _details(words: WordList) -> list[tuple[str, str]]:
    nouns = [one for _, inside in _kinds(words) for one in inside]
    return [
        pair
        for detail in words.details.split()
        for noun in nouns
        for pair in _fill(words.things, noun, f"{detail} {noun}")
    ]


CHANGES: dict[str, Callable[[WordList], list[tuple[str, str]]]] = {
    "synonym": _synonyms,
    "hypernym": _hypernyms,
    "cohyponym": _cohyponyms,
    "antonym": _antonyms,
    "number": _numbers,
    "color": _colors,
    "hyponym": _hyponyms,
    "detail": _details,
}


def contrast_examples(path: Name | None = None) -> list[EntailmentExample]:
    """The pairs for training; `path` is not used."""
    return as_examples(write_pairs(TRAIN))


def as_examples(pairs: Sequence[tuple[str, str, str, str]]) -> list[EntailmentExample]:
    """Pairs as examples of the task."""
    words = Tokenizer().words
    return [EntailmentExample(tuple(words(one)), tuple(words(other)), label) for label, one, other, _ in pairs]


def main() -> None:
    lines = ["\t".join(row) for row in (HEADER, *write_pairs(TEST))]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
