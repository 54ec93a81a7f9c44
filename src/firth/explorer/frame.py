"""What stands around every page: navigation, language, light and dark, and the state of the warm-up."""

from __future__ import annotations

import json

from nicegui import ui

from firth.explorer.markup import Markup, join, tag
from firth.explorer.registry import GROUPS, PAGES, PageEntry
from firth.explorer.translations import NAMES, Language
from firth.explorer.visit import Visit
from firth.explorer.widgets import html, working

THEMES: dict[str, bool | None] = {"light": False, "dark": True}  # else as the system has it


def draw_head(visit: Visit, theme: str, version: str) -> None:
    """The head of a page: styles, scripts, direction and title."""
    texts = {"title": "gone", "cure": "gone-cure", "refused": "refused", "refusedCure": "refused-cure"}
    gone = {name: visit.t(key) for name, key in texts.items()}
    ui.add_head_html(
        f'<link rel="stylesheet" href="/static/theme.css?{version}">'
        f'<script src="/static/frame.js?{version}"></script>'
        f"<script>firth.start({json.dumps(visit.language)}, {json.dumps(visit.direction)}, {json.dumps(gone)})</script>"
    )
    ui.dark_mode(THEMES.get(theme))


def draw_frame(visit: Visit, page: PageEntry) -> ui.element:
    """The frame of a page; gives the element that takes its content."""
    outer = ui.context.client.content.parent_slot
    if outer is not None:  # Quasar calls the whole page its main part
        outer.parent.props("role=presentation")
    html(join(visit.t("skip")), "a").classes("skip").props('href="#content"')
    html(draw_top(visit), "header").classes("top")
    html(draw_navigation(visit, page), "nav").classes("side").props["aria-label"] = visit.t("menu")
    main = ui.element("main").classes(f"main page-{page.title}").props('id="content"')
    with main:
        if page.address != "/":
            about = tag("p", visit.t(f"{page.title}-about"), class_="about")
            html(join(tag("h1", visit.t(page.title)), about), "header").classes("title")
        draw_warm_up(visit)
        content = ui.element("div").classes("content")
        with content:
            html(working(visit.t("working")))
    return content


def draw_top(visit: Visit) -> Markup:
    """The bar above a page.

    >>> from firth.explorer.models import Models
    >>> "فارسی" in draw_top(Visit(Models(), "en", "/"))
    True
    """
    other: Language = "en" if visit.language == "fa" else "fa"
    return join(
        tag(
            "button", tag("span", "☰", aria_hidden="true"), type="button", class_="icon-button menu-button",
            onclick="firth.menu(this)", aria_label=visit.t("menu"), aria_expanded="false",
        ),
        tag("a", "firth", href="/", class_="brand", dir="ltr"),
        tag("span", class_="grow"),
        tag(
            "button", visit.t("joiners"), type="button", class_="icon-button joiners-button", onclick="firth.joiners()",
            aria_label=visit.t("joiners-about"), title=visit.t("joiners-about"), aria_pressed="false",
        ),
        tag(
            "button", NAMES[other], type="button", class_="icon-button", lang=other,
            onclick=f"firth.language('{other}')", aria_label=f"{visit.t('language')}: {NAMES[other]}",
        ),
        tag(
            "button", draw_icon('<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>'),
            type="button", class_="icon-button", onclick="firth.theme()", aria_label=visit.t("theme"),
            title=visit.t("theme"),
        ),
    )  # fmt: skip


def draw_navigation(visit: Visit, page: PageEntry) -> Markup:
    """The links to all pages, in groups.

    >>> from firth.explorer.models import Models
    >>> draw_navigation(Visit(Models(), "en", "/map"), PAGES[1]).count("<a ") == len(PAGES)
    True
    """
    parts: list[Markup] = []
    for group in GROUPS:
        pages = [one for one in PAGES if one.group == group]
        links = [
            tag(
                "a", draw_icon(one.icon), tag("span", visit.t(one.title)), href=one.address,
                aria_current="page" if one is page else None,
            )
            for one in pages
        ]  # fmt: skip
        if group and links:
            parts.append(tag("h2", visit.t(group)))
        parts += links
    return join(*parts)


def draw_icon(content: str) -> Markup:
    """An icon of lines.

    >>> draw_icon('<path d="M4 4h16"/>')[-25:]
    '<path d="M4 4h16"/></svg>'
    """
    return Markup(
        '<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.7" '
        f'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{content}</svg>'
    )


def draw_warm_up(visit: Visit) -> None:
    """Says what is prepared in the background, as long as it is."""
    warm_up = visit.warm_up
    if not warm_up.now:
        return
    note = html(Markup(""), "div").classes("warm-up").props("role=status")

    def update() -> None:
        step = warm_up.now
        if step:
            note.content = join(visit.t("warming", step=visit.t(f"warming-{step}")))
        else:
            note.delete()
            timer.deactivate()

    update()
    timer = ui.timer(1.0, update)
