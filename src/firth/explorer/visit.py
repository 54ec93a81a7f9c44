"""One visit of one page: the language and the state in its address, and the models that it asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from nicegui import ui

from firth.errors import UnknownWord
from firth.explorer.models import Models, WarmUp
from firth.explorer.problems import NoModel, NoSuchModel, PageError
from firth.explorer.question import Question
from firth.explorer.translations import DIRECTIONS, LANGUAGES, TEXTS, Language, translate
from firth.vectors.words import WordVectors

Result = TypeVar("Result")
ADDRESS = 4000  # characters of a text that an address keeps
LONGEST = 20_000  # characters of a text field; a message of the browser may have a million bytes


@dataclass
class Visit:
    """What a page function gets. Every visitor, and every tab, has its own."""

    models: Models
    language: Language
    address: str
    state: dict[str, str] = field(default_factory=dict)
    warm_up: WarmUp = field(default_factory=lambda: WarmUp({}))

    def t(self, key: str, **values: Any) -> str:
        """A text of the interface in the language of the visit.

        >>> Visit(Models(), "fa", "/").t("word")
        'واژه'
        """
        return translate(key, self.language, **values)

    def knows(self, key: str) -> bool:
        """Whether the interface has a text of this key.

        >>> Visit(Models(), "en", "/").knows("word")
        True
        """
        return key in TEXTS

    @property
    def direction(self) -> str:
        """The direction of the interface: ltr or rtl.

        >>> Visit(Models(), "fa", "/").direction
        'rtl'
        """
        return DIRECTIONS[self.language]

    def get(self, name: str, default: str = "") -> str:
        """A value of the address.

        >>> Visit(Models(), "en", "/", {"word": "tea"}).get("word")
        'tea'
        """
        return self.state.get(name, default)

    def get_number(self, name: str, default: float, least: float, most: float) -> float:
        """A number of the address between two limits; what is not a number is the default.

        >>> visit = Visit(Models(), "en", "/", {"count": "900", "share": "much"})
        >>> visit.get_number("count", 10, 1, 50), visit.get_number("share", 0.5, 0, 1)
        (50, 0.5)
        """
        try:
            value = float(self.state.get(name, default))
        except ValueError:
            return default
        return default if value != value else min(max(value, least), most)

    def choose_model(self, *kinds: str, name: str = "model") -> str:
        """The model that the address names, or the default of these kinds, which becomes a part of the address.

        The default is the first model of the command line or, without one, the first in the language of the visitor.

        >>> Visit(Models(), "fa", "/").choose_model("subword-vectors")
        'fasttext-fa'
        >>> Visit(Models(["fasttext-en"]), "fa", "/").choose_model("subword-vectors")
        'fasttext-en'
        """
        offered = self.models.of(*kinds)
        if not offered:
            raise NoModel(kinds)
        asked = self.get(name)
        if asked and asked not in offered:
            raise NoSuchModel(asked, offered, known=asked in self.models.names, state=name)
        if not asked:
            native = (one for one in offered if one.endswith(f"-{self.language}"))
            self.state[name] = offered[0] if offered[0] in self.models.given else next(native, offered[0])
        return self.state[name]

    def choose_other(self, *kinds: str) -> str:
        """The second model that the address names, or "".

        >>> Visit(Models(), "en", "/", {"other": "svd-en"}).choose_other("word-vectors")
        'svd-en'
        """
        return self.choose_model(*kinds, name="other") if self.get("other") else ""

    def model_for(self, language: Language, *kinds: str) -> str:
        """The model for an example in a language: the chosen one, unless its name ends with another language.

        >>> Visit(Models(), "fa", "/").model_for("en", "word-vectors", "subword-vectors")
        'word2vec-en'
        """
        model = self.choose_model(*kinds)
        if not model.endswith(tuple(f"-{one}" for one in LANGUAGES if one != language)):
            return model
        return next((one for one in self.models.of(*kinds) if one.endswith(f"-{language}")), model)

    def remember(self, **values: object) -> None:
        """Writes values into the address of the page, so that a reload or a copied address restores them."""
        for name, value in values.items():
            if value in (None, ""):
                self.state.pop(name, None)
            else:
                self.state[name] = str(value)
        address = make_address(self.address, self.state)
        ui.run_javascript(f"history.replaceState(history.state, '', {json.dumps(address)})")

    async def load(self, name: str) -> Any:
        """A model, opened in a thread."""
        return await self.compute(self.models.load, name)

    async def ask(self, question: Question) -> Any:
        """The answer to a question, computed in a thread. That a model has no words at all is said as such."""
        try:
            return await self.compute(question.ask, self.models)
        except UnknownWord:
            model = self.models.load(question.model)
            if isinstance(model, WordVectors) and not len(model):
                raise PageError("empty-model", name=question.model) from None
            raise

    async def compute(self, function: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
        """The result of a function that takes long, computed in a thread."""
        return await asyncio.to_thread(function, *arguments, **options)


def make_address(address: str, state: Mapping[str, object]) -> str:
    """The address of a page with its state.

    >>> make_address("/neighbors", {"word": "چای", "topn": 5}), make_address("/", {"word": ""})
    ('/neighbors?word=%DA%86%D8%A7%DB%8C&topn=5', '/')
    """
    query = urlencode({name: value for name, value in state.items() if value not in (None, "")})
    return f"{address}?{query}" if query else address
