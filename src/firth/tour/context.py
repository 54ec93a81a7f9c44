"""Steps of the tour on words in context. They need torch."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from firth.bulk.embedder import embedder
from firth.show import terminal
from firth.show.terminal import Bar
from firth.text.tokenize import Tokenizer
from firth.tour.materials import Materials, TourStep
from firth.vectors.neighbors import cosine
from firth.vectors.occurrences import find_marked_word

# The first and second sentence share a sense of the word, the third has another.
CONTEXTS = (
    "We sat on the [bank] of the river and watched the water .",
    "The boat came to rest against the muddy [bank] .",
    "The central [bank] lowered its interest rates .",
)
DRINKS = (
    "She made strong tea for the guests .",
    "She made powerful tea for the guests .",
)
PROMPT = "The river"


VECTORS_IN_CONTEXT = "A contextual model gives a word another vector in each sentence. Such models need torch."


def skip(
    title: str,
    sentence: str = VECTORS_IN_CONTEXT,
    reason: str = "torch is not installed",
    command: str = "pip install 'firth[elmo]' && firth tour",
) -> TourStep:
    """The step that replaces another one, by default because torch is not installed."""
    return TourStep(title, sentence, Text(f"skipped: {reason}", style="dim"), command, {"skipped": True})


def compare_contexts(materials: Materials) -> TourStep:
    """Compares the vectors of one word in two senses, layer by layer."""
    title = 'The two banks of "bank"'
    if materials.contextual is None:
        return skip(title)
    name, model = materials.contextual
    split = [find_marked_word(text, Tokenizer()) for text in CONTEXTS]
    embedded = embedder(model, "all")([words for words, _ in split])
    first, same, other = (array[:, place] for array, (_, place) in zip(embedded, split))
    same_use, other_use = ([cosine(a, b) for a, b in zip(first, one)] for one in (same, other))
    rows = [(f"layer {layer}", a, Bar(a, 12), b, Bar(b, 12)) for layer, (a, b) in enumerate(zip(same_use, other_use))]
    columns = ["", CONTEXTS[1], "", CONTEXTS[2], ""]
    return TourStep(
        title,
        "ELMo gives a word another vector in each sentence. Layer 0 depends on the spelling only, so its cosine is 1; "
        "the layers above it depend on the sentence.",
        terminal.table(f"cosine with {CONTEXTS[0]}", columns, rows),
        f"firth index {name} {materials.name} --out words.index && "
        f'firth neighbors {name} --context "{CONTEXTS[0]}" --index words.index',
        {"contexts": list(CONTEXTS), "same_use": same_use, "other_use": other_use},
    )


def score_with_bilm(materials: Materials) -> TourStep:
    """Scores sentences with a biLM, and generates one."""
    title = "Strong tea, powerful tea"
    if materials.contextual is None:
        return skip(title)
    name, model = materials.contextual
    if model.softmax is None:
        sentence = f"{name} has no softmax, so it can neither score nor generate sentences."
        return skip(title, sentence, "no softmax", "firth tour")
    scores = [(text, one.per_word) for text, one in zip(DRINKS, model.score([text.split() for text in DRINKS]))]
    generated = " ".join([PROMPT, *model.generate(PROMPT, length=30, seed=0, temperature=0.6, top_k=20)])
    quoted = " ".join(f'"{text}"' for text in DRINKS)
    return TourStep(
        title,
        "The same model is a language model in both directions: it scores sentences and generates text.",
        Group(
            terminal.bars("", scores, header=("sentence", "probability per word")),
            Text(f"generated: {generated}", style="italic"),
        ),
        f'firth score {name} {quoted} && firth generate {name} "{PROMPT}" --top 1 --length 30 --seed 0 '
        "--temperature 0.6 --top-k 20",
        {"scores": dict(scores), "generated": generated},
    )
