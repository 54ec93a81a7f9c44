"""Values, figures and progress in a real kernel of Jupyter: what a reader of the notebook sees."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbclient and ipykernel: pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient: pip install nbclient")
pytest.importorskip("ipykernel", reason="needs ipykernel: pip install ipykernel")

CELLS = {
    "training": "import firth\ntext = ['strong tea and hot milk', 'cold rain on the hill'] * 200\n"
    "vectors = firth.Word2Vec(dim=8, min_count=1, epochs=2).fit(text, progress=True)",
    "vectors": "vectors",
    "scores": "firth.evaluate(firth.load('word2vec-en', limit=5000), 'firth-similarity-en')",
    "figure": "firth.plot.analogy(firth.load('word2vec-en'), 'man', 'king', 'woman')",
    "mix": "firth.ScalarMix(3)",
    "answers": "firth.open_task('ner').ask('Mary Smith went to Rome.')",
}
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The outputs of each cell of a notebook that was executed."""
    folder: Path = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS.values()])
    place = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(book, timeout=1200, kernel_name="python3", resources=place).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, book.cells, strict=True)}


def shown(outputs: list[Any], kind: str) -> str:
    """The values of one kind among the outputs of a cell, one after the other."""
    return "\n".join(str(one.data[kind]) for one in outputs if "data" in one and kind in one.data)


def test_a_training_shows_its_bars_in_a_widget_and_writes_no_lines(outputs: dict[str, list[Any]]) -> None:
    assert "model_id" in shown(outputs["training"], WIDGET)
    assert {one.output_type for one in outputs["training"]} == {"display_data"}


def test_values_are_tables(outputs: dict[str, list[Any]]) -> None:
    vectors = shown(outputs["vectors"], "text/html")
    assert "<table" in vectors
    assert "<svg" in vectors  # the curve of the loss
    scores = shown(outputs["scores"], "text/html")
    assert "spearman" in scores
    assert "firth-similarity-en" in scores


def test_a_figure_is_a_picture(outputs: dict[str, list[Any]]) -> None:
    assert base64.b64decode(shown(outputs["figure"], "image/png")).startswith(b"\x89PNG")


def test_mixes_and_answers_of_tasks_are_shown(outputs: dict[str, list[Any]]) -> None:
    pytest.importorskip("torch")
    assert "<div" in shown(outputs["mix"], "text/html")
    answers = shown(outputs["answers"], "text/html")
    assert "Mary Smith" in answers
    assert "PER" in answers
