"""Tasks: the shipped models on a text, with spans, arcs, clusters, answers and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from nicegui import ui

from firth.explorer.answers.tasks import TaskAnswer, task_models
from firth.explorer.markup import Markup, join, tag
from firth.explorer.problems import NoModel
from firth.explorer.question import Question
from firth.explorer.spans import LabeledSpan, chip, draw_words, tone
from firth.explorer.visit import ADDRESS, Visit
from firth.explorer.widgets import Panel, bars, button, example_links, html, notice, python_line, tabs, text_area

TASKS = ("ner", "srl", "coref", "qa", "entailment", "sentiment")
PAIRS = {"qa": "question", "entailment": "hypothesis"}  # tasks of two texts, and the name of the second
EXAMPLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "ner": (
        ("Elon Musk founded SpaceX in California in 2002.",),
        ("Marie Curie was born in Warsaw and worked at the University of Paris.",),
        ("The United Nations met in Geneva, where Kofi Annan spoke about Sudan.",),
    ),
    "srl": (
        ("John broke the vase in the kitchen yesterday.",),
        ("The company sold its old factory to a bank because it needed money.",),
        ("She gave him the book that he had lost.",),
    ),
    "coref": (
        ("Mary went to the store. She bought some milk.",),
        ("Anna told her brother that he should bring his coat. He thanked her.",),
        ("When the queen arrived, her son welcomed her. He was happy.",),
    ),
    "qa": (
        ("The cat sat on the mat.", "Where did the cat sit?"),
        (
            "Marie Curie was born in Warsaw in 1867. She moved to Paris, where she studied physics and married Pierre.",
            "When was Marie Curie born?",
        ),
        ("Tea was first grown in China. Dutch ships brought it to Europe in 1610.", "Who brought tea to Europe?"),
    ),
    "entailment": (
        ("A man is playing a guitar on the street.", "A man is making music outside."),
        ("Two children are sleeping.", "The children are running in a park."),
        ("A boy in a red shirt rides a bicycle.", "The boy is going to school."),
    ),
    "sentiment": (
        ("The movie was fantastic!",),
        ("A slow, gray film that never finds its story.",),
        ("Not bad at all: a charming little film.",),
    ),
}
ENTITIES = {"PER": 3, "ORG": 0, "LOC": 2, "MISC": 5}  # colors
ROLES = {"V": 7, "ARG0": 3, "ARG1": 0, "ARG2": 2, "ARG3": 4, "ARG4": 6}


def texts_of(visit: Visit, task: str) -> tuple[str, ...]:
    """The texts in the address, or those of the first example.

    >>> from firth.explorer.models import Models
    >>> texts_of(Visit(Models(), "en", "/tasks", {"text": "Tea is hot.", "second": "What is hot?"}), "qa")
    ('Tea is hot.', 'What is hot?')
    """
    first = EXAMPLES[task][0]
    if not visit.get("text"):
        return first
    return (visit.get("text"), visit.get("second")) if task in PAIRS else (visit.get("text"),)


def describe_label(visit: Visit, label: str) -> str:
    """What a label of entities or roles stands for, or "".

    >>> from firth.explorer.models import Models
    >>> describe_label(Visit(Models(), "en", "/tasks"), "ARGM-TMP")
    'when'
    """
    key = f"label-{label.removeprefix('C-').removeprefix('R-')}"
    return visit.t(key) if visit.knows(key) else ""


def describe_span(visit: Visit, span: LabeledSpan) -> str:
    """What the label of a span stands for, and its probability.

    >>> from firth.explorer.models import Models
    >>> describe_span(Visit(Models(), "en", "/tasks"), LabeledSpan(0, 1, "PER", 0.9))
    'person: 90%'
    """
    name = describe_label(visit, span.label) or span.label
    return name if span.probability is None else f"{name}: {span.probability:.0%}"


def color_role(label: str) -> str:
    """The color of a role; modifiers share a few.

    >>> color_role("ARG0") == color_role("R-ARG0")
    True
    """
    plain = label.removeprefix("C-").removeprefix("R-")
    return tone(ROLES.get(plain, 5 if plain in ("ARGM-TMP", "ARGM-LOC") else 9))


def draw_entities(visit: Visit, answer: TaskAnswer) -> Markup:
    """A sentence with its entities.

    >>> from firth.explorer.models import Models
    >>> answer = TaskAnswer({}, ("Ann", "left"), ((LabeledSpan(0, 1, "PER"),),))
    >>> draw_entities(Visit(Models(), "en", "/tasks"), answer).count("span-label")
    1
    """

    def wrap(span: LabeledSpan, inside: Markup) -> Markup:
        return chip(span, inside, tone(ENTITIES.get(span.label, 8)), describe_span(visit, span))

    return tag("p", draw_words(answer.words, answer.layers[0], wrap), class_="running", dir="auto")


def draw_frames(visit: Visit, answer: TaskAnswer) -> Markup:
    """A sentence for each predicate, with arcs from the predicate to its roles. The browser draws the arcs.

    >>> from firth.explorer.models import Models
    >>> answer = TaskAnswer({}, ("Ann", "left"), ((LabeledSpan(1, 2, "V"), LabeledSpan(0, 1, "ARG0")),))
    >>> draw_frames(Visit(Models(), "en", "/tasks"), answer).count("data-role")
    2
    """
    if not answer.layers:
        text = draw_words(answer.words, (), lambda span, inside: inside)
        return tag(
            "div", tag("p", text, class_="running", dir="auto"), tag("p", visit.t("tasks-no-predicate"), class_="note")
        )

    def wrap(span: LabeledSpan, inside: Markup) -> Markup:
        return tag(
            "span", inside, class_="role", data_role=span.label, style=f"--tone:{color_role(span.label)}",
            title=describe_span(visit, span),
        )  # fmt: skip

    sentences = [tag("span", draw_words(answer.words, layer, wrap), class_="tokens") for layer in answer.layers]
    name = " ".join(answer.words)
    region = {"class_": "arcs scroll", "dir": "auto", "tabindex": "0", "role": "region", "aria_label": name}
    return join(*(tag("div", one, **region) for one in sentences))


def draw_clusters(visit: Visit, answer: TaskAnswer) -> Markup:
    """A text with its mentions, each in the color of its cluster; a cluster lights up under the mouse.

    >>> from firth.explorer.models import Models
    >>> answer = TaskAnswer({"clusters": []}, ("Rain", "falls"), ((),))
    >>> "No two mentions" in draw_clusters(Visit(Models(), "en", "/tasks"), answer)
    True
    """

    def wrap(span: LabeledSpan, inside: Markup) -> Markup:
        number = tag("sub", span.label, dir="ltr")
        style = f"--tone:{tone(int(span.label) - 1)}"
        return tag("span", inside, number, class_="mention", data_cluster=span.label, style=style)

    text = tag("p", draw_words(answer.words, answer.layers[0], wrap), class_="running", dir="auto")
    clusters = answer.described["clusters"]
    if not clusters:
        return join(text, tag("p", visit.t("tasks-no-cluster"), class_="note"))
    rows = [
        tag(
            "li",
            " = ".join(one["text"] for one in cluster["mentions"]),
            class_="mention",
            dir="auto",
            data_cluster=number,
            style=f"--tone:{tone(number - 1)}",
        )
        for number, cluster in enumerate(clusters, 1)
    ]
    return join(text, tag("ol", *rows, class_="clusters"))


def draw_answer(visit: Visit, passage: str, answer: TaskAnswer) -> Markup:
    """The passage with the answer highlighted, and its probability.

    >>> from firth.explorer.models import Models
    >>> answer = TaskAnswer({"start": 0, "end": 3, "answer": "Tea", "probability": 0.9}, ())
    >>> "<mark>Tea</mark> is hot" in draw_answer(Visit(Models(), "en", "/tasks"), "Tea is hot", answer)
    True
    """
    found = answer.described
    if found["answer"] is None:
        chance = "" if found["probability"] is None else f" ({found['probability']:.0%})"
        return join(tag("p", passage, class_="running", dir="auto"), tag("p", visit.t("tasks-no-answer") + chance))
    text = tag(
        "p", passage[: found["start"]], tag("mark", passage[found["start"] : found["end"]]), passage[found["end"] :],
        class_="running", dir="auto",
    )  # fmt: skip
    share = bars([(tag("span", found["answer"]), found["probability"])], (visit.t("answer"), visit.t("probability")))
    return join(text, share)


def draw_labels(visit: Visit, answer: TaskAnswer) -> Markup:
    """The probability of each label.

    >>> from firth.explorer.models import Models
    >>> answer = TaskAnswer({"labels": {"positive": 0.9, "negative": 0.1}}, ())
    >>> draw_labels(Visit(Models(), "fa", "/tasks"), answer)[:27]
    '<p class="verdict">مثبت</p>'
    """
    labels: dict[str, float] = answer.described["labels"]
    best = max(labels, key=lambda label: labels[label])
    names = {label: visit.t(f"label-{label}") if visit.knows(f"label-{label}") else label for label in labels}
    rows = [(tag("strong" if label == best else "span", names[label]), share) for label, share in labels.items()]
    return join(tag("p", names[best], class_="verdict"), bars(rows, (visit.t("label"), visit.t("probability"))))


def draw_task(visit: Visit, task: str, texts: Sequence[str], answers: Sequence[TaskAnswer]) -> Markup:
    """The answers of a task.

    >>> from firth.explorer.models import Models
    >>> answer = TaskAnswer({"labels": {"positive": 0.9, "negative": 0.1}}, ())
    >>> draw_task(Visit(Models(), "en", "/tasks"), "sentiment", ["good"], [answer]).count("verdict")
    1
    """
    draw: dict[str, Any] = {
        "ner": draw_entities,
        "srl": draw_frames,
        "coref": draw_clusters,
        "qa": lambda page, answer: draw_answer(page, texts[0], answer),
    }
    parts = [draw.get(task, draw_labels)(visit, answer) for answer in answers]
    labels = sorted({span.label for answer in answers for layer in answer.layers for span in layer})
    known = [(label, describe_label(visit, label)) for label in labels]
    legend = [tag("div", tag("dt", label, dir="ltr"), tag("dd", text)) for label, text in known if text]
    return tag("div", *parts, tag("dl", *legend, class_="legend") if legend else "", class_="card")


async def show(visit: Visit) -> None:
    """Draws the page."""
    offered = await visit.compute(task_models, visit.models)
    tasks = [task for task in TASKS if task in offered]
    if not tasks:
        raise NoModel(("task",))
    task = visit.get("task") if visit.get("task") in tasks else tasks[0]
    tabs(visit, visit.t("tasks"), "task", {one: visit.t(f"task-{one}") for one in tasks}, task)
    html(tag("p", visit.t(f"task-{task}-about"), class_="note"))
    texts = texts_of(visit, task)

    async def run() -> None:
        values = [(field.value or "").strip() for field in fields]
        keep = all(len(value) <= ADDRESS for value in values)
        shown = dict(zip(("text", "second"), values)) if keep else {"text": "", "second": ""}
        visit.remember(task=task, **shown)
        await panel.fill(partial(draw, values))

    with ui.element("form").classes("form") as form:
        names = [visit.t("tasks-passage" if task == "qa" else "tasks-premise" if task == "entailment" else "text")]
        names += [visit.t(f"tasks-{PAIRS[task]}")] if task in PAIRS else []
        fields = [text_area(visit, name, text, 2) for name, text in zip(names, texts)]
        for field in fields:
            field.on("keydown.ctrl.enter", run)
        button(visit.t("run"), run, primary=True)
    form.on("submit.prevent", run)
    states = ({"task": task, **dict(zip(("text", "second"), one))} for one in EXAMPLES[task])
    example_links(visit, {one["text"]: one for one in states})
    panel = Panel(visit)

    async def draw(values: Sequence[str]) -> None:
        if not values[0]:
            html(notice(visit.t("tasks-empty"), kind="empty"))
            return
        question = Question(offered[task], "ask", tuple(values))
        answers = [TaskAnswer.of(one) for one in await visit.ask(question)]
        for warning in dict.fromkeys(answer.described.get("warning") for answer in answers):
            if warning:
                text = visit.t("problem-script") if visit.language == "fa" else warning
                html(tag("p", text, class_="note warning", title=warning))
        html(draw_task(visit, task, values, answers))
        python_line(visit, question.python())
        ui.run_javascript("firth.draw()")

    await panel.fill(partial(draw, texts))
