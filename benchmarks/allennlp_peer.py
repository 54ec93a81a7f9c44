r"""A server process for AllenNLP's ELMo, which needs an environment with older packages than firth.

    PYTHON benchmarks/allennlp_peer.py OPTIONS WEIGHTS

Requests and responses are lines of JSON on standard input and output. {"sentences": [["a", "word"], …]} embeds the
sentences in batches of 64 in the given order, with all layers: `batch_to_ids`, then the biLM. The response has the wall
seconds, the CPU seconds and the wall seconds of `batch_to_ids`. With "out", the arrays are saved to that .npz file as
0, 1, …; with "reset", the LSTM states are reset before every batch. The first line of the output has the versions.

To create an environment, with any version of torch (pip reports version conflicts, which are harmless):

    pip install --no-deps allennlp==2.10.1 cached_path==1.1.6
    pip install transformers==4.46.3 huggingface_hub==0.26.5 spacy h5py lmdb dill base58 more_itertools fairscale \
        boto3 google-cloud-storage rich
    mkdir $(python -c "import site; print(site.getsitepackages()[0])")/torchvision    # an empty package is enough
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
    """An array (layers + 1, length, 2 · dim) for each sentence, and the seconds of `batch_to_ids`."""
    arrays, id_seconds = [], 0.0
    for start in range(0, len(sentences), batch):
        some = sentences[start : start + batch]
        if reset:
            bilm._elmo_lstm.reset_states()
        begin = time.perf_counter()
        ids = batch_to_ids(some)
        id_seconds += time.perf_counter() - begin
        layers = torch.stack(bilm(ids)["activations"]).numpy()  # (layers + 1, batch, time, 2 · dim)
        arrays += [layers[:, row, 1 : len(words) + 1] for row, words in enumerate(some)]
    return arrays, id_seconds


def answer(bilm: Any, batch_to_ids: Any, request: dict[str, Any]) -> dict[str, float]:
    """Embeds the sentences of a request and returns the times."""
    batch, reset = request.get("batch", BATCH), request.get("reset", False)
    wall, cpu = time.perf_counter(), time.process_time()
    arrays, id_seconds = embed(bilm, batch_to_ids, request["sentences"], batch, reset)
    times = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "ids": id_seconds}
    if request.get("out"):
        np.savez(request["out"], **{str(number): array for number, array in enumerate(arrays)})
    return times


def main() -> None:
    output, sys.stdout = sys.stdout, sys.stderr  # libraries print to stdout, which is for responses only
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    import allennlp.version
    from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

    bilm = _ElmoBiLm(sys.argv[1], sys.argv[2]).eval()
    about = {"allennlp": allennlp.version.VERSION, "torch": torch.__version__, "threads": torch.get_num_threads()}
    print(json.dumps({**about, "seconds": time.perf_counter() - begin}), file=output, flush=True)
    with torch.inference_mode():
        for line in sys.stdin:
            print(json.dumps(answer(bilm, batch_to_ids, json.loads(line))), file=output, flush=True)


if __name__ == "__main__":
    main()
