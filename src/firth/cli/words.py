"""Commands about words: neighbors, analogies, similarities and vectors."""

import sys
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter
from rich.console import Group
from rich.markup import escape
from rich.text import Text

from firth.bulk.embedder import as_layers, embedder
from firth.cli.flags import Json, Model, Top, Words
from firth.cli.loading import load_as, load_neighbors, load_subwords
from firth.cli.output import answer
from firth.errors import OptionError
from firth.formats.registry import load
from firth.remote.addresses import refuse_stored
from firth.show import terminal
from firth.text.tokenize import Tokenizer
from firth.vectors.neighbors import AnalogyMethod, Near, Neighbors
from firth.vectors.occurrences import Occurrence, Occurrences, find_marked_word


def neighbors(
    model: Model,
    words: Annotated[list[str] | None, Parameter(help="Words of the vocabulary, or tags of documents.")] = None,
    /,
    *,
    negative: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Words whose vectors are subtracted.")
    ] = (),
    topn: Top = 10,
    together: Annotated[
        bool, Parameter(negative="", show_default=False, help="Show one list for the mean of the words.")
    ] = False,
    text: Annotated[
        str | None, Parameter(help="doc2vec only: a new document. Its vector is inferred, and its neighbors are found.")
    ] = None,
    context: Annotated[
        str | None, Parameter(help="A sentence with one [word] in brackets. Its neighbors are found in an index.")
    ] = None,
    index: Annotated[
        str | None, Parameter(help="With --context: the index. Default: MODEL is the index, which knows its model.")
    ] = None,
    same_word: Annotated[
        bool, Parameter(negative="", show_default=False, help="With --context: only occurrences of the same word.")
    ] = False,
    json: Json = False,
) -> None:
    """Find the nearest neighbors of words, of documents or, with --context, of a word in a sentence.

    For example:

        firth neighbors glove.6B.50d.txt tea coffee
        firth neighbors vectors/ king woman --negative man --together
        firth neighbors documents/ 17 --top 5                                # documents by their tags
        firth neighbors documents/ --text "a new document about tea"
        firth neighbors corpus.index --context "Olivia signed to do a Broadway [play]"
        firth neighbors elmo/ --index corpus.index --context "They [play] well" --same-word
    """
    if context is not None:
        if words or negative or together or text is not None:
            raise OptionError("--context finds neighbors of the word in brackets: give no other words")
        neighbors_in_context(model, index, context, topn, same_word, json)
        return
    if index is not None or same_word:
        raise OptionError("--index and --same-word need --context")
    if not words and not negative and text is None:
        raise OptionError("neighbors: give a word, or a sentence with --context")
    words = words or []
    results: list[tuple[str, Near]] = []
    if text is not None:
        from firth.models.doc2vec import DocumentVectors  # imports the kernels

        documents = load_as(model, DocumentVectors, "vectors of documents for --text. Train them: firth train doc2vec")
        results.append((text, documents.most_similar(documents.infer([text])[0], topn=topn)))
    vectors: Neighbors = load_neighbors(model) if text is None else documents
    queries = [words] if together or negative else [[word] for word in words]
    results += [(" ".join(query), vectors.most_similar(query, negative, topn=topn)) for query in queries]
    values = [{"query": name, "neighbors": [{"word": w, "cosine": c} for w, c in near]} for name, near in results]
    tables = [terminal.bars(name, near, header=("neighbor", "cosine")) for name, near in results]
    answer(values, Group(*tables), json, [(name, *pair) for name, near in results for pair in near])


def neighbors_in_context(
    model: str, index: str | None, context: str, topn: int, same_word: bool, as_json: bool
) -> None:
    """Prints the occurrences in an index that are nearest to a word in its sentence."""
    need = "an index for --context. Make one: firth index MODEL TEXT --out DIR"
    occurrences = load_as(index or model, Occurrences, need)
    metadata = occurrences.metadata
    for name in ("model", "tokenizer", "layers"):
        if not metadata.get(name):
            raise OptionError(f"{index or model}: the metadata has no {name!r}. Make the index again: firth index")
    if not index:
        refuse_stored(str(metadata["model"]))
    embedding = load(model if index else str(metadata["model"]))
    words, position = find_marked_word(context, Tokenizer.from_dict(metadata["tokenizer"]))
    try:
        embed = embedder(embedding, as_layers(str(metadata["layers"])), **(metadata.get("settings") or {}))
        vector = embed([words])[0][position]
    except TypeError as error:  # settings of other names
        raise OptionError(f"{index or model}: the settings in its metadata do not fit: {error}") from error
    nearest = occurrences.nearest(vector, topn, word=words[position] if same_word else None)
    values = [{**asdict(one), "line": one.sentence + 1} for one in nearest]
    rows = [(one.cosine, one.sentence + 1, one.marked()) for one in nearest]
    title = escape(Occurrence(words[position], 0, position, tuple(words), 1.0).marked())
    answer(values, terminal.table(title, ["cosine", "line", "occurrence"], rows), as_json)


def analogy(
    model: Model,
    a: Annotated[str, Parameter(help="First word of the known pair.")],
    b: Annotated[str, Parameter(help="Second word of the known pair.")],
    c: Annotated[str, Parameter(help="First word of the pair to complete.")],
    /,
    *,
    method: Annotated[
        AnalogyMethod, Parameter(help="3cosadd: add and subtract cosines. 3cosmul: multiply and divide them.")
    ] = "3cosadd",
    topn: Top = 5,
    json: Json = False,
) -> None:
    """Complete an analogy: A is to B as C is to which word?

    For example:

        firth analogy vectors/ man king woman
        firth analogy vectors/ Italy Rome France --method 3cosmul
    """
    near = load_neighbors(model).analogy(a, b, c, topn=topn, method=method)
    values = {"a": a, "b": b, "c": c, "method": method, "answers": [{"word": w, "score": s} for w, s in near]}
    answer(values, terminal.bars(f"{a} : {b} = {c} : ?", near, header=("answer", "score")), json)


def similarity(model: Model, words: Words, /, *, json: Json = False) -> None:
    """Compute the cosine similarity of every pair of words.

    For example:

        firth similarity vectors/ tea coffee
        firth similarity vectors/ tea coffee milk ship
    """
    if len(words) < 2:
        raise OptionError("similarity: give at least two words")
    vectors = load_neighbors(model)
    matrix = vectors.similarities(words)
    if len(words) == 2:
        value = float(matrix[0, 1])
        answer({"words": words, "cosine": value}, Text(f"{value:.4f}"), json)
        return
    answer({"words": words, "cosines": matrix}, terminal.heat("", matrix, words, words), json)


def odd(model: Model, words: Words, /, *, json: Json = False) -> None:
    """Find the word that fits least with the others.

    For example:

        firth odd vectors/ breakfast cereal dinner lunch
    """
    odd_word = load_neighbors(model).doesnt_match(words)
    answer({"words": words, "odd": odd_word}, Text(odd_word), json)


def vector(model: Model, words: Words, /, *, json: Json = False) -> None:
    """Print the vectors of words, one line each: the word, then its numbers.

    For example:

        firth vector vectors/ tea coffee
    """
    values = dict(zip(words, load_neighbors(model).of(words)))
    lines = [f"{word} " + " ".join(f"{x:.9g}" for x in row.tolist()) for word, row in values.items()]
    if json:
        answer(values, "", True)
    else:
        sys.stdout.write("\n".join(lines) + "\n")


def explain(model: Model, words: Words, /, *, json: Json = False) -> None:
    """Show how much each character n-gram contributes to the fastText vector of a word.

    For example:

        firth explain cc.en.300.bin teapots
    """
    vectors = load_subwords(model)
    shares = {word: [(share.ngram, share.share) for share in vectors.explain(word)] for word in words}
    values = [{"word": word, "shares": [{"ngram": n, "share": s} for n, s in pairs]} for word, pairs in shares.items()]
    tables = [terminal.bars(word, pairs, header=("n-gram", "share")) for word, pairs in shares.items()]
    answer(values, Group(*tables), json, [(word, *pair) for word, pairs in shares.items() for pair in pairs])


def ratio(
    model: Model,
    first: Annotated[str, Parameter(help="First word to compare, such as ice.")],
    second: Annotated[str, Parameter(help="Second word to compare, such as steam.")],
    probes: Annotated[list[str], Parameter(help="Context words, such as solid and gas.")],
    /,
    *,
    json: Json = False,
) -> None:
    """Compare two words by their co-occurrence with probe words: P(probe | first) / P(probe | second), as in GloVe.

    For example:

        firth train counts corpus.txt --kind co-occurrence --out counts/
        firth ratio counts/ ice steam solid gas water fashion
    """
    need = "co-occurrence counts. Make them: firth train counts CORPUS --kind co-occurrence --out DIR"
    from firth.models.count_matrix import CountMatrix  # imports SciPy

    ratios = load_as(model, CountMatrix, need).ratio(first, second, probes)
    answer(ratios.as_dict(), ratios, json)
