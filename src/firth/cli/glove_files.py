"""`firth train glove` with the raw files of the original program: parameters and squared gradients."""

from dataclasses import dataclass

from firth.formats.glove_binary import read_parameters, write_parameters, write_words
from firth.models.glove import Glove
from firth.models.window_network import cut_vocabulary
from firth.options import Recipe, option
from firth.progress import Report
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.vectors.words import WordVectors


@dataclass(frozen=True)
class GloveFiles(Recipe):
    """Raw files to begin from and to write."""

    init_param: str | None = option(None, "Raw file of initial parameters, for the same words and dim.")
    init_gradsq: str | None = option(None, "Raw file of initial sums of squared gradients.")
    save_param: str | None = option(None, "Write all parameters to this raw file; its words to FILE.vocab.txt.")
    save_gradsq: str | None = option(None, "Write the sums of squared gradients to this raw file.")

    @property
    def inputs(self) -> list[str | None]:
        """The files that are read."""
        return [self.init_param, self.init_gradsq]

    @property
    def outputs(self) -> list[str | None]:
        """The files that are written."""
        words = None if self.save_param is None else f"{self.save_param}.vocab.txt"
        return [self.save_param, self.save_gradsq, words]

    @property
    def is_used(self) -> bool:
        """Whether any file is named."""
        return any(name is not None for name in (*self.inputs, *self.outputs))

    def fit(
        self, recipe: Glove, corpus: Corpus, runtime: Runtime, report: Report, checkpoint: str | None
    ) -> WordVectors:
        """Trains a recipe from and into the named files."""
        words = cut_vocabulary(corpus.tokens(report).vocabulary, recipe.min_count)
        words = words if recipe.max_words is None else words.top(recipe.max_words)
        initial, squares = (None if name is None else read_parameters(name, words) for name in self.inputs)
        state = recipe.fit_state(
            corpus, runtime=runtime, report=report, checkpoint=checkpoint, initial=initial, initial_squares=squares
        )
        if self.save_param is not None:
            write_parameters(state.parameters, self.save_param)
            write_words(state.vocabulary, f"{self.save_param}.vocab.txt")
        if self.save_gradsq is not None:
            write_parameters(state.squares, self.save_gradsq)
        return state.vectors
