"""SIMD operations on vectors of 16 float32, used by the training kernels.

`Lanes` is a vector of 16 float32 in registers (one AVX-512 register; LLVM splits it for other CPUs). Its operations are
`load`, `store`, `+ - * /`, `total` and so on. Each is a Python function on NumPy arrays of 16 numbers, so that
`kernel.py_func` is the reference; numba compiles the same names to one or two instructions. Matrices are float32,
C-contiguous, and padded so that the length of a row is a multiple of 16 (see `stride`).
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils, config
from numba.core.imputils import lower_builtin
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import models, register_jitable, register_model
from numpy.typing import NDArray

LANES = 16
PREFETCHED = 8  # cache lines of a row to prefetch; the hardware prefetcher continues with longer rows
FAST = ("contract", "reassoc", "nsz")  # allows fusing and reordering; NaN and infinity are kept

# A kernel function that is inlined into its caller: a call would pass each array as seven numbers.
# It must not allocate or return an array: without numba's runtime (_nrt) array references are not counted, and counting
# takes up to half the time of a loop that passes many arrays.
inlined = register_jitable(forceinline=True, _nrt=False)
inlined_with_runtime = register_jitable(forceinline=True)  # for the kernels of the biLM: int8 rounds as it always did
loop = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]  # a kernel of such functions

f32, i32, i64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
vector, whole_numbers = ir.VectorType(f32, LANES), ir.VectorType(i32, LANES)


class LanesType(types.Type):
    """The type of 16 floats in a register."""

    def __init__(self):
        super().__init__(name="Lanes")


lanes = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, vector)


def has_feature(feature: str) -> bool:
    """Whether numba may compile for a feature: the CPU has it and no other CPU is configured."""
    return config.CPU_NAME is None and bool(binding.get_host_cpu_features().get(feature, False))


def stride(dim: int) -> int:
    """The length of a row of dim numbers, rounded up to a multiple of 16."""
    return (dim + LANES - 1) // LANES * LANES


def matrix(rows: int, dim: int) -> NDArray[np.float32]:
    """A float32 matrix of zeros with padded rows, aligned to cache lines."""
    width = stride(dim)
    room = np.zeros(rows * width + LANES, np.float32)
    skip = (-room.ctypes.data // 4) % LANES
    return room[skip : skip + rows * width].reshape(rows, width)


# The operations in Python.


def load(matrix, row, column):
    """matrix[row, column : column + 16]."""
    return matrix[row, column : column + LANES].copy()


def store(matrix, row, column, value):
    """matrix[row, column : column + 16] = value; it may extend into the next row."""
    at = int(row) * matrix.shape[1] + column
    matrix.reshape(-1)[at : at + LANES] = value


def splat(number):
    """A vector of 16 copies of a number."""
    return np.full(LANES, number, np.float32)


def total(value):
    """The sum of the 16 numbers."""
    return np.float32(value.sum())


def maximum(left, right):
    """The elementwise maximum."""
    return np.maximum(left, right)


def choose(value, left, right):
    """Elementwise: `left` where value >= 0, else `right`."""
    return np.where(value >= 0, left, right)


def rint(value):
    """The nearest integers."""
    return np.rint(value)


def power_of_two(value):
    """2^value for integers between -126 and 127."""
    return np.exp2(value).astype(np.float32)


def totals(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5):
    """The sums of twelve vectors, in lanes 0 … 5 and 8 … 13; the other lanes are 0."""
    zero = np.zeros(LANES, np.float32)
    return np.array([v.sum() for v in (a0, a1, a2, a3, a4, a5, zero, zero, b0, b1, b2, b3, b4, b5, zero, zero)])


def prefetch(matrix, row):
    """Prefetch a row for reading and writing."""


# The same operations in LLVM.


def match_types(*kinds):
    """A predicate on argument types; each kind is "v" for Lanes, "n" for a number, "m" for a matrix."""

    def fits(kind, argument):
        if kind == "v":
            return isinstance(argument, LanesType)
        if kind == "n":
            return isinstance(argument, types.Number)
        return isinstance(argument, types.Array) and argument.dtype == types.float32 and argument.layout == "C"

    return lambda arguments: len(arguments) == len(kinds) and all(map(fits, kinds, arguments))


def lowering(function, kinds, result):
    """Register the LLVM code of an operation with its argument kinds (see `match_types`) and the type of the result."""
    numbers = {"v": LanesType, "n": types.Number, "m": types.Array}
    fits = match_types(*kinds)

    class Template(AbstractTemplate):
        key = function

        def generic(self, arguments, keywords):
            return signature(result, *arguments) if fits(arguments) and not keywords else None

    infer_global(function, types.Function(Template))

    def register(generate):
        @lower_builtin(function, *(numbers[kind] for kind in kinds))
        def lowered(context, builder, chosen, arguments):
            value = generate(context, builder, chosen.args, arguments)
            return context.get_dummy_value() if value is None else value

        return generate

    return register


def constant(numbers, kind=whole_numbers):
    return ir.Constant(kind, list(numbers))


def shuffle(builder, left, right, indices):
    """A vector of chosen lanes: 0 … 15 are those of the left vector, 16 … 31 those of the right."""
    return builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(i32, len(indices)), list(indices)))


def broadcast(builder, number):
    empty = ir.Constant(vector, ir.Undefined)
    return shuffle(builder, builder.insert_element(empty, number, ir.Constant(i32, 0)), empty, [0] * LANES)


def as_lanes(context, builder, kind, value):
    """A vector as it is; a number broadcast to a vector."""
    if isinstance(kind, LanesType):
        return value
    return broadcast(builder, context.cast(builder, value, kind, types.float32))


def element_address(context, builder, kinds, arguments):
    """The address of matrix[row, column]."""
    array = context.make_array(kinds[0])(context, builder, arguments[0])
    row, column = (context.cast(builder, arguments[k], kinds[k], types.int64) for k in (1, 2))
    width = cgutils.unpack_tuple(builder, array.shape)[-1]
    return builder.gep(array.data, [builder.add(builder.mul(row, width), column)])


def call(builder, name, result, *arguments, **options):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments, **options)


@lowering(load, "mnn", lanes)
def _load(context, builder, kinds, arguments):
    address = element_address(context, builder, kinds, arguments)
    return builder.load(builder.bitcast(address, vector.as_pointer()), align=4)


@lowering(store, "mnnv", types.void)
def _store(context, builder, kinds, arguments):
    address = element_address(context, builder, kinds, arguments)
    builder.store(arguments[3], builder.bitcast(address, vector.as_pointer()), align=4)


@lowering(splat, "n", lanes)
def _splat(context, builder, kinds, arguments):
    return as_lanes(context, builder, kinds[0], arguments[0])


@lowering(total, "v", types.float32)
def _total(context, builder, kinds, arguments):
    zero = ir.Constant(f32, -0.0)
    return call(builder, "llvm.vector.reduce.fadd.v16f32", f32, zero, arguments[0], fastmath=FAST)


@lowering(maximum, "vv", lanes)
def _maximum(context, builder, kinds, arguments):
    left, right = arguments
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


@lowering(choose, "vvv", lanes)
def _choose(context, builder, kinds, arguments):
    value, left, right = arguments
    return builder.select(builder.fcmp_ordered(">=", value, ir.Constant(vector, [0.0] * LANES)), left, right)


@lowering(rint, "v", lanes)
def _rint(context, builder, kinds, arguments):
    return call(builder, "llvm.rint.v16f32", vector, arguments[0])


@lowering(power_of_two, "v", lanes)
def _power_of_two(context, builder, kinds, arguments):
    exponent = builder.add(builder.fptosi(arguments[0], whole_numbers), constant([127] * LANES))
    return builder.bitcast(builder.shl(exponent, constant([23] * LANES)), vector)


def add_neighbors(builder, left, right):
    """left[0] + left[1], left[2] + left[3], …, followed by the same sums of the right vector."""
    even, odd = (shuffle(builder, left, right, range(first, 2 * LANES, 2)) for first in (0, 1))
    return builder.fadd(even, odd, flags=FAST)


@lowering(totals, "v" * 12, lanes)
def _totals(context, builder, kinds, arguments):
    zero = ir.Constant(vector, [0.0] * LANES)
    level = [*arguments[:6], zero, zero, *arguments[6:], zero, zero]
    while len(level) > 1:  # each level halves the vectors and doubles the sums in each
        level = [add_neighbors(builder, left, right) for left, right in zip(level[::2], level[1::2])]
    return level[0]


@lowering(prefetch, "mn", types.void)
def _prefetch(context, builder, kinds, arguments):
    array = context.make_array(kinds[0])(context, builder, arguments[0])
    row = context.cast(builder, arguments[1], kinds[1], types.int64)
    width = cgutils.unpack_tuple(builder, array.shape)[-1]
    first = builder.gep(array.data, [builder.mul(row, width)])
    most = ir.Constant(i64, PREFETCHED * LANES)
    length = builder.select(builder.icmp_signed("<", width, most), width, most)
    to_write, keep_near, data = ir.Constant(i32, 1), ir.Constant(i32, 3), ir.Constant(i32, 1)
    with cgutils.for_range_slice(builder, ir.Constant(i64, 0), length, ir.Constant(i64, LANES), i64) as (column, _):
        address = builder.bitcast(builder.gep(first, [column]), ir.IntType(8).as_pointer())
        call(builder, "llvm.prefetch.p0", ir.VoidType(), address, to_write, keep_near, data)


def _arithmetic(symbol, name):
    for kinds in ("vv", "vn", "nv"):

        @lowering(symbol, kinds, lanes)
        def _operation(context, builder, kinds, arguments):
            left, right = (as_lanes(context, builder, *pair) for pair in zip(kinds, arguments))
            return getattr(builder, name)(left, right, flags=FAST)


OPERATORS = {
    "fadd": (operator.add, operator.iadd),
    "fsub": (operator.sub, operator.isub),
    "fmul": (operator.mul, operator.imul),
    "fdiv": (operator.truediv, operator.itruediv),
}
for _instruction, _symbols in OPERATORS.items():
    for _symbol in _symbols:
        _arithmetic(_symbol, _instruction)


@inlined
def exp_negative(value):
    """exp(-value) for value ≥ 0 as 2^whole · 2^rest, with rest in ±1/2 by its Taylor series (7 digits)."""
    power = maximum(value * np.float32(-1.4426950408889634), splat(-126.0))
    whole = rint(power)
    rest = (power - whole) * np.float32(0.6931471805599453)
    series = rest * np.float32(1 / 720) + np.float32(1 / 120)
    series = series * rest + np.float32(1 / 24)
    series = series * rest + np.float32(1 / 6)
    series = series * rest + np.float32(0.5)
    series = series * rest + np.float32(1.0)
    series = series * rest + np.float32(1.0)
    return series * power_of_two(whole)


@inlined
def log_of_one_plus(value):
    """log(1 + value) for 0 ≤ value ≤ 1: 2·atanh(z) with z = value / (2 + value) ≤ 1/3 (6 digits)."""
    z = value / (value + np.float32(2.0))
    square = z * z
    series = square * np.float32(2 / 9) + np.float32(2 / 7)
    series = series * square + np.float32(2 / 5)
    series = series * square + np.float32(2 / 3)
    series = series * square + np.float32(2.0)
    return series * z
