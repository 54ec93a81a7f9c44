"""Numbers must be read as NumPy reads them and written so that they come back, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import decimals

FORMS = ["{!r}", "{:.6f}", "{:.9g}", "{:.18e}", "{:.17g}", "{:+.4e}", "{:.0f}.", "{:.30f}", "{:E}"]


def read(text: str) -> tuple[np.float32, int, int]:
    blob = np.frombuffer(text.encode(), np.uint8)
    return decimals.read_number(blob, 0, len(blob))


def write(value: np.float32) -> str:
    out = np.zeros(decimals.LONGEST + 8, np.uint8)
    size = decimals.write_number(value, out, 0)
    assert size <= decimals.LONGEST
    return out[:size].tobytes().decode()


def has_same_bits(a: np.float32, b: np.float32) -> bool:
    return np.float32(a).tobytes() == np.float32(b).tobytes()


def round_text(text: str) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float64(float(text)).astype(np.float32)


@settings(deadline=None)  # the first call compiles
@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(FORMS))
def test_a_number_in_any_printed_form_is_read_as_numpy_reads_it(value: float, form: str) -> None:
    text = form.format(value)
    found, after, status = read(text)
    assert after == len(text)
    assert status == decimals.HARD or (status == decimals.GOOD and has_same_bits(found, round_text(text)))


@settings(deadline=None)  # the first call compiles
@given(st.floats(width=32, allow_nan=False), st.sampled_from(FORMS))
def test_a_float32_in_any_printed_form_is_read_as_numpy_reads_it(value: float, form: str) -> None:
    text = form.format(value) if np.isfinite(value) else str(value)
    found, _, status = read(text)
    assert status == decimals.HARD or has_same_bits(found, round_text(text))


def test_hard_numbers_are_rare_among_the_numbers_that_files_hold() -> None:
    rng = np.random.default_rng(1)
    values = rng.standard_normal(3000) * 10.0 ** rng.integers(-12, 6, 3000)
    texts = [form.format(value) for value in values.tolist() for form in FORMS[:5]]
    found = [read(text) for text in texts]
    assert sum(status == decimals.HARD for *_, status in found) < 5
    assert all(has_same_bits(value, round_text(text)) for text, (value, _, status) in zip(texts, found) if status == 0)


def test_a_decimal_in_the_middle_of_two_floats_is_left_to_exact_arithmetic() -> None:
    middle = (float(np.float32(1)) + float(np.nextafter(np.float32(1), np.float32(2)))) / 2
    assert read(f"{middle:.60f}1")[2] == decimals.HARD


@pytest.mark.parametrize(
    "text, value",
    [
        ("1", 1.0),
        ("-0", -0.0),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("1e2", 100.0),
        ("1E+2", 100.0),
        ("0e999999999999999999", 0.0),
        ("nan", np.nan),
        ("NaN", np.nan),
        ("inf", np.inf),
        ("-INF", -np.inf),
        ("Infinity", np.inf),
        ("1e39", np.inf),
        ("1e-60", 0.0),
    ],
)
def test_odd_spellings_of_numbers(text: str, value: float) -> None:
    found, after, status = read(text)
    assert status == decimals.GOOD
    assert after == len(text)
    assert np.isnan(found) if np.isnan(value) else has_same_bits(found, np.float32(value))


@pytest.mark.parametrize(
    "text", ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "1x", "0x10", "1_0", "na", "infinit", "--1"]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    assert read(text)[2] == decimals.BAD


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 2**32 - 1))
def test_every_float32_comes_back_from_its_own_text(bits: int) -> None:
    value = np.array([bits], np.uint32).view(np.float32)[0]
    text = write(value)
    assert np.isnan(round_text(text)) if np.isnan(value) else has_same_bits(round_text(text), value)


@settings(deadline=None)  # the first call compiles
@given(st.floats(width=32, min_value=2**-20, max_value=2**20))
def test_the_text_of_a_float32_is_as_short_as_it_can_be(value: float) -> None:
    shortest = np.format_float_positional(np.float32(value), unique=True)
    assert len(write(np.float32(value)).rstrip("0")) <= len(shortest.rstrip("0"))


def test_written_numbers_look_like_numbers_that_people_write() -> None:
    values = [0.1, -2.5, 3.0, 1e-7, 123456.0, 1e30, 0.0001, -0.0, np.inf, -np.inf]
    texts = ["0.1", "-2.5", "3.0", "1e-07", "123456.0", "1e+30", "0.0001", "-0.0", "inf", "-inf"]
    assert [write(np.float32(value)) for value in values] == texts


def test_the_compiled_reader_agrees_with_its_python_body() -> None:
    texts = ["1.25", "-7e-3", "nan", "12345678901234567890", "0.1x", ""]
    for text in texts:
        blob = np.frombuffer(text.encode(), np.uint8)
        compiled, plain = read(text), decimals.read_number.py_func(blob, 0, len(blob))
        assert compiled[1:] == plain[1:]
        assert np.isnan(compiled[0]) if np.isnan(plain[0]) else compiled[0] == plain[0]
