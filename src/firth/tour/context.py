"""The steps of the tour that read words in their sentences; they need torch, and say so where it is missing."""

from __future__ import annotations

from rich.console import Group
from rich.markup import escape
from rich.text import Text

from firth.bulk.embedder import embedder
from firth.show import terminal
from firth.show.terminal import Bar
from firth.text.tokenize import Tokenizer
from firth.tour.materials import Materials, Step
from firth.vectors.neighbors import cosine
from firth.vectors.occurrences import find_marked_word

# One meaning twice and another once: the first is compared with the others.
CONTEXTS = (
    "We sat on the [bank] of the river and watched the water .",
    "The boat came to rest against the muddy [bank] .",
    "The central [bank] lowered its interest rates .",
)
DRINKS = (
    "She made strong tea for the guests .",
    "She made powerful tea for the guests .",
)
BEGUN = "The river"


VECTORS_IN_CONTEXT = "A contextual model gives a word a vector for each sentence it is in. Such models need torch."


def without_torch(title: str, sentence: str = VECTORS_IN_CONTEXT) -> Step:
    """What stands where a network would speak."""
    return Step(
        title,
        sentence,
        Text("skipped: torch is not installed", style="dim"),
        "pip install 'firth[elmo]' && firth tour",
        {"skipped": True},
    )


def contexts(luggage: Materials) -> Step:
    """One word in two meanings, layer by layer."""
    title = 'The two banks of "bank"'
    if luggage.contextual is None:
        return without_torch(title)
    name, model = luggage.contextual
    split = [find_marked_word(text, Tokenizer()) for text in CONTEXTS]
    embedded = embedder(model, "all")([words for words, _ in split])
    first, same, other = (array[:, place] for array, (_, place) in zip(embedded, split))
    alike, unlike = ([cosine(a, b) for a, b in zip(first, one)] for one in (same, other))
    rows = [(f"layer {layer}", a, Bar(a, 12), b, Bar(b, 12)) for layer, (a, b) in enumerate(zip(alike, unlike))]
    columns = ["", CONTEXTS[1], "", CONTEXTS[2], ""]
    return Step(
        title,
        "ELMo gives a word a vector for each sentence. Layer 0 knows the spelling alone, so that its cosine is 1; from "
        "layer 1 on the sentence speaks too.",
        terminal.table(escape(f"cosine with {CONTEXTS[0]}"), [escape(name) for name in columns], rows),
        f"firth index {name} {luggage.name} --out words.index && "
        f'firth neighbors {name} --context "{CONTEXTS[0]}" --index words.index',
        {"contexts": list(CONTEXTS), "same_use": alike, "other_use": unlike},
    )


def likely_sentences(luggage: Materials) -> Step:
    """What a biLM thinks of sentences, and one that it makes."""
    title = "Strong tea, powerful tea"
    if luggage.contextual is None:
        return without_torch(title)
    name, model = luggage.contextual
    if model.softmax is None:
        return Step(
            title,
            f"{name} came without the softmax that tells words, so it can neither judge nor make sentences.",
            Text("skipped: no softmax", style="dim"),
            "firth tour",
            {"skipped": True},
        )
    scores = [(text, one.per_word) for text, one in zip(DRINKS, model.score([text.split() for text in DRINKS]))]
    made = " ".join([BEGUN, *model.generate(BEGUN, length=30, seed=0, temperature=0.6, top_k=20)])
    quoted = " ".join(f'"{text}"' for text in DRINKS)
    return Step(
        title,
        "The same model reads forwards and backwards: it knows which words keep company, and how a sentence may go on.",
        Group(
            terminal.bars("", scores, header=("sentence", "probability per word")),
            Text(f"generated: {made}", style="italic"),
        ),
        f'firth score {name} {quoted} && firth generate {name} "{BEGUN}" --count 1 --length 30 --seed 0 '
        "--temperature 0.6 --top-k 20",
        {"scores": dict(scores), "generated": made},
    )
