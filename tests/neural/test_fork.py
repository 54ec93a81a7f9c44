"""A child process can use a model after a fork. Its parent's threads do not exist in it."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import os, signal, torch
torch.set_num_threads(4)
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
model = BiLM(Architecture.named("tiny"))
large = torch.ones(2000, 2000)
large @ large                               # starts the threads
model.embed(["strong tea"])
child = os.fork()
if not child:
    signal.alarm(100)                       # what it computes takes seconds; the parent has compiled the kernels
    large @ large
    model.embed(["strong tea"])
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_computes_and_does_not_wait_for_ever() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=600)
    assert run.stdout == "7\n", run.stderr
