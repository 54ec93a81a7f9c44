"""Calibrates the probability of no answer of a question answering model, and measures it on other articles.

    python scripts/qa_no_answer.py [--model qa] [--questions 260] [--write]

Questions of the first fifth of SQuAD's development set are asked about five kinds of passages without their answer:
their own without the sentences of the answer, another one of the same article (which does not contain the text of an
answer), both also cut to one to three sentences, and a passage of another article. `own` and `own, cut` have the
answer. The regression is fitted on these. The same kinds are made of questions about the other articles, and the share
that is refused is printed, with the F1 that is lost. `--write` stores the regression in the model's `config.json`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from firth.files import atomic_file, read_json
from firth.pretrained.shipped import locate_task
from firth.studies.tasks.settings import locate
from firth.tasks.located_text import LocatedText
from firth.tasks.model import TaskModel, open_task
from firth.tasks.qa.no_answer import NoAnswerCalibration, describe_span
from firth.tasks.qa.score import token_f1
from firth.tasks.tokenization import make_tokenizer

SQUAD = "qa/squad-dev.json.xz"
KINDS = (
    "own",
    "own, cut",
    "answer removed",
    "answer removed, cut",
    "same article",
    "same article, cut",
    "other article",
)
ANSWERABLE = KINDS[:2]


class Question(NamedTuple):
    """A question, the numbers of its article and paragraph, and its gold answers with their places."""

    article: int
    paragraph: int
    text: str
    answers: tuple[tuple[str, int], ...]


class Pair(NamedTuple):
    """A question asked about a passage."""

    kind: str
    passage: str
    question: str
    answers: tuple[str, ...]


def read_articles() -> list[list[dict[str, Any]]]:
    """The paragraphs of each article."""
    return [article["paragraphs"] for article in read_json(locate(SQUAD))["data"]]


def list_questions(articles: Sequence[Sequence[dict[str, Any]]]) -> list[Question]:
    """All questions, in the order of the file."""
    return [
        Question(i, j, one["question"], tuple((answer["text"], answer["answer_start"]) for answer in one["answers"]))
        for i, article in enumerate(articles)
        for j, paragraph in enumerate(article)
        for one in paragraph["qas"]
    ]


def find_sentences(text: str) -> list[tuple[int, int]]:
    """The places of the sentences of a text."""
    found = LocatedText.split(text, make_tokenizer("keep"))
    return [(one.places[0][0], one.places[-1][1]) for one in found if one.words]


def cut(text: str, keep: int, rng: random.Random) -> str:
    """One to three sentences of a text, among them one that is kept."""
    sentences, count = find_sentences(text), rng.randint(1, 3)
    first = max(0, keep - rng.randrange(count))
    return text[sentences[first][0] : sentences[min(len(sentences), first + count) - 1][1]]


def make_pairs(
    questions: Sequence[Question], articles: Sequence[Sequence[dict[str, Any]]], rng: random.Random
) -> Iterator[Pair]:
    """The pairs of each question."""
    numbers = sorted({question.article for question in questions})
    for question in questions:
        gold = tuple(answer for answer, _ in question.answers)
        texts = [paragraph["context"] for paragraph in articles[question.article]]
        own, sentences = texts[question.paragraph], find_sentences(texts[question.paragraph])
        starts = [start for _, start in question.answers]
        holding = [i for i, (a, b) in enumerate(sentences) if any(a <= start < b for start in starts)] or [0]
        yield Pair("own", own, question.text, gold)
        yield Pair("own, cut", cut(own, holding[0], rng), question.text, gold)
        rest = " ".join(own[a:b] for i, (a, b) in enumerate(sentences) if i not in holding)
        others = [text for i, text in enumerate(texts) if i != question.paragraph]
        strange = [one["context"] for number in numbers if number != question.article for one in articles[number]]
        for kind, passages in (("answer removed", [rest]), ("same article", others), ("other article", strange)):
            without = [text for text in passages if text and not any(one.lower() in text.lower() for one in gold)]
            if without:
                passage = rng.choice(without)
                yield Pair(kind, passage, question.text, ())
                if kind != "other article":
                    yield Pair(
                        f"{kind}, cut",
                        cut(passage, rng.randrange(len(find_sentences(passage))), rng),
                        question.text,
                        (),
                    )


def ask(model: TaskModel, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """The features of each pair, and the F1 of the best span."""
    examples = [model.task.ask(pair.passage, pair.question)[0] for pair in pairs]
    vocabularies = [vectors.vocabulary for vectors in model.inputs.sources.static]
    rows, scores = [], []
    for pair, example, answer in zip(pairs, examples, model.predict(examples)):
        span = answer["token_start"], answer["token_end"]
        rows.append(describe_span(example.words, example.passage.words, span, answer["logits"], vocabularies))
        scores.append(token_f1(answer["text"], pair.answers) if pair.answers else 0.0)
    return np.array(rows), np.array(scores)


def measure(
    calibration: NoAnswerCalibration, pairs: Sequence[Pair], rows: np.ndarray, scores: np.ndarray, threshold: float
) -> dict[str, Any]:
    """The share of each kind that is refused, and the F1 of questions about their own passage before and after."""
    refused = np.array([calibration.probability(row) > threshold for row in rows])
    kinds = np.array([pair.kind for pair in pairs])
    own = kinds == "own"
    return {
        "threshold": threshold,
        "f1": round(float(scores[own].mean()), 4),
        "f1_kept": round(float((scores * ~refused)[own].mean()), 4),
        "refused": {kind: round(float(refused[kinds == kind].mean()), 3) for kind in KINDS},
        "questions": int(own.sum()),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Fits, measures and, if asked, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="qa")
    parser.add_argument("--questions", type=int, default=260, help="questions to fit on, and as many to measure on")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    articles = read_articles()
    questions = list_questions(articles)
    count = round(0.2 * len(questions))
    seen = {question.article for question in questions[:count]}
    model, rng = open_task(options.model), random.Random(7)
    parts = []
    for part in (questions[:count], [one for one in questions[count:] if one.article not in seen]):
        pairs = list(make_pairs(rng.sample(part, min(options.questions, len(part))), articles, rng))
        parts.append((pairs, *ask(model, pairs)))
    pairs, rows, _ = parts[0]
    calibration = NoAnswerCalibration.fit(rows, np.array([pair.kind not in ANSWERABLE for pair in pairs]))
    print(json.dumps(calibration.as_dict()))
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.9):
        print(json.dumps(measure(calibration, *parts[1], threshold)))
    if options.write:
        path = Path(locate_task(options.model)) / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        values = calibration.as_dict() | {"measured": measure(calibration, *parts[1], model.task.threshold)}
        config["config"]["metadata"]["no_answer"] = values
        with atomic_file(path) as draft:
            draft.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
