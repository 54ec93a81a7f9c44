"""A tagger that was written for AllenNLP's `Elmo`, ported to firth: only the lines marked with # firth differ.

    python examples/allennlp_elmo.py                     the biLM that comes with firth, frozen
    python examples/allennlp_elmo.py --model FOLDER      the options.json and weights.hdf5 of AllenNLP, in one folder
    python examples/allennlp_elmo.py --fine-tune         the biLM is trained, too

The task: is a word like "play" or "book" a noun or a verb in its sentence? No word of it decides that by its spelling.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn

from firth import ElmoEmbedding, batch_to_ids  # firth  # from allennlp.modules.elmo import Elmo, batch_to_ids

TAGS = ["other", "noun", "verb"]
TRAIN = """
we saw a play/n at night | they play/v in the garden | the play/n was long | children play/v with the dog
he wrote a book/n | we book/v a room | the book/n is on the table | please book/v two seats
she gave an answer/n | they answer/v the letter | the answer/n was wrong | please answer/v the question
the walk/n was short | we walk/v to the river | a walk/n in the park | they walk/v along the road
a visit/n to the city | they visit/v the old church | his visit/n was a surprise | we visit/v our friends
the work/n is hard | they work/v at night | his work/n was good | we work/v in the city
he told a lie/n | they lie/v on the grass | the lie/n was known | the books lie/v on the table
the march/n was long | soldiers march/v through the town | a march/n to the sea | they march/v every day
"""
TEST = """
we watched the play/n | the boys play/v in the street | a new book/n about the war | you book/v the hotel
the answer/n was short | you answer/v the question | a long walk/n | the men walk/v to the town
the visit/n was short | the children visit/v the museum | the work/n was long | the women work/v in the garden
"""
Sentence = tuple[list[str], list[int]]


def read(text: str) -> list[Sentence]:
    """Sentences and the tags of their words: "a play/n" is two words, of which the second is a noun."""
    sentences = []
    for line in text.replace("\n", "|").split("|"):
        words = [word.partition("/") for word in line.split()]
        if words:
            tags = [{"": 0, "n": 1, "v": 2}[mark] for _, _, mark in words]
            sentences.append(([word for word, _, _ in words], tags))
    return sentences


class Tagger(nn.Module):
    """ELMo below a biLSTM and again above it, as in the paper: two mixes of the same layers."""

    def __init__(self, elmo: ElmoEmbedding, hidden: int = 32) -> None:
        super().__init__()
        self.elmo = elmo
        dim = elmo.get_output_dim()
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(2 * hidden + dim, len(TAGS))

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The scores of the tags, (batch, time, tags), and the mask of words, (batch, time)."""
        found = self.elmo(ids)
        below, above = found["elmo_representations"]
        hidden, _ = self.lstm(below)
        return self.scores(torch.cat([hidden, above], 2)), found["mask"]


def loss_of(tagger: Tagger, batch: list[Sentence]) -> Tensor:
    """The cross-entropy of the tags of the words; padding has no tag."""
    scores, mask = tagger(batch_to_ids([words for words, _ in batch]))
    gold = torch.tensor([tag for _, tags in batch for tag in tags])
    return nn.functional.cross_entropy(scores[mask], gold)  # firth: mask is boolean  # mask.bool()


@torch.no_grad()
def accuracy(tagger: Tagger, sentences: list[Sentence]) -> float:
    """The share of nouns and verbs with the right tag."""
    tagger.eval()
    scores, mask = tagger(batch_to_ids([words for words, _ in sentences]))
    gold = torch.tensor([tag for _, tags in sentences for tag in tags])
    found, is_asked = scores[mask].argmax(1), gold > 0
    return (found[is_asked] == gold[is_asked]).float().mean().item()


def train(tagger: Tagger, sentences: list[Sentence], epochs: int) -> None:
    """Adam on the tagger and the mixes and, with a smaller learning rate, on a biLM that is fine-tuned."""
    rest = [weight for name, weight in tagger.named_parameters() if "bilm" not in name and weight.requires_grad]
    bilm = [weight for weight in tagger.elmo.bilm.parameters() if weight.requires_grad]
    groups = [{"params": rest, "lr": 3e-3}, *([{"params": bilm, "lr": 1e-4}] if bilm else [])]
    optimizer = torch.optim.Adam(groups)
    order = random.Random(1)
    for _ in range(epochs):
        tagger.train()
        order.shuffle(sentences)
        for start in range(0, len(sentences), 8):
            optimizer.zero_grad()
            loss_of(tagger, sentences[start : start + 8]).backward()
            optimizer.step()


def main(arguments: list[str] | None = None) -> float:
    """Trains, tests, stores and opens the tagger again. Returns the accuracy on the test sentences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="elmo-en")
    parser.add_argument("--fine-tune", action="store_true")
    parser.add_argument("--epochs", type=int, default=20)
    options = parser.parse_args(arguments)
    torch.manual_seed(1)

    def make() -> Tagger:
        # elmo = Elmo(options_file, weight_file, num_output_representations=2, dropout=0.3, requires_grad=…)
        elmo = ElmoEmbedding(options.model, 2, dropout=0.3, requires_grad=options.fine_tune)  # firth
        return Tagger(elmo)

    tagger = make()
    before = accuracy(tagger, read(TEST))
    train(tagger, read(TRAIN), options.epochs)
    after = accuracy(tagger, read(TEST))
    print(f"nouns and verbs right: {before:.0%} before training, {after:.0%} after it")
    for name, mix in zip(("below", "above"), tagger.elmo.mixes):
        shares = ", ".join(f"{share:.3f}" for share in mix.shares.tolist())
        print(f"weights of the layers {name} the LSTM: {shares}")

    with tempfile.TemporaryDirectory() as folder:
        torch.save(tagger.state_dict(), Path(folder, "tagger.pt"))
        again = make()
        again.load_state_dict(torch.load(Path(folder, "tagger.pt"), weights_only=True))
    assert accuracy(again, read(TEST)) == after
    return after


if __name__ == "__main__":
    main()
