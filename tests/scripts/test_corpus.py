"""The corpus script: every reader on a small file, every filter on a sentence, and the pipeline on two clones."""

from __future__ import annotations

import doctest
import json
import lzma
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import corpus
import corpus_heldout as heldout
import corpus_kernels as kernels
import corpus_pack as pack
import corpus_readers as readers
import corpus_sieve as sieve
import corpus_sources as sources
import corpus_text
from firth.errors import OptionError

WIKI = """<doc id="1" url="x" title="Tea &amp; milk">
Tea &amp; milk

Tea ( ; ) is a drink that people make from leaves &lt;br&gt; of a plant.
History.
Its price formula_3 was higher then than it is today.
</doc>
<doc id="2" url="x" title="Held Out">
Held Out

This article is a part of a test set and must not be read.
</doc>
"""
BOOK = """The Project Gutenberg EBook of Tea

Language: English

*** START OF THIS PROJECT GUTENBERG EBOOK TEA ***

Produced by A Person

It was _late_, and the tea was cold;
she drank it--slowly.[1]

      O tea, O tea,
      be warm for me!

CONTENTS .......... 3

End of the Project Gutenberg EBook of Tea

*** START: FULL LICENSE ***
"""
ARTICLE = """<?xml version="1.0"?><article xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<title-group><article-title>On tea</article-title></title-group>
<abstract><p>Tea helps <italic>mice</italic>.</p></abstract>
</article-meta></front><body><sec><title>Results</title><p>Mice drank tea (<xref ref-type="bibr">Li, 2001</xref>;
<xref>Figure 1</xref>). They slept<sup><xref>12</xref></sup>. <fig><caption><p>A mouse.</p></caption></fig></p>
<p>Let <inline-formula><mml:math><mml:mi>x</mml:mi></mml:math></inline-formula> be tea.</p></sec></body></article>"""


def paragraphs(reader: readers.Reader, text: str) -> list[str]:
    return [
        " ".join(each.split()) for document in reader(text.encode()) for each in document.paragraphs if each.strip()
    ]


@pytest.mark.parametrize("module", [heldout, kernels, pack, readers, sieve, sources, corpus_text])
def test_the_examples_of_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_a_wikipedia_article_loses_its_headings_and_empty_brackets() -> None:
    first, second = readers.read_wikiextractor(WIKI.encode())
    assert (first.title, second.title) == ("Tea & milk", "Held Out")
    assert first.paragraphs[0] == "Tea is a drink that people make from leaves   of a plant."
    assert first.paragraphs[1] == f"Its price {readers.GAP} was higher then than it is today."
    assert len(first.paragraphs) == 2


def test_a_book_loses_header_licence_verse_and_tables() -> None:
    assert paragraphs(readers.read_gutenberg, BOOK) == ["It was late, and the tea was cold; she drank it — slowly."]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("A book without any header.", "no Gutenberg header"),
        (BOOK.replace("English", "French"), "not English"),
        (BOOK + "This is a COPYRIGHTED Project Gutenberg eBook.", "copyrighted"),
    ],
)
def test_a_book_that_may_not_be_used_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(readers.Unreadable, match=reason):
        list(readers.read_gutenberg(text.encode()))


def test_an_article_loses_citations_and_figures_and_marks_formulas() -> None:
    assert paragraphs(readers.read_jats, ARTICLE) == [
        "Tea helps mice.",
        "Mice drank tea. They slept.",
        f"Let {readers.GAP} be tea.",
    ]
    with pytest.raises(readers.Unreadable, match="broken XML"):
        list(readers.read_jats(b"<article>"))


def test_news_loses_date_line_caption_and_licence_line() -> None:
    text = (
        "TEHRAN (MNA) – Tea is grown in the north.Farmers sell it.  PHOTO: A cup of tea. AFM/MG All Content by Mehr "
        "News Agency is licensed under a licence."
    )
    assert paragraphs(readers.read_news, text) == ["Tea is grown in the north. Farmers sell it."]


def test_a_speech_loses_paragraph_numbers_and_line_ends() -> None:
    long = "We have come to this Assembly to speak of peace, and of the price of tea, which is too high for us all."
    assert paragraphs(readers.read_speech, f"98.\t{long}\n99. {long}\n") == [long, long]
    assert paragraphs(readers.read_speech, "We all want peace in the\nwhole world.\nTea is good for peace.\n\n") == [
        "We all want peace in the whole world.",
        "Tea is good for peace.",
    ]
    assert paragraphs(readers.read_speech, "\n") == []


def test_an_entry_of_the_encyclopedia_loses_its_box() -> None:
    text = "+====+\n ENCYCLOPEDIA, License: CC-BY-4.0\n+====+\n\nTEA, a\nplant. [7:6:125]\n\nIt grows.\n\n1 | 2\n"
    assert paragraphs(readers.read_britannica, text) == ["TEA, a plant.", "It grows."]


def test_a_line_of_a_file_of_sentences_is_a_paragraph() -> None:
    assert paragraphs(readers.read_sentences, "Tea is good .\nIt 's hot .\n") == ["Tea is good .", "It 's hot ."]


def test_bytes_that_are_not_utf_8_are_read_as_windows_1252() -> None:
    assert readers.decode(b"caf\xe9 \x93tea\x94\r\n") == "café “tea”\n"


@pytest.mark.parametrize(
    "reader, name, text, expected",
    [
        (heldout.read_ner, "a.conll", "Tea\tO\nis\tO\n\nHot\tO\n", ["Tea is", "Hot"]),
        (heldout.read_conllu, "a.conllu", "# text = Tea\n1\tTea\ttea\n2\t``\t_\n\n", ['Tea "']),
        (heldout.read_srl, "a.conll", "d\t0\t0\tTea\tNN\nd\t0\t1\t.\t.\n", ["Tea ."]),
        (heldout.read_trees, "a.txt", "(3 (2 Tea) (2 (2 -LRB-) (2 and\\/or)))\n", ["Tea ( and/or", ""]),
        (heldout.read_pairs, "a.tsv", "neutral\tTea is hot .\tTea boils\n", ["Tea is hot .", "Tea boils"]),
        (heldout.read_table, "a.csv", "tea\tmilk\tHe drank <b> tea </b> today .\t3\n", ["He drank  tea  today ."]),
        (
            heldout.read_squad,
            "a.json",
            '{"data": [{"paragraphs": [{"context": "Tea is hot.", "qas": [{"question": "What is hot?"}]}]}]}',
            ["Tea is hot.", "What is hot?"],
        ),
        (heldout.read_wikitext, "a.tokens", " = Tea = \n\n A well @-@ known drink . \n", ["A well-known drink ."]),
    ],
)
def test_the_sentences_of_a_test_set_are_found(
    reader: object, name: str, text: str, expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert list(reader(path)) == expected  # type: ignore[operator]


def test_archives_of_test_sets_are_read(tmp_path: Path) -> None:
    files = {
        "a.conll": "#begin document (a)\nd\t0\t0\tTea\t_\n#end document\n",
        "b.xml": "<corpus><text><sentence><wf>Tea</wf><instance>boils</instance></sentence></text></corpus>",
    }
    with tarfile.open(tmp_path / "sets.tar.xz", "w:xz") as archive:
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
            archive.add(tmp_path / name, name)
    assert list(heldout.read_litbank(tmp_path / "sets.tar.xz")) == ["Tea"]
    assert list(heldout.read_ontogum(tmp_path / "sets.tar.xz")) == ["0"]
    assert list(heldout.read_senses(tmp_path / "sets.tar.xz")) == ["Tea boils"]


def sieve_of(*held: str) -> sieve.Sieve:
    """A sieve whose test set holds these sentences."""
    sentences, runs = sieve.Seen(), sieve.Seen()
    text = sieve.measure("\n".join(held).encode(), np.empty(0, np.uint64))
    sentences.add(text.keys)
    found = np.empty(len(text.words) + 1, np.uint64)
    runs.add(found[: kernels.hash_runs(text.words, sieve.TEST_RUN, found)])
    held_out = sieve.HeldOut(sentences, runs, set(), {})
    return sieve.Sieve(held_out, sieve.Seen(), sieve.Seen(), sieve.hash_words(sieve.FUNCTION_WORDS))


@pytest.mark.parametrize(
    "sentence, reason",
    [
        ("Tea is a drink .", "kept"),
        ('" Absolutely " , she said .', "kept"),
        ("Tea boils .", "shorter than 3 words"),
        ("How to make good tea", "no end of a sentence"),
        ("1 2 3 4 5 6 tea ( 7 ) .", "symbols and numbers"),
        ("TEA FOR ALL .", "capitals"),
        ("Sic abacum perstare jubet sic tegmine glauco pandere .", "not English"),
        ("Tea costs \ue000 in the shop .", "formula or link"),
        (" ".join(["tea and"] * 150) + " .", "longer than 256 tokens"),
        ("It 's the CHEAPEST tea !", "sentence of a dev or test set"),
        (
            "Here one two of three a four the five six seven and eight nine ten too .",
            "13 words in a row of a dev or test set",
        ),
    ],
)
def test_a_sentence_goes_for_one_reason(sentence: str, reason: str) -> None:
    held = sieve_of("It's the cheapest tea!", "one two of three a four the five six seven and eight nine ten")
    kept, reasons, tokens, *_ = held.sift(f"{sentence}\n\n".encode())
    assert [sieve.REASONS[each] for each in reasons] == [reason]
    assert kept == (f"{sentence}\n".encode() if reason == "kept" else b"")
    assert tokens.tolist() == [len(sentence.split())]


def test_a_sentence_stays_once_whatever_its_case_and_punctuation() -> None:
    kept, reasons, *_ = sieve_of().sift(b"Tea is a drink .\n\nMilk is a drink .\nTea is a DRINK !\n\n")
    assert kept == b"Tea is a drink .\nMilk is a drink .\n"
    assert [sieve.REASONS[each] for each in reasons] == ["kept", "kept", "duplicate sentence"]


def test_a_paragraph_with_few_changes_is_a_near_duplicate() -> None:
    words = [f"word{i} of" for i in range(100)]
    changed = [*words[:50], "tea", *words[50:]]
    other = [f"other{i} of" for i in range(100)]
    text = "\n\n".join(" ".join(each) + " ." for each in (words, changed, other)) + "\n\n"
    _, reasons, *_ = sieve_of().sift(text.encode())
    assert [sieve.REASONS[each] for each in reasons] == ["kept", "near-duplicate paragraph", "kept"]


def test_runs_of_words_hash_as_their_words_do() -> None:
    words = np.array([3, 5, 7, 3, 5, 7], np.uint64)
    runs = np.empty(7, np.uint64)
    assert kernels.hash_runs(words, 3, runs) == 4
    assert runs[0] == runs[3]
    assert len(set(runs[:3].tolist())) == 3
    assert kernels.hash_runs(words[:2], 3, runs) == 0


def test_a_set_of_keys_grows_and_forgets_nothing() -> None:
    seen = sieve.Seen()
    keys = np.arange(1, 200_001, dtype=np.uint64)
    seen.add(keys[:100_000])
    seen.add(keys)
    assert seen.count == 200_000
    assert 2 * seen.count <= len(seen.table)
    assert kernels.insert_all(seen.table, keys) == 0


def test_a_text_is_cut_between_paragraphs(tmp_path: Path) -> None:
    text = b"a b\nc\n\nd e f\n\ng\n\n"
    (tmp_path / "a.txt").write_bytes(text)
    for size in (1, 5, 8, 100):
        chunks = list(sieve.read_chunks(tmp_path / "a.txt", size))
        assert b"".join(chunks) == text
        assert all(chunk.endswith(b"\n\n") for chunk in chunks)


def test_historical_text_is_at_most_half() -> None:
    modern, old = (sources.local(genre, genre, "") for genre in ("news", "books"))
    blocks = [pack.Block(0, 0, 9, 100), *(pack.Block(1, i, i + 1, 30) for i in range(5))]
    mixed, left_out = pack.mix_blocks(blocks, (modern, old), 0)
    assert sum(block.tokens for block in mixed if block.source == 1) == 90
    assert sorted([*mixed, *left_out]) == blocks
    assert mixed == pack.mix_blocks(blocks, (modern, old), 0)[0]


def clone(folder: Path, files: dict[str, str]) -> str:
    """A repository with these files; returns its commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "files"]):
        subprocess.run(["git", "-C", folder, *command], check=True)
    return subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> corpus.Settings:
    """Two clones, one with a work tree and one bare, a file of the data folder and a test set."""
    data, clones = tmp_path / "data", tmp_path / "clones"
    (data / "data/corpora").mkdir(parents=True)
    (data / "data/corpora/own.txt.xz").write_bytes(
        lzma.compress(b"Tea is for all of us .\nMilk is what the cat and the dog drink .\n") * 2
    )
    (data / "test.tsv").write_text("She drank it, and it was hot.\tnot a pair\n")
    (data / "titles.tokens").write_text(" = Held Out = \n")
    wiki = clone(clones / "a/wiki", {"text/wiki_00": WIKI, "other.txt": "No."})
    more = "She drank it, and it was hot.\n\nThey all went home to drink tea.\n\nEnd of the Project"
    book = clone(tmp_path / "work", {"Author/Tea.txt": BOOK.replace("End of the Project", more, 1)})
    subprocess.run(["git", "clone", "-q", "--bare", tmp_path / "work", clones / "books.git"], check=True)
    monkeypatch.setattr(sieve, "HELD_OUT", {"test.tsv": heldout.read_pairs})
    monkeypatch.setattr(sieve, "TITLED", ("titles.tokens",))
    chosen = (
        sources.Source(
            "wiki", "encyclopedia", "a/wiki", "CC BY-SA", wiki, r"text/wiki_\d\d", readers.read_wikiextractor
        ),
        sources.Source("books", "books", "b/books", "public domain", book, r".*/.*\.txt", readers.read_gutenberg),
        sources.local("own", "news", "CC0"),
    )
    return corpus.Settings(clones, data, tmp_path / "out", chosen)


def packed(settings: corpus.Settings) -> Iterator[bytes]:
    for path in sorted(settings.out.glob("*.xz")):
        yield from lzma.decompress(path.read_bytes()).splitlines()


def test_the_pipeline_reports_what_it_keeps_and_why_the_rest_goes(settings: corpus.Settings) -> None:
    report = corpus.run(settings)
    lines = sorted(packed(settings))
    assert lines == [
        "It was late , and the tea was cold ; she drank it — slowly .".encode(),
        b"Milk is what the cat and the dog drink .",
        b"Tea is a drink that people make from leaves of a plant .",
        b"Tea is for all of us .",
        b"They all went home to drink tea .",
    ]
    assert report == json.loads((settings.out / "report.json").read_text())
    assert [(shard["genre"], shard["file"]) for shard in report["shards"]] == [
        ("encyclopedia", "encyclopedia-01.txt.xz"),
        ("books", "books-01.txt.xz"),
        ("news", "news-01.txt.xz"),
    ]
    assert report["tokens_by_genre"] == {"encyclopedia": 13, "books": 24, "news": 17}
    assert report["tokens"] == sum(line.count(b" ") + 1 for line in lines) == 54
    assert report["modern_tokens"] == 30
    wiki, books, own = report["sources"]
    assert wiki["refused_documents"] == {"held-out article": 1}
    assert wiki["tokens_removed"]["formula or link"] > 0
    assert books["tokens_removed"]["sentence of a dev or test set"] == 9
    assert own["tokens_removed"]["duplicate sentence"] == 17
    for source in report["sources"]:
        assert source["tokens_read"] == source["tokens_kept"] + sum(source["tokens_removed"].values())


def test_a_run_that_is_resumed_gives_the_same_bytes(settings: corpus.Settings) -> None:
    corpus.run(settings)
    whole = list(packed(settings))
    text = settings.out / "text/wiki.txt"
    before = text.stat().st_mtime_ns
    (settings.out / "kept/books.json").unlink()
    corpus.run(settings)
    assert list(packed(settings)) == whole
    assert text.stat().st_mtime_ns == before


def test_a_missing_clone_or_test_set_is_an_error_with_a_cure(settings: corpus.Settings) -> None:
    with pytest.raises(OptionError, match=r"holds no clone of a/wiki. Clone it to"):
        sources.clone_of(settings.sources[0], settings.data)
    (settings.data / "test.tsv").unlink()
    with pytest.raises(OptionError, match="Set FIRTH_DATA"):
        corpus.run(settings)


def test_a_shard_is_never_larger_than_asked(settings: corpus.Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "STREAM", 1)
    path = settings.out / "lines.txt"
    path.parent.mkdir()
    rng = np.random.default_rng(0)
    path.write_text("".join(f"{rng.integers(1 << 60)} {rng.integers(1 << 60)}\n" for _ in range(5000)))
    blocks = list(pack.list_blocks(path, 0))
    shards = pack.pack_blocks(blocks, [path], settings.out / "books", 6, 45_000)
    assert len(blocks) == 5
    assert sum(shard["tokens"] for shard in shards) == 10_000
    assert all(shard["bytes"] == (settings.out / shard["file"]).stat().st_size <= 45_000 for shard in shards)
    assert b"\n".join(packed(settings)) + b"\n" == path.read_bytes()
    with pytest.raises(OptionError, match="larger than a shard"):
        pack.pack_blocks(blocks, [path], settings.out / "books", 6, 1000)


def test_the_end_of_a_text_has_so_many_words_and_sentence_ends(tmp_path: Path) -> None:
    (tmp_path / "en-01.txt").write_text("one two .\nthree .\nfour .\n")
    assert heldout.split_end(tmp_path / "en-01.txt", 4) == (["one two ."], ["three .", "four ."])
    assert heldout.split_end(tmp_path / "en-01.txt", 3)[1] == ["four ."]
    assert len(heldout.split_end(tmp_path / "en-01.txt", 99)[1]) == 3


def test_the_table_of_sources_names_repository_licence_and_commit() -> None:
    assert len({source.name for source in sources.SOURCES}) == len(sources.SOURCES)
    for source in sources.SOURCES:
        assert source.licence
        assert bool(source.repository) == (len(source.commit) == 40)
