"""The frame: navigation, language, light and dark."""

from __future__ import annotations

from tests.explorer.conftest import OpenTab

from firth.explorer.frame import draw_navigation, draw_top
from firth.explorer.models import Models
from firth.explorer.registry import PAGES, find_page
from firth.explorer.visit import Visit

WIDTH = "(one) => { const all = new Range(); all.selectNodeContents(one); return all.getBoundingClientRect().width; }"


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


def test_half_spaces_are_marks_on_demand_and_are_not_copied(open_tab: OpenTab) -> None:
    tab = open_tab("fa", "dark", 400, 800)
    page = tab.open("/subwords?word=کتاب\u200cهایم\u200cرا&model=fasttext-fa")
    heading, marks = page.locator(".card h2").first, page.locator(".card h2 .joiner")
    assert heading.text_content() == "کتاب\u200cهایم\u200cرا"
    width = heading.evaluate(WIDTH)
    page.get_by_role("button", name="نمایش نیم‌فاصله‌ها").click()
    assert marks.count() == 2
    assert heading.evaluate(WIDTH) > width
    assert heading.text_content() == "کتاب\u200cهایم\u200cرا"
    page.get_by_label("واژه یا واژه‌ها").fill("می\u200cرود")
    page.get_by_label("واژه یا واژه‌ها").press("Enter")
    page.locator(".card h2", has_text="رود").wait_for()
    page.wait_for_function("document.querySelectorAll('.card h2 .joiner').length === 1")
    page.reload()
    tab.settle()
    page.wait_for_function("document.querySelectorAll('.card h2 .joiner').length === 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_role("button", name="نمایش نیم‌فاصله‌ها").click()
    assert marks.first.evaluate("(mark) => getComputedStyle(mark, '::before').content") == "none"


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
