"""Neighbors: what is shown is what the library answers."""

from __future__ import annotations

from typing import Any

from tests.explorer.conftest import Tab, run_copied

import firth
from firth.explorer.models import Models
from firth.explorer.pages.neighbors import draw_neighbors, make_question
from firth.explorer.visit import Visit


def read_rows(page: Any) -> list[tuple[str, str]]:
    """The rows of the first table."""
    names = page.locator(".bars").first.locator("tr th[scope=row]").all_inner_texts()
    return list(zip(names, page.locator(".bars").first.locator(".number").all_inner_texts()))


def test_the_question_follows_the_address() -> None:
    visit = Visit(Models(), "en", "/neighbors", {"word": "king woman", "minus": "man", "topn": "3", "limit": "5000"})
    question = make_question(visit, "svd-en")
    assert question.arguments == (["king", "woman"],)
    assert question.options == {"negative": ["man"], "topn": 3, "restrict_vocab": 5000}
    shown = draw_neighbors(visit, "svd-en", [("<queen>", 0.5)], frozenset(["<queen>"]))
    assert 'class="shared">&lt;queen&gt;</a>' in shown


def test_a_half_space_that_is_typed_as_a_blank_joins_a_word_if_the_model_restores_it() -> None:
    persian = firth.WordVectors(["کتاب"], [[1.0]]).with_tokenizer(firth.Tokenizer(language="persian"))
    for opener, expected in ((lambda name: persian, ["کتاب\u200cها"]), (firth.load, ["كتاب", "ها"])):
        visit = Visit(Models(opener=opener), "en", "/neighbors", {"word": "كتاب ها", "minus": "كتاب ها"})
        question = make_question(visit, "fasttext-fa")
        assert question.options["negative"] == expected
        assert question.arguments == (expected if len(expected) > 1 else expected[0],)


def test_a_typed_word_shows_the_neighbors_that_the_copied_line_gives(tab: Tab) -> None:
    page = tab.open("/neighbors?model=svd-en&word=tea&topn=5")
    field = page.get_by_label("Word or words")
    field.fill("ship")
    field.press("Enter")
    page.wait_for_function("location.search.includes('ship')")
    tab.settle()
    expected = [(word, f"{cosine:.3f}") for word, cosine in firth.load("svd-en").most_similar("ship", topn=5)]
    assert read_rows(page) == expected
    copied = run_copied(page.locator(".python code").inner_text())
    assert [(word, f"{cosine:.3f}") for word, cosine in copied] == expected
    page.reload()
    tab.settle()
    assert read_rows(page) == expected
    page.locator(".bars a").first.click()
    page.wait_for_function("!location.search.includes('ship')")


def test_two_models_mark_the_neighbors_they_share(tab: Tab) -> None:
    page = tab.open("/neighbors?word=bank&other=glove-en")
    near = [{word for word, _ in firth.load(name).most_similar("bank")} for name in ("word2vec-en", "glove-en")]
    assert page.locator(".bars").count() == 2
    assert set(page.locator(".bars a.shared").all_inner_texts()) == near[0] & near[1]


def test_an_unknown_word_and_an_unknown_model_are_said_with_a_way_out(tab: Tab) -> None:
    page = tab.open("/neighbors?word=cofffee&model=word2vec-en")
    assert "not in word2vec-en" in page.locator(".state.error").inner_text()
    page.get_by_role("link", name="coffee", exact=True).click()
    page.locator(".bars").wait_for()
    page = tab.open("/neighbors?model=no-such-model")
    assert "no-such-model" in page.locator(".state.error").inner_text()
    assert "<b>" in tab.open("/neighbors?word=<b>x</b>").locator(".state.error").inner_text()


def test_an_unseen_persian_word_has_neighbors_of_its_pieces(open_tab: Any) -> None:
    tab = open_tab("fa", width=400, height=800)
    page = tab.open("/neighbors?model=fasttext-fa&word=کتابخانه‌هایمان")
    assert page.locator(".bars tr").count() > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
