"""Test sets as they lie on disk: every form is read, every broken line is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from firth.data import SETS
from firth.errors import FormatError, OptionError
from firth.evaluate import questions
from firth.evaluate.questions import (
    AnalogyQuestion,
    Member,
    RatedPair,
    read_analogies,
    read_categories,
    read_pairs,
    task_of,
    words_of,
)


def write(folder: Path, text: str, name: str = "set.txt") -> Path:
    file = folder / name
    file.write_bytes(text.encode("utf-8"))
    return file


@pytest.mark.parametrize(
    "text",
    [
        "tea\tcoffee\t7.5\nsun\train\t2\n",
        "tea coffee 7.5\nsun  rain 2\n",
        "tea,coffee,7.5\nsun,rain,2\n",
        '"tea","coffee",7.5\n"sun", "rain", 2\n',
        "\ufefftea\tcoffee\t7.5\r\nsun\train\t2\r\n",
        "# made up\n\ntea\tcoffee\t7.5\n\nsun\train\t2",
        "word1\tword2\tscore\ntea\tcoffee\t7.5\nsun\train\t2\n",
        "tea\tcoffee\t7.5\t9\t6\nsun\train\t2\t3\n",
        "word1\tword2\tPOS\tmean\ntea\tcoffee\tN\t7.5\nsun\train\tN\t2\n",
    ],
    ids=["tabs", "blanks", "commas", "quotes", "mark", "comments", "header", "ratings", "column"],
)
def test_every_form_of_pairs_reads_the_same(tmp_path: Path, text: str) -> None:
    assert read_pairs(write(tmp_path, text)) == [RatedPair("tea", "coffee", 7.5), RatedPair("sun", "rain", 2.0)]


def test_a_phrase_keeps_its_blanks_between_tabs_and_its_comma_between_quotes(tmp_path: Path) -> None:
    assert read_pairs(write(tmp_path, "Promised Land\tBaku\t0.42\n"))[0].first == "Promised Land"
    assert read_pairs(write(tmp_path, '"Paris, Texas",Paris,3\n'))[0].first == "Paris, Texas"


def test_packed_sets_are_read_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "pairs.txt.gz"
    file.write_bytes(gzip.compress(b"tea coffee 7.5\n"))
    assert read_pairs(file) == [RatedPair("tea", "coffee", 7.5)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\tb\t1\na\tb\n", r"set\.txt:2: expected two words and a score in column 3, found 2 fields"),
        ("a\tb\t1\n\na\tb\tmuch\n", r"set\.txt:3: expected a number as score, found 'much'"),
        ("a\tb\t1\na\tb\tnan\n", r"set\.txt:2: expected a number as score, found 'nan'"),
        ("a\tb\t1\na\t\t3\n", r"set\.txt:2: a word is empty"),
        ("a b\n", r"set\.txt:1: expected at least 3 fields"),
        ("a b c\n", r"set\.txt:1: expected a score after two words"),
        ("# nothing\n", r"set\.txt: contains no questions"),
    ],
)
def test_a_broken_pair_is_named_by_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read_pairs(write(tmp_path, text))


def test_bytes_that_are_not_utf8_are_named_by_their_line(tmp_path: Path) -> None:
    file = tmp_path / "set.txt"
    file.write_bytes(b"a\tb\t1\ncaf\xe9\tb\t2\n")
    with pytest.raises(FormatError, match=r"set\.txt:2: byte 0xe9 at column 4 is not UTF-8"):
        read_pairs(file)


def test_a_line_without_end_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    file = tmp_path / "set.txt"
    file.write_bytes(b"a" * (questions.LONGEST + 10))
    with pytest.raises(FormatError, match=r"set\.txt:1: the line has more than 65,536 bytes"):
        read_pairs(file)


def test_sections_start_with_a_colon(tmp_path: Path) -> None:
    file = write(tmp_path, ": capital\nAthens Greece Oslo Norway\n: gram1\ncalm calmly slow slowly\n")
    assert read_analogies(file) == {
        "capital": [AnalogyQuestion("Athens", "Greece", "Oslo", "Norway")],
        "gram1": [AnalogyQuestion("calm", "calmly", "slow", "slowly")],
    }


def test_sections_may_be_the_first_of_five_fields(tmp_path: Path) -> None:
    file = write(tmp_path, "\ufeffcapital,a,b,c,d\nfamily,e,f,g,h\ncapital,i,j,k,l\n", "set.csv")
    assert {name: len(section) for name, section in read_analogies(file).items()} == {"capital": 2, "family": 1}


def test_questions_without_sections_have_a_section_without_a_name(tmp_path: Path) -> None:
    assert list(read_analogies(write(tmp_path, "good\tbetter\trough\trougher\n"))) == [""]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (": s\na b c d\na b c\n", r"set\.txt:3: expected four words, found 3"),
        ("a,b,c,d\na,,c,d\n", r"set\.txt:2: a word is empty"),
        (": s\n", r"set\.txt: contains no questions"),
    ],
)
def test_a_broken_question_is_named_by_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read_analogies(write(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "animal,cat\nanimal,dog\ndrink,tea\n",
        "cat animal\ndog animal\ntea drink\n",
        "word\tcategory\ncat\tanimal\ndog\tanimal\ntea\tdrink\n",
    ],
)
def test_the_column_that_repeats_is_the_category(tmp_path: Path, text: str) -> None:
    assert read_categories(write(tmp_path, text)) == [
        Member("animal", "cat"),
        Member("animal", "dog"),
        Member("drink", "tea"),
    ]


def test_the_category_column_can_be_said(tmp_path: Path) -> None:
    file = write(tmp_path, "cat animal\ntea drink\n")
    assert read_categories(file, category_column=2)[0] == Member("animal", "cat")
    with pytest.raises(OptionError, match="category_column is 3"):
        read_categories(file, category_column=3)  # type: ignore[arg-type]


def test_a_member_that_stands_twice_counts_once_and_a_broken_one_is_named(tmp_path: Path) -> None:
    assert len(read_categories(write(tmp_path, "animal,cat\nanimal,cat\ndrink,tea\n"))) == 2
    with pytest.raises(FormatError, match=r"set\.txt:2: expected a category and a word, found 3 fields"):
        read_categories(write(tmp_path, "animal,cat\nanimal,dog,big\n"))


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("tea coffee 7\n", "similarity"),
        ("w1,w2,mean\ntea,coffee,7\n", "similarity"),
        (": s\na b c d\n", "analogy"),
        ("a\tb\tc\td\n", "analogy"),
        ("s,a,b,c,d\n", "analogy"),
        ("animal,cat\nanimal,dog\n", "categories"),
    ],
)
def test_a_file_tells_what_it_asks(tmp_path: Path, text: str, task: str) -> None:
    assert task_of(write(tmp_path, text)) == task


def test_a_file_of_no_known_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="not a known format of a test set"):
        task_of(write(tmp_path, "once upon a time there was a test\n"))


def test_the_words_of_a_set_are_listed_once(tmp_path: Path) -> None:
    assert words_of(write(tmp_path, "tea coffee 7\ntea rain 1\n")) == ["tea", "coffee", "rain"]


SIZES = {
    "wordsim353": 353,
    "wordsim353-sim": 203,
    "wordsim353-rel": 252,
    "simlex999": 999,
    "men": 3000,
    "mturk": 287,
    "rarewords": 2034,
    "semeval2017-en": 500,
    "fa/similarity-semeval2017": 500,
}


@pytest.mark.parametrize("name", SIZES)
def test_every_named_similarity_set_is_read_whole(data: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(data))
    assert len(read_pairs(name)) == SIZES[name]


def test_the_right_column_is_the_score(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(data))
    assert read_pairs("simlex999")[0] == RatedPair("old", "new", 1.58)
    assert read_pairs("rarewords")[0] == RatedPair("squishing", "squirt", 5.88)


def test_every_named_analogy_set_is_read_whole(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(data))
    for name, sections, size in (("google", 14, 19544), ("google-phrases", 5, 3218), ("msr", 1, 8000)):
        read = read_analogies(name)
        assert (len(read), sum(map(len, read.values()))) == (sections, size)
    persian = read_analogies("fa/analogy-sbu")
    assert next(iter(persian)) == "semantic-capitals"  # without its byte-order mark
    assert (len(persian), sum(map(len, persian.values()))) == (8, 19716)


def test_the_persian_categories_are_read_with_the_category_first(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(data))
    members = read_categories("fa/categories-sbu")
    assert len({member.category for member in members}) == 93
    assert members[0] == Member("ورزش", "دو")


def test_a_relation_table_gives_the_questions_of_every_two_pairs(tmp_path: Path) -> None:
    file = tmp_path / "relations.txt"
    file.write_text(": family\nman woman\nking queen\nboy girl lad\n")
    with pytest.raises(FormatError, match=r":2: expected four words, found 2"):
        read_analogies(file)
    file.write_text(": family\nman woman\nking queen\nboy girl\n: gram1\ncat cats\ndog dogs\nhound dogs\n")
    read = read_analogies(file)
    assert {name: len(section) for name, section in read.items()} == {"family": 6, "gram1": 4}
    assert read["family"][0] == AnalogyQuestion("man", "woman", "king", "queen")
    assert all(one.expected not in one[:3] for one in read["gram1"])


def test_a_single_pair_is_no_question(tmp_path: Path) -> None:
    file = tmp_path / "relations.txt"
    file.write_text(": family\nman woman\n")
    with pytest.raises(FormatError, match="needs at least two pairs"):
        read_analogies(file)


OWN = {
    "firth-similarity-en": (read_pairs, 200),
    "firth-similarity-fa": (read_pairs, 200),
    "firth-categories-en": (read_categories, 150),
    "firth-categories-fa": (read_categories, 150),
}


@pytest.mark.parametrize("name", OWN)
def test_the_sets_that_ship_are_read_whole_without_duplicates(name: str) -> None:
    read, least = OWN[name]
    items = read(name)
    assert len(items) == SETS[name].size >= least
    assert len({frozenset(item[:2]) for item in items}) == len(items)
    if name.startswith("firth-similarity"):
        assert {0, 5, 9} <= {int(item.score) for item in items}
        assert all(0 <= item.score <= 10 for item in items)
    else:
        assert len({item.category for item in items}) >= 15


@pytest.mark.parametrize("language", ["en", "fa"])
def test_the_analogies_that_ship_have_sections_of_both_groups(language: str) -> None:
    sections = read_analogies(f"firth-analogy-{language}")
    questions = [question for section in sections.values() for question in section]
    assert len(questions) == SETS[f"firth-analogy-{language}"].size >= 300
    assert {name.startswith("gram") for name in sections} == {True, False}
    assert len(set(questions)) == len(questions)


def test_a_line_that_is_not_csv_is_split_at_its_commas(tmp_path: Path) -> None:
    pairs = read_pairs(write(tmp_path, "tea,cof\rfee,7\nsun,rain,2\n"))
    assert [pair.second for pair in pairs] == ["cof\rfee", "rain"]


def test_a_colon_that_is_no_title_is_a_wrong_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"set\.txt:2: expected four words, found 1"):
        read_analogies(write(tmp_path, "Rome Italy Paris France\n\t: \n"))


def test_a_relation_table_cannot_fill_the_memory(tmp_path: Path) -> None:
    text = "".join(f"a{number} b{number}\n" for number in range(1001))
    with pytest.raises(FormatError, match="over 1,000,000"):
        read_analogies(write(tmp_path, text))
