"""Documents with the genders of their people exchanged: he for she, mother for father, Mary for John.

English text has more masculine than feminine pronouns, and a model that learned from it finds fewer of the feminine
ones. `balance_genders` exchanges the genders of some documents, so that both kinds are about equally frequent. Names
outside of the list stay as they are: a name does not determine a pronoun.
"""

from __future__ import annotations

from collections.abc import Sequence

from firth.tasks.coref.data import Document
from firth.tasks.coref.gender import GENDERS

MASCULINE = ["he", "him", "his", "himself"]
FEMININE = ["she", "her", "hers", "herself"]
NOUNS = (
    "mr./mrs. mr/mrs sir/madam man/woman men/women boy/girl boys/girls gentleman/lady gentlemen/ladies king/queen "
    "kings/queens prince/princess princes/princesses duke/duchess father/mother fathers/mothers dad/mom daddy/mommy "
    "papa/mama grandfather/grandmother grandpa/grandma son/daughter sons/daughters grandson/granddaughter "
    "brother/sister brothers/sisters husband/wife husbands/wives uncle/aunt uncles/aunts nephew/niece nephews/nieces "
    "boyfriend/girlfriend widower/widow actor/actress actors/actresses waiter/waitress hero/heroine "
    "baron/baroness emperor/empress heir/heiress monk/nun wizard/witch "
    "chairman/chairwoman congressman/congresswoman businessman/businesswoman policeman/policewoman male/female"
)
NAMES = (
    "John/Mary James/Anna William/Elizabeth George/Margaret Charles/Emma Henry/Alice Thomas/Sarah Robert/Laura "
    "Edward/Helen David/Julia Michael/Karen Peter/Susan Paul/Emily Joseph/Rose Frank/Grace Arthur/Clara Walter/Ellen "
    "Richard/Jane Daniel/Rachel Samuel/Hannah Jack/Lucy Tom/Kate Bob/Betty Bill/Nancy Jim/Sally Joe/Amy Ben/Molly "
    "Sam/Ann Harry/Fanny Philip/Caroline Andrew/Diana Mark/Lisa Steven/Linda Kevin/Sandra Brian/Donna Eric/Monica "
    "Martin/Martha Louis/Louise Oliver/Olivia Albert/Victoria Alexander/Alexandra Patrick/Patricia Simon/Simone "
    "Stephen/Stephanie Christopher/Christina Matthew/Ruth Luke/Leah Adam/Eve Victor/Vera Oscar/Nora Leo/Lily Max/Zoe"
)
PAIRS = [(first, second) for first, _, second in (pair.partition("/") for pair in f"{NOUNS} {NAMES}".split())]
EXCHANGED = {
    **{second: first for first, second in reversed(PAIRS)},
    **dict(PAIRS),
    "he": "she",
    "she": "he",
    "him": "her",
    "himself": "herself",
    "herself": "himself",
    "hers": "his",
    "ms.": "mr.",
    "ms": "mr",
    "Miss": "Mr.",
}


def swap_genders(document: Document) -> Document:
    """The document with all pronouns, nouns and names of the lists exchanged. Clusters and places stay.

    `her` becomes `his` where it is a mention that begins a longer one (`her dog`), and `him` elsewhere; `his` becomes
    `her` there, and `hers` elsewhere.

    >>> words = tuple("Mary saw her dog and his ; it loved her .".split())
    >>> clusters = ((0, 1), (2, 3), (8, 9)), ((2, 4), (6, 7))
    >>> " ".join(swap_genders(Document((words,), clusters)).words)
    'John saw his dog and hers ; it loved him .'
    """
    wide = {start for cluster in document.clusters or () for start, end in cluster if end > start + 1}
    sentences, place = [], 0
    for sentence in document.sentences:
        words = []
        for number, word in enumerate(sentence):
            following = sentence[number + 1] if number + 1 < len(sentence) else ""
            owns = place in wide or (document.clusters is None and following.isalpha())
            words.append(swap_word(word, owns=owns))
            place += 1
        sentences.append(tuple(words))
    return document.with_sentences(sentences)


def swap_word(word: str, *, owns: bool) -> str:
    """A word of the other gender, in the same case; a word outside of the lists as it is.

    >>> swap_word("Her", owns=True), swap_word("her", owns=False), swap_word("KING", owns=False)
    ('His', 'him', 'QUEEN')
    >>> swap_word("Mary", owns=False), swap_word("rose", owns=False), swap_word("tea", owns=False)
    ('John', 'rose', 'tea')
    """
    lowered = word.lower()
    if word in EXCHANGED:
        return EXCHANGED[word]
    if lowered == "her":
        found = "his" if owns else "him"
    elif lowered == "his":
        found = "her" if owns else "hers"
    else:
        found = EXCHANGED.get(lowered, "")
    if not found:
        return word
    if word.isupper() and len(word) > 1:
        return found.upper()
    return found.capitalize() if word[0].isupper() else found


def balance_genders(documents: Sequence[Document]) -> list[Document]:
    """The documents in order, some with their genders exchanged: each one if that makes the pronouns more equal.

    >>> documents = [Document((("he", "met", "him"),)), Document((("she", "left"),)), Document((("he", "ran"),))]
    >>> [" ".join(document.words) for document in balance_genders(documents)]
    ['he met him', 'she left', 'she ran']
    """
    surplus = [count_pronouns(document) for document in documents]
    total, chosen = sum(surplus), set()
    for place in sorted(range(len(documents)), key=lambda place: (-abs(surplus[place]), place)):
        if abs(total - 2 * surplus[place]) < abs(total):
            total -= 2 * surplus[place]
            chosen.add(place)
    return [swap_genders(document) if place in chosen else document for place, document in enumerate(documents)]


def count_pronouns(document: Document) -> int:
    """How many more masculine than feminine pronouns a document has.

    >>> count_pronouns(Document((("He", "saw", "her", "and", "him"),)))
    1
    """
    words = [word.lower() for word in document.words]
    return sum((word in MASCULINE) - (word in FEMININE) for word in words if word in GENDERS)
