"""No such page: an address that no page has, with the pages that there are."""

from __future__ import annotations

import difflib

from firth.explorer.markup import Markup, tag
from firth.explorer.pages.home import draw_gallery
from firth.explorer.registry import PAGES
from firth.explorer.visit import Visit
from firth.explorer.widgets import html


def find_near(address: str) -> tuple[str, ...]:
    """The addresses of pages that are spelled like an address, the nearest first.

    >>> find_near("/neighbours"), find_near("/maps/"), find_near("/index.html")
    (('/neighbors',), ('/map',), ())
    """
    pages = [page.address for page in PAGES if page.address != "/"]
    return tuple(difflib.get_close_matches(address.rstrip("/").lower(), pages, 2, 0.75))


def draw_near(visit: Visit) -> Markup:
    """The address, and links to pages of a similar address.

    >>> from firth.explorer.models import Models
    >>> 'href="/neighbors"' in draw_near(Visit(Models(), "en", "/neighbours"))
    True
    """
    titles = {page.address: visit.t(page.title) for page in PAGES}
    links = [tag("a", titles[near], href=near, class_="chip") for near in find_near(visit.address)]
    lines = [tag("p", visit.t("missing-near"), ": ", *links)] if links else []
    return tag("div", tag("strong", tag("code", visit.address, dir="ltr")), *lines, class_="state empty", role="status")


async def show(visit: Visit) -> None:
    """Draws the page."""
    html(draw_near(visit))
    html(draw_gallery(visit))
