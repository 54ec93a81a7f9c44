"""The span ranker against a plain one that loops over spans."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from firth.neural.device import CPU
from firth.tasks.coref import network as coref_network
from firth.tasks.coref.data import Document
from firth.tasks.coref.network import LEAST, SpanRanker
from firth.tasks.coref.task import Coref
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import sequence_mask

SMALL = Coref(
    hidden=5,
    feedforward=7,
    features=3,
    widest=3,
    kept=0.8,
    antecedents=250,
    choice="nearest",
    dropout=0.0,
    word_dropout=0.0,
    guided=False,
    mention_loss=0.0,
)
LENGTHS = torch.tensor([4, 2, 0, 5])
GOLD = Document(
    (("w",) * 4, ("w",) * 2, (), ("w",) * 5),
    (((0, 1), (4, 6), (9, 10)), ((1, 3), (6, 7)), ((10, 11),)),
    ("Ann",) * 4 + ("",) + ("Bob",) * 3 + ("Ann",) * 3,
    "news",
)


def text(lengths: Tensor = LENGTHS, size: int = 6, extra: int = 0, padding: int = 0) -> Text:
    time = int(lengths.max()) + padding
    mask = sequence_mask(lengths, time)
    numbers = torch.randn(int(mask.sum()), size + extra, generator=torch.Generator().manual_seed(3))
    filled = torch.zeros(len(lengths), time, size + extra).masked_scatter(mask[:, :, None], numbers)
    return Text(filled[:, :, :size], lengths, mask, filled[:, :, size:] if extra else None)


def network(task: Coref = SMALL, extra: int = 0) -> SpanRanker:
    torch.manual_seed(1)
    made = task.network(Sizes(6, extra), {"genres": ["news"]})
    assert isinstance(made, SpanRanker)
    return made


def plain_spans(ranker: SpanRanker, given: Text) -> tuple[list[tuple[int, int]], list[Tensor]]:
    """All spans of each sentence, first and last word, and their vectors, one by one."""
    encoded = given.with_extra(ranker.encoder(given.vectors, given.lengths))
    spans, vectors, before = [], [], 0
    for row, length in enumerate(given.lengths.tolist()):
        for start in range(length):
            for last in range(start, min(length, start + ranker.task.widest)):
                states, words = encoded[row, start : last + 1], given.vectors[row, start : last + 1]
                head = torch.softmax(ranker.head(states)[:, 0], 0) @ words
                vectors.append(torch.cat([states[0], states[-1], head, ranker.widths.weight[last - start]]))
                spans.append((before + start, before + last))
        before += length
    return spans, vectors


def plain_pair(
    ranker: SpanRanker, document: Document, mentions: list[tuple[tuple[int, int], Tensor]], i: int, j: int
) -> Tensor:
    (one, g_i), (other, g_j) = mentions[i], mentions[j]
    groups = [0, 1, 2, 3, 4, 5, 5, 5] + [6] * 8 + [7] * 16
    speakers = document.speakers or ("",) * 99
    same = 0 if "" in (speakers[one[0]], speakers[other[0]]) else 1 + (speakers[one[0]] == speakers[other[0]])
    genre = ranker.genre.weight[ranker.genres.get(document.genre or "", 0)]
    features = ranker.distances.weight[groups[i - j]], ranker.speakers.weight[same], genre
    score = ranker.mention(g_i) + ranker.mention(g_j) + ranker.pair(torch.cat([g_i, g_j, g_i * g_j, *features]))
    return score if ranker.quick is None else score + ranker.quick(g_i) @ g_j * len(g_i) ** -0.5


def plain_loss(ranker: SpanRanker, given: Text, document: Document) -> Tensor:
    """-log of the probability of all true antecedents, a loop over mentions and what stands before them."""
    spans, vectors = plain_spans(ranker, given)
    kept, _ = ranker.mentions(given)
    chosen = [spans.index(span) for span in zip(kept.starts.tolist(), kept.lasts.tolist())]
    mentions = [(spans[place], vectors[place]) for place in chosen]
    ids = {
        (start, end - 1): number
        for number, cluster in enumerate(document.clusters or ())
        for start, end in cluster
        if len(cluster) > 1 or ranker.task.singletons
    }
    total = torch.zeros(())
    for i, (span, _) in enumerate(mentions):
        before = range(max(0, i - ranker.task.antecedents), i)
        scores = torch.stack([torch.zeros(()), *(plain_pair(ranker, document, mentions, i, j) for j in before)])
        true = [at for at, j in enumerate(before, 1) if span in ids and ids[span] == ids.get(mentions[j][0])]
        total = total - torch.log(torch.softmax(scores, 0)[true or [0]].sum())
    total = total / len(mentions)
    if ranker.task.mention_loss:
        scores = torch.stack([ranker.mention(vector) for vector in vectors]) + ranker.rarity
        true_mentions = torch.tensor([float(span in ids) for span in spans])
        guessed = functional.binary_cross_entropy_with_logits(scores, true_mentions, reduction="sum")
        total = total + ranker.task.mention_loss * guessed / len(mentions)
    return total


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"antecedents": 2},
        {"choice": "best"},
        {"singletons": True, "mention_loss": 0.5},
        {"speakers": False, "layers": 2},
    ],
)
@pytest.mark.parametrize("extra", [0, 4])
def test_the_loss_is_that_of_looping_over_spans(options: dict[str, object], extra: int) -> None:
    ranker, given = network(replace(SMALL, **options), extra), text(extra=extra)
    document = GOLD if ranker.task.speakers else replace(GOLD, speakers=None)
    plain = plain_loss(ranker, given, document)
    loss = ranker.loss((given,), [GOLD])
    assert loss.item() == pytest.approx(plain.item(), rel=1e-4)
    expected = torch.autograd.grad(plain, list(ranker.parameters()), allow_unused=True)
    found = torch.autograd.grad(loss, list(ranker.parameters()), allow_unused=True)
    for (name, _), one, other in zip(ranker.named_parameters(), found, expected):
        one = torch.zeros(()) if one is None else one
        other = torch.zeros_like(one) if other is None else other
        assert torch.allclose(one, other, atol=2e-5, rtol=1e-3), name


def test_mentions_are_the_best_spans_by_their_scores() -> None:
    ranker, given = network(), text()
    spans, vectors = plain_spans(ranker, given)
    kept, every = ranker.mentions(given)
    scores = torch.stack([ranker.mention(vector) for vector in vectors])
    assert list(zip(every.starts.tolist(), every.lasts.tolist())) == spans
    assert torch.allclose(every.scores, scores, atol=1e-5)
    assert len(kept.starts) == LEAST == 10  # more than 0.8 · 11
    for start, last, vector in zip(kept.starts.tolist(), kept.lasts.tolist(), kept.vectors):
        assert torch.allclose(vector, vectors[spans.index((start, last))], atol=1e-5)


def test_blocks_of_pairs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ranker, given = network(), text()
    whole = ranker.loss((given,), [GOLD])
    monkeypatch.setattr(coref_network, "work_sizes", lambda device: replace(CPU, pair_products=100))
    assert torch.allclose(ranker.loss((given,), [GOLD]), whole, atol=1e-6)


def test_padding_changes_nothing() -> None:
    ranker = network(replace(SMALL, singletons=True, mention_loss=1.0)).eval()
    near, far = text(), text(padding=7)
    [one], [other] = ranker.answers((near,), [GOLD]), ranker.answers((far,), [GOLD])
    assert one["clusters"] == other["clusters"]
    for shares, others in zip(one["probabilities"], other["probabilities"], strict=True):
        assert shares == pytest.approx(others, abs=1e-5)
    assert torch.allclose(ranker.loss((near,), [GOLD]), ranker.loss((far,), [GOLD]), atol=1e-6)


def test_training_reads_a_part_of_a_long_document_and_keeps_its_true_mentions() -> None:
    """Two of four sentences: the mentions of a window are those of the document, counted from its first word."""
    ranker = network(replace(SMALL, sentences=2, guided=True, kept=0.6)).train()
    torch.manual_seed(4)
    part, first = ranker._sample_sentences(text())
    assert len(part.lengths) == 2
    assert first in (0, 4, 6)
    assert torch.equal(part.vectors[part.mask], text().vectors[text().mask][first : first + int(part.lengths.sum())])
    gold = torch.tensor([[0, 0, 0], [1, 2, 1]])
    kept, _ = ranker.mentions(text(), gold)
    assert {(0, 0), (1, 2)} <= set(zip(kept.starts.tolist(), kept.lasts.tolist()))
    assert ranker.loss((text(),), [GOLD]).isfinite()
    assert ranker.eval()._sample_sentences(text())[1] == 0
    assert len(ranker._sample_sentences(text())[0].lengths) == 4


def test_clusters_follow_the_links() -> None:
    """Mentions that lead to one another, over any number of links, are one cluster; words are counted from 0."""
    ranker = network(replace(SMALL, kept=2.0)).eval()
    found = ranker.answers((text(),), [GOLD])[0]["clusters"]
    for cluster in found:
        assert len(cluster) > 1
        assert cluster == sorted(cluster)
        assert all(0 <= start < end <= 11 for start, end in cluster)
    with_single = network(replace(SMALL, singletons=True, mention_loss=1.0, kept=2.0)).eval()
    torch.nn.init.constant_(with_single.mention.last.bias, 50.0)  # every span is a mention
    torch.nn.init.constant_(with_single.pair.last.bias, -200.0)  # and none has an antecedent
    alone = with_single.answers((text(),), [GOLD])[0]["clusters"]
    assert alone
    assert all(len(cluster) == 1 for cluster in alone)


def test_widths_beyond_the_longest_sentence_change_nothing() -> None:
    wide = network(replace(SMALL, widest=400))
    narrow = network(replace(SMALL, widest=5))
    narrow.load_state_dict({**wide.state_dict(), "widths.weight": wide.widths.weight[:5]})
    with torch.no_grad():
        assert wide.eval().answers((text(),), [GOLD]) == narrow.eval().answers((text(),), [GOLD])
        found, _ = wide.mentions(text())
    assert int((found.lasts - found.starts).max()) < 5


def test_a_text_without_words_has_no_clusters() -> None:
    task = Coref()
    (empty,) = task.ask("")
    blank = text(torch.tensor([0]), padding=1)
    assert network().answers((blank,), [empty]) == [task.no_answer]
    assert network().loss((blank,), [empty]).item() == 0
    told = {"input": 0, "text": "", "tokens": [], "bracketed": "", "clusters": []}
    assert task.describe(empty, task.no_answer) == told
    assert task.rows(told) == [[0, *[None] * 8]]


def test_a_mention_is_linked_to_the_best_antecedent_of_its_own_gender() -> None:
    """he, she, her: the third prefers the first, whose cluster is masculine."""
    places = torch.tensor([[0, 0], [0, 0], [0, 1]])
    exists = torch.ones(3, 2, dtype=torch.bool).tril(-1)
    ranking = coref_network.Ranking(places, exists, torch.tensor([[-1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]))
    assert coref_network.link_mentions(ranking, [None, None, None]) == [0, 0, 0]
    assert coref_network.link_mentions(ranking, ["masculine", "feminine", "feminine"]) == [0, 1, 1]
    assert coref_network.link_mentions(ranking, ["masculine", None, "feminine"]) == [0, 0, 2]  # no cluster fits
    assert coref_network.link_mentions(ranking, ["masculine", None, "masculine"]) == [0, 0, 0]


def test_a_mention_has_the_total_probability_of_the_antecedents_in_its_cluster() -> None:
    """Three mentions of one cluster and one outside it, by hand; P(none) is that of the first."""
    odds = torch.tensor([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.0, 2.0, 0.0], [4.0, 1.0, 3.0]])  # against 1 for none
    places = torch.tensor([[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 2]])
    exists = torch.ones(4, 3, dtype=torch.bool).tril(-1)
    ranking = coref_network.Ranking(places, exists, torch.where(exists, odds.log(), -1e9))
    shares = network()._link_probabilities(ranking, [0, 0, 1, 0])
    assert shares == pytest.approx([1, 3 / 4, 1 / 4, 5 / 9])
