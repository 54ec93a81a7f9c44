"""The tables of the explorer name what exists."""

from __future__ import annotations

import inspect
from xml.etree import ElementTree

import pytest

from firth.explorer.registry import GROUPS, PAGES, ROUTES, PageEntry, find_page
from firth.lazy import import_name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_is_a_coroutine_with_an_icon_in_a_known_group(page: PageEntry) -> None:
    assert inspect.iscoroutinefunction(import_name(page.place, "the explorer", "web"))
    assert page.group in GROUPS
    assert len(ElementTree.fromstring(f"<svg>{page.icon}</svg>"))
    assert find_page(page.address) is page


def test_addresses_and_routes_are_found_once() -> None:
    assert len({page.address for page in PAGES}) == len(PAGES)
    for path, place in ROUTES.items():
        assert path.startswith("/data/")
        assert callable(import_name(place, "the explorer", "web"))
