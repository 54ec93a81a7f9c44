"""Products of matrices in three precisions, faster than a general library on rows that come a few at a time.

A matrix is packed once: its columns in blocks of 64, and in a block step after step, so that a product reads it from
end to end. A step is 32 bits of every column: one float32, two bfloat16 or four bytes, by the type of the array
(float32, uint16, uint8). Six rows and 64 columns are multiplied at once and their 24 vectors of sums stay in registers.

Every sum is taken in one order, whatever the number of rows: a row's product is the same, to the last bit, alone or
among others.

A byte stands for a number by a scale, one a row and one a column. Bytes of the matrix are stored as c + 128, because
the instruction wants them unsigned; that adds 128·Σ(bytes of the row), which the row's `excess` takes back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from firth.kernels.simd_float import LANES, call, f32, i32, i64, inlined, load, store
from firth.kernels.simd_float import vector as floats
from firth.kernels.simd_float import whole_numbers as words
from firth.kernels.simd_int8 import add_products
from firth.kernels.simd_int8 import splat as widen

VECTORS = 4  # of 16 columns each
BLOCK = VECTORS * LANES
ROWS = 6  # at once: 24 vectors of sums and 4 of the matrix, of 32 registers
PIECE = 512  # steps at once: 128 KB of the matrix, which stay near the processor while all rows pass
RUN = 128  # steps that are summed up by themselves; a longer chain of additions would lose a digit
KINDS = {"float32": np.dtype(np.float32), "bfloat16": np.dtype(np.uint16), "int8": np.dtype(np.uint8)}


class BFloat(ir.Type):  # type: ignore[misc]
    """A type of LLVM's that llvmlite does not know."""

    def _to_string(self) -> str:
        return "bfloat"


pairs = ir.VectorType(BFloat(), 2 * LANES)


def has(feature: str) -> bool:
    """Whether the code that numba makes may use a feature: the CPU has it and nobody asked for another CPU."""
    return config.CPU_NAME is None and bool(binding.get_host_cpu_features().get(feature, False))


# Packing


def rounded_to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper halves of floats, rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def pack(matrix: NDArray[np.float32], precision: str) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """A matrix (columns, numbers) as (blocks, steps, 64 words' worth of numbers), and its scales (blocks, 64).

    Missing columns of the last block, and missing numbers of the last step, are zero.
    """
    columns, numbers = matrix.shape
    a_step = 4 // KINDS[precision].itemsize
    blocks, steps = -(-columns // BLOCK), -(-numbers // a_step)
    padded = np.zeros((blocks * BLOCK, steps * a_step), np.float32)
    padded[:columns, :numbers] = matrix
    scales = np.ones(blocks * BLOCK, np.float32)
    codes: NDArray[Any] = padded
    if precision == "bfloat16":
        codes = rounded_to_bfloat16(padded)
    elif precision == "int8":
        largest = np.abs(padded).max(axis=1, initial=0)
        scales = np.where(largest > 0, largest / np.float32(127), np.float32(1))
        codes = (np.rint(padded / scales[:, None]) + 128).astype(np.uint8)
    cut = codes.reshape(blocks, BLOCK, steps, a_step).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(cut).reshape(blocks, steps, BLOCK * a_step), scales.reshape(blocks, BLOCK)


def room(
    rows: int, packed: NDArray[np.generic]
) -> tuple[NDArray[np.generic], NDArray[np.float32], NDArray[np.float32]]:
    """Where rows can be written down to be multiplied with a matrix: their numbers, their scales and their excess."""
    a_step = 4 // packed.dtype.itemsize
    kind = np.dtype(np.int8) if packed.dtype == np.uint8 else packed.dtype
    return np.zeros((rows, packed.shape[1] * a_step), kind), np.ones(rows, np.float32), np.zeros(rows, np.float32)


@njit(cache=True, nogil=True)
def write_down(values, count, room):
    """The first `count` rows of values in the precision of a product, where `room` has been made for them."""
    written, scales, excess = room
    numbers = min(values.shape[1], written.shape[1])
    most = np.empty(1, np.uint32)
    for r in range(count):
        row, bits = values[r], values[r].view(np.uint32)
        if written.itemsize == 4:
            for k in range(numbers):
                written[r, k] = row[k]
        elif written.itemsize == 2:
            for k in range(numbers):
                tie = (bits[k] >> np.uint32(16)) & np.uint32(1)
                written[r, k] = (bits[k] + np.uint32(0x7FFF) + tie) >> np.uint32(16)
        else:
            most[0] = 0
            for k in range(numbers):  # magnitudes are in the order of their bits, and not-a-number is above all
                most[0] = max(most[0], bits[k] & np.uint32(0x7FFFFFFF))
            largest = most.view(np.float32)[0]
            scales[r] = largest / np.float32(127)
            inverse = np.float32(127) / largest if largest > np.float32(0) else np.float32(0)
            total = np.int32(0)
            for k in range(numbers):
                code = np.int32(np.rint(row[k] * inverse))
                written[r, k] = code
                total += code
            excess[r] = np.float32(-128) * np.float32(total)


# One tile: up to six rows times 64 columns. In Python it is a few lines of NumPy; numba compiles it to registers.


def as_numbers(codes):
    """The numbers that words of a packed matrix, or of rows written down, stand for; bytes for themselves."""
    if codes.dtype == np.uint16:
        return (codes.astype(np.uint32) << 16).view(np.float32)
    return codes.astype(np.float32)


def tile(rows, packed, block, first, steps, written, row, sums):
    """sums[r] = Σ over `steps` steps from `first` on of written[row + r] · packed[block], for r < rows."""
    a_step = 4 // packed.itemsize
    part = packed[block, first : first + steps].reshape(steps, BLOCK, a_step)
    values = as_numbers(written[row : row + rows, first * a_step : (first + steps) * a_step])
    sums[:rows] = np.einsum("scn,rsn->rc", as_numbers(part), values.reshape(rows, steps, a_step))


def add_floats(builder, total, left, right):
    left, right = builder.bitcast(left, floats), builder.bitcast(right, floats)
    return call(builder, "llvm.fmuladd.v16f32", floats, left, right, total)


def add_pairs(builder, total, left, right):
    if has("avx512bf16"):
        left, right = builder.bitcast(left, pairs), builder.bitcast(right, pairs)
        return call(builder, "llvm.x86.avx512bf16.dpbf16ps.512", floats, total, left, right)
    # A bfloat16 is the upper half of a float32.
    half, upper = ir.Constant(words, [16] * LANES), ir.Constant(words, [-65536] * LANES)
    total = add_floats(builder, total, builder.shl(left, half), builder.shl(right, half))
    return add_floats(builder, total, builder.and_(left, upper), builder.and_(right, upper))


ADD = {types.float32: add_floats, types.uint16: add_pairs, types.uint8: add_products}


def make_tile(rows):
    """The intrinsic tile(packed, at, steps, written, start, stride, sums) for a fixed number of rows; adds to `sums`.

    All places are counted in words of 32 bits: `at` in the matrix, `start` of the first row and `stride` between rows.
    """
    # Without 32 wide registers, a quarter of the columns at a time.
    width = VECTORS if has("avx512f") else 1

    @intrinsic
    def of_fixed_rows(typing_context, packed, at, steps, written, start, stride, sums):
        signature = types.void(packed, types.int64, types.int64, written, types.int64, types.int64, sums)
        add, is_whole = ADD[packed.dtype], packed.dtype == types.uint8
        zero = ir.Constant(words, [0] * LANES) if is_whole else ir.Constant(floats, [0.0] * LANES)

        def generate(context, builder, signature, arguments):
            def data(k, kind):
                return builder.bitcast(context.make_array(signature.args[k])(context, builder, arguments[k]).data, kind)

            def number(value):
                return ir.Constant(i64, value)

            _, at, steps, _, start, stride, _ = arguments
            matrix = builder.gep(data(0, i32.as_pointer()), [at])
            first = builder.gep(data(3, i32.as_pointer()), [start])
            values = [builder.gep(first, [builder.mul(stride, number(r))]) for r in range(rows)]
            result = data(6, f32.as_pointer())
            for left in range(0, VECTORS, width):
                cells = [[cgutils.alloca_once_value(builder, zero) for _ in range(width)] for _ in range(rows)]
                with cgutils.for_range(builder, steps, intp=i64) as loop:
                    step = builder.gep(
                        matrix, [builder.add(builder.mul(loop.index, number(BLOCK)), number(left * LANES))]
                    )
                    columns = [builder.gep(step, [number(LANES * v)]) for v in range(width)]
                    columns = [builder.load(builder.bitcast(c, words.as_pointer()), align=4) for c in columns]
                    for r in range(rows):
                        value = widen(builder, builder.load(builder.gep(values[r], [loop.index])))
                        for cell, column in zip(cells[r], columns):
                            builder.store(add(builder, builder.load(cell), column, value), cell)
                for r in range(rows):
                    for v, cell in enumerate(cells[r]):
                        total = builder.load(cell)
                        total = builder.sitofp(total, floats) if is_whole else total
                        place = builder.gep(result, [number(r * BLOCK + (left + v) * LANES)])
                        place = builder.bitcast(place, floats.as_pointer())
                        builder.store(builder.fadd(total, builder.load(place, align=4)), place, align=4)
                        builder.store(zero, cell)
            return context.get_dummy_value()

        return signature, generate

    return of_fixed_rows


tile_of_1, tile_of_2, tile_of_3, tile_of_4, tile_of_5, tile_of_6 = map(make_tile, range(1, ROWS + 1))


@overload(tile)
def _tile(rows, packed, block, first, steps, written, row, sums):
    def compiled(rows, packed, block, first, steps, written, row, sums):
        sums[:rows] = np.float32(0)
        stride = packed.shape[1]
        for begin in range(first, first + steps, RUN):
            run = min(RUN, first + steps - begin)
            at, start = (block * stride + begin) * BLOCK, row * stride + begin
            if rows == 6:
                tile_of_6(packed, at, run, written, start, stride, sums)
            elif rows == 5:
                tile_of_5(packed, at, run, written, start, stride, sums)
            elif rows == 4:
                tile_of_4(packed, at, run, written, start, stride, sums)
            elif rows == 3:
                tile_of_3(packed, at, run, written, start, stride, sums)
            elif rows == 2:
                tile_of_2(packed, at, run, written, start, stride, sums)
            else:
                tile_of_1(packed, at, run, written, start, stride, sums)

    return compiled


@inlined
def scaled(sums, r, v, scales, block, scale, excess):
    """Vector v of row r of a tile as the numbers that it stands for."""
    return (load(sums, r, v * LANES) + excess) * (load(scales, block, v * LANES) * scale)


@njit(cache=True, nogil=True)
def multiply(matrix, bias, blocks, written, count, out, next_row, next_block):
    """out[r · next_row + b · next_block] = bias[b] + row r · block b, for r < count and the given blocks b.

    `matrix` is what `pack` gives and `written` what `room` gives; out and bias have 64 columns. Sums of more than 512
    steps are added up piece by piece.
    """
    packed, scales = matrix
    numbers, row_scales, excess = written
    sums = np.empty((ROWS, BLOCK), np.float32)
    tiles = (count + ROWS - 1) // ROWS
    for block in range(blocks[0], blocks[1]):
        for first in range(0, packed.shape[1], PIECE):
            steps = min(PIECE, packed.shape[1] - first)
            for k in range(tiles):
                row = count * k // tiles
                rows = count * (k + 1) // tiles - row
                tile(rows, packed, block, first, steps, numbers, row, sums)
                for r in range(rows):
                    at = (row + r) * next_row + block * next_block
                    more = excess[row + r] if first == 0 else np.float32(0)
                    for v in range(VECTORS):
                        old = load(bias, block, v * LANES) if first == 0 else load(out, at, v * LANES)
                        new = scaled(sums, r, v, scales, block, row_scales[row + r], more)
                        store(out, at, v * LANES, old + new)
