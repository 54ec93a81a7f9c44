"""The parts that pages are made of: fields, choices, bars, the line of Python, and states of a panel."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from nicegui import ui

from firth.errors import FirthError, FormatError, MissingExtra, MissingFile, UnknownWord
from firth.explorer.markup import Markup, join, tag
from firth.explorer.problems import NoModel, NoOccurrence, NoSuchModel, PageError
from firth.explorer.spans import direction_of
from firth.explorer.translations import Language
from firth.explorer.visit import LONGEST, Visit, make_address
from firth.tasks.scripts import common_scripts, warn_of_script

NEEDS = {
    "word-vectors": "words",
    "subword-vectors": "subwords",
    "bilm": "bilm",
    "count-matrix": "counts",
    "task": "task",
    "training": "training",
}
ESCAPED_ZWNJ = re.compile(r"(?<!\\)((?:\\\\)*)\\u200c")
LETTERS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # of scripts from right to left
SHORT = 24  # characters of a command that is not broken between lines
HYPHENED = re.compile(r"('[\w./]+-[\w./-]+')")  # the name of a model: no line ends after its hyphen
RIGHT_TO_LEFT = re.compile(f"([{LETTERS}](?:[^'\"\\\\\n]*[{LETTERS}\u200c])?)")
CATEGORIES = {FormatError: "format", MissingFile: "file", MissingExtra: "extra", FirthError: "option"}  # of errors


def html(content: Markup, container: str = "div") -> ui.html:
    """Markup on the page."""
    return ui.html(content, sanitize=False, tag=container)


def labeled(label: str, classes: str = "") -> ui.element:
    """A label above what is drawn inside; a screen reader reads it with the field."""
    element = ui.element("label").classes(f"field {classes}")
    with element:
        html(join(label), "span").classes("field-name")
    return element


def text_field(label: str, value: str, change: Callable[[str], Awaitable[None]], classes: str = "") -> ui.input:
    """A field of one line; Enter, or leaving it, gives its new value to `change`."""
    seen = [value]

    async def commit() -> None:
        text = (field.value or "").strip()
        if text != seen[0]:
            seen[0] = text
            await change(text)

    with labeled(label, classes):
        field = ui.input(value=value).props(f"outlined dense dir=auto maxlength={LONGEST} autocomplete=off")
        field.props["aria-label"] = label
    field.on("keydown.enter", commit).on("blur", commit)
    return field


def text_area(visit: Visit, label: str, value: str, rows: int = 4) -> ui.textarea:
    """A field of several lines. It keeps the first characters of a text that is too long, and says so."""
    with labeled(label, "wide"):
        field = ui.textarea(value=value).props(f"outlined autogrow dir=auto maxlength={LONGEST} rows={rows}")
        field.props["aria-label"] = label
        notice = html(join(visit.t("too-long", limit=f"{LONGEST:,}")), "span").classes("notice").props("role=status")
        notice.bind_visibility_from(field, "value", backward=lambda text: len(text or "") >= LONGEST)
    return field


def remembering(visit: Visit, name: str, refresh: Callable[[], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
    """What a field does with its new value: writes it into the address, and refreshes."""

    async def change(value: str) -> None:
        visit.remember(**{name: value})
        await refresh()

    return change


def slider(
    label: str, value: float, limits: tuple[float, float, float], change: Callable[[str], Awaitable[None]]
) -> ui.element:
    """A native slider with its value; `limits` are least, most and step. `change` is called when the hand lets go."""
    least, most, step = limits
    with labeled(label, "slider"), ui.element("span").classes("slider-row"):
        field = ui.element("input").props(f'type=range min={least} max={most} step={step} value="{value:g}"')
        html(join(f"{value:g}"), "output").props["dir"] = "ltr"
    field.props["aria-label"] = label

    async def commit(event: Any) -> None:
        await change(str(event.args))

    field.on(
        "input",
        js_handler="(event) => event.target.parentElement.querySelector('output').textContent = event.target.value",
    )
    field.on("change", commit, js_handler="(event) => emit(event.target.value)")
    return field


def choice(
    label: str,
    options: Mapping[str, str],
    value: str,
    change: Callable[[str], Awaitable[None]],
    classes: str = "",
) -> ui.html:
    """A native list of options, {value: text}; `change` gets the value that is chosen."""
    content = join(*(tag("option", text, value=one, selected=one == value) for one, text in options.items()))
    with labeled(label, classes):
        select = html(content, "select")
    select.props["aria-label"] = label

    async def commit(event: Any) -> None:
        await change(str(event.args))

    select.on("change", commit, js_handler="(event) => emit(event.target.value)")
    return select


def model_choice(
    visit: Visit, names: Sequence[str], value: str, change: Callable[[str], Awaitable[None]], key: str = "model"
) -> ui.html:
    """A list of models."""
    options = {"": visit.t("none")} if key == "other-model" else {}
    return choice(visit.t(key), {**options, **{name: name for name in names}}, value, change)


def button(label: str, press: Callable[[], Awaitable[None]], *, primary: bool = False) -> ui.html:
    """A button."""
    element = html(join(label), "button").classes("button primary" if primary else "button").props("type=button")
    return element.on("click", press)


def example_links(visit: Visit, examples: Mapping[str, Mapping[str, object]]) -> None:
    """Examples one click away, {text: state of the address}: those in the script of the visitor come first."""
    links = (
        tag("a", text, href=make_address(visit.address, examples[text]), class_="chip", dir="auto")
        for text in sorted(examples, key=lambda text: direction_of([text]) != visit.direction)
    )
    label = tag("span", visit.t("examples"), class_="chips-name")
    html(tag("div", label, *links, class_="chips"))


def language_links(visit: Visit, examples: Mapping[Language, Mapping[str, Mapping[str, object]]], kind: str) -> None:
    """Examples of several languages, one click away; each names the model of its language."""
    states: dict[str, Mapping[str, object]] = {}
    for language, named in examples.items():
        model = visit.model_for(language, kind)
        states |= {text: {**state, "model": model} for text, state in named.items()}
    example_links(visit, states)


def warn_reader(visit: Visit, words: Iterable[str], bilm: Any) -> None:
    """Says so if most words are in a script that a biLM was not made for."""
    if warning := warn_of_script(words, common_scripts(bilm.vocabulary or ())):
        html(tag("p", visit.t("problem-script"), class_="note warning", title=warning))


def tabs(visit: Visit, label: str, name: str, names: Mapping[str, str], current: str, *, merge: bool = False) -> None:
    """Links to the values of a part of the state, {value: text}. With `merge` the rest of the state stays."""
    links = (
        tag("a", text, href=make_address(visit.address, {name: value}), class_="tab", data_merge=merge,
            aria_current="page" if value == current else None)
        for value, text in names.items()
    )  # fmt: skip
    html(join(*links), "nav").classes("tabs").props["aria-label"] = label


def scrolling(label: str, *children: object, direction: str | None = None) -> Markup:
    """What may be wider than the page: it scrolls, also by keyboard, and has a name for screen readers.

    >>> scrolling("Counts", "wide")
    '<div class="scroll" tabindex="0" role="region" aria-label="Counts">wide</div>'
    """
    return tag("div", *children, class_="scroll", tabindex="0", role="region", aria_label=label, dir=direction)


def python_line(visit: Visit, *lines: str) -> None:
    """The Python that gives the same numbers, and a button that copies it."""
    copy = tag(
        "button", visit.t("copy"), type="button", class_="button small", onclick="firth.copy(this)",
        data_done=visit.t("copied"),
    )  # fmt: skip
    code = "\n".join(["import firth", *lines])
    shown = tag("code", draw_code(code), dir="ltr", tabindex="0", role="group", aria_label=visit.t("python"))
    html(tag("div", shown, copy, class_="python"))


def draw_code(code: str) -> Markup:
    """Python as markup. A text of a script from right to left does not change the order of what stands beside it.

    A half space (ZWNJ), which `repr` escapes, is written as itself: in a text of Python it is one character, too.

    >>> print(draw_code("odd(['tea', 'چای'])").replace("&#x27;", "'"))
    odd(['tea', '<bdi>چای</bdi>'])
    >>> draw_code(repr("می\u200cرود")).count("\u200c")
    1
    >>> print(draw_code("load('svd-en')").replace("&#x27;", "'"))
    load(<span class="whole">'svd-en'</span>)
    """
    plain = ESCAPED_ZWNJ.sub("\\1\u200c", code)
    drawn: list[object] = []
    for odd, part in enumerate(RIGHT_TO_LEFT.split(plain)):
        if odd % 2:
            drawn.append(tag("bdi", part))
            continue
        names = HYPHENED.split(part)
        drawn += (tag("span", name, class_="whole") if one % 2 else name for one, name in enumerate(names))
    return join(*drawn)


def with_code(text: str) -> Markup:
    """A text whose commands, between backticks, are set as code from left to right.

    >>> with_code("Run `firth explore`.")
    'Run <code dir="ltr" class="whole">firth explore</code>.'
    """
    parts = text.split("`")
    for odd in range(1, len(parts), 2):
        parts[odd] = tag("code", parts[odd], dir="ltr", class_="whole" if len(parts[odd]) < SHORT else None)
    return join(*parts)


def bars(
    rows: Sequence[tuple[Markup, float]], header: tuple[str, str], *, most: float = 1.0, digits: int = 3
) -> Markup:
    """A table of values with bars; a negative value has a bar of another color.

    >>> bars([(tag("b", "tea"), 0.5)], ("word", "cosine")).count("<tr>")
    2
    """
    lines = [tag("tr", tag("th", header[0], scope="col"), tag("th", header[1], scope="col", colspan=2))]
    for name, value in rows:
        width = min(abs(value) / most, 1.0) if most else 0.0
        bar = tag("span", class_="bar minus" if value < 0 else "bar", style=f"inline-size:{width:.2%}")
        number = tag("td", f"{round(value, digits) + 0:.{digits}f}", class_="number", dir="ltr")  # no -0.000
        lines.append(tag("tr", tag("th", tag("bdi", name), scope="row"), tag("td", bar, class_="track"), number))
    return tag("table", *lines, class_="bars")


def notice(title: str, *lines: object, kind: str = "info") -> Markup:
    """A state of a page: an error, or that there is nothing yet.

    >>> notice("Empty", "Type a word.", kind="empty")
    '<div class="state empty" role="status"><strong>Empty</strong><p>Type a word.</p></div>'
    """
    role = "alert" if kind == "error" else "status"
    return tag(
        "div", tag("strong", title), *(tag("p", line) for line in lines), class_=f"state {kind}", role=role
    )  # fmt: skip


class Panel:
    """A part of a page that is filled again and again: shows that it works, its content, or what went wrong."""

    def __init__(self, visit: Visit, classes: str = "panel") -> None:
        self.visit, self.element = visit, ui.element("section").classes(classes).props("aria-live=polite")
        self.pending: list[ui.element] = []

    async def fill(self, build: Callable[[], Awaitable[None]]) -> None:
        """Fills the panel with what `build` draws. Until it is ready, the old content stays.

        Only the latest call draws: the result of an older one that is still computing is dropped.
        """
        with self.element:
            if not self.element.default_slot.children:
                html(working(self.visit.t("working")))
            drawn = ui.element("div").classes("panel-content hidden")
        self.pending.append(drawn)
        self.element.classes("busy")
        with drawn:
            await draw_safely(self.visit, drawn, build)
        latest = drawn is self.pending[-1]
        self.pending.remove(drawn)
        if not latest:
            drawn.delete()
            return
        for child in list(self.element.default_slot.children):
            if child is not drawn and child not in self.pending:
                child.delete()
        drawn.classes(remove="hidden")
        self.element.classes(remove="busy")


async def draw_safely(visit: Visit, target: ui.element, build: Callable[[], Awaitable[None]]) -> None:
    """Draws into an element; an error replaces what was drawn."""
    try:
        await build()
    except Exception as error:
        if not isinstance(error, (FirthError, NoModel)):
            logging.getLogger("firth.explorer").exception("a page failed")
        target.clear()
        with target:
            html(describe_error(visit, error))


def working(text: str) -> Markup:
    """The state of a panel that has nothing to show yet.

    >>> 'role="status"' in working("Computing …")
    True
    """
    return tag("div", tag("span", class_="spinner", aria_hidden="true"), text, class_="state working", role="status")


def describe_error(visit: Visit, error: Exception) -> Markup:
    """An error as a state of the page, in the language of the visitor.

    An unknown word offers near spellings as links, an unknown model the models that there are. Of other errors of the
    library the category and the cure are translated; its message, in English, names the place and the problem.

    >>> from firth.explorer.models import Models
    >>> "Type one or two." in describe_error(Visit(Models(), "en", "/"), PageError("words"))
    True
    >>> "پرونده‌ای خوانده نشد" in describe_error(Visit(Models(), "fa", "/"), FormatError("a.bin", "too short"))
    True
    """
    if isinstance(error, NoModel):
        need = visit.t(f"need-{NEEDS.get(error.kinds[0], 'words')}")
        return notice(visit.t("no-model"), with_code(visit.t("no-model-cure", need=need)), kind="error")
    if isinstance(error, UnknownWord):
        cure = []
        if isinstance(error, NoOccurrence):
            title, cure = visit.t("senses-none", word=error.word), [visit.t("senses-none-cure")]
        else:
            title = visit.t("unknown-word", word=error.word, model=visit.get("model") or visit.t("model"))
        if error.near:
            links = [near_link(visit, error.word, near) for near in error.near]
            cure.append(join(visit.t("near-spellings"), ": ", *links))
        return notice(title, *cure, kind="error")
    if isinstance(error, PageError):
        lines: list[object] = [capitalize(visit.t(error.key, **error.values))]
        if isinstance(error, NoSuchModel):
            lines.append(join(*(model_link(visit, error.state, name) for name in error.offered)))
        return notice(visit.t("error"), *lines, kind="error")
    if isinstance(error, FirthError):
        kind = next(key for category, key in CATEGORIES.items() if isinstance(error, category))
        problem = tag("bdi", str(error), lang="en", dir="ltr")
        return notice(visit.t(f"error-{kind}"), problem, visit.t(f"error-{kind}-cure"), kind="error")
    message = visit.t("error-unexpected", error=f"{type(error).__name__}: {error}"[:500])
    return notice(visit.t("error"), message, kind="error")


def capitalize(text: str) -> str:
    """A text that begins with a capital letter and ends with a period, as sentences of pages do.

    >>> capitalize("the text has no words. Type some"), capitalize("Why?")
    ('The text has no words. Type some.', 'Why?')
    """
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".?!؟" else ".")


def model_link(visit: Visit, state: str, name: str) -> Markup:
    """A link to the same page with another model.

    >>> from firth.explorer.models import Models
    >>> model_link(Visit(Models(), "en", "/odd", {"words": "tea", "model": "x"}), "model", "svd-en")
    '<a href="/odd?words=tea&amp;model=svd-en" class="chip" dir="ltr">svd-en</a>'
    """
    return tag("a", name, href=make_address(visit.address, {**visit.state, state: name}), class_="chip", dir="ltr")


def near_link(visit: Visit, word: str, near: str) -> Markup:
    """A link to the same page with a word replaced.

    >>> from firth.explorer.models import Models
    >>> near_link(Visit(Models(), "en", "/odd", {"words": "tee war"}), "tee", "tea")
    '<a href="/odd?words=tea+war" class="chip" dir="auto">tea</a>'
    """
    state = {
        name: " ".join(near if one == word else one for one in value.split()) for name, value in visit.state.items()
    }
    return tag("a", near, href=make_address(visit.address, state), class_="chip", dir="auto")
