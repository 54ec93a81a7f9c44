r"""AllenNLP's ELMo, to be asked from another environment: it needs older packages than firth does.

    PYTHON benchmarks/allennlp_peer.py OPTIONS WEIGHTS

A line of JSON on standard input is a question, a line on standard output its answer. {"sentences": [["a", "word"], …]}
embeds sentences in batches of 64 in the order given, all layers of each, as AllenNLP's users do: characters to numbers
by `batch_to_ids`, then the biLM. The answer has the seconds it took, by the clock, of CPU, and those of them that went
into `batch_to_ids`. With "out" the arrays are saved to that .npz as 0, 1, …; with "reset" every batch begins with
nothing to remember. The first line says which versions answer, unasked.

An environment that can run it, with any torch (pip will name versions that do not agree, which do no harm):

    pip install --no-deps allennlp==2.10.1 cached_path==1.1.6
    pip install transformers==4.46.3 huggingface_hub==0.26.5 spacy h5py lmdb dill base58 more_itertools fairscale \
        boto3 google-cloud-storage rich
    mkdir $(python -c "import site; print(site.getsitepackages()[0])")/torchvision    # an empty one will do
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import torch

BATCH = 64


def embed(bilm: Any, batch_to_ids: Any, sentences: list[list[str]], batch: int, reset: bool) -> tuple[list, float]:
    """An array (layers + 1, length, 2 · dim) for each sentence, and the seconds spent on numbers for characters."""
    arrays, spelling = [], 0.0
    for start in range(0, len(sentences), batch):
        some = sentences[start : start + batch]
        if reset:
            bilm._elmo_lstm.reset_states()
        begin = time.perf_counter()
        ids = batch_to_ids(some)
        spelling += time.perf_counter() - begin
        layers = torch.stack(bilm(ids)["activations"]).numpy()  # (layers + 1, batch, time, 2 · dim)
        arrays += [layers[:, row, 1 : len(words) + 1] for row, words in enumerate(some)]
    return arrays, spelling


def answer(bilm: Any, batch_to_ids: Any, question: dict[str, Any]) -> dict[str, float]:
    """What one question asks for."""
    batch, reset = question.get("batch", BATCH), question.get("reset", False)
    wall, cpu = time.perf_counter(), time.process_time()
    arrays, spelling = embed(bilm, batch_to_ids, question["sentences"], batch, reset)
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "ids": spelling}
    if question.get("out"):
        np.savez(question["out"], **{str(number): array for number, array in enumerate(arrays)})
    return took


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what libraries have to say is no answer
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    import allennlp.version
    from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

    bilm = _ElmoBiLm(sys.argv[1], sys.argv[2]).eval()
    about = {"allennlp": allennlp.version.VERSION, "torch": torch.__version__, "threads": torch.get_num_threads()}
    print(json.dumps({**about, "seconds": time.perf_counter() - begin}), file=answers, flush=True)
    with torch.inference_mode():
        for line in sys.stdin:
            print(json.dumps(answer(bilm, batch_to_ids, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
