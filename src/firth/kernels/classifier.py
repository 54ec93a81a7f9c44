"""fastText's linear classifier: a line is the mean of its input rows, and each label has an output row.

A text is an array of types. For type t, kinds[t] is a label, WORD or IGNORED, hashes[t] is the hash of the word (for
word n-grams), and its input rows are rows[pointers[t] : pointers[t] + lengths[t]]. With h the mean of a line's n rows,
the score of an output row y is s = h·y. A step adds g·h to y and (Σ g·y) / n to each of the line's rows, where
g = -rate · ∂loss/∂s.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from firth.kernels.full_softmax import score, update
from firth.kernels.random import STEP, below, draw, mix
from firth.kernels.simd_float import LANES, load, prefetch, store
from firth.kernels.windows import add_to_rows, clear, sum_rows

WORD, IGNORED = np.int32(-1), np.int32(-2)
SOFTMAX, HIERARCHICAL_SOFTMAX, NEGATIVE_SAMPLING, ONE_VS_ALL = range(4)  # losses
FACTOR = np.uint64(116049371)
BLANK, TAB, CARRIAGE_RETURN, NEWLINE = np.uint8(32), np.uint8(9), np.uint8(13), np.uint8(10)


@register_jitable
def is_sentence_end(blob, at):
    """Whether blob[at : at + 4] is </s>."""
    return blob[at] == 60 and blob[at + 1] == 47 and blob[at + 2] == 115 and blob[at + 3] == 62


@njit(cache=True, nogil=True)
def split_words(blob, starts, ends, line_ends):
    """Split a buffer at ASCII white space and zero bytes; returns (number of words, number of lines).

    A line ends at a newline and at the word </s>, as in fastText. An empty word (start == end) marks its end. Entries
    beyond the length of an array are not written, so empty arrays only count.
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
        else:
            at += 1
        if not is_end and at - start == 4 and is_sentence_end(blob, start):
            is_end = True
        if words < len(starts):
            starts[words], ends[words] = start, start if is_end else at
        words += 1
        if is_end:
            if lines < len(line_ends):
                line_ends[lines] = words
            lines += 1
    return words, lines


@njit(cache=True, nogil=True)
def find_prefix(blob, starts, ends, prefix, is_match):
    """is_match[i] = whether word i starts with the prefix."""
    for word in range(len(starts)):
        is_match[word] = ends[word] - starts[word] >= len(prefix)
        for i in range(len(prefix)):
            if is_match[word] and blob[starts[word] + i] != prefix[i]:
                is_match[word] = False


@njit(cache=True, nogil=True)
def measure_lines(types, ends, lengths, ngrams):
    """Upper bounds: (rows of a line, words of a line including its end, rows of all lines)."""
    most, longest, all_rows, at = np.int64(0), np.int64(0), np.int64(0), 0
    for line in range(len(ends)):
        rows = np.int64(0)
        for i in range(at, ends[line]):
            rows += lengths[types[i]] + min(ngrams, ends[line] - i) - 1
        most, longest = max(most, rows), max(longest, ends[line] - at)
        all_rows += rows
        at = ends[line]
    return most, longest, all_rows


@njit(cache=True, nogil=True)
def collect_rows(types, table, ngrams, buckets, pruned, first, rows, labels, hashes):
    """Write the input rows and the labels of a line; returns (number of rows, number of labels).

    The rows of words come first, then those of word n-grams of length 2 … ngrams. The hash of an n-gram of words with
    hashes a, b, c … is (a·F + b)·F + c … modulo 2⁶⁴; its bucket b is that hash modulo `buckets`. Bucket b has row
    first + b or, if `pruned` is not empty, first + pruned[b]; a negative pruned[b] means no row.
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
        hash = hashes[i]
        for j in range(i + 1, min(words, i + ngrams)):
            hash = hash * FACTOR + hashes[j]
            bucket = np.int64(hash % np.uint64(buckets))
            if len(pruned) > 0:
                bucket = pruned[bucket]
            if bucket >= 0:
                rows[count] = first + bucket
                count += 1
    return count, label_count


@njit(cache=True, nogil=True)
def gather_lines(types, ends, table, ngrams, buckets, pruned, first, rows, row_ends, labels, label_ends):
    """The rows and labels of all lines, end to end."""
    hashes = np.empty(measure_lines(types, ends, table[4], ngrams)[1], np.uint64)
    at, row_count, label_count = 0, 0, 0
    for line in range(len(ends)):
        inside, free_rows, free_labels = types[at : ends[line]], rows[row_count:], labels[label_count:]
        sizes = collect_rows(inside, table, ngrams, buckets, pruned, first, free_rows, free_labels, hashes)
        row_count += sizes[0]
        label_count += sizes[1]
        row_ends[line], label_ends[line] = row_count, label_count
        at = ends[line]


@register_jitable
def softmax_step(outputs, target, hidden, errors, rate, scores):
    """One gradient step towards p(target) = 1, with p = exp(s) / Σ exp(s); returns -log p(target) before the step."""
    size = len(outputs)
    highest = np.float32(-np.inf)
    for k in range(size):
        scores[k] = score(hidden, 0, outputs, k)
        highest = max(highest, scores[k])
    target_score = scores[target] - highest
    sum = np.float32(0.0)
    for k in range(size):
        scores[k] = np.exp(scores[k] - highest)
        sum += scores[k]
    for k in range(size):
        label = np.float32(1.0) if k == target else np.float32(0.0)
        update(hidden, 0, outputs, k, rate * (label - scores[k] / sum), errors)
    return np.log(np.float64(sum)) - np.float64(target_score)


@register_jitable
def logistic_step(outputs, row, label, hidden, errors, rate):
    """One gradient step towards σ(s) = label, which is 0.0 or 1.0; returns the loss before the step."""
    logit = np.float64(score(hidden, 0, outputs, row))
    small = np.exp(-abs(logit))
    probability = (1.0 if logit >= 0 else small) / (1.0 + small)
    update(hidden, 0, outputs, row, np.float32(rate * (label - probability)), errors)
    return max(0.0, -logit if label else logit) + np.log1p(small)


@register_jitable
def is_among(label, labels, count):
    """Whether labels[:count] contains a label."""
    for k in range(count):  # noqa: SIM110 (numba has no any())
        if labels[k] == label:
            return True
    return False


@register_jitable
def train_line(loss, labels, count, outputs, hidden, errors, rate, tree, noise, negatives, state, scores):
    """One gradient step towards all labels of a line for ONE_VS_ALL, else towards a random one: (loss, state)."""
    if loss == ONE_VS_ALL:
        value = 0.0
        for k in range(len(outputs)):
            value += logistic_step(outputs, k, 1.0 if is_among(k, labels, count) else 0.0, hidden, errors, rate)
        return value, state
    state += STEP
    target = labels[below(mix(state), count)]
    if loss == SOFTMAX:
        return softmax_step(outputs, target, hidden, errors, rate, scores), state
    if loss == HIERARCHICAL_SOFTMAX:
        starts, nodes, turns = tree
        value = 0.0
        for k in range(starts[target], starts[target + 1]):
            value += logistic_step(outputs, nodes[k], np.float64(turns[k]), hidden, errors, rate)
        return value, state
    value = logistic_step(outputs, target, 1.0, hidden, errors, rate)
    for _ in range(negatives):
        other = target
        while other == target:
            state += STEP
            other = np.int32(draw(mix(state), noise))
        value += logistic_step(outputs, other, 0.0, hidden, errors, rate)
    return value, state


@njit(cache=True, nogil=True)
def train_lines(
    types, ends, table, ngrams, buckets, first, inputs, outputs, loss, tree, noise, negatives, rate, last_rate, state
):
    """Train on each line that has rows and labels; returns (sum of losses, number of trained lines).

    The learning rate decays linearly from `rate` to `last_rate`. The rows of the next line are prefetched while a line
    is trained.
    """
    most, longest, _ = measure_lines(types, ends, table[4], ngrams)
    rows, labels = np.empty((2, most), np.int64), np.empty((2, longest), np.int32)
    hashes, scores = np.empty(longest, np.uint64), np.empty(len(outputs), np.float32)
    hidden, errors = np.zeros((1, inputs.shape[1]), np.float32), np.zeros((1, inputs.shape[1]), np.float32)
    no_pruning = np.empty(0, np.int64)
    value, lines = 0.0, 0
    at, row_count, label_count = 0, 0, 0
    for line in range(len(ends) + 1):
        now, ahead = (line + 1) % 2, line % 2
        next_rows, next_labels = 0, 0
        begin = at
        if line < len(ends):
            inside = types[at : ends[line]]
            next_rows, next_labels = collect_rows(
                inside, table, ngrams, buckets, no_pruning, first, rows[ahead], labels[ahead], hashes
            )
            for k in range(next_rows):
                prefetch(inputs, rows[ahead, k])
            at = ends[line]
        if row_count > 0 and label_count > 0:
            step = np.float32(rate + (last_rate - rate) * begin / max(1, len(types)))
            share = np.float32(1.0 / row_count)
            sum_rows(inputs, rows[now], row_count, share, hidden)
            clear(errors)
            line_loss, state = train_line(
                loss, labels[now], label_count, outputs, hidden, errors, step, tree, noise, negatives, state, scores
            )
            for d in range(0, inputs.shape[1], LANES):
                store(errors, 0, d, load(errors, 0, d) * share)
            add_to_rows(inputs, rows[now], row_count, errors)
            value += line_loss
            lines += 1
        row_count, label_count = next_rows, next_labels
    return value, lines


@njit(cache=True, nogil=True)
def copy_lines(ids, sentences, order, line_end, types, offsets):
    """Copy the lines in the given order, each followed by the type `line_end`; line i starts at offsets[i].

    A token of the type `line_end` inside a sentence ends a line too.
    """
    used, lines = 0, 0
    offsets[0] = 0
    for i in range(len(order)):
        for at in range(sentences[order[i]], sentences[order[i] + 1]):
            types[used] = ids[at]
            used += 1
            if ids[at] == line_end:
                lines += 1
                offsets[lines] = used
        types[used] = line_end
        used += 1
        lines += 1
        offsets[lines] = used


@register_jitable
def sift_up(labels, values, hole, label):
    """Move a hole of a heap, whose lowest value is first, up to where `label` belongs, and put the label there."""
    while hole > 0:
        parent = (hole - 1) // 2
        if not values[labels[parent]] > values[label]:
            break
        labels[hole] = labels[parent]
        hole = parent
    labels[hole] = label


@register_jitable
def pop_lowest(labels, size, values):
    """Move the first label of a heap of `size` labels behind the others, which remain a heap."""
    if size < 2:
        return
    label, labels[size - 1] = labels[size - 1], labels[0]
    last, hole = size - 1, 0
    while 2 * hole + 2 < last:
        child = 2 * hole + 2
        if values[labels[child]] > values[labels[child - 1]]:
            child -= 1
        labels[hole] = labels[child]
        hole = child
    if 2 * hole + 2 == last:
        labels[hole] = labels[2 * hole + 1]
        hole = 2 * hole + 1
    sift_up(labels, values, hole, label)


@njit(cache=True, nogil=True)
def best_in_heap(probabilities, threshold, best, counts):
    """The k labels of each line with the highest probabilities, in fastText's order; best is (lines, k).

    Probabilities from a table of sigmoids are often equal. Among equal ones the order is that of a binary heap, into
    which fastText pushes one label after another, taking out the lowest if there are more than k.
    """
    k = best.shape[1]
    heap = np.empty(k + 1, np.int64)
    for line in range(len(probabilities)):
        values = probabilities[line]
        size = 0
        for label in range(len(values)):
            if values[label] < threshold or (size == k and values[label] < values[heap[0]]):
                continue
            sift_up(heap, values, size, label)
            size += 1
            if size > k:
                pop_lowest(heap, size, values)
                size = k
        for rest in range(size, 1, -1):
            pop_lowest(heap, rest, values)
        best[line, :size] = heap[:size]
        counts[line] = size


@njit(cache=True, nogil=True)
def drop_padding(flat, rows, stride, dim):
    """Shorten rows from `stride` to `dim` numbers in place."""
    for row in range(rows):
        for d in range(dim):
            flat[row * dim + d] = flat[row * stride + d]
