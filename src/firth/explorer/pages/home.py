"""Home: what there is to see, and the models that are open."""

from __future__ import annotations

from firth.explorer.frame import draw_icon
from firth.explorer.markup import Markup, tag
from firth.explorer.registry import GROUPS, PAGES
from firth.explorer.visit import Visit
from firth.explorer.widgets import html


def draw_gallery(visit: Visit) -> Markup:
    """A card for each page.

    >>> from firth.explorer.models import Models
    >>> draw_gallery(Visit(Models(), "en", "/")).count("gallery-card") == len(PAGES) - 1
    True
    """
    parts = []
    for group in GROUPS[1:]:
        cards = [
            tag(
                "a",
                draw_icon(page.icon),
                tag("strong", visit.t(page.title)),
                tag("span", visit.t(f"{page.title}-about")),
                href=page.address,
                class_="card gallery-card",
            )
            for page in PAGES
            if page.group == group
        ]
        if cards:
            parts.append(
                tag("section", tag("h2", visit.t(group)), tag("div", *cards, class_="gallery"), class_="gallery-group")
            )
    return tag("div", *parts)


def draw_models(visit: Visit) -> Markup:
    """The models with their kinds.

    >>> from firth.explorer.models import Models
    >>> "word2vec-en" in draw_models(Visit(Models(), "en", "/"))
    True
    """
    models = visit.models
    kinds = {kind: visit.t(f"kind-{kind}") if visit.knows(f"kind-{kind}") else kind for kind in models.kinds.values()}
    rows = [tag("li", tag("code", name, dir="ltr"), tag("span", kinds[models.kinds[name]])) for name in models.names]
    return tag(
        "section", tag("h2", visit.t("home-models")), tag("ul", *rows, class_="models card"), class_="gallery-group"
    )


async def show(visit: Visit) -> None:
    """Draws the page."""
    first = tag("a", visit.t("home-senses"), href="/senses", class_="button primary")
    second = tag("a", visit.t("home-map"), href="/map", class_="button")
    links = tag("div", first, second, class_="hero-links")
    html(tag("div", tag("h1", tag("bdi", "firth")), tag("p", visit.t("home-about")), links, class_="hero"))
    html(draw_gallery(visit))
    html(draw_models(visit))
