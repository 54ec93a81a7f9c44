"""Named entities: files, the tagger, and results as conlleval counts them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from firth.errors import FormatError, OptionError
from firth.formats.registry import load, save
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.ner.data import NerExample
from firth.tasks.ner.task import Ner
from firth.tasks.tags import Span, decode_spans
from firth.tasks.training import Training, fit

CONLL_2003 = """-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
call NN I-NP O

Peter NNP I-NP I-PER
Blackburn NNP I-NP I-PER
Ann NNP I-NP B-PER
"""
SMALL = Ner(hidden=(32, 16), dropout=0.0)


def test_conll_2003_is_read_in_whatever_column_its_tags_are(tmp_path: Path) -> None:
    (tmp_path / "eng.train").write_text(CONLL_2003)
    expected = [
        NerExample(("EU", "rejects", "German", "call"), (Span("ORG", 0, 1), Span("MISC", 2, 3))),
        NerExample(("Peter", "Blackburn", "Ann"), (Span("PER", 0, 2), Span("PER", 2, 3))),
    ]
    assert Ner().read(tmp_path / "eng.train") == expected
    turned = "\n".join(" ".join(reversed(line.split())) for line in CONLL_2003.splitlines())
    (tmp_path / "turned").write_text(turned)
    assert Ner(word=-1, tag=0).read(tmp_path / "turned")[-2:] == expected


def test_a_column_without_tags_is_named(tmp_path: Path) -> None:
    (tmp_path / "eng.train").write_text(CONLL_2003)
    with pytest.raises(FormatError, match=r"eng.train:3: 'NNP' is not a tag.*Set the option tag to the column"):
        Ner(tag=1).read(tmp_path / "eng.train")
    with pytest.raises(FormatError, match=r"eng.train:3: there is no column 7"):
        Ner(tag=7).read(tmp_path / "eng.train")
    (tmp_path / "empty").write_text("\n\n")
    with pytest.raises(FormatError, match="the file has no sentences"):
        Ner().read(tmp_path / "empty")


def test_results_are_counted_as_conlleval_counts() -> None:
    """Five names are true and five are said; three of these are the same: both PER, and one LOC of two."""
    gold = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "I-ORG", "B-LOC", "O", "B-PER"]
    said = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG", "O", "I-LOC", "I-LOC", "I-PER"]
    examples = [NerExample(("w",) * 10, tuple(decode_spans(gold)))]
    scores = Ner().score(examples, [said])
    assert scores == {"f1": 3 / 5, "precision": 3 / 5, "recall": 3 / 5, "accuracy": 8 / 10}
    assert next(iter(scores)) == "f1"
    kinds = Ner().by_kind(examples, [said])
    assert {kind: values["f1"] for kind, values in kinds.items()} == {"LOC": 0.5, "ORG": 0.0, "PER": 1.0}


def test_results_are_those_of_seqeval() -> None:
    metrics = pytest.importorskip("seqeval.metrics")
    rng = torch.Generator().manual_seed(5)
    tags = ["O", "O", *(f"{place}-{kind}" for place in "BIES" for kind in ("PER", "LOC"))]
    gold = [[tags[id] for id in row] for row in torch.randint(len(tags), (60, 9), generator=rng).tolist()]
    other = [[tags[id] for id in row] for row in torch.randint(len(tags), (60, 9), generator=rng).tolist()]
    said = [[*row[:5], *off[5:]] for row, off in zip(gold, other)]
    examples = [NerExample(("w",) * 9, tuple(decode_spans(row))) for row in gold]
    scores = Ner().score(examples, said)
    assert scores["f1"] == pytest.approx(metrics.f1_score(gold, said))
    assert scores["precision"] == pytest.approx(metrics.precision_score(gold, said))
    report = metrics.classification_report(gold, said, output_dict=True)
    assert Ner().by_kind(examples, said)["LOC"]["f1"] == pytest.approx(report["LOC"]["f1-score"])


def model_of(kinds: list[str]) -> TaskModel:
    torch.manual_seed(4)
    inputs = Inputs(Embedding(characters=8))
    labels = {"kinds": kinds}
    return TaskModel(SMALL, labels, inputs, SMALL.network(inputs.sizes, labels)).eval()


def test_a_sentence_has_the_same_tags_and_loss_alone_and_beside_others() -> None:
    model = model_of(["LOC", "PER"])
    texts = "Mary went to Rome with Paul Smith today .", "Who ?", "Ann"
    examples = [NerExample(tuple(text.split()), (Span("PER", 0, 1),)) for text in texts]
    assert model.predict(examples) == [model.predict([example])[0] for example in examples]
    alone = torch.stack([model.loss([example]) for example in examples])
    assert torch.allclose(model.loss(examples), alone.mean(), atol=1e-5)


def test_every_answer_is_a_sequence_that_bio_allows() -> None:
    model = model_of(["LOC", "PER"])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(9)
    tags = model.predict([NerExample(tuple(f"word{n}" for n in range(40)))])[0]
    assert any(tag != "O" for tag in tags)
    for before, after in zip(["O", *tags], tags):
        assert after[0] != "I" or before[1:] == after[1:]


def test_training_needs_names_and_kinds_that_it_knows() -> None:
    model = model_of(["PER"])
    with pytest.raises(OptionError, match="'Ann left' has no gold labels"):
        model.loss([NerExample(("Ann", "left"))])
    with pytest.raises(OptionError, match="no training example has the label 'GPE'"):
        model.loss([NerExample(("Rome",), (Span("GPE", 0, 1),))])


def test_a_file_without_any_name_can_be_learnt_from() -> None:
    examples = [NerExample(("all", "quiet"), ())]
    model = fit(SMALL, Embedding(characters=4), examples, training=Training(epochs=1), runtime=Runtime(1))
    assert model.predict([NerExample(("all", "quiet"))]) == [["O", "O"]]


def test_the_tagger_learns_a_slice_of_real_news_and_comes_back_from_a_file(data: Path, tmp_path: Path) -> None:
    examples = [one for one in Ner().read(data / "data/tasks/ner/wikigold.conll") if one.entities]
    examples = [one for one in examples if len(one.words) < 12][:24]
    training = Training(epochs=40, batch=8, learning_rate=1e-2, patience=None)
    model = fit(SMALL, Embedding(words=24, characters=16), examples, training=training, runtime=Runtime(1))
    scores = model.evaluate(examples)
    assert scores["f1"] > 0.8
    save(model, tmp_path / "ner")
    assert load(tmp_path / "ner").predict(examples) == model.predict(examples)


def test_persian_is_read_like_english(data: Path) -> None:
    examples = Ner().read(data / "data/tasks/ner/parstwiner-fa-test.txt")
    assert len(examples) == 303
    assert Ner().learn_labels(examples) == {"kinds": ["EVE", "LOC", "NAT", "ORG", "PER", "POG"]}


def test_letters_are_unified_in_files_and_in_questions_and_no_word_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "names.conll"
    file.write_text("علي B-PER\nدر O\n\u200c O\nتهران B-LOC\n", encoding="utf-8")
    [kept], [persian] = Ner().read(file), Ner(letters="persian").read(file)
    assert kept.words == ("علي", "در", "\u200c", "تهران")
    assert persian.words == ("علی", "در", "\u200c", "تهران")
    assert persian.entities == kept.entities == (Span("PER", 0, 1), Span("LOC", 3, 4))
    assert Ner(letters="persian").ask("علي در تهران")[0].words == ("علی", "در", "تهران")
