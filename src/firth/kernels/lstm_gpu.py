"""What the cells of an LSTM let out at one step, on a GPU: everything between two products in one trip to memory."""

from __future__ import annotations

from firth.kernels.triton_support import jit, tl


@jit
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + tl.exp(-x))


@jit
def let_out(gates, cells, opened, count, cell, gates_stride, cells_stride, clip, SIZE: tl.constexpr):
    """c ← clip(sigmoid(f) · c + sigmoid(i) · tanh(g)), and opened = sigmoid(o) · tanh(c).

    `gates` (2, rows, 4 · cell) are sums in the order i, f, g, o; `cells` (2, rows or more, cell) are float32 and change
    in place; `opened` is (2, rows, cell), and count = rows · cell. Strides lead from one direction to the other.
    """
    direction = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    place = gates + direction * gates_stride + at // cell * (4 * cell) + at % cell
    i = sigmoid(tl.load(place, mask=inside, other=0.0).to(tl.float32))
    f = sigmoid(tl.load(place + cell, mask=inside, other=0.0).to(tl.float32))
    g = 2 * sigmoid(2 * tl.load(place + 2 * cell, mask=inside, other=0.0).to(tl.float32)) - 1
    o = sigmoid(tl.load(place + 3 * cell, mask=inside, other=0.0).to(tl.float32))
    remembered = cells + direction * cells_stride + at
    c = f * tl.load(remembered, mask=inside, other=0.0) + i * g
    c = tl.minimum(tl.maximum(c, -clip), clip)
    tl.store(remembered, c, mask=inside)
    said = o * (2 * sigmoid(2 * c) - 1)
    tl.store(opened + direction * count + at, said.to(opened.dtype.element_ty), mask=inside)
