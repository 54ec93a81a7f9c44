"""A report is one file that opens from disk without a network and shows the neighbors of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.errors import OptionError
from firth.maps.report import make_report, pack_neighbors
from firth.maps.scatter import ScatterData
from firth.show.notebook import FactSheet
from firth.vectors.words import WordVectors


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    rng = np.random.default_rng(1)
    words = ["چای", "</script><b>", *(f"w{i}" for i in range(58))]
    return WordVectors(words, rng.normal(size=(60, 8)).astype(np.float32))


def test_neighbors_are_those_of_most_similar(vectors: WordVectors) -> None:
    packed = pack_neighbors(vectors, 60)
    ids = np.frombuffer(packed, "<u4", 600).reshape(60, 10)
    cosines = np.frombuffer(packed, "<i2", offset=2400).reshape(60, 10)
    near = vectors.most_similar("w5", topn=10)
    assert [vectors.vocabulary[int(id)] for id in ids[7]] == [word for word, _ in near]
    np.testing.assert_allclose(cosines[7] / 10_000, [cosine for _, cosine in near], atol=6e-5)


def test_text_is_escaped_and_scores_are_shown(vectors: WordVectors) -> None:
    page = make_report("a<b", vectors, card="<i>card</i>", scores=[("similarity", "men", "spearman", 0.5, "–", 9, 10)])
    assert '<h1 dir="auto">a&lt;b</h1>' in page
    assert "&lt;i&gt;card" in page
    assert "<td class='number'>0.500</td>" in page
    assert page.count("</script>") == 4
    with pytest.raises(OptionError, match="at least one word"):
        make_report("none", vectors, words=0)


class Nothing(FactSheet):
    """A model that is neither word vectors nor a biLM."""

    def _facts(self) -> list[tuple[str, str]]:
        return [("layers", "3")]


def test_senses_are_shown_with_sliders_also_without_word_vectors(chromium: Any, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="needs word vectors"):
        make_report("none", Nothing())
    data = ScatterData([np.eye(2), np.eye(2), np.eye(2)], contexts=[("the ", "bank", " of"), ("a ", "bank", "")])
    path = tmp_path / "senses.html"
    path.write_text(make_report("bilm", Nothing(), senses={"bank": data, "</script>": data}), encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("window.report?.senses?.frames > 0")
    assert page.locator("#sense-word option").all_inner_texts() == ["bank", "</script>"]
    assert page.locator("#mixer input[type=range]").count() == 4
    assert page.locator("#map-section").is_hidden()
    page.close()


def test_the_page_opens_from_disk_offline_and_answers(chromium: Any, vectors: WordVectors, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(make_report("small", vectors), encoding="utf-8")
    context = chromium.new_context(viewport={"width": 400, "height": 800}, color_scheme="dark", offline=True)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if request.url == path.as_uri() else problems.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("window.report?.plot.frames > 0")
    page.get_by_label("Find a word").fill("چای")
    page.get_by_label("Find a word").press("Enter")
    page.locator("#near tr").first.wait_for()
    shown = [line.split("\t")[0] for line in page.locator("#near").inner_text().splitlines() if line.strip()]
    expected = [word for word, _ in vectors.most_similar("چای", topn=10)]
    assert [one.strip() for one in page.locator("#near button").all_inner_texts()] == expected
    assert shown
    assert page.evaluate("report.plot.dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert problems == []
    context.close()
