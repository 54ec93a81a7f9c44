"""Which names are addresses, and which are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firth.errors import FirthError
from firth.files import expand, open_bytes
from firth.formats.registry import load
from firth.remote.addresses import address_of, base_name, join, looks_like_address, refuse_stored, shown


@pytest.mark.parametrize(
    "chained",
    [
        "filecache::file:///etc/passwd",
        "simplecache::s3://bucket/key",
        "zip://a.txt::file:///etc/archive.zip",
        "zip://a.txt::https://example.com/archive.zip",
        "s3://bucket/a::file:///etc/passwd",
        "blockcache::simplecache::file:///etc/passwd",
        "https://example.com/a::file:///etc/passwd",
        "https://[::1]/a::file:///etc/passwd",
    ],
)
def test_no_local_file_is_read_through_a_chain(chained: str) -> None:
    for use in (address_of, expand, load):
        with pytest.raises(FirthError, match="chain"):
            use(chained)
    with pytest.raises(FirthError, match="chain"), open_bytes(chained):
        pass


@pytest.mark.parametrize("scheme", ["file", "local", "zip", "tar", "dir", "reference", "filecache", "ssh", "ftp"])
def test_schemes_of_local_files_and_unknown_ones_are_refused(scheme: str) -> None:
    with pytest.raises(FirthError, match=r"is unknown|is a local file"):
        expand(f"{scheme}:///etc/passwd")
    with pytest.raises(FirthError, match=r"is unknown|is a local file"):
        load(f"{scheme}:///etc/passwd")


def test_a_host_in_brackets_is_no_chain() -> None:
    assert address_of("http://[::1]:8000/a.txt") == "http://[::1]:8000/a.txt"


def test_local_names_are_no_addresses(tmp_path: Path) -> None:
    for name in ("a:/b", "x::y.txt", "C:/text.txt", "a:b/c", "-", ".", "/etc/hosts", tmp_path, "10:30/a.txt"):
        assert address_of(name) is None


def test_an_address_survives_a_path_and_capital_letters() -> None:
    assert address_of(Path("hf://datasets/ada/tea/a.txt")) == "hf://datasets/ada/tea/a.txt"
    assert address_of(Path("S3://bucket") / "model" / "config.json") == "s3://bucket/model/config.json"


@pytest.mark.parametrize("empty", ["s3://", "https:///", "memory://"])
def test_an_address_without_a_name_is_an_error(empty: str) -> None:
    with pytest.raises(FirthError, match="names no file"):
        address_of(empty)


def test_secrets_are_not_shown() -> None:
    assert shown("https://ada:pass@example.com:8443/a?X-Amz-Signature=1") == "https://example.com:8443/a"
    assert base_name("https://example.com/a/b.txt?token=1") == "b.txt"
    assert join("https://example.com/m?token=1", "config.json") == "https://example.com/m/config.json?token=1"


def test_a_text_that_is_only_an_address_looks_like_one() -> None:
    assert looks_like_address("hf://ada/tea")
    assert not looks_like_address("tea")


def test_a_model_cannot_make_firth_open_a_web_address() -> None:
    refuse_stored("glove-en+s3://bucket/elmo")
    for name in ("https://example.com/elmo", "glove-en+HTTP://10.0.0.1/elmo"):
        with pytest.raises(FirthError, match="not opened"):
            refuse_stored(name)


def test_local_paths_import_nothing_for_addresses() -> None:
    code = (
        "import sys, firth; list(firth.Corpus('README.md').tokens().ids[:1]); firth.load('svd-en');"
        "heavy = {'fsspec', 'aiohttp', 's3fs'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2])
