"""The grammatical gender of English mentions that show it: pronouns, and nouns such as king and queen.

Names and professions have none here: they do not determine a pronoun.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Gender = Literal["masculine", "feminine", "neuter"]

WORDS: dict[Gender, str] = {
    "masculine": "he him his himself mr. mr sir man boy gentleman king prince duke father dad grandfather son grandson "
    "brother husband uncle nephew boyfriend widower",
    "feminine": "she her hers herself mrs. mrs ms. ms miss madam woman girl lady queen princess duchess mother mum mom "
    "grandmother daughter granddaughter sister wife aunt niece girlfriend widow",
    "neuter": "it its itself",
}
GENDERS: dict[str, Gender] = {word: gender for gender, words in WORDS.items() for word in words.split()}
TITLES = frozenset(("mr.", "mr", "sir", "mrs.", "mrs", "ms.", "ms", "miss", "madam"))
AFTER_THE_HEAD = frozenset(
    ("of", "in", "on", "at", "with", "from", "for", "who", "whom", "whose", "that", "which", ",")
)


def find_gender(words: Sequence[str]) -> Gender | None:
    """The gender of a mention, from its title or its head; None where it shows none.

    The head is the last word before a preposition, a relative pronoun or a comma.

    >>> [find_gender(text.split()) for text in ("She", "his mother", "the king of Spain", "Mrs. King", "the doctor")]
    ['feminine', 'feminine', 'masculine', 'feminine', None]
    >>> find_gender("Mary".split()), find_gender("the king and the queen".split())
    (None, None)
    """
    lowered = [word.lower() for word in words]
    if "and" in lowered or "or" in lowered:
        return None
    if len(lowered) > 1 and lowered[0] in TITLES:
        return GENDERS[lowered[0]]
    end = next((place for place, word in enumerate(lowered) if place and word in AFTER_THE_HEAD), len(lowered))
    return GENDERS.get(lowered[end - 1])
