"""Subwords: how much each character n-gram contributes to the fastText vector of a word, seen or unseen."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from firth.explorer.answers.analogies import guess_language
from firth.explorer.markup import Markup, join, tag
from firth.explorer.question import Question
from firth.explorer.translations import LANGUAGES
from firth.explorer.visit import Visit, make_address
from firth.explorer.widgets import (
    Panel,
    bars,
    example_links,
    html,
    model_choice,
    notice,
    python_line,
    remembering,
    text_field,
)

WORDS = {"en": "teapot teapots", "fa": "کتابخانه کتاب‌هایم"}  # seen, and unseen
MOST_WORDS = 4
NEIGHBORS = 6


def draw_word(visit: Visit, word: str, shares: list[Any], near: list[tuple[str, float]]) -> Markup:
    """A word with the shares of its pieces, the largest first, and its neighbors.

    >>> from firth.explorer.models import Models
    >>> from firth.vectors.subwords import Share
    >>> visit = Visit(Models(), "en", "/subwords", {"word": "tea"})
    >>> draw_word(visit, "tea", [Share("<te", 5, 0.5, False)], [("cup", 0.5)]).count("<tr>")
    2
    """
    seen = any(share.own for share in shares)
    status = tag(
        "span", visit.t("subwords-seen" if seen else "subwords-unseen"), class_="badge" if seen else "badge new"
    )
    head = tag("div", tag("h2", word, dir="auto"), status, class_="step-head")
    ranked = sorted(shares, key=lambda share: -share.share)
    most = max((abs(share.share) for share in shares), default=1.0)
    rows = [
        (join(mark_joiners(share.ngram), tag("small", f" {visit.t('subwords-own')}") if share.own else ""), share.share)
        for share in ranked
    ]
    table = bars(rows, (visit.t("subwords-piece"), visit.t("subwords-share")), most=most)
    links = [
        tag("a", one, href=make_address(visit.address, {**visit.state, "word": one}), class_="chip", dir="auto")
        for one, _ in near
    ]
    neighbors = tag("p", visit.t("neighbors"), ": ", *links, class_="chips")
    return tag("div", head, table, neighbors, class_="card")


def mark_joiners(ngram: str) -> Markup:
    """A piece whose half spaces are always marked: at its ends nobody sees them, and pieces would look the same.

    >>> mark_joiners("ها") == mark_joiners("\u200cها"), mark_joiners("\u200cها").count("joiner")
    (False, 1)
    """
    mark = tag("span", class_="joiner always", aria_hidden="true")
    first, *others = ngram.split("\u200c")
    return join(first, *(join(mark, "\u200c", one) for one in others))


async def show(visit: Visit) -> None:
    """Draws the page."""
    model = visit.choose_model("subword-vectors")
    visit.state.setdefault("word", WORDS[guess_language(model)])

    async def refresh() -> None:
        await panel.fill(draw)

    with ui.element("div").classes("controls"):
        text_field(visit.t("neighbors-word"), visit.get("word"), remembering(visit, "word", refresh), "grow")
        model_choice(visit, visit.models.of("subword-vectors"), model, remembering(visit, "model", refresh))
    english, persian = (visit.model_for(language, "subword-vectors") for language in LANGUAGES)
    example_links(
        visit,
        {
            WORDS["en"]: {"word": WORDS["en"], "model": english},
            "kindness unkindly": {"word": "kindness unkindly", "model": english},
            "می‌نوشیدم نوشیدنی": {"word": "می‌نوشیدم نوشیدنی", "model": persian},
        },
    )
    panel = Panel(visit)

    async def draw() -> None:
        words = visit.get("word").split()[:MOST_WORDS]
        if not words:
            html(notice(visit.t("neighbors-empty"), kind="empty"))
            return
        name = visit.choose_model("subword-vectors")
        questions = [Question(name, "explain", (word,)) for word in words]
        shares = [await visit.ask(question) for question in questions]
        near = [await visit.ask(Question(name, "most_similar", (word,), {"topn": NEIGHBORS})) for word in words]
        html(tag("div", *(draw_word(visit, *one) for one in zip(words, shares, near)), class_="columns"))
        python_line(visit, *(question.python() for question in questions))

    await panel.fill(draw)
