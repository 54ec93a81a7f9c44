"""Tokens and sentences of ICU, spaCy and hazm, in a process of their own: they need other packages than firth.

    PYTHON benchmarks/tokens_peer.py

Requests and responses are lines of JSON on standard input and output. {"tool": "icu", "language": "fa", "texts": […]}
is answered by [[tokens, sentences], …], one pair for each text: the start and end of every token and sentence. A tool
that cannot do the language is answered by {"missing": reason}. {"tool": "hazm-half-spaces", …} is answered by
[[words], …]: hazm's normalizer, then its tokenizer. To create an environment:

    python -m venv peers && peers/bin/pip install icu4py spacy hazm
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

Spans = list[tuple[int, int]]


def trim(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """The spans without white space at their ends; those of white space alone are left out."""
    trimmed = []
    for start, end in spans:
        part = text[start:end]
        first = start + len(part) - len(part.lstrip())
        if part.strip():
            trimmed.append((first, first + len(part.strip())))
    return trimmed


def split_with_icu(text: str, language: str) -> tuple[Spans, Spans]:
    """The segments of ICU's word and sentence breakers."""
    from icu4py.breakers import SentenceBreaker, WordBreaker

    words, sentences = WordBreaker(text, language).segments(), SentenceBreaker(text, language).segments()
    return trim(text, list(words)), trim(text, list(sentences))


@cache
def pipeline(language: str) -> Any:
    """A blank pipeline of spaCy with its sentencizer. Korean has rules like the other languages, without MeCab."""
    import spacy

    config = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}} if language == "ko" else {}
    blank = spacy.blank(language, config=config)
    blank.max_length = 10**8
    blank.add_pipe("sentencizer")
    return blank


def split_with_spacy(text: str, language: str) -> tuple[Spans, Spans]:
    """The tokens and sentences of a blank pipeline."""
    document = pipeline(language)(text)
    tokens = [(token.idx, token.idx + len(token)) for token in document]
    return trim(text, tokens), trim(text, [(one.start_char, one.end_char) for one in document.sents])


def locate(text: str, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The spans of words that follow one another in a text. A word that was changed has the span it should have."""
    at = 0
    for word in words:
        place = text.find(word, at)
        start = place if 0 <= place <= at + 3 * len(word) + 20 else at
        at = min(len(text), start + len(word))
        yield start, at


def split_with_hazm(text: str, language: str) -> tuple[Spans, Spans]:
    """The words and sentences of hazm; parts of verbs are not joined over blanks."""
    if language != "fa":
        raise ImportError("hazm is for Persian")
    import hazm

    tokenizer = hazm.WordTokenizer(join_verb_parts=False)
    sentences = list(locate(text, hazm.SentenceTokenizer().tokenize(text)))
    tokens = []
    for start, end in sentences:
        part = text[start:end]
        tokens += [(start + first, start + last) for first, last in locate(part, tokenizer.tokenize(part))]
    return trim(text, tokens), trim(text, sentences)


def restore_with_hazm(texts: list[str]) -> list[list[str]]:
    """The words of each text after hazm's normalizer, which restores half-spaces."""
    import hazm

    normalizer, tokenizer = hazm.Normalizer(), hazm.WordTokenizer(join_verb_parts=False)
    return [tokenizer.tokenize(normalizer.normalize(text)) for text in texts]


TOOLS = {"icu": split_with_icu, "spacy": split_with_spacy, "hazm": split_with_hazm}


def answer(request: dict[str, Any]) -> Any:
    """The answer to one request."""
    try:
        if request["tool"] == "hazm-half-spaces":
            return restore_with_hazm(request["texts"])
        return [TOOLS[request["tool"]](text, request["language"]) for text in request["texts"]]
    except (ImportError, OSError) as error:
        return {"missing": str(error).partition("\n")[0][:80]}


def main() -> None:
    output, sys.stdout = sys.stdout, sys.stderr  # libraries print to stdout, which is for responses only
    for line in sys.stdin:
        output.write(json.dumps(answer(json.loads(line))) + "\n")
        output.flush()


if __name__ == "__main__":
    main()
