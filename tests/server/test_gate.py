from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.server.running import RunningServer, run_server

from firth.server import gate
from firth.server.limits import Limits

TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def guarded(model_paths: dict[str, Path]) -> Iterator[RunningServer]:
    """A server with a token and one foreign origin that may ask."""
    limits = Limits(seconds=1.0)
    with run_server(
        str(model_paths["vectors"]), limits=limits, token=TOKEN, origins=frozenset(["https://friend.example"])
    ) as running:
        yield running


def test_a_token_is_needed_except_for_the_state(guarded: RunningServer) -> None:
    for given in ("", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}é"):
        headers = {"authorization": given.encode("utf-8")}
        refused = guarded.client.get("/v1/models", headers=headers)
        assert refused.status_code == 401, given
        assert refused.headers["www-authenticate"] == "Bearer"
        assert guarded.client.get("/health", headers=headers).status_code == 200
        assert guarded.client.get("/ready", headers=headers).status_code == 200
        assert guarded.client.post("/", json={"inputs": "tea"}, headers=headers).status_code == 401
    assert guarded.client.get("/v1/models").status_code == 200


def test_tokens_are_compared_in_constant_time(guarded: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    compare = secrets.compare_digest

    def note(given: bytes, token: bytes) -> bool:
        compared.append((given, token))
        return compare(given, token)

    monkeypatch.setattr(gate.secrets, "compare_digest", note)
    for given in ("w", "x" * 40, TOKEN):
        guarded.client.get("/v1/models", headers={"authorization": f"Bearer {given}"})
    assert compared == [(given, TOKEN.encode()) for given in (b"w", b"x" * 40, TOKEN.encode())]


def test_the_openai_client_sends_the_token(guarded: RunningServer) -> None:
    openai = pytest.importorskip("openai", reason="the client of OpenAI's API")
    client = openai.OpenAI(base_url=f"{guarded.address}/v1", api_key=TOKEN, max_retries=0)
    assert len(client.embeddings.create(model="vectors", input="tea").data) == 1
    stranger = openai.OpenAI(base_url=f"{guarded.address}/v1", api_key="sk-wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError, match="token is missing or wrong"):
        stranger.embeddings.create(model="vectors", input="tea")


def test_foreign_hosts_and_origins_are_refused(guarded: RunningServer) -> None:
    get = guarded.client.get
    assert get("/v1/models", headers={"host": "evil.example"}).status_code == 403
    assert get("/v1/models", headers={"host": "127.0.0.1.evil.example"}).status_code == 403
    assert get("/v1/models", headers={"origin": "https://evil.example"}).status_code == 403
    assert get("/v1/models", headers={"origin": "null"}).status_code == 403
    form = {"origin": "https://evil.example", "content-type": "text/plain"}  # what a page may send without being asked
    assert guarded.client.post("/embed", content=b'{"inputs": "tea"}', headers=form).status_code == 403
    assert get("/v1/models", headers={"origin": guarded.address}).status_code == 200
    assert get("/v1/models", headers={"origin": "https://friend.example"}).status_code == 200


FRIEND = "https://friend.example"


def test_a_page_of_an_allowed_site_may_ask_and_read_the_answer(guarded: RunningServer) -> None:
    asks = {"origin": FRIEND, "access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    answer = guarded.client.options("/embed", headers={**asks, "authorization": ""})  # a browser asks without the token
    assert answer.status_code == 204
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert {"authorization", "content-type"} <= set(answer.headers["access-control-allow-headers"].split(", "))
    answers = [answer, guarded.client.post("/embed", json={"inputs": "tea"}, headers={"origin": FRIEND})]
    answers += [guarded.client.post("/embed", json={}, headers={"origin": FRIEND, "authorization": "wrong"})]
    assert [one.status_code for one in answers] == [204, 200, 401]
    for one in answers:
        assert one.headers["access-control-allow-origin"] == FRIEND
        assert one.headers["vary"] == "Origin"
    stranger = guarded.client.options("/embed", headers={**asks, "origin": "https://evil.example"})
    assert stranger.status_code == 403
    assert "access-control-allow-origin" not in stranger.headers
    assert "access-control-allow-origin" not in guarded.client.get("/health").headers


def test_a_browser_asks_from_an_allowed_site_and_from_no_other(model_paths: dict[str, Path], chromium: Any) -> None:
    site = ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    friend, stranger = (f"http://{host}:{site.server_port}" for host in ("127.0.0.1", "localhost"))
    ask = """async address => {
        const headers = {"content-type": "application/json", authorization: "Bearer %s"};
        const body = JSON.stringify({inputs: "of none"});
        try {
            const answer = await fetch(address + "/embed", {method: "POST", headers, body});
            return [answer.status, (await answer.json())[0].length, answer.headers.get("firth-warning") !== null];
        } catch (error) { return "refused"; }
    }"""
    with run_server(str(model_paths["vectors"]), token=TOKEN, origins=frozenset([friend])) as running:
        found = []
        for place in (friend, stranger):
            page = chromium.new_page()
            page.goto(f"{place}/no-such-page")
            found.append(page.evaluate(ask % TOKEN, running.address))
            page.close()
    site.shutdown()
    site.server_close()
    assert found == [[200, 2, True], "refused"]


def test_the_page_of_the_api_opens_without_the_token_that_it_asks_for(guarded: RunningServer) -> None:
    nothing = {"authorization": ""}
    page = guarded.client.get("/", headers=nothing, follow_redirects=True)
    assert page.url.path == "/docs"
    assert 'id="token"' in page.text
    assert guarded.client.get("/openapi.json", headers=nothing).status_code == 200


def test_supervisors_may_ask_for_the_head_alone(guarded: RunningServer) -> None:
    assert [guarded.client.head(path).status_code for path in ("/health", "/ready")] == [200, 200]


def test_the_log_has_a_line_for_each_request_and_no_text(
    guarded: RunningServer, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    answers = (
        guarded.post("/embed", {"inputs": ["a secret sentence"]}),
        guarded.client.get("/no/such/address?text=secret"),
    )

    def logged() -> dict[str, dict[str, object]]:
        """The lines of the log by the name of their request."""
        lines = map(json.loads, guarded.log.getvalue().splitlines())
        return {line["request"]: line for line in lines}

    names = [answer.headers["x-request-id"] for answer in answers]
    wait_until(lambda: set(names) <= logged().keys())  # a line is written after its answer was sent
    first, second = (logged()[name] for name in names)
    assert "secret" not in guarded.log.getvalue()
    assert (first["route"], first["status"], first["model"], first["tokens"]) == ("/embed", 200, "vectors", 3)
    assert (second["route"], second["status"]) == ("other", 404)


def test_a_body_that_never_ends_is_given_up(guarded: RunningServer) -> None:
    host, port = guarded.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = (
            f"POST /embed HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n"
        )
        connection.sendall(f"{head}\r\n{{".encode())
        connection.settimeout(10)
        assert b" 408 " in connection.recv(1000).splitlines()[0]


def test_a_client_that_leaves_is_forgotten(
    guarded: RunningServer, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    host, port = guarded.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = (
            f"POST /embed HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n"
        )
        connection.sendall(f"{head}\r\n{{".encode())
        wait_until(lambda: guarded.gate.open == 1)
    wait_until(lambda: guarded.gate.open == 0)
    assert json.loads(guarded.log.getvalue().splitlines()[-1])["status"] == 499


def test_more_requests_than_may_be_open_are_refused(model_paths: dict[str, Path]) -> None:
    with run_server(str(model_paths["vectors"]), limits=Limits(requests=1)) as running:
        host, port = running.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"POST /embed HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 9\r\n\r\n".encode())
            end = time.monotonic() + 10
            while running.gate.open == 0:
                assert time.monotonic() < end
            refused = running.client.get("/v1/models")
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "1"
            assert running.client.get("/health").status_code == 200


def test_answers_have_a_name_and_are_not_sniffed(guarded: RunningServer) -> None:
    headers = guarded.client.get("/health").headers
    assert len(headers["x-request-id"]) == 16
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("length", ["-1", "ten", "99999999999999999999"])
def test_a_wrong_content_length_is_refused(guarded: RunningServer, length: str) -> None:
    host, port = guarded.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"POST /embed HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Length: {length}\r\n\r\n".encode()
        )
        connection.settimeout(10)
        status = connection.recv(1000).split(b" ", 2)[1]
        assert status in (b"400", b"413")
