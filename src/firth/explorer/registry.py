"""The tables of the explorer: its pages, and the routes of their binary data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageEntry:
    """A page: its address, the key of its title, its group in the navigation, its icon and "module:function".

    An icon is the content of an SVG of 24 × 24, drawn in lines.
    """

    address: str
    title: str
    group: str
    icon: str
    place: str


PAGES = (
    PageEntry("/", "home", "", '<path d="M4 11l8-7 8 7v9h-5v-6H9v6H4z"/>', "firth.explorer.pages.home:show"),
    PageEntry(
        "/map",
        "map",
        "group-words",
        '<circle cx="7" cy="8" r="1.6"/><circle cx="11" cy="5.5" r="1.6"/><circle cx="16" cy="9" r="1.6"/>'
        '<circle cx="9" cy="13" r="1.6"/><circle cx="14" cy="15" r="1.6"/><circle cx="18.5" cy="17" r="1.6"/>'
        '<circle cx="6" cy="18" r="1.6"/>',
        "firth.explorer.pages.map:show",
    ),
    PageEntry(
        "/neighbors",
        "neighbors",
        "group-words",
        '<circle cx="12" cy="12" r="2.5"/><circle cx="5" cy="6" r="2"/><circle cx="19" cy="7" r="2"/>'
        '<circle cx="7" cy="19" r="2"/><path d="M10 10.5 6.5 7.4M14.2 10.8l3-2.4M10.6 14 8.2 17.3"/>',
        "firth.explorer.pages.neighbors:show",
    ),
    PageEntry(
        "/analogy",
        "analogy",
        "group-words",
        '<path d="M5 17 9 6l11 2-4 11z"/><circle cx="5" cy="17" r="1.4"/><circle cx="9" cy="6" r="1.4"/>'
        '<circle cx="20" cy="8" r="1.4"/>',
        "firth.explorer.pages.analogy:show",
    ),
    PageEntry(
        "/odd",
        "odd",
        "group-words",
        '<circle cx="6" cy="7" r="2.5"/><circle cx="13" cy="6" r="2.5"/><circle cx="8" cy="14" r="2.5"/>'
        '<rect x="15" y="14" width="5" height="5" rx="1"/>',
        "firth.explorer.pages.odd:show",
    ),
    PageEntry(
        "/subwords",
        "subwords",
        "group-words",
        '<rect x="3" y="9" width="5" height="6" rx="1"/><rect x="9.5" y="9" width="5" height="6" rx="1"/>'
        '<rect x="16" y="9" width="5" height="6" rx="1"/><path d="M3 19h11M9.5 5H21"/>',
        "firth.explorer.pages.subwords:show",
    ),
    PageEntry(
        "/senses",
        "senses",
        "group-context",
        '<circle cx="7" cy="8" r="1.5"/><circle cx="10.5" cy="6" r="1.5"/><circle cx="9" cy="11" r="1.5"/>'
        '<path d="M14.5 13.5l1.5 2.6h-3zM18.5 15.5l1.5 2.6h-3zM15 18l1.5 2.6h-3z"/>',
        "firth.explorer.pages.senses:show",
    ),
    PageEntry(
        "/inside",
        "inside",
        "group-context",
        '<path d="M5 20v-4M12 20v-4M19 20v-4M5 8V4M12 8V4M19 8V4"/><rect x="3" y="8" width="18" height="8" rx="2"/>',
        "firth.explorer.pages.inside:show",
    ),
    PageEntry(
        "/language-model",
        "language-model",
        "group-context",
        '<path d="M4 18V9M9 18V5M14 18v-6M19 18v-9"/><path d="M3 21h18"/>',
        "firth.explorer.pages.language:show",
    ),
    PageEntry(
        "/tasks",
        "tasks",
        "group-context",
        '<path d="M4 7h9M4 12h16M4 17h11"/><rect x="14.5" y="4.5" width="6" height="5" rx="1.5"/>',
        "firth.explorer.pages.tasks:show",
    ),
    PageEntry(
        "/counts",
        "counts",
        "group-text",
        '<rect x="4" y="4" width="16" height="16" rx="2"/><path d="M4 10h16M4 15h16M10 4v16M15 4v16"/>',
        "firth.explorer.pages.counts:show",
    ),
    PageEntry(
        "/ratio",
        "ratio",
        "group-text",
        '<path d="M12 4v16M5 20h14M5 8l7-2 7 2M2.5 14 5 8l2.5 6a2.5 2.5 0 0 1-5 0z"/>'
        '<path d="M16.5 14 19 8l2.5 6a2.5 2.5 0 0 1-5 0z"/>',
        "firth.explorer.pages.ratio:show",
    ),
    PageEntry(
        "/training",
        "training",
        "group-text",
        '<path d="M4 19V5M4 19h16"/><path d="M7 8c3 7 6 8 12 8.5"/><circle cx="7" cy="8" r="1.4"/>',
        "firth.explorer.pages.training:show",
    ),
    PageEntry(
        "/curves",
        "curves",
        "group-text",
        '<path d="M3 12h4l2.5-6 4 12 2.5-6h5"/>',
        "firth.explorer.pages.curves:show",
    ),
)
MISSING = PageEntry("", "missing", "", '<path d="M5 5l14 14M19 5L5 19"/>', "firth.explorer.pages.missing:show")
GROUPS = ("", "group-words", "group-context", "group-text")

# Binary data for components in the browser: path, "module:function". A function takes (models, parameters), a dict of
# the parts of the path and of the query as texts. It runs in a thread and gives bytes. A FirthError is a status 404.
ROUTES: dict[str, str] = {
    "/data/map": "firth.explorer.answers.word_map:pack_map",
    "/data/map/frame": "firth.explorer.answers.word_map:pack_frame",
    "/data/map/kept": "firth.explorer.answers.word_map:pack_kept",
    "/data/map/table": "firth.explorer.answers.word_map:pack_table",
    "/data/senses": "firth.explorer.answers.senses:pack_senses",
    "/data/analogy": "firth.explorer.answers.analogies:pack_analogy",
    "/data/relation": "firth.explorer.answers.analogies:pack_relation",
    "/data/map/direction": "firth.explorer.answers.word_map:pack_direction",
}


def find_page(address: str) -> PageEntry:
    """The page at an address.

    >>> find_page("/neighbors").title
    'neighbors'
    """
    return next(page for page in PAGES if page.address == address)
