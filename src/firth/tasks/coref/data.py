"""Documents with coreference clusters, in the columns of CoNLL-2012 or the three columns of OntoGUM.

    #begin document (bc/cctv/00/cctv_0000); part 000
    bc/cctv/00/cctv_0000  0  0  Mary  …  (4)        the fourth column is the word, the tenth the speaker,
    bc/cctv/00/cctv_0000  0  1  saw   …  -          the last has the mentions that begin and end here
    bc/cctv/00/cctv_0000  0  2  her   …  (7|(4)
    …

An empty line ends a sentence. OntoGUM has the number of the word, the word and its mentions, and no sentence
boundaries: sentences are split after full stops. See `splits.py` for folders, archives and splits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from firth.errors import FormatError
from firth.files import Name, decode
from firth.tasks.coref.score import deduplicate
from firth.tasks.coref.sentence_ends import find_sentence_ends
from firth.tasks.coref.splits import file_stem, list_members, parse_splits, select_tenths, split_path
from firth.tasks.located_text import LocatedText
from firth.tasks.task import require_gold

Mention = tuple[int, int]  # the first word and the one after the last, counted over the document
Clusters = tuple[tuple[Mention, ...], ...]

# Possessive quantifiers and the boundary keep the time linear in the length of a field without brackets.
MENTION = re.compile(r"\((?P<single>\w++)\)|\((?P<begins>\w++)|(?<!\w)(?P<ends>\w++)\)")
BEGIN = re.compile(r"#\s*begin document\s*(?:\((?P<name>.*)\))?\s*(?:; part (?P<part>\d{1,9}))?")
EMPTY = ("", "-", "_", "*")


@dataclass(frozen=True)
class Document:
    """The sentences of a document and, where they are known, its clusters, speakers and genre.

    >>> document = Document((("Mary", "left", "."), ("She", "ran", ".")), clusters=(((0, 1), (3, 4)),))
    >>> [document.words[start:end] for start, end in document.clusters[0]]
    [('Mary',), ('She',)]
    """

    sentences: tuple[tuple[str, ...], ...]
    clusters: Clusters | None = None
    speakers: tuple[str, ...] | None = None  # of each word
    genre: str | None = None
    name: str = ""
    origin: LocatedText | None = field(default=None, kw_only=True, compare=False, repr=False)  # of a text of a user

    @property
    def located(self) -> LocatedText:
        """The words with their places: in the text of the user, or in the words joined by single blanks."""
        return self.origin or LocatedText.of_tokens(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all sentences."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def with_sentences(self, sentences: Sequence[tuple[str, ...]]) -> Document:
        """The document with other spellings of its words."""
        return replace(self, sentences=tuple(sentences))

    @property
    def gold(self) -> Clusters:
        """The clusters, which must be known."""
        return require_gold(self.clusters, self.words)


def read_documents(path: Name) -> list[Document]:
    """The documents of a file, a folder or an archive, or of one of its splits.

    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "tea.conll"
    >>> lines = "# begin document", "0\\tMary\\t(1)", "1\\tleft\\t_", "2\\t.\\t_", "3\\tShe\\t(1)", "# end document"
    >>> _ = file.write_text("\\n".join(lines))
    >>> document, = read_documents(file)
    >>> document.sentences, document.clusters
    ((('Mary', 'left', '.'), ('She',)), (((0, 1), (3, 4)),))
    """
    source, split = split_path(path)
    members, splits = list_members(source)
    names = None if splits is None or split is None else parse_splits(path, splits, split)
    documents: list[Document] = []
    for name, read in members:
        if names is None or file_stem(name) in names:
            documents += _parse_documents(name, decode(read(), name).splitlines())
    if split is not None and splits is None:
        documents = select_tenths(path, documents, split)
    if not documents:
        raise FormatError(path, "the file has no documents", cure="A document begins with a line '#begin document'")
    return documents


def write_documents(documents: Iterable[Document], path: Name) -> None:
    """Writes documents in the columns of CoNLL-2012, the format of its reference scorer."""
    with open(path, "w", encoding="utf-8") as file:
        for number, document in enumerate(documents):
            file.writelines(line + "\n" for line in format_columns(document, number))


def format_columns(document: Document, number: int = 0) -> Iterator[str]:
    """The lines of a document in the columns of CoNLL-2012; unknown fields are `-`.

    >>> list(format_columns(Document((("I", "am"),), (((0, 2), (0, 1)),), name="x")))[1]
    'x\\t0\\t0\\tI\\t-\\t-\\t-\\t-\\t-\\t-\\t-\\t(0|(0)'
    """
    name = document.name or f"document {number}"
    begins: dict[int, list[Mention]] = {}
    ends: dict[int, list[Mention]] = {}
    ids = {mention: id for id, cluster in enumerate(document.clusters or ()) for mention in cluster}
    for mention in sorted(ids, key=lambda mention: (mention[0], -mention[1])):
        begins.setdefault(mention[0], []).append(mention)
        ends.setdefault(mention[1] - 1, []).insert(0, mention)
    yield f"#begin document ({name}); part 000"
    at = 0
    for sentence in document.sentences:
        for place, word in enumerate(sentence):
            single = [f"({ids[mention]})" for mention in begins.get(at, []) if mention[1] == at + 1]
            opening = [f"({ids[mention]}" for mention in begins.get(at, []) if mention[1] > at + 1]
            closing = [f"{ids[mention]})" for mention in ends.get(at, []) if mention[0] < at]
            mentions = "|".join(opening + single + closing) or "-"
            speaker = document.speakers[at] if document.speakers else "-"
            fields = name.replace(" ", "_"), "0", str(place), word, *"-----", speaker or "-", "-", mentions
            yield "\t".join(fields)
            at += 1
        yield ""
    yield "#end document"


def _parse_documents(file: str, lines: Sequence[str]) -> Iterator[Document]:
    builder: _DocumentBuilder | None = None
    for number, line in enumerate(lines, 1):
        if begin := BEGIN.match(line):
            if builder is not None:
                raise FormatError(file, "a document begins within another", line=number, cure="Add '#end document'")
            builder = _DocumentBuilder(file, begin["name"] or file_stem(file), begin["part"])
        elif line.startswith("#") and line.lstrip("# ").startswith("end document"):
            if builder is None:
                raise FormatError(file, "a document ends that did not begin", line=number)
            yield builder.build(number)
            builder = None
        elif builder is not None:
            builder.add_line(line, number)
        elif line.strip() and not line.startswith("#"):
            raise FormatError(file, "a word outside of a document", line=number, cure="Add '#begin document'")
    if builder is not None:
        raise FormatError(file, "the last document does not end", line=len(lines), cure="The file may be truncated")


class _DocumentBuilder:
    """Builds a document line by line."""

    def __init__(self, file: str, name: str, part: str | None) -> None:
        self.file, self.name = file, name
        self.part = int(part or 0)
        self.words: list[str] = []
        self.speakers: list[str] = []
        self.breaks: list[int] = [0]
        self.open: dict[str, list[tuple[int, int]]] = {}  # first words of open mentions, with their lines
        self.unopened: list[tuple[str, int]] = []  # clusters of mentions that end but did not begin, with their lines
        self.clusters: dict[str, list[Mention]] = {}
        self.has_sentences = True

    def add_line(self, line: str, number: int) -> None:
        if not line.strip():
            if self.breaks[-1] < len(self.words):
                self.breaks.append(len(self.words))
            return
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) == 3:
            self.has_sentences = False
            word, speaker = fields[1], ""
        elif len(fields) >= 12:
            word, speaker = fields[3], "" if fields[9] in EMPTY else fields[9]
        elif line.startswith("#"):
            return
        else:
            problem = f"expected 3 columns (number, word, mentions) or at least 12 (CoNLL-2012), found {len(fields)}"
            raise FormatError(self.file, problem, line=number)
        self.add_mentions(fields[-1].strip(), number)
        self.words.append(word)
        self.speakers.append(speaker)

    def add_mentions(self, field: str, number: int) -> None:
        if field in EMPTY:
            return
        at = len(self.words)
        if MENTION.sub("", field).strip("|"):
            cure = "Mentions are written (1, 1) or (1), separated by |"
            raise FormatError(self.file, f"invalid mentions {field!r}", line=number, cure=cure)
        for match in MENTION.finditer(field):
            if cluster := match["single"]:
                self.clusters.setdefault(cluster, []).append((at, at + 1))
            elif cluster := match["begins"]:
                self.open.setdefault(cluster, []).append((at, number))
            elif self.open.get(cluster := match["ends"]):
                self.clusters.setdefault(cluster, []).append((self.open[cluster].pop()[0], at + 1))
            else:
                self.unopened.append((cluster, number))

    def check(self) -> None:
        """Every mention must begin and end.

        One mention of a document may begin in one cluster and end in another, as in GENTLE_poetry_road of OntoGUM. Its
        cluster is unknown, so it is left out. More than one is an error.
        """
        unclosed = [(cluster, line) for cluster, places in self.open.items() for _, line in places]
        if len(unclosed) == len(self.unopened) == 1 and unclosed[0][1] < self.unopened[0][1]:
            return
        for cluster, line in self.unopened:
            cure = f"Add '({cluster}' where it begins, or leave the document out"
            raise FormatError(self.file, f"a mention of {cluster} ends that did not begin", line=line, cure=cure)
        for cluster, line in unclosed:
            cure = f"Add '{cluster})' where it ends"
            raise FormatError(self.file, f"a mention of {cluster} does not end", line=line, cure=cure)

    def build(self, number: int) -> Document:
        self.check()
        if not self.words:
            raise FormatError(self.file, f"the document {self.name!r} has no words", line=number)
        clusters = deduplicate([sorted(mentions) for mentions in self.clusters.values()])
        ends = [*self.breaks[1:], len(self.words)] if self.has_sentences else find_sentence_ends(self.words, clusters)
        sentences = tuple(tuple(self.words[start:end]) for start, end in zip([0, *ends], ends) if end > start)
        return Document(
            sentences,
            tuple(sorted(tuple(sorted(mentions)) for mentions in clusters)),
            tuple(self.speakers) if any(self.speakers) else None,
            parse_genre(self.name),
            f"{self.name}.{self.part}" if self.part else self.name,
        )


def parse_genre(name: str) -> str | None:
    """The genre in the name of a document of OntoNotes or GUM.

    >>> parse_genre("bc/cctv/00/cctv_0000"), parse_genre("GUM_news_nasa"), parse_genre("345_dracula_brat")
    ('bc', 'news', None)
    """
    if "/" in name:
        return name.split("/")[0]
    match = re.match(r"(?:GUM|GENTLE)_([^_]+)_", name)
    return match[1] if match else None
