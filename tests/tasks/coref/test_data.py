"""Documents in the columns of CoNLL-2012 and OntoGUM."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import FormatError, OptionError
from firth.tasks.coref.data import Document, format_columns, read_documents, write_documents

CONLL_2012 = """#begin document (bc/cctv/00/cctv_0000); part 000
bc/cctv/00/cctv_0000   0   0   Mary    NNP  (TOP(S(NP*)   -   -   -   Ann   *   (4)
bc/cctv/00/cctv_0000   0   1    saw    VBD        (VP*    -   -   -   Ann   *    -
bc/cctv/00/cctv_0000   0   2    her   PRP$        (NP*    -   -   -   Ann   *   (7|(4)
bc/cctv/00/cctv_0000   0   3  sister    NN         *)))   -   -   -   Ann   *    7)

bc/cctv/00/cctv_0000   0   0      I    PRP        (TOP*   -   -   -   Bob   *   (9)
bc/cctv/00/cctv_0000   0   1   know    VBP           *)   -   -   -   Bob   *    -

#end document
#begin document (bc/cctv/00/cctv_0000); part 001
bc/cctv/00/cctv_0000   1   0      I    PRP       (TOP*)   -   -   -    -    *   (0)

#end document
"""


def write_file(folder: Path, text: str, name: str = "some.conll") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def gum(*rows: str) -> str:
    lines = [f"{number}\t{row.replace(' ', chr(9))}" for number, row in enumerate(rows)]
    return "\n".join(["# begin document ", *lines, "# end document", ""])


def test_conll_2012_gives_sentences_clusters_speakers_and_genre(tmp_path: Path) -> None:
    first, second = read_documents(write_file(tmp_path, CONLL_2012))
    assert first.sentences == (("Mary", "saw", "her", "sister"), ("I", "know"))
    assert first.clusters == (((0, 1), (2, 3)), ((2, 4),), ((4, 5),))
    assert first.speakers == ("Ann",) * 4 + ("Bob",) * 2
    assert (first.genre, first.name, second.name) == ("bc", "bc/cctv/00/cctv_0000", "bc/cctv/00/cctv_0000.1")
    assert second.speakers is None


def test_three_columns_are_cut_into_sentences(tmp_path: Path) -> None:
    """Marks stand one behind the other without a bar, and a full stop within a mention ends no sentence."""
    rows = (
        "NASA (5(1)",
        "Administrator _",
        "Bolden 5)",
        "left _",
        ". _",
        "He (5)",
        "likes _",
        "Mr (2",
        ". _",
        "T 2)",
        "! _",
    )
    (document,) = read_documents(write_file(tmp_path, gum(*rows), "GUM_news_nasa.conll"))
    assert [len(sentence) for sentence in document.sentences] == [5, 6]
    assert document.clusters == (((0, 1),), ((0, 3), (5, 6)), ((7, 10),))
    assert (document.name, document.genre) == ("GUM_news_nasa", "news")


def test_a_long_field_of_mentions_is_refused_in_linear_time(tmp_path: Path) -> None:
    began = time.process_time()
    with pytest.raises(FormatError, match="invalid mentions"):
        read_documents(write_file(tmp_path, gum("a " + "x" * 200_000)))
    assert time.process_time() - began < 10


def test_a_mention_within_one_of_its_own_cluster_closes_first(tmp_path: Path) -> None:
    (document,) = read_documents(write_file(tmp_path, gum("a (1", "b (1", "c 1)", "d 1)")))
    assert document.clusters == (((0, 4), (1, 3)),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (gum("a (1", "b _"), r"some.conll:2: a mention of 1 does not end. Add '1\)'"),
        (gum("a 1)"), r"some.conll:2: a mention of 1 ends that did not begin"),
        (gum("a (1))"), r"some.conll:2: invalid mentions '\(1\)\)'"),
        (gum("a b (1) x"), r"some.conll:2: expected 3 columns .* found 5"),
        ("# begin document\n" * 2, r"some.conll:2: a document begins within another"),
        ("0\ta\t_\n", r"some.conll:1: a word outside of a document"),
        ("# begin document\n0\ta\t_\n", r"some.conll:2: the last document does not end. The file may be truncated"),
        ("# begin document\n# end document\n", r"some.conll:2: the document 'some' has no words"),
        ("# end document\n", r"some.conll:1: a document ends that did not begin"),
        ("", r"some.conll: the file has no documents"),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read_documents(write_file(tmp_path, text))


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no such file, folder or archive"):
        read_documents(tmp_path / "none.conll")
    write_file(tmp_path, "x", "notes.txt")
    with pytest.raises(FormatError, match="no file with columns"):
        read_documents(tmp_path)
    (tmp_path / "latin.conll").write_bytes("# begin document\n0\té\t_\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"latin.conll:2: byte 0xe9 at column 3 is not UTF-8"):
        read_documents(tmp_path / "latin.conll")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any sentences; mentions that do not cross, which is all that brackets of one cluster can tell apart."""
    sentences = draw(st.lists(st.lists(st.sampled_from(["tea", "rain", "."]), min_size=1, max_size=5), min_size=1))
    spans, at = [], 0
    for sentence in sentences:
        inner = draw(st.integers(0, len(sentence) - 1))
        spans += [(at, at + len(sentence)), *[(at + place, at + place + 1) for place in range(inner)]]
        at += len(sentence)
    chosen = draw(st.lists(st.sampled_from(sorted(set(spans))), unique=True))
    ids = [draw(st.integers(0, 2)) for _ in chosen]
    clusters = [tuple(sorted(span for span, id in zip(chosen, ids) if id == number)) for number in range(3)]
    return Document(tuple(map(tuple, sentences)), tuple(sorted(filter(None, clusters))), None, None, "some")


@given(documents())
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, document: Document) -> None:
    path = tmp_path_factory.mktemp("columns") / "some.conll"
    write_documents([document], path)
    assert read_documents(path) == [document]


def test_the_sets_at_hand_are_read_whole(data: Path) -> None:
    """LitBank has, as published, 29,103 mentions in 7,927 clusters, of which 5,763 stand alone."""
    folder = data / "data" / "tasks" / "coref"
    litbank = read_documents(folder / "litbank-conll.tar.xz")
    clusters = [cluster for document in litbank for cluster in document.clusters or ()]
    assert (len(litbank), len(clusters), sum(map(len, clusters))) == (100, 7927, 29103)
    assert sum(len(cluster) == 1 for cluster in clusters) == 5763
    assert sum(len(document.words) for document in litbank) == 210_532
    parts = {part: read_documents(f"{folder / 'ontogum-conll.tar.xz'}:{part}") for part in ("train", "dev", "test")}
    assert [len(part) for part in parts.values()] == [191, 32, 32]
    assert max(len(sentence) for document in parts["dev"] for sentence in document.sentences) <= 120
    again = "\n".join(format_columns(litbank[0])).count("(")
    assert again >= sum(map(len, litbank[0].clusters or ()))


def test_a_mention_that_begins_as_one_cluster_and_ends_as_another_is_left_out(tmp_path: Path) -> None:
    (document,) = read_documents(write_file(tmp_path, gum("a (2", "b (3)", "c 3)", "d (2)", "e (3)")))
    assert document.clusters == (((1, 2), (4, 5)), ((3, 4),))
    twice = gum("a (2", "b (4", "c 3)", "d 5)")
    with pytest.raises(FormatError, match=r"some.conll:4: a mention of 3 ends that did not begin"):
        read_documents(write_file(tmp_path, twice))


def test_the_document_of_ontogum_that_has_such_a_slip_is_read(data: Path) -> None:
    documents = read_documents(f"{data / 'data' / 'tasks' / 'coref' / 'ontogum-conll.tar.xz'}:test2")
    assert len(documents) == 26
    (road,) = [document for document in documents if document.name == "GENTLE_poetry_road"]
    assert sum(map(len, road.clusters or ())) == 20
