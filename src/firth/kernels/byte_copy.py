"""Pieces of memory from here and there, laid one behind the other."""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic


def make_copy():
    """The intrinsic copy(address, out, start, size): out[start : start + size] becomes the bytes at the address."""

    @intrinsic
    def copy(typing_context, address, out, start, size):
        def generate(context, builder, signature, arguments):
            place, array, first, count = arguments
            target = context.make_array(signature.args[1])(context, builder, array).data
            pointer = ir.IntType(8).as_pointer()
            source = builder.inttoptr(place, pointer)
            cgutils.raw_memcpy(builder, builder.gep(builder.bitcast(target, pointer), [first]), source, count, 1)
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.int64, types.int64), generate

    return copy


copy_bytes = make_copy()


@njit(cache=True, nogil=True)
def gather(addresses, sizes, out):
    """The bytes at the addresses, `sizes` of each, one behind the other in `out`. Returns how many they are."""
    at = 0
    for piece in range(len(addresses)):
        copy_bytes(addresses[piece], out, at, sizes[piece])
        at += sizes[piece]
    return at
