"""Documents whose mentions are marked in columns: CoNLL-2012, and the three columns of OntoGUM.

    #begin document (bc/cctv/00/cctv_0000); part 000
    bc/cctv/00/cctv_0000  0  0  Mary  …  (4)        the fourth column is the word, the tenth who speaks,
    bc/cctv/00/cctv_0000  0  1  saw   …  -          the last tells which mentions begin and end here
    bc/cctv/00/cctv_0000  0  2  her   …  (7|(4)
    …

An empty line ends a sentence. OntoGUM has the number of the word, the word and its mentions, and no sentences: they are
cut behind full stops. A path is a file, a folder or a tar archive, packed or not; `PATH:dev` is a part of it, named in
its `splits.md` or, without one, one document of ten (`test` the tenth, `dev` the ninth, `train` the rest).
"""

from __future__ import annotations

import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from firth.errors import FormatError, OptionError
from firth.files import Name, decode, open_bytes
from firth.tasks.coref.score import deduplicate
from firth.tasks.coref.sentence_ends import find_sentence_ends

Span = tuple[int, int]  # the first word and the one behind the last, counted over the document
Clusters = tuple[tuple[Span, ...], ...]

MARKS = re.compile(r"\((?P<alone>\w+)\)|\((?P<begins>\w+)|(?P<ends>\w+)\)")
BEGIN = re.compile(r"#\s*begin document\s*(?:\((?P<name>.*)\))?\s*(?:; part (?P<part>\d+))?")
COLUMNS = re.compile(r"conll(\.(gz|xz|bz2|zst))?$")
NOTHING = ("", "-", "_", "*")


@dataclass(frozen=True)
class Document:
    """The sentences of a text and, where they are known, its clusters of mentions, its speakers and its genre.

    >>> document = Document((("Mary", "left", "."), ("She", "ran", ".")), clusters=(((0, 1), (3, 4)),))
    >>> [document.words[start:end] for start, end in document.clusters[0]]
    [('Mary',), ('She',)]
    """

    sentences: tuple[tuple[str, ...], ...]
    clusters: Clusters | None = None
    speakers: tuple[str, ...] | None = None  # who says each word
    genre: str | None = None
    name: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """All words, one sentence behind the other."""
        return tuple(word for sentence in self.sentences for word in sentence)


def read_documents(path: Name) -> list[Document]:
    """The documents of a file, a folder or an archive, or of a part of it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "tea.conll"
    >>> lines = "# begin document", "0\\tMary\\t(1)", "1\\tleft\\t_", "2\\t.\\t_", "3\\tShe\\t(1)", "# end document"
    >>> _ = file.write_text("\\n".join(lines))
    >>> document, = read_documents(file)
    >>> document.sentences, document.clusters
    ((('Mary', 'left', '.'), ('She',)), (((0, 1), (3, 4)),))
    """
    source, part = _parted(path)
    members, splits = _members(source)
    chosen = None if splits is None or part is None else _chosen(path, splits, part)
    documents: list[Document] = []
    for place, opened in members:
        if chosen is None or _stem(place) in chosen:
            documents += _documents(place, decode(opened(), place).splitlines())
    if part is not None and splits is None:
        tens = {"train": range(8), "dev": (8,), "test": (9,)}
        if part not in tens:
            raise OptionError(f"{path}: without a splits.md the parts are train, dev and test, not {part!r}")
        documents = [document for number, document in enumerate(documents) if number % 10 in tens[part]]
    if not documents:
        raise FormatError(path, "holds no documents", cure="A document begins with a line '#begin document'")
    return documents


def write_documents(documents: Iterable[Document], path: Name) -> None:
    """Writes documents in the columns of CoNLL-2012, for other programs and for its reference scorer."""
    with open(path, "w", encoding="utf-8") as file:
        for number, document in enumerate(documents):
            file.writelines(line + "\n" for line in format_columns(document, number))


def format_columns(document: Document, number: int = 0) -> Iterator[str]:
    """The lines of a document in CoNLL-2012; what we do not know is `-`.

    >>> list(format_columns(Document((("I", "am"),), (((0, 2), (0, 1)),), name="x")))[1]
    'x\\t0\\t0\\tI\\t-\\t-\\t-\\t-\\t-\\t-\\t-\\t(0|(0)'
    """
    name = document.name or f"document {number}"
    begins: dict[int, list[Span]] = {}
    ends: dict[int, list[Span]] = {}
    numbers = {span: cluster for cluster, spans in enumerate(document.clusters or ()) for span in spans}
    for span in sorted(numbers, key=lambda span: (span[0], -span[1])):
        begins.setdefault(span[0], []).append(span)
        ends.setdefault(span[1] - 1, []).insert(0, span)
    yield f"#begin document ({name}); part 000"
    at = 0
    for sentence in document.sentences:
        for place, word in enumerate(sentence):
            alone = [f"({numbers[span]})" for span in begins.get(at, []) if span[1] == at + 1]
            opening = [f"({numbers[span]}" for span in begins.get(at, []) if span[1] > at + 1]
            closing = [f"{numbers[span]})" for span in ends.get(at, []) if span[0] < at]
            marks = "|".join(opening + alone + closing) or "-"
            speaker = document.speakers[at] if document.speakers else "-"
            fields = name.replace(" ", "_"), "0", str(place), word, *"-----", speaker or "-", "-", marks
            yield "\t".join(fields)
            at += 1
        yield ""
    yield "#end document"


def _parted(path: Name) -> tuple[Path, str | None]:
    text = os.fspath(path)
    if not os.path.exists(text) and re.search(r":\w+$", text):
        text, _, part = text.rpartition(":")
        if os.path.exists(text):
            return Path(text), part
    if not os.path.exists(text):
        raise OptionError(f"{path}: no such file, folder or archive")
    return Path(text), None


Members = list[tuple[str, Callable[[], bytes]]]


def _members(source: Path) -> tuple[Members, str | None]:
    """The files that hold documents, by name, each with what reads it, and the text of splits.md."""
    if source.is_dir():
        paths = sorted(path for path in source.rglob("*") if path.is_file())
        files: Members = [(str(path), partial(_read, path)) for path in paths]
        beside = source.parent / "splits.md"
        files += [(str(beside), partial(_read, beside))] if beside.exists() else []
    elif tarfile.is_tarfile(source):
        files = sorted(_archived(source))
    else:
        return [(str(source), partial(_read, source))], None
    splits = next((decode(opened(), place) for place, opened in files if _stem(place) == "splits"), None)
    members = [member for member in files if COLUMNS.search(member[0])]
    gold = [member for member in members if "gold_conll" in member[0]]  # OntoNotes lays guesses beside the truth
    if not members:
        raise FormatError(source, "holds no columns", cure="The names of the files should end in 'conll'")
    return gold or members, splits


def _archived(source: Path) -> Members:
    found: Members = []
    try:
        with tarfile.open(source) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    found.append((f"{source}/{member.name}", partial(bytes, file.read())))
    except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise FormatError(source, f"the archive is broken or cut short ({error})") from error
    return found


def _read(path: Path) -> bytes:
    with open_bytes(path) as file:
        return file.read()


def _stem(place: str) -> str:
    return PurePosixPath(place).name.partition(".")[0]


def _chosen(path: Name, splits: str, part: str) -> set[str]:
    parts: dict[str, set[str]] = {}
    names: set[str] = set()
    for line in splits.splitlines():
        if line.startswith("## "):
            names = parts.setdefault(line[3:].strip(), set())
        elif line.strip().startswith("* "):
            names.add(line.strip()[2:].strip())
    if part not in parts:
        raise OptionError(f"{path}: splits.md has no part {part!r}. There are: {', '.join(parts)}")
    return parts[part]


def _documents(place: str, lines: Sequence[str]) -> Iterator[Document]:
    draft: _Draft | None = None
    for number, line in enumerate(lines, 1):
        if begun := BEGIN.match(line):
            if draft is not None:
                raise FormatError(place, "a document begins within another", line=number, cure="Add '#end document'")
            draft = _Draft(place, begun["name"] or _stem(place), begun["part"])
        elif line.startswith("#") and line.lstrip("# ").startswith("end document"):
            if draft is None:
                raise FormatError(place, "a document ends that did not begin", line=number)
            yield draft.finished(number)
            draft = None
        elif draft is not None:
            draft.add(line, number)
        elif line.strip() and not line.startswith("#"):
            raise FormatError(place, "a word stands outside of a document", line=number, cure="Add '#begin document'")
    if draft is not None:
        raise FormatError(place, "the last document does not end", line=len(lines), cure="The file may be cut short")


class _Draft:
    """A document as it is read, line by line."""

    def __init__(self, place: str, name: str, part: str | None) -> None:
        self.place, self.name = place, name
        self.part = int(part or 0)
        self.words: list[str] = []
        self.speakers: list[str] = []
        self.breaks: list[int] = [0]
        self.open: dict[str, list[tuple[int, int]]] = {}  # words at which mentions began, with their lines
        self.strays: list[tuple[str, int]] = []  # mentions that ended and did not begin, with their lines
        self.clusters: dict[str, list[Span]] = {}
        self.has_sentences = True

    def add(self, line: str, number: int) -> None:
        if not line.strip():
            if self.breaks[-1] < len(self.words):
                self.breaks.append(len(self.words))
            return
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) == 3:
            self.has_sentences = False
            word, speaker = fields[1], ""
        elif len(fields) >= 12:
            word, speaker = fields[3], "" if fields[9] in NOTHING else fields[9]
        elif line.startswith("#"):
            return
        else:
            problem = (
                f"expected 3 columns (number, word, mentions) or the 12 and more of CoNLL-2012, found {len(fields)}"
            )
            raise FormatError(self.place, problem, line=number)
        self.mark(fields[-1].strip(), number)
        self.words.append(word)
        self.speakers.append(speaker)

    def mark(self, marks: str, number: int) -> None:
        if marks in NOTHING:
            return
        at = len(self.words)
        if MARKS.sub("", marks).strip("|"):
            cure = "They are written (1, 1) or (1), one behind the other"
            raise FormatError(self.place, f"the mentions {marks!r} cannot be read", line=number, cure=cure)
        for found in MARKS.finditer(marks):
            if name := found["alone"]:
                self.clusters.setdefault(name, []).append((at, at + 1))
            elif name := found["begins"]:
                self.open.setdefault(name, []).append((at, number))
            elif self.open.get(name := found["ends"]):
                self.clusters.setdefault(name, []).append((self.open[name].pop()[0], at + 1))
            else:
                self.strays.append((name, number))

    def check(self) -> None:
        """Every mention has both its ends.

        One in a document may begin as one cluster and end as another, as in OntoGUM's GENTLE_poetry_road: nobody can
        tell which it belongs to, so it is left out. More than one is no slip.
        """
        begun = [(name, line) for name, places in self.open.items() for _, line in places]
        if len(begun) == len(self.strays) == 1 and begun[0][1] < self.strays[0][1]:
            return
        for name, line in self.strays:
            cure = f"Add '({name}' where it begins, or leave the document out"
            raise FormatError(self.place, f"a mention of {name} ends that did not begin", line=line, cure=cure)
        for name, line in begun:
            cure = f"Add '{name})' where it ends"
            raise FormatError(self.place, f"a mention of {name} does not end", line=line, cure=cure)

    def finished(self, number: int) -> Document:
        self.check()
        if not self.words:
            raise FormatError(self.place, f"the document {self.name!r} has no words", line=number)
        clusters = deduplicate([sorted(spans) for spans in self.clusters.values()])
        breaks = [*self.breaks[1:], len(self.words)] if self.has_sentences else find_sentence_ends(self.words, clusters)
        starts = [0, *breaks]
        sentences = tuple(tuple(self.words[start:end]) for start, end in zip(starts, breaks) if end > start)
        return Document(
            sentences,
            tuple(sorted(tuple(sorted(spans)) for spans in clusters)),
            tuple(self.speakers) if any(self.speakers) else None,
            parse_genre(self.name),
            f"{self.name}.{self.part}" if self.part else self.name,
        )


def parse_genre(name: str) -> str | None:
    """The genre that a document's name tells, in OntoNotes and in GUM.

    >>> parse_genre("bc/cctv/00/cctv_0000"), parse_genre("GUM_news_nasa"), parse_genre("345_dracula_brat")
    ('bc', 'news', None)
    """
    if "/" in name:
        return name.split("/")[0]
    told = re.match(r"(?:GUM|GENTLE)_([^_]+)_", name)
    return told[1] if told else None
