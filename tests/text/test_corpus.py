"""A corpus from text to token file: every packing, every broken byte, any number of threads."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import FormatError, OptionError
from firth.progress import Progress
from firth.text import chunks
from firth.text import corpus as corpus_module
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer

SPLIT = Tokenizer(mode="whitespace")


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def words_of(tokens: TokenFile) -> list[str]:
    return [tokens.vocabulary[int(id)] for id in tokens.ids]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of 64 bytes, so that a small text has many."""
    monkeypatch.setattr(chunks.chunks, "__kwdefaults__", chunks.chunks.__kwdefaults__ | {"size": 64})  # type: ignore[attr-defined]
    monkeypatch.setattr(corpus_module, "CHUNK", 64)


def test_ids_are_ranks_and_lines_are_sentences(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "the cat sat\n\n  \nthe mat\nthe cat\n")
    tokens = Corpus(path, tokenizer=SPLIT).tokens()
    assert tokens.vocabulary.words == ("the", "cat", "mat", "sat")
    assert tokens.vocabulary.counts is not None
    assert tokens.vocabulary.counts.tolist() == [3, 2, 1, 1]
    assert tokens.ids.tolist() == [0, 1, 3, 0, 2, 0, 1]
    assert tokens.sentences.tolist() == [0, 3, 5, 7]
    assert tokens.documents.tolist() == [0, 3]


def test_running_text_is_cut_by_the_tokenizer(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "I can't go. It's late!\n")
    assert list(Corpus(path).sentences()) == [["I", "ca", "n't", "go", "."], ["It", "'s", "late", "!"]]


def test_a_function_from_text_to_tokens_is_a_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("New-York is big. We\u2019re in New-York!")
    for corpus in (
        Corpus(tmp_path / "text.txt", tokenizer=str.split),
        Corpus.of("New-York is big. We\u2019re in New-York!", tokenizer=str.split),
    ):
        assert list(corpus.sentences()) == [["New-York", "is", "big."], ["We\u2019re", "in", "New-York!"]]


def test_a_function_that_changes_words_is_refused_with_the_way_that_works() -> None:
    texts = ["Hot tea", "Cold rain"]
    with pytest.raises(OptionError, match=r"returned 'hot', which is not in .* pass lists: \[split\(text\) for text"):
        Corpus.of(texts, tokenizer=lambda text: text.lower().split()).tokens()
    assert Corpus.of([text.lower().split() for text in texts]).vocabulary.words == ("cold", "hot", "rain", "tea")


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "txt": bytes,
}


@pytest.mark.parametrize("packing", PACKERS)
def test_a_packed_file_reads_as_the_plain_one(tmp_path: Path, packing: str) -> None:
    text = "سلام دنیا\nthe cat\n" * 1000
    path = write(tmp_path / "no-telling-name", PACKERS[packing](text.encode()))
    assert Corpus(path, tokenizer=SPLIT).fingerprint == Corpus.of([text], tokenizer=SPLIT).fingerprint


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("harm", ["cut", "changed"])
def test_a_broken_packed_file_is_an_error_and_never_a_shorter_text(tmp_path: Path, packing: str, harm: str) -> None:
    packed = bytearray(PACKERS[packing]("".join(f"word{i} " for i in range(5000)).encode()))
    if harm == "cut":
        del packed[len(packed) // 2 :]
    else:
        packed[len(packed) // 2 : len(packed) // 2 + 8] = b"\xff" * 8
    with pytest.raises(FormatError, match=f"broken.txt: the {packing} data is corrupt"):
        Corpus(write(tmp_path / "broken.txt", bytes(packed)), tokenizer=SPLIT).tokens()


@pytest.mark.parametrize("tokenizer", [SPLIT, Tokenizer()])
@pytest.mark.usefixtures("small_chunks")
def test_a_broken_byte_is_named_by_file_and_offset(tmp_path: Path, tokenizer: Tokenizer) -> None:
    text = b"a good line\n" * 50
    path = write(tmp_path / "bad.txt", gzip.compress(text + b"then caf\xe9 \n" + text))
    with pytest.raises(FormatError, match=r"bad\.txt: byte 608: 0xe9 is not UTF-8") as caught:
        Corpus(path, tokenizer=tokenizer).tokens()
    assert caught.value.offset == 608
    replaced = Corpus(path, tokenizer=tokenizer, errors="replace").tokens()
    assert "".join(words_of(replaced)).count("caf\ufffd") == 1
    assert len(replaced.sentences) - 1 == 101


def test_a_byte_order_mark_is_dropped_and_offsets_stay_true(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"\xef\xbb\xbfthe cat\n")
    assert list(Corpus(path, tokenizer=SPLIT).sentences()) == [["the", "cat"]]
    assert list(Corpus(path).texts()) == ["the cat\n"]
    for tokenizer in (SPLIT, Tokenizer()):
        with pytest.raises(FormatError, match="byte 3:"):
            Corpus(write(tmp_path / "b.txt", b"\xef\xbb\xbf\xff"), tokenizer=tokenizer).tokens()


def test_utf_16_is_recognized(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"byte 0: 0xff is not UTF-8.*looks like UTF-16"):
        Corpus(write(tmp_path / "a.txt", "the cat".encode("utf-16")), tokenizer=SPLIT).tokens()


def test_carriage_returns_and_odd_control_characters_do_no_harm(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"the cat\r\n\r\na\x00b \x00 \x1f x\x7f\r\n")
    assert list(Corpus(path, tokenizer=SPLIT).sentences()) == [["the", "cat"], ["a", "b", "\x1f", "x\x7f"]]


texts = st.lists(st.sampled_from(["the", "cat", "سلام", "\n", " ", "\t", "a-word-of-seventeen", "\0"]), max_size=200)


@settings(deadline=None, max_examples=25)
@given(texts.map(" ".join), st.integers(1, 4), st.integers(1, 80))
def test_threads_and_chunks_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, text: str, threads: int, size: int
) -> None:
    path = write(tmp_path_factory.mktemp("corpus") / "a.txt", text)
    patch = pytest.MonkeyPatch()
    patch.setattr(chunks.chunks, "__kwdefaults__", chunks.chunks.__kwdefaults__ | {"size": size})  # type: ignore[attr-defined]
    with patch.context():
        tokens = Corpus(path, tokenizer=SPLIT, threads=threads).tokens()
    patch.undo()
    assert words_of(tokens) == [word for line in text.split("\n") for word in line.split(" ") if word.strip("\t\0")]
    assert tokens.fingerprint == Corpus(path, tokenizer=SPLIT, threads=1).fingerprint
    assert len(tokens.sentences) - 1 == sum(bool(line.strip(" \t\0")) for line in text.split("\n"))


def test_a_real_text_is_the_same_for_any_number_of_threads(data: Path) -> None:
    path = data / "data" / "corpora" / "wikitext103-valid.tokens.xz"
    with lzma.open(path, "rb") as file:
        lines = [line.split() for line in file]
    split = [Corpus(path, tokenizer=SPLIT, threads=threads).tokens() for threads in (1, 2, 5)]
    assert len({tokens.fingerprint for tokens in split}) == 1
    assert len(split[0]) == sum(map(len, lines))
    assert len(split[0].sentences) - 1 == sum(map(bool, lines))
    running = [Corpus(path, threads=threads).fingerprint for threads in (1, 3)]
    assert running[0] == running[1]


@pytest.mark.usefixtures("small_chunks")
def test_a_line_longer_than_a_chunk_is_one_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "one two\n" + "three " * 500 + "\nfour " + "x" * 300 + "\n")
    tokens = Corpus(path, tokenizer=SPLIT).tokens()
    assert tokens.sentences.tolist() == [0, 2, 502, 504]
    assert Corpus(path).tokens().sentences.tolist() == [0, 2, 502, 504]


@pytest.mark.usefixtures("small_chunks")
def test_paragraphs_are_never_cut(tmp_path: Path) -> None:
    text = "one two\nthree\n\n" + "a long\nparagraph " * 30 + "\n\r\nlast\n"
    whole = Tokenizer(paragraphs=True).to_lines(text).decode()
    corpus = Corpus(write(tmp_path / "a.txt", text), tokenizer=Tokenizer(paragraphs=True))
    assert list(corpus.sentences()) == [line.split(" ") for line in whole.splitlines()]


@pytest.mark.usefixtures("small_chunks")
def test_documents_are_files_or_lines_or_texts(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "one two. Three.\nfour\n" * 10)
    write(tmp_path / "b.txt", "")
    write(tmp_path / "c.txt", "five")
    files = Corpus(tmp_path).tokens()
    assert files.documents.tolist() == [0, 30, 30, 31]
    lines = Corpus(tmp_path, documents="line").tokens()
    assert np.diff(lines.documents).tolist() == [2, 1] * 10 + [1]
    plain = Corpus(tmp_path, documents="line", tokenizer=SPLIT).tokens()
    assert np.diff(plain.documents).tolist() == [1] * 21
    texts = Corpus.of(["one. Two.", "", "three"])
    assert texts.tokens().documents.tolist() == [0, 2, 2, 3]
    assert texts.tokens().document(0).tolist() == texts.vocabulary.ids(["one", ".", "Two", "."]).tolist()


@pytest.mark.usefixtures("small_chunks")
def test_texts_come_back_as_they_were(tmp_path: Path) -> None:
    text = "one two. Three.\r\n\nfour 東京\n" * 10
    write(tmp_path / "a.txt", text)
    write(tmp_path / "b.txt.gz", gzip.compress(b"five"))
    assert list(Corpus(tmp_path).texts()) == [text, "five"]
    assert list(Corpus(tmp_path, documents="line").texts()) == ["one two. Three.", "four 東京"] * 10 + ["five"]
    assert list(Corpus.of(iter(["a b", ""])).texts()) == ["a b", ""]


@pytest.mark.usefixtures("small_chunks")
def test_json_lines_give_one_document_a_record(tmp_path: Path) -> None:
    records = [{"text": f"Number {i}. Fine.", "id": i} for i in range(20)] + [{"text": ""}]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)) + "\n\n")
    corpus = Corpus(path, field="text")
    assert np.diff(corpus.tokens().documents).tolist() == [2] * 20 + [0]
    assert list(corpus.texts()) == [record["text"] for record in records]
    assert list(Corpus(path, field="text", tokenizer=SPLIT).sentences())[19] == ["Number", "19.", "Fine."]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{broken", "not JSON"),
        ('{"body": "x"}', "no text under 'text'. The record has: 'body'"),
        ('{"text": 7}', "no text under 'text'"),
        ("[1]", "A line must be a JSON object"),
        ('{"text": "a \\ud800 b"}', "character 2 is half of a surrogate pair"),
    ],
)
@pytest.mark.usefixtures("small_chunks")
def test_a_bad_record_is_named_by_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "fine"}\n' * 12 + line + "\n")
    with pytest.raises(FormatError, match=f"a.jsonl:13: .*{problem}") as caught:
        Corpus(path, field="text").tokens()
    assert caught.value.line == 13


def test_half_a_surrogate_pair_is_replaced_on_request() -> None:
    with pytest.raises(FormatError, match="text 1: character 0"):
        Corpus.of(["fine", "\ud800"], tokenizer=SPLIT).tokens()
    assert words_of(Corpus.of(["\ud800"], tokenizer=SPLIT, errors="replace").tokens()) == ["\ufffd"]


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"the cat\n"))))
    corpus = Corpus("-", tokenizer=SPLIT, cache="never-written")
    assert list(corpus.sentences()) == [["the", "cat"]]
    assert list(corpus.sentences()) == [["the", "cat"]]
    with pytest.raises(OptionError, match="only once"):
        next(corpus.texts())


def test_the_cache_is_used_until_a_file_or_an_option_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, cache = write(tmp_path / "a.txt", "the cat\n"), tmp_path / "cache"
    first = Corpus(path, tokenizer=SPLIT, cache=cache).tokens()
    with monkeypatch.context() as patch:
        patch.setattr(Corpus, "_read", None)  # reading again would fail
        again = Corpus(path, tokenizer=SPLIT, cache=cache, threads=1).tokens()
    assert (again.path, again.fingerprint) == (first.path, first.fingerprint)
    assert Corpus(path, cache=cache).tokens().path != first.path
    write(path, "the dog ran\n")
    assert len(Corpus(path, tokenizer=SPLIT, cache=cache).tokens()) == 3
    first.path.write_bytes(b"damage")
    write(path, "the cat\n")
    assert len(Corpus(path, tokenizer=SPLIT, cache=cache).tokens()) == 2


def test_texts_in_memory_are_cached_by_what_they_say(tmp_path: Path) -> None:
    paths = [Corpus.of(texts, cache=tmp_path).tokens().path for texts in (["a b"], ["a b"], ["a", "b"], ["ab"])]
    assert paths[0] == paths[1]
    assert len(set(paths)) == 3


def test_a_temporary_file_goes_when_nobody_holds_it() -> None:
    corpus = Corpus.of(["a b"])
    folder = corpus.tokens().path.parent
    assert folder.exists()
    del corpus
    gc.collect()
    assert not folder.exists()


def test_nothing_is_left_behind_by_a_failure(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"fine\n\xff\n")
    with pytest.raises(FormatError):
        Corpus(path, tokenizer=SPLIT, cache=tmp_path / "cache").tokens()
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("small_chunks")
def test_progress_counts_bytes_and_words(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "the cat sat\n" * 20)
    seen: list[Progress] = []
    Corpus(path, tokenizer=SPLIT).tokens(seen.append)
    assert len(seen) > 2
    assert (seen[-1].done, seen[-1].total, seen[-1].unit, seen[-1].values) == (240, 240, "bytes", {"words": 60})
    assert [one.done for one in seen] == sorted(one.done for one in seen)


def test_an_empty_corpus_is_a_corpus(tmp_path: Path) -> None:
    for corpus in (Corpus(write(tmp_path / "a.txt", "")), Corpus.of([]), Corpus.of(["", " \n "])):
        assert len(corpus.tokens()) == len(corpus.vocabulary) == 0
        assert list(corpus.sentences()) == []
        assert len(TokenFile(corpus.tokens().path)) == 0


def test_bad_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="errors is 'ignore', but must be one of 'strict', 'replace'"):
        Corpus.of(["a"], errors="ignore")
    with pytest.raises(OptionError, match="documents is 'page'"):
        Corpus.of(["a"], documents="page")
    for wrong in (b"a text", None, 5):
        with pytest.raises(OptionError, match=r"must be a text or a list of texts or lists of words\. For a file"):
            Corpus.of(wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="document 1 is 5"):
        Corpus.of([["a"], 5])  # type: ignore[list-item]
    with pytest.raises(OptionError, match="document 0 has an empty token at 1"):
        Corpus.of([["a", ""]])
    with pytest.raises(OptionError, match="no such file"):
        Corpus(tmp_path / "absent.txt")


def test_a_corpus_says_what_it_holds(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "the cat\n")
    corpus = Corpus([path, path], tokenizer=SPLIT)
    assert repr(corpus) == f"Corpus({path} and 1 more)"
    corpus.tokens()
    assert repr(corpus).endswith("TokenFile(4 tokens of 2 words, 2 sentences, 2 documents))")
    assert repr(Corpus.of(["a"])) == "Corpus(1 text in memory)"


def test_sentences_of_many_lines_stream_in_order() -> None:
    lines = [f"line {i}" for i in range(9000)]
    corpus = Corpus.of(["\n".join(lines)], tokenizer=SPLIT)
    assert [" ".join(words) for words in corpus.sentences()] == lines


MEMORY = """
import sys
from pathlib import Path
from typing import Any
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

def read(path):
    for tokenizer in (Tokenizer(mode="whitespace"), Tokenizer()):
        Corpus(path, tokenizer=tokenizer, threads=2).tokens()
    return peak()

print(read(sys.argv[1]), read(sys.argv[2]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to know the peak memory")
def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    lines = "".join(f"word{i} and word{i * 7 % 1000} in a line of ten words .\n" for i in range(20_000)).encode()
    short, long = write(tmp_path / "short.txt", lines * 8), write(tmp_path / "long.txt", lines * 64)
    command = [sys.executable, "-c", MEMORY, str(short), str(long)]
    before, after = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert (after - before) * 1024 < (long.stat().st_size - short.stat().st_size) / 4


@pytest.mark.parametrize("opener, name", [(gzip.open, "t.gz"), (lzma.open, "t.xz"), (bz2.open, "t.bz2")])
def test_progress_through_a_packed_file_ends_at_its_size_on_disk(tmp_path: Path, opener: Any, name: str) -> None:
    path = tmp_path / name
    with opener(path, "wb") as file:
        file.write(b"".join(b"word%d and word%d\n" % (i, i * i) for i in range(100_000)))
    seen: list[Progress] = []
    Corpus(path, threads=2).tokens(seen.append)
    assert len(seen) > 1
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert seen[-1].done == seen[-1].total == path.stat().st_size


def test_lists_of_tokens_are_sentences_whose_tokens_stay() -> None:
    lists = [["New York", "can't"], [], ["sleep."]]
    for source in (lists, iter(lists), map(tuple, lists), np.array([["a", "b"]])):
        expected = [["a", "b"]] if isinstance(source, np.ndarray) else [lists[0], lists[2]]
        assert list(Corpus.of(source).sentences()) == expected
    corpus = Corpus.of(lists)
    assert corpus.tokenizer == SPLIT
    assert (len(corpus.tokens().documents) - 1, corpus.vocabulary.counts.tolist()) == (3, [1, 1, 1])
    assert list(corpus.texts()) == ["New York can't", "", "sleep."]


def test_texts_and_lists_of_tokens_keep_their_order() -> None:
    corpus = Corpus.of(["It's late. Go!", ["It's", "late."], "Why?"])
    assert [" ".join(words) for words in corpus.sentences()] == ["It 's late .", "Go !", "It's late.", "Why ?"]
    assert np.diff(corpus.tokens().documents).tolist() == [2, 1, 1]


def test_a_string_is_text_and_a_path_is_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "book.txt", "the cat\n")
    assert list(Corpus.of("the dog").sentences()) == [["the", "dog"]]
    for source in (Path(path), [Path(path)]):
        assert list(Corpus.of(source).sentences()) == [["the", "cat"]]
    assert Corpus.of(corpus := Corpus.of(["a"])) is corpus
    with pytest.raises(OptionError, match=r"also the name of a file. To read the file pass Path\("):
        Corpus.of(str(path))


def test_the_token_file_of_lists_is_cached(tmp_path: Path) -> None:
    first, second, other = (Corpus.of(lists, cache=tmp_path) for lists in ([["a b"]], [["a b"]], ["a b"]))
    assert first.tokens().path == second.tokens().path != other.tokens().path


READER = """
import sys
from firth.text import corpus
from firth.text.corpus import Corpus
made = []
read = Corpus._read
Corpus._read = lambda *arguments: (made.append(1), read(*arguments))[1]
tokens = Corpus(sys.argv[1], cache=sys.argv[2]).tokens()
print(len(made), len(tokens))
"""


def test_of_several_processes_with_one_cache_one_reads_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hot tea and cold rain\n" * 5000)
    command = [sys.executable, "-c", READER, str(tmp_path / "a.txt"), str(tmp_path / "cache")]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = sorted(reader.communicate(timeout=120)[0] for reader in readers)
    assert said == ["0 25000\n", "0 25000\n", "1 25000\n"]
