"""The filters of a character CNN on a GPU: convolution and max over time in one kernel, and their gradients.

    output(word, filter, p) = filter · characters[p : p + width] + bias         maximum over positions p

The vectors of a word's characters are contiguous, so the window at p is a run of numbers, the same for filters of every
width: narrower filters are padded with zeros. A tile of words × filters goes through the positions and keeps the
maximum and its position; only that window gets a gradient. After the end of a word all windows are equal, so a tile
stops one position after the end of its longest word.
"""

from __future__ import annotations

from firth.kernels.triton_support import jit, tl


@jit
def max_pool(
    characters,  # (words, stride): the vectors of their characters, bfloat16
    lengths,  # (words): characters of each without padding, int32
    filters,  # (features, DEPTH), bfloat16
    bias,  # (features), float32
    last_position,  # (features): of each filter, int32
    maxima,  # (words, features), bfloat16
    positions,  # (words, features): of the maxima, uint8
    words,
    features,
    stride,
    CHARACTER_DIM: tl.constexpr,  # length of a character vector
    DEPTH: tl.constexpr,
    WORDS: tl.constexpr,
    FILTERS: tl.constexpr,
):
    """The maxima of FILTERS filters over WORDS words."""
    word = tl.program_id(0) * WORDS + tl.arange(0, WORDS)
    feature = tl.program_id(1) * FILTERS + tl.arange(0, FILTERS)
    depth = tl.arange(0, DEPTH)
    is_word, is_feature = word < words, feature < features
    longest = tl.max(tl.load(lengths + word, mask=is_word, other=0))
    right = tl.load(filters + feature[None, :] * DEPTH + depth[:, None], mask=is_feature[None, :], other=0.0)
    final = tl.load(last_position + feature, mask=is_feature, other=0)
    left = characters + word[:, None] * stride + depth[None, :]
    highest = tl.full((WORDS, FILTERS), -float("inf"), tl.float32)
    position = tl.zeros((WORDS, FILTERS), tl.int32)
    for p in range(longest + 1):
        window = tl.load(left + p * CHARACTER_DIM, mask=is_word[:, None], other=0.0)
        output = tl.dot(window, right)
        better = (output > highest) & (p <= final)[None, :]
        highest = tl.where(better, output, highest)
        position = tl.where(better, p, position)
    highest += tl.load(bias + feature, mask=is_feature, other=0.0)[None, :]
    target = word[:, None] * features + feature[None, :]
    inside = is_word[:, None] & is_feature[None, :]
    tl.store(maxima + target, highest.to(tl.bfloat16), mask=inside)
    tl.store(positions + target, position.to(tl.uint8), mask=inside)


@jit
def filter_gradients(
    characters,
    lengths,
    positions,
    grad_maxima,  # (words, features), bfloat16
    grad_filters,  # (shares, features, DEPTH), float32
    words,
    features,
    stride,
    CHARACTER_DIM: tl.constexpr,
    DEPTH: tl.constexpr,
    WORDS: tl.constexpr,
    FILTERS: tl.constexpr,
):
    """The gradients of FILTERS filters from a share of the words: every num_programs-th block."""
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
        grad = tl.load(grad_maxima + at, mask=inside, other=0.0)
        position = tl.load(positions + at, mask=inside, other=255).to(tl.int32)
        left = characters + word[:, None] * stride + depth[None, :]
        for p in range(longest + 1):
            window = tl.load(left + p * CHARACTER_DIM, mask=is_word[:, None], other=0.0)
            picked = tl.where(position == p, grad, 0.0).to(tl.bfloat16)
            total = tl.dot(tl.trans(picked), window, total)
    share = grad_filters + tl.program_id(1) * features * DEPTH
    tl.store(share + feature[:, None] * DEPTH + depth[None, :], total, mask=is_feature[:, None])


@jit
def character_gradients(
    lengths,
    positions,
    grad_maxima,
    filters,
    grad_characters,  # (words, stride), float32, added to
    words,
    features,
    stride,
    CHARACTER_DIM: tl.constexpr,
    DEPTH: tl.constexpr,
    WORDS: tl.constexpr,
    FILTERS: tl.constexpr,
):
    """The gradients of the characters of WORDS words from the windows at one position."""
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
            grad = tl.load(grad_maxima + at, mask=inside, other=0.0)
            position = tl.load(positions + at, mask=inside, other=255).to(tl.int32)
            picked = tl.where(position == p, grad, 0.0).to(tl.bfloat16)
            right = tl.load(filters + feature[:, None] * DEPTH + depth[None, :], mask=is_feature[:, None], other=0.0)
            total = tl.dot(picked, right, total)
        to = grad_characters + word[:, None] * stride + p * CHARACTER_DIM + depth[None, :]
        tl.atomic_add(to, total, mask=is_word[:, None], sem="relaxed")  # windows at other positions overlap this one


@jit
def table_gradients(
    ids,  # (words, width), int32
    grad_characters,  # (words, stride), float32
    grad_table,  # (shares, CHARACTERS, SIZE), float32
    total_positions,  # words · width
    width,
    stride,
    share,
    character_dim,
    SIZE: tl.constexpr,
    CHARACTERS: tl.constexpr,
    POSITIONS: tl.constexpr,
):
    """The gradients of the character vectors from a share of the positions, summed by a one-hot product."""
    character, number = tl.arange(0, CHARACTERS), tl.arange(0, SIZE)
    first = tl.program_id(0) * share
    total = tl.zeros((CHARACTERS, SIZE), tl.float32)
    for start in range(first, first + share, POSITIONS):
        position = start + tl.arange(0, POSITIONS)
        inside = position < tl.minimum(first + share, total_positions)
        id = tl.load(ids + position, mask=inside, other=-1)
        at = (position // width * stride + position % width * character_dim)[:, None] + number[None, :]
        grad = tl.load(grad_characters + at, mask=inside[:, None] & (number < character_dim)[None, :], other=0.0).to(
            tl.bfloat16
        )
        which = tl.where(character[:, None] == id[None, :], 1.0, 0.0).to(tl.bfloat16)
        total = tl.dot(which, grad, total)
    to = grad_table + tl.program_id(0) * CHARACTERS * SIZE + character[:, None] * SIZE + number[None, :]
    tl.store(to, total)
