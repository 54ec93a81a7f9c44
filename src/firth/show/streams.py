"""Standard streams whose other end may be gone, as in `firth vocab text.txt | head`, or full."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def tell(line: str) -> None:
    """Writes a line on standard error. Where nobody reads it any more, the work goes on without a word."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def end(code: int) -> None:
    """Exits. What cannot be written to the standard streams is dropped, so that Python does not fail on it at the end.

    >>> end(2)
    Traceback (most recent call last):
    SystemExit: 2
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard(stream)
    sys.exit(code)


def discard(stream: TextIO) -> None:
    """Sends to nowhere what was and what will be written to a stream of the system."""
    with suppress(OSError, ValueError):  # a stream of a notebook or of a test has no number
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
