"""The migration tables: the firth side of every row runs, and the side of the other library is complete.

A page has tables of two columns. A cell has code in backticks, Python or a command `firth …`; several pieces run one
after the other. What stands outside of the backticks is a remark. Where the other library is installed, its side runs
as well.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from firth.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "migration"
NAMES = sorted(path.stem for path in PAGES.glob("*.md"))
MENTIONED = re.compile(r"[\w-]+=?|-.*|<\w+>|\w+\.(json|jsonl|hdf5|svg|txt)|.*….*")


class Row(NamedTuple):
    """A row of a table: the line of the page, and the pieces of code of its two cells."""

    line: int
    theirs: list[str]
    ours: list[str]


def read_rows(page: Path) -> Iterator[Row]:
    """The rows of the tables whose second heading is firth.

    What a remark of the second cell mentions does not run: a single word, an option, a file, code with three dots.
    """
    within = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("|"):
            within = False
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if cells[1:2] == ["firth"]:
            within = True
        elif within and not set(line) <= set("|-: "):
            pieces = [[code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", cell)] for cell in cells]
            yield Row(number, pieces[0], [code for code in pieces[1] if not MENTIONED.fullmatch(code)])


def run_setup(page: Path, names: dict[str, Any]) -> None:
    """Runs the first block of examples of a page, which makes the names that its tables use."""
    block = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert block is not None
    for example in doctest.DocTestParser().get_examples(block[1]):
        exec(compile(example.source, str(page), "exec"), names)


def run_piece(code: str, names: dict[str, Any]) -> None:
    """Runs a command or a line of Python."""
    if code.startswith("firth "):
        words = shlex.split(code.partition("  #")[0])[1:]
        main(words)
    else:
        exec(compile(code, code, "exec"), names)


def write_files(names: dict[str, Any]) -> None:
    """The files that the tables name, in the current folder."""
    for name in ("text", "pairs", "questions", "labeled", "tokens"):
        if isinstance(names.get(name), str):
            ending = {"pairs": "tsv"}.get(name, "txt")
            Path(f"{name}.{ending}").write_text(names[name], encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with the vectors that tables open."""
    import firth

    monkeypatch.chdir(tmp_path)
    words = ["tea", "coffee", "milk", "rain", "hill", "strong", "hot", "cold"]
    vectors = firth.WordVectors(words, np.random.default_rng(1).normal(size=(8, 20)).astype(np.float32))
    for name in ("vectors.bin", "vectors.txt", "vectors.glove.txt"):
        firth.save(vectors, name)
    bilm = tiny_bilm()
    firth.save(bilm, "elmo", format="elmo")
    return tmp_path


def tiny_bilm() -> Any:
    """A biLM with random weights and a softmax."""
    import firth
    from firth.neural.architecture import Architecture

    words = ["<S>", "</S>", "<UNK>", "tea", "milk", "rain", "a", "cup", "of", "strong"]
    return firth.BiLM(Architecture.named("tiny"), vocabulary=firth.Vocabulary(words))


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("folder")
def test_the_firth_side_of_every_row_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = PAGES / f"{name}.md"
    names: dict[str, Any] = {}
    run_setup(page, names)
    write_files(names)
    rows = list(read_rows(page))
    assert len(rows) >= 10
    problems = []
    for row in rows:
        for code in row.ours:
            try:
                run_piece(code, names)
            except (Exception, SystemExit) as error:
                problems.append(f"{page.name}:{row.line}: {code}: {type(error).__name__}: {error}")
                problems.append(capsys.readouterr().err)
    assert "\n".join(filter(None, problems)) == ""


GENSIM_IMPORTS = """
    corpora:Dictionary models:Doc2Vec models:FastText models:KeyedVectors models:LsiModel models:Phrases
    models:TfidfModel models:Word2Vec models.doc2vec:TaggedDocument models.doc2vec:TaggedLineDocument
    models.fasttext:load_facebook_model models.fasttext:load_facebook_vectors models.fasttext:save_facebook_model
    models.phrases:Phraser models.word2vec:LineSentence utils:simple_preprocess
"""
# Methods that users do not call, and names that are errors since gensim 4.
GENSIM_INTERNAL = """
    add_lifecycle_event add_null_word create_binary_tree init_weights make_cum_table prepare_vocab prepare_weights
    reset_from scan_vocab seeded_vector update_weights init_sims
    index2entity index2word vocab vectors_norm load_binary_data load_fasttext_format
"""
# The names in the sources of fastText 0.9.3, GloVe (2025), AllenNLP 2.10.1 (its command elmo: 0.9), bilm-tf and
# simple_elmo (2024).
PROGRAMS = {
    "fasttext": """
        supervised quantize test test-label predict predict-prob skipgram cbow print-word-vectors print-sentence-vectors
        print-ngrams nn analogies dump -input -output -lr -lrUpdateRate -dim -ws -epoch -minCount -minCountLabel -neg
        -wordNgrams -loss -bucket -minn -maxn -thread -t -label -verbose -pretrainedVectors -saveOutput -seed -qnorm
        -retrain -qout -cutoff -dsub -autotune-validation -autotune-metric -autotune-predictions -autotune-duration
        -autotune-modelsize
    """,
    "glove": """
        vocab_count cooccur shuffle glove distance.py word_analogy.py evaluate.py demo.sh -verbose -max-vocab -min-count
        -symmetric -window-size -vocab-file -memory -max-product -overflow-length -overflow-file -distance-weighting
        -array-size -temp-file -seed -write-header -vector-size -threads -iter -eta -alpha -x-max -grad-clip -binary
        -model -input-file -save-file -gradsq-file -save-gradsq -checkpoint-every -load-init-param -save-init-param
        -init-param-file -load-init-gradsq -init-gradsq-file
    """,
    "allennlp": """
        options_file weight_file num_output_representations requires_grad do_layer_norm dropout vocab_to_cache module
        keep_sentence_boundaries scalar_mix_parameters get_output_dim batch_to_ids elmo_representations mask ScalarMix
        ElmoEmbedder embed_sentence embed_batch embed_sentences embed_file batch_to_embeddings --all --top --average
        --options-file --weight-file --vocab-path --batch-size --file-friendly-logging --cuda-device --forget-sentences
        --use-sentence-keys --include-package train evaluate predict print-results find-lr build-vocab count-instances
        diff checklist cached-path push-to-hf test-install
    """,
    "bilm-tf": """
        Batcher TokenBatcher BidirectionalLanguageModel dump_token_embeddings dump_bilm_embeddings weight_layers
        Vocabulary UnicodeCharsVocabulary LMDataset BidirectionalLMDataset train test load_vocab dump_weights
        load_options_latest_checkpoint train_elmo.py restart.py run_test.py dump_weights.py --save_dir --vocab_file
        --train_prefix --n_gpus --batch_size --n_train_tokens --n_epochs --test_prefix --outfile bidirectional char_cnn
        activation embedding filters max_characters_per_token n_characters n_highway dropout lstm cell_clip dim n_layers
        proj_clip projection_dim use_skip_connections all_clip_norm_val n_epochs batch_size n_tokens_vocab unroll_steps
        n_negative_samples_batch sample_softmax share_embedding_softmax l2_coef use_top_only do_layer_norm
    """,
    "simple-elmo": """
        ElmoModel load max_batch_size limit full get_elmo_vectors get_elmo_vector_average get_elmo_substitutes layers
        warmup session topn nodelimiters divide_chunks Batcher BidirectionalLanguageModel weight_layers vector_size
        n_layers get_elmo_vectors.py text_classification.py wsd_eval.py
    """,
}
# Cells of the other libraries that cannot run in a test, with the reason.
NOT_RUN = {
    'api.load("glove-wiki-gigaword-50")': "downloads",
    "AnnoyIndexer(wv, 2)": "needs the package annoy",
    'wv.wmdistance(["hot", "tea"], ["cold", "rain"])': "needs the package pot",
    'model.wv.intersect_word2vec_format("vectors.txt")': "an IndexError in gensim 4.4 itself",
}


def code_of(name: str) -> str:
    """The code on the other library's side of all tables of a page."""
    return "\n".join(code for row in read_rows(PAGES / f"{name}.md") for code in row.theirs)


def missing(name: str, words: list[str]) -> list[str]:
    """Those of the words that the other library's side of a page does not have."""
    text = code_of(name)
    return [word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)]


def run_theirs(name: str, names: dict[str, Any]) -> None:
    """Runs the other library's side of a page."""
    run_setup(PAGES / f"{name}.md", names)
    write_files(names)
    problems = []
    for row in read_rows(PAGES / f"{name}.md"):
        for code in row.theirs:
            if code in NOT_RUN or re.match(r"-|fasttext |echo |\w+\.vec$", code):
                continue
            try:
                run_patiently(code, names)
            except Exception as error:
                problems.append(f"{name}.md:{row.line}: {code}: {type(error).__name__}: {error}")
    assert "\n".join(problems) == ""


def run_patiently(code: str, names: dict[str, Any]) -> None:
    """Runs a line; a training of fastText 0.9, which ends in NaN now and then on so small a text, up to ten times."""
    for left in range(9, -1, -1):
        try:
            exec(compile(code, code, "exec"), names)
            return
        except RuntimeError as error:
            if left == 0 or "NaN" not in str(error):
                raise


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("ignore")
def test_the_gensim_side_runs_with_gensim_and_is_complete() -> None:
    gensim = pytest.importorskip("gensim", reason="needs gensim: pip install 'firth[test]'")
    names: dict[str, Any] = {"api": importlib.import_module("gensim.downloader")}
    for place in GENSIM_IMPORTS.split():
        module, _, name = place.partition(":")
        names[name] = getattr(importlib.import_module(f"gensim.{module}"), name)
    run_theirs("gensim", names)
    classes = [getattr(gensim.models, name) for name in ("Word2Vec", "KeyedVectors", "FastText", "Doc2Vec", "Phrases")]
    public = {name for one in classes for name in dir(one) if not name.startswith("_")}
    assert missing("gensim", sorted(public - set(GENSIM_INTERNAL.split()))) == []
    assert missing("gensim", [name for name in inspect.signature(classes[0]).parameters if name != "sentences"]) == []


@pytest.mark.usefixtures("folder")
def test_the_python_side_of_fasttext_runs_with_fasttext_and_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    fasttext = pytest.importorskip("fasttext", reason="needs fastText: pip install fasttext")
    import firth

    class NumPy1:
        """NumPy, but `np.array(..., copy=False)` copies if it must: fastText 0.9.3 was written for NumPy 1."""

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def array(self, values: Any, copy: bool = True) -> Any:
            return np.array(values) if copy else np.asarray(values)

    monkeypatch.setattr(importlib.import_module("fasttext.FastText"), "np", NumPy1())
    monkeypatch.setattr(importlib.import_module("fasttext.util.util"), "np", NumPy1(), raising=False)

    firth.save(firth.FastText(dim=10, min_count=1, buckets=100).fit(["strong tea and hot milk"] * 9), "words.bin")
    run_theirs("fasttext", {"fasttext": fasttext})
    module = importlib.import_module("fasttext.FastText")
    public = {name for one in (module._FastText, module._Meter) for name in dir(one) if not name.startswith("_")}
    assert missing("fasttext", sorted(public - {"set_args", "score_vs_true"})) == []


@pytest.mark.parametrize("name", ["allennlp", "bilm-tf", "fasttext", "glove", "simple-elmo"])
def test_the_tables_have_every_program_option_and_function(name: str) -> None:
    assert missing(name, PROGRAMS[name].split()) == []
