"""Commands for fastText's classifier, small models, and phrases."""

from typing import Annotated

from cyclopts import Parameter
from rich.console import Group
from rich.text import Text

from firth.cli.flags import CorpusOptions, Inputs, Json, Model, Out, Read, Target, read_texts
from firth.cli.models import describe
from firth.cli.output import answer, load_vectors
from firth.errors import OptionError
from firth.formats.registry import load, save
from firth.models.classifier_model import Classifier
from firth.models.phrases import PhraseModel
from firth.models.quantization import quantize as quantize_model
from firth.show import terminal
from firth.vectors.subwords import SubwordVectors

K = Annotated[int, Parameter(name=["-k", "--labels-per-line"], help="how many labels a line gets")]
Threshold = Annotated[float, Parameter(help="leave out labels that are less probable")]


def load_subwords(path: str) -> SubwordVectors:
    """The fastText model in a file; other vectors are an error."""
    vectors = load_vectors(path)
    if not isinstance(vectors, SubwordVectors):
        raise OptionError(f"{path}: is no fastText model. Train one: firth train fasttext CORPUS --out model.bin")
    return vectors


def predict(
    model: Model,
    texts: Annotated[list[str], Parameter(allow_leading_hyphen=True, help="texts; - reads them from lines")],
    /,
    *,
    k: K = 1,
    threshold: Threshold = 0.0,
    json: Json = False,
) -> None:
    """The labels of texts, with their probabilities.

    For example:

        firth predict classifier.bin "a warm cup of tea"
        firth predict lid.176.ftz - -k 3 < lines.txt
    """
    given = read_texts(texts)
    found = Classifier(load_subwords(model)).predict_all(given, k, threshold)
    values = [{"text": text, "labels": dict(labels)} for text, labels in zip(given, found)]
    tables = [terminal.bars(text, labels, header=("label", "probability")) for text, labels in zip(given, found)]
    answer(values, Group(*tables), json)


def examine(
    model: Model,
    file: Annotated[str, Parameter(help="labeled lines")],
    /,
    *,
    k: K = 1,
    threshold: Threshold = 0.0,
    json: Json = False,
) -> None:
    """Precision and recall of a classifier on labeled lines, in all and by label.

    For example:

        firth test classifier.bin held-out.txt
        firth test classifier.bin held-out.txt -k 5 --json
    """
    result = Classifier(load_subwords(model)).test(file, k, threshold)
    rows: list[tuple[object, ...]] = [("all", result.precision, result.recall, result.f1, result.score.gold)]
    rows += [(label, one.precision, one.recall, one.f1, one.gold) for label, one in result.by_label.items()]
    columns = ["label", f"precision at {k}", f"recall at {k}", "F1", "lines"]
    answer(result.as_dict(), terminal.table(f"{result.lines:,} lines", columns, rows), json)


def quantize(
    source: Model,
    target: Target,
    /,
    *,
    cutoff: Annotated[int | None, Parameter(help="keep only so many rows, those of the longest vectors")] = None,
    dsub: Annotated[int, Parameter(help="numbers that share one byte")] = 2,
    norms: Annotated[bool, Parameter(help="a byte for the length of each row")] = True,
    output: Annotated[bool, Parameter(help="also the output layer")] = False,
    seed: Annotated[int, Parameter(help="where the random numbers start")] = 1,
    json: Json = False,
) -> None:
    """A fastText model made small: pruned and product-quantized, supervised or not.

    For example:

        firth quantize cc.fa.300.bin small.ftz --cutoff 200000
        firth quantize classifier.bin classifier.ftz
    """
    with terminal.progress() as report:
        made = quantize_model(load_subwords(source), cutoff, dsub, norms, output, seed=seed, report=report)
        save(made, target)
    answer({"from": source, "to": target, **describe(made)}, made, json)


def phrases(
    model: Model,
    inputs: Inputs,
    /,
    *,
    out: Out,
    reading: Read = CorpusOptions(),
    json: Json = False,
) -> None:
    """Text with its phrases joined by underscores, one sentence a line.

    For example:

        firth train phrases corpus.txt --out found/
        firth phrases found/ corpus.txt --out joined.txt.gz
    """
    loaded = load(model)
    if not isinstance(loaded, PhraseModel):
        raise OptionError(f"{model}: holds no phrases. Find them: firth train phrases CORPUS --out DIR")
    with terminal.progress() as report:
        loaded.rewrite(reading.corpus(inputs), out, report=report)
    answer({"out": out, "phrases": len(loaded)}, Text(f"{out}: {loaded!r}"), json)
