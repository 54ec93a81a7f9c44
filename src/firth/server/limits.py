"""What one request may ask for, and how much may wait."""

from __future__ import annotations

from dataclasses import dataclass

from firth.errors import OptionError


@dataclass(frozen=True)
class Limits:
    """The limits of a server; what exceeds one is answered with a 4xx status that names it.

    >>> Limits(body_bytes=0)
    Traceback (most recent call last):
    firth.errors.OptionError: body_bytes is 0, but must be at least 1
    """

    body_bytes: int = 4 << 20  # of a request
    texts: int = 2048  # of a request
    tokens: int = 1 << 17  # of a request
    numbers: int = 1 << 22  # of an answer that is not streamed
    seconds: float = 60.0  # from the first byte of a request to the last of its answer
    requests: int = 1024  # at the same time
    batch_tokens: int = 4096  # that a model computes together
    queue_tokens: int = 1 << 18  # that wait for a model

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = 1e-3 if name == "seconds" else 1
            if not value >= least:
                raise OptionError(f"{name} is {value}, but must be at least {least}")
