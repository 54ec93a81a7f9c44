"""Speed of biLM training in the original size on one GPU, for the whole step, compared with stock torch.

    python benchmarks/train_elmo_gpu.py TEXT_OR_TOKENS [rows] [steps] [softmax words]

"Stock" uses cuDNN's LSTMs (which cannot clip), the character CNN as matrix products of windows, and torch's cross
entropy in chunks, all under autocast. "Firth" uses the kernels of firth. Both have the same batches, bfloat16 products,
dropout 0.1, clipped gradients and fused Adam. The script prints tokens per second, the time of each part, and the ratio
of the necessary operations per second to the measured bfloat16 limit of the GPU. A token counts once, although both
directions read it. Batches are made before the measurement, because the trainer makes them in a parallel thread; their
transfer to the GPU is included.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.softmax import draw_words, expected_counts
from firth.neural.training import cnn_gpu, lstm_gpu, softmax_gpu
from firth.neural.training.lstm import Dropout
from firth.neural.training.optimizers import Optimizer
from firth.neural.training.streams import StreamBatch, Streams
from firth.text.character_ids import BEGIN, END, FILL, CharacterIds
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary

NEGATIVES, RATE, CLIP, DROPOUT = 8192, 1e-3, 1.0, 0.1
PARTS = ("characters", "LSTMs", "softmax", "LSTMs back", "characters back", "optimizer")


def learning_rate(number: int) -> float:
    """The learning rate of a step, with a warmup of 200 steps."""
    return RATE * min(1, (number + 1) / 200)


class Text:
    """Batches of a token file, for a softmax over `words` words: <S>, </S>, <UNK> and the most frequent ones."""

    def __init__(self, tokens: TokenFile, words: int, rows: int, steps: int) -> None:
        known = min(words - 3, len(tokens.vocabulary))
        self.words = known + 3
        names = [*tokens.vocabulary.words, BEGIN, END]
        character_ids = CharacterIds().of(names)
        targets = np.where(np.arange(len(names)) < known, np.arange(len(names)) + 3, 2)
        targets[-2:] = 0, 1
        lengths = (character_ids != FILL).sum(1)
        self.streams = Streams(tokens, targets, rows=rows, steps=steps, lengths=lengths)
        self.character_ids = torch.from_numpy(character_ids).cuda()

    def batches(self, count: int) -> list[StreamBatch]:
        """The first batches, in pinned memory."""
        return [self.streams.batch(number % self.streams.batches).pinned() for number in range(count)]


class Marks:
    """CUDA events between the parts of a step."""

    def __init__(self) -> None:
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(len(PARTS) + 1)]

    def __call__(self, number: int) -> None:
        self.events[number].record()

    def at_gradient(self, tensor: Tensor, number: int) -> None:
        """Records an event when the gradient of a tensor is computed."""
        tensor.register_hook(lambda _: self(number))

    def times(self) -> list[float]:
        """Milliseconds of each part."""
        return [before.elapsed_time(after) for before, after in zip(self.events, self.events[1:])]


class NegativeSampler:
    """Negative samples, drawn in a thread during the previous step, and the log expected counts of all words."""

    def __init__(self, words: int) -> None:
        self.words, self.executor = words, ThreadPoolExecutor(1)
        self.future = self.executor.submit(draw_words, words, NEGATIVES, (1, 0))
        self.all_words = torch.arange(words, device="cuda")

    def __call__(self, number: int) -> tuple[Tensor, Tensor]:
        drawn, tries = self.future.result()
        self.future = self.executor.submit(draw_words, self.words, NEGATIVES, (1, number + 1))
        negatives = torch.from_numpy(drawn).pin_memory().cuda(non_blocking=True)
        return negatives, expected_counts(self.all_words, tries, self.words).log()


class Firth:
    """The training step of firth."""

    def __init__(self, text: Text, rows: int, sampled: bool, sizes: Architecture) -> None:
        words = Vocabulary([f"w{number}" for number in range(text.words)])
        self.text, self.sampled = text, sampled
        self.bilm = BiLM(sizes, vocabulary=words).cuda()
        self.state = self.bilm.blank(rows)
        parameters = dict(self.bilm.named_parameters())
        self.optimizer, self.parameters = Optimizer("adam", parameters, [], 0.01), list(parameters.values())
        self.sampler = NegativeSampler(text.words)

    def step(self, batch: StreamBatch, number: int, marks: Marks) -> Tensor:
        """One batch; the loss."""
        rows = batch.forward.shape[1]
        marks(0)
        vectors = cnn_gpu.encode(self.bilm.encoder, self.text.character_ids[batch.words])  # type: ignore[arg-type]
        marks.at_gradient(vectors, 4)
        marks(1)
        both = functional.embedding(torch.stack([batch.forward, batch.backward]), vectors)
        dropout = Dropout(DROPOUT, seed=1, step=number, rows=rows)
        forward, backward, self.state = lstm_gpu.read_streams(self.bilm, both[0], both[1], self.state, dropout)
        hidden = torch.cat([forward.flatten(0, 1), backward.flatten(0, 1)])
        marks.at_gradient(hidden, 3)
        marks(2)
        targets = torch.cat([batch.forward_targets.flatten(), batch.backward_targets.flatten()])
        loss = self.loss(hidden, targets, number)
        loss.backward()  # type: ignore[no-untyped-call]
        marks(5)
        nn.utils.clip_grad_norm_(self.parameters, CLIP, foreach=True)
        self.optimizer.step(learning_rate(number))
        marks(6)
        return loss.detach()

    def loss(self, hidden: Tensor, targets: Tensor, number: int) -> Tensor:
        """The loss in nats per word, by the full softmax or by a softmax sampled with NEGATIVES words."""
        linear = self.bilm.softmax
        assert linear is not None
        if not self.sampled:
            total = softmax_gpu.CrossEntropyGpu.apply(hidden, linear.weight, linear.bias, targets, True)
            return total / len(targets)
        negatives, bias = self.sampler(number)
        total = softmax_gpu.SampledLossGpu.apply(hidden, linear.weight, linear.bias - bias, negatives, targets, True)
        return total / len(targets)


class Stock(nn.Module):
    """The training step in stock torch."""

    width = 24  # maximum characters of a word

    def __init__(self, text: Text, rows: int, sampled: bool, sizes: Architecture) -> None:
        super().__init__()
        self.text, self.sampled, self.sizes = text, sampled, sizes
        features = sum(count for _, count in sizes.filters)
        self.table = nn.Embedding(262, sizes.character_dim)
        self.filters = nn.ModuleList(nn.Linear(sizes.character_dim * size, count) for size, count in sizes.filters)
        self.highways = nn.ModuleList(nn.Linear(features, 2 * features) for _ in range(sizes.highways))
        self.projection = nn.Linear(features, sizes.dim)
        self.lstms = nn.ModuleList(nn.LSTM(sizes.dim, sizes.cell, proj_size=sizes.dim) for _ in range(2 * sizes.layers))
        self.softmax = nn.Linear(sizes.dim, text.words)
        self.cuda()
        self.states: list[tuple[Tensor, Tensor] | None] = [None] * (2 * sizes.layers)
        self.sampler = NegativeSampler(text.words)
        self.optimizer = torch.optim.AdamW(self.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.01, fused=True)

    def encode(self, ids: Tensor) -> Tensor:
        """The vectors of words, from their character ids."""
        x = self.table(ids)
        best = []
        for (size, _), filters in zip(self.sizes.filters, self.filters):
            windows = x.unfold(1, size, 1).transpose(2, 3).flatten(2)
            best.append(filters(windows).amax(1))
        x = torch.cat(best, 1).relu()
        for highway in self.highways:
            changed, gate = highway(x).chunk(2, -1)
            gate = torch.sigmoid(gate - 2)
            x = gate * changed.relu() + (1 - gate) * x
        return self.projection(x)

    def step(self, batch: StreamBatch, number: int, marks: Marks) -> Tensor:
        """One batch; the loss."""
        marks(0)
        with torch.autocast("cuda", torch.bfloat16):
            vectors = self.encode(self.text.character_ids[batch.words][:, : self.width])
            marks.at_gradient(vectors, 4)
            marks(1)
            outputs = []
            for direction, indices in enumerate((batch.forward, batch.backward)):
                inputs = functional.dropout(functional.embedding(indices, vectors), DROPOUT)
                for depth in range(self.sizes.layers):
                    layer = direction * self.sizes.layers + depth
                    inputs = functional.dropout(inputs, DROPOUT) if depth else inputs
                    output, state = self.lstms[layer](inputs, self.states[layer])
                    self.states[layer] = tuple(one.detach() for one in state)  # type: ignore[assignment]
                    inputs = inputs + output if depth else output
                outputs.append(functional.dropout(inputs, DROPOUT).flatten(0, 1))
            hidden = torch.cat(outputs)
            marks.at_gradient(hidden, 3)
            marks(2)
            targets = torch.cat([batch.forward_targets.flatten(), batch.backward_targets.flatten()])
            loss = self.loss(hidden, targets, number)
        loss.backward()  # type: ignore[no-untyped-call]
        marks(5)
        nn.utils.clip_grad_norm_(self.parameters(), CLIP, foreach=True)
        self.optimizer.param_groups[0]["lr"] = learning_rate(number)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        marks(6)
        return loss.detach()

    def loss(self, hidden: Tensor, targets: Tensor, number: int) -> Tensor:
        """The loss in nats per word."""
        if self.sampled:
            return self.sampled_loss(hidden, targets, *self.sampler(number))
        parts = zip(hidden.split(8192), targets.split(8192))
        return sum(functional.cross_entropy(self.softmax(h), t, reduction="sum") for h, t in parts) / len(targets)

    def sampled_loss(self, hidden: Tensor, targets: Tensor, negatives: Tensor, log_counts: Tensor) -> Tensor:
        """The loss in nats per word, by a softmax over the negative samples."""
        total = hidden.new_zeros(())
        weight, bias = self.softmax.weight, self.softmax.bias - log_counts
        for some, target in zip(hidden.split(8192), targets.split(8192)):
            own = (some * weight[target]).sum(1).float() + bias[target]
            logits = functional.linear(some, weight[negatives], bias[negatives])
            logits = logits.masked_fill(target[:, None] == negatives, -torch.inf).float()
            total = total + (torch.logaddexp(logits.logsumexp(1), own) - own).sum()
        return total / len(targets)


def count_operations(sizes: Architecture, text: Text, batch: StreamBatch, sampled: bool) -> float:
    """The necessary operations of the products of a step, forward and backward."""
    features = sum(count for _, count in sizes.filters)
    lstm = sizes.layers * 2 * (8 * sizes.cell * sizes.dim + sizes.cell * sizes.dim) * 2
    softmax = 2 * 2 * sizes.dim * (NEGATIVES if sampled else text.words)
    window = 2 * sizes.character_dim * sum(size * count for size, count in sizes.filters)
    lengths = (text.character_ids[batch.words.cuda()] != FILL).sum().item() + len(batch.words)
    highways = len(batch.words) * 2 * features * (2 * features * sizes.highways + sizes.dim)
    return 3 * (batch.tokens * (lstm + softmax) + window * lengths + highways)


def measure(make: Callable[[], Firth | Stock], batches: list[StreamBatch], warm: int = 4) -> dict[str, object]:
    """The mean time of a step, the median time of each part, and losses; the first steps are a warm-up."""
    torch.cuda.reset_peak_memory_stats()
    trained, times, parts, losses = make(), [], [], []
    coming = batches[0].to("cuda")
    for number in range(len(batches)):
        marks = Marks()
        batch, coming = coming, batches[(number + 1) % len(batches)].to("cuda")
        losses.append(trained.step(batch, number, marks))
        if number + 1 in (warm, len(batches)):
            torch.cuda.synchronize()
            times.append(time.perf_counter())
        if number >= warm:
            parts.append(marks)
    torch.cuda.synchronize()
    step = (times[1] - times[0]) / (len(batches) - warm)
    medians = [statistics.median(column) for column in zip(*(marks.times() for marks in parts))]
    return {
        "ms": 1e3 * step,
        "tokens/s": batches[0].tokens / step,
        "parts": {name: round(value, 2) for name, value in zip(PARTS, medians)},
        "ppl": [round(math.exp(min(20, loss.item()))) for loss in losses[:: max(1, len(losses) // 5)]],
        "GiB": round(torch.cuda.max_memory_allocated() / 2**30, 1),
    }


def limit() -> float:
    """Operations per second of bfloat16 products of random 8192 × 8192 matrices."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for count in (3, 10):
        begin.record()
        for _ in range(count):
            a @ b
        end.record()
        torch.cuda.synchronize()
    return 2 * 8192**3 * 10 / begin.elapsed_time(end) * 1e3


def main() -> None:
    """Prints the speed of firth and of stock torch, with a sampled and with a full softmax."""
    path, *numbers = sys.argv[1:]
    rows, steps, words = [*map(int, numbers), *(1024, 32, 50_000)[len(numbers) :]]
    tokens = (
        TokenFile(path) if Path(path).suffix == ".tokens" else Corpus(path, tokenizer=Tokenizer("whitespace")).tokens()
    )
    text, sizes, peak = Text(tokens, words, rows, steps), Architecture.named("original"), limit()
    batches = text.batches(24)
    print(
        f"{torch.cuda.get_device_name()}: {peak / 1e12:.0f} TFLOP/s; {rows} × {steps}, {len(batches[0].words)} distinct"
    )
    for sampled in (True, False):
        flops = count_operations(sizes, text, batches[0], sampled)
        for kind in (Firth, Stock, Firth, Stock):
            found = measure(lambda kind=kind, sampled=sampled: kind(text, rows, sampled, sizes), batches)  # type: ignore[misc]
            share = flops / found["ms"] * 1e3 / peak  # type: ignore[operator]
            print(
                f"{kind.__name__} {'sampled' if sampled else 'full'}: {found['tokens/s']:,.0f} tokens/s, {share:.0%}",
                found,
            )
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
