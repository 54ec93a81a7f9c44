"""The biLM of ELMo: a forward and a backward language model over one word encoder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from firth.arguments import checked
from firth.errors import OptionError
from firth.neural import language
from firth.neural.adaptive_softmax import AdaptiveSoftmax
from firth.neural.architecture import Architecture
from firth.neural.inference import embed as embedding
from firth.neural.inference.cache import WeightCache
from firth.neural.inference.token_vectors import TokenVectors
from firth.neural.initialization import draw
from firth.neural.layers import CharacterCnn, CharacterRnn, Encoder, LexiconCnn, ProjectedLstm, WordEmbedding
from firth.neural.state import BiLMState
from firth.neural.training import perplexity as surprise
from firth.pooling import encode_texts
from firth.serialization import Parts
from firth.show import notebook
from firth.text.character_ids import BEGIN, END
from firth.text.coverage import Coverage, measure
from firth.text.model_tokenizer import ModelTokenizer, Sentences
from firth.text.vocabulary import Vocabulary


@checked
class BiLM(nn.Module, notebook.FactSheet):
    """A bidirectional language model, whose layers are the vectors of ELMo. `firth.load` opens one.

    `vocabulary` has the words that its softmax predicts, where it has a softmax; `words` those of its word embedding;
    `characters` the letters of a model of ELMoForManyLangs.

    >>> bilm = BiLM(Architecture.named("tiny"))
    >>> layers, lengths, state = bilm([["A", "cup", "of", "tea"], ["Rain"]])
    >>> layers.shape, lengths.tolist()  # three layers, two sentences with <S> and </S>, two directions of 16
    (torch.Size([3, 2, 6, 32]), [6, 3])
    """

    kind = "bilm"

    def __init__(
        self,
        architecture: Architecture,
        *,
        vocabulary: Vocabulary | None = None,
        words: Vocabulary | None = None,
        characters: Vocabulary | None = None,
        metadata: Mapping[str, Any] | None = None,
        seed: int | None = 1,
    ) -> None:
        if seed is not None and not 0 <= seed < 1 << 63:
            raise OptionError(f"seed is {seed}, but must be from 0 to 2^63 - 1")
        super().__init__()
        self.architecture, self.vocabulary = architecture, vocabulary
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.token_vectors, self.weight_cache = TokenVectors(), WeightCache()
        with torch.device("meta"):  # no weights yet, and nothing drawn from the global generator
            self.encoder = make_encoder(architecture, words, characters)
            self.forward_layers = nn.ModuleList(make_lstm(architecture) for _ in range(architecture.layers))
            self.backward_layers = nn.ModuleList(make_lstm(architecture) for _ in range(architecture.layers))
            self.softmax = None if vocabulary is None else make_softmax(architecture, len(vocabulary))
        if seed is not None:
            self.to_empty(device="cpu")
            draw(self, seed)

    @classmethod
    def of_tensors(cls, architecture: Architecture, tensors: Mapping[str, Tensor], **more: Any) -> BiLM:
        """The biLM with these tensors, named as in `state_dict`. They are not copied."""
        try:
            bilm = cls(architecture, seed=None, **more)
        except RuntimeError as error:  # sizes beyond those of any tensor
            raise OptionError(f"the architecture cannot be built: {error}") from error
        for name, own in bilm.state_dict().items():
            if name not in tensors:
                raise OptionError(f"the tensor {name!r} is missing")
            if tensors[name].shape != own.shape:
                sizes = [" × ".join(map(str, one.shape)) for one in (tensors[name], own)]
                raise OptionError(f"the tensor {name!r} is {sizes[0]}, but the architecture needs {sizes[1]}")
        _, surplus = bilm.load_state_dict(dict(tensors), strict=False, assign=True)
        if surplus:
            raise OptionError(f"the tensor {surplus[0]!r} belongs to no layer")
        return bilm

    @property
    def words(self) -> Vocabulary | None:
        """The words of its word embedding, where it has one."""
        return self.encoder.vocabulary if isinstance(self.encoder, (WordEmbedding, LexiconCnn)) else None

    @property
    def characters(self) -> Vocabulary | None:
        """The letters that it reads, where it reads letters and not bytes."""
        return self.encoder.characters if isinstance(self.encoder, LexiconCnn) else None

    @property
    def tokenizer(self) -> ModelTokenizer:
        """Splits texts as the training text was split; every method that takes sentences uses it.

        Lists of tokens are normalized as the training text was: letters that it never had would be read as such.
        """
        return ModelTokenizer.of(self.metadata, self.vocabulary, normalizes_tokens=True)

    def forward(self, sentences: Sentences, state: BiLMState | None = None) -> tuple[Tensor, Tensor, BiLMState]:
        """All layers, (layers + 1, batch, time, 2 · dim), the lengths in tokens, and the final state.

        Every sentence gets <S> and </S>, which count in its length. Padding is zero. Without a state the LSTMs start
        from zeros.
        """
        vectors, lengths = self.encode_tokens(sentences)
        layers, state = self.contextualize(vectors, lengths, state)
        return layers, lengths, state

    def encode_tokens(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """The vectors of tokens, (batch, time, dim), and the lengths; each distinct word is encoded once."""
        tokens = [[BEGIN, *words, END] for words in self.tokenizer.sentences(sentences)]
        places = {word: place for place, word in enumerate(dict.fromkeys(word for words in tokens for word in words))}
        table: Tensor = self.encoder(list(places))
        table = torch.cat([table, table.new_zeros(1, table.shape[1])])  # the last row is padding
        lengths = torch.tensor([len(words) for words in tokens], dtype=torch.int64)
        ids = torch.full((len(tokens), max(map(len, tokens), default=0)), len(places))
        for row, words in enumerate(tokens):
            ids[row, : len(words)] = torch.tensor([places[word] for word in words])
        return table[ids.to(table.device)], lengths.to(table.device)

    def contextualize(
        self, vectors: Tensor, lengths: Tensor, state: BiLMState | None = None
    ) -> tuple[Tensor, BiLMState]:
        """Runs both directions over the vectors of tokens, (batch, time, dim): all layers, and the final state."""
        rows = len(vectors)
        before = (state or self.blank(rows)).rows(rows)
        forwards, after_forwards = self.read(self.forward_layers, vectors, lengths, before, 0)
        backwards, after_backwards = self.read(
            self.backward_layers, reverse_sentences(vectors, lengths), lengths, before, 1
        )
        layers = [torch.cat([vectors, vectors], 2)]
        for forward, backward in zip(forwards, backwards):
            layers.append(torch.cat([forward, reverse_sentences(backward, lengths)], 2))
        after = BiLMState(*(torch.stack(pair) for pair in zip(after_forwards, after_backwards)))
        return torch.stack(layers), after if state is None else state.followed_by(after)

    def read(
        self, layers: nn.ModuleList, vectors: Tensor, lengths: Tensor, state: BiLMState, direction: int
    ) -> tuple[list[Tensor], tuple[Tensor, Tensor]]:
        """Runs one direction: the outputs of each layer, (batch, time, dim), and the final cell and hidden states."""
        outputs, ends = [], []
        for depth, layer in enumerate(layers):
            before = state.cell[direction, depth], state.hidden[direction, depth]
            output, end = layer(vectors, lengths, before)
            vectors = output + vectors if self.architecture.skip and depth > 0 else output
            outputs.append(vectors)
            ends.append(end)
        cell, hidden = (torch.stack(parts) for parts in zip(*ends))
        return outputs, (cell, hidden)

    def blank(self, rows: int) -> BiLMState:
        """The zero state for a number of rows."""
        sizes = self.architecture
        like = next(self.forward_layers.parameters())
        return BiLMState(*(like.new_zeros(2, sizes.layers, rows, size) for size in (sizes.cell, sizes.dim)))

    def coverage(self, sentences: Sentences) -> Coverage:
        """How many words of sentences it does not know, and how many are longer than what it reads of a word.

        Words that it does not know are those outside the vocabulary of its softmax, or of its table of words.

        >>> BiLM(Architecture.named("tiny")).coverage([["tea", "x" * 60]])
        Coverage(words=2, unknown=0, cut=1, longest=48, unit='bytes')
        """
        return self.measure(self.tokenizer.sentences(sentences))

    def measure(self, sentences: Iterable[Sequence[str]]) -> Coverage:
        """`coverage` of lists of words that are normalized already."""
        is_table = isinstance(self.encoder, WordEmbedding) and self.encoder.spelled is None
        has_lexicon = isinstance(self.encoder, LexiconCnn)
        known = self.words if is_table or has_lexicon else self.vocabulary
        longest, unit = 0 if is_table else self.architecture.width - 2, "characters" if has_lexicon else "bytes"
        find = None if known is None else known.ids
        return measure(sentences, find, longest=longest, unit=unit, composes=not is_table)

    encode = encode_texts
    embed = embedding.embed
    embed_blocks = embedding.embed_blocks
    score = language.score
    log_probs = language.log_probs
    predict = language.predict
    distributions = language.distributions
    generate = language.generate
    perplexity = surprise.perplexity

    def _facts(self) -> list[notebook.Fact]:
        sizes = self.architecture
        cells = f"{sizes.layers} layers of {sizes.cell} cells, {sizes.dim} numbers in each direction"
        return [
            ("parameters", f"{sum(one.numel() for one in self.parameters()):,}"),
            (
                "words from",
                {"words": "a table", "lexicon-cnn": "a table and letters"}.get(
                    sizes.encoder, f"a {sizes.encoder.replace('-', ' ')}"
                ),
            ),
            ("layers", cells + (", skip connections" if sizes.skip else "")),
            ("predicts", "" if self.vocabulary is None else f"{len(self.vocabulary):,} words"),
            ("from", notebook.describe_origin(self.metadata)),
        ]

    def __repr__(self) -> str:
        sizes, facts = self.architecture, dict(self.facts())
        return f"BiLM({sizes.layers} × {sizes.cell} → {sizes.dim}, {sizes.encoder}, {facts['parameters']} parameters)"

    def to_parts(self) -> Parts:
        """The parts of the artifact, for a file."""
        config: dict[str, Any] = {"architecture": self.architecture.as_dict(), "metadata": self.metadata}
        vocabularies = {} if self.vocabulary is None else {"vocab": self.vocabulary}
        if self.words is not None:
            vocabularies["words"] = self.words
        if self.characters is not None:
            vocabularies["characters"] = self.characters
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self.state_dict().items()}
        return Parts(self.kind, config, arrays, vocabularies)

    @classmethod
    def from_parts(cls, parts: Parts) -> BiLM:
        """The artifact with these parts."""
        architecture = Architecture.from_dict(parts.table("architecture"))
        check_depth(architecture, len(parts.arrays))
        for name in parts.arrays:
            parts.array(name, "f", *parts.arrays[name].shape)
        tensors = {name: torch.from_numpy(np.array(array, np.float32)) for name, array in parts.arrays.items()}
        for name, tensor in tensors.items():
            if not torch.isfinite(tensor).all():
                raise OptionError(f"the tensor {name!r} has NaN or infinite values")
        return cls.of_tensors(
            architecture,
            tensors,
            vocabulary=parts.vocabularies.get("vocab"),
            words=parts.vocabularies.get("words"),
            characters=parts.vocabularies.get("characters"),
            metadata=parts.metadata,
        )


def check_depth(architecture: Architecture, tensors: int) -> None:
    """Refuses more layers than there are tensors, before a model is built."""
    sizes = architecture
    depths = {"layers": sizes.layers, "highways": sizes.highways, "filters": len(sizes.filters)}
    for name, depth in {**depths, "cutoffs": len(sizes.cutoffs)}.items():
        if depth > tensors:
            raise OptionError(f"{name}: {depth:,} do not fit the {tensors:,} tensors of the model")


def make_encoder(architecture: Architecture, words: Vocabulary | None, characters: Vocabulary | None = None) -> Encoder:
    """The word encoder of an architecture. With `words`, a character CNN is only for words that the table lacks."""
    sizes = architecture
    if sizes.encoder == "lexicon-cnn":
        return make_lexicon_cnn(sizes, words, characters)
    if sizes.encoder == "character-rnn":
        return CharacterRnn(sizes.dim, width=sizes.width, character_dim=sizes.character_dim, cell=sizes.character_cell)
    cnn = None
    if sizes.encoder == "character-cnn":
        cnn = CharacterCnn(
            sizes.dim,
            width=sizes.width,
            character_dim=sizes.character_dim,
            filters=sizes.filters,
            activation=sizes.activation,
            highways=sizes.highways,
        )
    if words is not None:
        return WordEmbedding(sizes.dim, words, cnn)
    if cnn is None:
        raise OptionError("the encoder 'words' needs a vocabulary. Pass words=Vocabulary(...)")
    return cnn


def make_lexicon_cnn(sizes: Architecture, words: Vocabulary | None, characters: Vocabulary | None) -> LexiconCnn:
    """The word encoder of a model of ELMoForManyLangs, with its lexicons."""
    if characters is None or (words is None) != (sizes.word_dim == 0):
        raise OptionError("the encoder 'lexicon-cnn' is that of ELMoForManyLangs, and needs the lexicons of a model")
    for lexicon, marks in ((characters, ("<eow>", "<bow>", "<pad>", "<oov>")), (words, ("<oov>",))):
        missing = [mark for mark in marks if lexicon is not None and mark not in lexicon]
        if missing:
            raise OptionError(f"a lexicon of the encoder 'lexicon-cnn' has no {missing[0]}")
    return LexiconCnn(
        sizes.dim,
        characters,
        words,
        width=sizes.width,
        character_dim=sizes.character_dim,
        word_dim=sizes.word_dim,
        filters=sizes.filters,
        activation=sizes.activation,
        highways=sizes.highways,
    )


def make_lstm(architecture: Architecture) -> ProjectedLstm:
    """One layer of one direction."""
    sizes = architecture
    return ProjectedLstm(
        sizes.dim,
        sizes.cell,
        cell_clip=float(sizes.cell_clip),
        projection_clip=float(sizes.projection_clip),
        normalized=sizes.normalized,
    )


def make_softmax(architecture: Architecture, words: int) -> nn.Linear | AdaptiveSoftmax:
    """The softmax over a number of words."""
    if architecture.cutoffs:
        return AdaptiveSoftmax(architecture.dim, words, architecture.cutoffs)
    return nn.Linear(architecture.dim, words)


def reverse_sentences(vectors: Tensor, lengths: Tensor) -> Tensor:
    """Every row (batch, time, dim) reversed within its length; padding stays."""
    time = torch.arange(vectors.shape[1], device=vectors.device)
    order = torch.where(time < lengths[:, None], lengths[:, None] - 1 - time, time)
    return vectors[torch.arange(len(vectors), device=vectors.device)[:, None], order]
