"""Filters over the characters of words on a GPU: each keeps its highest answer, and no other answer is ever written.

    answer(word, filter, p) = filter · characters[p : p + size] + bias         best = max over p

The characters of a word lie one after another, so the window at p is a run of numbers, the same for filters of every
size: shorter filters are filled up with zeros. A tile of words × filters goes through the places and keeps the best and
where it was; on the way back each answer gives its slope to the window at that place alone. Beyond the end of a word
all windows are alike, so a tile stops one place after the end of its longest word.
"""

from __future__ import annotations

from firth.kernels.triton_support import jit, tl


@jit
def best_answers(
    characters,  # (words, stride): their vectors in a row, bfloat16
    lengths,  # (words): characters of each that are not filling, int32
    filters,  # (features, DEPTH), bfloat16
    bias,  # (features), float32
    last,  # (features): the last place that a filter may stand at, int32
    best,  # (words, features), bfloat16
    places,  # (words, features): where it was, uint8
    words,
    features,
    stride,
    LETTER: tl.constexpr,  # numbers of a character
    DEPTH: tl.constexpr,
    WORDS: tl.constexpr,
    FILTERS: tl.constexpr,
):
    """The best answers of WORDS words to FILTERS filters."""
    word = tl.program_id(0) * WORDS + tl.arange(0, WORDS)
    feature = tl.program_id(1) * FILTERS + tl.arange(0, FILTERS)
    depth = tl.arange(0, DEPTH)
    is_word, is_feature = word < words, feature < features
    longest = tl.max(tl.load(lengths + word, mask=is_word, other=0))
    right = tl.load(filters + feature[None, :] * DEPTH + depth[:, None], mask=is_feature[None, :], other=0.0)
    final = tl.load(last + feature, mask=is_feature, other=0)
    left = characters + word[:, None] * stride + depth[None, :]
    highest = tl.full((WORDS, FILTERS), -float("inf"), tl.float32)
    place = tl.zeros((WORDS, FILTERS), tl.int32)
    for p in range(longest + 1):
        window = tl.load(left + p * LETTER, mask=is_word[:, None], other=0.0)
        answer = tl.dot(window, right)
        better = (answer > highest) & (p <= final)[None, :]
        highest = tl.where(better, answer, highest)
        place = tl.where(better, p, place)
    highest += tl.load(bias + feature, mask=is_feature, other=0.0)[None, :]
    into = word[:, None] * features + feature[None, :]
    inside = is_word[:, None] & is_feature[None, :]
    tl.store(best + into, highest.to(tl.bfloat16), mask=inside)
    tl.store(places + into, place.to(tl.uint8), mask=inside)


@jit
def filter_slopes(
    characters,
    lengths,
    places,
    slopes,  # (words, features): by the best answers, bfloat16
    into,  # (shares, features, DEPTH), float32
    words,
    features,
    stride,
    LETTER: tl.constexpr,
    DEPTH: tl.constexpr,
    WORDS: tl.constexpr,
    FILTERS: tl.constexpr,
):
    """The slopes of FILTERS filters, from every so-manieth block of words."""
    feature = tl.program_id(0) * FILTERS + tl.arange(0, FILTERS)
    depth = tl.arange(0, DEPTH)
    is_feature = feature < features
    total = tl.zeros((FILTERS, DEPTH), tl.float32)
    for block in range(tl.program_id(1), tl.cdiv(words, WORDS), tl.num_programs(1)):
        word = block * WORDS + tl.arange(0, WORDS)
        is_word = word < words
        longest = tl.max(tl.load(lengths + word, mask=is_word, other=0))
        at = word[:, None] * features + feature[None, :]
        inside = is_word[:, None] & is_feature[None, :]
        slope = tl.load(slopes + at, mask=inside, other=0.0)
        place = tl.load(places + at, mask=inside, other=255).to(tl.int32)
        left = characters + word[:, None] * stride + depth[None, :]
        for p in range(longest + 1):
            window = tl.load(left + p * LETTER, mask=is_word[:, None], other=0.0)
            picked = tl.where(place == p, slope, 0.0).to(tl.bfloat16)
            total = tl.dot(tl.trans(picked), window, total)
    share = into + tl.program_id(1) * features * DEPTH
    tl.store(share + feature[:, None] * DEPTH + depth[None, :], total, mask=is_feature[:, None])


@jit
def character_slopes(
    lengths,
    places,
    slopes,
    filters,
    into,  # (words, stride), float32: slopes are added here
    words,
    features,
    stride,
    LETTER: tl.constexpr,
    DEPTH: tl.constexpr,
    WORDS: tl.constexpr,
    FILTERS: tl.constexpr,
):
    """The slopes of the characters of WORDS words in the windows at one place."""
    p = tl.program_id(1)
    word = tl.program_id(0) * WORDS + tl.arange(0, WORDS)
    is_word = word < words
    longest = tl.max(tl.load(lengths + word, mask=is_word, other=0))
    if p <= longest:
        depth = tl.arange(0, DEPTH)
        total = tl.zeros((WORDS, DEPTH), tl.float32)
        for start in range(0, features, FILTERS):
            feature = start + tl.arange(0, FILTERS)
            is_feature = feature < features
            inside = is_word[:, None] & is_feature[None, :]
            at = word[:, None] * features + feature[None, :]
            slope = tl.load(slopes + at, mask=inside, other=0.0)
            place = tl.load(places + at, mask=inside, other=255).to(tl.int32)
            picked = tl.where(place == p, slope, 0.0).to(tl.bfloat16)
            right = tl.load(filters + feature[:, None] * DEPTH + depth[None, :], mask=is_feature[:, None], other=0.0)
            total = tl.dot(picked, right, total)
        to = into + word[:, None] * stride + p * LETTER + depth[None, :]
        tl.atomic_add(to, total, mask=is_word[:, None], sem="relaxed")  # windows at other places overlap this one


@jit
def table_slopes(
    ids,  # (words, width), int32
    slopes,  # (words, stride), float32: of the characters
    into,  # (shares, CHARACTERS, LETTER), float32
    spelled,  # words · width
    width,
    stride,
    share,
    letter,
    LETTER: tl.constexpr,
    CHARACTERS: tl.constexpr,
    PLACES: tl.constexpr,
):
    """The slopes of a share of the places, summed by character: few characters, many places, so a product does it."""
    character, number = tl.arange(0, CHARACTERS), tl.arange(0, LETTER)
    first = tl.program_id(0) * share
    total = tl.zeros((CHARACTERS, LETTER), tl.float32)
    for start in range(first, first + share, PLACES):
        place = start + tl.arange(0, PLACES)
        inside = place < tl.minimum(first + share, spelled)
        id = tl.load(ids + place, mask=inside, other=-1)
        at = (place // width * stride + place % width * letter)[:, None] + number[None, :]
        slope = tl.load(slopes + at, mask=inside[:, None] & (number < letter)[None, :], other=0.0).to(tl.bfloat16)
        which = tl.where(character[:, None] == id[None, :], 1.0, 0.0).to(tl.bfloat16)
        total = tl.dot(which, slope, total)
    to = into + tl.program_id(0) * CHARACTERS * LETTER + character[:, None] * LETTER + number[None, :]
    tl.store(to, total)
