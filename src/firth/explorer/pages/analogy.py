"""Analogy: a is to b as c is to …? The parallelogram of the words, and whole relations as arrows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from firth.errors import UnknownWord
from firth.explorer.answers.analogies import guess_language
from firth.explorer.markup import join, tag
from firth.explorer.models import WORDS
from firth.explorer.plot_pages import draw_sheet, read_view, write_view
from firth.explorer.problems import PageError
from firth.explorer.scatter_plot import ScatterPlot
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
    text_field,
)
from firth.maps.analogies import RELATIONS, RelationPlot, find_relation, solve

INPUTS = ("excluded", "kept")
DEFAULTS = {"en": ("man", "king", "woman"), "fa": ("مرد", "زن", "پدر")}


def data_address(visit: Visit) -> str:
    """The address of the data of the plot.

    >>> from firth.explorer.models import Models
    >>> visit = Visit(Models(), "en", "/analogy", {"a": "man", "b": "king", "c": "woman"})
    >>> data_address(visit)
    '/data/analogy?a=man&b=king&c=woman&label=answer'
    """
    if visit.get("relation"):
        labels = {"first": visit.t("analogy-first"), "second": visit.t("analogy-second"), "label": relation_name(visit)}
        return make_address("/data/relation", {name: visit.get(name) for name in ("model", "relation")} | labels)
    names = ("model", "a", "b", "c", "inputs")
    return make_address("/data/analogy", {name: visit.get(name) for name in names} | {"label": visit.t("answer")})


def relation_name(visit: Visit) -> str:
    """The name of the relation in the language of the visit.

    >>> from firth.explorer.models import Models
    >>> relation_name(Visit(Models(), "fa", "/analogy", {"relation": "gender"}))
    'جنس'
    """
    return visit.t(f"analogy-{visit.get('relation')}")


def python_lines(visit: Visit) -> str:
    """The Python that gives the answers of the page.

    >>> from firth.explorer.models import Models
    >>> state = {"model": "svd-en", "a": "man", "b": "king", "c": "woman"}
    >>> print(python_lines(Visit(Models(), "en", "/analogy", state)))
    firth.load('svd-en').analogy('man', 'king', 'woman', topn=10)
    """
    model = visit.get("model")
    if visit.get("relation"):
        language = guess_language(model)
        lines = "from firth.maps.analogies import RelationPlot, find_relation\n"
        pairs = f"find_relation({visit.get('relation')!r}, {language!r})"
        return f"{lines}RelationPlot.of(firth.load({model!r}), {pairs}).parallel"
    a, b, c = (visit.get(name) for name in "abc")
    if visit.get("inputs") == "kept":
        lines = f"vectors = firth.load({model!r})\n"
        return f"{lines}vectors.similar_by_vector(vectors.mean([({b!r}, 1.0), ({a!r}, -1.0), ({c!r}, 1.0)]), topn=10)"
    return f"firth.load({model!r}).analogy({a!r}, {b!r}, {c!r}, topn=10)"


async def show(visit: Visit) -> None:
    """Draws the page."""
    model = visit.choose_model(*WORDS)
    for name, word in zip("abc", DEFAULTS[guess_language(model)]):
        visit.state.setdefault(name, word)

    def setter(name: str) -> Callable[[str], Awaitable[None]]:
        async def change(value: str) -> None:
            if name in "abc" and visit.get("relation"):  # a word asks for the parallelogram again
                ui.navigate.to(make_address(visit.address, {**visit.state, name: value, "relation": "", "view": ""}))
                return
            visit.remember(**{name: value, "view": ""})
            await fill()

        return change

    async def change_model(value: str) -> None:
        ui.navigate.to(make_address(visit.address, {"model": value}))

    async def fill() -> None:
        drawn.clear()
        await frame.fill(draw_plot)
        await panel.fill(draw_answers)

    async def draw_plot() -> None:
        vectors = await visit.load(model)
        if not len(vectors):
            raise PageError("empty-model", name=model)
        if visit.get("relation"):
            find_relation(visit.get("relation"), guess_language(model))  # an unknown one is an error
        elif not all(visit.get(name) for name in "abc"):
            html(notice(visit.t("analogy-empty"), kind="empty"))
            return
        else:
            for name in "abc":
                if visit.get(name) not in vectors:
                    raise UnknownWord(visit.get(name), vectors.vocabulary.near(visit.get(name)))
        with ui.element("figure").classes("plot-frame"):
            label = relation_name(visit) if visit.get("relation") else visit.t("analogy")
            plot = ScatterPlot(visit, data_address(visit), label, point_size=9, view=read_view(visit))
            note = visit.t("analogy-relation-note" if visit.get("relation") else "analogy-note")
            html(join(tag("b", model, dir="ltr"), " · ", note), "figcaption")
        plot.on("view", lambda event: visit.remember(view=write_view(event.args)))
        drawn.append(True)

    async def draw_answers() -> None:
        if not drawn:  # what is wrong stands in place of the plot
            return
        vectors = await visit.load(model)
        if visit.get("relation"):
            pairs = find_relation(visit.get("relation"), guess_language(model))
            plot = await visit.compute(RelationPlot.of, vectors, pairs)
            html(tag("h2", relation_name(visit)))
            html(
                tag(
                    "p",
                    visit.t("analogy-parallel", cosine=f"{plot.parallel:.2f}", count=len(plot.pairs)),
                    class_="note",
                )
            )
        else:
            a, b, c = (visit.get(name) for name in "abc")
            near = await visit.compute(solve, vectors, a, b, c, 10, keep_inputs=visit.get("inputs") == "kept")
            html(tag("h2", f"{b} − {a} + {c} ≈", dir="auto"))
            rows: list[Any] = [(tag("b" if word in (a, b, c) else "span", word), cosine) for word, cosine in near]
            html(bars(rows, (visit.t("word"), visit.t("cosine"))))
        python_line(visit, python_lines(visit))

    drawn: list[bool] = []
    with ui.element("div").classes("plot-page"):
        frame = Panel(visit, "plots")
        with draw_sheet(visit):
            with ui.element("div").classes("controls"):
                text_field(visit.t("analogy-a"), visit.get("a"), setter("a"))
                text_field(visit.t("analogy-b"), visit.get("b"), setter("b"))
                text_field(visit.t("analogy-c"), visit.get("c"), setter("c"))
                inputs = {one: visit.t(f"analogy-{one}") for one in INPUTS}
                choice(visit.t("analogy-inputs"), inputs, visit.get("inputs", "excluded"), setter("inputs"))
                relations = {one: visit.t(f"analogy-{one}") for one in RELATIONS[guess_language(model)]}
                relations = {"": visit.t("none"), **relations}
                choice(visit.t("analogy-relation"), relations, visit.get("relation"), setter("relation"))
                model_choice(visit, visit.models.of(*WORDS), model, change_model)
            panel = Panel(visit)
            example_links(visit, make_examples(visit))
    await fill()


def make_examples(visit: Visit) -> dict[str, dict[str, object]]:
    """Analogies worth a look.

    >>> from firth.explorer.models import Models
    >>> make_examples(Visit(Models(), "en", "/analogy"))["tense"]
    {'relation': 'tense', 'model': 'word2vec-en'}
    """
    english, persian = (visit.model_for(language, *WORDS) for language in LANGUAGES)
    return {
        "Germany : Berlin = France : ?": {"a": "Germany", "b": "Berlin", "c": "France", "model": english},
        visit.t("analogy-capitals"): {"relation": "capitals", "model": visit.get("model")},
        visit.t("analogy-gender"): {"relation": "gender", "model": visit.get("model")},
        visit.t("analogy-tense"): {"relation": "tense", "model": english},
        "مرد : زن = پدر : ؟": {"a": "مرد", "b": "زن", "c": "پدر", "model": persian},
    }
