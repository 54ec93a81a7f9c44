"""A linear classifier of lines, as fastText has it: the mean of a line's rows, and scores of labels.

A text is an array of types. What a type stands for is told by `kinds` (a label's number, WORD or NOTHING), by `hashes`
(the word's hash, for runs of words) and by its rows of the input matrix: lengths[t] numbers from rows[pointers[t]] on.
With h the mean of a line's n rows, a score is s = h·y for an output row y. A step adds g·h to y and (Σ g·y) / n to each
of the line's rows, where g = -rate · ∂loss/∂s.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from firth.kernels.random import STEP, below, draw, mix
from firth.kernels.simd_float import LANES, load, prefetch, splat, store, total
from firth.kernels.subwords import OFFSET, PRIME, SIGN

WORD, NOTHING = np.int32(-1), np.int32(-2)
SOFTMAX, TREE, NOISE, EACH = range(4)  # the losses
FACTOR = np.uint64(116049371)
BLANK, TAB, CARRIAGE_RETURN, NEWLINE = np.uint8(32), np.uint8(9), np.uint8(13), np.uint8(10)


@njit(cache=True, nogil=True)
def cut_words(blob, starts, ends, line_ends):
    """Cuts bytes at ASCII white space (and zero bytes) and lines at newlines; returns (words, lines).

    An empty word, with start and end alike, stands for the end of each line. The arrays are filled as far as they
    reach, so that empty arrays only count.
    """
    words, lines, at = 0, 0, 0
    size = len(blob)
    while at < size:
        byte = blob[at]
        is_end = byte == NEWLINE
        if not is_end and (byte == BLANK or TAB <= byte <= CARRIAGE_RETURN or byte == 0):
            at += 1
            continue
        start = at
        if not is_end:
            while at < size and blob[at] != BLANK and blob[at] != 0 and not TAB <= blob[at] <= CARRIAGE_RETURN:
                at += 1
        if words < len(starts):
            starts[words], ends[words] = start, at
        words += 1
        if is_end:
            at += 1
            if lines < len(line_ends):
                line_ends[lines] = words
            lines += 1
    return words, lines


@njit(cache=True, nogil=True)
def hash_words(blob, starts, ends, hashes):
    """hashes[i] becomes the hash of word i: FNV-1a with signed bytes, as a signed number widened to 64 bits."""
    for word in range(len(starts)):
        hash = OFFSET
        for i in range(starts[word], ends[word]):
            byte = np.uint32(blob[i])
            if byte >= np.uint32(128):
                byte |= SIGN
            hash = np.uint32(np.uint32(hash ^ byte) * PRIME)
        hashes[word] = np.uint64(np.int64(np.int32(hash)))


@njit(cache=True, nogil=True)
def find_prefix(blob, starts, ends, prefix, found):
    """found[i] becomes whether word i begins with the prefix."""
    for word in range(len(starts)):
        found[word] = ends[word] - starts[word] >= len(prefix)
        for i in range(len(prefix)):
            if found[word] and blob[starts[word] + i] != prefix[i]:
                found[word] = False


@njit(cache=True, nogil=True)
def measure_lines(types, ends, lengths, ngrams):
    """(the most rows, the most words) that any line can have, its end included, and the sum of the most rows."""
    most, longest, together, at = np.int64(0), np.int64(0), np.int64(0), 0
    for line in range(len(ends)):
        rows = np.int64(0)
        for i in range(at, ends[line]):
            rows += lengths[types[i]] + ngrams - 1
        most, longest = max(most, rows), max(longest, ends[line] - at)
        together += rows
        at = ends[line]
    return most, longest, together


@njit(cache=True, nogil=True)
def gather(types, table, ngrams, buckets, pruned, first, rows, labels, hashes):
    """The rows and the labels of a line: returns (number of rows, number of labels).

    First the rows of its words, then those of runs of 2 … ngrams words. Such a run of hashes a, b, c … has the number
    (a·F + b)·F + c …, modulo 2⁶⁴ and then the number of buckets; bucket b has row first + b, or first + pruned[b] where
    that array is not empty, and none where pruned[b] is negative.
    """
    kinds, word_hashes, word_rows, pointers, lengths = table
    count, label_count, words = 0, 0, 0
    for i in range(len(types)):
        type = types[i]
        if kinds[type] >= 0:
            labels[label_count] = kinds[type]
            label_count += 1
        elif kinds[type] == WORD:
            for k in range(pointers[type], pointers[type] + lengths[type]):
                rows[count] = word_rows[k]
                count += 1
            hashes[words] = word_hashes[type]
            words += 1
    if buckets == 0:
        return count, label_count
    for i in range(words):
        run = hashes[i]
        for j in range(i + 1, min(words, i + ngrams)):
            run = run * FACTOR + hashes[j]
            place = np.int64(run % np.uint64(buckets))
            if len(pruned) > 0:
                place = pruned[place]
            if place >= 0:
                rows[count] = first + place
                count += 1
    return count, label_count


@njit(cache=True, nogil=True)
def gather_lines(types, ends, table, ngrams, buckets, pruned, first, rows, row_ends, labels, label_ends):
    """The rows and labels of all lines, end to end."""
    longest = np.int64(0)
    at = 0
    for line in range(len(ends)):
        longest, at = max(longest, ends[line] - at), ends[line]
    hashes = np.empty(longest, np.uint64)
    at, row_count, label_count = 0, 0, 0
    for line in range(len(ends)):
        found = gather(
            types[at : ends[line]],
            table,
            ngrams,
            buckets,
            pruned,
            first,
            rows[row_count:],
            labels[label_count:],
            hashes,
        )
        row_count += found[0]
        label_count += found[1]
        row_ends[line], label_ends[line] = row_count, label_count
        at = ends[line]


@register_jitable
def dot(outputs, row, hidden):
    """h·y."""
    products = splat(0.0)
    for d in range(0, outputs.shape[1], LANES):
        products = products + load(outputs, row, d) * load(hidden, 0, d)
    return total(products)


@register_jitable
def pull(outputs, row, hidden, errors, gradient):
    """Adds g·y to the error, and then g·h to y."""
    for d in range(0, outputs.shape[1], LANES):
        y = load(outputs, row, d)
        store(errors, 0, d, load(errors, 0, d) + gradient * y)
        store(outputs, row, d, y + gradient * load(hidden, 0, d))


@register_jitable
def softmax_step(outputs, target, hidden, errors, rate, scores):
    """One step towards p(target) = 1, with p = exp(s) / Σ exp(s); returns -log p(target) before it."""
    size = len(outputs)
    highest = np.float32(-np.inf)
    for k in range(size):
        scores[k] = dot(outputs, k, hidden)
        highest = max(highest, scores[k])
    own = scores[target] - highest
    sum = np.float32(0.0)
    for k in range(size):
        scores[k] = np.exp(scores[k] - highest)
        sum += scores[k]
    for k in range(size):
        wanted = np.float32(1.0) if k == target else np.float32(0.0)
        pull(outputs, k, hidden, errors, rate * (wanted - scores[k] / sum))
    return np.log(np.float64(sum)) - np.float64(own)


@register_jitable
def logistic_step(outputs, row, wanted, hidden, errors, rate):
    """One step towards σ(s) = 1 where it is wanted, else 0; returns -log of that probability before it."""
    score = np.float64(dot(outputs, row, hidden))
    small = np.exp(-abs(score))
    chance = (1.0 if score >= 0 else small) / (1.0 + small)
    pull(outputs, row, hidden, errors, np.float32(rate * ((1.0 if wanted else 0.0) - chance)))
    return max(0.0, -score if wanted else score) + np.log1p(small)


@register_jitable
def is_among(label, labels, count):
    """Whether a label is one of the first `count` labels."""
    for k in range(count):  # noqa: SIM110 (numba has no any())
        if labels[k] == label:
            return True
    return False


@register_jitable
def learn(loss, labels, count, outputs, hidden, errors, rate, tree, noise, negatives, state, scores):
    """One step towards a line's labels: all of them for EACH, else one that is drawn. Returns (loss, state)."""
    if loss == EACH:
        value = 0.0
        for k in range(len(outputs)):
            value += logistic_step(outputs, k, is_among(k, labels, count), hidden, errors, rate)
        return value, state
    state += STEP
    target = labels[below(mix(state), count)]
    if loss == SOFTMAX:
        return softmax_step(outputs, target, hidden, errors, rate, scores), state
    if loss == TREE:
        starts, nodes, turns = tree
        value = 0.0
        for k in range(starts[target], starts[target + 1]):
            value += logistic_step(outputs, nodes[k], turns[k] == 1, hidden, errors, rate)
        return value, state
    value = logistic_step(outputs, target, True, hidden, errors, rate)
    for _ in range(negatives):
        other = target
        while other == target:
            state += STEP
            other = np.int32(draw(mix(state), noise))
        value += logistic_step(outputs, other, False, hidden, errors, rate)
    return value, state


@register_jitable
def mean(inputs, rows, count, hidden):
    """hidden[0] = the mean of the rows."""
    hidden[:] = np.float32(0.0)
    for k in range(count):
        for d in range(0, inputs.shape[1], LANES):
            store(hidden, 0, d, load(hidden, 0, d) + load(inputs, rows[k], d))
    share = np.float32(1.0 / count)
    for d in range(0, inputs.shape[1], LANES):
        store(hidden, 0, d, load(hidden, 0, d) * share)


@register_jitable
def spread(inputs, rows, count, errors):
    """Adds errors[0] / count to each of the rows."""
    share = np.float32(1.0 / count)
    for d in range(0, inputs.shape[1], LANES):
        store(errors, 0, d, load(errors, 0, d) * share)
    for k in range(count):
        for d in range(0, inputs.shape[1], LANES):
            store(inputs, rows[k], d, load(inputs, rows[k], d) + load(errors, 0, d))


@njit(cache=True, nogil=True)
def train_lines(
    types, ends, table, ngrams, buckets, first, inputs, outputs, loss, tree, noise, negatives, rate, last_rate, state
):
    """Trains on each line that has rows and labels; returns (loss, lines). The rate goes from `rate` to `last_rate`.

    The rows of the next line are looked up and asked for before a line is trained.
    """
    most, longest, _ = measure_lines(types, ends, table[4], ngrams)
    rows, labels = np.empty((2, most), np.int64), np.empty((2, longest), np.int32)
    hashes, scores = np.empty(longest, np.uint64), np.empty(len(outputs), np.float32)
    hidden, errors = np.zeros((1, inputs.shape[1]), np.float32), np.zeros((1, inputs.shape[1]), np.float32)
    everything = np.empty(0, np.int64)
    value, lines = 0.0, 0
    at, row_count, label_count = 0, 0, 0
    for line in range(len(ends) + 1):
        now, ahead = (line + 1) % 2, line % 2
        next_rows, next_labels = 0, 0
        begin = at
        if line < len(ends):
            inside = types[at : ends[line]]
            next_rows, next_labels = gather(
                inside, table, ngrams, buckets, everything, first, rows[ahead], labels[ahead], hashes
            )
            for k in range(next_rows):
                prefetch(inputs, rows[ahead, k])
            at = ends[line]
        if row_count > 0 and label_count > 0:
            step = np.float32(rate + (last_rate - rate) * begin / max(1, len(types)))
            mean(inputs, rows[now], row_count, hidden)
            errors[:] = np.float32(0.0)
            found, state = learn(
                loss, labels[now], label_count, outputs, hidden, errors, step, tree, noise, negatives, state, scores
            )
            spread(inputs, rows[now], row_count, errors)
            value += found
            lines += 1
        row_count, label_count = next_rows, next_labels
    return value, lines


@njit(cache=True, nogil=True)
def copy_lines(ids, sentences, order, line_end, types, offsets):
    """Copies the lines in an order of their own, each with the type `line_end` behind it; line i is at offsets[i]."""
    used = 0
    offsets[0] = 0
    for i in range(len(order)):
        for at in range(sentences[order[i]], sentences[order[i] + 1]):
            types[used] = ids[at]
            used += 1
        types[used] = line_end
        used += 1
        offsets[i + 1] = used


@njit(cache=True, nogil=True)
def drop_padding(flat, rows, stride, dim):
    """Moves rows of length `stride` together, so that each takes `dim` numbers, in the same memory."""
    for row in range(rows):
        for d in range(dim):
            flat[row * dim + d] = flat[row * stride + d]
