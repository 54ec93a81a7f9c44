"""gensim's own tests, run on `firth.compat.gensim` in place of gensim's classes.

They run where gensim is installed with its tests. Those of the models that are trained take minutes and run only if the
environment variable FIRTH_PEER_GENSIM is set. A test that cannot pass is listed with the reason and must fail: one that
passes by surprise is an error. A test that passes must have run code of firth, so that none passes on gensim alone.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("gensim")
if importlib.util.find_spec("gensim.test.test_keyedvectors") is None:
    pytest.skip("gensim is installed without its tests", allow_module_level=True)

import gensim.models.doc2vec
import gensim.models.fasttext
import gensim.models.fasttext_inner
import gensim.models.keyedvectors
import gensim.models.phrases
import gensim.models.word2vec

import firth
from firth.compat import gensim as ours
from firth.compat.gensim_phrases import PhraseTransformation
from firth.kernels import subwords as subwords_kernel
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary

SOURCE = str(Path(firth.__file__).parent)
PICKLE = "opens a pickle of an older gensim; firth reads none, since a pickle can run any code"
FUNCTION = "stores a function of the user, which only a pickle can"
LOG = "expects a warning in gensim's log"
TEXT = "passes text where lists of words belong: gensim logs a warning and takes characters for words, firth raises"
ALONE = "calls private functions of gensim's own, and nothing that firth stands in for"
BOTH = "trains hierarchical softmax and negative sampling together, which here only Word2Vec does"
LENGTH = "expects ValueError if total_examples or epochs is missing; firth needs neither"
INSTANCE = "expects AttributeError for load on an object; here it is a class method as any other"
KIND = "expects AttributeError for a file with another model; ours is an OptionError that names what it holds"
SHORT = "expects EOFError for a file cut short; ours is a FormatError that names the place"
EMPTY = "expects ZeroDivisionError for an empty list; ours is an OptionError"
TREE = "expects RuntimeError under hierarchical softmax, where firth predicts words too"
NESTED = "expects TypeError for sentences in one more tuple; ours is an OptionError"
UNTRAINED = "infers from a model before its training, where all documents are alike here"
BYTES = "compares numbers of bytes that gensim's own objects need"
VOCABULARY = "compares attributes of gensim's sampling, such as cum_table"
UNSUPPORTED: dict[str, dict[str, str]] = {
    "test_keyedvectors": {"Gensim320Test.test": PICKLE},
    "test_phrases": {
        "TestFrozenPhrasesModelCompatibility.test_compatibility": PICKLE,
        "TestFrozenPhrasesPersistence.test_save_load_no_common_terms": PICKLE,
        "TestFrozenPhrasesPersistence.test_save_load_no_scoring": PICKLE,
        "TestFrozenPhrasesPersistence.test_save_load_string_scoring": PICKLE,
        "TestPhrasesPersistence.test_save_load_no_common_terms": PICKLE,
        "TestPhrasesPersistence.test_save_load_no_scoring": PICKLE,
        "TestPhrasesPersistence.test_save_load_string_scoring": PICKLE,
        "TestFrozenPhrasesPersistence.test_save_load_custom_scorer": FUNCTION,
    },
    "test_word2vec": {
        "TestWord2VecModel.test_load_old_model": PICKLE,
        "TestWord2VecModel.test_load_old_model_separates": PICKLE,
        "TestWord2VecModel.test_load_old_models_1_x": PICKLE,
        "TestWord2VecModel.test_load_old_models_2_x": PICKLE,
        "TestWord2VecModel.test_load_old_models_3_x": PICKLE,
        "TestWord2VecModel.test_persistence_backwards_compatible": PICKLE,
        "TestWord2VecModel.test_build_vocab_warning": TEXT,
        "TestWord2VecModel.test_train_warning": LOG,
        "TestWord2VecModel.test_train_hs_and_neg": LOG,
        "TestWord2VecModel.test_load_on_class_error": INSTANCE,
        "TestWord2VecModel.test_no_training_c_format": LENGTH,
        "TestWord2VecModel.test_train_with_explicit_param": LENGTH,
        "TestWord2VecModel.test_persistence_word2vec_format_combination_with_standard_persistence": KIND,
        "TestWord2VecModel.test_predict_output_word": TREE,
        "TestWord2VecModel.test_sentences_should_not_be_a_generator": NESTED,
        "TestWord2VecModel.test_similarities": EMPTY,
        "TestWord2VecModel.test_too_short_binary_word2vec_format": SHORT,
        "TestWord2VecModel.test_too_short_text_word2vec_format": SHORT,
        "TestWord2VecScripts.test_word2vec_stand_alone_script": ALONE,
        "TestWord2VecSentenceIterators.test_cython_line_sentence_works_with_filename": ALONE,
    },
    "test_doc2vec": {
        "TestDoc2VecModel.test_build_vocab_warning": TEXT,
        "TestDoc2VecModel.test_train_warning": LOG,
        "TestDoc2VecModel.test_cython_linesentence_readline_after_getting_offsets": ALONE,
        "TestDoc2VecModel.test_get_offsets_and_start_doctags": ALONE,
        "TestDoc2VecModel.test_deterministic_dmc": BOTH,
        "TestDoc2VecModel.test_load_on_class_error": INSTANCE,
        "TestDoc2VecModel.test_similarity_unseen_docs": UNTRAINED,
    },
    "test_fasttext": {
        "HashCompatibilityTest.test_compatibility_true": PICKLE,
        "NativeTrainingContinuationTest.test_sanity": VOCABULARY,
        "SaveFacebookFormatModelTest.test_cbow": BOTH,
        "SaveFacebookFormatModelTest.test_skipgram": BOTH,
        "TestFastTextModel.test_estimate_memory": BYTES,
        "TestFromfile.test_compressed": ALONE,
        "TestFromfile.test_decompressed": ALONE,
        "UnicodeVocabTest.test_ascii": ALONE,
        "UnicodeVocabTest.test_bad_unicode": ALONE,
        "UnpackTest.test_identity": ALONE,
        "UnpackTest.test_sanity": ALONE,
        "UnpackTest.test_tricky": ALONE,
    },
}
FAST = ["test_keyedvectors", "test_phrases"]
MODULES = [name for name in UNSUPPORTED if name in FAST or os.environ.get("FIRTH_PEER_GENSIM")]


def load_word2vec_format(
    cls: Any, fname: str, binary: bool, limit: int | None = None, binary_chunk_size: int = 0
) -> ours.KeyedVectors:
    """gensim's private reader; ours has no chunks."""
    return ours.KeyedVectors.load_word2vec_format(fname, binary=binary, limit=limit)


def compute_ngrams(word: str, shortest: int, longest: int) -> list[str]:
    """The n-grams of a word, ordered by their length as gensim's function has them."""
    return sorted(Subwords(shortest, longest, 1).ngrams(word), key=len)


def compute_ngrams_bytes(word: str, shortest: int, longest: int) -> list[bytes]:
    """The n-grams of a word in the order of fastText."""
    return [ngram.encode() for ngram in Subwords(shortest, longest, 1).ngrams(word)]


def hash_bytes(word: bytes) -> int:
    """fastText's hash of a word."""
    words, hashes = Vocabulary([word.decode()]), np.empty(1, np.uint64)
    subwords_kernel.hash_words(words.blob, words.starts, words.ends, hashes)
    return int(hashes[0]) & 0xFFFFFFFF


REPLACED: list[tuple[Any, str, Any]] = [
    (gensim.models, "KeyedVectors", ours.KeyedVectors),
    (gensim.models.keyedvectors, "KeyedVectors", ours.KeyedVectors),
    (gensim.models.keyedvectors, "_load_word2vec_format", load_word2vec_format),
    (gensim.models.fasttext_inner, "compute_ngrams", compute_ngrams),
    (gensim.models.fasttext_inner, "compute_ngrams_bytes", compute_ngrams_bytes),
    (gensim.models.fasttext_inner, "ft_hash_bytes", hash_bytes),
    (gensim.models.phrases, "Phrases", ours.Phrases),
    (gensim.models.phrases, "FrozenPhrases", ours.FrozenPhrases),
    (gensim.models.phrases, "_PhrasesTransformation", PhraseTransformation),
    (gensim.models.word2vec, "Word2Vec", ours.Word2Vec),
    (gensim.models.word2vec, "LineSentence", ours.LineSentence),
    (gensim.models.word2vec, "PathLineSentences", ours.PathLineSentences),
    (gensim.models.doc2vec, "Doc2Vec", ours.Doc2Vec),
    (gensim.models.doc2vec, "TaggedDocument", ours.TaggedDocument),
    (gensim.models.fasttext, "FastText", ours.FastText),
    (gensim.models.fasttext, "FastTextKeyedVectors", ours.FastTextKeyedVectors),
    (gensim.models.fasttext, "load_facebook_model", ours.load_facebook_model),
    (gensim.models.fasttext, "load_facebook_vectors", ours.load_facebook_vectors),
    (gensim.models.fasttext, "save_facebook_model", ours.save_facebook_model),
]


@contextmanager
def our_classes() -> Iterator[None]:
    """gensim's modules with our classes in place of gensim's."""
    before = [(module, name, getattr(module, name)) for module, name, _ in REPLACED]
    for module, name, value in REPLACED:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def log_capture(*names: str) -> Callable[..., Any]:
    """Stands in for that of testfixtures, which need not be installed: a test gets an empty log."""

    def decorate(test: Callable[..., None]) -> Callable[[Any], None]:
        return lambda self: test(self, "")

    return decorate


def open_tests(name: str) -> Any:
    """A module of gensim's tests that was imported with our classes."""
    stand_in = types.ModuleType("testfixtures")
    stand_in.log_capture = log_capture  # type: ignore[attr-defined]
    with our_classes(), mock.patch.dict(sys.modules, {"testfixtures": stand_in}):
        return importlib.import_module(f"gensim.test.{name}")


def list_tests(suite: Any) -> list[unittest.TestCase]:
    """The tests of a suite of suites."""
    return [one for part in suite for one in list_tests(part)] if isinstance(suite, unittest.TestSuite) else [suite]


def load_tests(name: str) -> dict[str, unittest.TestCase]:
    """The tests of a module by their names. gensim's file of fastText also has those of word2vec, which it imports."""
    module = open_tests(name)
    found = list_tests(unittest.defaultTestLoader.loadTestsFromModule(module))
    cases = {test.id().split(".", 3)[-1]: test for test in found if type(test).__module__ == module.__name__}
    return cases | {name: unittest.FunctionTestCase(function) for name, function in list_functions(module)}


def list_functions(module: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """The tests of a module that are functions, once for each value of their one parameter."""
    for name, function in vars(module).items():
        if name.startswith("test_") and isinstance(function, types.FunctionType):
            [mark] = function.pytestmark  # type: ignore[attr-defined]
            for value in mark.args[1]:
                yield f"{name}-{value}", functools.partial(function, value)


def collect() -> list[Any]:
    found = []
    for name in MODULES:
        for short, test in load_tests(name).items():
            reason = UNSUPPORTED[name].get(short)
            marks = pytest.mark.xfail(reason=reason, strict=True) if reason else ()
            found.append(pytest.param(test, id=f"{name}-{short}", marks=marks))
    return found


@contextmanager
def watch_calls() -> Iterator[set[bool]]:
    """Notes whether functions of firth are called."""
    called: set[bool] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            called.add(True)
            sys.setprofile(None)

    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("test", collect())
def test_a_test_of_gensim_passes_here(test: unittest.TestCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some tests write files to the current folder
    result = unittest.TestResult()
    with our_classes(), watch_calls() as called:
        test.run(result)
    if result.skipped:
        pytest.skip(result.skipped[0][1])
    problems = [trace for _, trace in result.failures + result.errors]
    assert not problems, problems[0]
    assert called, "no code of firth was run: the test is about gensim alone"


@pytest.mark.parametrize("name", MODULES)
def test_the_list_names_only_tests_that_there_are(name: str) -> None:
    assert set(UNSUPPORTED[name]) <= set(load_tests(name))
