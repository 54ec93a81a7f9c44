"""The sources of the corpus, and how their files are listed and read from clones or from the data folder."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus_readers import (
    Reader,
    read_britannica,
    read_gutenberg,
    read_jats,
    read_news,
    read_sentences,
    read_speech,
    read_wikiextractor,
)
from firth.errors import OptionError
from firth.files import open_bytes

HISTORICAL = (
    "books",
    "old encyclopedia",
    "mixed",
)  # genres written before about 1930; every other genre is modern
PIECE = 1 << 23  # bytes of a file of sentences that are read at once


def take_all(paths: list[str]) -> list[str]:
    """Every path, sorted."""
    return sorted(paths)


def take_latest(paths: list[str]) -> list[str]:
    """The last version of every article, in the order of the article numbers.

    >>> take_latest(["a/elife-7-v1.xml", "a/elife-7-v10.xml", "a/elife-7-v2.xml", "a/elife-3-v1.xml"])
    ['a/elife-3-v1.xml', 'a/elife-7-v10.xml']
    """
    latest: dict[int, tuple[int, str]] = {}
    for path in sorted(paths):
        article, version = map(int, re.findall(r"\d+", path.rpartition("/")[2])[-2:])
        latest[article] = max(latest.get(article, (0, "")), (version, path))
    return [latest[article][1] for article in sorted(latest)]


@dataclass(frozen=True)
class Source:
    """Where text comes from: a repository at a commit, or a file of the data folder where no repository is named."""

    name: str
    genre: str
    repository: str
    licence: str
    commit: str
    files: str  # a pattern that the whole path matches
    reader: Reader
    take: Callable[[list[str]], list[str]] = take_all

    @property
    def modern(self) -> bool:
        return self.genre not in HISTORICAL


def local(name: str, genre: str, licence: str) -> Source:
    """A file of tokenized sentences in data/corpora of the data folder."""
    return Source(name, genre, "", licence, "", f"data/corpora/{name}.txt.xz", read_sentences)


# The order decides which copy of a sentence stays: the first. Whole documents come before shuffled sentences.
SOURCES = (
    Source(
        "wikipedia-2019",
        "encyclopedia",
        "ag-gipp/wikiextractor",
        "CC BY-SA 3.0",
        "6b6a412dda77cbbda4af9614ebecf30950ae0553",
        r"text(-excellent)?/A[AB]/wiki_\d\d",
        read_wikiextractor,
    ),
    Source(
        "wikipedia-2015",
        "encyclopedia",
        "jason-feng/wikiVisual",
        "CC BY-SA 3.0",
        "1c0fac92f29f17c1603bfffbe864e0dfdff66897",
        r"text/A[A-D]/wiki_\d\d",
        read_wikiextractor,
    ),
    Source(
        "tehran-times",
        "news",
        "Kmahmoudi/Tehran-Times-Dataset",
        "CC BY 4.0",
        "5441021a9f52bb153c1d7ab18ae3d6a6a93f1099",
        r"data/.*\.txt",
        read_news,
    ),
    Source(
        "un-debates",
        "speeches",
        "zach-porter/NLP",
        "public record; the repository names none",
        "efe234a52849c1266ecd0af68c76e9529137e7d1",
        r"data/TXT/.*/[^./]*\.txt",
        read_speech,
    ),
    Source(
        "elife",
        "science",
        "elifesciences/elife-article-xml",
        "CC BY 4.0 or CC0",
        "72034a54ab58b83c8330fd427f4606c00ccec177",
        r"articles/elife-\d+-v\d+\.xml",
        read_jats,
        take_latest,
    ),
    Source(
        "gutenberg",
        "books",
        "rcdm-uga/Gutenberg_Text",
        "public domain in the USA",
        "a0b16d35a9851168ce9ac649851c17b7ab08d48e",
        # Two collections are left out: most of their parts are there as books of their own.
        r"(?s)(?!.*(?:Compilation of 233 Short Stories|Complete Works of William Shakespeare)).*/.*\.txt",
        read_gutenberg,
    ),
    Source(
        "britannica",
        "old encyclopedia",
        "TU-plogan/kp-editions",
        "CC BY 4.0",
        "b476dc7ad2dadc1201e43f7dd4a053f7251d1b99",
        r"eb0[79]/TXT/.*\.txt",
        read_britannica,
    ),
    local("en-01", "mixed", "CC BY-SA; public domain"),
    local("en-02", "encyclopedia", "CC BY-SA"),
    local("en-03", "encyclopedia", "CC BY-SA"),
    local("en-04", "mixed", "CC BY; CC0; public domain"),
)


def read_files(source: Source, clones: Path, data: Path) -> Iterator[bytes]:
    """The files of a source, one after another, in a fixed order."""
    if not source.repository:
        return read_pieces(data / source.files)
    return read_clone(source, clone_of(source, clones))


def read_pieces(path: Path) -> Iterator[bytes]:
    """A packed file of lines in pieces that end with a line."""
    with open_bytes(path) as file:
        while lines := file.readlines(PIECE):
            yield b"".join(lines)


def clone_of(source: Source, clones: Path) -> Path:
    """The git directory of a repository: clones/owner/name or clones/name, bare or with a work tree."""
    owner, name = source.repository.split("/")
    for place in (clones / owner / name, clones / name):
        for folder in (place / ".git", place, place.with_name(place.name + ".git")):
            if (folder / "objects").is_dir():
                return folder
    raise OptionError(f"{clones}: holds no clone of {source.repository}. Clone it to {clones / owner / name}")


def read_clone(source: Source, folder: Path) -> Iterator[bytes]:
    """The blobs of the commit whose paths match, through one `git cat-file` process."""
    listing = run_git(folder, "ls-tree", "-r", "-z", "--full-tree", source.commit)
    blobs = {}
    for line in listing.split(b"\0")[:-1]:
        about, name = line.split(b"\t", 1)
        blobs[name.decode("utf-8", "surrogateescape")] = about.split()[2]
    pattern = re.compile(source.files)
    chosen = source.take([path for path in blobs if pattern.fullmatch(path)])
    if not chosen:
        raise OptionError(f"{folder}: no file of {source.commit} matches {source.files}")
    command = git_command(folder, "cat-file", "--batch")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=git_environment()) as process:
        assert process.stdin is not None  # for the type checker: both are pipes
        assert process.stdout is not None
        for path in chosen:
            process.stdin.write(blobs[path] + b"\n")
            process.stdin.flush()
            header = process.stdout.readline().split()
            if len(header) != 3:
                raise OptionError(f"{folder}: the clone lacks {path}. Clone the repository without a filter")
            raw = process.stdout.read(int(header[2]))
            process.stdout.read(1)
            yield raw
        process.stdin.close()


def run_git(folder: Path, *arguments: str) -> bytes:
    """What git prints about a clone."""
    done = subprocess.run(git_command(folder, *arguments), capture_output=True, env=git_environment(), check=False)
    if done.returncode:
        raise OptionError(f"{folder}: git says: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def git_command(folder: Path, *arguments: str) -> list[str]:
    return ["git", "-c", "safe.directory=*", f"--git-dir={folder}", *arguments]


def git_environment() -> dict[str, str]:
    return os.environ | {"GIT_NO_LAZY_FETCH": "1"}  # a missing blob is an error, never a download
