"""What may go wrong in a long training: it ends in one clear line or goes on from a checkpoint, never in a broken file.

The commands run as a person would type them; for signals in a process of their own.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import firth
from firth.cli.main import main
from firth.errors import Diverged, OptionError
from firth.models.classifier import FastTextClassifier
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.phrases import Phrases
from firth.models.word2vec import Word2Vec
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

ONE = Runtime(1)
PLAIN = Tokenizer(mode="whitespace")
FLAGS = {
    "word2vec": {"--dim": "12", "--min-count": "1"},
    "fasttext": {"--dim": "12", "--min-count": "1", "--buckets": "500"},
    "glove": {"--dim": "12", "--min-count": "1", "--epochs": "3"},
    "classifier": {"--dim": "12", "--buckets": "500", "--word-ngrams": "2"},
    "phrases": {"--threshold": "1", "--delta": "1"},
}
TRAINED = ["word2vec", "fasttext", "glove", "classifier"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a folder of its own, also for what is laid aside while text is read."""
    (tmp_path / "aside").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "aside"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_text(sentences: int = 300, path: str = "text.txt") -> str:
    """Labeled lines of a few words, which are a text for every recipe."""
    rng = np.random.default_rng(0)
    kinds = [[f"{kind}{i}" for i in range(20)] for kind in ("tea", "rain")]
    lines = (f"__label__{i % 2} " + " ".join(rng.choice(kinds[i % 2], 7)) for i in range(sentences))
    Path(path).write_text("\n".join(lines) + "\n")
    return path


def command(name: str, text: str, *more: str, out: str = "model") -> list[str]:
    """A training as typed; a flag that is given goes before the same one in FLAGS."""
    usual = {flag: value for flag, value in FLAGS[name].items() if flag not in more}
    flags = [part for pair in usual.items() for part in pair]
    return ["train", name, text, *flags, "--tokens", "whitespace", "--threads", "1", "--out", out, *more]


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a command fails with; nothing was written beside what was there."""
    before = sorted(os.listdir())
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    code = stop.value.code
    del stop  # it holds the corpus, and with it the text that was laid aside
    gc.collect()
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.count("\n") == 1
    assert sorted(os.listdir()) == before
    assert os.listdir("aside") == []
    return captured.err


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("content", ["", " \n\n\t\n"])
def test_an_empty_corpus_is_told(name, content, capsys: pytest.CaptureFixture[str]):
    Path("empty.txt").write_text(content)
    assert "the corpus holds no words" in mistake(capsys, *command(name, "empty.txt"))


@pytest.mark.parametrize("recipe", [Word2Vec(), FastText(), Glove(), FastTextClassifier(), Phrases()])
def test_an_empty_corpus_is_an_error_of_the_options_in_python(recipe):
    with pytest.raises(OptionError, match="the corpus holds no words"):
        recipe.fit(Corpus.of([], tokenizer=PLAIN), runtime=ONE)


@pytest.mark.parametrize("name", TRAINED)
def test_one_distinct_word_is_told(name, capsys: pytest.CaptureFixture[str]):
    Path("one.txt").write_text("__label__tea __label__tea\n" * 20)
    assert "only " in mistake(capsys, *command(name, "one.txt"))


def test_one_distinct_word_has_no_phrases(capsys: pytest.CaptureFixture[str]):
    Path("one.txt").write_text("tea tea tea\n" * 20)
    main([*command("phrases", "one.txt", "--threshold", "2")])
    assert firth.load("model").apply(["tea", "tea"]) == ["tea", "tea"]


@pytest.mark.parametrize("name", TRAINED)
def test_a_min_count_that_leaves_nothing_is_told(name, capsys: pytest.CaptureFixture[str]):
    assert "Lower min_count (5000)" in mistake(capsys, *command(name, write_text(), "--min-count", "5000"))


@pytest.mark.parametrize("name", TRAINED)
def test_a_learning_rate_of_100_is_told_and_keeps_nothing(name, capsys: pytest.CaptureFixture[str]):
    flags = ["--learning-rate", "100", "--epochs", "10"]
    assert "Use a learning rate below 100" in mistake(capsys, *command(name, write_text(2000), *flags))


@pytest.mark.parametrize("recipe", [Word2Vec, FastText, FastTextClassifier])
def test_a_checkpoint_is_never_of_a_training_that_ran_away(recipe):
    corpus = Corpus(write_text(20_000), tokenizer=PLAIN)
    with pytest.raises(Diverged):
        recipe(dim=8, min_count=1, learning_rate=100, epochs=10, **({} if recipe is Word2Vec else {"buckets": 10})).fit(
            corpus, runtime=ONE, checkpoint="state"
        )
    assert not Path("state").exists()


def contents(path: str) -> dict[str, bytes]:
    """The bytes of a file, or of all files of a folder."""
    files = [Path(path)] if Path(path).is_file() else sorted(Path(path).rglob("*"))
    return {str(file): file.read_bytes() for file in files}


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow beyond a size: to a program that writes, this is a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("out", ["model", "model.bin"])
def test_a_disk_that_is_full_when_the_model_is_saved_leaves_the_old_model(
    name, out, capsys: pytest.CaptureFixture[str]
):
    if (name, out) == ("phrases", "model.bin"):
        pytest.skip("phrases have a folder only")
    train = command(name, write_text(40), "--cache", "kept", out=out)  # so that only the model is written again
    for _ in range(2):  # the second one reads what is kept, which compiles some kernels anew
        main(train)
    capsys.readouterr()
    old = contents(out)
    with largest_file(500):
        said = mistake(capsys, *train)
    assert out in said
    assert "File too large" in said
    assert contents(out) == old


@pytest.mark.parametrize("name", FLAGS)
def test_a_disk_that_is_full_while_text_is_read_is_told(name, capsys: pytest.CaptureFixture[str]):
    text = write_text()
    with largest_file(2000):
        assert "corpus.tokens: File too large" in mistake(capsys, *command(name, text))


def test_a_disk_that_is_full_of_counts_is_told(capsys: pytest.CaptureFixture[str]):
    Path("spill").mkdir()
    flags = ["--cache", "kept", "--spill-folder", "spill", "--memory-limit", "3 kB"]
    train = command("glove", write_text(500), *flags)
    for _ in range(2):
        main(train)
    capsys.readouterr()
    with largest_file(500):
        assert "spill/firth-counts-" in mistake(capsys, *train)
    assert os.listdir("spill") == []


def test_a_disk_that_is_full_of_pairs_is_told():
    counts = csr_matrix(np.ones((30, 30)))
    words = Vocabulary([f"w{i}" for i in range(30)])
    recipe = Glove(dim=4, epochs=1, memory_limit="10 kB")
    recipe.fit_counts(counts, words, runtime=ONE)
    with largest_file(7000), pytest.raises(OSError, match=r"File too large: '.*/firth-glove-.*/uint32'"):
        recipe.fit_counts(counts, words, runtime=ONE)
    assert os.listdir("aside") == []


@pytest.mark.parametrize("name", TRAINED)
def test_a_disk_that_is_full_at_a_checkpoint_leaves_the_one_before(name, capsys: pytest.CaptureFixture[str]):
    text = write_text(40)
    for _ in range(2):
        main(command(name, text, "--checkpoint", "state", "--cache", "kept"))
    capsys.readouterr()
    (whole,) = Path("state").glob("state-*.safetensors")
    before = whole.read_bytes()
    with largest_file(500):
        more = ["--checkpoint", "other", "--cache", "kept"]
        with pytest.raises(SystemExit):
            main(command(name, text, *more))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "the checkpoint could not be written" in said
    assert not Path("other").exists()
    assert whole.read_bytes() == before


@pytest.mark.parametrize("recipe", [Word2Vec(dim=8, min_count=1), FastText(dim=8, min_count=1, buckets=100)])
def test_a_text_that_is_deleted_in_mid_run_is_not_missed(recipe):
    text = Path(write_text())
    whole = recipe.fit(Corpus(text, tokenizer=PLAIN), runtime=ONE)

    def delete(progress: Progress) -> None:
        if progress.step == "training":
            text.unlink(missing_ok=True)

    again = recipe.fit(Corpus(text, tokenizer=PLAIN), runtime=ONE, report=delete)
    assert not text.exists()
    assert again.matrix.tobytes() == whole.matrix.tobytes()


def test_a_file_that_vanishes_before_it_is_read_is_told(capsys: pytest.CaptureFixture[str]):
    Path("texts").mkdir()
    for name in ("a", "b"):
        write_text(path=f"texts/{name}.txt")
    corpus = Corpus("texts", tokenizer=PLAIN)
    Path("texts/b.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.txt"):
        Word2Vec().fit(corpus, runtime=ONE)
    assert os.listdir("aside") == []


# A process of its own: tells on standard output how far it is, and waits a little in every
# step from an epoch on, so that it is still there when a signal comes.
DRIVER = """
import sys, time
from contextlib import contextmanager
from firth.cli.main import main
from firth.show import terminal

wanted = int(sys.argv[1])

@contextmanager
def report_steps(shown=True):
    def report(now):
        print(now.step, now.values.get("epoch", 0), flush=True)
        if now.step == "training" and now.values["epoch"] >= wanted:
            time.sleep(0.5)

    yield report

terminal.progress = report_steps
main(sys.argv[2:])
"""


def keep(name: str) -> list[str]:
    """The flags for a checkpoint after each step. GloVe has one after each epoch."""
    return ["--checkpoint", "state", *([] if name == "glove" else ["--checkpoint-seconds", "0"])]


def heed_control_c() -> None:
    """A shell that starts tests in the background makes them deaf to Control-C, and what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def begin(arguments: list[str], epoch: int = 1) -> subprocess.Popen[str]:
    """A training in a process of its own that has come to an epoch."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(epoch), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_control_c,
    )
    assert process.stdout is not None
    for line in process.stdout:
        step, at = line.split()[:2]
        if step == "training" and float(at) >= epoch:
            return process
    raise AssertionError(f"it ended before epoch {epoch}: {process.communicate()[1]}")


@pytest.mark.parametrize("name", TRAINED)
def test_control_c_ends_in_one_line_without_a_model(name):
    process = begin(command(name, write_text(), "--epochs", "20"))
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert (process.returncode, error) == (130, "firth: interrupted\n")
    assert sorted(os.listdir()) == ["aside", "text.txt"]
    assert os.listdir("aside") == []


def load_matrix(path: str) -> bytes:
    return firth.load(path).matrix.tobytes()


@pytest.mark.parametrize("name", TRAINED)
def test_control_c_with_a_checkpoint_goes_on_to_the_same_bits(name, capsys: pytest.CaptureFixture[str]):
    text = write_text(8000)
    train = command(name, text, "--epochs", "6")
    kept = [*train, *keep(name)]
    process = begin(kept, epoch=2)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert error == "firth: interrupted: the progress is saved in state; run the same command again to continue\n"
    assert not Path("model").exists()
    state = json.loads(Path("state/config.json").read_text())
    assert state["state"]["step"] > 0
    main(kept)
    resumed = load_matrix("model")
    main(command(name, text, "--epochs", "6", out="whole"))
    assert resumed == load_matrix("whole")
    assert firth.load("model").metadata["loss"] == firth.load("whole").metadata["loss"]


@pytest.mark.parametrize("name", ["word2vec", "glove"])
def test_a_training_that_is_killed_again_and_again_goes_on_to_the_same_bits(name):
    text = write_text(8000)
    for epoch in (2, 3, 5):
        process = begin([*command(name, text, "--epochs", "6"), *keep(name)], epoch=epoch)
        process.kill()
        process.communicate(timeout=60)
        assert not Path("model").exists()
        assert (Path("state") / json.loads(Path("state/config.json").read_text())["arrays"]).exists()
    main([*command(name, text, "--epochs", "6"), *keep(name)])
    main(command(name, text, "--epochs", "6", out="whole"))
    assert load_matrix("model") == load_matrix("whole")
    assert not list(Path("state").glob(".*"))


def test_a_kill_in_the_middle_of_saving_leaves_nothing_under_the_name():
    code = """
import os, signal, sys
from firth.formats import native
native.safetensors.write = lambda arrays, path: (open(path, "wb").write(b"half"), os.kill(os.getpid(), signal.SIGKILL))
from firth.cli.main import main
main(sys.argv[1:])
"""
    arguments = command("word2vec", write_text())
    ended = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not Path("model").exists()
    main(arguments)
    assert len(firth.load("model")) == 42
