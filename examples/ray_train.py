"""ELMo trained by Ray Train: the function that torchrun starts, on the workers of a Ray cluster.

    python examples/ray_train.py corpus.txt --out model/ --state state/ --workers 4 --preset small --epochs 2
    python examples/ray_train.py corpus.txt --out model/ --state state/ --workers 8 --gpu --batch 8192

Ray Train starts the workers, gives each its rank, and starts all of them again when one is lost; they go on from the
last checkpoint in the folder --state, which all nodes must see. It needs `pip install 'firth[elmo]' 'ray[train]'`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def train(settings: Mapping[str, Any]) -> None:
    """What each worker runs. Its rank is in the environment, as under torchrun."""
    import firth
    from firth.models.elmo import Elmo
    from firth.runtime import Runtime

    runtime = Runtime.from_env(settings["threads"], settings["device"])
    corpus = firth.Corpus(settings["text"])
    bilm = Elmo(**settings["options"]).fit(corpus, runtime=runtime, checkpoint=settings["state"])
    if runtime.is_main:
        firth.save(bilm, settings["out"])


def launch(settings: Mapping[str, Any], workers: int, *, failures: int = 3) -> None:
    """Trains on so many workers of the cluster that this process is connected to, or of the one at RAY_ADDRESS."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    state = Path(settings["state"]).absolute()
    trainer = TorchTrainer(
        train,
        train_loop_config={**settings, "state": str(state)},
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=settings["device"] == "cuda"),
        run_config=RunConfig(
            name=state.name,
            storage_path=str(state.parent),
            failure_config=FailureConfig(max_failures=failures),
        ),
    )
    trainer.fit()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--out", required=True)
    parser.add_argument("--state", required=True, help="Folder for checkpoints.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--gpu", action="store_true", help="One GPU for each worker.")
    parser.add_argument("--threads", type=int, default=1, help="Threads of each worker.")
    parser.add_argument("--preset", default="small")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=1)
    given = parser.parse_args(arguments)
    settings = {
        "text": str(Path(given.text).absolute()),
        "out": str(Path(given.out).absolute()),
        "state": given.state,
        "device": "cuda" if given.gpu else "cpu",
        "threads": given.threads,
        "options": {"preset": given.preset, "batch": given.batch, "epochs": given.epochs},
    }
    launch(settings, given.workers)


if __name__ == "__main__":
    main()
