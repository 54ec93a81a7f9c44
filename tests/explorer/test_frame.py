"""The frame: navigation, language, light and dark."""

from __future__ import annotations

from tests.explorer.conftest import OpenTab

from firth.explorer.frame import draw_navigation, draw_top
from firth.explorer.models import Models
from firth.explorer.registry import PAGES, find_page
from firth.explorer.visit import Visit


def test_the_navigation_has_all_pages_and_marks_the_current_one() -> None:
    shown = draw_navigation(Visit(Models(), "fa", "/neighbors"), find_page("/neighbors"))
    assert shown.count("<a ") == len(PAGES)
    assert shown.count('aria-current="page"') == 1
    assert "همسایه‌ها" in shown
    assert "English" in draw_top(Visit(Models(), "fa", "/"))


def test_a_visitor_changes_language_and_theme_and_another_visitor_keeps_hers(open_tab: OpenTab) -> None:
    first, second = open_tab(), open_tab()
    page = first.open("/")
    other = second.open("/")
    page.get_by_role("button", name="فارسی").click()
    page.wait_for_function("document.documentElement.dir === 'rtl'")
    first.settle()
    assert page.locator("h2").first.inner_text() == "واژه‌ها"
    page.get_by_role("button", name="روشن یا تیره").click()
    assert page.evaluate("document.body.classList.contains('body--dark')")
    page.reload()
    first.settle()
    assert page.evaluate("document.body.classList.contains('body--dark')")
    assert other.evaluate("document.documentElement.dir + document.body.className.includes('body--dark')") == "ltrfalse"


def test_on_a_phone_the_menu_opens_by_keyboard_and_closes(open_tab: OpenTab) -> None:
    page = open_tab(width=400, height=800).open("/")
    menu = page.get_by_role("button", name="Pages")
    assert not page.get_by_role("link", name="Neighbors").first.is_visible() or menu.is_visible()
    menu.focus()
    page.keyboard.press("Enter")
    page.locator("nav.side a", has_text="Neighbors").wait_for(state="visible")
    page.keyboard.press("Escape")
    page.locator("nav.side a", has_text="Neighbors").wait_for(state="hidden")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
