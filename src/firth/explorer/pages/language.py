"""Language model: the probability of each word in both directions, completions, and sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from nicegui import ui

from firth.explorer.answers.analogies import guess_language
from firth.explorer.answers.language import Reading, format_probability, read_sentence, surprisal
from firth.explorer.markup import Markup, join, tag
from firth.explorer.question import Question
from firth.explorer.spans import direction_of, draw_words, has_space
from firth.explorer.translations import Language
from firth.explorer.visit import Visit, make_address
from firth.explorer.widgets import (
    Panel,
    bars,
    button,
    choice,
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

EXAMPLES: dict[Language, dict[str, dict[str, object]]] = {  # the first one of a language is shown first
    "en": {
        "strong tea | powerful tea": {"text": "She made strong tea .", "second": "She made powerful tea .", "gap": 2},
        "The bank of the river | The river of the bank": {
            "text": "They sat on the bank of the river .",
            "second": "They sat on the river of the bank .",
            "gap": 4,
        },
        "He was born in …": {"text": "He was born in London in 1845 .", "gap": 4},
    },
    "fa": {
        "باران شدیدی | باران نیرومندی": {
            "text": "باران شدیدی می‌بارد .",
            "second": "باران نیرومندی می‌بارد .",
            "gap": 1,
        },
        "کتاب را خواند | کتاب را خورد": {"text": "پدرم کتاب را خواند .", "second": "پدرم کتاب را خورد .", "gap": 3},
        "او در سال …": {"text": "او در سال ۱۳۴۵ در تهران به دنیا آمد .", "gap": 3},
    },
}
PROMPTS = {"en": "The river", "fa": "او در سال"}
MARKS = {"<s>": "lm-begin", "</s>": "lm-end"}
COMPLETIONS = 8
SAMPLES, LENGTH = 4, 30
DARKEST = 16.0  # bits of surprisal that have the full color


def draw_cell(log_prob: float, title: str) -> Markup:
    """A probability, the darker the more surprising.

    >>> "50 %" in draw_cell(math.log(0.5), "")
    True
    """
    bits = surprisal(log_prob)
    share = min(bits / DARKEST, 1.0)
    value = tag("span", format_probability(math.exp(log_prob)), class_="heat-value")
    number = tag("small", f"{bits:.1f}")
    return tag("td", value, number, style=f"--share:{share:.0%}", title=title, dir="ltr")


def draw_reading(visit: Visit, reading: Reading, gap: int, name: str) -> Markup:
    """A sentence as columns: each word with its probabilities, and a link that opens the gap at its place.

    >>> from firth.explorer.models import Models
    >>> import numpy as np
    >>> reading = Reading(("tea",), np.log([0.5, 0.9]), np.log([0.9, 0.5]), None, (True,), 0.7)
    >>> draw_reading(Visit(Models(), "en", "/"), reading, 0, "text").count("50 %")
    2
    """
    words = []
    for place, word in enumerate(reading.words):
        state = {**visit.state, "gap": place}
        link = tag(
            "a", word, href=make_address(visit.address, state) if name == "text" else None,
            aria_current="true" if name == "text" and place == gap else None, dir="auto",
        )  # fmt: skip
        unknown = None if reading.known[place] else visit.t("lm-unknown")
        words.append(tag("th", link, scope="col", class_="unknown" if unknown else None, title=unknown))
    begin, end = tag("th", visit.t("lm-begin"), class_="mark"), tag("th", visit.t("lm-end"), class_="mark")
    empty = tag("td")
    rows = [tag("tr", tag("th"), begin, *words, end)]
    lines: list[tuple[str, Sequence[Markup]]] = [
        ("lm-forward", [empty, *(draw_cell(one, visit.t("lm-forward-cell")) for one in reading.forward)]),
        ("lm-backward", [*(draw_cell(one, visit.t("lm-backward-cell")) for one in reading.backward), empty]),
    ]
    if reading.ngram is not None:
        lines.append(("lm-ngram", [empty, *(draw_cell(one, visit.t("lm-ngram-cell")) for one in reading.ngram)]))
    rows += [tag("tr", tag("th", visit.t(key), scope="row"), *cells) for key, cells in lines]
    table = tag("table", *rows, class_="heat")
    total = visit.t("lm-per-word", value=format_probability(reading.per_word))
    return tag(
        "div",
        scrolling(" ".join(reading.words), table, direction=direction_of(reading.words)),
        tag("p", total, class_="note"),
        class_="card",
    )


def compare_readings(visit: Visit, first: Reading, second: Reading) -> Markup:
    """Which of two sentences is more probable per word, and by how much.

    >>> from firth.explorer.models import Models
    >>> import numpy as np
    >>> first, second = (Reading((), np.zeros(0), np.zeros(0), None, (), share) for share in (0.5, 0.25))
    >>> compare_readings(Visit(Models(), "en", "/"), first, second)
    '<p class="verdict">The first sentence is 2.00 times as probable per word.</p>'
    """
    better, worse, key = (
        (first, second, "lm-first") if first.per_word >= second.per_word else (second, first, "lm-second")
    )
    return tag("p", visit.t(key, times=f"{better.per_word / worse.per_word:.2f}"), class_="verdict")


def draw_word(visit: Visit, word: str) -> Markup:
    """A word that is predicted; the marks of the begin and the end of a sentence are written out.

    >>> from firth.explorer.models import Models
    >>> draw_word(Visit(Models(), "en", "/"), "tea"), draw_word(Visit(Models(), "en", "/"), "</S>")
    ('<span>tea</span>', '<em>end</em>')
    """
    mark = MARKS.get(word.lower())
    return tag("em", visit.t(mark)) if mark else tag("span", word)


def draw_completions(visit: Visit, lists: Sequence[tuple[str, list[tuple[str, float]]]]) -> Markup:
    """Lists of words with their probabilities, side by side.

    >>> from firth.explorer.models import Models
    >>> draw_completions(Visit(Models(), "en", "/"), [("lm-from-left", [("tea", 0.5)])]).count("<tr>")
    2
    """
    cards = []
    for key, words in lists:
        most = max((share for _, share in words), default=1.0)
        rows = [(draw_word(visit, word), share) for word, share in words]
        table = bars(rows, (visit.t("word"), visit.t("probability")), most=most)
        cards.append(tag("div", tag("h2", visit.t(key)), table, class_="card"))
    return tag("div", *cards, class_="columns thirds")


def draw_sample(prompt: str, words: Sequence[str]) -> Markup:
    """A sample as running text after its first words.

    >>> draw_sample("The river", ["'s", "edge", "."])
    '<li dir="auto"><b>The river</b>&#x27;s edge.</li>'
    """
    space = " " if has_space(prompt[-1:], "".join(words[:1])) else ""
    return tag("li", tag("b", prompt), space, draw_words(words, (), lambda span, inside: inside), dir="auto")


async def show(visit: Visit) -> None:
    """Draws the page."""
    bilm = visit.choose_model("bilm")
    language = guess_language(bilm)
    if "text" not in visit.state:
        first = next(iter(EXAMPLES[language].values()))
        visit.state |= {name: str(value) for name, value in first.items()}
    visit.state.setdefault("prompt", PROMPTS[language])

    async def refresh() -> None:
        await panel.fill(draw)

    async def resample() -> None:
        await samples.fill(draw_samples)

    async def again() -> None:
        visit.remember(seed=int(visit.get_number("seed", 1, 0, 10**9)) + SAMPLES)
        await resample()

    with ui.element("div").classes("controls"):
        text_field(visit.t("lm-sentence"), visit.get("text"), remembering(visit, "text", refresh), "grow")
        text_field(visit.t("lm-other"), visit.get("second"), remembering(visit, "second", refresh), "grow")
        model_choice(visit, visit.models.of("bilm"), bilm, remembering(visit, "model", refresh))
        counted = {"": visit.t("none"), **{name: name for name in visit.models.of("ngram")}}
        choice(visit.t("lm-beside"), counted, visit.get("ngram"), remembering(visit, "ngram", refresh))
    language_links(visit, EXAMPLES, "bilm")
    panel = Panel(visit)

    async def draw() -> None:
        if not visit.get("text"):
            html(notice(visit.t("lm-empty"), kind="empty"))
            return
        model, ngram = visit.choose_model("bilm"), visit.get("ngram")
        names = [name for name in ("text", "second") if visit.get(name)]
        read = partial(read_sentence, visit.models, model, ngram)
        readings = [await visit.compute(read, visit.get(name)) for name in names]
        words = readings[0].words
        gap = int(visit.get_number("gap", len(words) - 1, 0, len(words) - 1))
        left, right = list(words[:gap]), list(words[gap + 1 :])
        predict = Question(model, "predict", (left, right), {"topn": COMPLETIONS})
        found = await visit.ask(predict)
        lists = [("lm-from-left", found.forward), ("lm-from-right", found.backward), ("lm-from-both", found.both)]
        questions = [Question(model, "log_probs", (list(reading.words),)) for reading in readings] + [predict]
        if ngram:
            questions += [Question(ngram, "log_probs", (list(reading.words),)) for reading in readings]
            counts = Question(ngram, "predict", (["<s>", *left],), {"topn": COMPLETIONS})
            lists.append(("lm-from-ngram", await visit.ask(counts)))
            questions.append(counts)
        warn_reader(visit, [word for reading in readings for word in reading.words], visit.models.load(model))
        if len(readings) > 1:
            html(compare_readings(visit, *readings))
        for name, reading in zip(names, readings):
            html(draw_reading(visit, reading, gap, name))
        shown = join(*(f"{word} " for word in left), tag("mark", "?"), *(f" {word}" for word in right))
        title = tag("h2", visit.t("lm-gap"), class_="section")
        html(join(title, tag("p", shown, class_="running", dir="auto"), draw_completions(visit, lists)))
        python_line(visit, *(question.python() for question in questions))
        ui.run_javascript("firth.draw()")

    await panel.fill(draw)
    html(tag("h2", visit.t("lm-sampling"), class_="section"))
    with ui.element("div").classes("controls"):
        text_field(visit.t("lm-prompt"), visit.get("prompt"), remembering(visit, "prompt", resample), "grow")
        slider(
            visit.t("lm-temperature"), visit.get_number("temperature", 0.7, 0.1, 2), (0.1, 2, 0.05),
            remembering(visit, "temperature", resample),
        )  # fmt: skip
        slider(
            "top-p", visit.get_number("top_p", 0.95, 0.05, 1), (0.05, 1, 0.05), remembering(visit, "top_p", resample)
        )
        button(visit.t("lm-again"), again)
    samples = Panel(visit)

    async def draw_samples() -> None:
        seed = int(visit.get_number("seed", 1, 0, 10**9))
        options = {
            "length": LENGTH,
            "temperature": visit.get_number("temperature", 0.7, 0.1, 2),
            "top_p": visit.get_number("top_p", 0.95, 0.05, 1),
        }
        prompt = visit.get("prompt")
        model = visit.choose_model("bilm")
        questions = [Question(model, "generate", (prompt,), {**options, "seed": seed + one}) for one in range(SAMPLES)]
        texts = [await visit.ask(question) for question in questions]
        html(tag("ol", *(draw_sample(prompt, words) for words in texts), class_="samples card"))
        python_line(visit, *(question.python() for question in questions))

    await samples.fill(draw_samples)
