"""The container: its files agree with the package, and its commands run here as they run there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firth.pretrained import shipped
from firth.server.limits import Limits

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
TOKEN = "0123456789abcdef"


def read_stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage of the Dockerfile, with what follows them."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    stages: list[list[tuple[str, str]]] = []
    for name, rest in lines:
        if name == "FROM":
            stages.append([])
        stages[-1].append((name, rest))
    return stages


def last(name: str) -> str:
    """What follows an instruction of the image."""
    return [rest for instruction, rest in read_stages()[-1] if instruction == name][-1]


@pytest.fixture(scope="module")
def service() -> dict[str, Any]:
    """The service of the compose file."""
    yaml = pytest.importorskip("yaml", reason="reads the compose file: pip install pyyaml")
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    found: dict[str, Any] = services["firth"]
    return found


def test_the_build_has_all_files_of_the_package_and_asks_for_extras_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [copied] = [rest.split()[:-1] for name, rest in read_stages()[0] if name == "COPY" and "pyproject.toml" in rest]
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    needed = {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    assert set(copied) == needed
    assert {line[1:] for line in allowed if line.startswith("!")} == needed | {"src"}
    assert all((ROOT / name).exists() for name in needed)
    [extras] = re.findall(r"'\.\[([\w,]+)\]'", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    assert set(extras.split(",")) <= project["project"]["optional-dependencies"].keys()


def test_the_sdist_has_every_file_that_is_tracked() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("needs a checkout")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    always = {"pyproject.toml", ".gitignore"}  # hatchling adds them
    assert {name.partition("/")[0] for name in tracked.stdout.split()} == {*settings["sdist"]["include"], *always}


def test_the_image_has_a_user_without_rights_and_serves_models_that_ship(service: dict[str, Any]) -> None:
    assert int(last("USER")) >= 1000
    assert last("FROM").endswith("-slim")
    for names in (json.loads(last("CMD")), service["command"]):
        assert set(names) <= {*shipped.available(), *shipped.tasks()}


def test_the_compose_file_keeps_kernels_and_waits_for_what_was_accepted(service: dict[str, Any]) -> None:
    assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    [volume] = service["volumes"]
    assert f"NUMBA_CACHE_DIR={volume.partition(':')[2]}" in last("ENV")
    assert service["read_only"]
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert int(service["stop_grace_period"].rstrip("s")) > Limits().seconds
    assert all(port.startswith("127.0.0.1:") and port.endswith(last("EXPOSE")) for port in service["ports"])
    assert service["environment"]["FIRTH_TOKEN"].startswith("${FIRTH_TOKEN:?")


def test_compose_reads_its_file() -> None:
    command = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]

    def run(*arguments: str, **environment: str) -> bool:
        without = {name: value for name, value in os.environ.items() if name != "FIRTH_TOKEN"}
        done = subprocess.run([*command, *arguments], env={**without, **environment}, capture_output=True, check=False)
        return done.returncode == 0

    if not shutil.which(command[0]) or not run("version"):
        pytest.skip("needs docker compose")
    check = ("-f", str(DEPLOY / "compose.yaml"), "config", "--quiet")
    assert run(*check, FIRTH_TOKEN=TOKEN)
    assert not run(*check)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run_health_check(port: int) -> int:
    """The exit status of the health check, on another port."""
    check: list[str] = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    assert check[0] == "python"
    program = check[2].replace(last("EXPOSE"), str(port))
    return subprocess.run([sys.executable, check[1], program], capture_output=True, check=False).returncode


@pytest.fixture
def container(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command of the image with a small model, on another port, in a folder that is empty but for the kernels."""
    pytest.importorskip("fastapi", reason="needs the extra serve: pip install 'firth[serve]'")
    port = free_port()
    entry: list[str] = json.loads(last("ENTRYPOINT"))
    assert entry[0] == "firth"
    arguments = [str(port) if one == last("EXPOSE") else one for one in entry[1:]]
    command = [sys.executable, "-m", "firth", *arguments, "svd-en", "--json"]
    environment = {**os.environ, "FIRTH_TOKEN": TOKEN, "HOME": str(tmp_path / "nowhere")}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    yield process, port
    process.kill()
    process.wait()


def test_the_command_of_the_image_answers_its_health_check_and_asks_for_the_token(
    container: tuple[subprocess.Popen[str], int],
) -> None:
    httpx = pytest.importorskip("httpx", reason="asks the server")
    process, port = container
    assert process.stdout is not None
    while "}" not in (line := process.stdout.readline()):  # the models are open
        assert line
    assert run_health_check(port) == 0
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        assert client.post("/embed", json={"inputs": "tea"}).status_code == 401
        answer = client.post("/embed", json={"inputs": "tea"}, headers={"authorization": f"Bearer {TOKEN}"})
    assert len(answer.json()[0]) == 100
    process.terminate()
    assert process.wait(60) in (0, -signal.SIGTERM)
    assert run_health_check(port) != 0
