from __future__ import annotations

from pathlib import Path

import numpy as np

import firth
from firth.bulk.fingerprint import fingerprint


def test_a_changed_model_has_another_fingerprint(tmp_path: Path) -> None:
    prints = []
    for value in (1.0, 1.0, 2.0):
        firth.save(firth.WordVectors(["tea"], np.full((1, 4), value, np.float32)), tmp_path / "model")
        prints.append(fingerprint(tmp_path / "model"))
    assert prints[0] == prints[1] != prints[2]


def test_shipped_models_have_one() -> None:
    assert fingerprint("svd-en") != fingerprint("word2vec-en")
