"""One step of an LSTM with a projection on a GPU, both directions, forward pass and backward pass.

The product of a step and the cell are one kernel, so that the sums of the gates are never written to memory:

    i, f, g, o = weights · [inputs; hidden] + bias       one product, K = input + dim
    c ← clip(sigmoid(f) · c + sigmoid(i) · tanh(g))      in the registers that hold the product
    m ← sigmoid(o) · tanh(c)                             hidden = clip(projection · m) is a product of its own

Values that the backward pass needs are stored in two bytes: gates and cells are bounded, so float16 is closer to them
than bfloat16; factors of products are bfloat16. All sums are float32. Directions are the first axis everywhere.
"""

from __future__ import annotations

from firth.kernels.lstm_gpu import clip, clip_gradient
from firth.kernels.triton_support import jit, tl


@jit
def tanh(x, APPROXIMATE: tl.constexpr):
    """tanh; APPROXIMATE takes one instruction, with a relative error of 2^-11."""
    if APPROXIMATE:
        return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1)
    return 2 / (1 + tl.exp(-2 * x)) - 1


@jit
def step_forward(
    inputs,  # (2 · (steps + 1) · rows, width): the inputs of the layer and the hidden state, bfloat16, in tiles
    weights,  # (2 · 4 · size, width), in the order of `order_by_tile`, bfloat16, in tiles
    bias,  # (2, 4 · size)
    cell,  # (2, steps + 1, rows, size), float16
    gates,  # (2, steps, rows, 4 · size), float16
    gated,  # (2, steps, rows, size): m, bfloat16
    fresh,  # (steps + 1, rows): nonzero where the state is reset
    now,  # the step
    steps,
    rows,
    size,
    width,
    limit,
    RESETS: tl.constexpr,
    APPROXIMATE: tl.constexpr,
    PROGRAMS: tl.constexpr,
    ROWS: tl.constexpr,
    CELLS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """Gates, cells and gated cells of ROWS rows and CELLS cells at a time. See the formulas above."""
    # Blocks of rows follow each other fastest: they share their weights, which are read once.
    row_blocks = tl.cdiv(rows, ROWS)
    all_blocks = row_blocks * (size // CELLS)
    for tile in tl.range(tl.program_id(0), 2 * all_blocks, PROGRAMS, flatten=True):
        direction, block = tile // all_blocks, tile % all_blocks
        row = (block % row_blocks) * ROWS + tl.arange(0, ROWS)
        column = (block // row_blocks) * CELLS + tl.arange(0, CELLS)
        first_row = (direction * (steps + 1) + now) * rows + (block % row_blocks) * ROWS
        first_weight = (direction * (size // CELLS) + block // row_blocks) * 4 * CELLS
        total = tl.zeros((ROWS, 4 * CELLS), tl.float32)
        for depth in range(0, width, DEPTH):
            total = tl.dot(inputs.load([first_row, depth]), weights.load([first_weight, depth]).T, total)
        halves = tl.permute(tl.reshape(total, (ROWS, 2, 2 * CELLS)), (0, 2, 1))
        first, second = tl.split(halves)
        i, f = tl.split(tl.reshape(first, (ROWS, CELLS, 2)))
        g, o = tl.split(tl.reshape(second, (ROWS, CELLS, 2)))
        biases = bias + direction * 4 * size + column
        i = 0.5 * tanh(0.5 * (i + tl.load(biases)[None, :]), APPROXIMATE) + 0.5
        f = 0.5 * tanh(0.5 * (f + tl.load(biases + size)[None, :]), APPROXIMATE) + 0.5
        g = tanh(g + tl.load(biases + 2 * size)[None, :], APPROXIMATE)
        o = 0.5 * tanh(0.5 * (o + tl.load(biases + 3 * size)[None, :]), APPROXIMATE) + 0.5
        inside = row < rows
        known = inside
        if RESETS:
            known = inside & (tl.load(fresh + now * rows + row, mask=inside, other=1) == 0)
        place = row[:, None] * size + column[None, :]
        cell_now = cell + (direction.to(tl.int64) * (steps + 1) + now) * rows * size
        before = tl.load(cell_now + place, mask=known[:, None], other=0.0)
        c = f * before.to(tl.float32) + i * g
        c = clip(c, limit)
        tl.store(cell_now + rows * size + place, c.to(tl.float16), mask=inside[:, None])
        m = o * tanh(c, APPROXIMATE)
        this_step = (direction.to(tl.int64) * steps + now) * rows * size
        tl.store(gated + this_step + place, m.to(tl.bfloat16), mask=inside[:, None])
        gate_place = gates + 4 * this_step + (row[:, None] * (4 * size) + column[None, :])
        tl.store(gate_place, i.to(tl.float16), mask=inside[:, None])
        tl.store(gate_place + size, f.to(tl.float16), mask=inside[:, None])
        tl.store(gate_place + 2 * size, g.to(tl.float16), mask=inside[:, None])
        tl.store(gate_place + 3 * size, o.to(tl.float16), mask=inside[:, None])


@jit
def step_backward(
    grad_gated,  # (2, rows, size): gradient of m, bfloat16
    cell,  # (2, steps + 1, rows, size), float16
    gates,  # (2, steps, rows, 4 · size), float16
    grad_cell,  # (2, rows, size), float32: from the step after, then for the step before
    grad_gates,  # (2, steps, rows, 4 · size): gradients of the sums of the gates, bfloat16
    grad_bias,  # (2, blocks of rows, 4 · size), float32: sums over rows are added here
    fresh,  # (steps + 1, rows)
    now,
    steps,
    rows,
    size,
    limit,  # the cell clip, rounded to float16
    RESETS: tl.constexpr,
    APPROXIMATE: tl.constexpr,
    ROWS: tl.constexpr,
    CELLS: tl.constexpr,
):
    """The gradients of the gates of ROWS rows and CELLS cells, from those of m and of the next step's cells."""
    direction = tl.program_id(2).to(tl.int64)
    column = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    is_cell = column < size
    this_step = (direction * steps + now) * rows
    gates += this_step * 4 * size + column
    grad_gates += this_step * 4 * size + column
    cell += (direction * (steps + 1) + now) * rows * size + column
    grad_gated += direction * rows * size + column
    grad_cell += direction * rows * size + column
    i_sum = tl.zeros((CELLS,), tl.float32)
    f_sum, g_sum, o_sum = i_sum, i_sum, i_sum
    first = tl.program_id(1) * ROWS
    for row in range(first, tl.minimum(first + ROWS, rows)):
        i = tl.load(gates + row * 4 * size, mask=is_cell, other=0.0).to(tl.float32)
        f = tl.load(gates + row * 4 * size + size, mask=is_cell, other=0.0).to(tl.float32)
        g = tl.load(gates + row * 4 * size + 2 * size, mask=is_cell, other=0.0).to(tl.float32)
        o = tl.load(gates + row * 4 * size + 3 * size, mask=is_cell, other=0.0).to(tl.float32)
        before = tl.load(cell + row * size, mask=is_cell, other=0.0).to(tl.float32)
        c = tl.load(cell + (rows + row) * size, mask=is_cell, other=0.0).to(tl.float32)
        grad_c = tl.load(grad_cell + row * size, mask=is_cell, other=0.0)
        grad_m = tl.load(grad_gated + row * size, mask=is_cell, other=0.0).to(tl.float32)
        t = tanh(c, APPROXIMATE)
        grad_c = grad_c + grad_m * o * (1 - t * t)
        grad_c = clip_gradient(grad_c, c, limit)
        grad_before = grad_c
        if RESETS:
            grad_before = tl.where(tl.load(fresh + now * rows + row) == 0, grad_c, 0.0)
        tl.store(grad_cell + row * size, grad_before * f, mask=is_cell)
        grad_i = grad_c * g * i * (1 - i)
        grad_f = grad_before * before * f * (1 - f)
        grad_g = grad_c * i * (1 - g * g)
        grad_o = grad_m * t * o * (1 - o)
        tl.store(grad_gates + row * 4 * size, grad_i.to(tl.bfloat16), mask=is_cell)
        tl.store(grad_gates + row * 4 * size + size, grad_f.to(tl.bfloat16), mask=is_cell)
        tl.store(grad_gates + row * 4 * size + 2 * size, grad_g.to(tl.bfloat16), mask=is_cell)
        tl.store(grad_gates + row * 4 * size + 3 * size, grad_o.to(tl.bfloat16), mask=is_cell)
        i_sum += grad_i
        f_sum += grad_f
        g_sum += grad_g
        o_sum += grad_o
    sums = grad_bias + (direction * tl.num_programs(1) + tl.program_id(1)) * 4 * size + column
    tl.store(sums, tl.load(sums, mask=is_cell, other=0.0) + i_sum, mask=is_cell)
    tl.store(sums + size, tl.load(sums + size, mask=is_cell, other=0.0) + f_sum, mask=is_cell)
    tl.store(sums + 2 * size, tl.load(sums + 2 * size, mask=is_cell, other=0.0) + g_sum, mask=is_cell)
    tl.store(sums + 3 * size, tl.load(sums + 3 * size, mask=is_cell, other=0.0) + o_sum, mask=is_cell)


@jit
def clip_hidden(
    projected,  # (2, rows, dim), bfloat16
    hidden,  # (2, steps, rows, dim), bfloat16
    inputs,  # (2, steps + 1, rows, width), bfloat16
    fresh,  # (steps + 1, rows)
    now,
    steps,
    rows,
    dim,
    width,
    limit,
    RESETS: tl.constexpr,
    SIZE: tl.constexpr,
):
    """Clips the projection. It becomes the last `dim` of the next step's inputs, zero where the state is reset."""
    direction = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    row, number = at // dim, at % dim
    inside = row < rows
    x = tl.load(projected + direction * rows * dim + at, mask=inside, other=0.0).to(tl.float32)
    x = clip(x, limit).to(tl.bfloat16)
    tl.store(hidden + (direction * steps + now) * rows * dim + at, x, mask=inside)
    if RESETS:
        x = tl.where(tl.load(fresh + (now + 1) * rows + row, mask=inside, other=1) == 0, x, 0.0).to(tl.bfloat16)
    after = inputs + (direction * (steps + 1) + now + 1) * rows * width
    tl.store(after + row * width + width - dim + number, x, mask=inside)


@jit
def add_gradients(
    outer,  # (2, steps, rows, dim): the gradient from the layers above, bfloat16
    recurrent,  # (2, rows, dim): the gradient from the next step, bfloat16
    hidden,  # (2, steps, rows, dim), bfloat16
    into,  # (2, steps, rows, dim), bfloat16
    fresh,  # (steps + 1, rows)
    now,
    steps,
    rows,
    dim,
    limit,  # the projection clip, rounded to bfloat16
    RESETS: tl.constexpr,
    SIZE: tl.constexpr,
):
    """The sum of both gradients, 0 where the projection was clipped."""
    direction = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < rows * dim
    carried = inside
    if RESETS:
        carried = inside & (tl.load(fresh + (now + 1) * rows + at // dim, mask=inside, other=1) == 0)
    place = (direction * steps + now) * rows * dim + at
    grad = tl.load(outer + place, mask=inside, other=0.0).to(tl.float32)
    grad += tl.load(recurrent + direction * rows * dim + at, mask=carried, other=0.0).to(tl.float32)
    x = tl.load(hidden + place, mask=inside, other=0.0).to(tl.float32)
    grad = clip_gradient(grad, x, limit)
    tl.store(into + place, grad.to(tl.bfloat16), mask=inside)


@jit
def drop(x, into, count, dim, rows, all_rows, first_row, rate, seed, SIZE: tl.constexpr):
    """Dropout of x (steps, rows, dim): the mask depends on the seed and position alone.

    Random numbers come in fours, one for each quarter of a row.
    """
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)  # one number of each quarter
    quarter = dim // 4
    inside = at < count // 4
    line, column = at // quarter, at % quarter
    all_lines = line // rows * all_rows + first_row + line % rows
    first, second, third, fourth = tl.rand4x(seed, all_lines * quarter + column)
    place = line * dim + column
    for number in tl.static_range(4):
        chance = first if number == 0 else second if number == 1 else third if number == 2 else fourth
        value = tl.load(x + place + number * quarter, mask=inside, other=0.0).to(tl.float32)
        value = tl.where(chance >= rate, value / (1 - rate), 0.0)
        tl.store(into + place + number * quarter, value.to(into.dtype.element_ty), mask=inside)
