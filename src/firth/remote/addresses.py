"""Addresses of remote files: which names are addresses, and which addresses are refused.

A local path costs one search for ":/" here, and imports nothing.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit, urlunsplit

from firth.errors import OptionError

Name = str | os.PathLike[str]
PACKAGES = {  # the schemes, and the package beside fsspec that each needs
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "memory": "fsspec",
}
READ_ONLY = "http", "https"
SCHEME = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]+::)*)([A-Za-z][A-Za-z0-9+.-]+):/(/?)")
HOST_IN_BRACKETS = re.compile(r"(https?://)(?:[^/@]*@)?\[[0-9A-Fa-f:.%]+\]")  # IPv6


def address_of(name: Name) -> str | None:
    """The address that a name is, or None for a local path. A `Path` of an address, which has lost a slash, counts.

    >>> address_of("s3://bucket/corpus.txt"), address_of(PurePosixPath("s3://bucket/corpus.txt"))
    ('s3://bucket/corpus.txt', 's3://bucket/corpus.txt')
    >>> address_of("corpus.txt"), address_of("-"), address_of("C:/corpus.txt")
    (None, None, None)
    >>> address_of("filecache::file:///etc/passwd")
    Traceback (most recent call last):
    firth.errors.OptionError: filecache::file:///etc/passwd: addresses that chain others by :: are refused. ...
    """
    text = os.fspath(name)
    if not isinstance(text, str) or ":/" not in text:
        return None
    found = SCHEME.match(text)
    if found is None:
        return None
    chain, scheme, second_slash = found.groups()
    if scheme.lower() not in PACKAGES and not (chain or second_slash):
        return None  # a local folder whose name ends with a colon
    text = text if second_slash else text[: found.end()] + "/" + text[found.end() :]
    if chain or "::" in HOST_IN_BRACKETS.sub("", text):
        raise OptionError(f"{shown(text)}: addresses that chain others by :: are refused. Give the address of the file")
    if scheme.lower() in ("file", "local"):
        raise OptionError(f"{shown(text)}: is a local file. Give its path without {scheme}://")
    if scheme.lower() not in PACKAGES:
        known = ", ".join(f"{one}://" for one in PACKAGES)
        raise OptionError(f"{shown(text)}: the scheme {scheme}:// is unknown. Known schemes: {known}")
    text = scheme.lower() + text[found.end(2) :]
    if not text.partition("://")[2].strip("/"):
        raise OptionError(f"{text}: the address names no file")
    return text


def looks_like_address(text: str) -> bool:
    """Whether a text is nothing but an address of a known scheme.

    >>> looks_like_address("gs://bucket/a.txt"), looks_like_address("See https://example.com/ for more.")
    (True, False)
    """
    scheme = text.partition("://")[0]
    return scheme in PACKAGES and not re.search(r"\s", text) and len(text) > len(scheme) + 3


def refuse_stored(name: str | None) -> None:
    """Raises an OptionError for a web address that a model names as a part of it: a file must not choose what is read.

    >>> refuse_stored("https://example.com/elmo")
    Traceback (most recent call last):
    firth.errors.OptionError: the model names https://example.com/elmo, and web addresses in models are not opened. ...
    """
    if name is not None and any(f"{scheme}:/" in name.lower() for scheme in READ_ONLY):
        cure = "If you trust it, name it yourself as the embedding"
        raise OptionError(f"the model names {shown(name)}, and web addresses in models are not opened. {cure}")


def scheme_of(address: str) -> str:
    """The scheme of an address.

    >>> scheme_of("https://example.com/a.txt")
    'https'
    """
    return address.partition("://")[0]


def shown(address: str) -> str:
    """An address as messages and cards may show it: without a password, and without a query, which may be a signature.

    >>> shown("https://ada:secret@example.com/a.txt?X-Amz-Signature=5f2c"), shown("s3://bucket/a?.txt")
    ('https://example.com/a.txt', 's3://bucket/a?.txt')
    """
    if scheme_of(address) not in READ_ONLY:
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return address.partition("?")[0]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def base_name(address: str) -> str:
    """The last part of an address: the name of a file or folder.

    >>> base_name("https://example.com/models/tea.bin?version=2"), base_name("s3://bucket/model/")
    ('tea.bin', 'model')
    """
    name = PurePosixPath(shown(address).partition("://")[2]).name
    return name if name not in ("", ".", "..") else "download"


def join(address: str, name: str) -> str:
    """The address of a file in a folder.

    >>> join("s3://bucket/model/", "config.json")
    's3://bucket/model/config.json'
    """
    if scheme_of(address) not in READ_ONLY:
        return f"{address.rstrip('/')}/{name}"
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc, f"{parts.path.rstrip('/')}/{name}", parts.query, ""))
