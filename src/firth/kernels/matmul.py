"""Matrix products in three precisions, faster than a general library for a few rows at a time.

A matrix is packed once: its columns in blocks of 64, and each block step by step, so that a product reads it from
start to end. A step is 32 bits of every column: one float32, two bfloat16 or four int8, by the type of the array
(float32, uint16, uint8). Six rows and 64 columns are multiplied at once; their 24 vectors of sums stay in registers.

Every sum is taken in one order, whatever the number of rows: the product of a row is the same, to the last bit, alone
or among others.

In int8 each row and each column has a scale. Bytes of the matrix are stored as c + 128, because the instruction needs
them unsigned. That adds 128·Σ(bytes of the row), which the `excess` of the row subtracts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from firth.kernels.simd_float import LANES, call, f32, has_feature, i32, i64, inlined_with_runtime, load, store
from firth.kernels.simd_float import vector as floats
from firth.kernels.simd_float import whole_numbers as words
from firth.kernels.simd_int8 import add_products
from firth.kernels.simd_int8 import splat as widen

VECTORS = 4  # of 16 columns each
BLOCK = VECTORS * LANES
ROWS = 6  # at once: 24 vectors of sums and 4 of the matrix fit 32 registers
PIECE = 512  # steps at once: 128 KB of the matrix, which stay in the cache for all rows
RUN = 128  # steps of one running sum; a longer chain of additions would lose a digit
DTYPES = {"float32": np.dtype(np.float32), "bfloat16": np.dtype(np.uint16), "int8": np.dtype(np.uint8)}


class BFloat(ir.Type):  # type: ignore[misc]
    """The bfloat type of LLVM, which llvmlite lacks."""

    def _to_string(self) -> str:
        return "bfloat"


pairs = ir.VectorType(BFloat(), 2 * LANES)
TAKES_PAIRS = binding.llvm_version_info[0] >= 16  # the dot product of bfloat16; before, it took words of 32 bits


# Packing


def round_to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper halves of float32, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def pack(matrix: NDArray[np.float32], precision: str) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """A matrix (columns, numbers) as (blocks, steps, 64 · numbers of a step), and its scales (blocks, 64).

    Missing columns of the last block, and missing numbers of the last step, are zero.
    """
    columns, numbers = matrix.shape
    per_step = 4 // DTYPES[precision].itemsize
    blocks, steps = -(-columns // BLOCK), -(-numbers // per_step)
    padded = np.zeros((blocks * BLOCK, steps * per_step), np.float32)
    padded[:columns, :numbers] = matrix
    scales = np.ones(blocks * BLOCK, np.float32)
    codes: NDArray[Any] = padded
    if precision == "bfloat16":
        codes = round_to_bfloat16(padded)
    elif precision == "int8":
        largest = np.abs(padded).max(axis=1, initial=0)
        scales = np.where(largest > 0, largest / np.float32(127), np.float32(1))
        codes = (np.rint(padded / scales[:, None]) + 128).astype(np.uint8)
    cut = codes.reshape(blocks, BLOCK, steps, per_step).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(cut).reshape(blocks, steps, BLOCK * per_step), scales.reshape(blocks, BLOCK)


def allocate_rows(
    rows: int, packed: NDArray[np.generic]
) -> tuple[NDArray[np.generic], NDArray[np.float32], NDArray[np.float32]]:
    """Buffers for rows that are multiplied with a packed matrix: their numbers, scales and excess."""
    per_step = 4 // packed.dtype.itemsize
    kind = np.dtype(np.int8) if packed.dtype == np.uint8 else packed.dtype
    return np.zeros((rows, packed.shape[1] * per_step), kind), np.ones(rows, np.float32), np.zeros(rows, np.float32)


@njit(cache=True, nogil=True)
def convert_rows(values, count, rows):
    """Converts the first `count` rows of values to the precision of a product, into what `allocate_rows` made."""
    converted, scales, excess = rows
    numbers = min(values.shape[1], converted.shape[1])
    most = np.empty(1, np.uint32)
    for r in range(count):
        row, bits = values[r], values[r].view(np.uint32)
        if converted.itemsize == 4:
            for k in range(numbers):
                converted[r, k] = row[k]
        elif converted.itemsize == 2:
            for k in range(numbers):
                tie = (bits[k] >> np.uint32(16)) & np.uint32(1)
                converted[r, k] = (bits[k] + np.uint32(0x7FFF) + tie) >> np.uint32(16)
        else:
            most[0] = 0
            for k in range(numbers):  # magnitudes sort by their bits, and NaN is above all
                most[0] = max(most[0], bits[k] & np.uint32(0x7FFFFFFF))
            largest = most.view(np.float32)[0]
            scales[r] = largest / np.float32(127)
            inverse = np.float32(127) / largest if largest > np.float32(0) else np.float32(0)
            total = np.int32(0)
            for k in range(numbers):
                code = np.int32(np.rint(row[k] * inverse))
                converted[r, k] = code
                total += code
            excess[r] = np.float32(-128) * np.float32(total)


# One tile: up to six rows times 64 columns. In Python it is a few lines of NumPy; numba compiles it to registers.


def decode(codes):
    """The float32 values of packed or converted numbers; the scales of int8 codes are not applied."""
    if codes.dtype == np.uint16:
        return (codes.astype(np.uint32) << 16).view(np.float32)
    return codes.astype(np.float32)


def multiply_tile(rows, packed, block, first, steps, converted, row, sums):
    """sums[r] = Σ over `steps` steps from `first` on of converted[row + r] · packed[block], for r < rows."""
    per_step = 4 // packed.itemsize
    part = packed[block, first : first + steps].reshape(steps, BLOCK, per_step)
    values = decode(converted[row : row + rows, first * per_step : (first + steps) * per_step])
    sums[:rows] = np.einsum("scn,rsn->rc", decode(part), values.reshape(rows, steps, per_step))


def add_floats(builder, total, left, right):
    left, right = builder.bitcast(left, floats), builder.bitcast(right, floats)
    return call(builder, "llvm.fmuladd.v16f32", floats, left, right, total)


def add_pairs(builder, total, left, right):
    if has_feature("avx512bf16"):
        if TAKES_PAIRS:
            left, right = builder.bitcast(left, pairs), builder.bitcast(right, pairs)
        return call(builder, "llvm.x86.avx512bf16.dpbf16ps.512", floats, total, left, right)
    # A bfloat16 is the upper half of a float32.
    half, upper = ir.Constant(words, [16] * LANES), ir.Constant(words, [-65536] * LANES)
    total = add_floats(builder, total, builder.shl(left, half), builder.shl(right, half))
    return add_floats(builder, total, builder.and_(left, upper), builder.and_(right, upper))


ADD = {types.float32: add_floats, types.uint16: add_pairs, types.uint8: add_products}


def make_tile(rows):
    """The intrinsic tile(packed, at, steps, converted, start, stride, sums) for a fixed number of rows; adds to `sums`.

    Offsets count words of 32 bits: `at` in the matrix, `start` of the first row and `stride` between rows.
    """
    # Without 32 wide registers, a quarter of the columns at a time.
    width = VECTORS if has_feature("avx512f") else 1

    @intrinsic
    def of_fixed_rows(typing_context, packed, at, steps, converted, start, stride, sums):
        signature = types.void(packed, types.int64, types.int64, converted, types.int64, types.int64, sums)
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


@overload(multiply_tile)
def _multiply_tile(rows, packed, block, first, steps, converted, row, sums):
    def compiled(rows, packed, block, first, steps, converted, row, sums):
        sums[:rows] = np.float32(0)
        stride = packed.shape[1]
        for begin in range(first, first + steps, RUN):
            run = min(RUN, first + steps - begin)
            at, start = (block * stride + begin) * BLOCK, row * stride + begin
            if rows == 6:
                tile_of_6(packed, at, run, converted, start, stride, sums)
            elif rows == 5:
                tile_of_5(packed, at, run, converted, start, stride, sums)
            elif rows == 4:
                tile_of_4(packed, at, run, converted, start, stride, sums)
            elif rows == 3:
                tile_of_3(packed, at, run, converted, start, stride, sums)
            elif rows == 2:
                tile_of_2(packed, at, run, converted, start, stride, sums)
            else:
                tile_of_1(packed, at, run, converted, start, stride, sums)

    return compiled


@inlined_with_runtime
def rescale(sums, r, v, scales, block, scale, excess):
    """Vector v of row r of a tile, times its scales."""
    return (load(sums, r, v * LANES) + excess) * (load(scales, block, v * LANES) * scale)


@njit(cache=True, nogil=True)
def multiply(matrix, bias, blocks, converted, count, out, next_row, next_block):
    """out[r · next_row + b · next_block] = bias[b] + row r · block b, for r < count and the given blocks b.

    `matrix` is from `pack` and `converted` from `allocate_rows`; out and bias have 64 columns. Sums of more than 512
    steps are added piece by piece.
    """
    packed, scales = matrix
    numbers, row_scales, excess = converted
    sums = np.empty((ROWS, BLOCK), np.float32)
    tiles = (count + ROWS - 1) // ROWS
    for block in range(blocks[0], blocks[1]):
        for first in range(0, packed.shape[1], PIECE):
            steps = min(PIECE, packed.shape[1] - first)
            for k in range(tiles):
                row = count * k // tiles
                rows = count * (k + 1) // tiles - row
                multiply_tile(rows, packed, block, first, steps, numbers, row, sums)
                for r in range(rows):
                    at = (row + r) * next_row + block * next_block
                    more = excess[row + r] if first == 0 else np.float32(0)
                    for v in range(VECTORS):
                        old = load(bias, block, v * LANES) if first == 0 else load(out, at, v * LANES)
                        new = rescale(sums, r, v, scales, block, row_scales[row + r], more)
                        store(out, at, v * LANES, old + new)
