"""`firth tour`: a tour of what firth does."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from firth import kernels
from firth.cli.flags import Json
from firth.cli.output import answer
from firth.show import terminal
from firth.tour.materials import TourStep
from firth.tour.steps import STEPS, run_tour


def has_compiled_kernels() -> bool:
    """Whether compiled kernels are in the cache."""
    return any(Path(str(kernels.__path__[0]), "__pycache__").glob("*.nbi"))


def tour(
    texts: Annotated[
        list[str] | None,
        Parameter(allow_leading_hyphen=True, help="Texts to use instead of the one that comes with firth."),
    ] = None,
    /,
    *,
    elmo: Annotated[
        str | None, Parameter(help="ELMo model for the steps on words in context. Default: elmo-en.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what firth does on a small text: every step with its result and its command.

    The tour takes a few minutes.

    For example:

        firth tour
        firth tour my-novel.txt
        firth tour --elmo elmo/
    """
    console = terminal.stdout()
    if not json and not has_compiled_kernels():
        console.print(Text("The first run compiles the kernels and caches them; later runs take seconds.", style="dim"))

    def visit(number: int, step: TourStep) -> None:
        if json:
            return
        console.print(Rule(f"[bold]{number}/{len(STEPS)}  {step.title}", align="left", style="cyan"))
        console.print(Text(step.sentence))
        console.print(Padding(step.picture, (1, 0, 1, 2)))
        console.print(Text("$ " + step.command, style="bold green"), "")

    steps = run_tour(texts or (), visit, elmo=elmo)
    if json:
        answer([{"title": one.title, "command": one.command, "values": one.values} for one in steps], "", True)
