"""`python -m firth`."""

from __future__ import annotations

import subprocess
import sys

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
