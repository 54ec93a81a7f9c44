"""How each word of a vocabulary compares with the word that came, on a GPU: the first half of a softmax's loss.

    e(row, word) = exp(weight[word] · h[row] + offset[word] - logit of the row's own word)         s = 1 + Σ e

The own word is left out, its part is the 1. So s is never below 1, -log p = log s needs no largest logit, and the
gradients are products of e as it stands: dh = (e · weight) / s and dweight = eᵀ · (h / s), each less the own word's
part. Nothing is written but e, in bfloat16, and the sums of its tiles.
"""

from __future__ import annotations

from firth.kernels.triton_support import jit, tl

MOST = 75.0  # exponents above are cut; 85 nats a word is where float32 would end


@jit
def own_logits(hidden, weight, offset, own, into, dim, DIM: tl.constexpr):
    """weight[own] · h + offset[own] of one row; infinite where it has no own word, so that nothing compares."""
    row = tl.program_id(0).to(tl.int64)
    word = tl.load(own + row)
    at = tl.arange(0, DIM)
    h = tl.load(hidden + row * dim + at, mask=at < dim, other=0.0).to(tl.float32)
    w = tl.load(weight + tl.maximum(word, 0) * dim + at, mask=at < dim, other=0.0).to(tl.float32)
    logit = tl.sum(h * w) + tl.load(offset + tl.maximum(word, 0))
    tl.store(into + row, tl.where(word < 0, float("inf"), logit))


@jit
def exponentials(
    hidden,  # (rows, dim), bfloat16, in tiles
    weight,  # (columns, dim), bfloat16, in tiles
    offset,  # (columns), float32
    logits,  # (rows): of the own words, float32
    left_out,  # (rows): the column of the own word, or -1, int64
    into,  # (rows, stride): e, zero beyond the columns, bfloat16
    sums,  # (blocks of columns, rows): of e, float32
    rows,
    columns,
    dim,
    stride,
    MOST: tl.constexpr,
    PROGRAMS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """e of ROWS rows and COLUMNS columns at a time."""
    row_blocks = tl.cdiv(rows, ROWS)
    for tile in tl.range(tl.program_id(0), row_blocks * tl.cdiv(stride, COLUMNS), PROGRAMS, flatten=True):
        block = tile // row_blocks
        first_row, first_column = (tile % row_blocks) * ROWS, block * COLUMNS
        row, column = first_row + tl.arange(0, ROWS), first_column + tl.arange(0, COLUMNS)
        is_row, is_column = row < rows, column < columns
        total = tl.zeros((ROWS, COLUMNS), tl.float32)
        for depth in range(0, dim, DEPTH):
            total = tl.dot(hidden.load([first_row, depth]), weight.load([first_column, depth]).T, total)
        own = tl.load(logits + row, mask=is_row, other=float("inf"))
        out = tl.load(left_out + row, mask=is_row, other=-1).to(tl.int32)
        total += tl.load(offset + column, mask=is_column, other=0.0)[None, :] - own[:, None]
        e = tl.exp(tl.minimum(total, MOST))
        e = tl.where(is_column[None, :] & (column[None, :] != out[:, None]), e, 0.0)
        tl.store(sums + block.to(tl.int64) * rows + row, tl.sum(e, 1), mask=is_row)
        to = into + first_row.to(tl.int64) * stride + ((row - first_row)[:, None] * stride + column[None, :])
        tl.store(to, e.to(tl.bfloat16), mask=is_row[:, None] & (column < stride)[None, :])


@jit
def own_part(
    hidden,  # (rows, dim), bfloat16
    weight,  # (words, dim)
    own,  # (rows): the own word, or -1, int64
    sums,  # (rows): s
    products,  # (rows, dim): e · weight, bfloat16
    to_hidden,  # (rows, dim)
    to_weight,  # (words, dim), float32: slopes are added here
    to_bias,  # (words), float32: slopes are added here
    dim,
    DIM: tl.constexpr,
):
    """dh of one row, and what its own word's weight and bias learn: p = 1 / s, less 1."""
    row = tl.program_id(0).to(tl.int64)
    word, s = tl.load(own + row), tl.load(sums + row)
    at = tl.arange(0, DIM)
    inside = at < dim
    there = (word >= 0) & inside
    lack = tl.where(word < 0, 0.0, 1 / s - 1)
    h = tl.load(hidden + row * dim + at, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(weight + word * dim + at, mask=there, other=0.0).to(tl.float32)
    product = tl.load(products + row * dim + at, mask=inside, other=0.0).to(tl.float32)
    slope = product / s + lack * w
    tl.store(to_hidden + row * dim + at, slope.to(to_hidden.dtype.element_ty), mask=inside)
    tl.atomic_add(to_weight + word * dim + at, lack * h, mask=there, sem="relaxed")
    tl.atomic_add(to_bias + word, lack, mask=word >= 0, sem="relaxed")
