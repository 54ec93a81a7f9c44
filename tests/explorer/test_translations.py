"""Translations: every text in both languages, with the same placeholders."""

from __future__ import annotations

import re

import pytest

from firth.errors import OptionError
from firth.explorer.registry import GROUPS, PAGES
from firth.explorer.translations import TEXTS, check_language, preferred_language, translate


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_of_a_text_have_the_same_placeholders(key: str) -> None:
    english, persian = (sorted(re.findall(r"\{(\w+)", text)) for text in TEXTS[key])
    assert english == persian
    assert all(text.strip() == text and text for text in TEXTS[key])


def test_every_page_has_a_title_and_a_sentence() -> None:
    for page in PAGES:
        assert translate(page.title, "fa")
        assert translate(f"{page.title}-about", "fa")
    for group in GROUPS[1:]:
        assert translate(group, "en") != translate(group, "fa")


def test_a_language_is_checked_and_the_browsers_first_known_one_is_taken() -> None:
    assert check_language("fa") == "fa"
    assert preferred_language("de-DE, fa;q=0.5, en;q=0.4") == "fa"
    with pytest.raises(OptionError, match="no language"):
        check_language("de")
