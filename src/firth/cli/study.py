"""`firth study NAME`: repeats a study. It writes a page with tables, the charts, and all values as JSON."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Group, RenderableType
from rich.text import Text

from firth.cli.flags import ClusterOptions, Device, Force, Json, OnCluster, Threads
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.cli.recipe_command import Command, lazy_group, recipe_command, recipe_flags
from firth.errors import OptionError
from firth.files import is_file, read_bytes
from firth.lazy import lazy_attributes
from firth.remote.addresses import address_of
from firth.runtime import Runtime
from firth.show import terminal
from firth.studies.registry import STUDIES

HELP = """Repeat a study of word representations.

A study writes its tables and charts as a Markdown page, and all values as JSON.

For example:

    firth study table1 --out studies/table1 --jobs 4 --device cuda
    firth study senses --quick --out somewhere      a one-minute version, to check that it runs
    firth study layers --tasks srl --no-start       report the finished trainings only
    firth study NAME --help                         options of a study
"""


def run(
    *,
    out: Annotated[str, Parameter(help="Output folder for the page, the charts and the values.")],
    study: Any,
    work: Annotated[
        str | None, Parameter(help="Folder for intermediate results, which later runs reuse. Default: OUT/work.")
    ] = None,
    quick: Annotated[
        bool, Parameter(negative="", show_default=False, help="Run a one-minute version on little data.")
    ] = False,
    device: Device = "cpu",
    threads: Threads = None,
    cluster: OnCluster = ClusterOptions(),
    force: Force = False,
    json: Json = False,
) -> None:
    """Runs a study and writes its findings."""
    if address_of(out) is not None and work is None:
        raise OptionError("--out is an address, so --work must name a local folder for intermediate results")
    page, values = (Path(out, study.name + ending) for ending in (".md", ".json"))
    check_outputs([page, values], [], force=force or holds_study(values, study.name))
    chosen = study.make_quick() if quick else study
    folder = Path(work) if work else Path(out) / "work"
    folder.mkdir(parents=True, exist_ok=True)
    with terminal.progress() as report:
        runtime = cluster.connect(threads, device, [str(folder)]) or Runtime.from_env(threads, device)
        findings = chosen.run(folder, runtime, report)
    written = [address_of(path) or str(path) for path in findings.write(out)]
    answer({**findings.as_json(), "written": written}, picture(findings, written), json)


def holds_study(path: Path, name: str) -> bool:
    """Whether a file contains the values of a study, so that a further run may replace its files."""
    return is_file(path) and f'"study": "{name}"' in read_bytes(path).decode("utf-8", "replace")


def picture(findings: Any, written: list[str]) -> RenderableType:
    """The tables, and the names of the files."""
    from firth.studies.findings import format_cell

    tables = []
    for table in findings.tables:
        rows = [[cell if isinstance(cell, int) else format_cell(cell) for cell in row] for row in table.rows]
        tables.append(terminal.table(table.title, table.columns, rows))
    return Group(*tables, Text("\n".join(written)))


def make_command(name: str) -> Command:
    """The command of one study."""
    return recipe_command(run, {"study": recipe_flags(STUDIES.find(name), "Study")})


study = lazy_group(__name__, HELP, STUDIES)
__getattr__ = lazy_attributes(__name__, STUDIES, make_command)
