"""The table of published models: complete entries, checksums only where one is published."""

from __future__ import annotations

import hashlib
import re

import pytest

from firth.errors import OptionError
from firth.hub.published import find_published, published_models
from firth.pretrained.shipped import SHIPPED


def test_every_entry_has_an_address_a_name_and_a_page() -> None:
    for name, model in published_models().items():
        assert re.fullmatch(r"[a-z0-9.-]+", name), name
        assert model.about
        assert model.page.startswith("https://")
        assert model.files
        for file in model.files:
            assert file.address.startswith("https://")
            assert "{" not in file.address
            assert re.fullmatch(r"[\w.-]+", file.kept)
            assert file.size is None or file.size > 0
            assert (file.member is None) == (not file.name.endswith(".zip"))


def test_a_checksum_names_who_publishes_it_and_is_that_of_no_empty_file() -> None:
    empty = hashlib.sha256(b"").hexdigest()
    for model in published_models().values():
        for file in model.files:
            assert file.sha256 is None or (re.fullmatch(r"[0-9a-f]{64}", file.sha256) and file.sha256 != empty)
        assert model.has_checksums == (model.checksum_from is not None)


def test_files_at_one_address_have_one_checksum() -> None:
    seen: dict[str, tuple[int | None, str | None]] = {}
    for model in published_models().values():
        for file in model.files:
            assert seen.setdefault(file.address, (file.size, file.sha256)) == (file.size, file.sha256)


def test_all_four_families_are_there_and_no_name_is_that_of_a_shipped_model() -> None:
    names = set(published_models())
    wanted = {"glove-6b-300d", "glove-840b", "word2vec-google-news", "fasttext-crawl", "fasttext-cc-fa"}
    assert wanted | {"fasttext-wiki-fa", "lid-176", "elmo-original", "elmo-5.5b"} <= names
    assert not names & set(SHIPPED)


def test_the_size_of_a_model_is_known_only_if_that_of_every_file_is() -> None:
    assert find_published("elmo-original").size == 374_434_792 + 336
    assert find_published("elmo-small").size is None


def test_an_unknown_name_gets_the_nearest_one_or_the_command_that_lists_all() -> None:
    with pytest.raises(OptionError, match="Did you mean 'word2vec-google-news'"):
        find_published("word2vec-googlenews")
    with pytest.raises(OptionError, match="firth pull --list"):
        find_published("zzzzzz")
