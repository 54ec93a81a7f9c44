"""The command that walks through all the others."""

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
from firth.tour.materials import Step
from firth.tour.steps import STEPS, walk


def compiled() -> bool:
    """Whether kernels have been compiled and kept before."""
    return any(Path(str(kernels.__path__[0]), "__pycache__").glob("*.nbi"))


def tour(
    texts: Annotated[
        list[str] | None, Parameter(allow_leading_hyphen=True, help="a text of your own; firth brings one along")
    ] = None,
    /,
    *,
    elmo: Annotated[str | None, Parameter(help="an ELMo model, for the step on words in context")] = None,
    json: Json = False,
) -> None:
    """What firth does, on one small text, in a few minutes: each step a picture and the command that makes it.

    For example:

        firth tour
        firth tour my-novel.txt
        firth tour --elmo elmo/
    """
    console = terminal.stdout()
    if not json and not compiled():
        console.print(
            Text("The first run compiles the hot loops and keeps them; later runs take seconds.", style="dim")
        )

    def visit(number: int, step: Step) -> None:
        if json:
            return
        console.print(Rule(f"[bold]{number}/{len(STEPS)}  {step.title}", align="left", style="cyan"))
        console.print(Text(step.sentence))
        console.print(Padding(step.picture, (1, 0, 1, 2)))
        console.print(Text("$ " + step.command, style="bold green"), "")

    steps = walk(texts or (), visit, elmo=elmo)
    if json:
        answer([{"title": one.title, "command": one.command, "values": one.values} for one in steps], "", True)
