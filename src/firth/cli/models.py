"""Commands that make, change, judge and use whole models."""

import math
from collections.abc import Sized
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Group
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from firth import show
from firth.card import card_of, model_card
from firth.cli.answer import answer, load_vectors
from firth.cli.embed import placed
from firth.cli.flags import Inputs, Json, Model, Read, Reading, Target, given_lines
from firth.errors import OptionError
from firth.evaluate import Score, rank_sentences
from firth.evaluate import evaluate as evaluate_vectors
from firth.formats.catalogue import FORMATS, load, save
from firth.formats.native import TASK
from firth.formats.precision import lessened_vectors
from firth.models.ngram_model import NgramModel
from firth.portrait import in_bytes
from firth.pretrained import shipped
from firth.vectors import WordVectors


def describe(model: Any) -> dict[str, Any]:
    """What a model is, in a few values."""
    values: dict[str, Any] = {"kind": type(model).__name__}
    if isinstance(model, Sized):
        values["words"] = len(model)
    if is_bilm(model):
        values |= {"dim": 2 * model.architecture.dim, "layers": model.architecture.layers + 1}
        values |= {"architecture": model.architecture.as_dict()}
    if isinstance(model, WordVectors):
        values |= {"dim": model.dim, "dtype": model.rows.dtype_name, "bytes": model.rows.nbytes}
    return values | {"metadata": dict(model.metadata)}


def models(*, json: Json = False) -> None:
    """The models that come with firth: each opens by its name, wherever a model is asked for.

    For example:

        firth models
        firth neighbors word2vec-en king
        firth predict ner "Elon Musk founded SpaceX."
        firth card elmo-en
    """
    columns = "name", "kind", "bytes", "about"
    found = [(name, shipped.kind(name), shipped.size(name), shipped.SHIPPED[name]) for name in shipped.available()]
    rows = [(name, kind, in_bytes(size), about) for name, kind, size, about in found]
    values = [dict(zip(columns, one)) for one in found]
    answer(values, show.table("", ["name", "kind", "size", "what it is"], rows), json)


def card(model: Model, /, *, json: Json = False) -> None:
    """The card of a model: what it was made from and how, how good it is, what may be done with it.

    For example:

        firth card word2vec-en
        firth card vectors/
    """
    written = card_of(Path(shipped.located(model)))
    page = written.read_text(encoding="utf-8") if written.is_file() else made_card(model)
    answer({"model": model, "card": page}, Markdown(page.removeprefix("---\n").split("\n---\n", 1)[-1]), json)


def made_card(path: str) -> str:
    """The card of a model that has none written: what the model itself knows."""
    model = load(path)
    if getattr(model, "kind", None) == TASK:
        from firth.tasks.card import task_card

        return task_card(path, model)
    words = model.vocabulary or () if is_bilm(model) else model
    return model_card(path, len(words) if isinstance(words, Sized) else 0, getattr(model, "dim", None), model.metadata)


def info(model: Model, /, *, json: Json = False) -> None:
    """What a file is and what it holds.

    For example:

        firth info cc.fa.300.bin
        firth info vectors/ --json
    """
    loaded = load(model)
    answer(describe(loaded), loaded, json)


def convert(
    source: Model,
    target: Target,
    /,
    *,
    format: Annotated[str | None, Parameter(help=f"what to write: {', '.join(FORMATS)}; else by the name")] = None,
    limit: Annotated[int | None, Parameter(help="only the first so many words")] = None,
    vocabulary: Annotated[str | None, Parameter(help="only the words of this file, one a line")] = None,
    precision: Annotated[
        Literal["float16", "int8"] | None,
        Parameter(name=["--precision", "--dtype"], help="store the numbers of vectors or of a biLM smaller"),
    ] = None,
    json: Json = False,
) -> None:
    """One format into another.

    For example:

        firth convert GoogleNews-vectors-negative300.bin.gz vectors/
        firth convert glove.840B.300d.txt small.bin --format word2vec-binary --limit 100000
        firth convert vectors/ vectors-int8/ --precision int8
        firth convert bilm/ small-bilm/ --precision int8
    """
    with show.progress():
        model = load(source, limit=limit, vocabulary=vocabulary)
        if precision is not None and isinstance(model, WordVectors):
            model = lessened_vectors(model, precision)
        save(model, target, format=format, precision=precision)
    answer({"from": source, "to": target, **describe(model)}, Text(f"{target}: {model!r}"), json)


def is_bilm(model: object) -> bool:
    """Whether a model reads sentences in both directions; asked by its kind, so that torch stays away."""
    return getattr(model, "kind", None) == "bilm"


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
    reading: Read = Reading(),
    json: Json = False,
) -> None:
    """Sentences ranked by their probability per word.

    For example:

        firth score model.arpa "strong tea" "powerful tea"
        firth score model.arpa - < candidates.txt
        firth score bilm/ "strong tea" "powerful tea" --by backward
    """
    opened, tokenizer = load(model), reading.tokenizer()
    split = [tokenizer.words(sentence) for sentence in given_lines(sentences)]
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
        (" ".join(one.words), one.per_word, one.log_prob, len(one.words), one.unknown, show.Bar(one.per_word / best))
        for one in ranked
    ]
    answer([one.as_dict() for one in ranked], show.table("", columns, rows), json)


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
        (" ".join(one["words"]), *one["per_word"].values(), one["unknown"], show.Bar(one["per_word"][by] / best, 12))
        for one in found
    ]
    columns = ["sentence", "forward", "backward", "joint", "unknown", f"by {by}"]
    answer(found, show.table("probability per word", columns, rows), as_json)


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
    reading: Read = Reading(),
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
        with show.progress() as report:
            found = opened.perplexity(corpus, sentences=packing != "streams", rows=streams, report=report)
    else:
        given = {"--packing": packing, "--rows": rows, "--device": device}
        flag = next((flag for flag, value in given.items() if value is not None), None)
        if flag is not None:
            raise OptionError(f"{flag} is for biLMs, but {model} holds a {type(opened).__name__}")
        found = load_language_model(model, opened).perplexity(corpus)
    values = found.as_dict()
    answer(values, show.table("", ["", "value"], list(values.items())), json)


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
    start = Reading().tokenizer().words(prompt)
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
    from firth.tasks.translation import generate

    found = generate(model, source, count)
    values = [{"text": text, "score": score} for text, score in found]
    answer(values, show.table("", ["text", "score"], found), as_json)


def evaluate(
    model: Model,
    sets: Annotated[
        list[str] | None, Parameter(help="names of test sets, or files of the same form; all if none")
    ] = None,
    /,
    *,
    case_sensitive: Annotated[bool, Parameter(negative="", help="do not treat Paris and paris as one word")] = False,
    restrict: Annotated[int, Parameter(help="answer analogies among the so many first words")] = 300_000,
    json: Json = False,
) -> None:
    """How good word vectors are: similarity, analogies, categories, each with its coverage.

    For example:

        firth evaluate vectors/
        firth evaluate vectors/ wordsim353 google my-pairs.tsv --json
    """
    vectors = load_vectors(model)
    with show.progress() as report:
        scores = evaluate_vectors(
            vectors, sets, case_insensitive=not case_sensitive, restrict_vocab=restrict, report=report
        )
    if not scores:
        raise OptionError(
            f"{model}: no test set has words of this vocabulary. Name a set, or a file of pairs or analogies"
        )
    columns = ["task", "set", "measure", "value", "95 % interval", "used", "of"]
    rows = [(one.task, one.name, one.metric, one.value, interval(one.interval), one.used, one.total) for one in scores]
    sections = [section_table(one) for one in scores if one.details.get("sections")]
    answer([one.as_dict() for one in scores], Group(show.table("", columns, rows), *sections), json)


def section_table(score: Score) -> Table:
    """The accuracy of analogies by section and group."""
    parts = {**score.details["sections"], **{f"all {name}": one for name, one in score.details["groups"].items()}}
    rows = [
        (name, one["accuracy"], show.Bar(one["accuracy"] or 0.0), one["used"], one["total"])
        for name, one in parts.items()
    ]
    return show.table(f"{score.name}, {score.metric}", ["section", "accuracy", "", "used", "of"], rows)


def interval(bounds: tuple[float, float] | None) -> str:
    """An interval as text."""
    return "–" if bounds is None else f"{bounds[0]:.3f} … {bounds[1]:.3f}"
