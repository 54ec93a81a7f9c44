"""Model cards of the shipped word vectors and biLMs: text, recipe, scores, size, license and training command."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_files import MIXTURE
from firth.evaluate import Score
from firth.pretrained import shipped
from firth.probes.bag import BAG
from firth.show.markdown import markdown_table
from firth.show.numbers import format_bytes
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

TEXTS = {
    "encyclopedia": "Wikipedia, 2015 and 2019",
    "news": "one Iranian newspaper, in English",
    "books": "books of Project Gutenberg, most of them from before 1930",
    "mixed": "more novels and news",
    "speeches": "speeches in the General Assembly of the United Nations, 1946 to 2022",
    "science": "a quarter of the articles of a journal of life sciences, 2012 to 2026",
    "old encyclopedia": "a quarter of the Encyclopaedia Britannica, 7th and 9th edition",
    "fa-01.txt.xz": "50,107 Common Voice sentences, 4,175 news articles, classical poems",
    "fa-02.txt.xz": "debates of the Assembly of Experts, articles of Persian Wikipedia, software manuals",
}
TREATED = (
    "Whether numbers learned from a text are a work derived from it is not settled; we treat them as if they were, and "
    "give them under CC BY-SA 4.0: use them for anything, say where they come from, and share models that you make by "
    "changing them alike. What you compute with them (vectors of your text, scores, answers) is yours."
)
LICENCES = {
    "en": (
        "cc-by-sa-4.0",
        "The text is from Wikipedia (CC BY-SA, by its contributors), from a newspaper, a journal and an edition of the "
        "Britannica (CC BY, by the Tehran Times, the authors of eLife and the Nineteenth-Century Knowledge Project), "
        "and from books and speeches in the public domain; docs/data.md names each source. " + TREATED,
    ),
    "fa": (
        "cc-by-sa-4.0",
        "The text is from Common Voice (CC0), from news articles (Apache-2.0, as their collection states), from "
        "Persian Wikipedia (CC BY-SA, by its contributors), from software manuals (CC BY), and from debates and "
        "classical poems in the public domain. " + TREATED,
    ),
}
CUT = {
    "en": "cased, cut into words as in the Penn Treebank (docs/data.md)",
    "fa": "cut by firth's tokenizer, letters, digits and half-spaces unified (`Normalizer.persian`)",
}
QUERIES = {"en": ("king", "tea", "river", "Paris", "beautiful"), "fa": ("تهران", "کتاب", "می‌شود", "زیبا", "پادشاه")}
UNSEEN = {"en": ("photosynthesizing", "reconfigured"), "fa": ("دانشگاه‌هایمان", "کتاب‌فروشی‌ها")}


ELMO_TEXTS = {"en": tuple(MIXTURE), "fa": ("fa-01.txt.xz", "fa-02.txt.xz")}
Both = tuple[Sequence[Score], Sequence[Score]]  # before and after quantization


def static_card(name: str, folder: Path, vectors: WordVectors, listed: Both, unseen: Both | None) -> str:
    """The model card of static word vectors."""
    metadata, rows = vectors.metadata, vectors.rows
    about = [
        ("words", f"{len(vectors):,}, the most frequent of {metadata['words_trained']:,} that were trained"),
        ("numbers a word", str(vectors.dim)),
        ("rows", f"{rows.dtype_name}, {format_bytes(rows.nbytes)}"),
    ]
    if isinstance(vectors, SubwordVectors):
        grams = vectors.subwords
        about.append(("n-grams", f"{grams.size:,} of {grams.minn} to {grams.maxn} characters"))
    use = f'vectors = firth.load("{name}")\nvectors.most_similar("{example_word(name)}")'
    ways = f"firth neighbors {name} {example_word(name)}\nfirth evaluate {name}"
    judged = [
        "`trained` is with float32 rows as they came from training, `here` as they lie in this folder; the same "
        f"{len(vectors):,} words in both. `used` questions of `of` have only words that are known.",
        score_table(*listed),
    ]
    if unseen is not None:
        judged += [
            f"With words that are not in the list, made of their n-grams. `trained` has {metadata['words_trained']:,} "
            "words and all n-grams here.",
            score_table(*unseen),
        ]
    parts = [("Use", [code(use, "python"), code(ways, "sh")]), ("What it is", [markdown_table(["", "value"], about)])]
    parts += [("Text", describe_text(name, metadata["texts"], metadata))]
    parts += [("Recipe", [recipe_table(metadata)]), ("How good it is", judged)]
    parts += [("Neighbors", [neighbor_table(name, vectors)])]
    given = " --corpus CORPUS" if language_of(name) == "en" else ""
    return page(name, folder, parts, f"python scripts/pretrained.py {name}{given}")


def neighbor_table(name: str, vectors: WordVectors) -> str:
    """A table of words and their nearest neighbors; for subword vectors also words outside the vocabulary."""
    language = language_of(name)
    queries = QUERIES[language] + (UNSEEN[language] if isinstance(vectors, SubwordVectors) else ())
    rows = [
        (word + " (not in the list)" * (word not in vectors.vocabulary), ", ".join(w for w, _ in near))
        for word, near in ((word, vectors.most_similar(word, topn=6)) for word in queries)
    ]
    return markdown_table(["word", "nearest"], rows)


ELMO_USE = {
    "en": (
        'bilm.embed(["They sat on the river bank ."])',
        'bilm.score(["strong tea", "powerful tea"])',
        'bilm.predict("He drank a cup of", "in the morning .")',
        'bilm.generate("The queen", seed=1)',
    ),
    "fa": (
        'bilm.embed(["کودک یک لیوان شیر نوشید."])',
        'bilm.score(["به خانه رفتم.", "رفتم خانه به."])',
        'bilm.predict("یک لیوان", "نوشید .")',
        'bilm.generate("در این", seed=1)',
    ),
}
HELD_OUT = {
    "en": "held-out Wikipedia articles (WikiText-103, valid)",
    "fa": "the held-out part of the training text (one block of 20 lines in fifty)",
}
BAGS = {"en": "word2vec-en", "fa": "fasttext-fa"}
SENSES = {"en": "src/firth/probes/senses.tsv", "fa": "src/firth/probes/senses-fa.tsv"}


def elmo_card(name: str, folder: Path, bilm: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The model card of a biLM."""
    language = language_of(name)
    use = "\n".join([f'bilm = firth.load("{name}")', *ELMO_USE[language]])
    facts = [(one, value) for one, value in bilm.facts() if one != "from"]
    both = before, after
    rows = [
        (f"perplexity, {way}", *(f"{one['perplexity'][way]:.2f}" for one in both)) for way in ("forward", "backward")
    ]
    for layer in [one for one in after if one.startswith("senses")]:
        found = [one[layer] for one in both]
        rows.append((layer, *(f"{one['passed']} of {one['words']}, {one['nearest']:.0%}" for one in found)))
    words = after["perplexity"]["words"]
    judged = [
        f"Perplexity is exact, on {words:,} words and sentence ends of {HELD_OUT[language]}. Senses: the number of "
        f"words with two senses ({SENSES[language]}) whose occurrences in one sense are more similar than those in "
        "different senses, and the share of occurrences whose nearest neighbor has the same sense (43 % by chance). "
        f"The {BAG} is the mean of {BAGS[language]} over the other words of the sentence. A layer below it knows no "
        "more about senses than which words are near. "
        "`trained`: as it came from training, stored as float16; `here`: with int8 rows, as in this folder.",
        markdown_table(["", "trained", "here"], rows),
    ]
    parts = [("Use", [code(use, "python")]), ("What it is", [markdown_table(["", "value"], facts)])]
    parts += [
        ("Text", describe_text(name, ELMO_TEXTS[language], bilm.metadata)),
        ("Recipe", [recipe_table(bilm.metadata)]),
        ("How good it is", judged),
    ]
    commands = (
        "python scripts/pretrain_elmo.py prepare --corpus CORPUS\n"
        f"python scripts/pretrain_elmo.py {name} --corpus CORPUS --out MODEL\n"
        f"python scripts/pretrained.py {name} --from MODEL"
    )
    return page(name, folder, parts, commands)


def page(name: str, folder: Path, parts: Sequence[tuple[str, Sequence[str]]], command: str) -> str:
    """The text of a card from its sections."""
    language = language_of(name)
    licence, meaning = LICENCES[language]
    size = sum(file.stat().st_size for file in folder.iterdir() if file.name != "README.md")
    head = ["---", f"language: {language}", f"license: {licence}", "library_name: firth", "tags:"]
    lines = ["\n".join([*head, "- word-representations", f"- {name.rsplit('-', 1)[0]}", "---"]), f"# {name}"]
    lines.append(f"{shipped.SHIPPED[name]}. {format_bytes(size)} on disk.")
    for title, paragraphs in parts:
        lines += [f"## {title}", *paragraphs]
    lines += ["## Licence", meaning, "## Make it again", code(command, "sh")]
    return "\n\n".join(lines) + "\n"


def describe_text(name: str, texts: Sequence[str], metadata: Mapping[str, Any]) -> list[str]:
    """The section on the training text."""
    tokens = metadata.get("tokens") or metadata.get("corpus", {}).get("tokens", 0)
    twice = [text for text in texts if name == "elmo-en" and MIXTURE[text] == 2.0]
    rows = [(text, TEXTS[text] + ", read twice" * (text in twice)) for text in texts]
    first = f"{tokens:,} tokens{' in an epoch' * bool(twice)}, {CUT[language_of(name)]}."
    return [first, markdown_table(["text", "what it holds"], rows)]


def language_of(name: str) -> str:
    """The language of a shipped model.

    >>> language_of("elmo-fa")
    'fa'
    """
    return name.rsplit("-", 1)[1]


def recipe_table(metadata: Mapping[str, Any]) -> str:
    """A table of the options of the recipe and the length of the training."""
    recipe = metadata.get("recipe", {})
    rows = [(name, f"`{json.dumps(value)}`") for name, value in recipe.items() if value not in (None, [], ())]
    rows += [(name, f"{metadata[name]:,}") for name in ("steps", "tokens_seen", "seconds") if name in metadata]
    return markdown_table(["option", "value"], rows)


def score_table(before: Sequence[Score], after: Sequence[Score]) -> str:
    """A table of the scores before and after quantization, in percent, with their coverage."""
    old = {score.name: score for score in before}
    rows = []
    for score in after:
        first = old.get(score.name)
        interval = "–" if score.interval is None else "{:.1f} to {:.1f}".format(*(100 * one for one in score.interval))
        cells = [score.name, score.metric, percent(first), percent(score), interval]
        rows.append([*cells, f"{score.used:,}", f"{score.total:,}"])
    return markdown_table(["set", "measure", "trained", "here", "95 % interval", "used", "of"], rows)


def percent(score: Score | None) -> str:
    """The value of a score in percent, or a dash."""
    return "–" if score is None or score.value is None else f"{100 * score.value:.1f}"


def code(text: str, language: str) -> str:
    """A fenced code block."""
    return f"```{language}\n" + ("import firth\n\n" if language == "python" else "") + f"{text}\n```"


def example_word(name: str) -> str:
    """The query word of the examples."""
    return {"en": "king", "fa": "تهران"}[name.rsplit("-", 1)[1]]
