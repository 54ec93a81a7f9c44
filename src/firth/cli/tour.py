"""The command that walks through all the others."""

from typing import Annotated

from cyclopts import Parameter
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from firth import show
from firth.cli.answer import answer
from firth.cli.flags import Json
from firth.tour import STEPS, Step, walk


def tour(
    texts: Annotated[
        list[str] | None, Parameter(allow_leading_hyphen=True, help="a text of your own; firth brings one along")
    ] = None,
    /,
    *,
    json: Json = False,
) -> None:
    """What firth does, on one small text, in a few minutes: each step a picture and the command that makes it.

    For example:

        firth tour
        firth tour my-novel.txt
    """
    console = show.stdout()

    def visit(number: int, step: Step) -> None:
        if json:
            return
        console.print(Rule(f"[bold]{number}/{len(STEPS)}  {step.title}", align="left", style="cyan"))
        console.print(Text(step.sentence))
        console.print(Padding(step.picture, (1, 0, 1, 2)))
        console.print(Text("$ " + step.command, style="bold green"), "")

    steps = walk(texts or (), visit)
    if json:
        answer([{"title": one.title, "command": one.command, "values": one.values} for one in steps], "", True)
