"""The GPU's skip-gram: plain references that anyone can run, and the kernels against them where there is a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import MissingExtra, OptionError
from firth.kernels import random as random_kernel
from firth.kernels import word2vec as cpu
from firth.kernels import word2vec_gpu as kernel
from firth.kernels.simd_float import matrix
from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus

STEP = int(random_kernel.STEP)
LOW = 2**32 - 1
TARGETS = 8  # that the GPU trains at once


def has_gpu() -> bool:
    try:
        Runtime(1, "cuda")
    except (OptionError, MissingExtra):
        return False
    return True


needs_gpu = pytest.mark.skipif(not has_gpu(), reason="needs an NVIDIA GPU and a torch that was built for it")


def bits_at(state: int, number: int) -> int:
    """64 random bits: number `number` of the stream that begins at `state`."""
    with np.errstate(over="ignore"):
        return int(random_kernel.mix(np.uint64((state + number * STEP) % 2**64)))


def laid_by_hand(ids, sentence_of, keep, window, dynamic, state):
    """What `draw_windows` should find: (words, before, after)."""
    words, sentences, reaches = [], [], []
    for i, id in enumerate(ids):
        bits = bits_at(state, i + 1)
        if id < len(keep) and bits & LOW <= keep[id]:
            words.append(id)
            sentences.append(sentence_of[i])
            reaches.append(1 + ((bits >> 32) * window >> 32) if dynamic else window)
    before, after = [], []
    for i, reach in enumerate(reaches):
        near = range(max(0, i - reach), min(len(words), i + reach + 1))
        before.append(sum(sentences[j] == sentences[i] for j in near if j < i))
        after.append(sum(sentences[j] == sentences[i] for j in near if j > i))
    return np.array(words, np.uint32), np.array(before, np.int32), np.array(after, np.int32)


def trained_by_hand(words, before, after, inputs, outputs, noise, negatives, share, rate, last_rate, state, group):
    """Skip-gram in float64, window after window; changes both matrices, returns (loss, pairs).

    `group` targets are trained at once, and the next ones see what these have changed.
    """
    loss, pairs, state = 0.0, 0, int(state)
    for c, center in enumerate(words):
        around = [*words[c - before[c] : c], *words[c + 1 : c + 1 + after[c]]]
        draws = [bits_at(state, c // share * negatives + k) for k in range(1, negatives + 1)]
        places = [(bits >> 32) * len(noise) >> 32 for bits in draws]
        drawn = [int(noise[p, 1]) if bits & LOW > noise[p, 0] else p for bits, p in zip(draws, places)]
        slots = [(int(center), 1.0), *((word, -1.0 if word != center else 0.0) for word in drawn)]
        pairs += len(around)
        now = rate + (last_rate - rate) * c / len(words)
        for at in range(0, len(slots), group):
            targets, signs = (np.array(column) for column in zip(*slots[at : at + group]))
            z = inputs[around] @ outputs[targets].T * signs
            loss += (np.logaddexp(0, -z) * np.abs(signs)).sum()
            steps = now * signs / (1 + np.exp(z))
            for_inputs, for_outputs = steps @ outputs[targets], steps.T @ inputs[around]
            np.add.at(inputs, around, for_inputs)
            np.add.at(outputs, targets, for_outputs)
    return loss, pairs


def small_text(words: int, known: int, seed: int = 0):
    """(ids, sentence_of): Zipf's law, with some ids that are not known."""
    rng = np.random.default_rng(seed)
    ids = np.minimum(rng.zipf(1.2, words) - 1, known + 20).astype(np.uint32)
    return ids, np.sort(rng.integers(0, words // 12, words)).astype(np.int32)


def text_without_repeats(words: int, known: int):
    """(ids, sentence_of) where no window has a word twice, which would see its own step or not, by its place there."""
    ids = np.tile(np.random.default_rng(0).permutation(known), words // known + 1)[:words].astype(np.uint32)
    return ids, small_text(words, known)[1]


def small_network(known: int, dim: int, seed: int = 0):
    """(inputs, outputs, noise) with rows of some length, so that steps show."""
    rng = np.random.default_rng(seed)
    inputs, outputs = (rng.normal(0, 0.3, (known, dim)).astype(np.float32) for _ in range(2))
    return inputs, outputs, random_kernel.alias_table(rng.random(known) + 0.1)


@pytest.mark.parametrize("negatives, share", [(5, 1), (5, 2), (3, 3), (12, 2)])
def test_the_reference_is_what_the_cpu_computes(negatives, share):
    dim, window, state = 40, 4, np.uint64(77)
    ids, sentence_of = text_without_repeats(600, 50)
    laid = laid_by_hand(ids, sentence_of, np.full(50, 2**31, np.uint32), window, True, 5)
    first, second, noise = small_network(50, dim)
    inputs, outputs = matrix(50, dim), matrix(50, dim)
    inputs[:, :dim], outputs[:, :dim] = first, second
    sampling, scratch = (noise, negatives, share, np.array([state])), cpu.make_scratch(window, 1 + negatives, dim)
    loss, pairs = cpu.skip_gram((*laid, window), inputs, outputs, sampling, None, None, (0.1, 0.05), scratch)
    x, y = first.astype(np.float64), second.astype(np.float64)
    expected, count = trained_by_hand(*laid, x, y, noise, negatives, share, 0.1, 0.05, state, cpu.GROUP)
    assert pairs == count > 0
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(inputs[:, :dim], x, atol=2e-5)
    np.testing.assert_allclose(outputs[:, :dim], y, atol=2e-5)


def test_words_stay_as_often_as_asked_and_windows_reach_evenly():
    ids, sentence_of = np.zeros(20_000, np.uint32), np.zeros(20_000, np.int32)
    words, before, _ = laid_by_hand(ids, sentence_of, np.array([2**30], np.uint32), 5, True, 3)
    assert len(words) / len(ids) == pytest.approx(0.25, abs=0.01)
    reaches = np.bincount(before[5:], minlength=6)[1:] / (len(words) - 5)
    np.testing.assert_allclose(reaches, 0.2, atol=0.02)


def test_rows_are_padded_to_what_a_warp_reads_at_once():
    assert [kernel.width(dim) for dim in (1, 128, 129, 300)] == [128, 128, 256, 384]


def test_a_gpu_that_is_not_there_is_a_clear_error():
    if has_gpu():
        pytest.skip("there is a GPU")
    with pytest.raises((OptionError, MissingExtra), match=r"GPU"):
        Runtime(device="cuda")


def test_a_device_that_is_none_is_an_error():
    with pytest.raises(OptionError, match=r"device is 'tpu', but must be one of 'cpu', 'cuda'"):
        Runtime(1, "tpu")


def on_gpu(array):
    import torch

    return torch.from_numpy(np.ascontiguousarray(array).view(np.int32)).cuda()


def rows_on_gpu(rows):
    import torch

    tensor = torch.zeros(len(rows), kernel.width(rows.shape[1]), device="cuda")
    tensor[:, : rows.shape[1]] = torch.from_numpy(rows).cuda()
    return tensor


def laid_on_gpu(kernels, ids, sentence_of, keep, window, dynamic, state):
    """The desk after `draw_windows`, and what lies on it as arrays."""
    desk = kernel.make_scratch(len(ids))
    arguments = on_gpu(ids), on_gpu(sentence_of), on_gpu(keep), window, dynamic, np.uint64(state)
    kernel.draw_windows(kernels, *arguments, desk)
    count = int(desk[3])
    words, before, after = (tensor[:count].cpu().numpy() for tensor in desk[:3])
    return desk, (words.view(np.uint32), before, after)


@needs_gpu
@pytest.mark.parametrize("window, dynamic", [(5, True), (3, False), (40, True)])
def test_the_gpu_lays_the_windows_of_the_reference(window, dynamic):
    kernels = kernel.compile_kernels(128, 5)
    keep = np.linspace(2**29, LOW, 60).astype(np.uint32)
    for words in (1, 31, 1024, 5000):
        ids, sentence_of = small_text(words + 12, 60, seed=words)
        ids, sentence_of = ids[:words], sentence_of[:words]
        _, found = laid_on_gpu(kernels, ids, sentence_of, keep, window, dynamic, 2**63 + words)
        for have, want in zip(found, laid_by_hand(ids, sentence_of, keep, window, dynamic, 2**63 + words)):
            np.testing.assert_array_equal(have, want)


@needs_gpu
@pytest.mark.parametrize("dim, negatives, share", [(128, 5, 2), (100, 5, 1), (300, 3, 2), (20, 7, 3), (128, 12, 2)])
def test_one_warp_trains_as_the_reference_does(dim, negatives, share):
    import torch

    kernels = kernel.compile_kernels(kernel.width(dim), negatives)
    ids, sentence_of = text_without_repeats(700, 60)
    keep = np.full(60, LOW, np.uint32)
    desk, laid = laid_on_gpu(kernels, ids, sentence_of, keep, 5, True, 9)
    first, second, noise = small_network(60, dim)
    inputs, outputs = rows_on_gpu(first), rows_on_gpu(second)
    tally = torch.zeros(2, dtype=torch.float64, device="cuda")
    steps = share, 0.05, 0.02, np.uint64(2**62 + 5)
    kernel.skip_gram(kernels, desk, inputs, outputs, on_gpu(noise), *steps, 1, tally)
    loss, pairs = tally.tolist()
    x, y = first.astype(np.float64), second.astype(np.float64)
    expected, count = trained_by_hand(*laid, x, y, noise, negatives, *steps, TARGETS)
    assert pairs == count
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(inputs.cpu().numpy()[:, :dim], x, atol=2e-5)
    np.testing.assert_allclose(outputs.cpu().numpy()[:, :dim], y, atol=2e-5)
    assert not inputs[:, dim:].any()
    assert not outputs[:, dim:].any()


@needs_gpu
def test_many_warps_lose_no_step():
    """From outputs of 0, with a rate so small that they stay near it, every step is known: any order gives one sum."""
    import torch

    kernels = kernel.compile_kernels(128, 5)
    ids, sentence_of = text_without_repeats(5000, 60)
    desk, laid = laid_on_gpu(kernels, ids, sentence_of, np.full(60, LOW, np.uint32), 5, True, 9)
    first, _, noise = small_network(60, 128)
    zero = np.zeros_like(first)
    inputs, outputs = rows_on_gpu(first), rows_on_gpu(zero)
    tally = torch.zeros(2, dtype=torch.float64, device="cuda")
    steps = 2, 1e-6, 1e-6, np.uint64(4)
    kernel.skip_gram(kernels, desk, inputs, outputs, on_gpu(noise), *steps, 500, tally)
    x, y = first.astype(np.float64), zero.astype(np.float64)
    expected, count = trained_by_hand(*laid, x, y, noise, 5, *steps, TARGETS)
    loss, pairs = tally.tolist()
    assert pairs == count
    assert loss == pytest.approx(expected, rel=1e-3)
    assert np.linalg.norm(outputs.cpu().numpy() - y) < 1e-3 * np.linalg.norm(y)


def two_topics() -> tuple[Corpus, list[str], list[str]]:
    """Sentences of random words, each of one of two topics."""
    tea = ["kettle", "water", "tea", "milk", "sugar", "cup", "spoon", "honey", "lemon", "biscuit"]
    rain = ["wind", "rain", "storm", "cloud", "hill", "thunder", "puddle", "umbrella", "mist", "coat"]
    rng = np.random.default_rng(0)
    return Corpus.of([" ".join(rng.choice((tea, rain)[i % 2], 9)) for i in range(6000)]), tea, rain


def apartness(vectors, tea, rain):
    """How much nearer words of a topic are to each other than to the other topic's."""
    units = [vectors.unit[[vectors.key_to_index[word] for word in topic]] for topic in (tea, rain)]
    return np.mean([(unit @ unit.T).mean() for unit in units]) - (units[0] @ units[1].T).mean()


def test_the_cpu_learns_who_keeps_company():
    corpus, tea, rain = two_topics()
    vectors = Word2Vec(dim=32, min_count=1, epochs=3, subsample=0).fit(corpus, runtime=Runtime(1))
    assert apartness(vectors, tea, rain) > 0.8


@needs_gpu
def test_a_recipe_on_the_gpu_learns_who_keeps_company(tmp_path):
    corpus, tea, rain = two_topics()
    recipe = Word2Vec(dim=32, min_count=1, epochs=3, subsample=0)
    gpu = recipe.fit(corpus, runtime=Runtime(2, "cuda"), checkpoint=tmp_path / "state", held_out=corpus)
    assert apartness(gpu, tea, rain) > 0.8
    cpu = recipe.fit(corpus, runtime=Runtime(1))
    assert gpu.metadata["loss"][-1] == pytest.approx(cpu.metadata["loss"][-1], rel=0.02)
    assert gpu.metadata["held_out_loss"][-1] == pytest.approx(gpu.metadata["loss"][-1], rel=0.1)
    again = recipe.fit(corpus, runtime=Runtime(2, "cuda"), checkpoint=tmp_path / "state", held_out=corpus)
    np.testing.assert_array_equal(again.matrix, gpu.matrix)  # from the checkpoint: nothing was left to do
    with pytest.raises(OptionError, match="another training"):  # blocks of the CPU have other places
        recipe.fit(corpus, runtime=Runtime(1), checkpoint=tmp_path / "state", held_out=corpus)
