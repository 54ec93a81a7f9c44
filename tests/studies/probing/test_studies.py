"""The studies of probes on a small data folder of our own, with a biLM that knows nothing."""

from __future__ import annotations

import json
import lzma
import tarfile
from pathlib import Path

import pytest
import torch

from firth.errors import OptionError
from firth.formats.registry import save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.probes.readers import WordSpan
from firth.probes.sense_files import FRAMEWORK, SEMCOR, SETS, Annotation
from firth.progress import silent
from firth.runtime import Runtime
from firth.studies.findings import Findings
from firth.studies.probing.contexts import Contexts
from firth.studies.probing.play import Play, format_bold
from firth.studies.probing.pos import BASELINE, FILES, PartsOfSpeech, TaggedSentence, read_treebank
from firth.studies.probing.senses import FIRST, FOUR, FREQUENT, Senses, group_rows, score_groups
from firth.studies.study import Study
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.seq2seq.task import Seq2Seq

ACT, SHOW, GAME = "play%2:36:00::", "play%1:10:01::", "play%2:33:00::"
USES = [("We play chess", "VERB", GAME), ("They play Hamlet", "VERB", ACT), ("The play is long", "NOUN", SHOW)]


def packed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(text.encode()))


def semcor() -> str:
    rows = ["file\tsent\ttoken\tlemma\tpos\tsense_keys"]
    for number in range(36):
        words, pos, key = USES[number % 3]
        for word in words.split():
            tag = f"play\t{'VB' if pos == 'VERB' else 'NN'}\t{key}" if word == "play" else f"{word.lower()}\tDT\t_"
            rows.append(f"a{number:02}\t{number}\t{word}\t{tag}")
    return "\n".join(rows) + "\n"


def framework(path: Path) -> None:
    sentences, gold = [], []
    for number, name in enumerate(SETS):
        words, pos, key = USES[number % 3]
        id = f"{name}.d000.s000.t000"
        marks = [
            f'<instance id="{id}" lemma="play" pos="{pos}">{word}</instance>' if word == "play" else f"<wf>{word}</wf>"
            for word in words.split()
        ]
        sentences.append(f'<sentence id="{name}.d000.s000">{"".join(marks)}</sentence>')
        gold.append(f"{id} {key}")
    folder = path.parent / "ALL"
    folder.mkdir(parents=True)
    (folder / "ALL.data.xml").write_text(f"<corpus>{''.join(sentences)}</corpus>")
    (folder / "ALL.gold.key.txt").write_text("\n".join(gold))
    with tarfile.open(path, "w:xz") as archive:
        archive.add(folder, "ALL")


def conllu(sentences: int) -> str:
    text = []
    for number in range(sentences):
        text.append(f"# sent_id = {number}\n")
        words = ("We", "PRON", "PRP"), ("drink", "VERB", "VBP"), ("tea" if number % 2 else "rain", "NOUN", "NN")
        text += ["2-3\tdrinktea\t_\t_\t_\t_\t_\t_\t_\t_\n"] if number % 3 == 0 else []
        text += [f"{n}\t{w}\t{w}\t{u}\t{x}\t_\t0\troot\t_\t_\n" for n, (w, u, x) in enumerate(words, 1)]
        text.append("\n")
    return "".join(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a little of everything, WordNet, and a biLM `tiny`."""
    place = tmp_path / "shared"
    packed(place / SEMCOR, semcor())
    framework(place / FRAMEWORK)
    for names in FILES.values():
        for name in names:
            packed(place / name, conllu(20))
    packed(place / "data/corpora/en-01.txt.xz", "They play cards .\nNo game .\n")
    context = place / "data/intrinsic/context"
    for part in ("train", "dev"):
        (context / "wic" / part).mkdir(parents=True)
        (context / "wic" / part / f"{part}.data.txt").write_text("play\tV\t1-1\tWe play .\tThey play .\n" * 4)
        (context / "wic" / part / f"{part}.gold.txt").write_text("T\nF\nT\nT\n")
    rows = [("We <b> drink </b> tea", "a <b> cup </b>", "5"), ("some <b> tea </b>", "the <b> king </b> .", "1")]
    numbers = "\t1" * 10
    scws = [f"{n}\tx\tn\ty\tn\t{one}\t{other}\t{mean}{numbers}\n" for n, (one, other, mean) in enumerate(rows)]
    (context / "scws.txt").write_text("".join(scws))
    names = "word1 word2 context1 context2 sim1 sim2 word1_context1 word2_context1 word1_context2 word2_context2"
    texts = (
        "We drank <strong>tea</strong> and <strong>milk</strong>.",
        "The <strong>tea</strong>, no <strong>milk</strong>.",
    )
    lines = ["\t".join(names.split())]
    for one, other in (("1", "3"), ("4", "2")):
        lines.append("\t".join(["tea", "milk", *texts, one, other, "tea", "milk", "tea", "milk"]))
    (context / "cosimlex-en.csv").write_text("\n".join(lines) + "\n")
    wordnet = tmp_path / "wordnet"
    wordnet.mkdir()
    (wordnet / "index.sense").write_text(f"{GAME} 1 1 0\n{ACT} 2 2 0\n{SHOW} 3 1 0\n")
    monkeypatch.setenv("FIRTH_DATA", str(place))
    monkeypatch.setenv("FIRTH_WORDNET", str(wordnet))
    save(BiLM(Architecture.named("tiny"), seed=1), tmp_path / "tiny")
    return tmp_path


def run(study: Study, folder: Path) -> Findings:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    found = study.run(work, Runtime(1), silent)
    json.dumps(dict(found.values))
    assert found.as_markdown()
    for chart in found.charts.values():
        assert len({len(series) for series in chart.series.values()}) == 1
    return found


def test_senses_are_judged_by_every_layer_and_by_both_baselines(folder: Path) -> None:
    found = run(Senses(elmo=str(folder / "tiny")), folder)
    scores = found.values["scores"]
    assert list(scores) == [FIRST, FREQUENT, *(f"biLM layer {n}" for n in range(3)), "biLM mean", "glove-en"]
    assert scores[FIRST][FOUR] == 50.0  # chess twice is a first sense, Hamlet twice is not
    assert scores["biLM layer 1"]["all five"] == 100.0  # the very sentences of the text
    assert scores["biLM layer 0"]["VERB"] == 50.0  # it sees no context: the first of both


def test_without_wordnet_lemmas_that_were_never_seen_stay_without_answer(folder: Path) -> None:
    found = run(Senses(elmo="none", wordnet="none", sentences=1), folder)
    scores = found.values["scores"]
    assert list(scores) == [FREQUENT, "glove-en"]
    assert scores[FREQUENT]["all five"] == pytest.approx(100 * 2 * 2 / (4 + 5), abs=0.01)  # VERB: two of four right


def test_a_study_that_was_stopped_goes_on_behind_what_it_has(folder: Path) -> None:
    study = Senses(elmo=str(folder / "tiny"), static="none")
    first = run(study, folder)
    [file] = (folder / "work").glob("*.json")
    held = json.loads(file.read_bytes())
    held["result"]["seconds"] = 1234.0
    file.write_text(json.dumps(held))
    assert run(study, folder).values["seconds"] == {"tiny": 1234.0}
    save(BiLM(Architecture.named("tiny"), seed=9), folder / "tiny")  # another model of the same name
    again = run(study, folder)
    assert again.values["seconds"] != {"tiny": 1234.0}
    assert list(again.values["scores"]) == list(first.values["scores"])


def test_the_four_sets_are_all_but_the_one_for_development() -> None:
    marks = [Annotation(0, 1, "play", "NOUN", (SHOW,), f"{name}.d000.s000.t000") for name in SETS]
    found = group_rows(marks)
    assert [SETS[row] for row in found[FOUR]] == ["senseval2", "senseval3", "semeval2013", "semeval2015"]
    assert score_groups([SHOW, None, SHOW, SHOW, SHOW], marks, set())[FOUR] == pytest.approx(100 * 6 / 7, abs=0.01)


@pytest.mark.parametrize("bank", ["ewt", "perdt"])
def test_parts_of_speech_are_probed_on_every_layer(folder: Path, bank: str) -> None:
    study = PartsOfSpeech(elmo=str(folder / "tiny"), treebank=bank, epochs=2)  # type: ignore[arg-type]
    scores = run(study, folder).values["scores"]
    assert set(scores) == {"UPOS", "XPOS"}
    for found in scores.values():
        assert list(found) == [BASELINE, *(f"biLM layer {n}" for n in range(3)), "biLM mean", "glove-en"]
        assert found[BASELINE] == {"all": 100.0, "unseen": None, "ambiguous": None}
        assert found["biLM layer 0"]["all"] == 100.0  # here the word tells its tag


def test_words_that_are_joined_are_left_out_of_a_treebank(folder: Path) -> None:
    first, second, *_ = read_treebank(folder / "shared" / FILES["ewt"][0], 3)
    assert first == TaggedSentence(("We", "drink", "rain"), ("PRON", "VERB", "NOUN"))
    assert second.words == ("We", "drink", "tea")


def test_contexts_are_judged_by_biLM_static_vectors_and_an_encoder(folder: Path) -> None:
    task = Seq2Seq(hidden=6, layers=2, dim=4)
    torch.manual_seed(1)
    inputs = Inputs(Embedding(characters=5))
    labels = {"words": ["tea"]}
    save(TaskModel(task, labels, inputs, task.network(inputs.sizes, labels)), folder / "pairs")
    study = Contexts(elmo=str(folder / "tiny"), static="glove-en", cove=str(folder / "pairs"))
    scores = run(study, folder).values["scores"]
    assert list(scores)[-3:] == ["glove-en", "CoVe layer 1", "CoVe layer 2"]
    assert scores["glove-en"]["wic"] == 75.0  # all alike: the answer is always yes
    assert scores["glove-en"]["change"] is None  # what never changes
    assert scores["biLM layer 1"]["change"] is not None


def test_the_neighbors_of_a_word_are_shown_and_counted(folder: Path) -> None:
    found = run(Play(elmo=str(folder / "tiny"), static="glove-en", neighbours=2, uses=20), folder)
    counts = found.values["counts"]
    assert found.values["occurrences"] == 37
    assert counts["glove-en"]["pos"]["same"] == counts["glove-en"]["pos"]["chance"]
    assert counts["biLM layer 1"]["pos"]["same"] == 100.0  # equal sentences in other documents
    titles = [table.title for table in found.tables]
    assert "glove-en: nearest to 'play'" in titles
    [shown] = [table for table in found.tables if table.title.startswith("biLM layer 2")]
    assert len(shown.rows) == 10
    assert "**play**" in str(shown.rows[0][1])


def test_a_word_without_sentences_asks_for_some(folder: Path) -> None:
    with pytest.raises(OptionError, match="no sentence is known for 'bank'"):
        run(Play(elmo=str(folder / "tiny"), word="bank"), folder)


def test_missing_data_is_named(folder: Path) -> None:
    (folder / "shared" / SEMCOR).unlink()
    with pytest.raises(OptionError, match=r"the data folder has no data/tasks/wsd/semcor3\.0\.tsv\.xz"):
        run(Senses(elmo="none"), folder)


def test_a_long_sentence_is_cut_around_the_word() -> None:
    words = [f"w{number}" for number in range(60)]
    assert format_bold(WordSpan(words, 30, 31)).split()[:2] == ["…", "w16"]
    assert format_bold(WordSpan(words, 30, 31)).endswith("w44 …")
