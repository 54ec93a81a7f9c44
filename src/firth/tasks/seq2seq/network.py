"""An encoder reads the source in both directions; a decoder says the target, word by word, looking back at the source.

    shares = softmax(decoder · W · states)          where it looks (Luong et al. 2015)
    joined = tanh(V · [shares · states ; decoder])
    P(word) = (1 - copied) · softmax(U · joined) + copied · (what shares say of this word in the source)

The last line is the copy rule (See et al. 2017), by which words can be said that the vocabulary does not hold. Without
it a word that is not known is said as the source word looked at most, or as <unk>.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, final_states, masked_softmax, sequence_mask
from firth.tasks.seq2seq import beam
from firth.tasks.seq2seq.data import Seq2SeqExample

if TYPE_CHECKING:
    from firth.tasks.seq2seq.task import Seq2Seq

MARKS = ("<s>", "</s>", "<unk>")
BEGIN, END, UNKNOWN = range(3)
TINY = 1e-10


@dataclass(frozen=True)
class EncodedSource:
    """What the decoder can look at. A word that the vocabulary does not hold has a number behind it, in its source."""

    states: Tensor  # (batch, time, states)
    keys: Tensor  # (batch, time, hidden)
    mask: Tensor  # (batch, time)
    numbers: Tensor  # (batch, time)
    beyond: list[list[str]]  # of each source its words beyond the vocabulary

    def repeated(self, times: int) -> EncodedSource:
        """Each source so many times, side by side."""
        return EncodedSource(
            self.states.repeat_interleave(times, 0),
            self.keys.repeat_interleave(times, 0),
            self.mask.repeat_interleave(times, 0),
            self.numbers.repeat_interleave(times, 0),
            [words for words in self.beyond for _ in range(times)],
        )


@dataclass(frozen=True)
class DecoderState:
    """What the decoder remembers of each row; the sources of a beam's rows are the same, and stay where they are."""

    source: EncodedSource
    said: Tensor  # (layers, rows, hidden)
    cells: Tensor
    joined: Tensor  # (rows, hidden)

    def rows(self, places: Tensor) -> DecoderState:
        """The memory of these rows."""
        return replace(self, said=self.said[:, places], cells=self.cells[:, places], joined=self.joined[places])

    def repeated(self, times: int) -> DecoderState:
        """Each row so many times, side by side, with its source."""
        places = torch.arange(len(self.joined), device=self.joined.device).repeat_interleave(times)
        return replace(self.rows(places), source=self.source.repeated(times))


class EncoderDecoder(nn.Module):
    """The network of the task, which has its sizes; `words` are those that it can say without copying."""

    def __init__(self, task: Seq2Seq, sizes: Sizes, words: Sequence[str]) -> None:
        super().__init__()
        self.task, self.words = task, (*MARKS, *words)
        self.numbers = {word: number for number, word in enumerate(self.words)}
        hidden, states = task.hidden, 2 * task.hidden + sizes.extra
        inputs = [sizes.input] + [2 * hidden] * (task.layers - 1)
        self.encoder = nn.ModuleList(Bidirectional(size, hidden, dropout=task.dropout) for size in inputs)
        self.table = nn.Embedding(len(self.words), task.dim)
        self.decoder = nn.LSTM(task.dim + hidden * task.feeding, hidden, task.layers, batch_first=True)
        self.first = nn.Linear(2 * hidden, 2 * task.layers * hidden)
        self.keys = nn.Linear(states, hidden, bias=False)
        self.join = nn.Linear(states + hidden, hidden, bias=False)
        self.say = nn.Linear(hidden, len(self.words))
        self.copied = nn.Linear(hidden, 1)
        self.dropout = nn.Dropout(task.dropout)

    def states(self, text: Text) -> list[Tensor]:
        """What each layer of the encoder says of the words, (batch, time, 2 · hidden): CoVe's vectors."""
        said, found = text.vectors, []
        for layer in self.encoder:
            said = layer(said, text.lengths)
            found.append(said)
        return found

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Seq2SeqExample]) -> Tensor:
        """The mean over the words of the targets, their ends among them, of -log P(word | source, words before it)."""
        memory = self.remember(texts[0], examples)
        wanted = [self._targets(pair, beyond) for pair, beyond in zip(examples, memory.source.beyond)]
        targets = _padded(wanted, END).to(memory.said.device)
        mask = sequence_mask(torch.tensor([len(one) for one in wanted]), targets.shape[1]).to(targets.device)
        before = torch.cat([torch.full_like(targets[:, :1], BEGIN), targets[:, :-1]], 1)
        joined, shares = self._read(before, memory)
        likely = self._likely(joined, shares, memory.source, targets)
        return -(likely * mask).sum() / mask.sum()

    def _likely(self, joined: Tensor, shares: Tensor, source: EncodedSource, targets: Tensor) -> Tensor:
        """log P of the targets, (batch, target time)."""
        known = torch.log_softmax(self.say(joined), 2)
        beyond = targets >= len(self.words)
        said = known.gather(2, targets.masked_fill(beyond, UNKNOWN)[:, :, None])[:, :, 0]
        if self.task.unknown != "copy":
            return said
        copied = self.copied(joined)[:, :, 0]
        lowest = torch.finfo(said.dtype).min / 2
        said = (said + functional.logsigmoid(-copied)).masked_fill(beyond, lowest)
        there = (shares * (source.numbers[:, None] == targets[:, :, None]) * source.mask[:, None]).sum(2)
        return torch.logaddexp(said, functional.logsigmoid(copied) + torch.log(there + TINY))

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Seq2SeqExample]) -> list[str]:
        """The best text for each source, its words parted by blanks."""
        return [found[0][0] for found in self.best(texts[0], examples, width=self.task.beam)]

    def best(self, text: Text, pairs: Sequence[Seq2SeqExample], width: int) -> list[list[tuple[str, float]]]:
        """The `width` best texts for each source and their scores: log P by length, as `length_penalty` says."""
        memory = self.remember(text, pairs)
        found = beam.search(
            self.step,
            memory.repeated(width),
            torch.full((len(pairs),), BEGIN, device=memory.said.device),
            end=END,
            width=width,
            longest=self.task.longest,
            penalty=self.task.length_penalty,
        )
        spelled = []
        for rows, scores, beyond in zip(found.words.tolist(), found.scores.tolist(), memory.source.beyond):
            names = [*self.words, *beyond]
            texts = [" ".join(names[number] for number in row if number >= 0) for row in rows]
            spelled.append(list(zip(texts, scores)))
        return spelled

    def step(self, words: Tensor, memory: DecoderState) -> tuple[Tensor, DecoderState]:
        """The log-probabilities of the words after `words` (rows), those of its source beyond the vocabulary last."""
        joined, shares, memory = self._next(words, memory)
        source = memory.source
        chances = functional.pad(torch.softmax(self.say(joined), 1), (0, max(map(len, source.beyond), default=0)))
        if self.task.unknown == "copy":
            copied = torch.sigmoid(self.copied(joined))
            chances = (chances * (1 - copied)).scatter_add(1, source.numbers, copied * shares)
        never = [BEGIN]
        if self.task.unknown != "keep":  # what is not known is said as the word that is looked at most
            looked_at = source.numbers.gather(1, shares.argmax(1, keepdim=True))
            chances = chances.scatter_add(1, looked_at, chances[:, UNKNOWN, None])
            never.append(UNKNOWN)
        found = torch.log(chances.clamp(min=TINY))
        found[:, never] = -torch.inf
        return found, memory

    def remember(self, text: Text, pairs: Sequence[Seq2SeqExample]) -> DecoderState:
        """The decoder before its first word, with sources to look at."""
        top = self.states(text)[-1]
        states = text.with_extra(top)
        beyond: list[list[str]] = []
        numbers = torch.full(text.mask.shape, UNKNOWN)
        for row, pair in zip(numbers, pairs):
            others = {word: len(self.words) + at for at, word in enumerate(self._beyond(pair.source))}
            row[: len(pair.source)] = torch.tensor([self.numbers.get(one, others.get(one, 0)) for one in pair.source])
            beyond.append(list(others))
        source = EncodedSource(states, self.keys(states), text.mask, numbers.to(states.device), beyond)
        begin = torch.tanh(self.first(final_states(top, text.lengths))).reshape(len(pairs), 2, self.task.layers, -1)
        said, cells = begin.permute(1, 2, 0, 3).contiguous()
        return DecoderState(source, said, cells, said.new_zeros(said.shape[1:]))

    def _beyond(self, words: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(word for word in words if word not in self.numbers))

    def _targets(self, pair: Seq2SeqExample, beyond: Sequence[str]) -> list[int]:
        """The numbers of a target's words and its end; those of words that can only be copied follow the vocabulary."""
        others = {word: len(self.words) + at for at, word in enumerate(beyond)} if self.task.unknown == "copy" else {}
        return [*(self.numbers.get(word, others.get(word, UNKNOWN)) for word in pair.known), END]

    def _read(self, before: Tensor, memory: DecoderState) -> tuple[Tensor, Tensor]:
        """The decoder over the words before each word, (batch, time), all at once, or one by one where it is fed."""
        if not self.task.feeding:
            said, _ = self.decoder(self._inputs(before), (memory.said, memory.cells))
            return self._look(said, memory.source)
        joined, shares = [], []
        for words in before.unbind(1):
            one, share, memory = self._next(words, memory)
            joined.append(one)
            shares.append(share)
        return torch.stack(joined, 1), torch.stack(shares, 1)

    def _next(self, words: Tensor, memory: DecoderState) -> tuple[Tensor, Tensor, DecoderState]:
        """One step: what was joined (rows, hidden), where it looked (rows, source time), and what is remembered."""
        inputs = self._inputs(words[:, None])
        if self.task.feeding:  # where it looked before matters for where to look next
            inputs = torch.cat([inputs, memory.joined[:, None]], 2)
        output, (said, cells) = self.decoder(inputs, (memory.said, memory.cells))
        joined, shares = self._look(output, memory.source)
        return joined[:, 0], shares[:, 0], replace(memory, said=said, cells=cells, joined=joined[:, 0])

    def _inputs(self, words: Tensor) -> Tensor:
        """The vectors of words; one beyond the vocabulary is not known."""
        known = torch.where(words < len(self.words), words, UNKNOWN)
        return cast(Tensor, self.dropout(self.table(known)))

    def _look(self, said: Tensor, source: EncodedSource) -> tuple[Tensor, Tensor]:
        """What the decoder says, (rows, time, hidden), joined with what it looks at; and where it looks."""
        shares = masked_softmax(said @ source.keys.transpose(1, 2), source.mask[:, None])
        joined = torch.tanh(self.join(torch.cat([shares @ source.states, said], 2)))
        return self.dropout(joined), shares


def _padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])
