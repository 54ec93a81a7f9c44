"""Copy bytes from several addresses into one buffer."""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic


def make_copy():
    """The intrinsic copy(address, out, start, size): out[start : start + size] = the bytes at the address."""

    @intrinsic
    def copy(typing_context, address, out, start, size):
        def generate(context, builder, signature, arguments):
            address, array, start, size = arguments
            target = context.make_array(signature.args[1])(context, builder, array).data
            pointer = ir.IntType(8).as_pointer()
            source = builder.inttoptr(address, pointer)
            cgutils.raw_memcpy(builder, builder.gep(builder.bitcast(target, pointer), [start]), source, size, 1)
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.int64, types.int64), generate

    return copy


copy_bytes = make_copy()


@njit(cache=True, nogil=True)
def gather(addresses, sizes, out):
    """Concatenate sizes[i] bytes from each addresses[i] into `out`; returns the number of bytes."""
    at = 0
    for i in range(len(addresses)):
        copy_bytes(addresses[i], out, at, sizes[i])
        at += sizes[i]
    return at
