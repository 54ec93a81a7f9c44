"""`firth explore`: pages in the browser."""

import sys
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Group
from rich.text import Text

from firth.cli.flags import Json
from firth.cli.output import answer


def explore(
    models: Annotated[
        list[str] | None, Parameter(help="Models to explore, beside the pretrained ones. The first is shown first.")
    ] = None,
    /,
    *,
    port: Annotated[
        int | None, Parameter(help="Port on this machine; 0 is any free one. Default: 8765, or a free one.")
    ] = None,
    browser: Annotated[bool, Parameter(negative="--no-browser", help="Open the browser.")] = True,
    language: Annotated[
        Literal["en", "fa"] | None, Parameter(help="Language of the interface. Default: that of the browser.")
    ] = None,
    warm_up: Annotated[
        bool, Parameter(negative="--no-warm-up", help="Compile kernels in the background before they are needed.")
    ] = True,
    json: Json = False,
) -> None:
    """Explore word vectors, ELMo and tasks in the browser, offline.

    The explorer answers only to this machine, and only to the browser that opens the printed address.

    For example:

        firth explore
        firth explore glove.6B.50d.txt vectors/
        firth explore --language fa --port 9000 --no-browser
    """
    from firth.explorer.server import serve  # needs NiceGUI

    def announce(address: str) -> None:
        # A terminal that is narrow wraps the line itself, and the address stays one that can be clicked and copied.
        text = Text(f"The explorer runs at {address}\nStop it with Ctrl+C.", no_wrap=True, overflow="ignore")
        answer({"address": address}, Group(text), json)  # a text alone would lose its options
        sys.stdout.flush()

    serve(models or (), port=port, language=language, browser=browser, warm_up=warm_up, announce=announce)
