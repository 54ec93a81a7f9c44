"""Files and user input are tokenized alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import firth
from firth.tasks.entailment.task import Entailment
from firth.tasks.ner.task import Ner
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.tokenization import make_tokenizer, normalize_words


def test_letters_are_kept_unless_a_script_is_named() -> None:
    assert make_tokenizer("keep").words("كتاب علي") == ["كتاب", "علي"]
    assert make_tokenizer("persian").words("كتاب علي") == ["کتاب", "علی"]
    assert make_tokenizer("arabic").words("کتاب") == ["كتاب"]


def test_no_token_of_a_file_is_removed_or_split() -> None:
    words = ["علي", "\u200c", "a b", "Tea"]
    assert len(normalize_words(words, "persian")) == 4
    assert normalize_words(words, "persian")[1:] == words[1:]
    assert normalize_words(words, "keep") == words


def test_tasks_read_files_and_questions_with_their_segmenter(tmp_path: Path) -> None:
    words = ["北京", "上海", "喜欢", "讨厌", "我", "他"]
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(words, 6)) + "。" for _ in range(300)]
    folder = str(tmp_path / "words")
    firth.save(firth.Segmenter().fit(texts), folder)
    (tmp_path / "train.txt").write_text("positive\t我喜欢北京。\n", encoding="utf-8")
    task = Sentiment(segment=folder)
    assert task.read(tmp_path / "train.txt")[0].words == ("我", "喜欢", "北京", "。")
    assert task.ask("他讨厌上海。")[0].words == ("他", "讨厌", "上海", "。")
    assert Sentiment(letters="persian").ask("كتاب علي")[0].words == ("کتاب", "علی")
    assert Entailment(segment=folder).ask("我喜欢北京", "他讨厌上海")[0].premise == ("我", "喜欢", "北京")
    assert Ner(segment=folder).ask("我喜欢北京")[0].words == ("我", "喜欢", "北京")
