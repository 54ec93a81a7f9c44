"""Commands that score and generate sentences, with n-gram models, biLMs and seq2seq models."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from firth.cli.flags import BilmDevice, CorpusOptions, Inputs, Json, Model, Read, Seed, TextOptions, Texts, read_texts
from firth.cli.loading import is_bilm, load_as, move_to
from firth.cli.output import answer
from firth.errors import OptionError
from firth.evaluate.language import rank_sentences
from firth.formats.native import TASK
from firth.formats.registry import load
from firth.models.ngram_model import NgramModel
from firth.show import terminal


def score(
    model: Model,
    sentences: Texts,
    /,
    *,
    by: Annotated[
        Literal["forward", "backward", "joint"] | None,
        Parameter(help="biLMs only: rank by the probability of one direction, or of both. Default: joint."),
    ] = None,
    reading: Read = CorpusOptions(),
    json: Json = False,
) -> None:
    """Rank sentences by their probability per word under a language model.

    For example:

        firth score model.arpa "strong tea" "powerful tea"
        firth score model.arpa - < candidates.txt
        firth score bilm/ "strong tea" "powerful tea" --by backward
    """
    loaded = load(model)
    tokenizer = reading.tokenizer_for(loaded)
    split = [tokenizer.words(sentence) for sentence in read_texts(sentences)]
    if is_bilm(loaded):
        score_with_bilm(loaded, split, by or "joint", json)
        return
    language_model = load_as(model, NgramModel, "a language model", loaded)
    if by in ("backward", "joint"):
        raise OptionError(f"--by {by}: an n-gram model has only the forward direction")
    ranked = rank_sentences(language_model, split)
    columns = ["sentence", "per word", "log probability", "words", "unknown", ""]
    rows = [(one.words, one.per_word, one.log_prob, len(one.words), one.unknown) for one in ranked]
    answer([one.as_dict() for one in ranked], ranking_table("", columns, rows, [one.per_word for one in ranked]), json)


def score_with_bilm(bilm: Any, sentences: list[list[str]], by: str, as_json: bool) -> None:
    """Prints the probability per word of sentences in each direction; the end of a sentence counts as a word."""
    ranked = []
    for one in bilm.score(sentences):
        steps = len(one.words) + 1
        values = {"forward": math.exp(one.forward / steps), "backward": math.exp(one.backward / steps)}
        ranked.append({**one.as_dict(), "per_word": {**values, "joint": one.per_word}})
    ranked.sort(key=lambda one: -one["per_word"][by])
    rows = [(one["words"], *one["per_word"].values(), one["unknown"]) for one in ranked]
    columns = ["sentence", "forward", "backward", "joint", "unknown", f"by {by}"]
    answer(
        ranked,
        ranking_table("probability per word", columns, rows, [one["per_word"][by] for one in ranked], 12),
        as_json,
    )


def ranking_table(
    title: str, columns: list[str], rows: Iterable[Sequence[Any]], values: list[float], width: int = 24
) -> Table:
    """Sentences with numbers, the best first, and the values that they are ranked by as bars."""
    bars = [terminal.Bar(value / (values[0] or 1.0), width) for value in values]
    shown = [(" ".join(words), *numbers, bar) for (words, *numbers), bar in zip(rows, bars)]
    return terminal.table(title, columns, shown)


def perplexity(
    model: Model,
    inputs: Inputs,
    /,
    *,
    packing: Annotated[
        Literal["sentences", "streams"] | None,
        Parameter(
            help="biLMs only. sentences: read each sentence on its own, as `firth score` does. streams: read the text "
            "as one stream, with the LSTM state carried over. Default: sentences."
        ),
    ] = None,
    rows: Annotated[int | None, Parameter(help="biLMs only: number of parallel streams. Default: 32.")] = None,
    device: BilmDevice = None,
    reading: Read = CorpusOptions(),
    json: Json = False,
) -> None:
    """Compute the perplexity of a language model on a text.

    A biLM has a perplexity for each direction; `average` is their geometric mean.

    For example:

        firth perplexity model.arpa held-out.txt --tokens whitespace
        firth perplexity bilm/ held-out.txt --packing streams
    """
    loaded = load(model)
    corpus = reading.corpus(inputs, loaded)
    if is_bilm(loaded):
        bilm, streams = move_to(loaded, device), 32 if rows is None else rows
        with terminal.progress() as report:
            result = bilm.perplexity(corpus, sentences=packing != "streams", rows=streams, report=report)
    else:
        for flag, value in {"--packing": packing, "--rows": rows, "--device": device}.items():
            if value is not None:
                raise OptionError(f"{flag} is for biLMs, but {model} contains a {type(loaded).__name__}")
        result = load_as(model, NgramModel, "a language model", loaded).perplexity(corpus)
    values = result.as_dict()
    answer(values, terminal.table("", ["", "value"], list(values.items())), json)


def generate(
    model: Model,
    prompt: Annotated[str, Parameter(help="First words of the text; for a seq2seq model, the source text.")] = "",
    /,
    *,
    count: Annotated[int, Parameter(name=["--top", "--count", "-n"], help="Number of texts.")] = 5,
    length: Annotated[int, Parameter(help="Maximum number of words per text.")] = 40,
    temperature: Annotated[
        float, Parameter(help="Sampling temperature: below 1 favors likely words, above 1 flattens.")
    ] = 1.0,
    top_k: Annotated[int | None, Parameter(help="Sample from the K most likely words.")] = None,
    top_p: Annotated[
        float | None,
        Parameter(help="biLMs only: sample from the most likely words with this total probability (nucleus sampling)."),
    ] = None,
    seed: Seed = 1,
    reading: Annotated[TextOptions, Parameter(name="*", group="Text")] = TextOptions(),
    json: Json = False,
) -> None:
    """Generate text: sampled from a language model, or by beam search from a seq2seq model.

    For example:

        firth generate model.arpa "The queen" --top 3
        firth generate bilm/ "The queen" --temperature 0.8 --top-p 0.9
        firth generate titles/ "We train a language model in both directions." --top 3
    """
    loaded = load(model)
    if getattr(loaded, "kind", None) == TASK:
        generate_from_source(loaded, prompt, count, json)
        return
    start = reading.tokenizer_for(loaded).words(prompt)
    if is_bilm(loaded):
        sample = partial(loaded.generate, start, top_p=top_p)
    elif top_p is not None:
        raise OptionError("--top-p is for biLMs. Use --top-k")
    else:
        sample = partial(load_as(model, NgramModel, "a language model", loaded).sample, start)
    texts = [
        " ".join([*start, *sample(length=length, temperature=temperature, top_k=top_k, seed=seed + i)])
        for i in range(count)
    ]
    answer(texts, Text("\n".join(texts)), json)


def generate_from_source(model: Any, source: str, count: int, as_json: bool) -> None:
    """Prints the best outputs of a seq2seq model for a source text, with their scores."""
    from firth.tasks.seq2seq.task import generate

    outputs = generate(model, source, count)
    values = [{"text": text, "score": score} for text, score in outputs]
    answer(values, terminal.table("", ["text", "score"], outputs), as_json)
