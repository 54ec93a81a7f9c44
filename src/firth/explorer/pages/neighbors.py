"""Neighbors: the words nearest to words, in one model or in two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from nicegui import ui

from firth.explorer.markup import Markup, join, tag
from firth.explorer.models import WORDS
from firth.explorer.problems import PageError
from firth.explorer.question import Question
from firth.explorer.translations import LANGUAGES
from firth.explorer.visit import Visit, make_address
from firth.explorer.widgets import (
    Panel,
    bars,
    choice,
    example_links,
    html,
    model_choice,
    notice,
    python_line,
    remembering,
    text_field,
)

COUNTS = {str(count): str(count) for count in (5, 10, 20, 50)}
LIMITS = ("", "1000", "5000", "20000", "100000")
LEAST = ("", "10", "50", "100", "500", "1000", "10000")
LONGEST_PATTERN = 200


def make_question(visit: Visit, model: str) -> Question:
    """The question in the address of the page, to one model.

    >>> from firth.explorer.models import Models
    >>> state = {"word": "tea", "pattern": "^c", "least": "50"}
    >>> print(make_question(Visit(Models(), "en", "/neighbors", state), "svd-en").python())
    firth.load('svd-en').most_similar('tea', topn=10, allowed=re.compile('^c').search, min_count=50)
    """
    options: dict[str, object] = {"topn": int(visit.get_number("topn", 10, 1, 100))}
    if visit.get("minus"):
        options = {"negative": split_words(visit, model, visit.get("minus")), **options}
    if visit.get("limit"):
        options["restrict_vocab"] = int(visit.get_number("limit", 100_000, 1, 10**9))
    if visit.get("pattern"):
        options["allowed"] = read_pattern(visit.get("pattern")).search
    if visit.get("least"):
        options["min_count"] = int(visit.get_number("least", 1, 1, 10**9))
    words = split_words(visit, model, visit.get("word"))
    return Question(model, "most_similar", (words if len(words) != 1 else words[0],), options)


def split_words(visit: Visit, model: str, text: str) -> list[str]:
    """The words between blanks. Half-spaces that are typed as blanks are restored first, if the model restores them.

    >>> from firth.explorer.models import Models
    >>> split_words(Visit(Models(), "en", "/neighbors"), "svd-en", "king woman")
    ['king', 'woman']
    """
    normalizer = visit.models.load(model).normalizer
    return (text if normalizer is None or not normalizer.half_spaces else normalizer(text)).split()


def read_pattern(text: str) -> re.Pattern[str]:
    """A regular expression that neighbors must match somewhere; what is none is an error that says why.

    >>> read_pattern("ing$").pattern
    'ing$'
    """
    try:
        return re.compile(text[:LONGEST_PATTERN])
    except (re.error, OverflowError, RecursionError) as error:
        raise PageError("pattern", pattern=text[:40], reason=str(error)) from None


def draw_neighbors(visit: Visit, model: str, near: Sequence[tuple[str, float]], shared: frozenset[str]) -> Markup:
    """The neighbors as a table of bars; those that another model has too are marked.

    >>> from firth.explorer.models import Models
    >>> visit = Visit(Models(), "en", "/neighbors")
    >>> 'class="shared">cup' in draw_neighbors(visit, "svd-en", [("cup", 0.5)], frozenset(["cup"]))
    True
    """
    rows = []
    for word, cosine in near:
        state = {**visit.state, "word": word, "minus": ""}
        link = tag("a", word, href=make_address(visit.address, state), class_="shared" if word in shared else None)
        rows.append((link, cosine))
    title = tag("h2", tag("bdi", model), class_="model-name")
    return tag("div", title, bars(rows, (visit.t("word"), visit.t("cosine"))), class_="card")


async def show(visit: Visit) -> None:
    """Draws the page."""
    model, other = visit.choose_model(*WORDS), visit.choose_other(*WORDS)
    visit.state.setdefault("word", "چای" if model.endswith("-fa") else "tea")

    async def refresh() -> None:
        await panel.fill(draw)

    setter = partial(remembering, visit, refresh=refresh)
    names = visit.models.of(*WORDS)
    with ui.element("div").classes("controls"):
        text_field(visit.t("neighbors-word"), visit.get("word"), setter("word"), "grow")
        text_field(visit.t("neighbors-minus"), visit.get("minus"), setter("minus"))
        model_choice(visit, names, model, setter("model"))
        model_choice(visit, names, other, setter("other"), "other-model")
        choice(visit.t("neighbors-count"), COUNTS, visit.get("topn", "10"), setter("topn"))
        limits = {one: f"{int(one):,}" if one else visit.t("neighbors-all") for one in LIMITS}
        choice(visit.t("neighbors-frequent"), limits, visit.get("limit"), setter("limit"))
        least = {one: f"{int(one):,}" if one else visit.t("neighbors-any") for one in LEAST}
        choice(visit.t("neighbors-least"), least, visit.get("least"), setter("least"))
        text_field(visit.t("neighbors-pattern"), visit.get("pattern"), setter("pattern"))
    english, persian = (visit.model_for(language, *WORDS) for language in LANGUAGES)
    example_links(
        visit,
        {
            "tea": {"word": "tea", "model": english},
            "king − man + woman": {"word": "king woman", "minus": "man", "model": english},
            "bank: word2vec | GloVe": {"word": "bank", "model": "word2vec-en", "other": "glove-en"},
            "music: …ing": {"word": "music", "model": english, "pattern": "ing$"},
            "چای": {"word": "چای", "model": persian},
            "کتابخانه": {"word": "کتابخانه", "model": persian},
        },
    )
    panel = Panel(visit)

    async def draw() -> None:
        if not visit.get("word"):
            html(notice(visit.t("neighbors-empty"), kind="empty"))
            return
        models = [name for name in (visit.choose_model(*WORDS), visit.choose_other(*WORDS)) if name]
        for model in models:
            await visit.load(model)
        questions = [make_question(visit, model) for model in models]
        answers = [await visit.ask(question) for question in questions]
        words = [{word for word, _ in near} for near in answers]
        shared = frozenset(words[0] & words[1]) if len(words) > 1 else frozenset()
        await note_unseen(visit, models)
        if len(words) > 1:
            text = visit.t("neighbors-shared", count=len(shared), total=len(words[0]))
            html(tag("p", text, class_="note"))
        if not any(words):
            html(notice(visit.t("neighbors-none"), kind="empty"))
        columns = [draw_neighbors(visit, model, near, shared) for model, near in zip(models, answers)]
        html(tag("div", *columns, class_="columns"))
        imports = ["import re"] if visit.get("pattern") else []
        python_line(visit, *imports, *(question.python() for question in questions))

    await panel.fill(draw)


async def note_unseen(visit: Visit, models: Sequence[str]) -> None:
    """Says which words have a vector only because they have n-grams."""
    for name in models:
        model = await visit.load(name)
        for word in split_words(visit, name, visit.get("word")):
            if word not in model.vocabulary and int(model.ids([word])[0]) < 0:
                html(join(tag("p", visit.t("neighbors-unseen", word=word), class_="note")))
