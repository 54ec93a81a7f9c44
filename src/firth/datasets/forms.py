"""The forms of data files: what a file contains, found by reading it and not by its name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from firth.archives import open_tar
from firth.catalog import Form
from firth.errors import FirthError, FormatError
from firth.evaluate.questions import read_analogies, read_categories, read_pairs, task_of
from firth.evaluate.senses import read_senses
from firth.files import read_json, read_lines

LARGEST = 1 << 23  # bytes of a file that can be a set of pairs, analogies or categories
LONGEST = 1 << 20  # bytes of a line
LABELS = {"entailment", "neutral", "contradiction", "e", "n", "c", "-"}
ANSWERS = {"T", "F"}


def digest(path: Path) -> str | None:
    """A hash of the words of a test set, the same for any order, case and file format; None if it is no such set.

    >>> import tempfile
    >>> one, other = (Path(tempfile.mkdtemp()) / name for name in ("pairs.csv", "pairs.tsv"))
    >>> _ = one.write_text("tea,coffee,7\\nsun,rain,2\\n"), other.write_text("Sun\\train\\t2.5\\ncoffee\\ttea\\t8\\n")
    >>> digest(one) == digest(other)
    True
    """
    if not 0 < path.stat().st_size <= LARGEST:
        return None
    try:
        task = task_of(path)
        if task == "similarity":
            items = ["\t".join(sorted((pair.first.lower(), pair.second.lower()))) for pair in read_pairs(path)]
        elif task == "analogy":
            items = ["\t".join(one).lower() for section in read_analogies(path).values() for one in section]
        elif task == "categories":
            items = ["\t".join(member).lower() for member in read_categories(path)]
        else:
            return None
    except FirthError:
        return None
    return hashlib.sha256("\n".join(sorted(items)).encode()).hexdigest()[:16]


def count_items(path: Path, form: Form) -> int:
    """The number of questions, pairs, sentences or documents in a file of a form. A file of another form is an error.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "names.conll"
    >>> _ = file.write_text("Ada\\tB-PER\\n.\\tO\\n\\nRain\\tO\\n")
    >>> count_items(file, "conll")
    2
    >>> count_items(file, "trees")
    Traceback (most recent call last):
    firth.errors.FormatError: ...names.conll:1: expected a tree in brackets, found 'Ada\\tB-PER'
    """
    if form == "wic" and ".gold" in path.name:  # answers are no pairs of their own
        _count_lines(path, ANSWERS.__contains__, "T or F")
        return 0
    count = COUNTERS[form](path)
    if count < 1:
        raise FormatError(path, "contains no examples")
    return count


def _count_lines(path: Path, fits: Callable[[str], bool], expected: str) -> int:
    count = 0
    for number, line in read_lines(path, LONGEST, blank=False):
        if not fits(line):
            raise FormatError(path, f"expected {expected}, found {line[:40]!r}", line=number)
        count += 1
    return count


def _count_blocks(path: Path, columns: int) -> int:
    """The sentences of a file in columns; lines that start with # and a blank are comments."""
    count, inside = 0, False
    for number, line in read_lines(path, LONGEST):
        if not line.strip():
            count, inside = count + inside, False
        elif not line.startswith("# "):
            if len(line.split()) < columns:
                raise FormatError(path, f"expected at least {columns} columns, found {line[:40]!r}", line=number)
            inside = True
    return count + inside


def _count_questions(path: Path) -> int:
    read = read_json(path)
    try:
        return sum(len(part["qas"]) for article in read["data"] for part in article["paragraphs"])
    except (KeyError, TypeError) as error:
        raise FormatError(path, "is not in the form of SQuAD: expected data, paragraphs and qas") from error


def _count_judgments(path: Path) -> int:
    """The labeled pairs of sentences; the label is in any column, and a header is not counted."""
    count = 0
    for number, line in read_lines(path, LONGEST, blank=False):
        fields = line.split("\t")
        if LABELS & {field.strip().lower() for field in fields} and len(fields) >= 3:
            count += 1
        elif number > 1:
            raise FormatError(path, f"expected a label and two sentences in tabs, found {line[:40]!r}", line=number)
    return count


def _members(path: Path) -> Iterator[str]:
    with open_tar(path) as files:
        yield from (member.name for member, _ in files)


def _count_members(path: Path, pattern: str) -> int:
    found = sum(re.search(pattern, name) is not None for name in _members(path))
    if not found:
        raise FormatError(path, f"the archive has no file that matches {pattern}")
    return found


def _count_semcor(path: Path) -> int:
    seen: set[tuple[str, ...]] = set()
    for number, line in read_lines(path, LONGEST, blank=False):
        fields = line.split("\t")
        if len(fields) != 6:
            raise FormatError(path, f"expected six columns, found {len(fields)}", line=number)
        if number > 1:
            seen.add(tuple(fields[:2]))
    return len(seen)


COUNTERS: dict[Form, Callable[[Path], int]] = {
    "pairs": lambda path: len(read_pairs(path)),
    "analogies": lambda path: sum(map(len, read_analogies(path).values())),
    "categories": lambda path: len(read_categories(path)),
    "senses": lambda path: len(read_senses(path)),
    "wic": lambda path: _count_lines(path, lambda line: line.count("\t") == 4, "five columns"),
    "scws": lambda path: _count_lines(path, lambda line: line.count("\t") == 17, "18 columns"),
    "cosimlex": lambda path: _count_lines(path, lambda line: line.count("\t") == 12, "13 columns") - 1,
    "squad": _count_questions,
    "nli": _count_judgments,
    "trees": lambda path: _count_lines(path, lambda line: line.startswith("("), "a tree in brackets"),
    "conll": lambda path: _count_blocks(path, 2),
    "conll-u": lambda path: _count_blocks(path, 10),
    "documents": lambda path: _count_members(path, r"\.\w*conll$"),
    "semcor": _count_semcor,
    "wsd": lambda path: _count_members(path, r"\.data\.xml$"),
    "text": lambda path: sum(1 for _ in read_lines(path, blank=False)),
}
