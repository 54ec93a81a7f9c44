"""Rules that belong to a language: abbreviations, elisions, clitics, ordinals, marks inside words."""

from __future__ import annotations

from typing import get_args

import pytest

from firth.errors import OptionError
from firth.text.languages import NORMALIZERS, WORDS, Language, language_normalizer
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

# What the first version of the rules had wrong: language, text, tokens and sentences.
CASES = """
any: გამარჯობა. როგორ ხარ? თბილისი -> გამარჯობა . | როგორ ხარ ? | თბილისი
any: Ինչպե՞ս -> Ինչպե՞ս
any: Ո՞վ է. նա չգիտի: Բարև: -> Ո՞վ է . նա չգիտի : | Բարև :
armenian: Նա 1-ին է, Վ. Տերյանը: -> Նա 1 - ին է , Վ . Տերյանը :
any: Τι κάνεις; Καλά. -> Τι κάνεις ; | Καλά .
any: He waits; She goes. -> He waits ; She goes .
greek: Είναι του κ. Παπά· απ' όλα, κ.λπ. Το τέλος. -> Είναι του κ. Παπά · απ' όλα , κ.λπ. | Το τέλος .
any: Masada bir kitap var. Ali geldi. -> Masada bir kitap var . | Ali geldi .
turkish: Masada bir kitap var. Ali geldi. -> Masada bir kitap var . | Ali geldi .
turkish: Prof. Dr. Ali 3. sınıfta, İstanbul'da. Bu iyi. -> Prof. Dr. Ali 3. sınıfta , İstanbul'da . | Bu iyi .
any: Banksia spinulosa var. collina grows. -> Banksia spinulosa var. collina grows .
german: am 3. Mai -> am 3. Mai
german: Der 1. FC Köln -> Der 1. FC Köln
german: Das ist z. B. so, z.B. hier. Er wurde 12. Die Nr. 5 siegt. -> \
Das ist z. B. so , z.B. hier . | Er wurde 12 . | Die Nr. 5 siegt .
any: '홈런왕'의 -> ' 홈런왕 ' 의
any: བོད་སྐད -> བོད་ སྐད
any: བོད་སྐད། བོད། -> བོད་ སྐད ། | བོད །
any: พ.ศ. 2566 -> พ.ศ. 2566
thai: ในพ.ศ.2566 เวลา 10.30 น. -> ใน พ.ศ. 2566 เวลา 10.30 น.
any: دکتر م. رضایی در ص. ۱۲ -> دکتر م. رضایی در ص. ۱۲
any: او گفت: «سلام!» و رفت. -> او گفت : « سلام ! » و رفت .
any: او گفت: «سلام!» علی رفت. -> او گفت : « سلام ! » | علی رفت .
arabic: قال د. أحمد كِتابا. ثم خرج. -> قال د. أحمد كتابا . | ثم خرج .
french: L'eau d’aujourd'hui n'est-elle pas là-bas ? -> L' eau d’ aujourd'hui n' est -elle pas là-bas ?
french: M. Le Pen a-t-il dit « etc. » ? Qu'il vienne. -> M. Le Pen a -t-il dit « etc. » ? | Qu' il vienne .
italian: L'arte dell'acqua, un po' d'oro. È qui. -> L' arte dell' acqua , un po' d' oro . | È qui .
any: l'eau -> l'eau
italian: A norma dell'art. 13 della legge. ha detto -> A norma dell' art. 13 della legge . | ha detto
french: Selon l'art. 5 du code. et puis rien -> Selon l' art. 5 du code . | et puis rien
english: i like it. do you? "why?" she asked... no. -> i like it . | do you ? | " why ? " she asked ... no .
english: approx. five, e.g. cats, No. 5 etc. and so on -> approx. five , e.g. cats , No. 5 etc. and so on
english: 1. wash the rice. 2. cook it -> 1 . wash the rice . | 2 . cook it
any: i like it. do you? yes! -> i like it . do you ? yes !
greek: Ήρθε χθες. μετά έφυγε. -> Ήρθε χθες . | μετά έφυγε .
german: Er kam. und ging. -> Er kam . und ging .
dutch: Zie dr. Bos, die zei: ,,'t Is mooi.'' Foto's, bijv. van 's morgens. Hij ging. -> \
Zie dr. Bos , die zei : ,, 't Is mooi . '' | Foto's , bijv. van 's morgens . | Hij ging .
any: Hij zei: ,,Kom.,, Ze gingen, ,, ja -> Hij zei : ,, Kom . ,, Ze gingen , ,, ja
hindi: डॉ. शर्मा आस-पास नहीं, 10-सप्ताह कभी-कभी थे। अच्छा। -> डॉ. शर्मा आस - पास नहीं , 10-सप्ताह कभी - कभी थे । | अच्छा ।
hungarian: A Kft. 2000. január 5-én, a II. kerületben (1998. július 4.) nyílt 2000. Ez jó. -> \
A Kft. 2000. január 5-én , a II. kerületben ( 1998. július 4. ) nyílt 2000 . | Ez jó .
romanian: S-a dus într-o casă, dându-i cartea. Nu-l văd pe dl. Popa-Ion la nr. 5. -> \
S- a dus într- o casă , dându -i cartea . | Nu -l văd pe dl. Popa-Ion la nr. 5 .
any: S-a dus într-o casă -> S-a dus într-o casă
ukrainian: Це прес-секретар ім. Шевченка, 14-річний, 18-25 р. Він прийшов. -> \
Це прес - секретар ім. Шевченка , 14-річний , 18 - 25 р . | Він прийшов .
hebrew: בית־ספר ו-20 צה"ל -> בית ־ ספר ו - 20 צה"ל
georgian: ბერძნ. ფილოსოფოსი, ე.წ. ბრძენი. ის წავიდა. -> ბერძნ. ფილოსოფოსი , ე.წ. ბრძენი . | ის წავიდა .
""".replace("\\\n", "")


@pytest.mark.parametrize("case", CASES.strip().split("\n"))
def test_text_is_split_as_its_language_has_it(case: str) -> None:
    language, _, rule = case.partition(": ")
    text, expected = rule.split(" -> ")
    tokenizer = Tokenizer(language=language)  # type: ignore[arg-type]
    sentences = [" ".join(token.text for token in sentence) for sentence in tokenizer.sentences(text)]
    assert sentences == expected.split(" | ")


def test_abbreviations_belong_to_their_language() -> None:
    assert Tokenizer(language="german").words("Das Corp. kam") == ["Das", "Corp", ".", "kam"]
    assert Tokenizer(language="english").words("The Corp. came") == ["The", "Corp.", "came"]
    assert Tokenizer(language="german").words("Abb. 3") == ["Abb.", "3"]
    assert Tokenizer().words("Abb. 3") == ["Abb", ".", "3"]


def test_english_contractions_are_not_cut_in_other_languages() -> None:
    assert Tokenizer(language="german").words("cannot") == ["cannot"]
    assert Tokenizer(language="english").words("cannot") == ["can", "not"]


def test_turkish_folds_its_two_letters_i() -> None:
    assert language_normalizer("turkish", fold_case=True)("IŞIK İstanbul") == "ışık istanbul"
    assert Normalizer(fold_case=True)("IŞIK") == "işik"
    folding = Tokenizer(language="turkish", normalizer=language_normalizer("turkish", fold_case=True))
    assert folding.spans("ISI İl")[1].text == "il"


def test_a_language_brings_its_normalizer_unless_one_is_given() -> None:
    assert Tokenizer(language="persian").normalizer == Normalizer.persian()
    assert Tokenizer(language="persian", normalizer=None).normalizer is None
    assert Tokenizer(language="persian", mode="whitespace").normalizer is None
    assert Tokenizer(language="french").normalizer == Normalizer()
    assert {*WORDS, *NORMALIZERS} <= set(get_args(Language))


def test_a_language_is_stored_and_an_unknown_one_is_refused() -> None:
    for language in get_args(Language):
        tokenizer = Tokenizer(language=language)
        assert Tokenizer.from_dict(tokenizer.as_dict()) == tokenizer
    with pytest.raises(OptionError, match="language is 'klingon'"):
        Tokenizer(language="klingon")  # type: ignore[arg-type]


def test_tokenizers_that_were_stored_before_keep_their_rules() -> None:
    stored = {"mode": "running", "normalizer": Normalizer().as_dict(), "paragraphs": False, "abbreviations": []}
    tokenizer = Tokenizer.from_dict(stored)
    assert tokenizer.words("بیا م. رضایی Ինչպե՞ս") == ["بیا", "م", ".", "رضایی", "Ինչպե", "՞", "ս"]
    assert len(tokenizer.sentences("გამარჯობა. როგორ ხარ?")) == 1
    assert tokenizer.words("var. Ali") == ["var.", "Ali"]
