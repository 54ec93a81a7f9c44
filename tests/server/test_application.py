from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.server.running import RunningServer, run_server

import firth
from firth.neural.mix import ScalarMix
from firth.server.limits import Limits
from firth.server.served import OpenModel

TEXTS = ["hot tea in the rain", "Strong coffee!", "tea", "", "rain " * 60]


def as_floats(values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


@pytest.fixture(scope="module")
def bilm(model_paths: dict[str, Path]) -> Any:
    return firth.load(model_paths["bilm"])


def test_the_openai_client_gets_the_vectors_of_the_library(server: RunningServer, bilm: Any) -> None:
    openai = pytest.importorskip("openai", reason="the client of OpenAI's API")
    client = openai.OpenAI(base_url=f"{server.address}/v1", api_key="unused", max_retries=0)
    answer = client.embeddings.create(model="bilm", input=TEXTS)  # asks for base64
    expected = bilm.encode(TEXTS, normalize=True)
    assert np.array_equal(as_floats([one.embedding for one in answer.data]), expected)
    answer = client.embeddings.create(model="bilm", input="hot tea", encoding_format="float")
    assert np.array_equal(as_floats(answer.data[0].embedding), bilm.encode("hot tea", normalize=True))
    assert answer.usage.total_tokens == 2
    assert answer.model == "bilm"
    assert [one.id for one in client.models.list()] == ["bilm", "vectors", "ngrams", "classifier"]
    assert client.models.retrieve("vectors").object == "model"
    with pytest.raises(openai.NotFoundError, match="Did you mean 'bilm'"):
        client.embeddings.create(model="bilmm", input="tea")
    for ids in ([1, 2], [[1, 2], [3]]):
        with pytest.raises(openai.UnprocessableEntityError, match=r"token ids.*Send texts"):
            client.embeddings.create(model="bilm", input=ids)
    with pytest.raises(openai.UnprocessableEntityError, match="input has 0 items") as raised:
        client.embeddings.create(model="bilm", input=[])
    assert raised.value.param == "input"


@pytest.fixture
def hub_client(server: RunningServer) -> Any:
    """Makes clients of huggingface_hub, which ask text-embeddings-inference, for an address of the server."""
    hub = pytest.importorskip("huggingface_hub", reason="needs the extra hub: pip install 'firth[hub]'")
    return lambda path: hub.InferenceClient(model=server.address + path, timeout=300)


@pytest.mark.parametrize("path", ["", "/embed"])
def test_the_client_of_the_hub_gets_the_vectors_of_the_library(hub_client: Any, bilm: Any, path: str) -> None:
    client = hub_client(path)
    assert np.array_equal(client.feature_extraction(TEXTS, normalize=True), bilm.encode(TEXTS, normalize=True))
    options = {"normalize": False, "truncate": True, "truncation_direction": "right"}
    assert np.array_equal(client.feature_extraction("hot tea", **options)[0], bilm.encode("hot tea"))


def test_the_client_of_the_hub_compares_and_labels_texts(
    hub_client: Any, bilm: Any, model_paths: dict[str, Path]
) -> None:
    cosines = hub_client("/similarity").sentence_similarity("hot tea", other_sentences=["hot tea", "rain"])
    first, second = bilm.encode(["hot tea", "rain"], normalize=True)
    assert cosines == [float(first @ first), float(first @ second)]
    expected = firth.Classifier(firth.load(model_paths["classifier"])).predict("tea", 2)
    client = hub_client("/predict")  # it takes the first answer of several, also where the server has only one
    assert [(one.label, one.score) for one in client.text_classification(["tea"])] == expected
    assert [(one.label, one.score) for one in client.text_classification(["tea"], top_k=1)] == expected[:1]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/embed", {"inputs": "tea", "dimensions": 32, "truncate": None, "prompt_name": None}),
        ("/embed_all", {"inputs": "tea", "truncate": True, "truncation_direction": "Left", "prompt_name": None}),
        ("/predict", {"inputs": [["tea"], "rain"], "truncate": False, "raw_scores": False}),
        (
            "/similarity",
            {"inputs": {"source_sentence": "tea", "sentences": ["rain"]}, "parameters": {"truncate": True}},
        ),
    ],
)
def test_the_fields_of_text_embeddings_inference_are_accepted(server: RunningServer, path: str, body: Any) -> None:
    assert server.post(path, body).status_code == 200


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        ("/embed", "dimensions", 31),
        ("/embed", "prompt_name", "query"),
        ("/predict", "raw_scores", True),
        ("/predict", "parameters", {"function_to_apply": "none"}),
    ],
)
def test_what_would_change_the_answer_there_is_refused_and_not_ignored(
    server: RunningServer, path: str, field: str, value: Any
) -> None:
    answer = server.post(path, {"inputs": "tea", field: value})
    assert answer.status_code == 422
    assert field in answer.json()["error"]["message"]


def test_base64_has_the_bytes_of_the_numbers(server: RunningServer, bilm: Any) -> None:
    body = {"input": ["tea"], "model": "bilm", "encoding_format": "base64"}
    text = server.post("/v1/embeddings", body).json()["data"][0]["embedding"]
    assert base64.b64decode(text) == bilm.encode(["tea"], normalize=True)[0].tobytes()


def test_the_dimensions_of_a_model_can_be_named_but_not_changed(server: RunningServer, bilm: Any) -> None:
    body = {"input": ["tea"], "model": "vectors", "dimensions": 2}
    assert server.post("/v1/embeddings", body).status_code == 200
    answer = server.post("/v1/embeddings", body | {"dimensions": 3})
    assert answer.status_code == 422
    assert "have 2" in answer.json()["error"]["message"]


@pytest.mark.parametrize("pooling", ["mean", "max"])
@pytest.mark.parametrize("normalize", [True, False])
def test_embed_pools_as_encode_does(server: RunningServer, bilm: Any, pooling: Any, normalize: bool) -> None:
    body = {"inputs": TEXTS, "model": "bilm", "pooling": pooling, "normalize": normalize}
    expected = bilm.encode(TEXTS, pooling=pooling, normalize=normalize)
    assert np.array_equal(as_floats(server.post("/embed", body).json()), expected)


@pytest.mark.parametrize("layers", ["mix", "top", "all", 1])
def test_words_have_the_vectors_of_embed(server: RunningServer, bilm: Any, layers: Any) -> None:
    expected = bilm.embed(TEXTS[:3], layers=layers)
    body = {"inputs": TEXTS[:3], "model": "bilm", "layers": layers}
    rows = server.post("/embed_all", body).json()
    assert all(np.array_equal(as_floats(row), one) for row, one in zip(rows, expected, strict=True))
    entries = server.post("/embed", body | {"pooling": "none"}).json()
    assert [entry["tokens"] for entry in entries][1] == ["Strong", "coffee", "!"]
    assert all(np.array_equal(as_floats(entry["vectors"]), one) for entry, one in zip(entries, expected, strict=True))


def test_a_mix_has_its_weights(server: RunningServer, bilm: Any) -> None:
    mix = {"weights": [0.5, -1.0, 2.0], "gamma": 0.7}
    row = server.post("/embed_all", {"inputs": "hot tea", "model": "bilm", "mix": mix}).json()[0]
    expected = bilm.embed(["hot tea"], layers=ScalarMix(3, weights=mix["weights"], gamma=0.7))[0]  # type: ignore[arg-type]
    assert np.array_equal(as_floats(row), expected)
    both = {"inputs": "tea", "model": "bilm", "mix": mix, "layers": "top"}
    assert server.post("/embed_all", both).status_code == 422
    short = {"inputs": "tea", "model": "bilm", "mix": {"weights": [1.0]}}
    assert server.post("/embed_all", short).status_code == 422


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_answers_do_not_depend_on_what_was_computed_together(server: RunningServer, bilm: Any) -> None:
    generator = np.random.default_rng(1)
    words = ["tea", "rain", "strong", "hot", "coffee", "چای"]
    texts = [" ".join(generator.choice(words, generator.integers(1, 30))) for _ in range(96)]
    expected = [bilm.encode(text, normalize=True) for text in texts]
    seen: list[int] = []
    note, server.models.models["bilm"].batcher.observe = (
        server.models.models["bilm"].batcher.observe,
        lambda computed: seen.append(computed.requests),
    )
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda text: server.post("/embed", {"inputs": text, "model": "bilm"}).json(), texts))
    server.models.models["bilm"].batcher.observe = note
    assert max(seen) > 1, "requests ran together"
    assert all(np.array_equal(as_floats(answer[0]), one) for answer, one in zip(answers, expected))


def test_answers_of_several_addresses_at_once_are_those_of_the_library(server: RunningServer, bilm: Any) -> None:
    generator = np.random.default_rng(2)
    words = ["tea", "rain", "strong", "hot", "coffee", "چای"]
    texts = [" ".join(generator.choice(words, generator.integers(1, 200))) for _ in range(24)]
    vectors, tops, sums = bilm.encode(texts, normalize=True), bilm.embed(texts, layers="top"), bilm.encode(texts)

    def ask(number: int) -> bool:
        text, kind = texts[number % 24], number // 24
        if kind == 0:
            body = {"input": text, "model": "bilm", "encoding_format": "base64"}
            answer = server.post("/v1/embeddings", body).json()["data"][0]["embedding"]
            return base64.b64decode(answer) == vectors[number % 24].tobytes()
        if kind == 1:
            rows = server.post("/embed_all", {"inputs": [text], "model": "bilm", "layers": "top"}).json()[0]
            return np.array_equal(as_floats(rows), tops[number % 24])
        row = server.post("/embed", {"inputs": [text], "model": "bilm", "normalize": False}).json()[0]
        return np.array_equal(as_floats(row), sums[number % 24])

    with ThreadPoolExecutor(24) as pool:
        assert all(pool.map(ask, generator.permutation(72).tolist()))


def test_a_stream_has_a_line_for_each_text(server: RunningServer, bilm: Any) -> None:
    headers = {"accept": "application/x-ndjson"}
    body = {"inputs": TEXTS, "model": "bilm"}
    with server.client.stream("POST", "/embed", json=body, headers=headers) as answer:
        lines = [json.loads(line) for line in answer.iter_lines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert sorted(line["index"] for line in lines) == list(range(len(TEXTS)))
    expected = bilm.encode(TEXTS, normalize=True)
    assert all(np.array_equal(as_floats(line["result"]), expected[line["index"]]) for line in lines)
    unknown = server.client.post("/embed", json=body | {"model": "none"}, headers=headers)
    assert unknown.status_code == 404


def test_similarity_is_the_cosine(server: RunningServer, bilm: Any) -> None:
    inputs = {"source_sentence": "hot tea", "sentences": ["hot tea", "rain"]}
    same, other = server.post("/similarity", {"inputs": inputs, "model": "bilm"}).json()
    first, second = bilm.encode(["hot tea", "rain"], normalize=True)
    assert same == pytest.approx(1)
    assert other == pytest.approx(float(first @ second))


def test_neighbors_and_analogies_are_those_of_the_vectors(server: RunningServer, model_paths: dict[str, Path]) -> None:
    vectors = firth.load(model_paths["vectors"])
    answer = server.post("/neighbors", {"words": ["tea"], "top": 2}).json()
    assert [(one["word"], one["score"]) for one in answer] == vectors.most_similar("tea", topn=2)
    answer = server.post("/analogy", {"a": "tea", "b": "coffee", "c": "rain", "top": 1}).json()
    assert [(one["word"], one["score"]) for one in answer] == vectors.analogy("tea", "coffee", "rain", topn=1)
    answer = server.post("/neighbors", {"words": ["cofee"]})
    assert answer.status_code == 422
    assert "Near spellings: 'coffee'" in answer.json()["error"]["message"]


@pytest.mark.parametrize("name", ["ngrams", "bilm"])
def test_scores_are_those_of_the_language_model(server: RunningServer, model_paths: dict[str, Path], name: str) -> None:
    model = firth.load(model_paths[name])
    texts = ["strong tea", "hot rain"]
    expected = [model.score(text) for text in texts] if name == "ngrams" else list(model.score(texts))
    answer = server.post("/score", {"inputs": texts, "model": name}).json()
    assert answer == [json.loads(json.dumps(one.as_dict())) for one in expected]


def test_a_classifier_labels_texts_in_the_form_of_text_embeddings_inference(
    server: RunningServer, model_paths: dict[str, Path]
) -> None:
    classifier = firth.Classifier(model_paths["classifier"])
    answer = server.post("/predict", {"inputs": "tea", "top": 2}).json()
    assert [(one["label"], one["score"]) for one in answer] == classifier.predict("tea", 2)
    answers = server.post("/predict", {"inputs": ["tea", ["rain"]], "top": 1}).json()
    assert [one[0]["label"] for one in answers] == [classifier.predict(text)[0][0] for text in ("tea", "rain")]
    assert server.post("/predict", {"inputs": [["a", "b"]]}).status_code == 422


def test_a_task_model_answers_as_ask_does() -> None:
    model = firth.open_task("sentiment")
    with run_server("sentiment") as running:
        inputs = ["A fine film.", ["A dull one. It was long."]]
        answers = running.post("/predict/sentiment", {"inputs": inputs}).json()
        labels = running.post("/predict", {"inputs": "A fine film."}).json()
        headers = {"accept": "application/x-ndjson"}
        lines = running.post("/predict/sentiment", {"inputs": inputs}, headers=headers).text.splitlines()
        missing = running.post("/predict/ner", {"inputs": "Tea"})
        none = running.post("/embed", {"inputs": "tea"})
    expected = json.loads(json.dumps([model.ask("A fine film."), model.ask("A dull one. It was long.")]))
    assert answers == expected
    assert labels[0] == {"label": expected[0][0]["label"], "score": expected[0][0]["probability"]}
    assert sorted((json.loads(line)["index"], json.loads(line)["result"]) for line in lines) == [
        (0, expected[0]),
        (1, expected[1]),
    ]
    assert missing.status_code == 404
    assert "sentiment" in missing.json()["error"]["message"]
    assert none.status_code == 404
    assert "no model of this server has vectors of texts" in none.json()["error"]["message"]


def test_a_document_model_infers_as_the_library_does(tmp_path: Path) -> None:
    corpus = firth.Corpus.of(["hot tea and milk", "cold rain and wind"] * 5)
    model = firth.Doc2Vec(dim=4, epochs=2, min_count=1).fit(corpus)
    firth.save(model, tmp_path / "documents")
    with run_server(str(tmp_path / "documents")) as running:
        answer = running.post("/embed", {"inputs": ["hot tea", "rain"], "normalize": False}).json()
        for field in ({"pooling": "max"}, {"layers": "top"}):
            assert running.post("/embed", {"inputs": ["hot tea"], **field}).status_code == 422
    assert np.array_equal(as_floats(answer), firth.load(tmp_path / "documents").encode(["hot tea", "rain"]))


@pytest.mark.parametrize(
    ("path", "body", "problem"),
    [
        ("/embed", {"inputs": ["tea"], "poling": "max"}, "poling"),
        ("/embed", {"inputs": 5}, "inputs"),
        ("/embed", {"inputs": ["tea"], "model": "vectors", "layers": "top"}, "layers"),
        ("/embed", {"inputs": ["tea"], "model": "ngrams"}, "vectors of texts"),
        ("/neighbors", {"words": []}, "words"),
        ("/neighbors", {"words": ["tea"], "top": 0}, "top"),
        ("/neighbors", {"words": ["tea"], "top": 10**30}, "top"),
        ("/score", {"inputs": ["tea"], "model": "vectors"}, "probabilities"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(server: RunningServer, path: str, body: Any, problem: str) -> None:
    answer = server.post(path, body)
    assert answer.status_code == 422
    assert problem in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "path",
    ["/", "/embed", "/embed_all", "/v1/embeddings", "/similarity", "/neighbors", "/analogy", "/score", "/predict"],
)
def test_wrong_bodies_are_explained_in_words(server: RunningServer, path: str) -> None:
    fields = ("input", "inputs", "words", "a", "b", "c", "top", "model", "pooling", "layers", "mix", "dimensions")
    values = (None, True, 5, 1.5, "", [], [[]], ["tea", 5], {}, {"weights": []}, {"source_sentence": "tea"})
    bodies: list[Any] = [*values, *({field: value} for field in fields for value in values)]
    bodies += [{"inputs": "tea", field: value} for field in fields[3:] for value in values]
    for body in bodies:
        answer = server.post(path, body)
        assert answer.status_code in (200, 404, 422), body
        if answer.status_code != 200:
            problem = answer.json()["error"]["message"]
            assert not re.search(
                r"Input should|instance of|Extra inputs|Field required|validation|\[str|literal", problem
            )
            assert len(problem) < 200


def test_addresses_and_methods_that_do_not_exist_have_a_way_out(server: RunningServer) -> None:
    answer = server.post("/v1/embedings", {"input": "tea"})
    assert answer.status_code == 404
    assert "Did you mean '/v1/embeddings'?" in answer.json()["error"]["message"]
    answer = server.client.get("/embed")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["message"] == "/embed takes POST, not GET"


@pytest.mark.parametrize("content", [b"", b"{", b'{"inputs": ' + b"[" * 50_000, b'{"inputs": "\\ud800"}', b"\xff\xfe"])
def test_broken_bodies_are_answered(server: RunningServer, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = server.client.post("/embed", content=content, headers=headers)
    assert answer.status_code in (200, 400, 422)


def test_letters_that_utf8_lacks_come_back_as_replacements(server: RunningServer) -> None:
    content = b'{"inputs": "tea \\ud800", "pooling": "none"}'
    answer = server.client.post("/embed", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    assert "\ufffd" in "".join(answer.json()[0]["tokens"]) or "?" in "".join(answer.json()[0]["tokens"])


def test_limits_have_statuses_that_name_them(model_paths: dict[str, Path]) -> None:
    limits = Limits(body_bytes=2000, texts=3, tokens=40, numbers=100)
    with run_server(str(model_paths["bilm"]), limits=limits) as running:
        answers = {
            "bytes": running.post("/embed", {"inputs": "x" * 3000}),
            "texts": running.post("/embed", {"inputs": ["tea"] * 4}),
            "tokens": running.post("/embed", {"inputs": "tea " * 41}),
            "numbers": running.post("/embed_all", {"inputs": "hot tea in the rain"}),
        }
        streamed = running.post(
            "/embed_all", {"inputs": "hot tea in the rain"}, headers={"accept": "application/x-ndjson"}
        )
        chunked = running.client.post("/embed", content=(b"x" * 500 for _ in range(10)))
    for name, answer in answers.items():
        assert answer.status_code == 413, name
        assert name in answer.json()["error"]["message"]
    assert streamed.status_code == 200
    assert chunked.status_code == 413


def test_a_full_queue_is_429_and_a_late_answer_504(
    model_paths: dict[str, Path], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    with run_server(str(model_paths["vectors"]), limits=Limits(queue_tokens=2, seconds=1.0)) as running:
        served = running.models.models["vectors"]
        vectors, go, begun = served.ready().model, threading.Event(), threading.Event()

        class Waiting:
            kind, tokenizer, embed = vectors.kind, vectors.tokenizer, vectors.embed

            def encode(self, *texts: Any, **settings: Any) -> Any:
                begun.set()
                go.wait(10)
                return vectors.encode(*texts, **settings)

        served.current = OpenModel(Waiting(), 0.0)
        with ThreadPoolExecutor(4) as pool:
            first = pool.submit(running.post, "/embed", {"inputs": "tea"})
            assert begun.wait(10)
            second = pool.submit(running.post, "/embed", {"inputs": "tea rain"})
            wait_until(lambda: served.batcher.waiting == 2)
            third = running.post("/embed", {"inputs": "tea"})
            assert third.status_code == 429
            assert int(third.headers["retry-after"]) >= 1
            assert first.result().status_code == 504
            assert second.result().status_code == 504
            go.set()


def test_a_failing_model_is_424_without_its_inner_words(model_paths: dict[str, Path]) -> None:
    with run_server(str(model_paths["vectors"])) as running:
        served = running.models.models["vectors"]
        assert served.current is not None
        vectors = served.current.model

        class Broken:
            kind, tokenizer, embed = vectors.kind, vectors.tokenizer, vectors.embed

            def encode(self, *texts: Any, **settings: Any) -> Any:
                raise RuntimeError("a secret path")

        served.current = OpenModel(Broken(), 0.0)
        answer = running.post("/embed", {"inputs": "tea"})
    assert answer.status_code == 424
    assert "RuntimeError" in answer.text
    assert "secret" not in answer.text


def test_a_model_is_replaced_while_the_server_runs(tmp_path: Path) -> None:
    firth.save(firth.WordVectors(["tea"], [[1.0, 0.0]]), tmp_path / "vectors")
    with run_server(str(tmp_path / "vectors")) as running:
        before = running.post("/embed", {"inputs": "tea"}).json()
        firth.save(firth.WordVectors(["tea"], [[0.0, 1.0]]), tmp_path / "vectors")
        assert running.post("/v1/models/vectors/reload", None).json()["id"] == "vectors"
        after = running.post("/embed", {"inputs": "tea"}).json()
        (tmp_path / "vectors" / "config.json").write_text("{")
        failed = running.post("/v1/models/vectors/reload", None)
        still = running.post("/embed", {"inputs": "tea"}).json()
    assert (before, after, still) == ([[1.0, 0.0]], [[0.0, 1.0]], [[0.0, 1.0]])
    assert failed.status_code == 422


def test_state_and_description(server: RunningServer) -> None:
    assert server.client.get("/health").json() == {"status": "ok"}
    assert server.client.get("/ready").json() == {"status": "ready"}
    info = server.client.get("/info").json()
    assert info["model_id"] == "bilm"
    assert info["models"] == ["bilm", "vectors", "ngrams", "classifier"]
    page = server.client.get("/docs").text
    assert "/v1/embeddings" in page
    assert "http://" not in page
    assert "https://" not in page


def test_schemathesis_finds_no_server_error(server: RunningServer) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="makes requests from the OpenAPI description")
    if not hasattr(schemathesis.checks, "status_code_conformance"):
        pytest.skip("earlier versions of schemathesis, such as 4.20, name its checks otherwise")
    from hypothesis import HealthCheck, Phase, given, settings

    schema = schemathesis.openapi.from_url(f"{server.address}/openapi.json")
    for operation in schema.get_all_operations():
        case_of = operation.ok().as_strategy()

        @given(case=case_of)
        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: Any) -> None:
            answer = case.call(base_url=server.address)
            assert answer.status_code < 500 or answer.status_code in (503, 504), answer.text
            case.validate_response(
                answer,
                checks=[
                    schemathesis.checks.not_a_server_error,
                    schemathesis.checks.status_code_conformance,
                    schemathesis.checks.response_schema_conformance,
                ],
            )

        ask()


def test_texts_of_unknown_words_are_answered_with_a_header(server: RunningServer) -> None:
    foreign = {"inputs": ["چای گرم در باران"], "model": "vectors"}
    for path, body in (
        ("/embed", foreign),
        ("/embed_all", foreign),
        ("/v1/embeddings", {"input": "چای", "model": "vectors"}),
    ):
        answer = server.post(path, body)
        assert answer.status_code == 200
        assert answer.headers["Firth-Warning"].startswith("100 % of the words (")
    assert "Firth-Warning" not in server.post("/embed", {"inputs": ["hot tea"], "model": "vectors"}).headers
