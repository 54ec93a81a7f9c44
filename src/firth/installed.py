"""The versions of installed packages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def find_version(package: str) -> str | None:
    """The version of an installed package; None if it is not installed, as firth itself in a folder of its source.

    >>> find_version("teapot") is None
    True
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return None
