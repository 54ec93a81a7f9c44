"""Models that neither ship nor are named by a path: addresses with a scheme, and published models by name."""

from __future__ import annotations

import os

from firth.lazy import import_name
from firth.remote.addresses import address_of
from firth.remote.downloads import fetch

HUB = "hf://"
LOCATE_ON_HUB = "firth.hub.repository:locate_address"  # imported when such an address is opened
PUBLISHED = "firth.hub.pull:find_pulled"


def find_elsewhere(name: str) -> str | os.PathLike[str] | None:
    """The local path of an address such as s3://bucket/model, or of a pulled model; None for any other name.

    hf://owner/name is a repository of the hub, of which only files of firth's formats are fetched.

    >>> find_elsewhere("no/such/file") is None
    True
    >>> find_elsewhere("gopher://tea")
    Traceback (most recent call last):
    firth.errors.OptionError: gopher://tea: the scheme gopher:// is unknown. Known schemes: ...
    """
    address = address_of(name)
    if address is not None:
        if not address.startswith(HUB):
            return fetch(address)
        path: str | os.PathLike[str] = import_name(LOCATE_ON_HUB, f"opening {name}", "hub")(address)
        return path
    if os.path.basename(name) != name:
        return None
    pulled: os.PathLike[str] | None = import_name(PUBLISHED, "a published model", "all")(name)
    return pulled
