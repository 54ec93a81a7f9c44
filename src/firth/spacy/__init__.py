"""firth in spaCy: word vectors in a vocabulary, and the components `firth_vectors`, `firth_elmo` and `firth_ner`.

spaCy finds the components by the entry points of the package: `nlp.add_pipe("firth_elmo")` needs no import.
"""

from firth.errors import MissingExtra

try:
    import spacy  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "spacy":
        raise
    raise MissingExtra("firth.spacy", "spacy") from error
