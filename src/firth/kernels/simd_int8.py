"""Dot products of bytes in LLVM, for instructions that compiled loops do not reach.

`dots_of_1` and `dots_of_8` multiply 32 rows by one or eight queries. With AVX-512 VNNI one instruction computes 64
products and adds them in groups of four; on other CPUs LLVM generates the same arithmetic.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from firth.kernels.simd_float import has_feature

LANES = 16  # 32-bit sums in a vector, one for each row
TILE = 32  # rows in a tile: two vectors

i8, i16, i32, i64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
sums = ir.VectorType(i32, LANES)


def add_products(builder, total, rows, query):
    """total[lane] + Σ rows (unsigned) * query (signed) over the four bytes of the lane; all three are 16 x 32 bits."""
    if has_feature("avx512vnni"):
        # The types are those of LLVM up to 20; later versions use bytes but still accept these.
        kind = ir.FunctionType(sums, [sums, sums, sums])
        step = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.vpdpbusd.512")
        return builder.call(step, [total, rows, query])
    wide = ir.VectorType(i16, 4 * LANES)
    rows = builder.zext(builder.bitcast(rows, ir.VectorType(i8, 4 * LANES)), wide)
    query = builder.sext(builder.bitcast(query, ir.VectorType(i8, 4 * LANES)), wide)
    products = []
    for first in (0, 1):
        left, right = take_every_second(builder, rows, first), take_every_second(builder, query, first)
        longer = ir.VectorType(i32, 2 * LANES)
        products.append(builder.mul(builder.sext(left, longer), builder.sext(right, longer)))
    pairs = builder.add(*products)
    fours = builder.add(take_every_second(builder, pairs, 0), take_every_second(builder, pairs, 1))
    return builder.add(total, fours)


def take_every_second(builder, vector, first):
    """The elements first, first + 2, first + 4, … of a vector."""
    chosen = ir.Constant(ir.VectorType(i32, vector.type.count // 2), list(range(first, vector.type.count, 2)))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), chosen)


def splat(builder, number):
    """A vector of 16 copies of a 32-bit number."""
    empty = ir.Constant(sums, ir.Undefined)
    one = builder.insert_element(empty, number, ir.Constant(i32, 0))
    return builder.shuffle_vector(one, empty, ir.Constant(sums, [0] * LANES))


def make_dots(queries):
    """The intrinsic dots(codes, offset, steps, words, first, totals) for a fixed number of queries.

    codes (uint8) has a tile of 32 rows at `offset`: step s is four bytes of row 0, four of row 1, … four of row 31.
    words (int32) has the queries at `first`: four signed bytes in each word, `steps` words for each query.
    totals[32 * q + r] = the dot product of query q and row r.
    """

    @intrinsic
    def dots(typing_context, codes, offset, steps, words, first, totals):
        signature = types.void(codes, types.int64, types.int64, words, types.int64, totals)

        def generate(context, builder, signature, arguments):
            def data(k):
                return context.make_array(signature.args[k])(context, builder, arguments[k]).data

            def vector_at(pointer, index):
                return builder.bitcast(builder.gep(pointer, [index]), sums.as_pointer())

            offset, steps, first = arguments[1], arguments[2], arguments[4]
            code, word, total = data(0), data(3), data(5)
            cells = [cgutils.alloca_once_value(builder, ir.Constant(sums, [0] * LANES)) for _ in range(2 * queries)]
            with cgutils.for_range(builder, steps, intp=i64) as loop:
                at = builder.add(offset, builder.mul(loop.index, ir.Constant(i64, 4 * TILE)))
                offsets = [at, builder.add(at, ir.Constant(i64, 4 * LANES))]
                rows = [builder.load(vector_at(code, offset), align=1) for offset in offsets]
                for q in range(queries):
                    index = builder.add(builder.add(first, loop.index), builder.mul(steps, ir.Constant(i64, q)))
                    query = splat(builder, builder.load(builder.gep(word, [index])))
                    for h in range(2):
                        cell = cells[2 * q + h]
                        builder.store(add_products(builder, builder.load(cell), rows[h], query), cell)
            for k, cell in enumerate(cells):
                builder.store(builder.load(cell), vector_at(total, ir.Constant(i64, LANES * k)), align=4)
            return context.get_dummy_value()

        return signature, generate

    return dots


dots_of_1 = make_dots(1)
dots_of_8 = make_dots(8)
