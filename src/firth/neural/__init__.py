"""The biLM in plain torch; `inference` and `training` have faster versions of its parts.

torch's pool of threads does not survive a fork: a child process that used it would wait for ever. So a child of a
process that imported this package computes with one thread.
"""

from __future__ import annotations

import os
import sys


def use_one_thread() -> None:
    """Limits torch to one thread, if it was imported."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=use_one_thread)
