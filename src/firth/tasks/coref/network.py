"""End-to-end span ranking (Lee et al. 2017): every span is a candidate mention with candidate antecedents before it.

A span is represented by the biLSTM states of its first and its last word, the mean of its words weighted by attention
(its head), and an embedding of its width. A mention scorer ranks the spans, and the best λ for each word are kept. A
pair scorer ranks their antecedents:

    s(i, j) = mention(i) + mention(j) + pair(i, j)        s(i, none) = 0

The loss is -log of the total probability of the gold antecedents of i. The first layer of each scorer is linear in the
parts of a span, so it is applied to words, not to spans: candidates are scored without building their vectors.

Candidate spans are enumerated and pruned on the CPU, so that a step synchronizes with a GPU once: for the scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from firth.neural.device import work_sizes
from firth.tasks.coref import spans
from firth.tasks.coref.data import Document
from firth.tasks.coref.gender import Gender, find_gender
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import (
    Bidirectional,
    VariationalDropout,
    initialize_linear,
    masked_softmax,
    require_finite,
    sequence_mask,
    take_few,
    take_rows,
)

if TYPE_CHECKING:
    from firth.tasks.coref.task import Coref

LEAST = 10  # mentions to keep of a short text
RARE = -4.0  # the initial log-odds of a span being a mention: about one in fifty is


class Candidates(NamedTuple):
    """All candidate spans of a document."""

    starts: Tensor  # (candidates), on the CPU, as are the last words
    lasts: Tensor
    scores: Tensor


class Mentions(NamedTuple):
    """The spans of a document that are kept as mentions, in the order of the text."""

    starts: Tensor  # (kept), on the CPU, as are the last words
    lasts: Tensor
    scores: Tensor
    vectors: Tensor  # (kept, span)


class MentionFeatures(NamedTuple):
    """Features of mentions beside their words."""

    speakers: Tensor  # (kept), 0 where the speaker is not known
    genre: Tensor  # (1)


class AntecedentCandidates(NamedTuple):
    """The candidate antecedents of each mention, and the pairs to score."""

    places: Tensor  # (kept, antecedents), indices of mentions
    exists: Tensor  # (kept, antecedents), false where a mention has fewer candidates
    rows: Tensor  # (pairs)
    columns: Tensor
    bilinear: Tensor | None  # (kept, antecedents), the scores by which they were chosen


class Ranking(NamedTuple):
    """The candidate antecedents of each mention with their scores."""

    places: Tensor  # (kept, antecedents), indices of mentions
    exists: Tensor
    scores: Tensor

    def with_none(self) -> Tensor:
        """The scores, (kept, 1 + antecedents), with that of having no antecedent, 0, first."""
        return torch.cat([torch.zeros_like(self.scores[:, :1]), self.scores], 1)


class Scorer(nn.Module):
    """A feed-forward network with two hidden layers and one output. Its first layer takes the parts of the input apart.

    >>> scorer = Scorer([2, 3], 4, 0.0)
    >>> first, second = torch.ones(5, 2), torch.ones(5, 3)
    >>> scores = scorer.finish(scorer.part(0, first) + scorer.part(1, second))
    >>> bool((scores - scorer(torch.cat([first, second], 1))).abs().max() < 1e-6)
    True
    """

    def __init__(self, parts: Sequence[int], hidden: int, dropout: float) -> None:
        super().__init__()
        self.parts = tuple(parts)
        self.first, self.second = nn.Linear(sum(parts), hidden), nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, 1)
        initialize_linear(self.first, self.second, self.last)
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Tensor) -> Tensor:
        """The scores of vectors (..., all parts), (...)."""
        return self.finish(functional.linear(vectors, self.first.weight))

    def part(self, number: int, vectors: Tensor) -> Tensor:
        """The contribution of one part to the first layer."""
        start = sum(self.parts[:number])
        return functional.linear(vectors, self.first.weight[:, start : start + self.parts[number]])

    def finish(self, total: Tensor) -> Tensor:
        """The scores, from the sum of the contributions of all parts."""
        hidden = self.dropout(torch.relu(total + self.first.bias))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        scores: Tensor = self.last(hidden)
        return scores.squeeze(-1)


class SpanRanker(nn.Module):
    """The network of the task."""

    def __init__(self, task: Coref, sizes: Sizes, genres: Sequence[str]) -> None:
        super().__init__()
        self.task, self.genres = task, {genre: id for id, genre in enumerate(genres, 1)}
        encoded, features = 2 * task.hidden + sizes.extra, task.features
        span = 2 * encoded + sizes.input + features
        self.word_dropout, self.dropout = VariationalDropout(task.word_dropout), VariationalDropout(task.dropout)
        self.encoder = Bidirectional(sizes.input, task.hidden, layers=task.layers)
        self.head = nn.Linear(encoded, 1)
        self.widths = nn.Embedding(task.widest, features)
        self.mention = Scorer([encoded, encoded, sizes.input, features], task.feedforward, task.dropout)
        self.rarity = nn.Parameter(torch.tensor(RARE))  # separate, so that mention scores start at 0, that of `none`
        self.distances = nn.Embedding(spans.FARTHEST + 1, features)
        self.speakers = nn.Embedding(3, features)  # unknown, different, same
        self.genre = nn.Embedding(len(genres) + 1, features)
        self.pair = Scorer([span, span, span, features, features, features], task.feedforward, task.dropout)
        self.quick = nn.Linear(span, span, bias=False) if task.choice == "best" else None
        if self.quick is not None:
            nn.init.normal_(self.quick.weight, 0, span**-0.5)

    def loss(self, texts: tuple[Text, ...], examples: Sequence[Document]) -> Tensor:
        """The mean over mentions of -log P(a gold antecedent). Training uses a part of a long document."""
        text, offset = self._sample_sentences(texts[0])
        if not int(text.lengths.sum()):
            return text.vectors.sum() * 0
        gold = _gold_mentions(examples[0], offset, least=1 if self.task.singletons else 2)
        mentions, candidates = self.mentions(text, gold if self.training and self.task.guided else None)
        ranking = self.rank(mentions, self._features(examples[0], mentions, offset))
        clusters = spans.cluster_ids(mentions.starts, mentions.lasts, gold).to(mentions.vectors.device)
        is_gold = ranking.exists & (clusters[ranking.places] == clusters[:, None]) & (clusters >= 0)[:, None]
        is_gold = torch.cat([~is_gold.any(1, keepdim=True), is_gold], 1)
        scores = ranking.with_none()
        gold_scores = torch.logsumexp(scores.masked_fill(~is_gold, torch.finfo(scores.dtype).min), 1)
        loss = (torch.logsumexp(scores, 1) - gold_scores).mean()
        if not self.task.mention_loss:
            return loss
        # The antecedent loss ignores singletons, and teaches little about mentions before the first links are learned.
        is_mention = (spans.cluster_ids(candidates.starts, candidates.lasts, gold) >= 0).to(scores)
        logits = candidates.scores + self.rarity
        mention_loss = functional.binary_cross_entropy_with_logits(logits, is_mention, reduction="sum")
        return loss + self.task.mention_loss * mention_loss / len(mentions.starts)

    def answers(self, texts: tuple[Text, ...], examples: Sequence[Document]) -> list[dict[str, Any]]:
        """The clusters of the document: lists of mentions, each [start, end]; and the probability of each mention.

        It is the sum of P(antecedent) over the mentions before it in its cluster. The first mention of a cluster has
        that of no antecedent, and a singleton that of being a mention.
        """
        text = texts[0]
        if not int(text.lengths.sum()):
            return [{"clusters": [], "probabilities": []}]
        mentions, candidates = self.mentions(text)
        require_finite(candidates.scores)
        ranking = self.rank(mentions, self._features(examples[0], mentions, 0))
        require_finite(ranking.scores)
        words = examples[0].words
        bounds = [[start, last + 1] for start, last in zip(mentions.starts.tolist(), mentions.lasts.tolist())]
        genders = [find_gender(words[start:end]) if self.task.gendered else None for start, end in bounds]
        ids = link_mentions(ranking, genders)
        members: dict[int, list[int]] = {}
        for place, id in enumerate(ids):
            members.setdefault(id, []).append(place)
        shares = self._link_probabilities(ranking, ids)
        logits = (mentions.scores + self.rarity).tolist()
        clusters, probabilities = [], []
        for places in members.values():
            if len(places) > 1:
                probabilities.append([shares[place] for place in places])
            elif self.task.singletons and logits[places[0]] > 0:
                probabilities.append([1 / (1 + math.exp(-logits[places[0]]))])
            else:
                continue
            clusters.append([bounds[place] for place in places])
        return [{"clusters": clusters, "probabilities": probabilities}]

    def _link_probabilities(self, ranking: Ranking, ids: list[int]) -> list[float]:
        """The total probability of the antecedents of each mention in its cluster; of none for its first mention."""
        cluster = torch.tensor(ids, device=ranking.places.device)
        together = ranking.exists & (cluster[ranking.places] == cluster[:, None])
        together = torch.cat([~together.any(1, keepdim=True), together], 1)
        shares: list[float] = (torch.softmax(ranking.with_none().double(), 1) * together).sum(1).clamp(max=1).tolist()
        return shares

    def mentions(self, text: Text, gold: Tensor | None = None) -> tuple[Mentions, Candidates]:
        """The spans that are kept, and all candidates; those of `gold` are kept whatever their scores."""
        device, time = text.vectors.device, text.vectors.shape[1]
        vectors = self.word_dropout(text.vectors)
        hidden = self.dropout(text.with_extra(self.encoder(vectors, text.lengths)))
        inside = sequence_mask(text.lengths, time).flatten().nonzero()[:, 0].to(device)
        words, encoded = vectors.flatten(0, 1)[inside], hidden.flatten(0, 1)[inside]  # (words, input), (words, encoded)
        widest = min(self.task.widest, time)  # no span is longer than its sentence
        last_words, is_span = spans.enumerate_spans(text.lengths, widest)
        starts, widths = is_span.nonzero().unbind(1)
        lasts = last_words[starts, widths]
        places = last_words.to(device)
        heads = self._head_weights(encoded, places)
        total = self.mention.part(0, encoded)[:, None] + take_rows(self.mention.part(1, encoded), places)
        total = total + heads @ take_rows(self.mention.part(2, words), places)
        total = total + self.mention.part(3, self.widths.weight[:widest])  # (words, widest, feedforward)
        candidates = (starts * widest + widths).to(device)
        scores = self.mention.finish(take_rows(total.flatten(0, 1), candidates))
        count = min(len(starts), max(LEAST, int(self.task.kept * len(words))))
        kept = spans.best_spans(starts, lasts, self._pruning_scores(scores, starts, lasts, gold), count)
        first, last, width = (part[kept].to(device) for part in (starts, lasts, widths))
        head = (heads[first, width][:, None] @ words[places[first]]).squeeze(1)
        span_vectors = torch.cat([encoded[first], encoded[last], head, self.widths(width)], 1)
        mentions = Mentions(starts[kept], lasts[kept], scores[kept.to(device)], span_vectors)
        return mentions, Candidates(starts, lasts, scores)

    def _pruning_scores(self, scores: Tensor, starts: Tensor, lasts: Tensor, gold: Tensor | None) -> Tensor:
        """The scores, on the CPU, by which spans are kept: those of `gold` are above all others."""
        scores = scores.detach().cpu()
        if gold is None:
            return scores
        is_gold = spans.cluster_ids(starts, lasts, gold) >= 0
        return torch.where(is_gold, scores + (scores.max() - scores.min() + 1), scores)

    def _head_weights(self, encoded: Tensor, places: Tensor) -> Tensor:
        """The attention weights of the words of each span: (words, widths, widest), a softmax over the span."""
        logits = take_rows(self.head(encoded)[:, 0], places)  # (words, widest)
        widest = places.shape[1]
        within = torch.ones(widest, widest, dtype=torch.bool, device=encoded.device).tril()
        return masked_softmax(logits[:, None].expand(-1, widest, -1), within)

    def rank(self, mentions: Mentions, features: MentionFeatures) -> Ranking:
        """The scores of the candidate antecedents of each mention."""
        places, exists, later, column, bilinear = self._choose_antecedents(mentions)
        earlier = places[later, column]
        scores = take_rows(mentions.scores, later) + take_rows(mentions.scores, earlier)
        scores = scores + self._pairs(mentions.vectors, features, later, earlier)
        if bilinear is not None:
            scores = scores + bilinear[later, column]
        lowest = torch.finfo(scores.dtype).min
        table = scores.new_full(places.shape, lowest).index_put((later, column), scores)
        return Ranking(places, exists, table.masked_fill(~exists, lowest))

    def _choose_antecedents(self, mentions: Mentions) -> AntecedentCandidates:
        """The candidate antecedents of each mention: the nearest before it, or the best by a bilinear score.

        The bilinear score is cheap enough for all pairs (Lee et al. 2018).
        """
        count, device = len(mentions.starts), mentions.vectors.device
        if self.quick is None:
            places, exists = spans.nearest_antecedents(count, self.task.antecedents)
            rows, columns = exists.nonzero().unbind(1)
            return AntecedentCandidates(
                places.to(device), exists.to(device), rows.to(device), columns.to(device), bilinear=None
            )
        before = torch.ones(count, count, dtype=torch.bool, device=device).tril(-1)
        # Scaled, because a bilinear form of two long vectors would dominate the other scores.
        bilinear = self.quick(mentions.vectors) @ mentions.vectors.T * mentions.vectors.shape[1] ** -0.5
        ranked = (bilinear + mentions.scores).masked_fill(~before, torch.finfo(bilinear.dtype).min)
        most = min(self.task.antecedents, count)
        places = ranked.detach().topk(most, 1).indices
        # The few pairs that do not exist are scored too: asking a GPU which these are would take longer.
        rows, columns = torch.cartesian_prod(*(torch.arange(size, device=device) for size in (count, most))).unbind(1)
        return AntecedentCandidates(places, before.gather(1, places), rows, columns, bilinear.gather(1, places))

    def _pairs(self, vectors: Tensor, features: MentionFeatures, later: Tensor, earlier: Tensor) -> Tensor:
        """The scores of pairs of mentions, in blocks. Their products are large: the backward pass recomputes them."""
        as_later, as_earlier = self.pair.part(0, vectors), self.pair.part(1, vectors)
        distances, speakers = self.pair.part(3, self.distances.weight), self.pair.part(4, self.speakers.weight)
        genre = self.pair.part(5, self.genre(features.genre))
        block = max(1, work_sizes(vectors.device).pair_products // vectors.shape[1])
        scores = [vectors.new_zeros(0)]
        for i, j in zip(torch.split(later, block), torch.split(earlier, block)):
            speaker_i, speaker_j = features.speakers[i], features.speakers[j]
            same = torch.where((speaker_i == 0) | (speaker_j == 0), 0, 1 + (speaker_i == speaker_j).long())
            total = take_rows(as_later, i) + take_rows(as_earlier, j) + genre
            total = total + take_few(distances, spans.distance_buckets(i - j)) + take_few(speakers, same)
            products: Tensor = checkpoint(self._products, vectors, i, j, use_reentrant=False, preserve_rng_state=False)
            scores.append(self.pair.finish(total + products))
        return torch.cat(scores)

    def _products(self, vectors: Tensor, later: Tensor, earlier: Tensor) -> Tensor:
        return self.pair.part(2, take_rows(vectors, later) * take_rows(vectors, earlier))

    def _sample_sentences(self, text: Text) -> tuple[Text, int]:
        """In training a random run of at most `sentences` sentences, and the number of words before it."""
        most, count = self.task.sentences, len(text.lengths)
        if not self.training or count <= most:
            return text, 0
        start = int(torch.randint(count - most + 1, (1,)))
        rows = slice(start, start + most)
        longest = max(1, int(text.lengths[rows].max()))
        return text.select(rows, longest), int(text.lengths[:start].sum())

    def _features(self, document: Document, mentions: Mentions, offset: int) -> MentionFeatures:
        """Of mentions whose words are counted from word `offset` of the document."""
        device = mentions.vectors.device
        genre = torch.tensor([self.genres.get(document.genre or "", 0)], device=device)
        if document.speakers is None or not self.task.speakers:
            return MentionFeatures(torch.zeros(len(mentions.starts), dtype=torch.int64, device=device), genre)
        ids = {"": 0}
        speakers = torch.tensor([ids.setdefault(speaker, len(ids)) for speaker in document.speakers])
        return MentionFeatures(speakers[mentions.starts + offset].to(device), genre)


def link_mentions(ranking: Ranking, genders: Sequence[Gender | None]) -> list[int]:
    """The cluster of each mention: that of its best antecedent, or a new one where none has a score above 0.

    An antecedent whose cluster has another gender is left out. Clusters are numbered by their first mention.

    >>> places, exists = torch.tensor([[0, 0], [0, 0], [0, 1]]), torch.ones(3, 2, dtype=torch.bool).tril(-1)
    >>> ranking = Ranking(places, exists, torch.tensor([[-9.0, -9.0], [-1.0, -9.0], [1.0, 2.0]]))
    >>> link_mentions(ranking, [None] * 3), link_mentions(ranking, [None, "masculine", "feminine"])
    ([0, 1, 1], [0, 1, 0])
    """
    order = torch.argsort(ranking.scores, dim=1, descending=True, stable=True)
    linked = (ranking.scores > 0) & ranking.exists
    candidates = [
        row_places[:count]
        for row_places, count in zip(ranking.places.gather(1, order).tolist(), linked.sum(1).tolist())
    ]
    clusters: list[int] = []
    gender_of: dict[int, Gender | None] = {}
    for mention, (places, gender) in enumerate(zip(candidates, genders)):
        known = (clusters[place] for place in places)
        fitting = (id for id in known if gender is None or gender_of[id] in (None, gender))
        id = next(fitting, mention)
        clusters.append(id)
        gender_of[id] = gender_of.get(id) or gender
    return clusters


def _gold_mentions(document: Document, offset: int, least: int) -> Tensor:
    """Rows (first word, last word, cluster), counted from word `offset`, of clusters of at least `least` mentions."""
    rows = [
        (start - offset, end - 1 - offset, id)
        for id, cluster in enumerate(document.gold)
        for start, end in cluster
        if len(cluster) >= least
    ]
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 3)
