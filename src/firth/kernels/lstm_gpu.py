"""One step of an LSTM cell on a GPU: everything between two products in one pass over memory."""

from __future__ import annotations

from firth.kernels.triton_support import jit, tl


@jit
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + tl.exp(-x))


@jit
def clip(x, limit):
    """x clipped to ±limit; an infinite limit disables clipping."""
    return tl.minimum(tl.maximum(x, -limit), limit)


@jit
def clip_gradient(grad, clipped, limit):
    """The gradient through `clip`: 0 where the clipped value is at the limit."""
    return tl.where(tl.abs(clipped) < limit, grad, 0.0)


@jit
def step(gates, cell, gated, count, size, gates_stride, cell_stride, limit, SIZE: tl.constexpr):
    """c ← clip(sigmoid(f) · c + sigmoid(i) · tanh(g)), and gated = sigmoid(o) · tanh(c).

    `gates` (2, rows, 4 · size) are sums in the order i, f, g, o; `cell` (2, rows or more, size) is float32 and changes
    in place; `gated` is (2, rows, size), and count = rows · size. Strides lead from one direction to the other.
    """
    direction = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    place = gates + direction * gates_stride + at // size * (4 * size) + at % size
    i = sigmoid(tl.load(place, mask=inside, other=0.0).to(tl.float32))
    f = sigmoid(tl.load(place + size, mask=inside, other=0.0).to(tl.float32))
    g = 2 * sigmoid(2 * tl.load(place + 2 * size, mask=inside, other=0.0).to(tl.float32)) - 1
    o = sigmoid(tl.load(place + 3 * size, mask=inside, other=0.0).to(tl.float32))
    cells = cell + direction * cell_stride + at
    c = f * tl.load(cells, mask=inside, other=0.0) + i * g
    c = clip(c, limit)
    tl.store(cells, c, mask=inside)
    m = o * (2 * sigmoid(2 * c) - 1)
    tl.store(gated + direction * count + at, m.to(gated.dtype.element_ty), mask=inside)
