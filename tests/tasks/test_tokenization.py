"""Files and user input are tokenized alike."""

from __future__ import annotations

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
