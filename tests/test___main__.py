"""`python -m firth`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import firth


def test_python_m_firth_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "firth", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == firth.__version__


def test_control_c_during_the_imports_is_one_line() -> None:
    code = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "cyclopts":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from firth.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "firth: interrupted\n")


def test_python_m_firth_is_the_installed_command() -> None:
    command = shutil.which("firth", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("the command is not installed beside this Python")
    for arguments in (["--help"], ["no-such-command"]):
        runs = [
            subprocess.run([*start, *arguments], capture_output=True, text=True)
            for start in ([command], [sys.executable, "-m", "firth"])
        ]
        assert runs[0].returncode == runs[1].returncode
        assert runs[0].stdout == runs[1].stdout
        assert runs[0].stderr == runs[1].stderr


def test_completion_is_one_command(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    environment = {**os.environ, "HOME": str(tmp_path), "SHELL": bash}
    install = [sys.executable, "-m", "firth", "--install-completion"]
    subprocess.run(install, env=environment, check=True, capture_output=True)
    ask = (
        "source ~/.bashrc; function=$(complete -p firth | sed 's/.*-F \\([^ ]*\\).*/\\1/');"
        "COMP_WORDS=(firth tra); COMP_CWORD=1; COMP_LINE='firth tra'; COMP_POINT=9; $function firth tra firth;"
        "echo ${COMPREPLY[@]}"
    )
    found = subprocess.run([bash, "-c", ask], env=environment, capture_output=True, text=True, check=True)
    assert "train" in found.stdout.split()
