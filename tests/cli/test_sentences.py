"""Commands that score and generate sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.cli.main import main


def test_train_score_perplexity_and_generate(answer: Callable[..., Any], text: str, tmp_path: Path) -> None:
    arpa = str(tmp_path / "model.arpa")
    answer("train", "ngram", text, "--order", "3", "--fold-case", "--out", arpa)
    ranked = answer("score", arpa, "powerful tea", "strong tea")
    assert [one["words"] for one in ranked] == [["strong", "tea"], ["powerful", "tea"]]
    assert answer("perplexity", arpa, text, "--fold-case")["value"] > 1
    first = answer("generate", arpa, "my mother", "--count", "2", "--seed", "3")
    assert first == answer("generate", arpa, "my mother", "--count", "2", "--seed", "3")
    assert all(sentence.startswith("my mother") for sentence in first)


def test_a_bilm_ranks_sentences_by_each_direction(answer: Callable[..., Any], bilm: str) -> None:
    model = firth.load(bilm)
    for by in ("forward", "backward", "joint"):
        found = answer("score", bilm, "strong tea", "tea strong rain", "rain", "--by", by)
        ranks = [one["per_word"][by] for one in found]
        assert ranks == sorted(ranks, reverse=True)
    [score] = model.score([["strong", "tea"]])
    one = next(one for one in found if one["words"] == ["strong", "tea"])
    assert one["per_word"]["forward"] == pytest.approx(np.exp(score.forward / 3))
    assert one["log_prob"] == pytest.approx(score.forward + score.backward)


def test_the_perplexity_of_a_bilm_is_what_its_scores_say(answer: Callable[..., Any], bilm: str, tmp_path: Path) -> None:
    lines = ["strong tea", "rain and strong tea", "tea"]
    path = tmp_path / "held-out.txt"
    for one in lines:
        path.write_text(one + "\n")
        told = answer("perplexity", bilm, str(path), "--tokens", "whitespace")
        [score] = answer("score", bilm, one)
        assert told["average"] == pytest.approx(1 / score["per_word"]["joint"], rel=1e-5)
        assert told["forward"] == pytest.approx(1 / score["per_word"]["forward"], rel=1e-5)
        assert told["backward"] == pytest.approx(1 / score["per_word"]["backward"], rel=1e-5)
        assert (told["words"], told["unknown"]) == (len(one.split()) + 1, score["unknown"])
    path.write_text("\n".join(lines))
    apart = answer("perplexity", bilm, str(path), "--tokens", "whitespace")
    scores = answer("score", bilm, *lines)
    assert np.log(apart["forward"]) == pytest.approx(-sum(one["forward"] for one in scores) / 10, rel=1e-5)
    together = answer("perplexity", bilm, str(path), "--tokens", "whitespace", "--packing", "streams", "--rows", "1")
    assert together["words"] == apart["words"] == 10
    assert together["forward"] != apart["forward"]


def test_a_bilm_writes_text(answer: Callable[..., Any], bilm: str) -> None:
    flags = ("generate", bilm, "strong", "-n", "3", "--length", "4", "--top-p", "0.9")
    texts = answer(*flags)
    assert texts == answer(*flags)
    assert all(text.split()[0] == "strong" and len(text.split()) <= 5 for text in texts)


def test_a_model_that_cannot_score_or_flags_that_do_not_apply_are_mistakes(
    mistake: Callable[..., str], vectors: str, bilm: str, three_lines: str, tmp_path: Path
) -> None:
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM

    firth.save(BiLM(Architecture.named("tiny")), tmp_path / "plain")
    assert "no softmax" in mistake("perplexity", str(tmp_path / "plain"), three_lines)
    assert "needs a language model" in mistake("score", vectors, "strong tea")
    assert "rows is 0" in mistake("perplexity", bilm, three_lines, "--rows", "0")
    assert "--packing is for biLMs" in mistake("perplexity", vectors, three_lines, "--packing", "streams")


def test_texts_are_generated_for_a_source(
    answer: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "pairs.tsv").write_text("a b\tb a\nc d\td c\n" * 4)
    options = ("--hidden", "6", "--dim", "4", "--layers", "1", "--threads", "1", "--epochs", "1")
    train = ("--train", str(tmp_path / "pairs.tsv"), "--out", str(tmp_path / "model"), "--embedding", "none")
    main(["task", "seq2seq", *train, *options])
    capsys.readouterr()
    found = answer("generate", str(tmp_path / "model"), "a b", "--count", "2")
    assert [set(one) for one in found] == [{"text", "score"}] * 2
    assert found[0]["score"] >= found[1]["score"]


def test_sentences_are_spelled_as_the_text_of_the_model_was(answer: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "fa.txt").write_text("كتاب خوب است.\n" * 4 + "سال 1402 بود.\n" * 4, encoding="utf-8")
    options = ("--language", "persian", "--order", "2", "--discount-fallback", "0.5", "1", "1.5")
    answer("train", "ngram", str(tmp_path / "fa.txt"), *options, "--out", str(tmp_path / "fa"))
    for one in answer("score", str(tmp_path / "fa"), "كتاب خوب است.", "کتاب خوب است.", "سال ۱۴۰۲ بود."):
        assert one["unknown"] == 0
    assert answer("perplexity", str(tmp_path / "fa"), str(tmp_path / "fa.txt"))["unknown"] == 0
    [text] = answer("generate", str(tmp_path / "fa"), "كتاب", "--count", "1")
    assert text.startswith("کتاب")
