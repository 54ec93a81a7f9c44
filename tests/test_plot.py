"""`firth.plot`: what is in the figures, and that a notebook shows them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import OptionError, UnknownWord
from firth.neural.architecture import Architecture

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def vectors() -> firth.WordVectors:
    words = ["man", "woman", "king", "queen", "boy", "girl", "tea", ",", "1999"]
    rows = [[3, 0, 1], [-3, 0, 1], [3, 2, 1], [-3, 2, 1], [3, -2, 1], [-3, -2, 1], [0, 0, 5], [0, 1, 5], [1, 0, 5]]
    return firth.WordVectors(words, np.array(rows, np.float32))


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_a_map_names_words_and_neither_numbers_nor_marks(vectors: firth.WordVectors) -> None:
    figure = firth.plot.map(vectors)
    assert isinstance(figure, matplotlib.figure.Figure)
    assert len(figure.axes[0].collections[0].get_offsets()) == 9
    assert set(texts(figure)) <= {"man", "woman", "king", "queen", "boy", "girl", "tea"}
    assert len(texts(firth.plot.map(vectors, labels=2))) == 2
    assert len(firth.plot.map(vectors, 5).axes[0].collections[0].get_offsets()) == 5
    with pytest.raises(OptionError, match="at least three words"):
        firth.plot.map(vectors, 2)


def test_labels_do_not_cover_each_other() -> None:
    rng = np.random.default_rng(0)
    names = [f"word{'x' * int(rng.integers(1, 9))}{chr(97 + number % 26)}" for number in range(300)]
    figure = firth.plot.map(firth.WordVectors(list(dict.fromkeys(names)), rng.standard_normal((len(set(names)), 5))))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    shrunk = [(box.x0 + 2, box.y0 + 2, box.x1 - 2, box.y1 - 2) for box in boxes]
    covered = [
        (one, other)
        for place, one in enumerate(shrunk)
        for other in shrunk[:place]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert len(boxes) > 20
    assert covered == []


def test_a_long_label_at_the_edge_stays_inside_the_figure() -> None:
    names = ["a word of very many letters on the left", "one on the right that is as long as the other", "tea", "rain"]
    words = firth.WordVectors(names, [[-3.0, 0.1], [3.0, 0.2], [0.0, 1.0], [0.1, -1.0]])
    figure = firth.plot.relation(words, [(names[0], names[1]), ("tea", "rain")])
    figure.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts if text.get_text()}
    assert boxes.keys() == set(names)
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in boxes.values()), boxes


def test_an_analogy_is_a_parallelogram(vectors: firth.WordVectors) -> None:
    figure = firth.plot.analogy(vectors, "man", "king", "woman", answers=2)
    assert figure.axes[0].get_title(loc="left") == "man is to king as woman is to queen"
    assert texts(figure)[:4] == ["man", "king", "woman", "queen"]
    points = np.asarray(figure.axes[0].collections[0].get_offsets())
    man, king, woman, target = points[0], points[1], points[2], points[-1]
    assert np.allclose(king - man, target - woman, atol=1e-6)
    with pytest.raises(UnknownWord):
        firth.plot.analogy(vectors, "man", "king", "princess")


def test_a_relation_is_drawn_by_name_or_by_pairs(vectors: firth.WordVectors) -> None:
    pairs = [("man", "woman"), ("king", "queen"), ("boy", "girl"), ("he", "she")]
    figure = firth.plot.relation(vectors, pairs)
    assert figure.axes[0].get_title(loc="left").startswith("3 pairs; mean cosine of the offsets 1.00")
    assert sorted(texts(figure)) == sorted(word for pair in pairs[:3] for word in pair)
    assert firth.plot.relation(vectors, "gender").axes[0].get_title(loc="left").startswith("gender: 3 pairs")
    with pytest.raises(OptionError, match="no relation is called 'gendre'"):
        firth.plot.relation(vectors, "gendre")


def test_senses_have_a_point_for_each_occurrence() -> None:
    bilm = firth.BiLM(Architecture.named("tiny"))
    sentences = ["We sat on the river bank.", "The bank lent us money.", "My bank is closed.", "No such word."]
    figure = firth.plot.senses(bilm, "bank", sentences)
    assert sum(len(points.get_offsets()) for points in figure.axes[0].collections) == 3
    assert any("river bank" in text for text in texts(figure))
    assert firth.plot.senses(bilm, "bank", layers=(0, 0, 1)).axes
    with pytest.raises(OptionError, match="no example sentences with 'xyzzy'"):
        firth.plot.senses(bilm, "xyzzy")
    with pytest.raises(OptionError, match="three weights"):
        firth.plot.senses(bilm, "bank", sentences, layers=(0, 0, 0))


def test_layer_weights_are_shares_of_any_model_with_mixes() -> None:
    def shown(figure: Any) -> list[float]:
        return [float(text) for text in texts(figure)]

    mix = firth.ScalarMix(3, weights=[0.0, 1.0, 2.0])
    assert shown(firth.plot.layer_weights(mix)) == pytest.approx([0.09, 0.24, 0.67], abs=0.006)
    elmo = firth.ElmoEmbedding(firth.BiLM(Architecture.named("tiny")), 2)
    figure = firth.plot.layer_weights({"tagger": elmo})
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["tagger mix 1", "tagger mix 2"]
    ner = firth.load("ner")
    assert sum(shown(firth.plot.layer_weights(ner))) == pytest.approx(1, abs=0.02)
    with pytest.raises(OptionError, match="a Vocabulary has no weights of layers"):
        firth.plot.layer_weights(firth.Vocabulary(["tea"]))
    with pytest.raises(OptionError, match="2, 3 layers each"):
        firth.plot.layer_weights({"a": [0.5, 0.5], "b": [0.2, 0.3, 0.5]})


def test_curves_of_models_folders_and_logs(tmp_path: Path, vectors: firth.WordVectors) -> None:
    figure = firth.plot.curves(firth.load("ner"), title="Names")
    assert len(figure.axes) == 2
    assert [line.get_label() for line in figure.axes[1].lines] == [
        "dev f1",
        "dev precision",
        "dev recall",
        "dev accuracy",
    ]
    trained = firth.Word2Vec(dim=4, min_count=1, epochs=3).fit(["hot tea", "cold rain"] * 20)
    drawn = firth.plot.curves(trained).axes[0].lines[0].get_ydata()
    assert np.allclose(drawn, trained.metadata["loss"])
    log = tmp_path / "log.jsonl"
    lines = [{"step": 1, "loss": 3.0}, {"step": 2, "loss": 2.0}, {"step": 2, "held_out": True, "loss": 2.5}]
    log.write_text("\n".join(map(json.dumps, lines)))
    assert [len(line.get_xdata()) for line in firth.plot.curves(log).axes[0].lines] == [2, 1]
    with pytest.raises(OptionError, match="neither a loss nor scores"):
        firth.plot.curves(vectors)
    with pytest.raises(OptionError, match="a list has no record"):
        firth.plot.curves([1])


def test_a_notebook_shows_a_figure_without_pyplot() -> None:
    pytest.importorskip("IPython")
    code = (
        "import sys, firth\n"
        "from IPython.core.formatters import DisplayFormatter\n"
        "figure = firth.plot.layer_weights([0.2, 0.3, 0.5])\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "shown, _ = DisplayFormatter().format(figure)\n"
        "assert shown['image/png'][:4] == b'\\x89PNG', shown.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_style_of_the_user_is_not_changed() -> None:
    before = dict(matplotlib.rcParams)
    firth.plot.layer_weights([0.2, 0.3, 0.5])
    assert dict(matplotlib.rcParams) == before
