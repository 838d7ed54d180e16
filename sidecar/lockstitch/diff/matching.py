"""Find the lines that two texts share, in order: unique lines first, then difflib in the gaps between them.

Invariant: the work is bounded by a budget, whatever the input. Where it runs out, what is left of a gap
counts as replaced and the result says that it is approximate; it is still a true description of the change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, chain

import msgspec

WORK = 1_000_000
"""Steps of about a tenth of a microsecond: one per line looked at, one per pair of equal lines."""

Block = tuple[int, int, int]
"""`length` equal lines from `i` in the old and `j` in the new text: (i, j, length)."""

_Range = tuple[int, int, int, int]


class Matching(msgspec.Struct, frozen=True):
    """Shared lines in order, adjacent blocks joined; `approximate` if the budget ended the search."""

    blocks: list[Block]
    approximate: bool


def match(old: Sequence[Hashable], new: Sequence[Hashable], *, work: int = WORK) -> Matching:
    """The blocks of lines that stay."""
    numbers = {line: number for number, line in enumerate(dict.fromkeys(chain(old, new)))}
    search = _Search([numbers[line] for line in old], [numbers[line] for line in new], work)
    search.run()
    return Matching(_joined(search.blocks), search.approximate)


class _Search:
    def __init__(self, a: list[int], b: list[int], work: int) -> None:
        self.a, self.b = a, b
        self.work = work
        self.blocks: list[Block] = []
        self.approximate = False

    def run(self) -> None:
        ranges: list[_Range] = [(0, len(self.a), 0, len(self.b))]
        while ranges:
            a_low, a_high, b_low, b_high = gap = self._trimmed(ranges.pop())
            if a_low == a_high or b_low == b_high:
                continue
            if self.work <= 0:
                self.approximate = True
                continue
            self.work -= (a_high - a_low) + (b_high - b_low)
            anchors = self._anchors(gap)
            if not anchors:
                self._match_gap(gap)
                continue
            # Runs of anchors are blocks; what stands between two runs is a gap of its own.
            for i, j, length in anchors:
                if a_low < i and b_low < j:
                    ranges.append((a_low, i, b_low, j))
                self.blocks.append((i, j, length))
                a_low, b_low = i + length, j + length
            ranges.append((a_low, a_high, b_low, b_high))

    def _trimmed(self, gap: _Range) -> _Range:
        """Take the common beginning and end off a gap."""
        a, b = self.a, self.b
        a_low, a_high, b_low, b_high = gap
        start = a_low
        while a_low < a_high and b_low < b_high and a[a_low] == b[b_low]:
            a_low += 1
            b_low += 1
        if a_low > start:
            self.blocks.append((start, gap[2], a_low - start))
        end = a_high
        while a_low < a_high and b_low < b_high and a[a_high - 1] == b[b_high - 1]:
            a_high -= 1
            b_high -= 1
        if a_high < end:
            self.blocks.append((a_high, b_high, end - a_high))
        return a_low, a_high, b_low, b_high

    def _anchors(self, gap: _Range) -> list[Block]:
        """The most lines that are unique on both sides of the gap and in the same order on both."""
        a_low, a_high, b_low, b_high = gap
        in_a = _unique(self.a, a_low, a_high)
        in_b = _unique(self.b, b_low, b_high)
        pairs = [(i, in_b[line]) for line, i in in_a.items() if line in in_b]
        return _longest_increasing(pairs)

    def _match_gap(self, gap: _Range) -> None:
        """difflib's longest common runs, one after the other, as long as there is work left."""
        a_low, a_high, b_low, b_high = gap
        a, b = self.a[a_low:a_high], self.b[b_low:b_high]
        matcher = SequenceMatcher(None, a, b, autojunk=False)
        places = Counter(b)
        # What looking for the longest run in a[i:j] costs: its lines, and their equals in all of b.
        costs = [0, *accumulate(1 + places[line] for line in a)]
        ranges: list[_Range] = [(0, len(a), 0, len(b))]
        while ranges:
            low, high, other_low, other_high = ranges.pop()
            cost = costs[high] - costs[low]
            if cost == high - low:
                continue  # no line of it is in b at all
            if cost > self.work:
                self.approximate = True
                continue
            self.work -= cost
            i, j, size = matcher.find_longest_match(low, high, other_low, other_high)
            if not size:
                continue
            self.blocks.append((a_low + i, b_low + j, size))
            if low < i and other_low < j:
                ranges.append((low, i, other_low, j))
            if i + size < high and j + size < other_high:
                ranges.append((i + size, high, j + size, other_high))


def _unique(lines: list[int], low: int, high: int) -> dict[int, int]:
    """Lines that occur once in lines[low:high], with their places, in order."""
    part = lines[low:high]
    last = dict(zip(part, range(low, high), strict=True))
    if len(last) == len(part):
        return last
    first = dict(zip(reversed(part), range(high - 1, low - 1, -1), strict=True))
    return {line: place for line, place in last.items() if first[line] == place}


def _runs(pairs: list[tuple[int, int]]) -> list[Block]:
    """Pairs that follow each other on both sides, as blocks."""
    blocks: list[Block] = []
    low_i = low_j = length = 0
    for i, j in pairs:
        if i == low_i + length and j == low_j + length:
            length += 1
            continue
        if length:
            blocks.append((low_i, low_j, length))
        low_i, low_j, length = i, j, 1
    if length:
        blocks.append((low_i, low_j, length))
    return blocks


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[Block]:
    """The longest subsequence in which both numbers rise, as blocks; the first numbers rise already."""
    seconds = [j for _, j in pairs]
    if seconds == sorted(seconds):  # the usual case: nothing has moved
        return _runs(pairs)
    tails: list[int] = []  # the smallest second number that ends a run of each length
    tail_pairs: list[int] = []
    before: list[int] = []
    last = -1
    for index, j in enumerate(seconds):
        if j > last:
            before.append(tail_pairs[-1] if tail_pairs else -1)
            tails.append(j)
            tail_pairs.append(index)
            last = j
            continue
        length = bisect_left(tails, j)
        before.append(tail_pairs[length - 1] if length else -1)
        tails[length] = j
        tail_pairs[length] = index
        last = tails[-1]
    longest: list[tuple[int, int]] = []
    index = tail_pairs[-1]
    while index >= 0:
        longest.append(pairs[index])
        index = before[index]
    longest.reverse()
    return _runs(longest)


def _joined(blocks: list[Block]) -> list[Block]:
    joined: list[Block] = []
    for i, j, length in sorted(blocks):
        if joined:
            last_i, last_j, last_length = joined[-1]
            if last_i + last_length == i and last_j + last_length == j:
                joined[-1] = (last_i, last_j, last_length + length)
                continue
        joined.append((i, j, length))
    return joined
