r"""Tokens and sentences against the treebanks of Universal Dependencies: F1 of firth, ICU, spaCy and hazm.

    python benchmarks/tokens.py FOLDER … [--part test] [--peers PYTHON] [--only fa ka] [--markdown]

Every `*-ud-test.conllu` (or `.conllu.xz`) below the folders is scored, and those of the data folder (`FIRTH_DATA`).
The treebanks are public: github.com/UniversalDependencies. `--part dev` takes the files for development, on which
rules may be tuned. The raw text is rebuilt from the treebank: tokens with the blanks between them, one text per
paragraph. A token is right if it starts and ends where a surface token of the treebank does (a multiword token counts
as one); a sentence likewise. With `--words`, a multiword token that is spelled as its words, such as English don't (do
n't), counts as several. Blanks do not count. firth runs without a language, with the language of the treebank and,
in scripts without spaces, with the segmenter of an extra (sudachi for Japanese, else icu).

`--peers` is the Python of an environment with icu4py, spacy and hazm (see tokens_peer.py). ICU's breakers and spaCy's
blank pipelines with their sentencizer need no model.

`--half-spaces` scores Persian treebanks whose half-spaces are turned into blanks: firth's normalizer and tokenizer
against hazm's, with the plain tokenizer as the baseline. `--verse FILE` counts in Persian verse, one hemistich per
line, how often می that stands alone is joined: in verse it often is the noun "wine". It prints a sample to judge.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import subprocess
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from firth.text.tokenize import Tokenizer

DATA = Path(os.environ.get("FIRTH_DATA", Path(__file__).resolve().parents[2] / "shared"))
LANGUAGES = {
    "ar": "arabic",
    "de": "german",
    "el": "greek",
    "en": "english",
    "fa": "persian",
    "fr": "french",
    "he": "hebrew",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "it": "italian",
    "ka": "georgian",
    "nl": "dutch",
    "ro": "romanian",
    "th": "thai",
    "tr": "turkish",
    "uk": "ukrainian",
}
SEGMENTERS = {"ja": "sudachi", "km": "icu", "lo": "icu", "my": "icu", "th": "icu", "zh": "icu"}  # extras of firth
PEERS = "icu", "spacy", "hazm"
ZWNJ = "\u200c"
Span = tuple[int, int]


@dataclass
class Treebank:
    """The texts of a treebank, and the spans of the tokens and sentences of each."""

    name: str
    language: str
    texts: list[str] = field(default_factory=list)
    tokens: list[list[Span]] = field(default_factory=list)
    sentences: list[list[Span]] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)  # of each sentence


def read_lines(path: Path) -> list[str]:
    """The lines of a file, compressed or not."""
    opened = lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else open(path, encoding="utf-8")
    with opened as file:
        return file.read().split("\n")


def read_treebank(path: Path, *, split: bool = False) -> Treebank:
    """The paragraphs of a CoNLL-U file with their spans. `split`: a token that is spelled as its words is these."""
    code = path.name.partition("_")[0].partition("-")[0]
    named = {"ewt": "en"}.get(code, path.name[6:8])  # files of the data folder have other names
    bank = Treebank(path.name.partition(".")[0].replace("-ud", ""), code if len(code) == 2 else named)
    parts: list[str] = []
    tokens: list[Span] = []
    sentences: list[Span] = []
    size, words, covered, first = 0, list[str](), 0, 0

    def close() -> None:
        nonlocal parts, tokens, sentences, size
        if parts:
            bank.texts.append("".join(parts))
            bank.tokens.append(tokens)
            bank.sentences.append(sentences)
        parts, tokens, sentences, size = [], [], [], 0

    def add(form: str, blank: str) -> None:
        nonlocal first, size
        if not words:
            first = size
        words.append(form)
        tokens.append((size, size + len(form)))
        parts.append(form + blank)
        size += len(form) + len(blank)

    waiting: tuple[str, str, list[str]] | None = None  # a multiword token, the blank after it, its words so far
    for line in read_lines(path):
        if line.startswith(("# newpar", "# newdoc")):
            close()
        elif not line and words:
            sentences.append((first, tokens[-1][1]))
            bank.words.append(words)
            words, covered = [], 0
        elif line and not line.startswith("#"):
            id, form, *_, misc = line.split("\t")
            blank = "" if "SpaceAfter=No" in misc else " "
            if "." in id:
                continue
            if "-" in id:
                covered, waiting = int(id.split("-")[1]), (form, blank, [])
            elif waiting is None:
                add(form, blank)
            else:
                whole, blank, inner = waiting
                inner.append(form)
                if int(id) == covered:
                    pieces = inner if split and "".join(inner) == whole else [whole]
                    for piece in pieces[:-1]:
                        add(piece, "")
                    add(pieces[-1], blank)
                    waiting = None
    close()
    return bank


def without_blanks(text: str, spans: Iterable[Span]) -> set[Span]:
    """The spans in the text without its blanks."""
    places = [0, *accumulate(not letter.isspace() for letter in text)]
    return {(places[start], places[end]) for start, end in spans}


def f1(found: Sequence[set[Span]], gold: Sequence[set[Span]]) -> float:
    """The F1 of spans over all texts, in percent."""
    right = sum(len(one & other) for one, other in zip(found, gold))
    return 200 * right / max(1, sum(map(len, found)) + sum(map(len, gold)))


def score(bank: Treebank, found: Sequence[tuple[Sequence[Span], Sequence[Span]]]) -> tuple[float, float]:
    """The F1 of tokens and of sentences."""
    results = []
    for part, gold in enumerate((bank.tokens, bank.sentences)):
        spans = [without_blanks(text, one[part]) for text, one in zip(bank.texts, found)]
        results.append(f1(spans, [without_blanks(text, one) for text, one in zip(bank.texts, gold)]))
    return results[0], results[1]


def split_with_firth(text: str, tokenizer: Tokenizer) -> tuple[list[Span], list[Span]]:
    """The spans of our tokens and sentences."""
    sentences = tokenizer.sentences(text)
    tokens = [(token.start, token.end) for sentence in sentences for token in sentence]
    return tokens, [(sentence[0].start, sentence[-1].end) for sentence in sentences]


class Peer:
    """The other tools, in a process of their own; see tokens_peer.py."""

    def __init__(self, python: str) -> None:
        command = [python, str(Path(__file__).with_name("tokens_peer.py"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request: Any) -> Any:
        """The answer to one request; None if the tool is missing."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return None if isinstance(answer, dict) else answer


def make_tokenizer(language: str) -> Tokenizer:
    """The tokenizer that `--language` gives."""
    from firth.cli.flags import CorpusOptions

    return CorpusOptions(language=language).tokenizer()  # type: ignore[arg-type]


def compare(bank: Treebank, peer: Peer | None) -> dict[str, tuple[float, float] | None]:
    """The scores of every tool on a treebank."""
    language = LANGUAGES.get(bank.language)
    scores: dict[str, tuple[float, float] | None] = {}
    segmenter = SEGMENTERS.get(bank.language)
    tokenizers = {
        "any": Tokenizer(),
        "language": make_tokenizer(language) if language else None,
        "segment": Tokenizer(segment=segmenter) if segmenter else None,
    }
    for name, tokenizer in tokenizers.items():
        scores[name] = tokenizer and score(bank, [split_with_firth(text, tokenizer) for text in bank.texts])
    for tool in PEERS if peer else ():
        found = peer.ask(tool=tool, language=bank.language, texts=bank.texts)  # type: ignore[union-attr]
        scores[tool] = None if found is None else score(bank, found)
    return scores


def count_letters(word: str) -> int:
    """The characters of a word without blanks, half-spaces and marks, which normalizers remove."""
    return sum(letter not in f"{ZWNJ}_ " and unicodedata.category(letter) != "Mn" for letter in word)


def words_as_spans(words: Iterable[str]) -> set[Span]:
    """The spans of words in a text without blanks, half-spaces and marks."""
    return set(pairwise([0, *accumulate(map(count_letters, words))]))


def compare_half_spaces(bank: Treebank, peer: Peer | None) -> dict[str, float]:
    """Token F1 of each tool where all half-spaces of a treebank are turned into blanks."""
    gold = [words_as_spans(words) for words in bank.words]
    texts = [" ".join(words).replace(ZWNJ, " ") for words in bank.words]
    results: dict[str, list[list[str]] | None] = {}
    for name in ("any", "persian"):
        tokenizer = make_tokenizer(name)
        results[name] = [tokenizer.words(text) for text in texts]
    results["hazm"] = peer and peer.ask(tool="hazm-half-spaces", texts=texts)
    return {
        name: f1([words_as_spans(words) for words in found], gold)
        for name, found in results.items()
        if found is not None
    }


def count_verse(path: Path) -> tuple[int, int, list[str]]:
    """How many می stand alone in verse, how many of them the normalizer joins, and the lines of those."""
    normalizer = make_tokenizer("persian").normalizer
    assert normalizer is not None
    alone, joined, lines = 0, 0, []
    for line in read_lines(path):
        plain = normalizer(line.replace(ZWNJ, " ")).split()
        before = line.replace(ZWNJ, " ").split().count("می")
        after = plain.count("می")
        alone, joined = alone + before, joined + before - after
        if after < before:
            lines.append(line)
    return alone, joined, lines


def show(cell: tuple[float, float] | None) -> str:
    """Two scores as a cell."""
    return "–" if cell is None else f"{cell[0]:.1f} / {cell[1]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="Folders with treebanks in CoNLL-U.")
    parser.add_argument("--part", default="test", choices=["test", "dev"], help="Files to score; default: test.")
    parser.add_argument("--peers", help="Python of an environment with the other tools.")
    parser.add_argument("--only", nargs="*", help="Codes of languages to score, such as fa ka.")
    parser.add_argument("--words", action="store_true", help="Split multiword tokens that are spelled as their words.")
    parser.add_argument("--half-spaces", action="store_true", help="Score Persian without its half-spaces instead.")
    parser.add_argument("--verse", type=Path, help="Persian verse, one hemistich per line: count joined می instead.")
    arguments = parser.parse_args()
    if arguments.verse:
        alone, joined, lines = count_verse(arguments.verse)
        print(f"{alone:,} times می stands alone, {joined:,} of them are joined ({joined / max(1, alone):.1%})")
        print(*lines[:: max(1, len(lines) // 100)], sep="\n")
        return
    folders = [*arguments.folders, DATA / "data" / "tasks" / "pos"]
    found = [
        path
        for folder in folders
        for path in folder.rglob("*.conllu*")
        if path.stat().st_size and f"-{arguments.part}." in path.name
    ]
    peer = Peer(arguments.peers) if arguments.peers else None
    print("| treebank | firth, no language | firth, its language | firth, segmenter | " + " | ".join(PEERS) + " |")
    print("|---" * (4 + len(PEERS)) + "|")
    for path in sorted(found, key=lambda path: path.name):
        bank = read_treebank(path, split=arguments.words)
        if not bank.texts or (arguments.only and bank.language not in arguments.only):
            continue
        if arguments.half_spaces:
            if bank.language == "fa":
                results = compare_half_spaces(bank, peer)
                print(bank.name, *(f"{name} {value:.2f}" for name, value in results.items()), sep="  ")
            continue
        scores = compare(bank, peer)
        cells = [show(scores.get(name)) for name in ("any", "language", "segment", *PEERS)]
        print(f"| {bank.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
