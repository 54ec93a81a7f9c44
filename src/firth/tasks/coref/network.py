"""End-to-end span ranking (Lee et al. 2017): every span may be a mention, and each mention looks for one before it.

A span is what the LSTM says at its first and its last word, the mean of its words weighted by attention (its head), and
how wide it is. One network scores spans as mentions; the best λ for each word are kept. Another scores pairs:

    s(i, j) = mention(i) + mention(j) + pair(i, j)        s(i, none) = 0

and training raises the probability of all true antecedents of i together. The first layers are linear in the parts of a
span, so they are applied to words, not to spans: mentions of a long document are scored without ever building them.

Which spans there are and which are kept is worked out on the CPU, so that a step waits for a GPU once: for the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from firth.tasks.coref import spans as spans
from firth.tasks.coref.data import Document
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, VariationalDropout, masked_softmax, sequence_mask

if TYPE_CHECKING:
    from firth.tasks.coref.task import Coref

LEAST = 10  # mentions that are kept of a text of a sentence or two
BLOCK, GPU_BLOCK = 1 << 23, 1 << 26  # numbers of the products of pairs that are held at once
RARE = -4.0  # the log-odds of a span being a mention, before anything is learnt: about one in fifty is


class Candidates(NamedTuple):
    """All spans of a document that may be mentions."""

    starts: Tensor  # (candidates), on the CPU, as are the last words
    lasts: Tensor
    scores: Tensor


class Mentions(NamedTuple):
    """The spans of a document that were kept, in the order of the text."""

    starts: Tensor  # (kept), on the CPU, as are the last words
    lasts: Tensor
    scores: Tensor
    vectors: Tensor  # (kept, span)


class MentionFeatures(NamedTuple):
    """What is known of mentions beside their words."""

    speakers: Tensor  # (kept), the number of who speaks, 0 where it is not known
    genre: Tensor  # (1)


class AntecedentCandidates(NamedTuple):
    """The antecedents that each mention may have, and which of these pairs are looked at closely."""

    places: Tensor  # (kept, antecedents), in the list of mentions
    there: Tensor  # the first mention has none
    rows: Tensor  # (pairs)
    columns: Tensor
    quick: Tensor | None  # (kept, antecedents), what a quick look scored


class Ranking(NamedTuple):
    """The antecedents of each mention: which they are, whether they are there, and their scores."""

    places: Tensor  # (kept, antecedents), in the list of mentions
    there: Tensor
    scores: Tensor

    def with_none(self) -> Tensor:
        """The scores, (kept, 1 + antecedents): first that of having no antecedent, which is 0."""
        return torch.cat([torch.zeros_like(self.scores[:, :1]), self.scores], 1)


class Scorer(nn.Module):
    """Two hidden layers and one number. What it looks at has parts, which its first layer takes one by one.

    >>> scorer = Scorer([2, 3], 4, 0.0)
    >>> one, other = torch.ones(5, 2), torch.ones(5, 3)
    >>> in_parts = scorer.finish(scorer.part(0, one) + scorer.part(1, other))
    >>> bool((in_parts - scorer(torch.cat([one, other], 1))).abs().max() < 1e-6)
    True
    """

    def __init__(self, parts: Sequence[int], hidden: int, dropout: float) -> None:
        super().__init__()
        self.parts = tuple(parts)
        self.first, self.second = nn.Linear(sum(parts), hidden), nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, 1)
        for layer in (self.first, self.second, self.last):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Tensor) -> Tensor:
        """The scores of vectors (..., all parts), (...)."""
        return self.finish(functional.linear(vectors, self.first.weight))

    def part(self, number: int, vectors: Tensor) -> Tensor:
        """What one part alone adds in the first layer."""
        start = sum(self.parts[:number])
        return functional.linear(vectors, self.first.weight[:, start : start + self.parts[number]])

    def finish(self, added: Tensor) -> Tensor:
        """The scores, from what all parts added."""
        hidden = self.dropout(torch.relu(added + self.first.bias))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        scores: Tensor = self.last(hidden)
        return scores.squeeze(-1)


class SpanRanker(nn.Module):
    """The network of the task, which has its sizes."""

    def __init__(self, task: Coref, sizes: Sizes, genres: Sequence[str]) -> None:
        super().__init__()
        self.task, self.genres = task, {genre: number for number, genre in enumerate(genres, 1)}
        said, features = 2 * task.hidden + sizes.extra, task.features
        span = 2 * said + sizes.input + features
        self.word_dropout, self.said_dropout = VariationalDropout(task.word_dropout), VariationalDropout(task.dropout)
        self.encoder = Bidirectional(sizes.input, task.hidden, layers=task.layers)
        self.head = nn.Linear(said, 1)
        self.widths = nn.Embedding(task.widest, features)
        self.mention = Scorer([said, said, sizes.input, features], task.feedforward, task.dropout)
        self.rarity = nn.Parameter(torch.tensor(RARE))  # apart, so that scores of mentions begin on a par with `none`
        self.distances = nn.Embedding(spans.FARTHEST + 1, features)
        self.speakers = nn.Embedding(3, features)  # not known, another, the same
        self.genre = nn.Embedding(len(genres) + 1, features)
        self.pair = Scorer([span, span, span, features, features, features], task.feedforward, task.dropout)
        self.quick = nn.Linear(span, span, bias=False) if task.choice == "best" else None
        if self.quick is not None:
            nn.init.normal_(self.quick.weight, 0, span**-0.5)

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Document]) -> Tensor:
        """The mean over mentions of -log P(one of the true antecedents); in training of a part of a long document."""
        text, first = self._part(texts[0])
        if not int(text.lengths.sum()):
            return text.vectors.sum() * 0
        gold = _gold(examples[0], first, least=1 if self.task.singletons else 2)
        mentions, every = self.mentions(text, gold if self.training and self.task.guided else None)
        ranking = self.rank(mentions, self._facts(examples[0], mentions, first))
        clusters = spans.cluster_numbers(mentions.starts, mentions.lasts, gold).to(mentions.vectors.device)
        true = ranking.there & (clusters[ranking.places] == clusters[:, None]) & (clusters >= 0)[:, None]
        allowed = torch.cat([~true.any(1, keepdim=True), true], 1)
        scores = ranking.with_none()
        likely = torch.logsumexp(scores.masked_fill(~allowed, torch.finfo(scores.dtype).min), 1)
        loss = (torch.logsumexp(scores, 1) - likely).mean()
        if not self.task.mention_loss:
            return loss
        # Antecedents say nothing of mentions that stand alone, and little of any before the first links are learnt.
        is_mention = (spans.cluster_numbers(every.starts, every.lasts, gold) >= 0).to(scores)
        odds = every.scores + self.rarity
        wrong = functional.binary_cross_entropy_with_logits(odds, is_mention, reduction="sum")
        return loss + self.task.mention_loss * wrong / len(mentions.starts)

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Document]) -> list[list[list[list[int]]]]:
        """The clusters of the document: lists of mentions, each [first word, word behind the last]."""
        text = texts[0]
        if not int(text.lengths.sum()):
            return [[]]
        mentions, _ = self.mentions(text)
        ranking = self.rank(mentions, self._facts(examples[0], mentions, 0))
        best = ranking.with_none().argmax(1)
        later = best.nonzero()[:, 0]
        earlier = ranking.places[later, best[later] - 1]
        clusters: dict[int, list[list[int]]] = {}
        alone: set[int] = set()
        rows = zip(mentions.starts.tolist(), mentions.lasts.tolist(), (mentions.scores + self.rarity).tolist())
        for number, (start, last, odds) in zip(connect(len(best), later, earlier), rows):
            clusters.setdefault(number, []).append([start, last + 1])
            if self.task.singletons and odds > 0:
                alone.add(number)
        return [[cluster for number, cluster in clusters.items() if len(cluster) > 1 or number in alone]]

    def mentions(self, text: Text, gold: Tensor | None = None) -> tuple[Mentions, Candidates]:
        """The spans that are kept, and all that might have been; those of `gold` are kept whatever their scores."""
        device, time = text.vectors.device, text.vectors.shape[1]
        vectors = self.word_dropout(text.vectors)
        encoded = self.said_dropout(text.with_extra(self.encoder(vectors, text.lengths)))
        inner = sequence_mask(text.lengths, time).flatten().nonzero()[:, 0].to(device)
        words, said = vectors.flatten(0, 1)[inner], encoded.flatten(0, 1)[inner]  # (words, input), (words, said)
        reached, inside = spans.enumerate_spans(text.lengths, self.task.widest)
        starts, widths = inside.nonzero().unbind(1)
        lasts = reached[starts, widths]
        places = reached.to(device)
        heads = self._heads(said, places)
        added = self.mention.part(0, said)[:, None] + self.mention.part(1, said)[places]  # (words, widest, feedforward)
        added = added + heads @ self.mention.part(2, words)[places] + self.mention.part(3, self.widths.weight)
        scores = self.mention.finish(added[starts.to(device), widths.to(device)])
        count = min(len(starts), max(LEAST, int(self.task.kept * len(words))))
        kept = spans.best_spans(starts, lasts, self._chances(scores, starts, lasts, gold), count)
        first, last, width = (part[kept].to(device) for part in (starts, lasts, widths))
        head = (heads[first, width][:, None] @ words[places[first]]).squeeze(1)
        vectors = torch.cat([said[first], said[last], head, self.widths(width)], 1)
        every = Candidates(starts, lasts, scores)
        return Mentions(starts[kept], lasts[kept], scores[kept.to(device)], vectors), every

    def _chances(self, scores: Tensor, starts: Tensor, lasts: Tensor, gold: Tensor | None) -> Tensor:
        """The scores, on the CPU, by which spans are kept: those of `gold` are above all others."""
        chances = scores.detach().cpu()
        if gold is None:
            return chances
        true = spans.cluster_numbers(starts, lasts, gold) >= 0
        return torch.where(true, chances + (chances.max() - chances.min() + 1), chances)

    def _heads(self, said: Tensor, places: Tensor) -> Tensor:
        """How much of each word is in the head of each span: (words, widths, widest), a softmax over the span."""
        logits = self.head(said)[places, 0]  # (words, widest)
        widest = places.shape[1]
        within = torch.ones(widest, widest, dtype=torch.bool, device=said.device).tril()
        return masked_softmax(logits[:, None].expand(-1, widest, -1), within)

    def rank(self, mentions: Mentions, facts: MentionFeatures) -> Ranking:
        """The scores of the antecedents that each mention may have."""
        places, there, later, column, quick = self._choose(mentions)
        earlier = places[later, column]
        scores = (
            mentions.scores[later] + mentions.scores[earlier] + self._pairs(mentions.vectors, facts, later, earlier)
        )
        if quick is not None:
            scores = scores + quick[later, column]
        lowest = torch.finfo(scores.dtype).min
        filled = scores.new_full(places.shape, lowest).index_put((later, column), scores)
        return Ranking(places, there, filled.masked_fill(~there, lowest))

    def _choose(self, mentions: Mentions) -> AntecedentCandidates:
        """The mentions before each one that may be its antecedent: the nearest ones or the best ones.

        Those are the best by a bilinear form, which all pairs can afford (Lee et al. 2018).
        """
        count, device = len(mentions.starts), mentions.vectors.device
        if self.quick is None:
            places, there = spans.nearest_antecedents(count, self.task.antecedents)
            rows, columns = there.nonzero().unbind(1)
            return AntecedentCandidates(places.to(device), there.to(device), rows.to(device), columns.to(device), None)
        before = torch.ones(count, count, dtype=torch.bool, device=device).tril(-1)
        # As short as the other scores: a form of two long vectors would drown them, and leap with every step.
        quick = self.quick(mentions.vectors) @ mentions.vectors.T * mentions.vectors.shape[1] ** -0.5
        ranked = (quick + mentions.scores).masked_fill(~before, torch.finfo(quick.dtype).min)
        most = min(self.task.antecedents, count)
        places = ranked.detach().topk(most, 1).indices
        # The few pairs that are not there are looked at too: to ask a GPU which these are would take longer.
        rows, columns = torch.cartesian_prod(*(torch.arange(size, device=device) for size in (count, most))).unbind(1)
        return AntecedentCandidates(places, before.gather(1, places), rows, columns, quick.gather(1, places))

    def _pairs(self, vectors: Tensor, facts: MentionFeatures, later: Tensor, earlier: Tensor) -> Tensor:
        """The scores of pairs of mentions, in blocks: their products are many, and are worked out again backwards."""
        as_later, as_earlier = self.pair.part(0, vectors), self.pair.part(1, vectors)
        distances, speakers = self.pair.part(3, self.distances.weight), self.pair.part(4, self.speakers.weight)
        genre = self.pair.part(5, self.genre(facts.genre))
        block = max(1, (GPU_BLOCK if vectors.is_cuda else BLOCK) // vectors.shape[1])
        scores = [vectors.new_zeros(0)]
        for i, j in zip(torch.split(later, block), torch.split(earlier, block)):
            one, other = facts.speakers[i], facts.speakers[j]
            same = torch.where((one == 0) | (other == 0), 0, 1 + (one == other).long())
            added = as_later[i] + as_earlier[j] + genre + distances[spans.distance_groups(i - j)] + speakers[same]
            products: Tensor = checkpoint(self._products, vectors, i, j, use_reentrant=False, preserve_rng_state=False)
            scores.append(self.pair.finish(added + products))
        return torch.cat(scores)

    def _products(self, vectors: Tensor, later: Tensor, earlier: Tensor) -> Tensor:
        return self.pair.part(2, vectors[later] * vectors[earlier])

    def _part(self, text: Text) -> tuple[Text, int]:
        """In training at most so many sentences, somewhere in the document, and the number of words before them."""
        most, there = self.task.sentences, len(text.lengths)
        if not self.training or there <= most:
            return text, 0
        start = int(torch.randint(there - most + 1, (1,)))
        rows = slice(start, start + most)
        longest = max(1, int(text.lengths[rows].max()))
        extra = None if text.extra is None else text.extra[rows, :longest]
        part = replace(
            text,
            vectors=text.vectors[rows, :longest],
            lengths=text.lengths[rows],
            mask=text.mask[rows, :longest],
            extra=extra,
        )
        return part, int(text.lengths[:start].sum())

    def _facts(self, document: Document, mentions: Mentions, first: int) -> MentionFeatures:
        """Of mentions whose words are counted from word `first` of the document."""
        device = mentions.vectors.device
        genre = torch.tensor([self.genres.get(document.genre or "", 0)], device=device)
        if document.speakers is None or not self.task.speakers:
            return MentionFeatures(torch.zeros(len(mentions.starts), dtype=torch.int64, device=device), genre)
        numbers = {"": 0}
        spoken = torch.tensor([numbers.setdefault(speaker, len(numbers)) for speaker in document.speakers])
        return MentionFeatures(spoken[mentions.starts + first].to(device), genre)


def connect(count: int, sources: Tensor, targets: Tensor) -> list[int]:
    """The numbers of the groups that links join `count` things to.

    >>> connect(4, torch.tensor([2, 3]), torch.tensor([0, 2]))
    [0, 1, 0, 0]
    """
    rows, columns = sources.cpu().numpy(), targets.cpu().numpy()
    links = coo_matrix((np.ones(len(rows), np.int8), (rows, columns)), shape=(count, count))
    numbers: list[int] = connected_components(links, directed=False)[1].tolist()
    return numbers


def _gold(document: Document, first: int, least: int) -> Tensor:
    """Rows (first word, last word, cluster), counted from word `first`; clusters have at least so many mentions."""
    rows = [
        (start - first, end - 1 - first, number)
        for number, cluster in enumerate(document.clusters or ())
        for start, end in cluster
        if len(cluster) >= least
    ]
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 3)
