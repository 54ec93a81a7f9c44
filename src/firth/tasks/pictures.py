"""Answers of tasks drawn in the terminal, readable with and without colors.

ner         [Elon Musk PER] founded [SpaceX ORG] .
srl         John   broke   the vase
            ARG0   V       ARG1
coref       [Mary]1 went to the store . [She]1 bought some milk .
qa          The cat sat [on the mat].
sentiment   labels with their probabilities as bars; also entailment
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from firth.show import terminal
from firth.show.bidi import isolate
from firth.show.terminal import Bar
from firth.tasks.labels import rank_labels
from firth.tasks.located_text import AnswerSpan
from firth.tasks.tags import Span, decode_spans

if TYPE_CHECKING:
    from firth.tasks.task import Task

COLORS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")
FIXED = {"PER": "magenta", "ORG": "cyan", "LOC": "green", "V": "bold", "ARG0": "magenta", "ARG1": "cyan"}
AROUND = 240  # characters of a long passage shown on each side of the answer
GAP, LONGEST = 2, 28  # columns between labeled pieces, and of the longest piece


def draw_answer(task: Task, example: Any, answer: Any) -> RenderableType:
    """An answer as its task draws it, or its description."""
    draw = PICTURES.get(task.name)
    return draw_description(task.describe(example, answer)) if draw is None else draw(example, answer)


def draw_entities(example: Any, answer: Mapping[str, Any]) -> Text:
    """A sentence with its entities in brackets, each with its type.

    >>> from types import SimpleNamespace
    >>> draw_entities(SimpleNamespace(words=["Ann", "Lee", "left"]), {"tags": ["B-PER", "I-PER", "O"]}).plain
    '[Ann Lee PER] left'
    """
    pieces, place = [], 0
    for label, start, end in decode_spans(answer["tags"]):
        pieces += [Text(word) for word in example.words[place:start]]
        inside = " ".join(example.words[start:end])
        pieces.append(Text.assemble("[", (inside, "bold"), f" {label}]", style=color(label)))
        place = end
    return isolate_line(Text(" ").join([*pieces, *(Text(word) for word in example.words[place:])]))


def isolate_line(line: Text) -> Text:
    """A line whose right-to-left text is read from the right, also in a terminal that writes from the left.

    >>> isolate_line(Text("tea")).plain, isolate_line(Text("چای tea")).plain == "\u2068چای tea\u2069"
    ('tea', True)
    """
    if not line.plain:
        return line
    before, mark, after = isolate(line.plain).partition(line.plain)
    return Text.assemble(before, line, after) if mark else line


def color(label: str) -> str:
    """The color of a label."""
    label = label.removeprefix("..")
    return FIXED.get(label) or COLORS[sum(map(ord, label)) % len(COLORS)]


@dataclass(frozen=True)
class AlignedLabels:
    """Pieces of a sentence with their labels below them; a long sentence is wrapped."""

    pieces: tuple[tuple[str, str], ...]  # text, label

    def lines(self, width: int) -> Iterator[Text]:
        """Alternating lines of text and of labels, without empty ones."""
        above, under, before = Text(), Text(), ""
        for text, label in self.pieces:
            size = max(cell_len(text), cell_len(label))
            gap = (GAP if label or before else 1) if above else 0
            if above and above.cell_len + gap + size > width:
                yield from nonempty_lines(above, under)
                above, under, gap = Text(), Text(), 0
            style = color(label) if label else ""
            above.append(" " * gap)
            under.append(" " * gap)
            above.append(isolate(text) + " " * (size - cell_len(text)), style=f"bold {style}" if label else "")
            under.append(label + " " * (size - cell_len(label)), style=style)
            before = label
        yield from nonempty_lines(above, under)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)


def nonempty_lines(*lines: Text) -> Iterator[Text]:
    """The lines that are not empty, without trailing spaces."""
    for line in lines:
        line.rstrip()
        if line.plain:
            yield line


def draw_roles(example: Any, answer: Mapping[str, Any]) -> RenderableType:
    """A sentence with the roles under its words, once for each predicate."""
    if not answer["frames"]:
        return Text.assemble(isolate(" ".join(example.words)), ("  no predicate was found", "dim"))
    shown: list[RenderableType] = []
    for frame in answer["frames"]:
        shown += [Text()] if shown else []
        shown.append(AlignedLabels(tuple(split_pieces(example.words, decode_spans(frame["tags"])))))
    return Group(*shown)


def split_pieces(words: Sequence[str], spans: Sequence[Span]) -> Iterator[tuple[str, str]]:
    """The spans of a sentence with their labels, and the words between them without. A long span is split.

    >>> list(split_pieces(["John", "left", "us", "."], [Span("ARG0", 0, 1), Span("V", 1, 2)]))
    [('John', 'ARG0'), ('left', 'V'), ('us', ''), ('.', '')]
    """
    place = 0
    for label, start, end in spans:
        yield from ((word, "") for word in words[place:start])
        for number, part in enumerate(wrap(" ".join(words[start:end]), LONGEST, break_on_hyphens=False)):
            yield part, label if number == 0 else f"..{label}"
        place = end
    yield from ((word, "") for word in words[place:])


def draw_clusters(example: Any, answer: Mapping[str, Any]) -> Text:
    """A text with its mentions in brackets; each cluster has a number and a color.

    >>> from types import SimpleNamespace
    >>> answer = {"clusters": [[[0, 1], [3, 4]], [[0, 2]]]}
    >>> draw_clusters(SimpleNamespace(words="his sister saw him".split()), answer).plain
    '[[his]1 sister]2 saw [him]1'
    """
    mentions = [(start, end, number) for number, cluster in enumerate(answer["clusters"]) for start, end in cluster]
    mentions.sort(key=lambda mention: (mention[0], -mention[1]))
    parts = []
    for place, word in enumerate(example.words):
        inside = [mention for mention in mentions if mention[0] <= place < mention[1]]
        one = Text()
        for start, _, number in inside:
            one.append("[" if start == place else "", style=cluster_color(number))
        one.append(word, style=f"bold {cluster_color(inside[-1][2])}" if inside else "")
        for _, end, number in reversed(inside):
            one.append(f"]{number + 1}" if end == place + 1 else "", style=cluster_color(number))
        parts.append(one)
    return isolate_line(Text(" ").join(parts))


def cluster_color(number: int) -> str:
    """The color of a cluster."""
    return COLORS[number % len(COLORS)]


def draw_span(example: Any, answer: Mapping[str, Any]) -> RenderableType:
    """The question, and the passage with its answer in brackets. A long passage is shortened around it."""
    question = isolate_line(Text(" ".join(example.words), style="italic"))
    if answer["text"] is None:
        chance = "" if answer["probability"] is None else f" ({answer['probability']:.0%})"
        return Text.assemble(question, (f"  no answer{chance}", "dim"))
    passage, start, end = example.passage.text, answer["start"], answer["end"]
    first, last = max(0, start - AROUND), min(len(passage), end + AROUND)
    shown = Text("… " if first else "")
    shown.append(passage[first:start])
    shown.append(f"[{passage[start:end]}]", style="bold green")
    shown.append(passage[end:last] + (" …" if last < len(passage) else ""))
    return Group(Text.assemble(question, (f"  {answer['probability']:.0%}", "dim")), isolate_line(shown))


def draw_pair(example: Any, answer: Mapping[str, float]) -> RenderableType:
    """Premise and hypothesis, and the probability of each label."""
    premise, hypothesis = isolate(" ".join(example.premise)), isolate(" ".join(example.hypothesis))
    texts = Text.assemble(premise, (" => ", "dim"), hypothesis)
    return Group(texts, draw_probabilities(rank_labels(answer)))


def draw_sentiment(example: Any, answer: Mapping[str, float]) -> RenderableType:
    """A text, and the probability of each label."""
    return Group(Text(isolate(" ".join(example.words))), draw_probabilities(answer))


def draw_places(task: Task, rows: Sequence[Sequence[Any]]) -> Table | None:
    """The places and probabilities of the spans in rows of answers; None for a task without spans."""
    if "start" not in task.columns:
        return None
    names = [name for name in task.columns[: task.columns.index(AnswerSpan.columns[0])] if name != "question"]
    shown = []
    for row in rows:
        values = dict(zip(task.columns, row))
        if values["text"] is None:
            places, share = ("", ""), "" if values["probability"] is None else f"{values['probability']:.0%}"
        else:
            places = f"{values['start']}:{values['end']}", f"{values['token_start']}:{values['token_end']}"
            share = f"{values['probability']:.0%}"
        shown.append(
            [*("" if values[name] is None else values[name] for name in names), values["text"], *places, share]
        )
    return terminal.table("", [*names, "text", "characters", "tokens", "probability"], shown)


def draw_probabilities(answer: Mapping[str, float]) -> Table:
    """Labels with their probabilities, in the order of the answer; the likeliest is marked."""
    best = max(answer, key=lambda label: answer[label], default="")
    grid = Table.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(justify="right")
    for label, share in answer.items():
        style = "bold" if label == best else "dim"
        mark = "> " if label == best else "  "
        grid.add_row(Text(mark + label, style=style), Text(f"{share:.0%}", style=style), Bar(share))
    return grid


def draw_description(description: Mapping[str, Any]) -> RenderableType:
    """A description: names and values as a table, numbers by label as bars."""
    parts: list[RenderableType] = []
    rows = []
    for name, value in description.items():
        if isinstance(value, dict) and value and all(isinstance(one, float) for one in value.values()):
            parts.append(terminal.bars(name, list(value.items()), header=("", "")))
        else:
            shown = value if isinstance(value, (str, int, float)) else json.dumps(value, ensure_ascii=False)
            rows.append((name, shown))
    return Group(terminal.table("", ["", ""], rows), *parts)


PICTURES: dict[str, Callable[[Any, Any], RenderableType]] = {
    "ner": draw_entities,
    "srl": draw_roles,
    "coref": draw_clusters,
    "qa": draw_span,
    "entailment": draw_pair,
    "sentiment": draw_sentiment,
}
