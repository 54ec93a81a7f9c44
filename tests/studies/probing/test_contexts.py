"""The study of words in context."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from firth.formats.registry import save
from firth.studies.findings import Findings
from firth.studies.probing.contexts import Contexts
from firth.studies.study import Study
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.seq2seq.task import Seq2Seq


def test_contexts_are_judged_by_biLM_static_vectors_and_an_encoder(
    folder: Path, run_study: Callable[[Study], Findings]
) -> None:
    task = Seq2Seq(hidden=6, layers=2, dim=4)
    torch.manual_seed(1)
    inputs = Inputs(Embedding(characters=5))
    labels = {"words": ["tea"]}
    save(TaskModel(task, labels, inputs, task.network(inputs.sizes, labels)), folder / "pairs")
    study = Contexts(elmo=str(folder / "tiny"), static="glove-en", cove=str(folder / "pairs"))
    scores = run_study(study).values["scores"]
    assert list(scores)[-3:] == ["glove-en, bag of context", "CoVe layer 1", "CoVe layer 2"]
    assert scores["glove-en"]["wic"] == 75.0  # all alike: the answer is always yes
    assert scores["glove-en"]["change"] is None  # what never changes
    assert scores["biLM layer 1"]["change"] is not None
