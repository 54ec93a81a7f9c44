"""`python -m firth`."""

from __future__ import annotations

import subprocess
import sys

import firth


def test_python_m_firth_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "firth", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == firth.__version__
