"""`firth study NAME` repeats a study: it writes a page with tables, the pictures, and all values as JSON."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Group, RenderableType
from rich.text import Text

from firth.cli.flags import Device, Json, Threads
from firth.cli.output import answer
from firth.cli.recipe_flags import flags_of, plain
from firth.lazy import summarize
from firth.runtime import Runtime
from firth.show import terminal

HELP = """Repeat a study of word representations: a table, a picture and JSON.

For example:

    firth study table1 --out studies/table1 --jobs 4 --device cuda
    firth study senses --quick --out somewhere      see within a minute that it works
    firth study layers --tasks srl --no-start       tell of the trainings that are finished
    firth study NAME --help                         options of a study
"""
ANNOTATIONS: dict[str, Any] = {
    "out": Annotated[str, Parameter(help="the folder that the page, the pictures and the values go to")],
    "work": Annotated[
        str | None, Parameter(help="the folder for what is computed on the way; if not given, work in the other")
    ],
    "quick": Annotated[bool, Parameter(negative="", help="a version that is over within a minute; it proves little")],
    "device": Device,
    "threads": Threads,
    "json": Json,
    "return": None,
}
DEFAULTS: dict[str, Any] = {"work": None, "quick": False, "device": "cpu", "threads": None, "json": False}


def runner(name: str) -> Callable[..., None]:
    """The command of one study."""
    from firth.studies.registry import STUDIES, find_study

    flags = flags_of(find_study(name), {}, "", "Study")

    def repeat(*, out: Any, study: Any, work: Any, quick: Any, device: Any, threads: Any, json: Any) -> None:
        chosen = plain(study).make_quick() if quick else plain(study)
        place = Path(work) if work else Path(out) / "work"
        place.mkdir(parents=True, exist_ok=True)
        with terminal.progress() as report:
            findings = chosen.run(place, Runtime.from_env(threads, device), report)
        written = [str(path) for path in findings.write(out)]
        answer({**findings.as_json(), "written": written}, picture(findings, written), json)

    repeat.__name__ = name
    repeat.__doc__ = f"{summarize(STUDIES[name])}\n\nFor example:\n\n    firth study {name} --out {name}/\n"
    repeat.__annotations__ = {**ANNOTATIONS, "study": Annotated[flags, Parameter(name="*")]}
    repeat.__kwdefaults__ = DEFAULTS | {"study": flags()}
    return repeat


def picture(findings: Any, written: list[str]) -> RenderableType:
    """The tables, and where everything lies."""
    from firth.studies.findings import format_cell

    tables = []
    for table in findings.tables:
        rows = [[cell if isinstance(cell, int) else format_cell(cell) for cell in row] for row in table.rows]
        tables.append(terminal.table(table.title, table.columns, rows))
    return Group(*tables, Text("\n".join(written)))


def build() -> App:
    """`firth study` with a command for each study, whose file is imported when it is called."""
    from firth.studies.registry import STUDIES

    app = App(name="study", help=HELP, help_format="markdown")
    for name in STUDIES:
        app.command(f"{__name__}:{name}", name=name, help=summarize(STUDIES[name]))
    return app


def __getattr__(name: str) -> Callable[..., None]:
    from firth.studies.registry import STUDIES

    if name not in STUDIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return runner(name)


study = build()
