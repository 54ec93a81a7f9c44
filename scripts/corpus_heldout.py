"""The text of the dev and test sets: what the corpus must not contain.

Sets without a fixed split (Wikigold, LitBank, OntoGUM) and SQuAD's training set, from which studies cut a dev part,
count as a whole. The ends of en-01 and en-02 are the held-out text of pretraining.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from firth.files import open_bytes

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
LEAF = re.compile(r"\(\d ([^()]+)\)")
MARKS = re.compile(r"</?(?:b|strong)>")
WIKITEXT_MARK = re.compile(r" @([-.,])@ ")
HELD_OUT_ENDS = {"en-01": 400_000, "en-02": 200_000}  # words and sentence ends
TITLE = re.compile(r"^ = ([^=].*?) = $", re.M)


def text_of(path: Path) -> str:
    """The text of a file, packed or not."""
    with open_bytes(path) as file:
        return file.read().decode("utf-8-sig")


def join_words(words: list[str]) -> str:
    """A sentence of treebank words, with brackets and quotes as people write them.

    >>> join_words(["He", "-LRB-", "Tom", "-RRB-", "left"])
    'He ( Tom ) left'
    """
    return " ".join(BRACKETS.get(word, word) for word in words)


def columns(text: str, column: int) -> Iterator[str]:
    """The sentences of a column format: one word a line, a blank line between sentences, # for comments."""
    words: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith(("#begin", "#end", "# ")):
            continue
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) > column and fields[column].strip():
            words.append(fields[column].strip())
        elif words:
            yield join_words(words)
            words = []


def read_ner(path: Path) -> Iterator[str]:
    return columns(text_of(path), 0)


def read_conllu(path: Path) -> Iterator[str]:
    return columns(text_of(path), 1)


def read_srl(path: Path) -> Iterator[str]:
    return columns(text_of(path), 3)


def read_trees(path: Path) -> Iterator[str]:
    """The sentences of sentiment trees."""
    for line in text_of(path).split("\n"):
        yield join_words([word.replace("\\/", "/") for word in LEAF.findall(line)])


def read_table(path: Path) -> Iterator[str]:
    """The cells of a table with tabs that hold four words or more: sentences and contexts."""
    for line in text_of(path).split("\n"):
        for cell in line.split("\t"):
            if cell.count(" ") >= 3:
                yield MARKS.sub("", cell).strip()


def read_pairs(path: Path) -> Iterator[str]:
    """Every cell with a space of a table of sentence pairs, however short."""
    for line in text_of(path).split("\n"):
        yield from (cell.strip() for cell in line.split("\t") if " " in cell.strip())


def read_squad(path: Path) -> Iterator[str]:
    """The paragraphs and the questions."""
    for article in json.loads(text_of(path))["data"]:
        for paragraph in article["paragraphs"]:
            yield paragraph["context"]
            yield from (question["question"] for question in paragraph["qas"])


def read_litbank(path: Path) -> Iterator[str]:
    for text in members(path, ".conll"):
        yield from columns(text, 3)


def read_ontogum(path: Path) -> Iterator[str]:
    for text in members(path, ".conll"):
        yield from columns(text, 1)


def read_senses(path: Path) -> Iterator[str]:
    """The sentences of the evaluation framework for word senses."""
    for text in members(path, ".xml"):
        for sentence in ElementTree.fromstring(text).iter("sentence"):
            yield join_words([word for token in sentence for word in (token.text or "").split()])


def members(path: Path, suffix: str) -> Iterator[str]:
    """The texts of the files in an archive whose names end so, sorted by name."""
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda each: each.name):
            file = archive.extractfile(member)
            if file is not None and member.name.endswith(suffix):
                yield file.read().decode("utf-8")


def read_wikitext(path: Path) -> Iterator[str]:
    """The paragraphs of WikiText; its marks for split hyphens, points and commas are undone."""
    for line in WIKITEXT_MARK.sub(r"\1", text_of(path)).split("\n"):
        if line.strip() and not line.startswith(" ="):
            yield line.strip()


def split_end(path: Path, places: int) -> tuple[list[str], list[str]]:
    """The sentences of a tokenized text, and apart the last ones: so many words and sentence ends at least."""
    lines = text_of(path).splitlines()
    start = len(lines)
    while start and places > 0:
        start -= 1
        places -= len(lines[start].split()) + 1
    return lines[:start], lines[start:]


def read_held_out_end(path: Path) -> Iterator[str]:
    return iter(split_end(path, HELD_OUT_ENDS[path.name.partition(".")[0]])[1])


def read_titles(path: Path) -> list[str]:
    """The titles of the articles of WikiText. Whole articles with these titles stay out of the corpus."""
    return [title for title in TITLE.findall(WIKITEXT_MARK.sub(r"\1", text_of(path))) if "<unk>" not in title]


HELD_OUT: dict[str, Callable[[Path], Iterator[str]]] = {
    "data/corpora/en-01.txt.xz": read_held_out_end,
    "data/corpora/en-02.txt.xz": read_held_out_end,
    "data/corpora/wikitext103-valid.tokens.xz": read_wikitext,
    "data/corpora/wikitext103-test.tokens.xz": read_wikitext,
    "data/intrinsic/context/scws.txt": read_table,
    "data/intrinsic/context/cosimlex-en.csv": read_table,
    "data/intrinsic/context/wic/dev/dev.data.txt": read_pairs,
    "data/tasks/coref/litbank-conll.tar.xz": read_litbank,
    "data/tasks/coref/ontogum-conll.tar.xz": read_ontogum,
    "data/tasks/entailment/sick-dev.txt": read_pairs,
    "data/tasks/entailment/sick-test.txt": read_pairs,
    "data/tasks/entailment/snli-counterfactual-dev.tsv": read_pairs,
    "data/tasks/entailment/snli-counterfactual-test.tsv": read_pairs,
    "data/tasks/entailment/snli-dev.tsv": read_pairs,
    "data/tasks/entailment/snli-test.tsv": read_pairs,
    "data/tasks/ner/wikigold.conll": read_ner,
    "data/tasks/ner/wnut17-dev.conll": read_ner,
    "data/tasks/ner/wnut17-test.conll": read_ner,
    "data/tasks/pos/ewt-dev.conllu.xz": read_conllu,
    "data/tasks/pos/ewt-test.conllu.xz": read_conllu,
    "data/tasks/qa/squad-dev.json.xz": read_squad,
    "data/tasks/qa/squad-train.json.xz": read_squad,
    "data/tasks/sentiment/sst5-dev.txt": read_trees,
    "data/tasks/sentiment/sst5-test.txt": read_trees,
    "data/tasks/srl/ewt-dev.conll.xz": read_srl,
    "data/tasks/srl/ewt-test.conll.xz": read_srl,
    "data/tasks/wsd/evaluation-framework.tar.xz": read_senses,
}
TITLED = ("data/corpora/wikitext103-valid.tokens.xz", "data/corpora/wikitext103-test.tokens.xz")
