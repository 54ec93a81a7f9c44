"""The addresses of the server: OpenAI's, those of text-embeddings-inference, and our own."""

from __future__ import annotations

import asyncio
import base64
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Path
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

import firth
from firth.errors import FirthError, OptionError, suggest
from firth.formats.native import BILM
from firth.server import schemas, work
from firth.server.batching import Closing, Expired, Overloaded, Work
from firth.server.json_route import InvalidBody, Json, JsonRoute, dump, dump_list
from firth.server.log import EventLog
from firth.server.metrics import Metrics
from firth.server.page import describe_api
from firth.server.served import NotReady, OpenModel, ServedModel, UnknownModel
from firth.server.service import AskedWork, ClientGone, ModelFailed, Service, TooLarge
from firth.show.json import to_json

STREAM = "application/x-ndjson"
WARNING = "Firth-Warning"  # the header with what is wrong with the texts of a request
MANY = 100_000  # numbers that are written outside the event loop
PROBLEMS = {
    401: "The token is missing or wrong.",
    403: "A foreign host or origin.",
    404: "No such model.",
    408: "The request did not arrive in time.",
    413: "More bytes, texts, tokens or numbers than the limits allow.",
    422: "The body is not valid, or a value or word is unknown.",
    424: "The model failed on this input.",
    429: "Too many requests or texts are waiting. Retry-After says when to try again.",
    503: "The model is being opened, or the server is stopping. Retry-After says when to try again.",
    504: "The answer took too long.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.ErrorAnswer, "description": text} for status, text in PROBLEMS.items()
}
STATUSES: dict[type[FirthError], tuple[int, str]] = {  # and 422 for other errors
    UnknownModel: (404, "not_found_error"),
    TooLarge: (413, "too_large"),
    ModelFailed: (424, "model_error"),
    Overloaded: (429, "overloaded"),
    NotReady: (503, "unavailable"),
    Closing: (503, "unavailable"),
    Expired: (504, "timeout"),
}
FREE = 403, 408, 413  # what the gate may answer where no token is needed
GATE = 401, *FREE, 429  # what it may answer elsewhere


def create_application(
    service: Service, metrics: Metrics, log: EventLog, on_start: Callable[[], None] = lambda: None
) -> FastAPI:
    """The application. `on_start` is called when it has started to answer."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.deliver_in(asyncio.get_running_loop())
        reload_on_signal(service, log)
        on_start()
        yield
        await run_in_threadpool(service.models.close)

    app = FastAPI(
        title="firth",
        version=firth.__version__,
        summary="Word vectors, contextual embeddings, language models and tasks over HTTP.",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's pages load scripts from other hosts
        redoc_url=None,
        default_response_class=Json,
    )
    app.router.route_class = JsonRoute
    add_error_handlers(app)
    add_embedding_addresses(app, service)  # the router tries addresses in this order
    add_openai_addresses(app, service)
    add_word_addresses(app, service)
    add_task_addresses(app, service)
    add_state_addresses(app, service, metrics)
    description = app.openapi()
    del description["paths"]["/v1/models/{name}"]["get"]["responses"]["422"]  # FastAPI adds it; every name is a string
    app.openapi = lambda: description  # type: ignore[method-assign]
    page = describe_api(description)
    app.add_route("/docs", lambda request: HTMLResponse(page), include_in_schema=False)
    app.add_route("/", lambda request: RedirectResponse("docs"), include_in_schema=False)  # somebody's browser
    return app


def reload_on_signal(service: Service, log: EventLog) -> None:
    """SIGHUP opens the files of all models again, where the system has this signal. The log says what failed."""

    def reload_all() -> None:
        errors = service.models.reload_all()
        for name in service.models.models:
            log.write(event="reload", model=name, error=errors.get(name))

    def reload() -> None:
        asyncio.get_running_loop().run_in_executor(None, reload_all)

    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None:
        try:
            asyncio.get_running_loop().add_signal_handler(hang_up, reload)
        except (ValueError, RuntimeError, NotImplementedError):  # not in the main thread
            return


def error(status: int, kind: str, message: str, param: str | None = None, **headers: str) -> Json:
    """The answer to a request that failed."""
    body = {"error": {"message": message, "type": kind, "code": status, "param": param}}
    return Json(to_json(body), status, {name.replace("_", "-"): value for name, value in headers.items()})


def status_of(problem: FirthError) -> tuple[int, str]:
    """The status of an error and its type in OpenAI's sense.

    >>> status_of(Expired("late")), status_of(OptionError("wrong"))
    ((504, 'timeout'), (422, 'invalid_request_error'))
    """
    found = (status for kind, status in STATUSES.items() if isinstance(problem, kind))
    return next(found, (422, "invalid_request_error"))


def add_error_handlers(app: FastAPI) -> None:
    """Every error has a status and a body of one form."""

    @app.exception_handler(InvalidBody)
    async def invalid(_: Request, problem: InvalidBody) -> Json:
        return error(422, "invalid_request_error", str(problem), problem.place)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, problem: HTTPException) -> Json:
        path, method = request.url.path[:200], request.method[:20]
        if problem.status_code == 404:
            there = suggest(path, app.openapi()["paths"])
            return error(404, "not_found_error", f"there is no address {path}. {there}")
        if problem.status_code == 405:
            allowed = (problem.headers or {}).get("Allow", "")
            return error(405, "invalid_request_error", f"{path} takes {allowed}, not {method}", Allow=allowed)
        return error(problem.status_code, "invalid_request_error", str(problem.detail))

    @app.exception_handler(FirthError)
    async def failed(_: Request, problem: FirthError) -> Json:
        status, kind = status_of(problem)
        param = "model" if status == 404 else None
        headers = {"retry_after": str(getattr(problem, "retry_after", 1))} if status in (429, 503) else {}
        return error(status, kind, str(problem), param, **headers)

    @app.exception_handler(ClientGone)
    async def gone(_: Request, problem: ClientGone) -> Response:
        return Response(status_code=499)  # nobody reads it

    @app.exception_handler(Exception)
    async def broken(_: Request, problem: Exception) -> Json:
        return error(500, "bug", f"a bug of the server: {type(problem).__name__}")


def add_state_addresses(app: FastAPI, service: Service, metrics: Metrics) -> None:
    """Whether the server works, what it serves, and how much it does."""

    @app.head("/health", include_in_schema=False)
    @app.get("/health", tags=["state"], response_model=schemas.Status, responses=some(*FREE))
    async def health() -> Json:
        """Whether the process answers. It needs no token."""
        return Json({"status": "ok"})

    @app.head("/ready", include_in_schema=False)
    @app.get("/ready", tags=["state"], response_model=schemas.Status, responses=some(*FREE, 503))
    async def ready() -> Json:
        """Whether all models are open. It needs no token."""
        if service.models.is_ready:
            return Json({"status": "ready"})
        return error(503, "unavailable", "the models are being opened", retry_after="1")

    @app.get("/metrics", tags=["state"], response_class=Response, responses=some(*GATE))
    async def show_metrics() -> Response:
        """Counters and times in the text format of Prometheus."""
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/info", tags=["state"], response_model=schemas.Info, responses=some(*GATE, 503))
    async def info() -> Json:
        """The first model, and the limits of the server."""
        models, limits = service.models.models, service.limits
        first = next(iter(models.values()))
        kind = "embedding" if "encode" in first.ready().abilities else first.ready().kind
        values = {
            "model_id": first.name,
            "model_type": {kind: {"pooling": "mean"} if kind == "embedding" else {}},
            "version": firth.__version__,
            "max_input_length": limits.tokens,
            "max_batch_tokens": limits.batch_tokens,
            "max_client_batch_size": limits.texts,
            "max_concurrent_requests": limits.requests,
            "models": list(models),
        }
        return Json(values)


def add_openai_addresses(app: FastAPI, service: Service) -> None:
    """What clients of OpenAI's API ask for."""

    @app.get("/v1/models", tags=["openai"], response_model=schemas.ModelList, responses=some(*GATE))
    async def list_models() -> Json:
        """The models of the server that are open."""
        entries = [describe_model(served) for served in service.models.models.values() if served.current is not None]
        return Json({"object": "list", "data": entries})

    @app.get("/v1/models/{name}", tags=["openai"], response_model=schemas.ModelEntry, responses=some(*GATE, 404, 503))
    async def show_model(name: str) -> Json:
        """One model of the server."""
        served = service.models.named(name)
        served.ready()
        return Json(describe_model(served))

    @app.post(
        "/v1/models/{name}/reload",
        tags=["openai"],
        response_model=schemas.ModelEntry,
        responses=some(*GATE, 404, 422),
    )
    async def reload_model(name: str) -> Json:
        """Opens the files of a model again. Requests that were accepted before are answered by the old version."""
        served = service.models.named(name)
        await run_in_threadpool(served.open)
        return Json(describe_model(served))

    @app.post("/v1/embeddings", tags=["openai"], response_model=schemas.OpenAiAnswer, responses=ERRORS)
    async def embeddings(request: Request, body: schemas.OpenAiRequest) -> Json:
        """The vectors of texts, of length 1: `model.encode(texts, normalize=True)`."""
        served = service.models.find(body.model, "encode")
        texts = as_list(body.input)
        asked = await service.prepare(
            request, served, texts, lambda opened: work.encode(opened, texts, "mean", True, None)
        )
        check_dimensions(body.dimensions, asked)
        vectors = await service.compute(asked)
        values = [to_base64(one) for one in vectors] if body.encoding_format == "base64" else vectors
        data = [{"object": "embedding", "index": index, "embedding": value} for index, value in enumerate(values)]
        usage = {"prompt_tokens": asked.work.cost, "total_tokens": asked.work.cost}
        head = dump({"object": "list", "model": served.name, "usage": usage})
        body_of_answer = await write_list(data, len(texts) * width_of(asked.opened))
        return Json(head[:-1] + b',"data":' + body_of_answer + b"}", headers=headers_of(asked.work))


def add_embedding_addresses(app: FastAPI, service: Service) -> None:
    """Vectors of texts and of their words."""
    vectors: dict[int | str, dict[str, Any]] = {
        200: {"model": list[list[float]] | list[schemas.EmbeddedText], "description": "Vectors, or lines of JSON."}
    }
    nested: dict[int | str, dict[str, Any]] = {
        200: {"model": list[list[list[float]]] | list[list[list[list[float]]]], "description": "Vectors of words."}
    }

    @app.post("/", tags=["embed"], responses={**ERRORS, **vectors}, summary="Embed, where a client has no path")
    @app.post("/embed", tags=["embed"], responses={**ERRORS, **vectors})
    async def embed(request: Request, body: schemas.EmbedRequest) -> Response:
        """The vector of each text; with the pooling `none`, its words and their vectors.

        With the header `Accept: application/x-ndjson` the answer is a stream: a line for each text, as it is computed.
        """
        if body.pooling == "none":
            return await send_words(request, body, service, show_words)
        texts, layers, pooling = as_list(body.inputs), chosen_layers(body), body.pooling
        served = service.models.find(body.model, "encode")
        asked = await service.prepare(
            request, served, texts, lambda opened: work.encode(opened, texts, pooling, body.normalize, layers)
        )
        check_dimensions(body.dimensions, asked)
        return await send(service, asked, lambda vector: vector, len(texts) * width_of(asked.opened))

    @app.post("/embed_all", tags=["embed"], responses={**ERRORS, **nested})
    async def embed_all(request: Request, body: schemas.EmbedAllRequest) -> Response:
        """The vector of each word of each text, without the words. It streams as /embed does."""
        return await send_words(request, body, service, lambda pair: pair[1])

    cosines: dict[int | str, dict[str, Any]] = {200: {"model": list[float], "description": "Cosines, in order."}}

    @app.post("/similarity", tags=["embed"], responses={**ERRORS, **cosines})
    async def similarity(request: Request, body: schemas.SimilarityRequest) -> Json:
        """The cosine of a sentence with each of the other sentences."""
        texts = [body.inputs.source_sentence, *body.inputs.sentences]
        served = service.models.find(body.model, "encode")
        asked = await service.prepare(
            request, served, texts, lambda opened: work.encode(opened, texts, body.pooling, True, None)
        )
        source, *others = await service.compute(asked)
        return Json([float(np.dot(source, other)) for other in others], headers=headers_of(asked.work))


def add_word_addresses(app: FastAPI, service: Service) -> None:
    """Words and sentences: neighbors, analogies, probabilities."""
    words: dict[int | str, dict[str, Any]] = {
        200: {"model": list[schemas.ScoredWord], "description": "Words, the best first."}
    }

    @app.post("/neighbors", tags=["words"], responses={**ERRORS, **words})
    async def neighbors(request: Request, body: schemas.NeighborsRequest) -> Json:
        """The words nearest to the mean of the words less the negative ones, with their cosines."""
        served = service.models.find(body.model, "neighbors")
        asked = await service.prepare(
            request, served, body.words, lambda _: work.neighbors(body.words, body.negative, body.top)
        )
        near = (await service.compute(asked))[0]
        return Json(to_json([{"word": word, "score": value} for word, value in near]))

    @app.post("/analogy", tags=["words"], responses={**ERRORS, **words})
    async def analogy(request: Request, body: schemas.AnalogyRequest) -> Json:
        """The words that are to c as b is to a."""
        served = service.models.find(body.model, "neighbors")
        asked = await service.prepare(
            request, served, [body.a], lambda _: work.analogy(body.a, body.b, body.c, body.top, body.method)
        )
        near = (await service.compute(asked))[0]
        return Json(to_json([{"word": word, "score": value} for word, value in near]))

    scores: dict[int | str, dict[str, Any]] = {
        200: {"model": list[dict[str, Any]], "description": "A score for each sentence, in order."}
    }

    @app.post("/score", tags=["words"], responses={**ERRORS, **scores})
    async def score(request: Request, body: schemas.ScoreRequest) -> Json:
        """The probability of each sentence under an n-gram model or a biLM."""
        texts, served = as_list(body.inputs), service.models.find(body.model, "score")
        asked = await service.prepare(request, served, texts, lambda opened: work.score(opened, texts))
        return Json(to_json(await service.compute(asked)))


def add_task_addresses(app: FastAPI, service: Service) -> None:
    """Labels and the answers of task models."""
    labels: dict[int | str, dict[str, Any]] = {
        200: {
            "model": list[schemas.ScoredLabel] | list[list[schemas.ScoredLabel]],
            "description": "Labels, the most probable first; a list of them for each input of a list.",
        }
    }

    @app.post("/predict", tags=["tasks"], responses={**ERRORS, **labels})
    async def predict(request: Request, body: schemas.PredictRequest) -> Json:
        """The labels of texts with their probabilities, from a classifier or a model of sentiment or entailment."""
        inputs, served = as_inputs(body.inputs), service.models.find(body.model, "labels")
        texts = [text for one in inputs for text in one]
        top = (body.parameters and body.parameters.top_k) or body.top
        asked = await service.prepare(request, served, texts, lambda opened: work.labels(opened, inputs, top))
        found = await service.compute(asked)
        answers = [[{"label": label, "score": value} for label, value in pairs] for pairs in found]
        return Json(to_json(answers[0] if isinstance(body.inputs, str) else answers), headers=headers_of(asked.work))

    answers: dict[int | str, dict[str, Any]] = {
        200: {"model": list[list[dict[str, Any]]], "description": "For each input, a list of answers."}
    }

    @app.post("/predict/{task}", tags=["tasks"], responses={**ERRORS, **answers})
    async def predict_task(
        request: Request,
        task: Annotated[str, Path(description="The name of a task, or of a model of the server.")],
        body: schemas.PredictRequest,
    ) -> Response:
        """The answers of a task model: `model.ask(*texts)` for each input. It streams as /embed does."""
        inputs = as_inputs(body.inputs)
        served = service.models.find_task(task if body.model is None else body.model)
        texts = [text for one in inputs for text in one]
        asked = await service.prepare(request, served, texts, lambda opened: work.ask(opened, inputs))
        return await send(service, asked, to_json)


def some(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Some of the documented errors."""
    return {status: ERRORS[status] for status in statuses}


def as_list(texts: str | list[str]) -> list[str]:
    """One text or several, as a list."""
    return [texts] if isinstance(texts, str) else texts


def as_inputs(inputs: str | list[str | list[str]]) -> list[list[str]]:
    """The texts of each input."""
    return [[inputs]] if isinstance(inputs, str) else [as_list(one) for one in inputs]


def chosen_layers(body: schemas.EmbedRequest | schemas.EmbedAllRequest) -> work.Layer | None:
    """The layers that a request asks for."""
    if body.mix is None:
        return body.layers
    if body.layers is not None:
        raise OptionError("give layers or mix, not both")
    return tuple(body.mix.weights), body.mix.gamma


def check_dimensions(dimensions: int | None, asked: AskedWork) -> None:
    """Refuses another length of vectors than the model has."""
    there = width_of(asked.opened)
    if dimensions is not None and dimensions != there:
        raise OptionError(f"dimensions is {dimensions}, but the vectors of {asked.served.name!r} have {there}")


def width_of(opened: OpenModel, layers: work.Layer | None = None) -> int:
    """The numbers of a word, or of a text."""
    if opened.kind != BILM:
        return int(getattr(opened.model, "dim", 1))
    sizes = opened.model.architecture
    return int(2 * sizes.dim * (sizes.layers + 1 if layers == "all" else 1))


def show_words(pair: tuple[list[str], Any]) -> dict[str, Any]:
    """The words of a text and their vectors."""
    words, vectors = pair
    return {"tokens": to_json(words), "vectors": vectors}


async def send_words(
    request: Request,
    body: schemas.EmbedRequest | schemas.EmbedAllRequest,
    service: Service,
    show: Callable[[Any], Any],
) -> Response:
    """The vectors of the words of texts."""
    texts, layers = as_list(body.inputs), chosen_layers(body)
    served = service.models.find(body.model, "embed")
    asked = await service.prepare(request, served, texts, lambda opened: work.embed(opened, texts, layers))
    return await send(service, asked, show, asked.work.cost * width_of(asked.opened, layers))


async def send(service: Service, asked: AskedWork, show: Callable[[Any], Any], numbers: int = 0) -> Response:
    """The results of a work, of so many numbers, as one list or, if the client accepts it, as a stream of lines."""
    if STREAM in asked.request.headers.get("accept", ""):
        lines = stream_lines(service, asked, show)
        first = await anext(lines, b"")  # an error before the first line has a status of its own

        async def all_lines() -> AsyncIterator[bytes]:
            yield first
            async for line in lines:
                yield line

        return StreamingResponse(all_lines(), media_type=STREAM, headers=headers_of(asked.work))
    service.check_numbers(numbers)
    results = [show(one) for one in await service.compute(asked)]
    return Json(await write_list(results, numbers), headers=headers_of(asked.work))


def headers_of(asked: Work) -> dict[str, str]:
    """The header with the warning of a work, if it has one."""
    return {} if asked.warning is None else {WARNING: asked.warning}


async def stream_lines(service: Service, asked: AskedWork, show: Callable[[Any], Any]) -> AsyncIterator[bytes]:
    """A line of JSON for each item, with its number. An error after the first line is the last line."""
    has_begun = False
    try:
        async for start, values in service.stream(asked):
            for index, value in enumerate(values, start):
                yield dump({"index": index, "result": show(value)}) + b"\n"
                has_begun = True
    except ClientGone:
        return
    except FirthError as problem:
        if not has_begun:
            raise
        status, kind = status_of(problem)
        yield dump(to_json({"error": {"message": str(problem), "type": kind, "code": status}})) + b"\n"


async def write_list(values: Sequence[Any], numbers: int) -> bytes:
    """A list as JSON. A long one is written in a thread."""
    return await run_in_threadpool(dump_list, values) if numbers > MANY else dump_list(values)


def to_base64(vector: Any) -> str:
    """The float32 bytes of a vector, little-endian, in base64, as OpenAI's API sends them."""
    return base64.b64encode(np.ascontiguousarray(vector, "<f4").tobytes()).decode("ascii")


def describe_model(served: ServedModel) -> dict[str, Any]:
    """A model in OpenAI's form, with its kind and what can be asked of it."""
    opened = served.ready()
    return {
        "id": served.name,
        "object": "model",
        "created": int(opened.opened),
        "owned_by": "firth",
        "kind": opened.kind,
        "abilities": list(opened.abilities),
    }
