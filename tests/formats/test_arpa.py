"""ARPA files: what is read, what is written, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from firth.errors import FirthError, FormatError
from firth.formats import arpa
from firth.models.ngram import Ngram
from firth.models.ngram_model import NgramModel
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary, to_word

TEA = r"""\data\
ngram 1=5
ngram 2=3
ngram 3=1

\1-grams:
-1.5	<unk>
-99	<s>	-0.25
-0.5	</s>
-0.75	tea	-0.125
-1	strong	-0.5

\2-grams:
-0.25	strong tea	-0.0625
-0.5	<s> strong
-0.3	tea </s>

\3-grams:
-0.1	strong tea </s>

\end\
"""


def written(tmp_path, text: str | bytes):
    path = tmp_path / "model.arpa"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def arrays(model: NgramModel) -> list[bytes]:
    return [array.tobytes() for array in model.to_parts().arrays.values()]


def same(one: NgramModel, other: NgramModel) -> bool:
    return one.vocabulary == other.vocabulary and one.levels == other.levels and arrays(one) == arrays(other)


def test_a_file_by_hand(tmp_path):
    model = arpa.read(written(tmp_path, TEA))
    assert model.counts == {1: 5, 2: 3, 3: 1}
    assert model.vocabulary.words == ("<unk>", "<s>", "</s>", "tea", "strong")
    # <s> strong is known; strong tea backs off from "<s> strong" by nothing; </s> from the triple
    assert model.log_probs(["strong", "tea"]) / np.log(10) == pytest.approx([-0.5, -0.25, -0.1])
    # tea backs off from <s>; </s> after tea
    assert model.log_probs(["tea"]) / np.log(10) == pytest.approx([-0.75 - 0.25, -0.3])
    # an unknown word after "strong tea" backs off twice; then </s> has no context
    assert model.log_probs(["strong", "tea", "x"])[2:] / np.log(10) == pytest.approx([-1.5 - 0.0625 - 0.125, -0.5])


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_kenlm_reads_the_same_from_the_file_by_hand(tmp_path):
    kenlm = pytest.importorskip("kenlm")
    path = written(tmp_path, TEA)
    ours, theirs = arpa.read(path), kenlm.Model(str(path))
    for sentence in ("strong tea", "tea strong tea tea", "x strong x", ""):
        assert ours.score(sentence.split()).log_prob == pytest.approx(theirs.score(sentence) * np.log(10), rel=1e-6)


def test_the_order_of_lines_blanks_and_line_ends_do_not_matter(tmp_path):
    model = arpa.read(written(tmp_path, TEA))
    untidy = TEA.replace("\n", "\r\n").replace("strong tea\t", "strong\ttea  ").replace("\\data\\", "\n\n\\data\\ ")
    assert same(model, arpa.read(written(tmp_path, untidy)))
    swapped = TEA.replace("-0.5\t<s> strong\n-0.3\ttea </s>", "-0.3\ttea </s>\n-0.5\t<s> strong")
    assert same(model, arpa.read(written(tmp_path, swapped)))
    assert same(model, arpa.read(written(tmp_path, TEA.rstrip("\n"))))


def test_a_missing_unknown_is_added_with_almost_no_probability(tmp_path):
    model = arpa.read(written(tmp_path, TEA.replace("1=5", "1=4").replace("-1.5\t<unk>\n", "")))
    assert model.vocabulary[model.unknown] == "<unk>"
    assert model.log_probs(["x"])[0] / np.log(10) == pytest.approx(-100.25)


def test_other_spellings_of_the_markers_are_understood_and_kept(tmp_path):
    model = arpa.read(written(tmp_path, TEA.replace("<unk>", "<UNK>").replace("s>", "S>")))
    assert model.probability("x") == pytest.approx(10**-1.5)
    assert model.probability("strong", ["<s>"]) == pytest.approx(10**-0.5)
    assert model.vocabulary.words[:3] == ("<UNK>", "<S>", "</S>")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read(tmp_path, pack):
    plain = arpa.read(written(tmp_path, TEA))
    assert same(plain, arpa.read(written(tmp_path, pack(TEA.encode()))))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_a_round_trip_keeps_every_bit(tmp_path, suffix):
    rng = np.random.default_rng(5)
    text = "\n".join(" ".join(f"w{i}" for i in rng.zipf(1.5, 9) % 90) for _ in range(500))
    model = Ngram(order=4).fit(Corpus.of([text], tokenizer=Tokenizer(mode="whitespace", normalizer=None)))
    arpa.write(model, tmp_path / f"model.arpa{suffix}")
    assert same(model, arpa.read(tmp_path / f"model.arpa{suffix}"))


def test_words_with_odd_bytes_survive(tmp_path):
    odd = [
        "<unk>",
        "<s>",
        "</s>",
        to_word(b"\xffcaf\x82"),
        "\u00a0",
        "\u2028x",
        "کتاب\u200cخانه",
        "\\data\\",
        "-1",
        "a\x0bb",
    ]
    size = len(odd)
    log10 = np.full(size, -1, np.float32)
    model = NgramModel(
        Vocabulary(odd), [size], np.array([size]), np.arange(size, dtype=np.uint32), log10, np.empty(0, np.float32)
    )
    arpa.write(model, tmp_path / "odd.arpa")
    assert same(model, arpa.read(tmp_path / "odd.arpa"))


def test_a_word_with_a_blank_cannot_be_written(tmp_path):
    words = ["<unk>", "<s>", "</s>", "at home"]
    log10 = np.full(4, -1, np.float32)
    model = NgramModel(Vocabulary(words), [4], np.array([4]), np.arange(4, dtype=np.uint32), log10, log10[:0])
    with pytest.raises(FormatError, match="contains a space"):
        arpa.write(model, tmp_path / "odd.arpa")
    assert not list(tmp_path.iterdir())


@settings(max_examples=150, deadline=None)
@given(some.lists(some.floats(max_value=0, width=32, allow_nan=False), min_size=4, max_size=8))
def test_any_number_is_written_so_that_it_reads_back(tmp_path_factory, values):
    size = len(values)
    words = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(size - 3))]
    log10 = np.array(values, np.float32)
    model = NgramModel(Vocabulary(words), [size], np.array([size]), np.arange(size, dtype=np.uint32), log10, log10[:0])
    path = tmp_path_factory.mktemp("numbers") / "model.arpa"
    arpa.write(model, path)
    assert same(model, arpa.read(path))


BROKEN = {
    "not an arpa file": ("2 3\ntea 1 2 3\n", 1, r"expected \\data\\"),
    "empty": ("", 0, r"expected \\data\\, found the end of the file"),
    "no counts": ("\\data\\\n\n\\1-grams:\n", 2, "promises no 1-grams"),
    "counts out of order": (TEA.replace("ngram 2", "ngram 3"), 3, "expected 'ngram 2='"),
    "a count that is no number": (TEA.replace("2=3", "2=many"), 3, "expected 'ngram 2='"),
    "too few words": (TEA.replace("1=5", "1=6"), 12, "promised 6 1-grams, but there are 5"),
    "too many pairs": (TEA.replace("2=3", "2=2"), 17, "promised 2 2-grams, but there are 3"),
    "a lying header": (TEA.replace("2=3", f"2={10**12}"), 17, "promised 1,000,000,000,000 2-grams"),
    "a missing section": (TEA.replace("\\3-grams:\n-0.1\tstrong tea </s>\n\n", ""), 18, r"expected \\3-grams:"),
    "no end": (TEA.replace("\\end\\\n", ""), 20, r"expected \\end\\ .* found the end of the file"),
    "cut short": (TEA[: TEA.index("\n-0.3")], 16, "promised 3 2-grams, but there are 2"),
    "no number": (TEA.replace("-0.75\ttea", "tea\ttea"), 10, "expected a log10 probability, found 'tea'"),
    "not a number": (TEA.replace("-0.75\ttea", "nan\ttea"), 10, "expected a log10 probability, found 'nan'"),
    "above one": (TEA.replace("-0.75\ttea", "0.75\ttea"), 10, "above 0"),
    "a pair above one": (TEA.replace("-0.3\ttea", "0.3\ttea"), 16, "above 0"),
    "no backoff": (TEA.replace("-0.0625", "x"), 14, "expected a log10 backoff at the end, found 'x'"),
    "too many fields": (TEA.replace("-0.0625", "-0.0625 5"), 14, r"2 word\(s\) and a backoff, found 5 fields"),
    "too few fields": (TEA.replace("-0.3\ttea </s>", "-0.3\ttea"), 16, r"2 word\(s\), found 2 field\(s\)"),
    "a new word": (TEA.replace("-0.3\ttea </s>", "-0.3\tmilk </s>"), 16, "'milk </s>' has a word"),
    "a missing prefix": (TEA.replace("strong tea </s>", "tea tea </s>"), 19, "first 2 words of 'tea tea </s>'"),
    "a word twice": (TEA.replace("-1\tstrong", "-1\ttea"), 11, "'tea' is listed twice among the 1-grams"),
    "a pair twice": (TEA.replace("tea </s>\n\n", "strong tea\n\n"), 16, "is listed twice"),
    "no start": (TEA.replace("-99\t<s>", "-99\t<q>"), 11, "<s> is not among"),
    "an endless line": (TEA.replace("-0.75\ttea", "-0.75\t" + "x" * (6 << 20)), None, "longer than"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_an_error_with_its_line(tmp_path, name):
    text, line, problem = BROKEN[name]
    with pytest.raises(FormatError, match=problem) as caught:
        arpa.read(written(tmp_path, text))
    assert caught.value.line == line


def test_a_missing_suffix_is_not_an_error(tmp_path):
    model = arpa.read(written(tmp_path, TEA.replace("-0.3\ttea </s>\n", "").replace("2=3", "2=2")))
    assert model.log_probs(["strong", "tea"])[2] == pytest.approx(-0.1 * np.log(10))


def test_numbers_that_are_hard_to_read_are_read(tmp_path):
    hard = "-1.00000005960464477539062500000000000000001"  # a hair beyond the middle of two float32
    model = arpa.read(written(tmp_path, TEA.replace("-0.75\ttea", f"{hard}\ttea").replace("-0.0625", "-1e-400")))
    assert model.log10[3] == np.float32(hard)
    assert model.backoffs[model.levels[0] + 2] == 0


def test_an_empty_last_order_is_left_out(tmp_path):
    text = TEA.replace("3=1", "3=0").replace("-0.1\tstrong tea </s>\n", "")
    assert arpa.read(written(tmp_path, text)).order == 2


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("-0.75	tea	-0.125", "-1 tea 1e-400 x", "a number is too long or too small"),  # once read for ever
        ("-0.75	tea	-0.125", "\x0b", "expected a log10 probability"),
        ("-0.75	tea	-0.125", "-0.75	tea	1e30", "is not an n-gram model: .* the array 'backoffs'"),
        ("-0.5	<s> strong", "\x0b", "expected a log10 probability"),
    ],
)
def test_lines_that_once_broke_the_reader_are_named(tmp_path, old, new, problem):
    with pytest.raises(FormatError, match=problem):
        arpa.read(written(tmp_path, TEA.replace(old, new)))


def test_many_numbers_with_tiny_exponents_are_read_in_time(tmp_path):
    count = 20_000  # a copy of the rest of the block for each line took minutes
    lines = "".join(f"-0.{'3' * 40}\tw{i}\t1e-400\n" for i in range(count))
    text = f"\\data\\\nngram 1={count + 2}\n\n\\1-grams:\n-99\t<s>\n-1\t</s>\n{lines}\n\\end\\\n"
    model = arpa.read(written(tmp_path, text))
    assert model.log10[5] == np.float32(-1 / 3)
    assert model.levels == (count + 3,)


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_a_model_without_any_probability_says_so_when_it_shall_write(tmp_path):
    text = (
        TEA.replace("-0.75\ttea", "-99999\ttea")
        .replace("-1\tstrong", "-99999\tstrong")
        .replace("-0.5\t</s>", "-99999\t</s>")
    )
    model = arpa.read(written(tmp_path, text))
    with pytest.raises(FirthError, match="no word can follow"):
        model.sample(["x"])
    assert model.perplexity([["tea", "tea"]]).value == np.inf
    assert model.score(["tea"]).per_word == 0
