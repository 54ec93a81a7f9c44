"""Odd one out: the word that fits least with the others, and the similarity of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from nicegui import ui

from firth.explorer.markup import Markup, tag
from firth.explorer.models import WORDS
from firth.explorer.question import Question
from firth.explorer.translations import LANGUAGES
from firth.explorer.visit import Visit
from firth.explorer.widgets import (
    Panel,
    bars,
    example_links,
    html,
    model_choice,
    notice,
    python_line,
    remembering,
    scrolling,
    text_field,
)

MOST_WORDS = 24
ENGLISH = ("breakfast lunch dinner ship", "king queen prince tea", "Paris London Rome river France Italy")
PERSIAN = ("صبحانه ناهار شام کشتی", "سیب پرتقال انگور ماشین")


def draw_fit(visit: Visit, words: Sequence[str], matrix: Any, odd: str) -> Markup:
    """The mean cosine of each word with all of them, the best first: the last is the odd one out.

    >>> from firth.explorer.models import Models
    >>> shown = draw_fit(Visit(Models(), "en", "/odd"), ["tea", "war"], [[1, 0.4], [0.4, 0.9]], "war")
    >>> 'class="odd">war' in shown
    True
    """
    means = np.asarray(matrix, np.float64).mean(axis=1)
    order = np.argsort(-means, kind="stable")
    rows = [
        (
            tag(
                "strong" if words[place] == odd else "span", words[place], class_="odd" if words[place] == odd else None
            ),
            float(means[place]),
        )
        for place in order
    ]
    title = tag("p", tag("bdi", odd), class_="verdict")
    return tag(
        "div", tag("h2", visit.t("odd-word")), title, bars(rows, (visit.t("word"), visit.t("odd-mean"))), class_="card"
    )


def draw_similarities(visit: Visit, words: Sequence[str], matrix: Any) -> Markup:
    """The cosine of every pair as a table of colors.

    >>> from firth.explorer.models import Models
    >>> draw_similarities(Visit(Models(), "en", "/odd"), ["tea", "war"], [[1, 0], [0, 1]]).count("<td")
    5
    """
    rows = [tag("tr", tag("td"), *(tag("th", tag("bdi", word), scope="col") for word in words))]
    for word, values in zip(words, np.asarray(matrix).tolist()):
        cells = [
            tag(
                "td",
                f"{value:.2f}",
                dir="ltr",
                style=f"--share:{min(abs(value), 1):.0%};--heat:var(--{'minus' if value < 0 else 'accent'})",
            )
            for value in values
        ]
        rows.append(tag("tr", tag("th", tag("bdi", word), scope="row"), *cells))
    table = scrolling(visit.t("odd-matrix"), tag("table", *rows, class_="heat matrix"))
    return tag("div", tag("h2", visit.t("odd-matrix")), table, class_="card")


async def show(visit: Visit) -> None:
    """Draws the page."""
    model = visit.choose_model(*WORDS)
    visit.state.setdefault("words", PERSIAN[0] if model.endswith("-fa") else ENGLISH[0])

    async def refresh() -> None:
        await panel.fill(draw)

    with ui.element("div").classes("controls"):
        text_field(visit.t("odd-words"), visit.get("words"), remembering(visit, "words", refresh), "grow")
        model_choice(visit, visit.models.of(*WORDS), model, remembering(visit, "model", refresh))
    english, persian = (visit.model_for(language, *WORDS) for language in LANGUAGES)
    examples = {words: {"words": words, "model": english} for words in ENGLISH}
    example_links(visit, examples | {words: {"words": words, "model": persian} for words in PERSIAN})
    panel = Panel(visit)

    async def draw() -> None:
        words = list(dict.fromkeys(visit.get("words").split()))[:MOST_WORDS]
        if len(words) < 2:
            html(notice(visit.t("odd-empty"), kind="empty"))
            return
        name = visit.choose_model(*WORDS)
        questions = Question(name, "doesnt_match", (words,)), Question(name, "similarities", (words,))
        odd, matrix = [await visit.ask(question) for question in questions]
        html(tag("div", draw_fit(visit, words, matrix, odd), draw_similarities(visit, words, matrix), class_="columns"))
        python_line(visit, *(question.python() for question in questions))

    await panel.fill(draw)
