"""The command line as a whole: mistakes in one line, and help."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

from firth.cli.main import COMMANDS, GROUPS, OPTION, build, main, remove_missing


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("neighbors", "no-such-file.bin", "tea"), "no-such-file.bin"),
        (("neighbors", "x"), "neighbors"),
        (("train", "counts", "no-such-corpus", "--out", "x"), "no such file, folder or pattern"),
        (("train", "counts", "-", "--out", "x", "--window", "0"), "window is 0, but must be at least 1"),
        (("train", "counts", "-", "--out", "x", "--windw", "3"), "--windw. Did you mean --window?"),
        (("train", "word2vec", "README.md", "--dimm", "50", "--out", "x"), "--dimm. Did you mean --dim?"),
        (("train", "word2vec", "README.md", "--dimm=50", "--out", "x"), "--dimm=50. Did you mean --dim?"),
        (("predict", "ner", "Hello", "--josn"), "--josn. Did you mean --json?"),
        (("score", "model.arpa", "strong tea", "--jsn"), "--jsn. Did you mean --json?"),
        (("info", "word2vec-en", "--jsn"), "--jsn. Did you mean --json?"),
        (("tokens", "-", "--out", "--json"), "--out needs a value, but the option --json follows it"),
        (("tokens", "-", "-x"), "Unknown option: -x"),
        (("neigbors", "x"), 'Unknown command "neigbors". Did you mean "neighbors"? Available commands: tour, '),
        (("train", "wordvec", "x"), 'Unknown command "wordvec". Did you mean "word2vec"? Available commands: counts, '),
        (("zzz",), 'Unknown command "zzz". Available commands: tour, '),
        (("task", "x\n y"), 'Unknown command "x y". Available commands: ner, srl, coref, '),
    ],
)
def test_a_mistake_is_one_line(mistake: Callable[..., str], arguments: tuple[str, ...], message: str) -> None:
    assert message in mistake(*arguments)


def test_a_mistyped_command_is_answered_without_importing_those_that_exist() -> None:
    line = "import sys, firth.cli.main as cli\ntry:\n    cli.main(['neigbors'])\nfinally:\n    print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert done.returncode == 2
    assert 'Did you mean "neighbors"?' in done.stderr
    assert {name for name in done.stdout.split() if name.startswith("firth.cli.")} == {"firth.cli.main"}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in GROUPS])
def test_every_command_teaches_by_example(capsys: pytest.CaptureFixture[str], name: str) -> None:
    main([name, "--help"])
    shown = capsys.readouterr().out
    assert f"firth {name}" in shown.split("For example:")[1]
    assert "--json" in shown


def test_the_list_of_commands_describes_each_in_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    main(["--help"])
    shown = capsys.readouterr().out
    titles = ["Start", "Text", "Train", "Ask", "Tasks", "Evaluate", "Models", "Options"]
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("╭")] == titles
    lines = [line.strip("│ ").split(maxsplit=1) for line in shown.splitlines()]
    described = {words[0]: words[1] for words in lines if len(words) == 2}
    assert all(described[name].endswith((".", "?")) for name in COMMANDS)


def test_completion_is_installed_by_one_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    main(["--install-completion", "--shell", "bash"])
    assert "Completion script installed" in capsys.readouterr().out
    [script] = [path for path in tmp_path.rglob("firth") if path.is_file()]
    text = script.read_text()
    assert all(name in text for name in COMMANDS)
    assert "--fold-case" in text
    assert complete(script, "firth nei") == ["neighbors"]
    assert complete(script, "firth train word2vec --arch") == ["--architecture"]
    assert complete(script, "firth train word2vec --architecture s") == ["skip-gram"]


def test_completion_leaves_out_commands_whose_extra_is_missing() -> None:
    app, group = App(), App(name="group")
    group.command("no_such_package.one:run", name="one")
    group.command("firth.cli.words:vector", name="two")
    app.command(group)
    app.command("no_such_package.three:run", name="three")
    assert remove_missing(app) == ["group one", "three"]
    assert "three" not in list(app)
    assert [name for name in app["group"] if name[0] != "-"] == ["two"]


def complete(script: Path, line: str) -> list[str]:
    """What bash suggests for the last word of a line."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    words = shlex.split(line)
    press_tab = (
        f"source {shlex.quote(str(script))}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
        f"COMP_LINE={shlex.quote(line)}; COMP_POINT={len(line)}; _firth firth {words[-1]} {words[-2]}; "
        'printf "%s\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run([bash, "--norc", "-c", press_tab], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_name_of_a_task_is_the_name_of_its_model(answer: Callable[..., Any], mistake: Callable[..., str]) -> None:
    assert "named entity recognition" in answer("card", "ner")["card"]
    for arguments in (("predict", "nerr", "Hello"), ("card", "nerr"), ("info", "nerr")):
        assert "Did you mean 'ner'?" in mistake(*arguments)
    assert 'Did you mean "neighbors"?' in mistake("neigbors", "word2vec-en", "tea")


@pytest.mark.parametrize("text", ["--json", "-x", "--no such option"])
def test_what_follows_two_hyphens_is_text(
    answer: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    model = str(tmp_path / "model.arpa")
    (tmp_path / "text.txt").write_text("strong tea\n" * 9)
    main(["train", "ngram", str(tmp_path / "text.txt"), "--order", "2", "--out", model])
    capsys.readouterr()
    main(["score", model, "--tokens", "whitespace", "--json", "--", text])
    assert json.loads(capsys.readouterr().out)["words"] == text.split()


@pytest.mark.parametrize("text", ["-5", "- Yes, she said.", "-"])
def test_a_number_and_a_text_with_a_minus_sign_are_values(text: str) -> None:
    assert OPTION.fullmatch(text) is None


def test_a_binary_file_in_a_folder_is_skipped_with_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 binary")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "c.txt").write_text("strong tea\n")
    main(["tokens", str(tmp_path)])
    shown = capsys.readouterr()
    assert shown.out == "strong tea\n"
    assert [line.split("/")[-1] for line in shown.err.splitlines()] == [
        "a.pdf: is skipped, because it is not text",
        "b.png: is skipped, because it is not text",
    ]


def test_errors_name_flags_and_not_arguments_of_python(
    mistake: Callable[..., str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = tmp_path / "menu.txt"
    text.write_bytes(b"caf\xe9\n" * 30)
    assert "Use --errors replace" in mistake("vocab", str(text))
    labeled = ("train", "classifier", str(text), "--errors", "replace", "--tokens", "running", "--out", "x.bin")
    assert "Tokenizer(" not in mistake(*labeled)
    assert "format=" not in mistake("train", "word2vec", str(text), "--out", str(tmp_path / "a.doc"))
    text.write_text("strong tea and coffee\n" * 30)
    common = ("train", "word2vec", str(text), "--min-count", "1", "--epochs", "1", "--out", str(tmp_path / "out"))
    main([*common, "--dim", "4", "--checkpoint", str(tmp_path / "state")])
    capsys.readouterr()
    message = mistake(*common, "--dim", "6", "--checkpoint", str(tmp_path / "state"))
    assert "delete this one to start again" in message


@pytest.mark.parametrize("flag", ["--top", "--topn", "-n"])
def test_top_is_the_number_of_results_everywhere(answer: Callable[..., Any], vectors: str, flag: str) -> None:
    assert len(answer("neighbors", vectors, "tea", flag, "1")[0]["neighbors"]) == 1


def test_old_names_of_options_keep_working(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    names = {("generate",): ["--top", "--count"], ("task", "ner"): ["--language", "--letters"]}
    names[("convert",)] = ["--precision", "--dtype"]
    for command, flags in names.items():
        main([*command, "--help"])
        shown = capsys.readouterr().out
        assert all(flag in shown for flag in flags)


def run_shell(command: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHON": sys.executable, **variables}
    return subprocess.run(["sh", "-c", command], env=environment, capture_output=True, stdin=subprocess.DEVNULL)


def test_closed_streams_do_not_stop_a_command() -> None:
    assert run_shell('"$PYTHON" -m firth models >&-').returncode == 0
    assert run_shell('"$PYTHON" -m firth models <&- >&- 2>&-').returncode == 0
    assert run_shell('"$PYTHON" -m firth models --nonsense >&-').returncode == 2


def test_characters_that_the_terminal_does_not_have_are_escaped() -> None:
    run = run_shell('"$PYTHON" -m firth neighbors fasttext-fa کتاب --top 1', PYTHONIOENCODING="ascii")
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.startswith("کتاب\t".encode("ascii", "backslashreplace"))


def test_the_name_of_an_output_need_not_be_utf_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("strong tea and strong coffee\n" * 20)
    out = os.fsdecode(bytes(tmp_path) + b"/caf\xe9")
    main(
        [
            "train",
            "word2vec",
            str(tmp_path / "text.txt"),
            "--dim",
            "4",
            "--min-count",
            "1",
            "--subsample",
            "0",
            "--out",
            out,
        ]
    )
    assert "caf\\udce9" in Path(out, "README.md").read_text(encoding="utf-8")


def flags(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str]]]:
    """(command, names of a flag, the first of which the help shows) for every flag of every command."""
    commands = [name for name in app if not name.startswith("-")]
    for name in commands:
        yield from flags(app[name], (*path, name))
    if not commands:
        for argument in app.assemble_argument_collection():
            names = [name for name in argument.names if name.startswith("--")]
            if names:
                yield " ".join(path), names


OLD_NAMES = {"--topn": "--top", "--count": "--top", "--letters": "--language"}


def test_one_thing_has_one_name_in_all_commands() -> None:
    """Old names are accepted, and only there. `embed` and `index` compute with --precision and store as --dtype."""
    pytest.importorskip("torch")
    every = list(flags(build([])))
    assert [(command, names) for command, names in every if names[0] in OLD_NAMES] == []
    assert all(names[0] == OLD_NAMES[old] for _, names in every for old in names if old in OLD_NAMES)
    accepted = {(command, name) for command, names in every for name in names[1:]}
    for command, old in (("neighbors", "--topn"), ("analogy", "--topn"), ("generate", "--count")):
        assert (command, old) in accepted
    assert {("task ner", "--letters"), ("convert", "--dtype")} <= accepted
    both = {command for command, names in every if names[0] == "--dtype"}
    assert both == {command for command, names in every if names[0] == "--precision"} & both == {"embed", "index"}


def test_control_c_at_the_end_of_a_kernel_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python then raises a SystemError because of the KeyboardInterrupt: the kernel returned a result with it."""

    def run_kernel(_: Any) -> None:
        try:
            raise SystemError("a function inside returned a result with an exception set") from KeyboardInterrupt()
        except SystemError as inside:
            raise SystemError("returned a result with an exception set") from inside

    monkeypatch.setattr("firth.cli.main.run", run_kernel)
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "firth: interrupted\n"
