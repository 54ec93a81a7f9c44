"""A real Ray cluster of two nodes on loopback: the artifacts of one machine, lost nodes, killed drivers, errors."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.cli.main import main
from firth.errors import ClusterError, FormatError
from firth.runtime import Runtime

LOOPBACK = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # nodes bind to loopback only
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",  # no task is killed because other programs fill the memory
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_health_check_period_ms": "500",  # a lost node is noticed sooner than by default
}
for name, value in LOOPBACK.items():
    os.environ.setdefault(name, value)  # Ray reads them when it is imported
ray = pytest.importorskip("ray", reason="the extra ray is not installed")
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}

pytestmark = pytest.mark.xdist_group("ray")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args=NODE)
    nodes.add_node(**NODE, num_gpus=1)  # Ray believes it; only the place of tasks depends on it
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def site(text: Path) -> Iterator[str]:
    """The address of a web server on loopback that has the text."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(text)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def cluster(nodes: Any) -> Any:
    from firth.distributed.cluster import connect

    return connect(nodes.address, threads=1)


class TestCluster:
    @pytest.mark.usefixtures("small_tasks")
    def test_artifacts_are_those_of_one_machine(self, cluster: Any, text: Path, assert_equal: Any) -> None:
        assert cluster.workers == 2
        for recipe in (firth.Counts(window=3), firth.Ngram(order=3), firth.Phrases(threshold=1, delta=1)):
            alone = recipe.fit(firth.Corpus(text), runtime=Runtime(1))
            assert_equal(alone, recipe.fit(firth.Corpus(text), runtime=cluster))

    def test_an_error_of_a_worker_is_that_of_one_machine(self, cluster: Any, text: Path) -> None:
        with open(text / "a.txt", "ab") as file:
            file.write(b"broken \xff here\n")
        with pytest.raises(FormatError, match=r"a.txt: byte \d+: 0xff is not UTF-8"):
            firth.Corpus(text).tokens(runtime=cluster)

    def test_a_bug_keeps_its_traceback(self, cluster: Any) -> None:
        with pytest.raises(ZeroDivisionError):
            list(cluster.scatter(divmod, [1, 0], shared=7))

    def test_vectors(self, cluster: Any, text: Path) -> None:
        recipe = firth.Word2Vec(dim=4, epochs=1, min_count=1)
        vectors = recipe.fit(firth.Corpus(text), runtime=cluster)
        assert vectors.metadata["averaging"]["workers"] == 2
        np.testing.assert_array_equal(vectors.matrix, recipe.fit(firth.Corpus(text), runtime=cluster).matrix)

    @pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
    def test_embedding(self, cluster: Any, text: Path, tmp_path: Path) -> None:
        options: dict[str, Any] = {"block_tokens": 500, "format": "safetensors"}
        firth.embed_file("svd-en", text / "a.txt", tmp_path / "alone.safetensors", **options)
        report = firth.embed_file("svd-en", text / "a.txt", tmp_path / "both.safetensors", runtime=cluster, **options)
        assert report.sentences == 700
        for path in (tmp_path / "alone.safetensors").iterdir():
            assert path.read_bytes() == (tmp_path / "both.safetensors" / path.name).read_bytes(), path.name

    def test_results_come_as_they_are_finished(self, cluster: Any) -> None:
        assert list(cluster.scatter(wait, [1.5, 0.0], in_order=False)) == [0.0, 1.5]
        assert list(cluster.scatter(wait, [0.3, 0.0])) == [0.3, 0.0]

    @pytest.mark.usefixtures("small_tasks")
    def test_all_workers_move_one_bar(self, cluster: Any, text: Path) -> None:
        reports: list[Any] = []
        threads = set()

        def report(now: Any) -> None:
            reports.append(now)
            threads.add(threading.get_ident())

        firth.Ngram(order=3).fit(firth.Corpus(text), runtime=cluster, report=report)
        assert threads == {threading.get_ident()}
        steps = {now.step: [one for one in reports if one.step == now.step] for now in reports}
        assert {"counting 2-grams", "counting 3-grams"} <= steps.keys()
        for parts in steps.values():
            done = [one.done for one in parts]
            assert done == sorted(done)
            assert {one.total for one in parts} == {done[-1]}
        assert len(steps["counting 3-grams"]) > 2

    def test_no_node_is_idle_after_short_tasks(self, cluster: Any) -> None:
        for _ in range(3):  # by Ray's default strategy, one node of two stands idle for seconds, most times
            list(cluster.scatter(name_node, [0.0] * 50))
            assert len(set(cluster.scatter(name_node, [0.4] * 6))) == 2

    def test_tasks_for_gpus_run_where_there_is_one_and_the_driver_needs_none(self, nodes: Any) -> None:
        from firth.distributed.cluster import connect

        cluster = connect(nodes.address, threads=1, device="cuda")
        assert cluster.workers == 1
        assert list(cluster.scatter(visible_gpus, range(3))) == ["0"] * 3

    def test_finished_tasks_are_kept(self, nodes: Any, tmp_path: Path) -> None:
        from firth.distributed.cluster import connect

        cluster = connect(nodes.address, threads=1, folder=tmp_path / "tasks")
        marks = tmp_path / "marks"
        marks.mkdir()
        items = [(str(marks), number) for number in range(6)]
        first = list(cluster.scatter(mark, items, stage="a"))
        assert [one["number"].tolist() for one in first] == [[number] for number in range(6)]
        for path in marks.iterdir():
            path.unlink()
        assert [one["number"].tolist() for one in cluster.scatter(mark, items, stage="a")] == [
            [number] for number in range(6)
        ]
        assert list(marks.iterdir()) == []  # nothing was computed again
        list(cluster.scatter(mark, items, stage="b"))
        assert len(list(marks.iterdir())) == 6
        cluster.forget_results()
        assert list((tmp_path / "tasks").iterdir()) == []

    @pytest.mark.usefixtures("cluster")
    def test_messages_of_nodes_are_not_printed(self, capfd: pytest.CaptureFixture[str]) -> None:
        """As when a worker is killed for lack of memory: Ray would print 50 lines on standard output."""
        ray._private.worker.print_to_stdstream({"lines": ["oom"], "pid": "raylet", "is_err": False}, False)
        assert capfd.readouterr().out == ""
        assert int(os.environ["RAY_task_oom_retries"]) > 0  # noqa: SIM112 (Ray would repeat the task forever)

    def test_nothing_listens_beyond_loopback(self, nodes: Any) -> None:
        port = int(nodes.address.rpartition(":")[2])
        assert nodes.address.startswith("127.0.0.1")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing: it only chooses the interface
            except OSError:
                pytest.skip("this machine has no address but loopback")
            outside = probe.getsockname()[0]
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((outside, port), timeout=2)

    def test_a_text_at_an_address_is_read_by_the_workers(
        self, cluster: Any, text: Path, site: str, assert_equal: Any
    ) -> None:
        pytest.importorskip("aiohttp")
        recipe, names = firth.Ngram(order=2), ("a.txt", "b.txt.gz", "d.txt")
        alone = recipe.fit(firth.Corpus([text / name for name in names]), runtime=Runtime(1))
        addresses = [f"{site}/{name}" for name in names]
        assert_equal(alone, recipe.fit(firth.Corpus(addresses), runtime=cluster))

    @pytest.mark.parametrize(
        "customize, message",
        [
            (
                "import importlib.metadata as m; old = m.version\n"
                "m.version = lambda name: '9.9' if name == 'firth' else old(name)",
                r"node .*: firth 9\.9 is installed there, but .* here\. Install the same version on all nodes",
            ),
            (
                "import sys\n"
                "class Without:\n"
                "    def find_spec(self, name, path=None, target=None):\n"
                "        if name == 'firth': raise ModuleNotFoundError(\"No module named 'firth'\")\n"
                "sys.meta_path.insert(0, Without())",
                r"node .*: has no firth\. Install it there: pip install 'firth\[ray\]'",
            ),
        ],
        ids=["another version", "no firth"],
    )
    def test_nodes_that_differ_are_refused(self, nodes: Any, tmp_path: Path, customize: str, message: str) -> None:
        from firth.distributed.cluster import connect

        connect(nodes.address, threads=1)
        tmp_path.joinpath("sitecustomize.py").write_text(customize)
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        node = nodes.add_node(**NODE, env_vars={"PYTHONPATH": path})
        try:
            with pytest.raises(ClusterError, match=message):
                connect(nodes.address, threads=1)
        finally:
            nodes.remove_node(node)

    @pytest.mark.usefixtures("nodes")
    def test_local_processes_beside_a_cluster_of_this_machine(
        self, text: Path, tmp_path: Path, assert_equal: Any
    ) -> None:
        arguments = ["train", "counts", str(text / "a.txt"), "--min-count", "1"]
        out = str(tmp_path / "model")
        found = run_firth(*arguments, "--out", out, "--cluster", "local", "--threads", "1", "--json")
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)["out"] == out  # nothing of Ray is on standard output
        assert "ray" not in found.stderr.lower()
        alone = firth.Counts(min_count=1).fit(firth.Corpus(text / "a.txt"), runtime=Runtime(1))
        assert_equal(alone, firth.load(out))

    @pytest.mark.usefixtures("small_tasks")
    def test_a_killed_driver_resumes(self, nodes: Any, text: Path, tmp_path: Path, assert_equal: Any) -> None:
        from firth.distributed.cluster import connect

        folder = tmp_path / "tasks"
        command = [sys.executable, "-c", DRIVER, nodes.address, str(text), str(folder)]
        killed = subprocess.run(command, capture_output=True, timeout=300, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
        kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")}
        assert len(kept) > 10
        again = firth.Ngram(order=3).fit(firth.Corpus(text), runtime=connect(nodes.address, threads=1, folder=folder))
        assert {path: path.stat().st_mtime_ns for path in kept} == kept  # no finished task ran again
        assert_equal(firth.Ngram(order=3).fit(firth.Corpus(text), runtime=Runtime(1)), again)

    @pytest.mark.usefixtures("small_tasks")
    def test_a_lost_node_loses_and_doubles_nothing(
        self, nodes: Any, cluster: Any, text: Path, assert_equal: Any
    ) -> None:
        """The last test of this cluster: one of its nodes is killed in the middle, and is no part of it any more."""
        from firth.distributed.cluster import connect

        extra = nodes.add_node(**NODE)
        expected = firth.Ngram(order=3).fit(firth.Corpus(text), runtime=Runtime(1))
        killed = False

        def kill(progress: Any) -> None:
            nonlocal killed
            if progress.step == "counting 2-grams" and not killed:
                killed = True
                nodes.remove_node(extra, allow_graceful=False)
                assert connect(nodes.address, threads=1).workers == 2

        model = firth.Ngram(order=3).fit(firth.Corpus(text), runtime=cluster, report=kill)
        assert killed
        assert_equal(expected, model)


DRIVER = """
import os, signal, sys
import firth
from firth.distributed.cluster import connect
from firth.models import ngram_counts
from firth.text import corpus

def watch(progress):
    if progress.step == "counting 3-grams":
        os.kill(os.getpid(), signal.SIGKILL)

corpus.SHARD, ngram_counts.CHUNK = 2000, 900
address, text, folder = sys.argv[1:]
firth.Ngram(order=3).fit(firth.Corpus(text), runtime=connect(address, threads=1, folder=folder), report=watch)
"""


def wait(_: Any, seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def name_node(_: Any, seconds: float) -> str:
    time.sleep(seconds)
    return str(ray.get_runtime_context().get_node_id())


def visible_gpus(_: Any, number: int) -> str:
    return os.environ.get("CUDA_VISIBLE_DEVICES", "")


def mark(_: Any, item: tuple[str, int]) -> dict[str, np.ndarray]:
    """Leaves a file, so that a test sees which tasks ran."""
    Path(item[0], str(item[1])).touch()
    return {"number": np.array([item[1]])}


def run_firth(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "firth", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300, check=False
    )


class TestErrors:
    @pytest.mark.parametrize(
        "address, message",
        [
            ("127.0.0.1:1", "127.0.0.1:1: no Ray cluster answers there"),
            ("nowhere", "'nowhere': is no address of a cluster. Use host:port, auto or local"),
            ("host:99999", "'host:99999': is no address of a cluster"),
        ],
    )
    def test_no_cluster(self, address: str, message: str) -> None:
        from firth.distributed.cluster import _start

        with pytest.raises(ClusterError) as caught:
            _start(ray, address, 1)
        assert str(caught.value).startswith(message)

    def test_a_server_that_is_no_cluster_is_refused_at_once(self, site: str) -> None:
        from firth.distributed.cluster import _start

        clock = time.monotonic()
        with pytest.raises(ClusterError, match=r"127.0.0.1:\d+: what answers there is no Ray cluster\. Check"):
            _start(ray, site.removeprefix("http://"), 1)
        assert time.monotonic() - clock < 120  # Ray would try for three minutes

    def test_a_cluster_of_other_versions(self) -> None:
        from ray._private.utils import check_version_info

        from firth.distributed.cluster import _explain_start

        with pytest.raises(RuntimeError) as caught:
            check_version_info({"ray_version": "1.0", "python_version": "3.1.4"}, "node a")
        told = str(_explain_start("auto", caught.value, io.BytesIO()))
        assert told.startswith("auto: the cluster has Ray 1.0 and Python 3.1.4, but ")
        assert told.endswith("are installed here. Install the same versions on all nodes")

    @pytest.mark.parametrize(
        "error, written, told",
        [
            (
                ConnectionError("Failed to connect"),
                b"gcs_client.cc:210: Unauthenticated: RPC error: InvalidAuthToken",
                "a:1: the cluster asks for a token that this machine does not have. Copy ~/.ray/auth_token from its "
                "head node, and set RAY_AUTH_MODE=token",
            ),
            (
                ConnectionError("Failed to\nconnect"),
                b"",
                "a:1: no Ray cluster can be used there (Failed to connect). Check the address, and `ray status` on the "
                "head node",
            ),
        ],
        ids=["token", "other"],
    )
    def test_what_ray_writes_is_told_in_one_line(self, error: Exception, written: bytes, told: str) -> None:
        from firth.distributed.cluster import _explain_start

        assert str(_explain_start("a:1", error, io.BytesIO(written))) == told

    def test_a_cluster_whose_token_is_missing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Ray raises an error of its own class, which is not that of a failed connection."""
        from firth.distributed.cluster import _start, import_ray

        class Rayless:
            exceptions = import_ray().exceptions

            def init(self, **options: Any) -> None:
                os.write(2, b"a warning of C++\n")
                raise self.exceptions.AuthenticationError("no token")

        with pytest.raises(ClusterError, match="auto: the cluster asks for a token"):
            _start(Rayless(), "auto", 1)
        assert capfd.readouterr().err == ""
        os.write(2, b"later")
        assert capfd.readouterr().err == "later"

    def test_command_line(self, text: Path, tmp_path: Path) -> None:
        found = run_firth("train", "counts", str(text), "--out", str(tmp_path / "m"), "--cluster", "127.0.0.1:1")
        assert found.returncode == 2
        assert found.stderr.count("\n") == 1
        assert "no Ray cluster answers there" in found.stderr

    @pytest.mark.parametrize(
        "arguments, told",
        [
            (["counts", "--workers", "2"], "--workers is for a cluster. Name it with --cluster"),
            (["counts", "--cluster-folder", "f"], "--cluster-folder is for a cluster. Name it with --cluster"),
            (["counts", "--cluster", "auto", "--workers", "0"], "--workers is 0, but must be at least 1"),
            (["word2vec", "--cluster", "auto", "--average-every", "0"], "--average-every is 0, but must be at least 1"),
            (["elmo", "--cluster", "local"], "--cluster"),
        ],
        ids=" ".join,
    )
    def test_options(
        self, text: Path, tmp_path: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit, match="2"):
            main(["train", *arguments, str(text), "--out", str(tmp_path / "m")])
        assert told in capsys.readouterr().err
