from __future__ import annotations

from dataclasses import fields

import pytest

from firth.errors import OptionError
from firth.server.limits import Limits


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_every_limit_is_above_zero(name: str) -> None:
    with pytest.raises(OptionError, match=name):
        Limits(**{name: 0})
    with pytest.raises(OptionError, match=name):
        Limits(**{name: float("nan")})
