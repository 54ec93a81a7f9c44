"""Hot loops over tokenized text as bytes: hashes of sentences and of runs of words, and what to keep of a paragraph.

A key is a 64-bit FNV-1a hash of the ASCII letters, lower-cased, and digits. Spacing, punctuation and case do not
change it, so two tokenizations of a sentence have one key. Key 0 is kept for "no letters at all".
"""

from __future__ import annotations

import numpy as np
from numba import njit

BASIS, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
FACTOR = np.uint64(6364136223846793005)  # of the rolling hash over words
ZERO, ONE = np.uint64(0), np.uint64(1)
MIX1, MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31 = np.uint64(30), np.uint64(27), np.uint64(31)
SAMPLE = np.uint64(7)  # a run of words is sampled where these bits of its hash are 0: one in eight
KEPT, NEAR_DUPLICATE, TEST_SENTENCE, TEST_RUN, DUPLICATE = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def mix(x):
    """The finalizer of SplitMix64: every bit of x reaches every bit of the result; never 0."""
    x = (x ^ (x >> S30)) * MIX1
    x = (x ^ (x >> S27)) * MIX2
    x = x ^ (x >> S31)
    return x if x != ZERO else ONE


@njit(cache=True, nogil=True)
def fold(byte):
    """The lower-case ASCII letter or digit of a byte, or 0."""
    if 65 <= byte <= 90:
        return byte + 32
    if 97 <= byte <= 122 or 48 <= byte <= 57:
        return byte
    return 0


@njit(cache=True, nogil=True)
def measure(raw, functions, lines, keys, words, line_of):
    """Cuts raw into lines and words; returns (lines, words). A blank line ends a paragraph.

    lines[i] = start, end, paragraph, tokens, words, alphabetic words, function words, words in capitals,
    bytes beyond ASCII, gaps (U+E000). words[j] is the hash of a word and line_of[j] its line. functions is sorted.
    """
    count, found, paragraph, at = 0, 0, 0, 0
    size = len(raw)
    while at < size:
        start = at
        key, any_key = BASIS, False
        row = lines[count]
        row[:] = 0
        while at < size and raw[at] != 10:
            if raw[at] == 32:
                at += 1
                continue
            word, letters, capitals, digits, any_word = BASIS, 0, 0, 0, False
            while at < size and raw[at] != 10 and raw[at] != 32:
                byte = raw[at]
                folded = fold(byte)
                if folded:
                    word = (word ^ np.uint64(folded)) * PRIME
                    key = (key ^ np.uint64(folded)) * PRIME
                    any_word = True
                    if folded < 97:
                        digits += 1
                    else:
                        letters += 1
                        if byte < 97:
                            capitals += 1
                elif byte >= 128:
                    row[8] += 1
                    if byte == 0xEE and at + 2 < size and raw[at + 1] == 0x80 and raw[at + 2] == 0x80:
                        row[9] += 1
                at += 1
            row[3] += 1
            if any_word:
                any_key = True
                word = mix(word)
                words[found] = word
                line_of[found] = count
                found += 1
                row[4] += 1
                if letters > digits:
                    row[5] += 1
                    if capitals == letters and letters > 1:
                        row[7] += 1
                place = np.searchsorted(functions, word)
                if place < len(functions) and functions[place] == word:
                    row[6] += 1
        if at == start:
            paragraph += 1
        else:
            row[0], row[1], row[2] = start, at, paragraph
            keys[count] = mix(key) if any_key else ZERO
            count += 1
        at += 1
    return count, found


@njit(cache=True, nogil=True)
def find(table, key):
    """The slot that holds key, or the empty slot where it belongs. The size of the table is a power of two."""
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot] != ZERO and table[slot] != key:
        slot = (slot + ONE) & mask
    return slot


@njit(cache=True, nogil=True)
def insert_all(table, keys):
    """Puts keys into a table; returns how many were new."""
    new = 0
    for key in keys:
        slot = find(table, key)
        if table[slot] == ZERO:
            table[slot] = key
            new += 1
    return new


@njit(cache=True, nogil=True)
def hash_runs(words, length, runs):
    """runs[i] = hash of words[i : i + length]; returns their number."""
    highest = ONE
    for _ in range(length):
        highest *= FACTOR
    rolling = ZERO
    for i in range(len(words)):
        rolling = rolling * FACTOR + words[i]
        if i >= length:
            rolling -= highest * words[i - length]
        if i >= length - 1:
            runs[i - length + 1] = mix(rolling)
    return max(0, len(words) - length + 1)


@njit(cache=True, nogil=True)
def mark_runs(words, line_of, length, table, marked):
    """marked[line] = True for every line that shares a run of `length` words with the table."""
    runs = np.empty(max(1, len(words)), np.uint64)
    for i in range(hash_runs(words, length, runs)):
        if table[find(table, runs[i])] != ZERO:
            for j in range(line_of[i], line_of[i + length - 1] + 1):
                marked[j] = True


@njit(cache=True, nogil=True)
def decide(
    lines, keys, words, line_of, rejected, in_test, test_keys, length, share, least, seen, seen_runs, reasons, new
):
    """Says for each line why it goes (a constant above) or KEPT, and adds what is kept to seen and seen_runs.

    A paragraph is a near-duplicate where at least `least` of its runs of `length` words are sampled and at least
    `share` of them were seen before. new[0] and new[1] receive the new sentence keys and runs; returns their numbers.
    """
    count, word, first, new_keys, new_runs = len(lines), 0, 0, 0, 0
    runs = np.empty(max(1, len(words)), np.uint64)
    while first < count:
        last = first
        while last < count and lines[last, 2] == lines[first, 2]:
            last += 1
        end = word
        while end < len(words) and line_of[end] < last:
            end += 1
        total, known = 0, 0
        number = hash_runs(words[word:end], length, runs)
        for i in range(number):
            if runs[i] & SAMPLE == ZERO:
                runs[total] = runs[i]
                total += 1
                slot = mix(runs[i])
                if seen_runs[find(seen_runs, slot)] != ZERO:
                    known += 1
        near = total >= least and known >= share * total
        any_kept = False
        for i in range(first, last):
            if rejected[i]:
                continue
            if test_keys[find(test_keys, keys[i])] != ZERO:
                reasons[i] = TEST_SENTENCE
            elif in_test[i]:
                reasons[i] = TEST_RUN
            elif near:
                reasons[i] = NEAR_DUPLICATE
            else:
                slot = find(seen, keys[i])
                if seen[slot] != ZERO:
                    reasons[i] = DUPLICATE
                    continue
                seen[slot] = keys[i]
                new[0, new_keys] = keys[i]
                new_keys += 1
                any_kept = True
                reasons[i] = KEPT
        for i in range(total if any_kept else 0):
            key = mix(runs[i])
            slot = find(seen_runs, key)
            if seen_runs[slot] == ZERO:
                seen_runs[slot] = key
                new[1, new_runs] = key
                new_runs += 1
        first, word = last, end
    return new_keys, new_runs


@njit(cache=True, nogil=True)
def gather(raw, lines, kept, out):
    """Copies the kept lines, each with its line end, to out; returns the number of bytes."""
    size = 0
    for i in range(len(lines)):
        if kept[i]:
            length = lines[i, 1] - lines[i, 0]
            out[size : size + length] = raw[lines[i, 0] : lines[i, 1]]
            out[size + length] = 10
            size += length + 1
    return size
