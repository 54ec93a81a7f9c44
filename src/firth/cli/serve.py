"""`firth serve`: models over HTTP."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from firth.cli.flags import BilmDevice, Json
from firth.cli.loading import move_to
from firth.cli.output import answer
from firth.errors import MissingFile
from firth.formats.registry import load


def serve(
    models: Annotated[list[str], Parameter(help="Models to serve: paths, names of pretrained models, or NAME=PATH.")],
    /,
    *,
    host: Annotated[
        str, Parameter(help="Address to listen on; beyond this machine a token is required.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0 is any free one.")] = 8080,
    token_file: Annotated[
        str | None, Parameter(help="File with the token that clients must send. Default: FIRTH_TOKEN, or no token.")
    ] = None,
    allow_origin: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Origins whose web pages may ask.")
    ] = (),
    device: BilmDevice = None,
    workers: Annotated[int, Parameter(help="Threads that compute, for each model.")] = 1,
    timeout: Annotated[float, Parameter(help="Seconds that a request may take.")] = 60.0,
    max_texts: Annotated[int, Parameter(help="Texts that a request may have.")] = 2048,
    max_tokens: Annotated[int, Parameter(help="Tokens that a request may have.")] = 131072,
    max_body: Annotated[int, Parameter(help="Bytes that a request may have.")] = 4194304,
    max_requests: Annotated[int, Parameter(help="Requests that may be in progress.")] = 1024,
    batch_tokens: Annotated[int, Parameter(help="Tokens that a model computes together.")] = 4096,
    queue_tokens: Annotated[int, Parameter(help="Tokens that may wait for a model.")] = 262144,
    log: Annotated[bool, Parameter(negative="--no-log", help="Log requests to standard error, as JSON lines.")] = True,
    json: Json = False,
) -> None:
    """Serve models over HTTP: OpenAI's embeddings API, per-word vectors, neighbors, scores and tasks.

    For example:

        firth serve elmo-en word2vec-en ner
        firth serve wiki=models/cc.en.300.bin --port 9000
        FIRTH_TOKEN=$(openssl rand -hex 32) firth serve elmo-en --host 0.0.0.0
        curl -s localhost:8080/v1/embeddings -H 'content-type: application/json' -d '{"input": "hot tea"}'
    """
    from firth.server.limits import Limits
    from firth.server.run import serve as run  # needs FastAPI

    def announce(address: str) -> None:
        text = f"The server answers at {address}; its API is described at {address}/docs\nStop it with Ctrl+C."
        answer({"address": address}, Text(text), json)
        sys.stdout.flush()

    run(
        models,
        host=host,
        port=port,
        token=read_token(token_file),
        origins=allow_origin,
        limits=Limits(
            body_bytes=max_body,
            texts=max_texts,
            tokens=max_tokens,
            seconds=timeout,
            requests=max_requests,
            batch_tokens=batch_tokens,
            queue_tokens=queue_tokens,
        ),
        workers=workers,
        opener=partial(open_on, device),
        announce=announce,
        log=sys.stderr if log else None,
    )


def open_on(device: str | None, path: str) -> object:
    """The model at a path on a device; word vectors stay where they are."""
    model = load(path)
    return move_to(model, device) if hasattr(model, "to") else model


def read_token(path: str | None) -> str:
    """The token in a file, or in the environment."""
    if path is None:
        return os.environ.get("FIRTH_TOKEN", "")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise MissingFile(path) from None
