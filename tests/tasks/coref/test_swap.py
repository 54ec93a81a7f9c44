"""Exchanging genders: pronouns by their role, nouns and names by lists; pronouns become about equally frequent."""

from __future__ import annotations

from firth.tasks.coref.data import Document
from firth.tasks.coref.swap import EXCHANGED, NAMES, balance_genders, count_pronouns, swap_genders, swap_word
from firth.tasks.coref.task import Coref

MARY = Document(
    (("Mary", "saw", "her", "brother", "."), ("He", "thanked", "her", "himself", ".")),
    (((0, 1), (2, 3), (7, 8)), ((2, 4), (5, 6), (8, 9))),
)


def test_her_becomes_his_or_him_by_its_role() -> None:
    swapped = swap_genders(MARY)
    assert swapped.sentences == (("John", "saw", "his", "sister", "."), ("She", "thanked", "him", "herself", "."))
    assert swapped.clusters == MARY.clusters


def test_swapping_twice_gives_the_same_document() -> None:
    assert swap_genders(swap_genders(MARY)) == MARY


def test_capitals_stay_and_small_letters_are_no_names() -> None:
    assert [swap_word(word, owns=False) for word in ("HE", "Aunt", "grace", "Grace", "Miss", "miss")] == [
        "SHE",
        "Uncle",
        "grace",
        "Frank",
        "Mr.",
        "miss",
    ]


def test_every_name_has_one_partner() -> None:
    names = NAMES.replace("/", " ").split()
    assert len(names) == len(set(names))
    assert all(EXCHANGED[EXCHANGED[name]] == name for name in names)


def test_balancing_changes_only_what_makes_the_pronouns_more_equal() -> None:
    documents = [Document((("he",) * count,)) for count in (5, 3, 1)] + [Document((("she",) * 2,))]
    balanced = balance_genders(documents)
    before, after = (abs(sum(map(count_pronouns, some))) for some in (documents, balanced))
    assert (before, after) == (7, 1)
    assert balance_genders(balanced) == balanced


def test_the_task_balances_its_training_examples_if_asked() -> None:
    documents = [Document((("he", "ran"),)), Document((("he", "sat"),))]
    assert Coref().training_examples(documents) == documents
    changed = Coref(balanced=True).training_examples(documents)
    assert sum(map(count_pronouns, changed)) == 0
