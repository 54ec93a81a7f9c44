"""The exponentials of a softmax relative to the target word on a GPU: the first half of its loss.

    e(row, word) = exp(weight[word] · hidden[row] + bias[word] - logit of the row's target)         s = 1 + Σ e

The target itself is left out of the sum: it is the 1. So s is at least 1, -log p = log s needs no largest logit, and
the gradients are products of e: grad_hidden = (e · weight) / s and grad_weight = eᵀ · (hidden / s), plus the part of
the target. Only e, in bfloat16, and the sums of its tiles are written.
"""

from __future__ import annotations

from firth.kernels.triton_support import jit, tl

MAX_EXPONENT = 75.0  # larger exponents are clipped; float32 would overflow at 85 nats a word


@jit
def target_logits(hidden, weight, bias, targets, into, dim, DIM: tl.constexpr):
    """weight[target] · h + bias[target] of one row; infinite where it has no target, so that every e is 0."""
    row = tl.program_id(0).to(tl.int64)
    word = tl.load(targets + row)
    at = tl.arange(0, DIM)
    h = tl.load(hidden + row * dim + at, mask=at < dim, other=0.0).to(tl.float32)
    w = tl.load(weight + tl.maximum(word, 0) * dim + at, mask=at < dim, other=0.0).to(tl.float32)
    logit = tl.sum(h * w) + tl.load(bias + tl.maximum(word, 0))
    tl.store(into + row, tl.where(word < 0, float("inf"), logit))


@jit
def exponentials(
    hidden,  # (rows, dim), bfloat16, in tiles
    weight,  # (columns, dim), bfloat16, in tiles
    bias,  # (columns), float32
    logits,  # (rows): of the targets, float32
    target_columns,  # (rows): the column of the target, or -1, int64
    into,  # (rows, stride): e, zero beyond the columns, bfloat16
    sums,  # (blocks of columns, rows): of e, float32
    rows,
    columns,
    dim,
    stride,
    MAX_EXPONENT: tl.constexpr,
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
        target_logit = tl.load(logits + row, mask=is_row, other=float("inf"))
        target = tl.load(target_columns + row, mask=is_row, other=-1).to(tl.int32)
        total += tl.load(bias + column, mask=is_column, other=0.0)[None, :] - target_logit[:, None]
        e = tl.exp(tl.minimum(total, MAX_EXPONENT))
        e = tl.where(is_column[None, :] & (column[None, :] != target[:, None]), e, 0.0)
        tl.store(sums + block.to(tl.int64) * rows + row, tl.sum(e, 1), mask=is_row)
        to = into + first_row.to(tl.int64) * stride + ((row - first_row)[:, None] * stride + column[None, :])
        tl.store(to, e.to(tl.bfloat16), mask=is_row[:, None] & (column < stride)[None, :])


@jit
def target_gradients(
    hidden,  # (rows, dim), bfloat16
    weight,  # (words, dim)
    targets,  # (rows): the target word, or -1, int64
    sums,  # (rows): s
    products,  # (rows, dim): e · weight, bfloat16
    grad_hidden,  # (rows, dim)
    grad_weight,  # (words, dim), float32, added to
    grad_bias,  # (words), float32, added to
    dim,
    DIM: tl.constexpr,
):
    """The gradient of one hidden state, and of the weight and bias of its target: error = p - 1, p = 1 / s."""
    row = tl.program_id(0).to(tl.int64)
    word, s = tl.load(targets + row), tl.load(sums + row)
    at = tl.arange(0, DIM)
    inside = at < dim
    there = (word >= 0) & inside
    error = tl.where(word < 0, 0.0, 1 / s - 1)
    h = tl.load(hidden + row * dim + at, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(weight + word * dim + at, mask=there, other=0.0).to(tl.float32)
    product = tl.load(products + row * dim + at, mask=inside, other=0.0).to(tl.float32)
    grad = product / s + error * w
    tl.store(grad_hidden + row * dim + at, grad.to(grad_hidden.dtype.element_ty), mask=inside)
    tl.atomic_add(grad_weight + word * dim + at, error * h, mask=there, sem="relaxed")
    tl.atomic_add(grad_bias + word, error, mask=word >= 0, sem="relaxed")
