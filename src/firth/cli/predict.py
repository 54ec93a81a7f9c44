"""`firth predict` and `firth test`: apply and score task models and fastText classifiers."""

import json as json_module
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Group, RenderableType
from rich.text import Text

from firth.cli.flags import Device, Json, Texts, read_texts
from firth.cli.loading import load_as
from firth.cli.output import answer
from firth.errors import CoverageWarning, OptionError
from firth.formats import native
from firth.models.classifier_model import Classifier
from firth.pretrained.shipped import locate_task
from firth.runtime import Runtime
from firth.show import terminal
from firth.tasks.registry import TASKS
from firth.text.tokenize import Tokenizer
from firth.vectors.fasttext_names import LABEL_PREFIX
from firth.vectors.subwords import SubwordVectors

if TYPE_CHECKING:
    from firth.tasks.model import TaskModel

MANY = 64  # texts from which several threads pay off
BREAKDOWNS = {"by_kind": "kind", "by_role": "role"}  # methods of tasks that score each kind of answer on its own
Model = Annotated[
    str, Parameter(help="The name of a task, the folder of a task model, or the file of a fastText classifier.")
]


@dataclass(frozen=True)
class PredictOptions:
    """How models are applied."""

    embedding: Annotated[
        str | None,
        Parameter(help="Task models only: word vectors and ELMo model to use, where they are not at their old place."),
    ] = None
    device: Device = "cpu"
    k: Annotated[
        int, Parameter(name=["-k", "--labels-per-line"], help="Classifiers only: number of labels for each text.")
    ] = 1
    threshold: Annotated[
        float | None,
        Parameter(
            help="Classifiers: minimum probability of a label. qa: answer nothing if the probability that the passage "
            "has no answer is above this (default: 0.7); 1 always answers."
        ),
    ] = None
    tokens: Annotated[
        Literal["running", "whitespace"],
        Parameter(help="running: tokenize texts as the model needs them. whitespace: they are tokenized already."),
    ] = "running"
    segment: Annotated[
        str | None, Parameter(help="Split texts into words by this segmenter: a name such as icu, or a folder.")
    ] = None

    def split(self, texts: list[str]) -> list[str | list[str]]:
        """Texts as a model reads them: as they are, or as lists of words if they are tokenized or segmented."""
        if self.tokens == "whitespace" and self.segment is not None:
            raise OptionError("--segment is for running text, but --tokens whitespace says that it is tokenized")
        if self.tokens == "whitespace":
            return [text.split() for text in texts]
        if self.segment is None:
            return list(texts)
        tokenizer = Tokenizer(segment=self.segment)
        return [tokenizer.words(text) for text in texts]


Options = Annotated[PredictOptions, Parameter(name="*")]


def load_classifier(path: str) -> Classifier:
    """The classifier in a file; a language identifier of fastText is one, too."""
    need = "a fastText classifier, such as lid.176.ftz. Train one: firth train classifier TEXT --out model.bin"
    return Classifier(load_as(path, SubwordVectors, need))


def predict(model: Model, texts: Texts, /, *, options: Options = PredictOptions(), json: Json = False) -> None:
    """Apply a task model or a fastText classifier to texts.

    For example:

        firth predict ner "Elon Musk founded SpaceX."
        firth predict srl "John broke the vase."
        firth predict coref "Mary went to the store. She bought some milk."
        firth predict qa "The cat sat on the mat." "Where did the cat sit?"
        firth predict entailment "A woman plays a guitar." "A woman makes music."
        firth predict sentiment - < reviews.txt
        firth predict classifier.bin "a warm cup of tea"
        firth predict lid.176.ftz - -k 3 < lines.txt
    """
    lines = read_texts(texts, keep_blank=True)
    if is_task(model):
        predict_task(model, lines, options, json)
    else:
        predict_labels(model, lines, options, json)


def predict_task(name: str, texts: list[str], options: PredictOptions, as_json: bool) -> None:
    """Prints the answers of a task model."""
    from firth.tasks.pictures import draw_answer, draw_places
    from firth.tasks.training import limit_threads

    with limit_threads(1 if len(texts) < MANY else Runtime.from_env().threads):
        model = load_task(name, options)
        pairs = model.answer_texts(*options.split(texts))
    values = [model.describe(*pair) for pair in pairs]
    show_warning(model, [example for example, _ in pairs], values)
    rows = [row for value in values for row in model.task.rows(value)]
    pictures: list[RenderableType] = []
    places = draw_places(model.task, rows)
    for value, pair in zip(values, pairs):
        if places is None and len(pairs) > 1:
            pictures.append(Text(f"input {value['input']}", style="dim"))
        pictures.append(draw_answer(model.task, *pair))
    answer(values, Group(*pictures, *([] if places is None else [places])), as_json, rows)


def show_warning(model: "TaskModel", examples: Sequence[Any], values: Sequence[Mapping[str, Any]]) -> None:
    """Prints one warning for all answers that have one. With --json each has its own."""
    warned = [example for example, value in zip(examples, values) if "warning" in value]
    if not warned:
        return
    warning = model.warn_of([words for example in warned for words in example.sentences])
    place = f"{len(warned):,} of {len(values):,} answers: " if len(values) > 1 else ""
    warnings.warn(f"{place}{warning}", CoverageWarning, stacklevel=2)


def predict_labels(path: str, texts: list[str], options: PredictOptions, as_json: bool) -> None:
    """Prints the labels that a fastText classifier gives to texts."""
    asked = options.split([text for text in texts if text.strip()])
    labels_of = iter(load_classifier(path).predict_all(asked, options.k, options.threshold or 0.0))
    predictions = [next(labels_of) if text.strip() else [] for text in texts]
    values = [
        {"input": input, "text": text, "labels": dict(labels)}
        for input, (text, labels) in enumerate(zip(texts, predictions))
    ]
    tables = [terminal.bars(text, labels, header=("label", "probability")) for text, labels in zip(texts, predictions)]
    rows: list[tuple[object, ...]] = []
    for text, labels in zip(texts, predictions):
        rows += [(text, *pair) for pair in labels] or [(text, None, None)]
    answer(values, Group(*tables), as_json, rows)


def identify(
    texts: Texts,
    /,
    *,
    model: Annotated[
        str, Parameter(help="A fastText language identifier that you have, such as lid.176.ftz or lid.176.bin.")
    ],
    k: Annotated[int, Parameter(name=["-k", "--top"], help="Number of languages for each text.")] = 1,
    json: Json = False,
) -> None:
    """Identify the language of texts with a fastText language identifier.

    The identifiers of fastText, lid.176.bin and the small lid.176.ftz, know 176 languages by their ISO codes. firth
    opens them; it does not come with one.

    For example:

        firth identify "Das ist ein Satz." --model lid.176.ftz
        firth identify - --model lid.176.ftz --top 3 < lines.txt
    """
    lines = read_texts(texts, keep_blank=True)
    classifier = load_classifier(model)
    asked = [" ".join(line.split()) for line in lines]
    found = iter(classifier.predict_all([line for line in asked if line], k))
    languages = [
        [(label.removeprefix(LABEL_PREFIX), probability) for label, probability in next(found)] if line else []
        for line in asked
    ]
    values = [
        {"input": at, "text": line, "languages": dict(one)} for at, (line, one) in enumerate(zip(lines, languages))
    ]
    tables = [terminal.bars(line, one, header=("language", "probability")) for line, one in zip(lines, languages)]
    rows: list[tuple[object, ...]] = []
    for line, one in zip(lines, languages):
        rows += [(line, *pair) for pair in one] or [(line, None, None)]
    answer(values, Group(*tables), json, rows)


def score(
    model: Model,
    file: Annotated[str, Parameter(help="Examples of the task, or labeled lines for a classifier.")],
    /,
    *,
    options: Options = PredictOptions(),
    json: Json = False,
) -> None:
    """Score a task model or a fastText classifier on labeled examples.

    For example:

        firth test ner test.conll
        firth test classifier.bin held-out.txt -k 5 --json
    """
    if options.tokens != "running" or options.segment is not None:
        cure = "A task model splits the texts of a file as in training (firth task --segment), a classifier at blanks"
        raise OptionError(f"--tokens and --segment are for texts of `firth predict`. {cure}")
    if is_task(model):
        score_task(model, file, options, json)
    else:
        score_classifier(model, file, options, json)


def score_task(name: str, file: str, options: PredictOptions, as_json: bool) -> None:
    """Prints the scores of a task model."""
    model = load_task(name, options)
    examples = model.task.read(file)
    if not examples:
        raise OptionError(f"{file}: contains no examples to score the model on")
    with terminal.progress() as report:
        answers = model.predict(examples, report=report)
    scores = model.task.score(examples, answers)
    methods = {name: getattr(model.task, name) for name in BREAKDOWNS if hasattr(model.task, name)}
    breakdowns = {name: method(examples, answers) for name, method in methods.items()}
    values = {"task": model.task.name, "examples": len(examples), "scores": scores, **breakdowns}
    tables: list[RenderableType] = [
        terminal.table(f"{len(examples):,} examples", ["measure", "value"], list(scores.items()))
    ]
    tables += [breakdown_table(BREAKDOWNS[name], scores) for name, scores in breakdowns.items()]
    answer(values, Group(*tables), as_json)


def score_classifier(path: str, file: str, options: PredictOptions, as_json: bool) -> None:
    """Prints the precision and recall of a fastText classifier, overall and for each label."""
    result = load_classifier(path).test(file, options.k, options.threshold or 0.0)
    rows: list[tuple[object, ...]] = [("all", result.precision, result.recall, result.f1, result.score.gold)]
    rows += [(label, one.precision, one.recall, one.f1, one.gold) for label, one in result.by_label.items()]
    columns = ["label", f"precision at {options.k}", f"recall at {options.k}", "F1", "lines"]
    answer(result.as_dict(), terminal.table(f"{result.lines:,} lines", columns, rows), as_json)


def breakdown_table(title: str, scores: Mapping[str, Mapping[str, float]]) -> RenderableType:
    """The scores of each kind or role, the most frequent first."""
    ranked = sorted(scores.items(), key=lambda pair: -pair[1]["true"])
    columns = list(ranked[0][1]) if ranked else []
    rows = [(name, *values.values(), terminal.Bar(values[columns[0]], 12)) for name, values in ranked]
    return terminal.table("", [title, *columns, ""], rows)


def is_task(name: str) -> bool:
    """Whether a name is that of a task model, and not of a fastText classifier. It is checked without torch."""
    config = Path(locate_task(name), native.CONFIG)
    if config.is_file():
        try:
            values = json_module.loads(config.read_bytes())
        except (ValueError, RecursionError):  # loading the model reports what is wrong
            return False
        return isinstance(values, dict) and values.get("kind") == native.TASK
    if Path(name).exists() or name not in TASKS:
        return False
    cure = f"Train one: firth task {name} --train … --dev … --out DIR, and use DIR as the model"
    raise OptionError(f"{name}: firth has no pretrained model for this task. {cure}")


def load_task(name: str, options: PredictOptions) -> "TaskModel":
    """A task model on a device."""
    from firth.tasks.model import open_task

    model = open_task(name, options.embedding).to(Runtime.from_env(device=options.device).place)
    if options.threshold is not None:
        if not hasattr(model.task, "threshold"):
            raise OptionError(f"--threshold is for classifiers and qa, but {name} is a model of {model.task.name}")
        model.task = replace(model.task, threshold=options.threshold)  # type: ignore[call-arg]
    return model
