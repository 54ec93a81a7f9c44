"""Exact top-k cosines: an int8 scan with error bounds selects candidates, which are scored exactly.

A unit row x is stored as int8 codes c and a scale s, x̂ = s·c, with error e = ‖x - x̂‖. A unit query q is quantized to q̂
with error d = ‖q - q̂‖. Then |q·x - q̂·x̂| ≤ ‖q‖·e + d·‖x̂‖ ≤ e + d·(1 + e), so a scan over the codes gives each cosine an
upper and a lower bound. A row whose upper bound is below k lower bounds is not among the k best; the others are scored
exactly.

Rows are stored in tiles of 32 (see `kernels/simd_int8.py`); a byte is c + 128, because the instruction needs unsigned
rows.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from firth.kernels.simd_int8 import TILE, dots_of_1, dots_of_8

FLOAT_SLACK = np.float32(4e-6)  # exceeds the float32 rounding errors of a bound and of a cosine
FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=FAST)
def norm(row):
    """‖row‖ in double precision."""
    total = 0.0
    for d in range(len(row)):
        total += np.float64(row[d]) * np.float64(row[d])
    return math.sqrt(total)


@njit(cache=True, nogil=True, fastmath=FAST)
def max_abs(row):
    """max |row[d]|."""
    most = np.float32(0)
    for d in range(len(row)):
        most = max(most, abs(row[d]))
    return most


@njit(cache=True, nogil=True, fastmath=FAST)
def quantize(row, length, codes):
    """codes[d] = row[d] / length / scale, rounded; returns (scale, error). A zero row gives zeros."""
    most = np.float64(max_abs(row))
    if length == 0.0 or most == 0.0:
        codes[: len(row)] = 0
        return 0.0, 0.0
    scale = most / length / 127.0
    steps = 127.0 / most
    inverse = 1.0 / length
    squared_error = 0.0
    for d in range(len(row)):
        code = np.rint(np.float64(row[d]) * steps)
        codes[d] = np.int8(code)
        difference = np.float64(row[d]) * inverse - code * scale
        squared_error += difference * difference
    return scale, math.sqrt(squared_error)


@njit(cache=True, nogil=True)
def pack_rows(rows, first, steps, codes, scales, errors):
    """Quantize rows and write them into tiles as rows first, first + 1, …; `first` is a multiple of the tile size."""
    dim = rows.shape[1]
    row_codes = np.zeros(4 * steps, np.int8)
    for k in range(rows.shape[0]):
        scale, error = quantize(rows[k], norm(rows[k]), row_codes)
        row = first + k
        scales[row] = scale
        errors[row] = error
        base = (row // TILE) * steps * 4 * TILE + (row % TILE) * 4
        for d in range(dim):
            codes[base + (d >> 2) * 4 * TILE + (d & 3)] = np.uint8(np.int16(row_codes[d]) + 128)


@njit(cache=True, nogil=True)
def pack_queries(queries, units, codes, sums, scales, errors):
    """Normalize queries in double precision and quantize them; sums[k] is the sum of codes[k]. Zeros stay zeros."""
    dim = queries.shape[1]
    for k in range(len(queries)):
        length = norm(queries[k])
        scale, error = quantize(queries[k], length, codes[k])
        scales[k] = scale
        errors[k] = error
        total = np.int32(0)
        for d in range(dim):
            units[k, d] = np.float64(queries[k, d]) / length if length > 0.0 else 0.0
            total += np.int32(codes[k, d])
        sums[k] = total


@njit(cache=True, nogil=True)
def replace_smallest(heap, value):
    """Replace the smallest value, heap[0], of a binary min-heap."""
    size = len(heap)
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@njit(cache=True, nogil=True)
def compact(ids, owners, uppers, count, heaps):
    """Remove candidates whose upper bound is below the current threshold of their query; returns the new number."""
    kept = 0
    for k in range(count):
        if uppers[k] >= heaps[owners[k], 0]:
            ids[kept] = ids[k]
            owners[kept] = owners[k]
            uppers[kept] = uppers[k]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def enlarge(array, room):
    """A copy of the array with length `room`."""
    larger = np.empty(room, array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True)
def bound_tile(totals, scale, shift, base, slope, scales, errors, threshold, uppers):
    """uppers[r] = q̂·x̂ + base + slope·e for the rows of a tile; returns how many reach the threshold."""
    hits = 0
    for r in range(TILE):
        approximate = np.float32(totals[r] - shift) * (scales[r] * scale)
        uppers[r] = approximate + (base + slope * errors[r])
        hits += uppers[r] >= threshold
    return hits


@njit(cache=True, nogil=True)
def scan(codes, steps, scales, errors, first, last, words, sums, query_scales, query_errors, allowed, heaps, most):
    """Candidates for the best rows among first … last - 1 for each query; `first` is the start of a tile.

    heaps[q] is a min-heap of the largest lower bounds so far, initially -inf. `allowed` is empty or a mask of the rows
    to consider. Returns (ids, owners, uppers): row, query and upper bound of each candidate. If more than `most`
    remain, ids is empty and owners is [-1]: the caller must scan exactly.
    """
    totals = np.empty(TILE * 8, np.int32)
    tile_uppers = np.empty(TILE, np.float32)
    ids, owners, uppers = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.float32)
    count = 0
    for start in range(first, last, TILE):
        tile = slice(start, start + TILE)
        done = 0  # queries whose dot products are in totals
        for q in range(len(sums)):
            if q == done:
                if len(sums) - q >= 8:
                    dots_of_8(codes, start * steps * 4, steps, words, q * steps, totals)
                    done += 8
                else:
                    dots_of_1(codes, start * steps * 4, steps, words, q * steps, totals)
                    done += 1
                first_query = q
            base, slope = query_errors[q] + FLOAT_SLACK, np.float32(1) + query_errors[q]
            dots = totals[TILE * (q - first_query) :]
            shift = sums[q] * 128
            scale, best = query_scales[q], heaps[q, 0]
            if not bound_tile(dots, scale, shift, base, slope, scales[tile], errors[tile], best, tile_uppers):
                continue
            for row in range(start, min(last, start + TILE)):
                upper = tile_uppers[row - start]
                if not upper >= heaps[q, 0] or (len(allowed) > 0 and allowed[row] == 0):
                    continue
                lower = upper - np.float32(2) * (base + slope * errors[row])
                if lower > heaps[q, 0]:
                    replace_smallest(heaps[q], lower)
                if count == len(ids):
                    count = compact(ids, owners, uppers, count, heaps)
                    if count > most:
                        return ids[:0], np.full(1, -1, np.int64), uppers[:0]
                    if 2 * count > len(ids):
                        room = 2 * len(ids)
                        ids, owners, uppers = enlarge(ids, room), enlarge(owners, room), enlarge(uppers, room)
                ids[count], owners[count], uppers[count] = row, q, upper
                count += 1
    count = compact(ids, owners, uppers, count, heaps)
    return ids[:count], owners[:count], uppers[:count]


@njit(cache=True, nogil=True, fastmath=FAST)
def cosine(row, query):
    """The cosine of a row and a unit query, in double precision; 0 for a row of zeros, NaN if it is not finite."""
    product = 0.0
    square = 0.0
    for d in range(len(row)):
        x = np.float64(row[d])
        product += x * query[d]
        square += x * x
    return 0.0 if square == 0.0 else product / math.sqrt(square)


@njit(cache=True, nogil=True)
def cosines(rows, queries, owners, scores):
    """scores[k] = the cosine of rows[k] and queries[owners[k]], rounded once, to float32."""
    for k in range(len(scores)):
        scores[k] = np.float32(cosine(rows[k], queries[owners[k]]))
