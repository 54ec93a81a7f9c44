"""Texts annotated with WordNet senses: SemCor as a table, and the evaluation framework of Raganato et al. (2017).

In both, an annotated token may have several parts (`take_place`, `old age`). Each part is a word here, and the
annotation covers all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from firth.archives import open_tar
from firth.errors import FormatError, OptionError
from firth.files import Name, decode, read_lines
from firth.probes.readers import WordSpan
from firth.probes.wordnet import Lexeme, lexeme_of

SEMCOR, FRAMEWORK = "data/tasks/wsd/semcor3.0.tsv.xz", "data/tasks/wsd/evaluation-framework.tar.xz"
SETS = "senseval2", "senseval3", "semeval2007", "semeval2013", "semeval2015"
DEVELOPMENT = "semeval2007"  # the usual development set; the other four are the test sets of the ELMo paper
NAMES = (
    "person",
    "group",
    "location",
    "other",
)  # lemmas of proper names in SemCor; not senses of these words
SPELLINGS = {"``": '"', "''": '"', "--": "—", "-LRB-": "(", "-RRB-": ")"}  # as in ordinary text
COLUMNS = "file", "sent", "token", "lemma", "pos", "sense_keys"
MOST = 1 << 26  # bytes of an XML file; those of the framework are about 1 MB
DECLARATION = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)


class Annotation(NamedTuple):
    """Words start to stop of a sentence with their lemma, part of speech, sense keys (empty if unknown) and id."""

    start: int
    stop: int
    lemma: str
    pos: str
    keys: tuple[str, ...] = ()
    id: str = ""

    @property
    def lexeme(self) -> Lexeme:
        """The lemma and its part of speech."""
        return Lexeme(self.lemma, self.pos)


class AnnotatedSentence(NamedTuple):
    """The words of a sentence, its annotations, and the document it belongs to."""

    words: tuple[str, ...]
    annotations: tuple[Annotation, ...]
    document: str = ""

    def span(self, annotation: Annotation) -> WordSpan:
        """The annotated word in this sentence."""
        return WordSpan(self.words, annotation.start, annotation.stop)


def read_semcor(path: Name, limit: int | None = None) -> Iterator[AnnotatedSentence]:
    """The first `limit` sentences of SemCor, one at a time; every word with a lemma is annotated.

    SemCor gives proper names the lemmas `person`, `group` and `location`. These are annotated without a sense, because
    they are not uses of these words.
    """
    rows = (split_row(path, number, line) for number, line in read_lines(path) if line)
    if next(rows, None) != COLUMNS:
        raise FormatError(path, f"expected the columns {' '.join(COLUMNS)}", line=1)
    for number, (key, tokens) in enumerate(groupby(rows, key=lambda row: row[:2])):
        if number == limit:
            return
        words: list[str] = []
        annotations = []
        for _, _, token, lemma, pos, keys in tokens:
            start = len(words)
            words += split_token(token)
            if lemma != "_":
                annotations.append(Annotation(start, len(words), lemma, coarse_pos(pos), sense_keys(lemma, pos, keys)))
        yield AnnotatedSentence(tuple(words), tuple(annotations), key[0])


def split_row(path: Name, number: int, line: str) -> tuple[str, ...]:
    """The fields of a line of SemCor."""
    fields = tuple(line.split("\t"))
    if len(fields) != len(COLUMNS):
        raise FormatError(path, f"expected {len(COLUMNS)} columns, found {len(fields)}", line=number)
    return fields


def split_token(token: str) -> list[str]:
    """The words of a SemCor token; punctuation is spelled as in ordinary text.

    >>> split_token("took_place"), split_token("_"), split_token("``")
    (['took', 'place'], ['_'], ['"'])
    """
    return [SPELLINGS.get(part, part) for part in token.split("_") if part] or [token]


def sense_keys(lemma: str, pos: str, field: str) -> tuple[str, ...]:
    """The sense keys in a field of SemCor; proper names have none.

    >>> sense_keys("play", "NN", "play%1:04:05::;play%1:04:04::")
    ('play%1:04:05::', 'play%1:04:04::')
    >>> sense_keys("group", "NNP", "group%1:03:00::")
    ()
    """
    if field == "_" or (lemma in NAMES and pos.startswith("NNP")):
        return ()
    return tuple(key for key in field.split(";") if key)


def coarse_pos(pos: str) -> str:
    """The framework's name of an open word class; other tags are returned unchanged.

    >>> coarse_pos("NNS"), coarse_pos("VBD"), coarse_pos("RP"), coarse_pos("DT")
    ('NOUN', 'VERB', 'RP', 'DT')
    """
    for start, name in (("NN", "NOUN"), ("VB", "VERB"), ("JJ", "ADJ"), ("RB", "ADV")):
        if pos.startswith(start):
            return name
    return pos


def read_framework(path: Name, name: str = "ALL") -> list[AnnotatedSentence]:
    """A set of the evaluation framework, from its folder or archive, with its gold senses.

    In `ALL`, the id of an annotation starts with the name of its set: `senseval2.d000.s000.t000`.
    """
    gold: dict[str, tuple[str, ...]] = {}
    for line in read_member(path, f"{name}/{name}.gold.key.txt").splitlines():
        if line.strip():
            id, *keys = line.split()
            gold[id] = tuple(keys)
    text = read_member(path, f"{name}/{name}.data.xml")
    return list(parse_xml(f"{path}: {name}.data.xml", text, gold))


def parse_xml(place: str, text: str, gold: dict[str, tuple[str, ...]]) -> Iterator[AnnotatedSentence]:
    """The sentences of the framework's XML.

    A file that declares a document type or entities is rejected, so that no entity is expanded or fetched.

    >>> text = '<corpus><sentence id="s"><wf>An</wf><instance id="i" lemma="old_age" pos="NOUN">old age</instance>'
    >>> list(parse_xml("x", text + "</sentence></corpus>", {"i": ("old_age%1:28:00::",)}))[0].words
    ('An', 'old', 'age')
    """
    if DECLARATION.search(text):
        raise FormatError(place, "declares a document type or entities", cure="The framework's files declare none")
    try:
        corpus = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise FormatError(place, f"not XML: {error}") from error
    for sentence in corpus.iter("sentence"):
        words: list[str] = []
        annotations = []
        for element in sentence:
            start = len(words)
            words += [SPELLINGS.get(part, part) for part in (element.text or "").split()]
            id = element.get("id", "")
            if element.tag != "instance":
                continue
            if id not in gold:
                raise FormatError(place, f"no gold sense for {id!r}", cure="Is the gold file of the same set?")
            annotation = Annotation(
                start, len(words), element.get("lemma", "").lower(), element.get("pos", ""), gold[id], id
            )
            annotations.append(annotation)
        yield AnnotatedSentence(tuple(words), tuple(annotations), sentence.get("id", "").rpartition(".")[0])


def read_member(path: Name, name: str) -> str:
    """A text file in a folder or a tar archive, read without unpacking the archive to disk."""
    if Path(path).is_dir():
        file = Path(path) / name
        if not file.is_file():
            raise OptionError(f"{file}: no such file. Name the folder or the archive that contains {name}")
        return _decode(f"{file}", file.read_bytes() if file.stat().st_size <= MOST else None)
    with open_tar(path) as members:
        for member, opened in members:
            if member.name == name:
                return _decode(f"{path}: {name}", opened.read() if member.size <= MOST else None)
    raise FormatError(path, f"the archive has no {name}")


def _decode(place: str, data: bytes | None) -> str:
    if data is None:
        raise FormatError(place, f"is not a file of at most {MOST >> 20} MiB")
    return decode(data, place)


def lexemes_of(sentences: Iterable[AnnotatedSentence]) -> set[Lexeme]:
    """The lexemes of all annotations."""
    return {annotation.lexeme for sentence in sentences for annotation in sentence.annotations}


def count_senses(sentences: Iterable[AnnotatedSentence], lexemes: set[Lexeme]) -> dict[str, int]:
    """The number of occurrences of each sense of some lexemes.

    >>> annotation = Annotation(0, 1, "play", "VERB", ("play%2:33:00::",))
    >>> count_senses([AnnotatedSentence(("play",), (annotation, annotation))], {Lexeme("play", "VERB")})
    {'play%2:33:00::': 2}
    """
    counts: dict[str, int] = {}
    for sentence in sentences:
        for annotation in sentence.annotations:
            for key in annotation.keys:
                if key in counts or lexeme_of(key) in lexemes:
                    counts[key] = counts.get(key, 0) + 1
    return counts
