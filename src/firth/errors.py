"""Errors that a user can fix. A message gives the place, the problem and the cure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from os import PathLike


class FirthError(Exception):
    """Base class of all errors that a user can fix. The command line prints them in one line and exits with 2."""


class OptionError(FirthError, ValueError):
    """An option has a value that it cannot have."""


class FormatError(FirthError, ValueError):
    """A file does not have the expected format.

    >>> raise FormatError("glove.txt", "expected 300 numbers after 'at', found 301", line=1041)
    Traceback (most recent call last):
    firth.errors.FormatError: glove.txt:1041: expected 300 numbers after 'at', found 301
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        *,
        line: int | None = None,
        offset: int | None = None,
        cure: str = "",
    ) -> None:
        self.path, self.problem, self.line, self.offset, self.cure = str(path), problem, line, offset, cure
        place = self.path
        if line is not None:
            place += f":{line}"
        if offset is not None:
            place += f": byte {offset}"
        super().__init__(f"{place}: {problem}" + (f". {cure}" if cure else ""))


class MissingFile(FirthError, FileNotFoundError):
    """A file is not there.

    >>> raise MissingFile("no/such/file.txt")
    Traceback (most recent call last):
    firth.errors.MissingFile: no/such/file.txt: no such file
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(f"{path}: no such file")
        self.filename = str(path)

    def __str__(self) -> str:
        return str(self.args[0])  # OSError would print its number


class RemoteError(FirthError, OSError):
    """A remote file cannot be read or written.

    >>> raise RemoteError("s3://bucket/a.txt", "access is refused (403)", cure="Set AWS_PROFILE")
    Traceback (most recent call last):
    firth.errors.RemoteError: s3://bucket/a.txt: access is refused (403). Set AWS_PROFILE
    """

    def __init__(self, address: str, problem: str, *, cure: str = "") -> None:
        self.address, self.problem, self.cure = address, problem, cure
        super().__init__(f"{address}: {problem}" + (f". {cure}" if cure else ""))

    def __str__(self) -> str:
        return str(self.args[0])  # OSError would print its number


class UnknownWord(FirthError, KeyError):
    """A word is not in the vocabulary of a model. The message names similar spellings.

    >>> raise UnknownWord("quen", ["queen", "queens"])
    Traceback (most recent call last):
    firth.errors.UnknownWord: 'quen' is not in the vocabulary. Near spellings: 'queen', 'queens'
    """

    def __init__(self, word: str, near: Sequence[str] = ()) -> None:
        self.word, self.near = word, tuple(near)
        message = f"{word!r} is not in the vocabulary"
        if near:
            message += ". Near spellings: " + ", ".join(map(repr, near))
        super().__init__(message)

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the repr


class MissingExtra(FirthError, ImportError):
    """An optional dependency is not installed.

    >>> raise MissingExtra("reading .zst files", "zst")
    Traceback (most recent call last):
    firth.errors.MissingExtra: reading .zst files needs an extra: pip install 'firth[zst]'
    """

    def __init__(self, purpose: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs an extra: pip install 'firth[{extra}]'")


class CoverageWarning(UserWarning):
    """Most words of a text are unknown to a model, or some are cut. The message names their share.

    `warnings.simplefilter("ignore", firth.CoverageWarning)` turns it off.
    """


class MissingPackage(FirthError, ImportError):
    """A package of others, which is no extra of firth, is not installed.

    >>> raise MissingPackage("an export to gensim", "gensim")
    Traceback (most recent call last):
    firth.errors.MissingPackage: an export to gensim needs a package: pip install gensim
    """

    def __init__(self, purpose: str, package: str) -> None:
        self.package = package
        super().__init__(f"{purpose} needs a package: pip install {package}")


class Diverged(FirthError, ArithmeticError):
    """Training diverged: the loss is not a number, or far above the loss of random guessing.

    >>> raise Diverged(5_000_000, 100.0, float("nan"))
    Traceback (most recent call last):
    firth.errors.Diverged: training diverged after 5,000,000 words: the loss is nan. Use a learning rate below 100
    """

    def __init__(self, step: int, learning_rate: float, loss: float, *, unit: str = "words", place: str = "") -> None:
        self.step, self.learning_rate, self.loss, self.place = step, learning_rate, loss, place
        super().__init__(
            f"training diverged after {step:,} {unit}{place and ', ' + place}: the loss is {loss:.4g}. "
            f"Use a learning rate below {learning_rate:.4g}"
        )


class ClusterError(FirthError, RuntimeError):
    """A cluster cannot be reached, differs from this machine, or was lost.

    >>> raise ClusterError("10.0.0.7", "Python 3.12 runs there, but 3.11 here", cure="Install the same version")
    Traceback (most recent call last):
    firth.errors.ClusterError: 10.0.0.7: Python 3.12 runs there, but 3.11 here. Install the same version
    """

    def __init__(self, place: str, problem: str, *, cure: str = "") -> None:
        self.place, self.problem, self.cure = place, problem, cure
        super().__init__(f"{place}: {problem}" + (f". {cure}" if cure else ""))


def suggest(name: str, names: Iterable[str]) -> str:
    """The end of an error about an unknown name: the most similar known name or, if there is none, all known names.

    >>> suggest("persain", ["english", "persian"]), suggest("tea", ["english", "persian"])
    ("Did you mean 'persian'?", 'There are: english, persian')
    """
    known = list(names)
    similar = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {similar[0]!r}?" if similar else f"There are: {', '.join(known)}"
