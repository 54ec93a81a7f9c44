"""Commands that judge and make sentences: n-gram models, biLMs, and models of `firth task seq2seq`."""

import math
from functools import partial
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from firth.cli.embed import placed
from firth.cli.flags import CorpusOptions, Inputs, Json, Model, Read, read_texts
from firth.cli.models import is_bilm
from firth.cli.output import answer
from firth.errors import OptionError
from firth.evaluate.language import rank_sentences
from firth.formats.native import TASK
from firth.formats.registry import load
from firth.models.ngram_model import NgramModel
from firth.show import terminal


def load_language_model(path: str, model: Any = None) -> NgramModel:
    """The n-gram model in a file; another kind of model is an error that says what it is."""
    model = model or load(path)
    if not isinstance(model, NgramModel):
        raise OptionError(f"{path}: holds {type(model).__name__}, but this command needs a language model")
    return model


def score(
    model: Model,
    sentences: Annotated[list[str], Parameter(allow_leading_hyphen=True, help="sentences; - reads them from lines")],
    /,
    *,
    by: Annotated[
        Literal["forward", "backward", "joint"] | None,
        Parameter(help="a biLM reads in both directions: rank by one of them, or by both (joint, if not given)"),
    ] = None,
    reading: Read = CorpusOptions(),
    json: Json = False,
) -> None:
    """Sentences ranked by their probability per word.

    For example:

        firth score model.arpa "strong tea" "powerful tea"
        firth score model.arpa - < candidates.txt
        firth score bilm/ "strong tea" "powerful tea" --by backward
    """
    opened, tokenizer = load(model), reading.tokenizer()
    split = [tokenizer.words(sentence) for sentence in read_texts(sentences)]
    if is_bilm(opened):
        score_both_ways(opened, split, by or "joint", json)
        return
    language_model = load_language_model(model, opened)
    if by in ("backward", "joint"):
        raise OptionError(f"--by {by}: an n-gram model reads forwards only")
    ranked = rank_sentences(language_model, split)
    columns = ["sentence", "per word", "log probability", "words", "unknown", ""]
    best = ranked[0].per_word or 1.0
    rows = [
        (
            " ".join(one.words),
            one.per_word,
            one.log_prob,
            len(one.words),
            one.unknown,
            terminal.Bar(one.per_word / best),
        )
        for one in ranked
    ]
    answer([one.as_dict() for one in ranked], terminal.table("", columns, rows), json)


def score_both_ways(bilm: Any, sentences: list[list[str]], by: str, as_json: bool) -> None:
    """Ranks sentences by a biLM: every direction has its probability per word, the sentence's edge counted."""
    found = []
    for one in bilm.score(sentences):
        steps = len(one.words) + 1
        values = {"forward": math.exp(one.forward / steps), "backward": math.exp(one.backward / steps)}
        found.append({**one.as_dict(), "per_word": {**values, "joint": one.per_word}})
    found.sort(key=lambda one: -one["per_word"][by])
    best = found[0]["per_word"][by] or 1.0
    rows = [
        (
            " ".join(one["words"]),
            *one["per_word"].values(),
            one["unknown"],
            terminal.Bar(one["per_word"][by] / best, 12),
        )
        for one in found
    ]
    columns = ["sentence", "forward", "backward", "joint", "unknown", f"by {by}"]
    answer(found, terminal.table("probability per word", columns, rows), as_json)


def perplexity(
    model: Model,
    inputs: Inputs,
    /,
    *,
    packing: Annotated[
        Literal["sentences", "streams"] | None,
        Parameter(help="a biLM: sentences (if not given) each begin anew, as in score; streams remember what was read"),
    ] = None,
    rows: Annotated[
        int | None, Parameter(help="a biLM: how many streams the text is dealt to; 32 if not given")
    ] = None,
    device: Annotated[str | None, Parameter(help="a biLM: where it runs, such as cpu or cuda")] = None,
    reading: Read = CorpusOptions(),
    json: Json = False,
) -> None:
    """How surprised a language model is by a text: lower is better.

    A biLM is surprised twice, reading forwards and backwards; `average` is the geometric mean.

    For example:

        firth perplexity model.arpa held-out.txt --tokens whitespace
        firth perplexity bilm/ held-out.txt --packing streams
    """
    opened, corpus = load(model), reading.corpus(inputs)
    if is_bilm(opened):
        opened, streams = placed(opened, device), 32 if rows is None else rows
        with terminal.progress() as report:
            found = opened.perplexity(corpus, sentences=packing != "streams", rows=streams, report=report)
    else:
        given = {"--packing": packing, "--rows": rows, "--device": device}
        flag = next((flag for flag, value in given.items() if value is not None), None)
        if flag is not None:
            raise OptionError(f"{flag} is for biLMs, but {model} holds a {type(opened).__name__}")
        found = load_language_model(model, opened).perplexity(corpus)
    values = found.as_dict()
    answer(values, terminal.table("", ["", "value"], list(values.items())), json)


def generate(
    model: Model,
    prompt: Annotated[str, Parameter(help="how the sentence begins; for a model of seq2seq the source")] = "",
    /,
    *,
    count: Annotated[int, Parameter(name=["--count", "-n"], help="how many sentences")] = 5,
    length: Annotated[int, Parameter(help="at most so many words each")] = 40,
    temperature: Annotated[float, Parameter(help="below 1 bolder in the likely, above 1 wilder")] = 1.0,
    top_k: Annotated[int | None, Parameter(help="choose among the so many likeliest words")] = None,
    top_p: Annotated[
        float | None, Parameter(help="a biLM: choose among the likeliest words that together have this probability")
    ] = None,
    seed: Annotated[int, Parameter(help="the same seed gives the same text")] = 1,
    json: Json = False,
) -> None:
    """Text sampled from a language model, or the best texts for a source from a model of `firth task seq2seq`.

    For example:

        firth generate model.arpa "The queen" --count 3
        firth generate bilm/ "The queen" --temperature 0.8 --top-p 0.9
        firth generate titles/ "We train a language model in both directions." --count 3
    """
    opened = load(model)
    if getattr(opened, "kind", None) == TASK:
        say_for_source(opened, prompt, count, json)
        return
    start = CorpusOptions().tokenizer().words(prompt)
    if is_bilm(opened):
        draw = partial(opened.generate, start, top_p=top_p)
    elif top_p is not None:
        raise OptionError("--top-p is for biLMs. Use --top-k")
    else:
        draw = partial(load_language_model(model, opened).sample, start)
    texts = [
        " ".join([*start, *draw(length=length, temperature=temperature, top_k=top_k, seed=seed + i)])
        for i in range(count)
    ]
    answer(texts, Text("\n".join(texts)), json)


def say_for_source(model: Any, source: str, count: int, as_json: bool) -> None:
    """The best texts that an encoder and decoder says for a source, each with its score."""
    from firth.tasks.seq2seq.task import generate

    found = generate(model, source, count)
    values = [{"text": text, "score": score} for text, score in found]
    answer(values, terminal.table("", ["text", "score"], found), as_json)
