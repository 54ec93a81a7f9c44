"""Commands that describe, convert, compress and evaluate models."""

from collections.abc import Sized
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Group
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from firth.cli.flags import Force, Json, Model, Seed, Target, TextOptions
from firth.cli.loading import is_bilm, load_as, load_subwords
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.data import SETS, available
from firth.errors import OptionError
from firth.evaluate.intrinsic import evaluate as evaluate_vectors
from firth.evaluate.score import Score
from firth.evaluate.senses import fits_senses, senses
from firth.formats.native import TASK
from firth.formats.precision import reduce_vectors
from firth.formats.registry import FORMATS, format_for, load, save
from firth.models.quantization import quantize as quantize_model
from firth.pretrained import shipped
from firth.show import terminal
from firth.show.cards import card_of, model_card
from firth.show.numbers import format_bytes
from firth.text.languages import Language
from firth.vectors.words import WordVectors

DOCUMENTS = "document-vectors"  # the kind of DocumentVectors, whose file imports the kernels


def describe(model: Any) -> dict[str, Any]:
    """The kind, size and metadata of a model."""
    values: dict[str, Any] = {"kind": type(model).__name__}
    if isinstance(model, Sized):
        values["words"] = len(model)
    if is_bilm(model):
        values |= {"dim": 2 * model.architecture.dim, "layers": model.architecture.layers + 1}
        values |= {"architecture": model.architecture.as_dict()}
    if getattr(model, "kind", None) == DOCUMENTS:
        values |= {"tags": len(model), "words": len(model.word_list)}
    if isinstance(model, WordVectors) or getattr(model, "kind", None) == DOCUMENTS:
        values |= {"dim": model.dim, "dtype": model.rows.dtype_name, "bytes": model.rows.nbytes}
    return values | {"metadata": dict(model.metadata)}


def models(*, json: Json = False) -> None:
    """List the pretrained models that come with firth.

    Every command and `firth.load` accept the name of a pretrained model in place of a path.

    For example:

        firth models
        firth neighbors word2vec-en king
        firth predict ner "Elon Musk founded SpaceX."
        firth card elmo-en
    """
    columns = "name", "kind", "bytes", "about"
    available = [(name, shipped.kind(name), shipped.size(name), shipped.SHIPPED[name]) for name in shipped.available()]
    rows = [(name, kind, format_bytes(size), about) for name, kind, size, about in available]
    values = [dict(zip(columns, one)) for one in available]
    answer(values, terminal.table("", ["name", "kind", "size", "description"], rows), json, available)


def card(model: Model, /, *, json: Json = False) -> None:
    """Show the card of a model: its data, recipe, scores and license.

    For example:

        firth card word2vec-en
        firth card vectors/
    """
    path = card_of(Path(shipped.locate(model)))
    page = path.read_text(encoding="utf-8") if path.is_file() else make_card(model)
    body = Markdown(page.removeprefix("---\n").split("\n---\n", 1)[-1])
    answer({"model": model, "card": page}, body, json, [(line,) for line in page.splitlines()])


def make_card(path: str) -> str:
    """A card from the metadata of a model, for models without a written one."""
    model = load(path)
    if getattr(model, "kind", None) == TASK:
        from firth.tasks.card import task_card

        return task_card(path, model)
    words = model.vocabulary or () if is_bilm(model) else model
    return model_card(path, len(words) if isinstance(words, Sized) else 0, getattr(model, "dim", None), model.metadata)


def info(model: Model, /, *, json: Json = False) -> None:
    """Show what a model file contains.

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
    format: Annotated[
        str | None, Parameter(help=f"Output format: {', '.join(FORMATS)}. Default: chosen by the file name.")
    ] = None,
    limit: Annotated[int | None, Parameter(help="Convert only the first LIMIT words.")] = None,
    vocabulary: Annotated[str | None, Parameter(help="Convert only the words in this file, one per line.")] = None,
    precision: Annotated[
        Literal["float16", "int8"] | None,
        Parameter(name=["--precision", "--dtype"], help="Store the weights with lower precision."),
    ] = None,
    file_bytes: Annotated[
        int | None,
        Parameter(
            help="Largest size of a file of weights in firth's own format: a model then has several. Default: one file."
        ),
    ] = None,
    encoding: Annotated[
        str | None, Parameter(help="Encoding of the words in the file, such as latin-1. Default: UTF-8.")
    ] = None,
    language: Annotated[
        Language | None,
        Parameter(
            help="Word vectors of other tools: the language of their text, as in `firth train`. Questions are then "
            "normalized as its text is, such as Persian and Arabic letters. Default: words stay as they are."
        ),
    ] = None,
    segment: Annotated[
        str | None, Parameter(help="The same for the segmenter of their text, such as icu or jieba.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Convert a model to another file format or precision.

    For example:

        firth convert GoogleNews-vectors-negative300.bin.gz vectors/
        firth convert glove.840B.300d.txt small.bin --format word2vec-binary --limit 100000
        firth convert vectors/ vectors-int8/ --precision int8
        firth convert bilm/ small-bilm/ --precision int8
        firth convert bilm/ parts/ --file-bytes 48000000
        firth convert cc.fa.300.vec vectors-fa/ --language persian
    """
    check_outputs([target], [source, vocabulary], force=force)
    with terminal.progress():
        model = load(source, limit=limit, vocabulary=vocabulary, encoding=encoding)
        if language is not None or segment is not None:
            model = with_language(model, TextOptions(language=language or "any", segment=segment), format, target)
        if precision is not None and isinstance(model, WordVectors):
            written = format or format_for(model, target)
            if written != "native":
                cure = "Write firth's own format, a folder, or convert without --precision"
                raise OptionError(f"{target}: the format {written} does not store {precision}. {cure}")
            model = reduce_vectors(model, precision)
            if model.rows.dtype_name != precision:
                problem = f"the rows are {model.rows.dtype_name}, which is smaller than {precision}"
                raise OptionError(f"{source}: {problem}. Convert it without --precision")
        save(model, target, format=format, precision=precision, file_bytes=file_bytes)
    answer({"from": source, "to": target, **describe(model)}, Text(f"{target}: {model!r}"), json)


def with_language(model: Any, text: TextOptions, format: str | None, target: str) -> Any:
    """Word vectors that normalize and split questions as the text of a language."""
    if not isinstance(model, WordVectors):
        raise OptionError(f"--language and --segment are for word vectors, but this is a {type(model).__name__}")
    written = format or format_for(model, target)
    if written != "native":
        cure = "Write firth's own format, a folder"
        raise OptionError(f"{target}: the format {written} has no place for a language or a segmenter. {cure}")
    return model.with_tokenizer(text.tokenizer())


def quantize(
    source: Model,
    target: Target,
    /,
    *,
    cutoff: Annotated[
        int | None,
        Parameter(
            help="Keep only this many rows. Word vectors keep the words, then the n-grams with the largest norms; "
            "classifiers keep the words and n-grams with the largest norms."
        ),
    ] = None,
    dsub: Annotated[int, Parameter(help="Size of the subvectors; each is stored in one byte.")] = 2,
    norms: Annotated[bool, Parameter(help="Quantize the norms of the vectors separately, one byte each.")] = True,
    output: Annotated[bool, Parameter(help="Quantize the output layer, too.")] = False,
    seed: Seed = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compress a fastText model by pruning and product quantization.

    For example:

        firth quantize cc.fa.300.bin small.ftz --cutoff 200000
        firth quantize classifier.bin classifier.ftz
    """
    check_outputs([target], [source], force=force)
    with terminal.progress() as report:
        quantized = quantize_model(load_subwords(source), cutoff, dsub, norms, output, seed=seed, report=report)
        save(quantized, target)
    answer({"from": source, "to": target, **describe(quantized)}, quantized, json)


def evaluate(
    model: Model,
    sets: Annotated[
        list[str] | None, Parameter(help="Names of test sets, or files in their formats. Default: all test sets.")
    ] = None,
    /,
    *,
    case_sensitive: Annotated[
        bool, Parameter(negative="", show_default=False, help="Distinguish Paris from paris.")
    ] = False,
    restrict: Annotated[int, Parameter(help="Search the answers of analogies among this many first words.")] = 300_000,
    json: Json = False,
) -> None:
    """Evaluate word vectors on similarity, analogy and categorization test sets, or a biLM on words in context.

    Every score comes with its coverage: how many of the questions have only known words. Small test sets in English and
    Persian come with firth; `firth data` lists more.

    For example:

        firth evaluate word2vec-en
        firth evaluate vectors/ wordsim353 google my-pairs.tsv --json
        firth evaluate elmo-en firth-senses-en
    """
    loaded = load(model)
    with terminal.progress() as report:
        if is_bilm(loaded):
            known = [name for name in available() if SETS[name].task == "senses"]
            chosen = sets or [name for name in known if fits_senses(loaded.vocabulary, name)]
            scores = [senses(loaded, one) for one in chosen]
        else:
            vectors = load_as(model, WordVectors, "word vectors or a biLM", loaded)
            scores = evaluate_vectors(
                vectors, sets, case_insensitive=not case_sensitive, restrict_vocab=restrict, report=report
            )
    if not scores:
        raise OptionError(
            f"{model}: no test set has words of this vocabulary. Name a test set, or a file of pairs or analogies"
        )
    columns = ["task", "set", "measure", "value", "95 % interval", "used", "of"]
    rows = [(one.task, one.name, one.metric, one.value, interval(one.interval), one.used, one.total) for one in scores]
    sections = [section_table(one) for one in scores if one.details.get("sections")]
    answer([one.as_dict() for one in scores], Group(terminal.table("", columns, rows), *sections), json)


def section_table(score: Score) -> Table:
    """The accuracy of analogies in each section and group."""
    parts = {**score.details["sections"], **{f"all {name}": one for name, one in score.details["groups"].items()}}
    rows = [
        (name, one["accuracy"], terminal.Bar(one["accuracy"] or 0.0), one["used"], one["total"])
        for name, one in parts.items()
    ]
    return terminal.table(f"{score.name}, {score.metric}", ["section", "accuracy", "", "used", "of"], rows)


def interval(bounds: tuple[float, float] | None) -> str:
    """An interval as text."""
    return "–" if bounds is None else f"{bounds[0]:.3f} … {bounds[1]:.3f}"
