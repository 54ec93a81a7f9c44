"""Optimizers: Adagrad as in the original, AdamW, or AdamW with Muon; sparse gradients too. Schedule and clipping."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from firth.errors import OptionError

Kind = Literal["adam", "muon", "adagrad"]
BETAS = 0.9, 0.98
MOMENTUM = 0.95  # of Muon
MUON_MATRICES = ".input", ".recurrent", ".projection", ".gate.weight", ".transform.weight"  # of LSTMs and highways
LONGEST_WARMUP = 0.05  # as a share of the training
ACCUMULATED = 1.0  # the initial accumulator of Adagrad, as in the original


class RowOptimizer(torch.optim.Optimizer):
    """Adagrad or Adam for sparse gradients: rows without a gradient do not change, and neither does their state."""

    def __init__(self, kind: Kind, parameters: Iterable[nn.Parameter]) -> None:
        super().__init__(parameters, {"lr": 0.0})
        self.kind = kind
        for group in self.param_groups:
            for one in group["params"]:
                if kind == "adagrad":
                    self.state[one] = {"sum": torch.full_like(one, ACCUMULATED, requires_grad=False)}
                    continue
                moments = {name: torch.zeros_like(one, requires_grad=False) for name in ("exp_avg", "exp_avg_sq")}
                self.state[one] = {"step": torch.zeros(()), **moments}

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for one in group["params"]:
                if one.grad is None:
                    continue
                grad = one.grad.coalesce()
                rows, values = grad.indices()[0], grad.values()
                change = self._adagrad(one, rows, values) if self.kind == "adagrad" else self._adam(one, rows, values)
                one.index_add_(0, rows, change, alpha=-group["lr"])

    def _adagrad(self, one: Tensor, rows: Tensor, values: Tensor) -> Tensor:
        squares: Tensor = self.state[one]["sum"].index_add_(0, rows, values * values)
        return values / (squares[rows].sqrt() + 1e-10)

    def _adam(self, one: Tensor, rows: Tensor, values: Tensor) -> Tensor:
        state = self.state[one]
        state["step"] += 1
        step = int(state["step"])
        mean: Tensor = state["exp_avg"][rows].lerp_(values, 1 - BETAS[0])
        square = state["exp_avg_sq"][rows].lerp_(values * values, 1 - BETAS[1])
        state["exp_avg"][rows], state["exp_avg_sq"][rows] = mean, square
        size: Tensor = (square / (1 - BETAS[1] ** step)).sqrt_().add_(1e-8)
        return mean / size / (1 - BETAS[0] ** step)


class Optimizer:
    """Updates the parameters of a model; those that `sparse` names have sparse gradients."""

    def __init__(self, kind: Kind, parameters: Mapping[str, nn.Parameter], sparse: Iterable[str], decay: float) -> None:
        self.parameters = dict(parameters)
        apart = {name: parameters[name] for name in sparse}
        dense = [one for name, one in parameters.items() if name not in apart]
        self.parts: list[torch.optim.Optimizer] = [RowOptimizer(kind, apart.values())] if apart else []
        if not dense:
            return
        if kind == "adagrad":
            self.parts.append(torch.optim.Adagrad(dense, lr=0, initial_accumulator_value=ACCUMULATED))
            return
        if kind == "muon":
            if not hasattr(torch.optim, "Muon"):
                problem = f"the optimizer 'muon' needs torch 2.9 or newer, and this is torch {torch.__version__}"
                raise OptionError(f"{problem}. Install a newer torch, or use optimizer='modern'")
            names = [name for name in parameters if name not in apart and name.endswith(MUON_MATRICES)]
            settings: dict[str, Any] = {"weight_decay": decay, "momentum": MOMENTUM, "adjust_lr_fn": "match_rms_adamw"}
            if names:
                self.parts.append(torch.optim.Muon([parameters[name] for name in names], lr=0.0, **settings))
            dense = [one for name, one in parameters.items() if name not in {*apart, *names}]
        # Matrices decay; biases and other vectors do not.
        groups = [
            {"params": [one for one in dense if one.dim() > 1], "weight_decay": decay},
            {"params": [one for one in dense if one.dim() <= 1], "weight_decay": 0.0},
        ]
        self.parts.append(torch.optim.AdamW(groups, lr=0, betas=BETAS, fused=True))

    def step(self, rate: float) -> None:
        """One step at a learning rate; then the gradients are deleted."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate
            part.step()
            part.zero_grad(set_to_none=True)

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The optimizer state, by name."""
        for name, parameter in self.parameters.items():
            for part in self.parts:
                for key, value in part.state.get(parameter, {}).items():
                    yield f"{name}/{key}", torch.as_tensor(value)

    def load(self, tensors: Mapping[str, Tensor], device: torch.device) -> None:
        """Restores the state from `tensors`."""
        states: dict[str, dict[str, Any]] = {}
        for key, value in tensors.items():
            name, what = key.rsplit("/", 1)
            states.setdefault(name, {})[what] = value.to(device)
        for part in self.parts:
            for group in part.param_groups:
                for parameter in group["params"]:
                    name = next(name for name, one in self.parameters.items() if one is parameter)
                    state = states.get(name, {})
                    if "step" in state and not group.get("fused"):
                        state["step"] = state["step"].cpu()
                    part.state[parameter] = state


@dataclass(frozen=True)
class WarmupSchedule:
    """The learning rate over a training: a linear warmup over `warmup` steps, and a cosine decay to `last`.

    The warmup takes at most a twentieth of the training. With a warmup of 0 and no `last` the rate is constant. With
    `cooldown`, the rate is constant until that fraction of the training is left, and then falls linearly to `last`.

    >>> plan = WarmupSchedule(0.1, warmup=100, last=0.01)
    >>> [round(plan.rate(step, step / 10000), 4) for step in (0, 49, 99, 5000, 10000)]
    [0.001, 0.05, 0.1, 0.055, 0.01]
    >>> round(plan.rate(10, 0.5), 4)
    0.055
    >>> plan = WarmupSchedule(0.1, last=0.01, cooldown=0.2)
    >>> [round(plan.rate(step, step / 100), 4) for step in (0, 50, 80, 90, 100)]
    [0.1, 0.1, 0.1, 0.055, 0.01]
    """

    first: float = 1e-3
    warmup: int = 0
    last: float | None = None
    cooldown: float | None = None

    def rate(self, step: int, share: float) -> float:
        """The learning rate of a step, after a share of the training."""
        low = self.first if self.last is None else self.last
        if self.cooldown is None:
            height = (1 + math.cos(math.pi * min(1.0, share))) / 2
        else:
            height = min(1.0, (1 - share) / max(self.cooldown, 1e-9))
        rate = low + (self.first - low) * height
        if not self.warmup:
            return rate
        return rate * min(1.0, max((step + 1) / self.warmup, share / LONGEST_WARMUP))


def clip_gradients(parameters: Iterable[nn.Parameter], most: float) -> Tensor:
    """Clips the norm of all gradients together to `most`, and returns the norm before; 0 disables clipping.

    >>> one = nn.Parameter(torch.zeros(2)); one.grad = torch.tensor([3.0, 4.0])
    >>> clip_gradients([one], 1.0), one.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    grads = [one.grad for one in parameters if one.grad is not None]
    values = [grad._values() if grad.is_sparse else grad for grad in grads]
    lengths: list[Tensor] = list(torch._foreach_norm(values))
    norm: Tensor = torch.stack(lengths).norm()
    if most:
        torch._foreach_mul_(values, (most / (norm + 1e-6)).clamp(max=1.0))
    return norm
