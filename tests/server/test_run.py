from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from firth.errors import OptionError
from firth.server.run import bind, check_origin, check_token, serve


@pytest.mark.parametrize(("host", "token"), [("0.0.0.0", ""), ("192.168.1.5", ""), ("127.0.0.1", "short")])
def test_other_machines_need_a_token_that_cannot_be_guessed(host: str, token: str) -> None:
    with pytest.raises(OptionError):
        check_token(host, token)


@pytest.mark.parametrize("origin", ["example.org", "ftp://example.org", "https://example.org/path", "https://"])
def test_an_origin_is_a_scheme_and_a_host(origin: str) -> None:
    with pytest.raises(OptionError, match="--allow-origin"):
        check_origin(origin)


def test_a_port_in_use_is_an_error_with_a_cure() -> None:
    with bind("127.0.0.1", 0) as first:
        first.listen()
        with pytest.raises(OptionError, match="Use another port"):
            bind("127.0.0.1", first.getsockname()[1])
    with pytest.raises(OptionError, match="from 0 to 65535"):
        bind("127.0.0.1", 70000)


def test_a_model_that_cannot_be_opened_stops_the_server(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def run() -> None:
        try:
            serve([str(tmp_path / "none")], port=0)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert "none" in str(errors[0])


def test_a_stopped_server_answers_what_it_accepted_and_a_hang_up_reloads(model_paths: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "firth", "serve", str(model_paths["vectors"]), "--port", "0", "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "FIRTH_TOKEN"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stderr is not None
    text = ""
    while not text.rstrip().endswith("}"):
        text += process.stdout.readline()
    address = json.loads(text)["address"]
    created: set[int] = set()
    with httpx.Client(base_url=address, timeout=30, trust_env=False) as client:
        created.add(client.get("/v1/models/vectors").json()["created"])
        process.send_signal(signal.SIGHUP)
        assert client.get("/health").status_code == 200
        with ThreadPoolExecutor(8) as pool:

            def ask(number: int) -> Any:
                return client.post("/embed", json={"inputs": ["tea"] * 500}).status_code

            waiting = [pool.submit(ask, number) for number in range(8)]
            while not any(one.done() for one in waiting):
                pass
            process.send_signal(signal.SIGTERM)
            statuses = [one.exception() or one.result() for one in waiting]
    assert process.wait(20) in (0, -signal.SIGTERM)
    log = process.stderr.read()
    assert 200 in statuses
    # A request was answered, or its connection was refused before the server accepted it.
    assert all(one == 200 or re.search("refused|disconnect|reset", str(one), re.I) for one in statuses), statuses
    assert "Traceback" not in log
