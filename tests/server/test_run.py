from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import firth
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


@contextmanager
def run_command(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`firth serve` in a process of its own, and its address."""
    command = [sys.executable, "-m", "firth", "serve", *arguments, "--port", "0", "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "FIRTH_TOKEN"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            text += process.stdout.readline()
        try:
            yield process, json.loads(text)["address"]
        finally:
            process.terminate()


def test_a_hang_up_opens_the_files_again_and_the_log_says_so(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    firth.save(firth.WordVectors(["tea"], [[1.0, 0.0]]), path)
    with run_command(str(path)) as (process, address):
        assert process.stderr is not None
        assert address.startswith("http://127.0.0.1:")  # by default other machines cannot reach it

        def reload() -> dict[str, Any]:
            """The line of the log after a hang-up."""
            process.send_signal(signal.SIGHUP)
            assert process.stderr is not None
            while (line := json.loads(process.stderr.readline()))["event"] != "reload":
                pass
            return dict(line)

        with httpx.Client(base_url=address, timeout=30, trust_env=False) as client:

            def ask() -> Any:
                return client.post("/embed", json={"inputs": "tea"}).json()

            before = ask()
            firth.save(firth.WordVectors(["tea"], [[0.0, 1.0]]), path)
            reloaded, after = reload(), ask()
            (path / "config.json").write_text("{")
            failed, still = reload(), ask()
        process.terminate()
        assert process.wait(30) in (0, -signal.SIGTERM)
    assert (before, after, still) == ([[1.0, 0.0]], [[0.0, 1.0]], [[0.0, 1.0]])
    assert (reloaded["model"], reloaded["error"]) == ("vectors", None)
    assert "config.json" in failed["error"]


def test_a_stopped_process_answers_what_it_accepted(model_paths: dict[str, Path]) -> None:
    with run_command(str(model_paths["vectors"])) as (process, address):
        with httpx.Client(base_url=address, timeout=30, trust_env=False) as client, ThreadPoolExecutor(8) as pool:

            def ask(number: int) -> Any:
                return client.post("/embed", json={"inputs": ["tea"] * 500}).status_code

            waiting = [pool.submit(ask, number) for number in range(8)]
            wait(waiting, return_when=FIRST_COMPLETED)
            process.send_signal(signal.SIGTERM)
            statuses = [one.exception() or one.result() for one in waiting]
        assert process.wait(30) in (0, -signal.SIGTERM)
        assert process.stderr is not None
        log = process.stderr.read()
    assert 200 in statuses
    # A request was answered, or its connection was refused before the server accepted it.
    assert all(one == 200 or re.search("refused|disconnect|reset", str(one), re.I) for one in statuses), statuses
    assert "Traceback" not in log
