"""Commands that ask a model about words."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter
from rich.console import Group
from rich.markup import escape
from rich.text import Text

from firth.bulk.embedder import as_layers, embedder
from firth.cli.flags import Json, Model, Top
from firth.cli.output import answer, load_vectors
from firth.errors import OptionError
from firth.formats.registry import load
from firth.models.count_matrix import CountMatrix
from firth.show import terminal
from firth.text.tokenize import Tokenizer
from firth.vectors.neighbors import AnalogyMethod
from firth.vectors.occurrences import Occurrence, Occurrences, find_marked_word
from firth.vectors.subwords import SubwordVectors


def neighbors(
    model: Model,
    words: list[str] | None = None,
    /,
    *,
    negative: Annotated[tuple[str, ...], Parameter(help="words to move away from")] = (),
    topn: Top = 10,
    together: Annotated[bool, Parameter(negative="", help="one list for the mean of all words")] = False,
    context: Annotated[str | None, Parameter(help="a sentence with one [word] in brackets; asks an index")] = None,
    index: Annotated[str | None, Parameter(help="with --context: the index, where MODEL is the model itself")] = None,
    same_word: Annotated[bool, Parameter(negative="", help="with --context: occurrences of that word alone")] = False,
    json: Json = False,
) -> None:
    """The words that keep the same company as a word; with --context, the places in a text where one is used alike.

    For example:

        firth neighbors glove.6B.50d.txt tea coffee
        firth neighbors vectors/ king woman --negative man --together
        firth neighbors corpus.index --context "Olivia signed to do a Broadway [play]"
        firth neighbors elmo/ --index corpus.index --context "They [play] well" --same-word
    """
    if context is not None:
        if words or negative or together:
            raise OptionError("--context asks about the word in brackets: name no others")
        neighbors_in_context(model, index, context, topn, same_word, json)
        return
    if index is not None or same_word:
        raise OptionError("--index and --same-word go with --context")
    if not words and not negative:
        raise OptionError("neighbors: name a word, or a sentence with --context")
    words = words or []
    vectors = load_vectors(model)
    queries = [words] if together or negative else [[word] for word in words]
    found = [(" ".join(query), vectors.most_similar(query, negative, topn=topn)) for query in queries]
    values = [{"query": name, "neighbors": [{"word": w, "cosine": c} for w, c in near]} for name, near in found]
    tables = [terminal.bars(name, near, header=("neighbor", "cosine")) for name, near in found]
    answer(values, Group(*tables), json)


def neighbors_in_context(
    model: str, index: str | None, context: str, topn: int, same_word: bool, as_json: bool
) -> None:
    """The occurrences in an index that are nearest to a word in its sentence."""
    occurrences = load(index or model)
    if not isinstance(occurrences, Occurrences):
        kind = type(occurrences).__name__
        raise OptionError(f"{index or model}: holds a {kind}, not an index. Make one: firth index MODEL TEXT --out DIR")
    about = occurrences.metadata
    embedding = load(model if index else about["model"])
    words, place = find_marked_word(context, Tokenizer.from_dict(about["tokenizer"]))
    embed = embedder(embedding, as_layers(about["layers"]), **about.get("settings", {}))
    found = occurrences.nearest(embed([words])[0][place], topn, word=words[place] if same_word else None)
    values = [{**asdict(one), "line": one.sentence + 1} for one in found]
    rows = [(one.cosine, one.sentence + 1, one.marked()) for one in found]
    title = escape(Occurrence(words[place], 0, place, tuple(words), 1.0).marked())
    answer(values, terminal.table(title, ["cosine", "line", "occurrence"], rows), as_json)


def analogy(
    model: Model,
    a: str,
    b: str,
    c: str,
    /,
    *,
    method: Annotated[AnalogyMethod, Parameter(help="how the three words are combined")] = "3cosadd",
    topn: Top = 5,
    json: Json = False,
) -> None:
    """a is to b as c is to …?

    For example:

        firth analogy vectors/ man king woman
        firth analogy vectors/ Italy Rome France --method 3cosmul
    """
    near = load_vectors(model).analogy(a, b, c, topn=topn, method=method)
    values = {"a": a, "b": b, "c": c, "method": method, "answers": [{"word": w, "score": s} for w, s in near]}
    answer(values, terminal.bars(f"{a} : {b} = {c} : ?", near, header=("answer", "score")), json)


def similarity(model: Model, words: list[str], /, *, json: Json = False) -> None:
    """How near words are to each other: the cosine of every pair.

    For example:

        firth similarity vectors/ tea coffee
        firth similarity vectors/ tea coffee milk ship
    """
    if len(words) < 2:
        raise OptionError("similarity: name at least two words")
    vectors = load_vectors(model)
    matrix = vectors.similarities(words)
    if len(words) == 2:
        value = float(matrix[0, 1])
        answer({"words": words, "cosine": value}, Text(f"{value:.4f}"), json)
        return
    answer({"words": words, "cosines": matrix}, terminal.heat("", matrix, words, words), json)


def odd(model: Model, words: list[str], /, *, json: Json = False) -> None:
    """The word that does not belong to the others.

    For example:

        firth odd vectors/ breakfast cereal dinner lunch
    """
    stranger = load_vectors(model).doesnt_match(words)
    answer({"words": words, "odd": stranger}, Text(stranger), json)


def vector(model: Model, words: list[str], /, *, json: Json = False) -> None:
    """The vectors of words, one line each: the word, then its numbers.

    For example:

        firth vector vectors/ tea coffee
    """
    vectors = load_vectors(model)
    values = {word: vectors[word] for word in words}
    lines = [f"{word} " + " ".join(f"{x:.9g}" for x in row.tolist()) for word, row in values.items()]
    if json:
        answer(values, "", True)
    else:
        terminal.stdout().out("\n".join(lines))


def explain(model: Model, words: list[str], /, *, json: Json = False) -> None:
    """Which pieces of a word make its vector: each n-gram's share.

    For example:

        firth explain cc.en.300.bin teapots
    """
    vectors = load_vectors(model)
    if not isinstance(vectors, SubwordVectors):
        raise OptionError(f"{model}: has no n-grams, so there is nothing to explain. Use a fastText .bin or .ftz model")
    shares = {word: vectors.explain(word) for word in words}
    values = [
        {"word": w, "shares": [{"ngram": s.ngram, "share": s.share} for s in found]} for w, found in shares.items()
    ]
    for word, found in [] if json else shares.items():
        terminal.stdout().print(terminal.bars(word, [(s.ngram, s.share) for s in found], header=("piece", "share")))
    if json:
        answer(values, "", True)


def ratio(model: Model, first: str, second: str, probes: list[str], /, *, json: Json = False) -> None:
    """GloVe's table: how much more often a probe word stands beside the first word than beside the second.

    For example:

        firth train counts corpus.txt --kind co-occurrence --out counts/
        firth ratio counts/ ice steam solid gas water fashion
    """
    counts = load(model)
    if not isinstance(counts, CountMatrix):
        raise OptionError(
            f"{model}: has no counts. Make them: firth train counts CORPUS --kind co-occurrence --out DIR"
        )
    ratios = counts.ratio(first, second, probes)
    answer(ratios.as_dict(), ratios, json)
