"""Results of trainings that are worked out by hand, for the studies of tasks."""

import pytest

SCORES = {False: (0.50, 0.54), True: (0.60, 0.66)}


@pytest.fixture
def make_result():
    """Makes the result of a training with a given score."""

    def make(run, score):
        epoch = {"epoch": 1, "dev": {"f1": score}}
        return {
            "run": run.as_dict(),
            "test": {"f1": score},
            "dev": {"f1": score},
            "epochs": [epoch, epoch | {"epoch": 2, "dev": {"f1": score + 0.01}}, epoch | {"epoch": 3}],
            "training": {"patience": 1, "epochs": 200},
            "items": [score, score],
            "layer_shares": {"input": [0.2, 0.5, 0.3]} if run.elmo else {},
            "words_per_second": 1000.0,
            "bilm_share": 0.25,
            "seconds": 36.0,
            "parameters": 10,
            "device": "cpu",
        }

    return make


@pytest.fixture
def finish(make_result):
    """Writes the results of all trainings of a study, and runs the study on them."""
    pytest.importorskip("torch")
    from firth.runtime import Runtime
    from firth.studies.tasks.runs import append_result

    def finish_study(study, work, score):
        for run in study.runs():
            append_result(run, make_result(run, score(run)), work)
        return study.run(work, Runtime(1))

    return finish_study


@pytest.fixture
def by_elmo():
    """The score of a run by its seed, higher with ELMo; an untrained biLM is like none."""
    return lambda run: SCORES[bool(run.elmo) and not run.elmo.endswith("untrained")][run.seed - 1]
