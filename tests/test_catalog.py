"""The catalog of data sets."""

from __future__ import annotations

from firth.catalog import CATALOG, FORMS, SETS


def test_every_set_has_a_described_form_and_files_of_its_own() -> None:
    files = [file for one in CATALOG.values() for file in one.files]
    assert len(files) == len(set(files))
    assert all(one.form in FORMS and one.size > 0 for one in CATALOG.values())


def test_published_names_are_given_for_every_file_or_for_none() -> None:
    assert all(len(one.aliases) in (0, len(one.files)) for one in CATALOG.values())


def test_sets_of_words_are_recognized_by_a_digest_unless_they_ship() -> None:
    assert all(bool(one.digest) != one.ships for one in SETS.values())
    digests = [one.digest for one in SETS.values() if one.digest]
    assert len(digests) == len(set(digests))


def test_a_licence_that_is_not_stated_allows_no_redistribution() -> None:
    assert CATALOG["men"].may_be_redistributed
    assert not CATALOG["simlex999"].may_be_redistributed
