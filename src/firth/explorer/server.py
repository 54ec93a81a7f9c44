"""The server of the explorer: pages and data routes behind the guard, on this machine only."""

from __future__ import annotations

import logging
import secrets
import socket
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from nicegui import app, ui
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from firth.errors import FirthError, OptionError
from firth.explorer.frame import draw_frame, draw_head
from firth.explorer.guard import LOOPBACK, TOKEN, Guard
from firth.explorer.models import WORDS, Models, WarmUp
from firth.explorer.registry import MISSING, PAGES, ROUTES, PageEntry
from firth.explorer.scatter_plot import ADDRESS as PLOT_ADDRESS
from firth.explorer.translations import LANGUAGES, Language, check_language, preferred_language
from firth.explorer.visit import Visit
from firth.explorer.widgets import draw_safely
from firth.lazy import import_name
from firth.maps.scatter import SCRIPT

STATIC = Path(__file__).resolve().parent / "static"
ICON = STATIC / "icon.svg"
PORT = 8765
RECONNECT = 10.0  # seconds that the state of a closed page is kept
CONNECT = 60.0  # seconds that a page waits for its browser


@dataclass(frozen=True)
class Explorer:
    """What pages share."""

    models: Models
    language: Language | None = None
    warm_up: WarmUp = field(default_factory=lambda: WarmUp({}))

    def register(self) -> None:
        """Adds all pages and routes to the application."""
        version = sha256(b"".join(path.read_bytes() for path in sorted(STATIC.glob("*.*")))).hexdigest()[:8]
        app.add_static_files("/static", STATIC)
        app.add_static_files(PLOT_ADDRESS, SCRIPT.parent)
        for page in PAGES:
            ui.page(page.address, title="firth", response_timeout=CONNECT)(self.builder(page, version))
        for path, place in ROUTES.items():
            app.add_route(path, partial(self.send, import_name(place, "the explorer", "web")))
        app.add_route("/favicon.ico", send_icon)
        # All other addresses. It comes last, because what was added before is found first.
        ui.page("/{path:path}", title="firth", response_timeout=CONNECT)(self.builder(MISSING, version))

    def builder(self, page: PageEntry, version: str) -> Callable[[Request], Awaitable[None]]:
        """The function that NiceGUI calls for a request of a page."""

        async def build(request: Request) -> None:
            await self.show(page, version, request)

        return build

    async def show(self, page: PageEntry, version: str, request: Request) -> None:
        """Draws a page: first the frame, then, when the browser is connected, its content."""
        cookies = request.cookies
        language = self.find_language(cookies.get("firth-language", ""), request.headers.get("accept-language", ""))
        address = request.url.path if page is MISSING else page.address
        visit = Visit(self.models, language, address, dict(request.query_params), self.warm_up)
        ui.context.client.status_code = 404 if page is MISSING else 200
        ui.page_title(f"{visit.t(page.title)} · firth" if page.address != "/" else "firth")
        draw_head(visit, cookies.get("firth-theme", ""), version)
        content = draw_frame(visit, page)
        try:
            await ui.context.client.connected(timeout=CONNECT)
        except TimeoutError:  # the page was fetched, but no browser shows it
            return
        build: Callable[[Visit], Any] = import_name(page.place, "the explorer", "web")
        content.clear()
        with content:
            await draw_safely(visit, content, partial(build, visit))

    def find_language(self, chosen: str, accepted: str) -> Language:
        """The language that the visitor chose, else that of the command line, else that of the browser.

        >>> Explorer(Models(), "en").find_language("fa", "")
        'fa'
        """
        if chosen in LANGUAGES:
            return check_language(chosen)
        return self.language or preferred_language(accepted)

    async def send(self, function: Callable[[Models, dict[str, str]], bytes], request: Request) -> Response:
        """The binary data of a route."""
        parameters = {**request.query_params, **{name: str(value) for name, value in request.path_params.items()}}
        try:
            content = await run_in_threadpool(function, self.models, parameters)
        except FirthError as error:
            return PlainTextResponse(str(error), 404)
        headers = {"content-encoding": "identity", "cache-control": "no-store"}  # numbers do not compress
        return Response(content, media_type="application/octet-stream", headers=headers)


async def send_icon(request: Request) -> Response:
    """The icon of the pages."""
    return FileResponse(ICON)


def bind(port: int | None) -> socket.socket:
    """A socket on this machine. Without a port it is the usual one, or a free one if that is in use.

    >>> with bind(0) as listening:
    ...     listening.getsockname()[0]
    '127.0.0.1'
    """
    wanted = PORT if port is None else port
    if not 0 <= wanted < 65536:
        raise OptionError(f"--port {wanted}: a port is a number from 0 to 65535")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, wanted))
        listening.listen()
    except OSError as error:
        listening.close()
        if port is None:
            return bind(0)
        cure = "Use another one, or --port 0 for any free port"
        raise OptionError(f"--port {port}: {(error.strerror or str(error)).lower()}. {cure}") from error
    return listening


def search_first(models: Models, name: str) -> None:
    """Searches the neighbors of the first word of a model, if it has words."""
    vectors = models.load(name)
    if len(vectors):
        vectors.most_similar(vectors.vocabulary[0], topn=1)


def prepare(models: Models) -> WarmUp:
    """The work that the first answers need: kernels are compiled on first use. What home offers first comes first.

    >>> list(prepare(Models()).steps)
    ['elmo', 'words', 'counts', 'ngram']
    """
    steps: dict[str, Callable[[], object]] = {}
    if bilms := models.of("bilm"):
        steps["elmo"] = lambda: models.load(bilms[0]).embed([["tea"]])
    if vectors := models.of(*WORDS):
        steps["words"] = lambda: search_first(models, vectors[0])
    steps["counts"] = lambda: models.load("tour-counts")
    steps["ngram"] = lambda: models.load(models.of("ngram")[0]).log_probs(["tea"])
    return WarmUp(steps)


def serve(
    names: Sequence[str] = (),
    *,
    port: int | None = None,
    language: Language | None = None,
    browser: bool = True,
    warm_up: bool = True,
    announce: Callable[[str], None] = lambda line: None,
) -> None:
    """Serves the explorer until it is interrupted. `announce` gets the address with its token."""
    models = Models(names)
    listening = bind(port)
    number = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    background = prepare(models) if warm_up else WarmUp({})
    Explorer(models, language, background).register()
    outer = FastAPI(openapi_url=None)
    ui.run_with(
        outer,
        title="firth",
        favicon=ICON,
        dark=None,
        tailwind=False,
        reconnect_timeout=RECONNECT,
        show_welcome_message=False,
        binding_refresh_interval=None,
    )
    logging.getLogger("nicegui").setLevel(logging.ERROR)  # it warns of a page that is left before it is drawn
    address = f"http://{LOOPBACK}:{number}/?{TOKEN}={token}"
    guard = Guard(outer, token, number)  # h11 refuses a head without end; httptools would keep it in memory
    config = uvicorn.Config(guard, http="h11", log_level="critical", ws="wsproto", lifespan="on")
    announce(address)
    background.start()
    if browser:
        webbrowser.open(address)
    with listening, suppress(KeyboardInterrupt):  # Ctrl+C is the way to stop it
        uvicorn.Server(config).run(sockets=[listening])
