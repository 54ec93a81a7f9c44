"""Warnings that name the share of words that a model does not know, or cuts."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import firth
from firth.cli.main import main
from firth.errors import CoverageWarning
from firth.evaluate.language import rank_sentences
from firth.text.coverage import Coverage, collect_coverage, measure, report_coverage
from firth.vectors.words import WordVectors

MALAYALAM = "കേരളത്തിലെ തിരുവനന്തപുരത്തുനിന്നുള്ളവരാണ് അവർ ഇന്ന് രാവിലെ വന്നു . അവിടെയുണ്ടായിരുന്നവരെല്ലാവരും പുസ്തകം വായിച്ചു ."
THAI = "ประเทศไทยมีประชากรประมาณเจ็ดสิบล้านคน และ กรุงเทพมหานครเป็นเมืองหลวงของประเทศ"
MOSTLY = r"\d+ % of the words \(1[23] of 1[23]\) are unknown to this model"
PERSIAN = "این فیلم بسیار بد بود و هیچ کس آن را دوست نداشت."


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(["tea", "rain", "."], np.eye(3, dtype=np.float32))


def test_a_text_of_unknown_words_has_a_warning_with_their_share(vectors: WordVectors) -> None:
    with pytest.warns(CoverageWarning, match=r"75 % of the words \(3 of 4\) are unknown to this model") as caught:
        vectors.embed(["چای می‌خورم tea خوب ."])
    assert caught[0].filename == __file__  # it points to the call


@pytest.mark.parametrize("text", ["tea rain", "tea rain milk coffee", "", ". !"])
def test_other_texts_have_none(vectors: WordVectors, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors.embed([text])
        vectors.encode([text])


def test_many_texts_have_one_warning(vectors: WordVectors) -> None:
    with pytest.warns(CoverageWarning, match=r"67 % of the words \(4,000 of 6,000\)") as caught:
        vectors.encode(["milk coffee tea"] * 2000)  # several batches
    assert len(caught) == 1


def test_words_of_subwords_alone_are_unknown_too() -> None:
    with pytest.warns(CoverageWarning, match=r"100 % of the words \(2 of 2\)"):
        firth.load("fasttext-en").embed(["کتاب خوب"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        firth.load("fasttext-fa").embed(["كتاب خوب 1402", ["كتاب", "1402"]])  # normalized, so they are known


def test_one_unseen_word_is_no_problem_for_a_model_that_reads_characters(vectors: WordVectors) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert firth.load("fasttext-en").embed(["teapotty"])[0].any()
    with pytest.warns(CoverageWarning, match=r"100 % of the words \(1 of 1\) are unknown"):
        assert not vectors.embed(["teapotty"])[0].any()


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_cut_words_have_the_same_vector_and_a_warning() -> None:
    pytest.importorskip("torch")
    bilm = firth.load("elmo-en")
    start = "തിരുവനന്തപുരത്തു"  # 16 characters of 3 bytes
    with pytest.warns(CoverageWarning, match=r"100 % of the words \(2 of 2\) are longer than 48 bytes"):
        first, second = bilm.embed([[start + "നിന്ന്"], [start + "ള്ള"]])
    assert np.array_equal(first, second)


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize(
    ("text", "share"), [(MALAYALAM, r"22 % of the words \(2 of 9\)"), (THAI, r"67 % .* \(2 of 3\)")]
)
def test_malayalam_and_unsegmented_thai_name_the_share(text: str, share: str) -> None:
    pytest.importorskip("torch")
    with pytest.warns(CoverageWarning, match=rf"{share} are longer than 48 bytes and are cut there"):
        firth.load("elmo-en").embed([text])


def test_segmented_thai_is_not_cut() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("icu4py")
    words = firth.Tokenizer(segment="icu").words(THAI)
    assert firth.load("elmo-en").coverage([words]).cut == 0


def test_tasks_say_it_in_the_answer() -> None:
    pytest.importorskip("torch")
    [answer] = firth.open_task("sentiment").ask(PERSIAN)
    assert answer["warning"].startswith("100 % of the words (12 of 12) are in ARABIC script")
    [answer] = firth.open_task("sentiment").ask("Dieser Film gefällt uns allen ganz außerordentlich.")
    assert "are unknown to this model" in answer["warning"]
    [answer] = firth.open_task("sentiment").ask("A wonderful film.")
    assert "warning" not in answer


def test_a_classifier_of_whole_words_says_it(tmp_path: Path) -> None:
    lines = ["__label__good nice warm tea", "__label__bad cold wet rain"] * 20
    (tmp_path / "train.txt").write_text("\n".join(lines) + "\n")
    model = firth.FastTextClassifier(dim=4, epochs=2).fit(tmp_path / "train.txt")
    with pytest.warns(CoverageWarning, match=r"67 % of the words \(2 of 3\)"):
        firth.Classifier(model).predict("چای گرم tea")


def test_doc2vec_says_it() -> None:
    model = firth.Doc2Vec(dim=4, epochs=1, min_count=1).fit(["hot tea", "cold rain"])
    with pytest.warns(CoverageWarning, match=r"100 % of the words \(2 of 2\)"):
        model.infer(["چای گرم"])


def test_commands_print_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thai.txt").write_text(THAI + "\n", encoding="utf-8")
    main(["embed", "word2vec-en", str(tmp_path / "thai.txt"), "--out", str(tmp_path / "thai.hdf5")])
    assert "firth: warning: 100 % of the words (3 of 3) are unknown to this model" in capsys.readouterr().err
    pytest.importorskip("torch")
    main(["predict", "sentiment", PERSIAN])
    assert "firth: warning: 100 % of the words (12 of 12) are in ARABIC script" in capsys.readouterr().err


def test_an_index_and_its_questions_print_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    (tmp_path / "thai.txt").write_text(THAI + "\n", encoding="utf-8")
    main(["index", "elmo-en", str(tmp_path / "thai.txt"), "--out", str(tmp_path / "index")])
    told = "67 % of the words (2 of 3) are longer than 48 bytes and are cut there: different words can have the same"
    shown = capsys.readouterr().err
    assert told in shown
    assert "--segment icu" in shown
    main(["neighbors", str(tmp_path / "index"), "--context", THAI.replace("และ", "[และ]"), "--json"])
    shown = capsys.readouterr()
    assert told in shown.err
    assert json.loads(shown.out.splitlines()[0])["word"] == "และ"


def test_collected_reports_are_summed_and_nested() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with collect_coverage(warns=False) as outer:
            with collect_coverage():
                report_coverage(Coverage(4, 4))
            report_coverage(Coverage(2, 0, 1, 48))
    assert outer.total == Coverage(6, 4, 1, 48)


def test_marks_are_no_words_and_repeated_words_count_each_time() -> None:
    known = {"tea"}
    counted = measure(
        [["tea", "milk", "milk", "—", "!", "½"]], lambda words: np.array([-(one not in known) for one in words])
    )
    assert (counted.words, counted.unknown) == (4, 3)


@pytest.mark.parametrize("ask", ["score", "perplexity", "predict", "sample"])
def test_a_language_model_warns_of_a_text_of_unknown_words(ask: str) -> None:
    model = firth.Ngram(order=2).fit([["strong", "tea"], ["strong", "coffee"]])
    question = [PERSIAN] if ask == "perplexity" else PERSIAN
    with pytest.warns(CoverageWarning, match=MOSTLY):
        getattr(model, ask)(question)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(model, ask)(["strong tea"] if ask == "perplexity" else "strong tea")
    assert model.coverage(["strong tea and rain!"]) == Coverage(words=4, unknown=2)


@pytest.mark.parametrize("ask", ["score", "perplexity", "predict", "generate"])
def test_a_bilm_that_scores_or_continues_unknown_words_warns(ask: str) -> None:
    pytest.importorskip("torch")
    bilm = firth.load("elmo-en")
    with pytest.warns(CoverageWarning, match=MOSTLY) as caught:
        getattr(bilm, ask)([PERSIAN] if ask in ("score", "perplexity") else PERSIAN)
    assert {one.filename for one in caught} == {__file__}  # not a wrapper of torch
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(bilm, ask)(["We drink tea."] if ask in ("score", "perplexity") else "We drink tea")


def test_ranked_sentences_have_one_warning() -> None:
    model = firth.Ngram(order=2).fit([["strong", "tea"]])
    with pytest.warns(CoverageWarning, match=r"67 % of the words \(4 of 6\)") as caught:
        rank_sentences(model, [["strong", "milk", "coffee"], ["rain", "milk", "tea"]])
    assert len(caught) == 1
