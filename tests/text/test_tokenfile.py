"""The token file: its layout by hand, its round trip, and every way it can be broken."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import FormatError
from firth.runtime import Runtime
from firth.text import tokenfile
from firth.text.corpus import Corpus
from firth.text.tokenfile import HEADER, TokenFile, TokenWriter, vocabulary_path
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    texts = ["the cat\nthe mat\n", "the end"]
    return Corpus.of(texts, tokenizer=Tokenizer(mode="whitespace"), cache=tmp_path).tokens()


def test_the_layout_is_as_it_is_told(tokens: TokenFile) -> None:
    raw = tokens.path.read_bytes()
    assert raw[:8] == b"FIRTHTOK"
    assert struct.unpack_from("<I", raw, 8) == (2,)
    assert struct.unpack_from("<4Q", raw, 16) == (6, 3, 2, 4)
    assert struct.unpack_from("<6I", raw, 64) == (0, 1, 0, 3, 0, 2)
    assert struct.unpack_from("<4Q", raw, 88) == (0, 2, 4, 6)
    assert struct.unpack_from("<3Q", raw, 120) == (0, 2, 3)
    assert len(raw) == 144
    assert vocabulary_path(tokens.path).read_text() == "the\t3\ncat\t1\nend\t1\nmat\t1\n"


def test_a_file_that_is_opened_again_is_the_same(tokens: TokenFile) -> None:
    again = TokenFile(tokens.path)
    assert again.ids.tolist() == tokens.ids.tolist()
    assert again.vocabulary == tokens.vocabulary
    assert again.fingerprint == tokens.fingerprint
    assert repr(again) == "TokenFile(6 tokens of 4 words, 3 sentences, 2 documents)"
    assert isinstance(again.ids, np.memmap)
    assert not again.ids.flags.writeable


def test_sentences_and_documents_are_slices(tokens: TokenFile) -> None:
    assert tokens.sentence(1).tolist() == [0, 3]
    assert tokens.document(0).tolist() == [0, 1, 0, 3]
    assert tokens.document(1).tolist() == [0, 2]


def test_a_fingerprint_sees_words_order_sentences_and_documents(tmp_path: Path) -> None:
    cases = (["a b c"], ["a b d"], ["b a c"], ["a b\nc"], ["a b", "c"], ["a\nb c"])
    split = Tokenizer(mode="whitespace")
    assert len({Corpus.of(texts, tokenizer=split).fingerprint for texts in cases}) == len(cases)


@pytest.mark.parametrize("size", [0, 5, 63, 64, 100, 143, 145])
def test_a_file_of_another_length_is_refused(tokens: TokenFile, size: int) -> None:
    raw = tokens.path.read_bytes()
    tokens.path.write_bytes((raw + b"more")[:size])
    with pytest.raises(FormatError, match=r"not a token file|bytes, but 144 were written"):
        TokenFile(tokens.path)


@pytest.mark.parametrize(
    ("place", "problem"),
    [(0, "not a token file"), (8, "version 253"), (12, "header is damaged"), (16, "header is damaged")],
)
def test_a_damaged_header_is_refused(tokens: TokenFile, place: int, problem: str) -> None:
    raw = bytearray(tokens.path.read_bytes())
    raw[place] ^= 0xFF
    tokens.path.write_bytes(raw)
    with pytest.raises(FormatError, match=problem):
        TokenFile(tokens.path)


@pytest.mark.parametrize("place", [88 + 24, 120 + 16])
def test_offsets_that_end_elsewhere_are_refused(tokens: TokenFile, place: int) -> None:
    raw = bytearray(tokens.path.read_bytes())
    raw[place] += 1
    tokens.path.write_bytes(raw)
    with pytest.raises(FormatError, match="offsets do not end where the text ends"):
        TokenFile(tokens.path)


def test_a_vocabulary_of_another_text_is_refused(tokens: TokenFile) -> None:
    Vocabulary(["the", "cat"], [3, 1]).save(vocabulary_path(tokens.path))
    with pytest.raises(FormatError, match="has 2 words, not the 4 of this text"):
        TokenFile(tokens.path)


@pytest.mark.parametrize("place", [64, 67, 64 + 4 * 5, 88, 88 + 8, 120, 120 + 8])
def test_a_single_changed_byte_of_ids_or_offsets_is_found(tokens: TokenFile, place: int) -> None:
    raw = bytearray(tokens.path.read_bytes())
    raw[place] ^= 1
    tokens.path.write_bytes(raw)
    with pytest.raises(FormatError, match="the file is damaged"):
        TokenFile(tokens.path)


def forge_checksum(path: Path) -> None:
    """Writes the checksums that belong to the changed files, as somebody does who wants to deceive."""
    raw = bytearray(path.read_bytes())
    struct.pack_into("<II", raw, 48, zlib.crc32(raw[64:]), zlib.crc32(vocabulary_path(path).read_bytes()))
    path.write_bytes(raw)


@pytest.mark.parametrize(("place", "value"), [(64, 4), (64, 2**32 - 1), (88, 1), (96, 5), (96, 2**63), (120, 1)])
def test_ids_without_a_word_and_offsets_that_fall_are_refused_with_any_checksum(
    tokens: TokenFile, place: int, value: int
) -> None:
    raw = bytearray(tokens.path.read_bytes())
    struct.pack_into("<I" if place < 88 else "<Q", raw, place, value)
    tokens.path.write_bytes(raw)
    forge_checksum(tokens.path)
    with pytest.raises(FormatError, match="the file is damaged"):
        TokenFile(tokens.path)


def test_a_changed_word_of_the_vocabulary_is_found(tokens: TokenFile) -> None:
    path = vocabulary_path(tokens.path)
    path.write_text(path.read_text().replace("cat", "dog"))
    with pytest.raises(FormatError, match="the file is damaged"):
        TokenFile(tokens.path)


def test_a_damaged_file_in_a_cache_is_read_again(tmp_path: Path) -> None:
    corpus = Corpus.of(["the cat", "the mat"], cache=tmp_path)
    path = corpus.tokens().path
    raw = bytearray(path.read_bytes())
    raw[64] ^= 2
    path.write_bytes(raw)
    assert list(Corpus.of(["the cat", "the mat"], cache=tmp_path).sentences()) == [["the", "cat"], ["the", "mat"]]


chunk = st.tuples(st.integers(0, 2), st.lists(st.integers(0, 4), max_size=9), st.sets(st.integers(1, 9)))


@settings(deadline=None, max_examples=50)
@given(st.lists(chunk, max_size=12))
def test_ids_of_many_tables_are_renumbered_in_their_places(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[tuple[int, list[int], set[int]]]
) -> None:
    numbers = {table: np.arange(5, dtype=np.uint32)[::-1] + 10 * table for table in range(3)}
    expected: list[int] = []
    ends: list[int] = []
    path = tmp_path_factory.mktemp("tokens") / "a.tokens"
    patch = pytest.MonkeyPatch()
    patch.setattr(tokenfile, "BLOCK", 4)
    with TokenWriter(path) as writer:
        for table, ids, places in chunks:
            here = sorted(place for place in places if place <= len(ids))
            writer.add(table, np.array(ids, np.uint32), np.array(here, np.uint32))
            ends += [len(expected) + place for place in here]
            expected += [10 * table + 4 - id for id in ids]
        writer.end_sentence()
        writer.end_documents(np.array([writer.sentences], np.uint64))
        writer.renumber(numbers, Runtime(2))
        Vocabulary([str(i) for i in range(30)], [len(expected)] + [0] * 29).save(vocabulary_path(path))
        writer.finish(vocabulary_path(path), 30)
    patch.undo()
    ends += [len(expected)] if len(expected) > (ends or [0])[-1] else []
    if not expected:
        return
    tokens = TokenFile(path)
    assert tokens.ids.tolist() == expected
    assert tokens.sentences.tolist() == [0, *ends]
    assert path.stat().st_size % 8 == HEADER.size % 8 == 0


def test_a_flipped_bit_anywhere_in_a_token_file_is_an_error(tokens: TokenFile) -> None:
    unused = range(HEADER.size - 8, HEADER.size)
    for path in (tokens.path, vocabulary_path(tokens.path)):
        whole = path.read_bytes()
        for place in range(len(whole)):
            if path == tokens.path and place in unused:
                continue
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(FormatError):
                TokenFile(tokens.path)
        path.write_bytes(whole)
