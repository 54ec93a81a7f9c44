"""Tests of word vectors and language models with known answers: the public names of `firth.evaluate`.

The package can be called (see `package.py`): `firth.evaluate(vectors)` is `firth.evaluate.evaluate(vectors)`. Inside
the package, import each name from the file that defines it.
"""

from firth.data import SETS as SETS
from firth.evaluate.intrinsic import analogies as analogies
from firth.evaluate.intrinsic import categories as categories
from firth.evaluate.intrinsic import evaluate as evaluate
from firth.evaluate.intrinsic import fits as fits
from firth.evaluate.intrinsic import similarity as similarity
from firth.evaluate.language import LanguageModel as LanguageModel
from firth.evaluate.language import RankedSentence as RankedSentence
from firth.evaluate.language import perplexity as perplexity
from firth.evaluate.language import rank_sentences as rank_sentences
from firth.evaluate.package import EvaluatePackage as EvaluatePackage
from firth.evaluate.score import Score as Score
from firth.evaluate.senses import senses as senses
