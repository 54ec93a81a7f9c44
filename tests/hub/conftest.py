"""On this machine: a server of published files with an empty cache, and a fake hub for the real huggingface_hub."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest


class FileServer:
    """Files by path; `requests` lists the paths that were asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.address = ""


@pytest.fixture
def server() -> Iterator[FileServer]:
    state = FileServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(self.path)
            content = state.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{listening.server_port}"
    yield state
    listening.shutdown()
    thread.join()
    listening.server_close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for downloads."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("FIRTH_CACHE", str(folder))
    return folder


@dataclass
class FakeRepository:
    """A repository of the fake hub: branches of commits, each a table of files."""

    private: bool = False
    branches: dict[str, list[str]] = field(default_factory=lambda: {"main": []})
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes], branch: str = "main", deleted: Collection[str] = ()) -> str:
        before = self.files(branch) or {}
        after = {name: content for name, content in before.items() if name not in deleted} | files
        parts = [f"{name}:{hashlib.sha1(after[name]).hexdigest()}" for name in sorted(after)]
        number = hashlib.sha1(f"{len(self.commits)} {parts}".encode()).hexdigest()
        self.commits[number] = after
        self.branches.setdefault(branch, list(self.branches["main"])).append(number)
        return number

    def find(self, revision: str) -> str | None:
        if revision in self.branches:
            return self.branches[revision][-1] if self.branches[revision] else "0" * 40
        return revision if revision in self.commits else None

    def files(self, revision: str) -> dict[str, bytes] | None:
        number = self.find(revision)
        return None if number is None else self.commits.get(number, {})


class FakeHub:
    """What huggingface_hub calls of the hub, for repositories of models. `TOKEN` opens the private ones."""

    TOKEN = "hf_of_ada"
    LARGE = 5000  # bytes; larger files are uploaded by the protocol of large files

    def __init__(self) -> None:
        self.repositories: dict[str, FakeRepository] = {}
        self.large: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.address = ""

    def add(self, name: str, files: dict[str, bytes], *, private: bool = False) -> FakeRepository:
        repository = self.repositories.setdefault(name, FakeRepository(private))
        repository.commit(files)
        return repository


class FakeHubHandler(BaseHTTPRequestHandler):
    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def reply_json(self, values: Any, status: int = 200) -> None:
        self.reply(status, json.dumps(values).encode(), Content_Type="application/json")

    def refuse(self, status: int, code: str, **headers: str) -> None:
        self.reply(status, json.dumps({"error": code}).encode(), X_Error_Code=code, X_Error_Message=code, **headers)

    @property
    def is_ada(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {FakeHub.TOKEN}"

    def find(self, name: str) -> FakeRepository | None:
        found = self.hub.repositories.get(name)
        if found is None or (found.private and not self.is_ada):
            self.refuse(404 if self.is_ada else 401, "RepoNotFound")
            return None
        return found

    def do_HEAD(self) -> None:
        self.answer(b"")

    def do_GET(self) -> None:
        self.answer(b"")

    def do_PUT(self) -> None:
        self.answer(self.body())

    def do_POST(self) -> None:
        self.answer(self.body())

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, body: bytes) -> None:
        path = unquote(self.path.partition("?")[0])
        self.hub.requests.append(f"{self.command} {path}")
        for pattern, method in ROUTES:
            match = re.fullmatch(pattern, path)
            if match is not None:
                method(self, body, **match.groupdict())
                return
        self.refuse(404, "NoSuchAddress")

    def resolve(self, _: bytes, repository: str, revision: str, file: str) -> None:
        found = self.find(repository)
        if found is None:
            return
        files = found.files(revision)
        if files is None:
            self.refuse(404, "RevisionNotFound")
        elif file not in files:
            self.refuse(404, "EntryNotFound", X_Repo_Commit=str(found.find(revision)))
        else:
            content = files[file]
            etag = (hashlib.sha256 if len(content) > FakeHub.LARGE else hashlib.sha1)(content).hexdigest()
            commit, size = str(found.find(revision)), str(len(content))
            status, place = 200, {}
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
            if asked is not None:
                status, place = 206, {"Content_Range": f"bytes {asked[1]}-{asked[2]}/{size}"}
                content = content[int(asked[1]) : int(asked[2]) + 1]
            self.reply(status, content, ETag=f'"{etag}"', X_Repo_Commit=commit, X_Linked_Size=size, **place)

    def info(self, _: bytes, repository: str, revision: str = "main") -> None:
        found = self.find(repository)
        if found is None:
            return
        files = found.files(revision)
        if files is None:
            self.refuse(404, "RevisionNotFound")
            return
        siblings = [{"rfilename": name} for name in files]
        sha = found.find(revision)
        self.reply_json({"id": repository, "sha": sha, "private": found.private, "siblings": siblings, "tags": []})

    def tree(self, _: bytes, repository: str, revision: str, folder: str = "") -> None:
        found = self.find(repository)
        files = None if found is None else found.files(revision)
        if found is not None and files is None:
            self.refuse(404, "RevisionNotFound")
        elif files is not None:
            entries = [
                {"type": "file", "path": name, "size": len(one), "oid": hashlib.sha1(one).hexdigest()}
                for name, one in files.items()
                if name.startswith(folder)
            ]
            self.reply_json(entries)

    def create(self, body: bytes) -> None:
        settings = json.loads(body)
        name = f"{settings.get('organization') or 'ada'}/{settings['name']}"
        if not self.is_ada:
            self.refuse(401, "Unauthorized")
        elif name in self.hub.repositories:
            self.reply_json({"url": f"{self.hub.address}/{name}"}, 409)
        else:
            private = settings.get("visibility") == "private" or bool(settings.get("private"))
            self.hub.repositories[name] = FakeRepository(private)
            self.reply_json({"url": f"{self.hub.address}/{name}"})

    def branch(self, _: bytes, repository: str, branch: str) -> None:
        found = self.find(repository)
        if found is not None:
            exists = branch in found.branches
            found.branches.setdefault(branch, list(found.branches["main"]))
            self.reply_json({}, 409 if exists else 200)

    def validate(self, body: bytes) -> None:
        """As the hub does: the front matter must be YAML, and a licence one of its names."""
        yaml = pytest.importorskip("yaml")
        content = json.loads(body)["content"]
        try:
            metadata = yaml.safe_load(content.split("---\n")[1])
            wrong = [key for key in ("language", "tags") if not all(isinstance(v, str) for v in metadata.get(key, []))]
            problems = [f"{key} must be texts" for key in wrong]
        except (yaml.YAMLError, IndexError) as error:
            problems = [str(error)]
        self.reply_json({"errors": [{"message": one} for one in problems], "warnings": []}, 400 if problems else 200)

    def preupload(self, body: bytes, repository: str, revision: str) -> None:
        if self.find(repository) is None:
            return
        modes = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["size"] > FakeHub.LARGE else "regular",
                "shouldIgnore": False,
            }
            for file in json.loads(body)["files"]
        ]
        self.reply_json({"files": modes})

    def batch(self, body: bytes, repository: str) -> None:
        objects = [
            {**one, "actions": {"upload": {"href": f"{self.hub.address}/large/{one['oid']}"}}}
            for one in json.loads(body)["objects"]
        ]
        self.reply_json({"transfer": "basic", "objects": objects})

    def upload(self, body: bytes, oid: str) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.large[oid] = body
        self.reply(200)

    def commit(self, body: bytes, repository: str, revision: str) -> None:
        found = self.find(repository)
        if found is None:
            return
        if not self.is_ada:
            self.refuse(403, "Forbidden")
            return
        files: dict[str, bytes] = {}
        deleted: list[str] = []
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.large[value["oid"]]
            elif line["key"] == "deletedFile":
                deleted.append(value["path"])
        oid = found.commit(files, revision, deleted)
        self.reply_json(
            {"success": True, "commitOid": oid, "commitUrl": f"{self.hub.address}/{repository}/commit/{oid}"}
        )


NAMED = r"(?P<repository>[^/]+/[^/]+)"
ROUTES: list[tuple[str, Callable[..., None]]] = [
    (r"/api/repos/create", FakeHubHandler.create),
    (r"/api/validate-yaml", FakeHubHandler.validate),
    (rf"/api/models/{NAMED}", FakeHubHandler.info),
    (rf"/api/models/{NAMED}/revision/(?P<revision>[^/]+)", FakeHubHandler.info),
    (rf"/api/models/{NAMED}/tree/(?P<revision>[^/]+)/?(?P<folder>.*)", FakeHubHandler.tree),
    (rf"/api/models/{NAMED}/branch/(?P<branch>[^/]+)", FakeHubHandler.branch),
    (rf"/api/models/{NAMED}/preupload/(?P<revision>[^/]+)", FakeHubHandler.preupload),
    (rf"/api/models/{NAMED}/commit/(?P<revision>[^/]+)", FakeHubHandler.commit),
    (rf"/{NAMED}\.git/info/lfs/objects/batch", FakeHubHandler.batch),
    (r"/large/(?P<oid>\w+)", FakeHubHandler.upload),
    (rf"/{NAMED}/resolve/(?P<revision>[^/]+)/(?P<file>.+)", FakeHubHandler.resolve),
]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A fake hub on this machine, which huggingface_hub takes for the real one; its cache is empty."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs pip install 'firth[hub]'")
    state = FakeHub()
    listening = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (FakeHubHandler,), {"hub": state}))
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{listening.server_port}"
    values = {
        "ENDPOINT": state.address,
        "HUGGINGFACE_CO_URL_TEMPLATE": state.address + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(tmp_path / "hub-cache"),
        "HF_HUB_DISABLE_XET": True,
        "HF_TOKEN_PATH": str(tmp_path / "no-token"),
    }
    copies = [importlib.import_module(f"huggingface_hub.{name}") for name in ("file_download", "hf_api")]
    for name, value in values.items():  # older versions have copies of the constants
        for module in (constants, *(one for one in copies if name in vars(one))):
            monkeypatch.setattr(module, name, value, raising=False)
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    yield state
    listening.shutdown()
    thread.join()
    listening.server_close()
