"""Inside ELMo: a sentence through the network, step by step, with the numbers of each step."""

from __future__ import annotations

from nicegui import ui

from firth.explorer.answers.analogies import guess_language
from firth.explorer.answers.inside import Step, Trace, trace_word
from firth.explorer.markup import Markup, tag
from firth.explorer.question import Question
from firth.explorer.spans import direction_of
from firth.explorer.strips import draw_strip
from firth.explorer.translations import Language
from firth.explorer.visit import Visit, make_address
from firth.explorer.widgets import (
    Panel,
    html,
    language_links,
    model_choice,
    notice,
    python_line,
    remembering,
    scrolling,
    slider,
    text_field,
    warn_reader,
)

SENTENCES = {"en": "She will play the first scene of the play .", "fa": "ماه از پشت کوه بالا آمد ."}
EXAMPLES: dict[Language, dict[str, dict[str, object]]] = {
    "en": {
        "play, the verb": {"text": SENTENCES["en"], "place": 2},
        "play, the noun": {"text": SENTENCES["en"], "place": 8},
        "bank": {"text": "They walked along the bank of the river .", "place": 4},
        "unexplorably": {"text": "An unexplorably strange place .", "place": 1},
    },
    "fa": {
        "ماه آسمان": {"text": SENTENCES["fa"], "place": 0},
        "ماه سال": {"text": "این ماه باران زیادی بارید .", "place": 1},
        "کتابخانه‌هایشان": {"text": "کتابخانه‌هایشان بزرگ بود .", "place": 0},
    },
}


def draw_step(visit: Visit, number: int, step: Step, characters: tuple[str, ...]) -> Markup:
    """One step: what it does, the shape of its output, and the output as a strip.

    >>> from firth.explorer.models import Models
    >>> import numpy as np
    >>> step = Step("token", "2", np.ones((1, 2), np.float32))
    >>> "Layer 0" in draw_step(Visit(Models(), "en", "/inside"), 4, step, ())
    True
    """
    kind = step.key.partition("-")[0]
    depth = step.key.partition("-")[2]
    title = tag("h2", tag("span", number, class_="step-number"), visit.t(f"inside-{kind}", depth=depth))
    shape = tag("code", step.shape, class_="shape", dir="ltr")
    height = 12 if len(step.values) > 3 else 22
    strip = draw_strip(step.values, visit.t(f"inside-{kind}", depth=depth), height=height)
    if kind == "characters":
        rows = tag("span", *(tag("span", one) for one in characters), class_="letters", dir="ltr")
        strip = tag("div", rows, strip, class_="lettered")
    about = tag("p", visit.t(f"inside-{kind}-about", depth=depth), class_="about")
    return tag("li", tag("div", title, shape, class_="step-head"), strip, about, class_="step card")


def draw_picture(visit: Visit, trace: Trace) -> Markup:
    """The picture of the paper: a column for each word, a row for each layer; a link chooses the word.

    >>> from firth.explorer.models import Models
    >>> import numpy as np
    >>> trace = Trace(("hot", "tea"), 1, (), (), np.ones((3, 2, 4), np.float32))
    >>> draw_picture(Visit(Models(), "en", "/inside"), trace).count("<img")
    6
    """
    count = len(trace.layers)
    head = [tag("td")]
    for place, word in enumerate(trace.words):
        state = {**visit.state, "place": place}
        current = "true" if place == trace.place else None
        head.append(
            tag("th", tag("a", word, href=make_address(visit.address, state), aria_current=current, dir="auto"))
        )
    rows = []
    for depth in reversed(range(count)):
        name = visit.t("inside-layer", depth=depth)
        cells = [
            tag("td", draw_strip(trace.layers[depth, place], f"{name}, {word}", height=18))
            for place, word in enumerate(trace.words)
        ]
        rows.append(tag("tr", tag("th", name, scope="row"), *cells))
    table = tag("table", *rows, tag("tr", *head), class_="network")
    name = " ".join(trace.words)
    return tag("div", scrolling(name, table, direction=direction_of(trace.words)), class_="card")


async def show(visit: Visit) -> None:
    """Draws the page."""
    bilm = visit.choose_model("bilm")
    if "text" not in visit.state:
        language = guess_language(bilm)
        visit.state |= {"text": SENTENCES[language], "place": "2" if language == "en" else "0"}

    async def refresh() -> None:
        await panel.fill(draw)

    with ui.element("div").classes("controls"):
        text_field(visit.t("lm-sentence"), visit.get("text"), remembering(visit, "text", refresh), "grow")
        model_choice(visit, visit.models.of("bilm"), bilm, remembering(visit, "model", refresh))
    language_links(visit, EXAMPLES, "bilm")
    panel = Panel(visit)

    async def draw() -> None:
        if not visit.get("text"):
            html(notice(visit.t("lm-empty"), kind="empty"))
            return
        model = visit.choose_model("bilm")
        place = int(visit.get_number("place", 0, 0, 10**6))
        trace: Trace = await visit.compute(trace_word, visit.models, model, visit.get("text"), place)
        warn_reader(visit, trace.words, visit.models.load(model))
        html(draw_picture(visit, trace))
        ui.run_javascript("firth.draw()")
        html(tag("h2", visit.t("inside-word", word=trace.words[trace.place]), class_="section"))
        html(
            tag(
                "ol",
                *(draw_step(visit, number, step, trace.characters) for number, step in enumerate(trace.steps, 1)),
                class_="steps",
            )
        )
        question = Question(model, "embed", ([list(trace.words)],), {"layers": "all"})
        python_line(visit, f"{question.python()}[0][:, {trace.place}]")
        await draw_mix(visit, model, trace)

    await panel.fill(draw)


async def draw_mix(visit: Visit, model: str, trace: Trace) -> None:
    """The mix of the layers, with sliders for its weights."""
    with ui.element("div").classes("card step"):
        html(
            tag(
                "div",
                tag("h2", visit.t("inside-mix")),
                tag("code", str(trace.layers.shape[2]), class_="shape"),
                class_="step-head",
            )
        )
        html(tag("p", visit.t("inside-mix-about"), class_="about"))
        with ui.element("div").classes("controls") as sliders:
            pass
        panel = Panel(visit)

    async def refresh() -> None:
        await panel.fill(draw)

    async def draw() -> None:
        weights = tuple(visit.get_number(f"s{depth}", 1, 0, 1) for depth in range(len(trace.layers)))
        gamma = visit.get_number("gamma", 1, 0, 3)
        html(draw_strip(trace.mix(weights, gamma), visit.t("inside-mix")))
        python_line(
            visit,
            "from firth.explorer.answers.inside import trace_word",
            "from firth.explorer.models import Models",
            f"trace = trace_word(Models([{model!r}]), {model!r}, {visit.get('text')!r}, {trace.place})",
            f"trace.mix({weights}, {gamma:g})",
        )

    with sliders:
        for depth in range(len(trace.layers)):
            name = f"s{depth}"
            slider(
                f"s{'₀₁₂₃₄₅₆₇₈₉'[depth % 10]}",
                visit.get_number(name, 1, 0, 1),
                (0, 1, 0.05),
                remembering(visit, name, refresh),
            )
        slider("γ", visit.get_number("gamma", 1, 0, 3), (0, 3, 0.1), remembering(visit, "gamma", refresh))
    await panel.fill(draw)
