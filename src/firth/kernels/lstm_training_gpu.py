"""One word further in both directions of an LSTM with a projection, forwards and backwards, on a GPU.

The products of a step are joined to what is done with them, so that gates never travel to memory as sums:

    i, f, g, o = weights · [x; h] + bias                 one product, K = input + dim
    c ← clip(sigmoid(f) · c + sigmoid(i) · tanh(g))      in the registers that hold the product
    m ← sigmoid(o) · tanh(c)                             h = clip(projection · m) is a product of its own

What the way back needs is kept in two bytes a number: gates and cells are bounded, so float16 holds them closer than
bfloat16 would; what is multiplied is bfloat16. All sums are float32. Directions are the first axis everywhere.
"""

from __future__ import annotations

from firth.kernels.triton_support import jit, tl


@jit
def tanh(x, APPROXIMATE: tl.constexpr):
    """tanh; approximately, with a relative error of 2^-11, in one instruction."""
    if APPROXIMATE:
        return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1)
    return 2 / (1 + tl.exp(-2 * x)) - 1


@jit
def step_forward(
    heard,  # (2 · (steps + 1) · rows, inputs): what is given and what was said, bfloat16, in tiles
    weights,  # (2 · 4 · cell, inputs), in the order of `tiled`, bfloat16, in tiles
    bias,  # (2, 4 · cell)
    cells,  # (2, steps + 1, rows, cell), float16
    gates,  # (2, steps, rows, 4 · cell), float16
    opened,  # (2, steps, rows, cell): m, bfloat16
    fresh,  # (steps + 1, rows): where all before is forgotten
    now,  # the step
    steps,
    rows,
    cell,
    inputs,
    clip,
    FORGETS: tl.constexpr,
    APPROXIMATE: tl.constexpr,
    PROGRAMS: tl.constexpr,
    ROWS: tl.constexpr,
    CELLS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """Gates, cells and what they let out, of ROWS rows and CELLS cells at a time. See the formulas above."""
    # Blocks of rows follow each other fastest: they share their weights, which are read once.
    row_blocks = tl.cdiv(rows, ROWS)
    all_blocks = row_blocks * (cell // CELLS)
    for tile in tl.range(tl.program_id(0), 2 * all_blocks, PROGRAMS, flatten=True):
        direction, block = tile // all_blocks, tile % all_blocks
        row = (block % row_blocks) * ROWS + tl.arange(0, ROWS)
        column = (block // row_blocks) * CELLS + tl.arange(0, CELLS)
        first_row = (direction * (steps + 1) + now) * rows + (block % row_blocks) * ROWS
        first_weight = (direction * (cell // CELLS) + block // row_blocks) * 4 * CELLS
        total = tl.zeros((ROWS, 4 * CELLS), tl.float32)
        for depth in range(0, inputs, DEPTH):
            total = tl.dot(heard.load([first_row, depth]), weights.load([first_weight, depth]).T, total)
        halves = tl.permute(tl.reshape(total, (ROWS, 2, 2 * CELLS)), (0, 2, 1))
        first, second = tl.split(halves)
        i, f = tl.split(tl.reshape(first, (ROWS, CELLS, 2)))
        g, o = tl.split(tl.reshape(second, (ROWS, CELLS, 2)))
        biases = bias + direction * 4 * cell + column
        i = 0.5 * tanh(0.5 * (i + tl.load(biases)[None, :]), APPROXIMATE) + 0.5
        f = 0.5 * tanh(0.5 * (f + tl.load(biases + cell)[None, :]), APPROXIMATE) + 0.5
        g = tanh(g + tl.load(biases + 2 * cell)[None, :], APPROXIMATE)
        o = 0.5 * tanh(0.5 * (o + tl.load(biases + 3 * cell)[None, :]), APPROXIMATE) + 0.5
        inside = row < rows
        known = inside
        if FORGETS:
            known = inside & (tl.load(fresh + now * rows + row, mask=inside, other=1) == 0)
        place = row[:, None] * cell + column[None, :]
        from_cells = cells + (direction.to(tl.int64) * (steps + 1) + now) * rows * cell
        before = tl.load(from_cells + place, mask=known[:, None], other=0.0)
        c = f * before.to(tl.float32) + i * g
        c = tl.minimum(tl.maximum(c, -clip), clip)
        tl.store(from_cells + rows * cell + place, c.to(tl.float16), mask=inside[:, None])
        m = o * tanh(c, APPROXIMATE)
        this_step = (direction.to(tl.int64) * steps + now) * rows * cell
        tl.store(opened + this_step + place, m.to(tl.bfloat16), mask=inside[:, None])
        gate_place = gates + 4 * this_step + (row[:, None] * (4 * cell) + column[None, :])
        tl.store(gate_place, i.to(tl.float16), mask=inside[:, None])
        tl.store(gate_place + cell, f.to(tl.float16), mask=inside[:, None])
        tl.store(gate_place + 2 * cell, g.to(tl.float16), mask=inside[:, None])
        tl.store(gate_place + 3 * cell, o.to(tl.float16), mask=inside[:, None])


@jit
def step_backward(
    opened_slope,  # (2, rows, cell): by m, bfloat16
    cells,  # (2, steps + 1, rows, cell), float16
    gates,  # (2, steps, rows, 4 · cell), float16
    cells_slope,  # (2, rows, cell), float32: from the step after, then for the step before
    slopes,  # (2, steps, rows, 4 · cell): by the sums of the gates, bfloat16
    bias_slope,  # (2, blocks of rows, 4 · cell), float32: sums over rows are added here
    fresh,  # (steps + 1, rows)
    now,
    steps,
    rows,
    cell,
    bound,  # the clip, as float16 holds it
    FORGETS: tl.constexpr,
    APPROXIMATE: tl.constexpr,
    ROWS: tl.constexpr,
    CELLS: tl.constexpr,
):
    """The slopes of ROWS rows and CELLS cells, from what was let out to each gate's sum."""
    direction = tl.program_id(2).to(tl.int64)
    column = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    is_cell = column < cell
    this_step = (direction * steps + now) * rows
    gates += this_step * 4 * cell + column
    slopes += this_step * 4 * cell + column
    cells += (direction * (steps + 1) + now) * rows * cell + column
    opened_slope += direction * rows * cell + column
    cells_slope += direction * rows * cell + column
    i_sum = tl.zeros((CELLS,), tl.float32)
    f_sum, g_sum, o_sum = i_sum, i_sum, i_sum
    first = tl.program_id(1) * ROWS
    for row in range(first, tl.minimum(first + ROWS, rows)):
        i = tl.load(gates + row * 4 * cell, mask=is_cell, other=0.0).to(tl.float32)
        f = tl.load(gates + row * 4 * cell + cell, mask=is_cell, other=0.0).to(tl.float32)
        g = tl.load(gates + row * 4 * cell + 2 * cell, mask=is_cell, other=0.0).to(tl.float32)
        o = tl.load(gates + row * 4 * cell + 3 * cell, mask=is_cell, other=0.0).to(tl.float32)
        before = tl.load(cells + row * cell, mask=is_cell, other=0.0).to(tl.float32)
        c = tl.load(cells + (rows + row) * cell, mask=is_cell, other=0.0).to(tl.float32)
        c_slope = tl.load(cells_slope + row * cell, mask=is_cell, other=0.0)
        m_slope = tl.load(opened_slope + row * cell, mask=is_cell, other=0.0).to(tl.float32)
        t = tanh(c, APPROXIMATE)
        c_slope = c_slope + m_slope * o * (1 - t * t)
        c_slope = tl.where(tl.abs(c) < bound, c_slope, 0.0)  # a cell at its bound does not answer
        from_before = c_slope
        if FORGETS:
            from_before = tl.where(tl.load(fresh + now * rows + row) == 0, c_slope, 0.0)
        tl.store(cells_slope + row * cell, from_before * f, mask=is_cell)
        i_slope = c_slope * g * i * (1 - i)
        f_slope = from_before * before * f * (1 - f)
        g_slope = c_slope * i * (1 - g * g)
        o_slope = m_slope * t * o * (1 - o)
        tl.store(slopes + row * 4 * cell, i_slope.to(tl.bfloat16), mask=is_cell)
        tl.store(slopes + row * 4 * cell + cell, f_slope.to(tl.bfloat16), mask=is_cell)
        tl.store(slopes + row * 4 * cell + 2 * cell, g_slope.to(tl.bfloat16), mask=is_cell)
        tl.store(slopes + row * 4 * cell + 3 * cell, o_slope.to(tl.bfloat16), mask=is_cell)
        i_sum += i_slope
        f_sum += f_slope
        g_sum += g_slope
        o_sum += o_slope
    sums = bias_slope + (direction * tl.num_programs(1) + tl.program_id(1)) * 4 * cell + column
    tl.store(sums, tl.load(sums, mask=is_cell, other=0.0) + i_sum, mask=is_cell)
    tl.store(sums + cell, tl.load(sums + cell, mask=is_cell, other=0.0) + f_sum, mask=is_cell)
    tl.store(sums + 2 * cell, tl.load(sums + 2 * cell, mask=is_cell, other=0.0) + g_sum, mask=is_cell)
    tl.store(sums + 3 * cell, tl.load(sums + 3 * cell, mask=is_cell, other=0.0) + o_sum, mask=is_cell)


@jit
def clip_said(
    projected,  # (2, rows, dim), bfloat16
    said,  # (2, steps, rows, dim), bfloat16
    heard,  # (2, steps + 1, rows, inputs), bfloat16
    fresh,  # (steps + 1, rows)
    now,
    steps,
    rows,
    dim,
    inputs,
    clip,
    FORGETS: tl.constexpr,
    SIZE: tl.constexpr,
):
    """Clips what was projected; the next step hears it in the last `dim` of its inputs, unless it forgets."""
    direction = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    row, number = at // dim, at % dim
    inside = row < rows
    x = tl.load(projected + direction * rows * dim + at, mask=inside, other=0.0).to(tl.float32)
    x = tl.minimum(tl.maximum(x, -clip), clip).to(tl.bfloat16)
    tl.store(said + (direction * steps + now) * rows * dim + at, x, mask=inside)
    if FORGETS:
        x = tl.where(tl.load(fresh + (now + 1) * rows + row, mask=inside, other=1) == 0, x, 0.0).to(tl.bfloat16)
    after = heard + (direction * (steps + 1) + now + 1) * rows * inputs
    tl.store(after + row * inputs + inputs - dim + number, x, mask=inside)


@jit
def said_slopes(
    outer,  # (2, steps, rows, dim): the slope from the layers above, bfloat16
    recurrent,  # (2, rows, dim): the slope from the step after, bfloat16
    said,  # (2, steps, rows, dim): what was said, bfloat16
    into,  # (2, steps, rows, dim), bfloat16
    fresh,  # (steps + 1, rows)
    now,
    steps,
    rows,
    dim,
    bound,  # the clip, as bfloat16 holds it
    FORGETS: tl.constexpr,
    SIZE: tl.constexpr,
):
    """Adds both slopes, and drops them where the projection was at its bound."""
    direction = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < rows * dim
    heard = inside
    if FORGETS:
        heard = inside & (tl.load(fresh + (now + 1) * rows + at // dim, mask=inside, other=1) == 0)
    place = (direction * steps + now) * rows * dim + at
    slope = tl.load(outer + place, mask=inside, other=0.0).to(tl.float32)
    slope += tl.load(recurrent + direction * rows * dim + at, mask=heard, other=0.0).to(tl.float32)
    x = tl.load(said + place, mask=inside, other=0.0).to(tl.float32)
    slope = tl.where(tl.abs(x) < bound, slope, 0.0)
    tl.store(into + place, slope.to(tl.bfloat16), mask=inside)


@jit
def drop(x, into, count, dim, rows, all_rows, first_row, rate, seed, SIZE: tl.constexpr):
    """x (steps, rows, dim) without a share of its numbers; which ones depends on the seed and place alone.

    Chances come in fours, one for each quarter of a row.
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
