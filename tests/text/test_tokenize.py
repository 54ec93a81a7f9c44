"""The tokenizer: English as the Penn Treebank cuts it, every other script as its readers would."""

from __future__ import annotations

import itertools
import lzma
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.text.normalize import Normalizer
from firth.text.tokenize import Token, Tokenizer

running = Tokenizer()
bare = Tokenizer(normalizer=None)
NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            list("abcABC019.,:;!?'’\"()[]-–—…/@#&$%°_ \n\t\r\u2029\u200c\u200d\u0301\u064e\x00\ud800\udc82漢。か।")
        ),
    ),
    max_size=60,
)


def lines(text: str, tokenizer: Tokenizer = running) -> list[str]:
    return tokenizer.to_lines(text).decode().splitlines()


CUT = """
don't can't it's I'll we're they've he'd I'm -> do n't ca n't it 's I 'll we 're they 've he 'd I 'm
don’t it’s DON'T IT'S -> do n’t it ’s DO N'T IT 'S
shouldn't've I'd've -> should n't 've I 'd 've
cannot gonna wanna Gotta gimme lemme d'ye -> can not gon na wan na Got ta gim me lem me d' ye
'tis 'Twas 'em '90s -> 't is 'T was 'em '90s
the dogs' tails, James's -> the dogs ' tails , James 's
n't 's 've ca n't -> n't 's 've ca n't
O'Neill l'eau rock'n'roll ma'am man-o'-war -> O'Neill l'eau rock'n'roll ma'am man-o'-war
mother-in-law's well-known pre- and -based -> mother-in-law 's well-known pre- and -based
$5.50 US$300 50% 1,000.5 3:30 .5 -5 1/2 -> $ 5.50 US$ 300 50 % 1,000.5 3:30 .5 -5 1/2
1914–18 east–west 90° 20 °C 5±2 -> 1914–18 east – west 90° 20 °C 5±2
wait... what -- no?! -> wait ... what -- no ? !
"quoted" (and [so]) {on} -> " quoted " ( and [ so ] ) { on }
``ptb'' -> `` ptb ''
Mr. Smith, Ph.D., of J. R. R. Tolkien's U.S., e.g. -> Mr. Smith , Ph.D. , of J. R. R. Tolkien 's U.S. , e.g.
No. 5, c. 1900; vol. 3 -> No. 5 , c. 1900 ; vol. 3
U.S.-based AT&T R&D C++ and C# -> U.S.-based AT&T R&D C++ and C#
and/or end.Next example.com -> and / or end . Next example.com
see https://a.org/b_(c)?d=e#f. (www.x.com) -> see https://a.org/b_(c)?d=e#f . ( www.x.com )
write to j.doe+x@mail.example.com, @user_1 #tag #1 -> write to j.doe+x@mail.example.com , @user_1 #tag #1
<unk> </s> a<b @-@ snake_case -> <unk> </s> a < b @-@ snake_case
=== *** ~~ -> === *** ~~
¿Qué? ¡No! «Oui» „Ja“ -> ¿ Qué ? ¡ No ! « Oui » „ Ja “
می‌روم، کتاب‌ها؛ «خانه»؟ ۵۰٪ ۱٬۰۰۰٫۵ -> می‌روم ، کتاب‌ها ؛ « خانه » ؟ ۵۰ ٪ ۱٬۰۰۰٫۵
است.این -> است . این
東京タワーへ行く。 -> 東 京 タワー へ 行 く 。
ภาษาไทย123 ລາວ -> ภาษาไทย 123 ລາວ
हिन्दी है। क्‍ष -> हिन्दी है । क्‍ष
한국어입니다. -> 한국어입니다 .
צה"ל -> צה"ל
👩‍👩‍👧👍🏽❤️ 🇮🇷🇫🇷 1️⃣ ok😀 -> 👩‍👩‍👧 👍🏽 ❤️ 🇮🇷 🇫🇷 1️⃣ ok 😀
col·lecció Ω̈x -> col·lecció Ω̈x
"""


@pytest.mark.parametrize("rule", CUT.strip().split("\n"))
def test_words_are_cut_as_the_treebank_and_each_script_have_it(rule):
    text, expected = rule.split(" -> ")
    assert running.words(text) == expected.split(" ")


SENTENCES = """
He left. She stayed! Why? Go. -> He left . | She stayed ! | Why ? | Go .
Mr. Smith met Dr. Jones. They ate. -> Mr. Smith met Dr. Jones . | They ate .
The U.S. Senate sat. In the U.S. He won. -> The U.S. Senate sat . | In the U.S. | He won .
It is by J. K. Rowling. Vitamin C. The end. -> It is by J. K. Rowling . | Vitamin C . | The end .
It rose 3.5 points. 40 fell. -> It rose 3.5 points . | 40 fell .
"Stop!" he said. "Go." She went. -> " Stop ! " he said . | " Go . " | She went .
(He left.) Then (see p. 5) it rained. -> ( He left . ) | Then ( see p. 5 ) it rained .
Well... maybe. Well... Maybe. -> Well ... maybe . | Well ... | Maybe .
he said . " He left . " She stayed . -> he said . | " He left . " | She stayed .
Apple Inc. grew. Apple Inc. It grew. -> Apple Inc. grew . | Apple Inc. | It grew .
رفت. آمد؟ بله! -> رفت . | آمد ؟ | بله !
他来了。「好！」她说。 -> 他 来 了 。 | 「 好 ！ 」 | 她 说 。
यह है। वह है॥ -> यह है । | वह है ॥
کتاب ہے۔ یہ ہے۔ -> کتاب ہے ۔ | یہ ہے ۔
He left.She stayed. رفت.آمد -> He left . | She stayed . | رفت . | آمد
version 2.0.1 is out. iPhone sold. -> version 2.0.1 is out . iPhone sold .
"""


@pytest.mark.parametrize("rule", SENTENCES.strip().split("\n"))
def test_sentences_end_where_a_reader_would_end_them(rule):
    text, expected = rule.split(" -> ")
    assert lines(text) == expected.split(" | ")


def test_a_line_end_ends_a_sentence_but_in_wrapped_text_only_an_empty_line_does():
    text = "The cat\r\nsat. It\nslept\n \nNext"
    assert lines(text) == ["The cat", "sat .", "It", "slept", "Next"]
    assert lines(text, Tokenizer(paragraphs=True)) == ["The cat sat .", "It slept", "Next"]
    assert lines("a\r\nb\r\n\r\nc", Tokenizer(mode="whitespace", paragraphs=True)) == ["a b", "c"]


def test_white_space_mode_splits_at_ascii_white_space_and_zeros_and_nothing_else():
    tokenizer = Tokenizer(mode="whitespace")
    text = "can't  stop.\t(now)\u00a0x\x0b\x0cy\nnext \u2028 line\n\n"
    assert tokenizer.words(text) == ["can't", "stop.", "(now)\u00a0x", "y", "next", "\u2028", "line"]
    assert tokenizer.to_lines(text) == "can't stop. (now)\u00a0x y\nnext \u2028 line\n".encode()
    assert tokenizer.spans(" a b")[1] == Token("b", 3, 4)
    assert tokenizer.words("a\0b \0\0 c\x1f") == ["a", "b", "c\x1f"]
    assert tokenizer.normalizer is None


def test_a_normalizer_asked_for_also_works_in_white_space_mode():
    tokenizer = Tokenizer(mode="whitespace", normalizer=Normalizer(fold_case=True))
    assert tokenizer.to_lines("Cafe\u0301 It's\n") == "café it's\n".encode()


def test_places_point_into_the_source_also_where_the_normalizer_changed_it():
    text = "\ufeffCafe\u0301s\u200f aren't كتاب\u200c\u200cها ١"
    tokens = Tokenizer(normalizer=Normalizer.persian()).spans(text)
    assert [token.text for token in tokens] == ["Cafés", "are", "n't", "کتاب\u200cها", "۱"]
    sources = [text[token.start : token.end] for token in tokens]
    assert sources == ["Cafe\u0301s", "are", "n't", "كتاب\u200c\u200cها", "١"]


def test_case_is_folded_after_sentences_are_found():
    tokenizer = Tokenizer(normalizer=Normalizer(fold_case=True))
    assert lines("The END. Next Straße.", tokenizer) == ["the end .", "next strasse ."]
    assert tokenizer.words("The END") == ["the", "end"]
    assert tokenizer.spans("The END")[1] == Token("end", 4, 7)


def test_a_tokenizer_survives_its_own_dictionary_and_refuses_unknown_modes():
    tokenizer = Tokenizer(normalizer=Normalizer.persian(), abbreviations=("Bhf",))
    assert Tokenizer.from_dict(tokenizer.as_dict()) == tokenizer
    with pytest.raises(OptionError, match="mode is 'moses'"):
        Tokenizer(mode="moses")


def test_nothing_comes_of_nothing():
    for text in ("", " \n\u00a0\u3000 "):
        assert (running.words(text), running.sentences(text), running.to_lines(text)) == ([], [], b"")
    assert Tokenizer(mode="whitespace").to_lines("\n \n") == b""


def test_broken_bytes_come_back_as_they_were_read():
    assert running.to_lines(b"caf\x82 ok".decode("utf-8", "surrogateescape")) == b"caf\x82 ok\n"


@given(NASTY)
def test_tokens_are_exactly_the_characters_that_are_no_space_in_order(text):
    assert "".join(bare.words(text)) == "".join(text.split())
    assert all(word == "".join(word.split()) != "" for word in bare.words(text))


@given(NASTY, st.sampled_from([bare, running, Tokenizer(paragraphs=True), Tokenizer(mode="whitespace")]))
def test_words_spans_sentences_and_lines_tell_the_same(text, tokenizer):
    words = tokenizer.words(text)
    spans = tokenizer.spans(text)
    assert [token.text for token in spans] == words
    assert list(itertools.chain(*tokenizer.sentences(text))) == spans
    assert all(0 <= token.start < token.end <= len(text) for token in spans)
    assert all(one.end <= two.start for one, two in itertools.pairwise(spans))
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        lines = [line.split(" ") for line in tokenizer.to_lines(text).decode().split("\n")[:-1]]
        assert lines == [[token.text for token in sentence] for sentence in tokenizer.sentences(text)]


@given(NASTY)
def test_tokens_point_at_their_own_letters_when_nothing_is_normalized(text):
    assert all(text[token.start : token.end] == token.text for token in bare.spans(text))


def test_long_texts_are_cut_in_blocks_without_a_trace():
    text = "He left. She can't.\n\n" * 60_000
    assert running.to_lines(text) == b"He left .\nShe ca n't .\n" * 60_000
    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(running.to_lines, [text] * 4)) == {running.to_lines(text)}


def first_lines(path: Path, count: int) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return list(itertools.islice(file, count))


def test_text_that_is_tokenized_already_stays_as_it_is(data):
    """What changes is nearly all misprints of the corpus: sentence ends left on their word (`the Sun. It`)."""
    sample = first_lines(data / "data/corpora/en-01.txt.xz", 20_000)
    same = sum(running.words(line) == line.split() for line in sample)
    assert same >= 0.994 * len(sample)


@pytest.mark.parametrize("name", ["en-raw-sample", "fa-01"])
def test_real_text_loses_no_character(data, name):
    text = "".join(first_lines(data / f"data/corpora/{name}.txt.xz", 4_000))
    assert b"".join(bare.to_lines(text).split()).decode() == "".join(text.split())
    normal = Normalizer()(text)
    assert b"".join(running.to_lines(text).split()).decode() == "".join(normal.split())
