"""A bidirectional encoder and a decoder with attention and copying.

    attention = softmax(decoder · W · states)                           Luong et al. (2015)
    joined    = tanh(V · [attention · states ; decoder])
    P(word)   = (1 - copy) · softmax(U · joined) + copy · (attention to this word in the source)

The last line is the pointer-generator (See et al. 2017), which can copy words that are not in the vocabulary. Without
it, an unknown word is replaced by the source word with the highest attention, or generated as <unk>.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, final_states, masked_softmax, require_finite, sequence_mask
from firth.tasks.seq2seq import beam
from firth.tasks.seq2seq.data import Seq2SeqExample

if TYPE_CHECKING:
    from firth.tasks.seq2seq.task import Seq2Seq

MARKS = ("<s>", "</s>", "<unk>")
BEGIN, END, UNKNOWN = range(3)
TINY = 1e-10


@dataclass(frozen=True)
class EncodedSource:
    """What the decoder attends to. The source's words outside the vocabulary have ids after those of the vocabulary."""

    states: Tensor  # (batch, time, states)
    keys: Tensor  # (batch, time, hidden)
    mask: Tensor  # (batch, time)
    ids: Tensor  # (batch, time)
    unknown: list[list[str]]  # the words of each source that are not in the vocabulary

    def repeat(self, times: int) -> EncodedSource:
        """Each source `times` times, adjacent."""
        unknown = [words for words in self.unknown for _ in range(times)]
        tensors = {name: getattr(self, name).repeat_interleave(times, 0) for name in ("states", "keys", "mask", "ids")}
        return EncodedSource(**tensors, unknown=unknown)


@dataclass(frozen=True)
class DecoderState:
    """The state of the decoder for each row; the rows of a beam share a source, so selecting rows keeps it in place."""

    source: EncodedSource
    hidden: Tensor  # (layers, rows, hidden)
    cell: Tensor
    joined: Tensor  # (rows, hidden)

    def rows(self, places: Tensor) -> DecoderState:
        """The state of these rows."""
        return replace(self, hidden=self.hidden[:, places], cell=self.cell[:, places], joined=self.joined[places])

    def repeat(self, times: int) -> DecoderState:
        """Each row `times` times, adjacent, with its source."""
        places = torch.arange(len(self.joined), device=self.joined.device).repeat_interleave(times)
        return replace(self.rows(places), source=self.source.repeat(times))


class EncoderDecoder(nn.Module):
    """The network of the task. `words` is the vocabulary of the decoder."""

    def __init__(self, task: Seq2Seq, sizes: Sizes, words: Sequence[str]) -> None:
        super().__init__()
        self.task, self.words = task, (*MARKS, *words)
        self.ids = {word: id for id, word in enumerate(self.words)}
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
        """The hidden states of each encoder layer, (batch, time, 2 · hidden): the vectors of CoVe."""
        hidden, layers = text.vectors, []
        for layer in self.encoder:
            hidden = layer(hidden, text.lengths)
            layers.append(hidden)
        return layers

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Seq2SeqExample]) -> Tensor:
        """-log P(word | source, words before it), the mean over the words of the targets and their ends."""
        state = self.encode(texts[0], examples)
        rows = [self._target_ids(example, unknown) for example, unknown in zip(examples, state.source.unknown)]
        longest = max(map(len, rows))
        targets = torch.tensor([[*row, *[END] * (longest - len(row))] for row in rows]).to(state.hidden.device)
        mask = sequence_mask(torch.tensor([len(row) for row in rows]), longest).to(targets.device)
        previous = torch.cat([torch.full_like(targets[:, :1], BEGIN), targets[:, :-1]], 1)
        log_probs = self._log_probs(*self._decode(previous, state), state.source, targets)
        return -(log_probs * mask).sum() / mask.sum()

    def _log_probs(self, joined: Tensor, attention: Tensor, source: EncodedSource, targets: Tensor) -> Tensor:
        """log P of the targets, (batch, target time)."""
        vocabulary = torch.log_softmax(self.say(joined), 2)
        is_unknown = targets >= len(self.words)
        generated = vocabulary.gather(2, targets.masked_fill(is_unknown, UNKNOWN)[:, :, None])[:, :, 0]
        if self.task.unknown != "copy":
            return generated
        copy_logits = self.copied(joined)[:, :, 0]
        lowest = torch.finfo(generated.dtype).min / 2
        generated = (generated + functional.logsigmoid(-copy_logits)).masked_fill(is_unknown, lowest)
        copied = (attention * (source.ids[:, None] == targets[:, :, None]) * source.mask[:, None]).sum(2)
        return torch.logaddexp(generated, functional.logsigmoid(copy_logits) + torch.log(copied + TINY))

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Seq2SeqExample]) -> list[dict[str, Any]]:
        """The best text for each source, its words separated by spaces, and its probability given the source."""
        best = [found[0] for found in self.search(texts[0], examples, width=self.task.beam)]
        return [{"text": text, "probability": self._probability(text, score)} for text, score in best]

    def _probability(self, text: str, score: float) -> float:
        """P of a text from its score, log P / length ** length_penalty; its end counts as a word."""
        length = len(text.split(" ")) + 1 if text else 1
        return min(1.0, math.exp(score * length**self.task.length_penalty))

    def search(self, text: Text, examples: Sequence[Seq2SeqExample], width: int) -> list[list[tuple[str, float]]]:
        """The `width` best texts for each source with their scores, log P / length ** length_penalty."""
        state = self.encode(text, examples)
        best = beam.search(
            self.step,
            state.repeat(width),
            torch.full((len(examples),), BEGIN, device=state.hidden.device),
            end=END,
            width=width,
            longest=self.task.longest,
            penalty=self.task.length_penalty,
        )
        require_finite(best.scores[:, 0])
        results = []
        for rows, scores, unknown in zip(best.words.tolist(), best.scores.tolist(), state.source.unknown):
            words = [*self.words, *unknown]
            texts = [" ".join(words[id] for id in row if id >= 0) for row in rows]
            results.append(list(zip(texts, scores)))
        return results

    def step(self, ids: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """The log-probabilities of the words after `ids` (rows), those of unknown source words last."""
        joined, attention, state = self._decode_step(ids, state)
        source = state.source
        most_unknown = max(map(len, source.unknown), default=0)
        probabilities = functional.pad(torch.softmax(self.say(joined), 1), (0, most_unknown))
        if self.task.unknown == "copy":
            copy = torch.sigmoid(self.copied(joined))
            probabilities = (probabilities * (1 - copy)).scatter_add(1, source.ids, copy * attention)
        excluded = [BEGIN]
        if self.task.unknown != "keep":  # <unk> becomes the source word with the highest attention
            attended = source.ids.gather(1, attention.argmax(1, keepdim=True))
            probabilities = probabilities.scatter_add(1, attended, probabilities[:, UNKNOWN, None])
            excluded.append(UNKNOWN)
        log_probs = torch.log(probabilities.clamp(min=TINY))
        log_probs[:, excluded] = -torch.inf
        return log_probs, state

    def encode(self, text: Text, examples: Sequence[Seq2SeqExample]) -> DecoderState:
        """The state of the decoder before its first word."""
        top = self.states(text)[-1]
        states = text.with_extra(top)
        unknown: list[list[str]] = []
        ids = torch.full(text.mask.shape, UNKNOWN)
        for row, example in zip(ids, examples):
            unknown.append(list(dict.fromkeys(word for word in example.source if word not in self.ids)))
            copied = self._unknown_ids(unknown[-1])
            source_ids = [self.ids.get(word, copied.get(word, 0)) for word in example.source]
            row[: len(source_ids)] = torch.tensor(source_ids)
        source = EncodedSource(states, self.keys(states), text.mask, ids.to(states.device), unknown)
        initial = torch.tanh(self.first(final_states(top, text.lengths)))
        hidden, cell = initial.reshape(len(examples), 2, self.task.layers, -1).permute(1, 2, 0, 3).contiguous()
        return DecoderState(source, hidden, cell, hidden.new_zeros(hidden.shape[1:]))

    def _unknown_ids(self, words: Sequence[str]) -> dict[str, int]:
        """The ids of a source's words outside the vocabulary, which follow those of the vocabulary."""
        return {word: len(self.words) + number for number, word in enumerate(words)}

    def _target_ids(self, example: Seq2SeqExample, unknown: Sequence[str]) -> list[int]:
        """The ids of a target's words and its end."""
        copied = self._unknown_ids(unknown) if self.task.unknown == "copy" else {}
        return [*(self.ids.get(word, copied.get(word, UNKNOWN)) for word in example.gold), END]

    def _decode(self, previous: Tensor, state: DecoderState) -> tuple[Tensor, Tensor]:
        """Joined vectors and attention at each step, given the previous words (batch, time)."""
        if not self.task.feeding:
            hidden, _ = self.decoder(self._embed(previous), (state.hidden, state.cell))
            return self._attend(hidden, state.source)
        joined, attention = [], []
        for ids in previous.unbind(1):
            step_joined, step_attention, state = self._decode_step(ids, state)
            joined.append(step_joined)
            attention.append(step_attention)
        return torch.stack(joined, 1), torch.stack(attention, 1)

    def _decode_step(self, ids: Tensor, state: DecoderState) -> tuple[Tensor, Tensor, DecoderState]:
        """One step: the joined vectors (rows, hidden), the attention (rows, source time), and the next state."""
        inputs = self._embed(ids[:, None])
        if self.task.feeding:  # input feeding: past attention informs the next
            inputs = torch.cat([inputs, state.joined[:, None]], 2)
        output, (hidden, cell) = self.decoder(inputs, (state.hidden, state.cell))
        joined, attention = self._attend(output, state.source)
        return joined[:, 0], attention[:, 0], replace(state, hidden=hidden, cell=cell, joined=joined[:, 0])

    def _embed(self, ids: Tensor) -> Tensor:
        """The vectors of words; a word outside the vocabulary is <unk>."""
        known = torch.where(ids < len(self.words), ids, UNKNOWN)
        return cast(Tensor, self.dropout(self.table(known)))

    def _attend(self, hidden: Tensor, source: EncodedSource) -> tuple[Tensor, Tensor]:
        """The decoder's output (rows, time, hidden) joined with the attended source states; and the attention."""
        attention = masked_softmax(hidden @ source.keys.transpose(1, 2), source.mask[:, None])
        joined = torch.tanh(self.join(torch.cat([attention @ source.states, hidden], 2)))
        return self.dropout(joined), attention
