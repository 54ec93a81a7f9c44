"""Without torch every command that needs it says in one line what to install."""

import subprocess
import sys

import pytest

CODE = """
import sys

for name in ("torch", "h5py", "matplotlib"):
    sys.modules[name] = None  # as if it were not installed
from firth.cli.main import main

main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "ner", "Elon Musk founded SpaceX."],
        ["test", "ner", "test.conll"],
        ["task", "ner", "--train", "train.conll"],
        ["study", "senses", "--quick", "--out", "somewhere"],
        ["embed", "elmo-en", "text.txt", "--out", "out"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_command_without_torch_names_the_extra(command, tmp_path):
    told = subprocess.run([sys.executable, "-c", CODE, *command], capture_output=True, text=True, cwd=tmp_path)
    assert told.returncode == 2, told.stderr
    assert "pip install 'firth[" in told.stderr
    assert len(told.stderr.splitlines()) == 1
