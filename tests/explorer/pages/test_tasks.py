"""Tasks: each task draws its answer; what is shown is what the copied line gives."""

from __future__ import annotations

import pytest
from tests.explorer.conftest import OpenTab, Tab, run_copied

import firth
from firth.explorer.answers.tasks import TaskAnswer
from firth.explorer.models import Models
from firth.explorer.pages.tasks import EXAMPLES, TASKS, describe_label, describe_span, draw_task, texts_of
from firth.explorer.spans import LabeledSpan
from firth.explorer.visit import Visit

VISIT = Visit(Models(), "en", "/tasks")


def test_the_address_gives_the_texts_and_every_task_has_examples() -> None:
    assert texts_of(Visit(Models(), "en", "/tasks", {"text": "a", "second": "b"}), "qa") == ("a", "b")
    assert texts_of(Visit(Models(), "en", "/tasks", {"text": "a", "second": "b"}), "ner") == ("a",)
    assert {task: texts_of(VISIT, task) for task in TASKS} == {task: EXAMPLES[task][0] for task in TASKS}


RIGHT = {  # what a careful reader would answer to each example
    "ner": (
        "[PER: Elon Musk] founded [ORG: SpaceX] in [LOC: California] in 2002 .",
        "[PER: Marie Curie] was born in [LOC: Warsaw] and worked at the [ORG: University of Paris] .",
        "The [ORG: United Nations] met in [LOC: Geneva] , where [PER: Kofi Annan] spoke about [LOC: Sudan] .",
    ),
    "srl": (
        "[ARG0: John] [V: broke] [ARG1: the vase] [ARGM-LOC: in the kitchen] [ARGM-TMP: yesterday] .",
        "[ARG0: The company] [V: sold] [ARG1: its old factory] [ARG2: to a bank] "
        "[ARGM-CAU: because it needed money] .\n"
        "The company sold its old factory to a bank because [ARG0: it] [V: needed] [ARG1: money] .",
        "[ARG0: She] [V: gave] [ARG2: him] [ARG1: the book that he had lost] .\n"
        "She gave him [ARG1: the book] [R-ARG1: that] [ARG0: he] had [V: lost] .",
    ),
    "coref": (
        "[Mary]1 went to the store . [She]1 bought some milk .",
        "[Anna]1 told [[her]1 brother]2 that [he]2 should bring [his]2 coat . [He]2 thanked [her]1 .",
        "When [the queen]1 arrived , [[her]1 son]2 welcomed [her]1 . [He]2 was happy .",
    ),
    "qa": ("on the mat", "1867", "Dutch ships"),
    "entailment": ("entailment", "contradiction", "neutral"),
    "sentiment": ("very positive", "negative", "very positive"),
}


@pytest.mark.parametrize("task", TASKS)
def test_examples_one_click_away_are_answered_rightly(task: str) -> None:
    model = firth.load(f"task-{task}")
    answers = [model.ask(*texts)[0] for texts in EXAMPLES[task]]
    assert tuple(one.get("bracketed") or one.get("label") or one.get("answer") for one in answers) == RIGHT[task]


def test_a_sentence_without_answers_says_so() -> None:
    nothing = TaskAnswer({"clusters": []}, ("Rain", "."), ())
    assert "No predicate" in draw_task(VISIT, "srl", ["Rain."], [nothing])
    assert "No two mentions" in draw_task(VISIT, "coref", ["Rain."], [TaskAnswer({"clusters": []}, ("Rain",), ((),))])


def test_labels_are_explained_in_both_languages() -> None:
    assert describe_label(VISIT, "R-ARG0") == "agent: who does it"
    assert describe_label(Visit(Models(), "fa", "/tasks"), "PER") == "شخص"
    assert describe_label(VISIT, "XYZ") == ""
    assert describe_span(VISIT, LabeledSpan(0, 1, "PER", 0.964)) == "person: 96%"
    answer = TaskAnswer({}, ("Ann", "left"), ((LabeledSpan(0, 1, "PER"),),))
    assert "<dt" in draw_task(VISIT, "ner", ["Ann left"], [answer])


def test_names_are_those_of_the_copied_line_and_a_typed_text_comes_back_after_a_reload(tab: Tab) -> None:
    page = tab.open("/tasks?task=ner")
    page.get_by_label("Text", exact=True).fill("Ada Lovelace lived in London.")
    page.get_by_role("button", name="Run").click()
    page.wait_for_function("location.search.includes('Lovelace')")
    tab.settle()
    [answer] = run_copied(page.locator(".python code").inner_text())
    spans = page.locator(".span").evaluate_all("all => all.map(one => one.firstChild.textContent)")
    assert spans == [entity["text"] for entity in answer["entities"]]
    assert spans
    page.reload()
    tab.settle()
    assert page.locator(".span").count() == len(spans)


def test_arcs_lead_from_the_predicate_to_each_role(tab: Tab) -> None:
    page = tab.open("/tasks?task=srl&text=John+broke+the+vase+yesterday.")
    roles = page.locator(".role:not([data-role=V])").evaluate_all("all => all.map(one => one.dataset.role)")
    arcs = page.locator(".arcs svg text")
    arcs.first.wait_for()
    assert sorted(arcs.all_text_contents()) == sorted(roles)
    assert len(roles) >= 2


def test_questions_are_answered_on_a_phone_in_persian_and_foreign_script_is_warned_of(open_tab: OpenTab) -> None:
    tab = open_tab("fa", "dark", 400, 800)
    page = tab.open("/tasks?task=qa")
    [answer] = run_copied(page.locator(".python code").inner_text())
    assert page.locator("mark").all_inner_texts() == ([answer["answer"]] if answer["answer"] else [])
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page = tab.open("/tasks?task=sentiment&text=این+فیلم+خیلی+خوب+بود+و+همه+آن+را+دوست+داشتند")
    assert page.locator(".warning").count() == 1
    page = tab.open("/tasks?task=entailment&text=A+man+sleeps.&second=")
    assert "hypothesis has no words" in page.locator(".state.error").inner_text()
