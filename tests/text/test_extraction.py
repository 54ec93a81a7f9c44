"""Tables and pages are recognized, and nobody reads them by accident."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.bulk.lines import LineReader
from firth.errors import OptionError
from firth.text.corpus import Corpus
from firth.text.extraction import Extraction
from firth.text.tokenize import Tokenizer

TABLE = 'id,text\n1,"Tea is hot. Milk\nis not."\n2,Rain.\n'
PAGE = "<!doctype html><title>Menu</title><p>Tea.</p><p>Milk.</p>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "b.page").write_text(PAGE)
    (tmp_path / "c.txt").write_text("Plain, text. With < signs.")
    (tmp_path / "d.pdf").write_bytes(b"%PDF-1.4\n\x00")
    return tmp_path


def test_a_table_is_asked_about_with_its_columns(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"a\.csv: is a table with 2 columns \('id', 'text'\)\. Say which column"):
        Corpus(folder / "a.csv")


def test_a_page_is_asked_about_whatever_its_name(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"b\.page: is an HTML page\. Use html=True"):
        Corpus(folder / "b.page")


def test_every_cell_of_the_column_is_a_document(folder: Path) -> None:
    corpus = Corpus(folder / "a.csv", column="text")
    assert list(corpus.texts()) == ["Tea is hot. Milk\nis not.", "Rain."]
    assert corpus.tokens().documents.tolist() == [0, 3, 4]  # a line end ends a sentence
    assert list(corpus.sentences())[-1] == ["Rain", "."]


def test_a_page_is_a_document_or_its_blocks_are(folder: Path) -> None:
    assert list(Corpus(folder / "b.page", html=True).texts()) == ["Tea.\nMilk."]
    corpus = Corpus(folder / "b.page", html=True, documents="line")
    assert corpus.tokens().documents.tolist() == [0, 1, 2]
    assert list(corpus.texts()) == ["Tea.", "Milk."]


def test_pages_and_plain_files_are_read_together_and_binary_files_are_named(folder: Path) -> None:
    (folder / "a.csv").unlink()
    with pytest.warns(UserWarning, match=r"d\.pdf: is skipped, because it is not text"):
        corpus = Corpus(folder, html=True, threads=2)
    sentences = [" ".join(words) for words in corpus.sentences()]
    assert sentences == ["Tea .", "Milk .", "Plain , text .", "With < signs ."]
    assert corpus.tokens().documents.tolist() == [0, 2, 4]


def test_tables_and_pages_can_be_read_as_they_are(folder: Path) -> None:
    assert next(Corpus(folder / "a.csv", column=0).texts()) == TABLE
    assert next(Corpus(folder / "b.page", html=False).texts()) == PAGE


def test_a_column_is_of_a_table_and_a_field_of_json_lines(folder: Path) -> None:
    with pytest.raises(OptionError, match="a column is of a table"):
        Corpus(folder / "a.csv", column="text", field="text")


def test_the_cache_knows_the_column(folder: Path) -> None:
    cells = [
        Corpus(folder / "a.csv", column=column, cache=folder / "cache").vocabulary.words for column in ("id", "text")
    ]
    assert cells[0] != cells[1]


def test_a_large_table_is_read_in_batches(folder: Path) -> None:
    (folder / "large.tsv").write_text("text\n" + "".join(f"word{number % 7} tea\n" for number in range(150_000)))
    corpus = Corpus(folder / "large.tsv", column="text", tokenizer=Tokenizer(mode="whitespace"), threads=2)
    assert len(corpus.tokens().documents) - 1 == 150_000
    assert corpus.vocabulary.words[0] == "tea"


def test_bulk_embedding_reads_a_cell_as_one_line(folder: Path) -> None:
    reader = LineReader.of([folder / "a.csv"], Tokenizer(), "strict", Extraction(column="text"))
    [block] = reader.blocks(100)
    assert block.lines == ["Tea is hot. Milk is not.", "Rain."]
    page = LineReader.of([folder / "b.page"], Tokenizer(), "strict", Extraction(html=True))
    assert next(page.blocks(100)).lines == ["Tea.", "Milk."]
    with pytest.raises(OptionError, match="is a table"):
        next(LineReader.of([folder / "a.csv"], Tokenizer(), "strict").blocks(100))
