"""Session files as no tool wrote them: lines and values changed, glued, torn, doubled and moved, by chance."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**70, 1e300, 1.5, "", "text", "\x00", "a\x00b", "\ud800", "\U0001f600", "[]", "{}",
    [], {}, [[]], [None], [1, "x", None], {"type": 1}, {"type": "text", "text": 5}, {"a": {"b": {}}},
    "2026-99-99T00:00:00Z", "1999-01-01T00:00:00Z", "9999-12-31T23:59:59.999999+14:00", "0001-01-01T00:00:00-14:00",
    1e18, -1e18, "x" * 70_000, "../../../etc/passwd", "/", "C:\\x", "~", "a/../b", ".git/x", "con", "turn_1", "user_1",
    "\n", "x" * 200, {"content": [{"type": "text", "text": "x"}]},
)  # fmt: skip
"""What stands where something else is expected."""

_DEPTHS = (5, 100, 255, 256, 260)
_LARGE = 1_000_000


def records_of(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Lines that are objects, of all of these files: what is put where it does not belong."""
    found: list[dict[str, Any]] = []
    for file in files:
        for line in file.read_bytes().split(b"\n"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict) and len(line) < 20_000:
                found.append(cast("dict[str, Any]", value))
    return found


class Mutations:
    """Changes of one file after the other."""

    def __init__(self, chance: random.Random, records: Sequence[dict[str, Any]]) -> None:
        self._chance, self._records = chance, records
        self._of_lines: tuple[Callable[[list[bytes], int], None], ...] = (
            *(self._change_value,) * 9,
            self._glue,
            self._tear,
            self._double,
            self._replace,
            self._remove,
            self._noise,
            self._pad,
            self._end_oddly,
            self._shuffle,
            self._swap,
            self._grow,
            self._insert_value,
            self._nest,
            self._repeat_tail,
            self._flip,
        )

    def of_file(self, data: bytes) -> bytes:
        """The file with a few changes."""
        chance, lines = self._chance, data.split(b"\n")
        for _ in range(chance.choice((1, 2, 4, 8))):
            chance.choice(self._of_lines)(lines, chance.randrange(len(lines)))
        whole, lot = b"\n".join(lines), chance.random()
        if lot < 0.03:
            return b"\xef\xbb\xbf" + whole
        if lot < 0.06:
            return whole.replace(b"\n", b"\r\n")
        if lot < 0.07:
            return whole.decode("utf-8", "replace").encode("utf-16")
        return whole[: chance.randrange(len(whole) + 1)] if lot < 0.1 else whole

    def line(self) -> bytes:
        """A line that some file might have, with values changed."""
        return self._encoded(self._changed(self._chance.choice(self._records)))

    # -- of lines ---------------------------------------------------------------------------------------------
    def _change_value(self, lines: list[bytes], at: int) -> None:
        with contextlib.suppress(ValueError, RecursionError):  # it was changed already
            lines[at] = self._encoded(self._changed(json.loads(lines[at])))

    def _glue(self, lines: list[bytes], at: int) -> None:
        lines[at] += self._chance.choice(lines)

    def _tear(self, lines: list[bytes], at: int) -> None:
        lines[at] = lines[at][: self._chance.randrange(len(lines[at]) + 1)]

    def _double(self, lines: list[bytes], at: int) -> None:
        lines.insert(at, self._chance.choice(lines))

    def _replace(self, lines: list[bytes], at: int) -> None:
        lines[at] = self._encoded(self._chance.choice(self._records))

    def _remove(self, lines: list[bytes], at: int) -> None:
        lines[at] = b""

    def _noise(self, lines: list[bytes], at: int) -> None:
        lines[at] = self._chance.randbytes(self._chance.randrange(60)).replace(b"\n", b" ")

    def _pad(self, lines: list[bytes], at: int) -> None:
        lines[at] = b"\x00" * self._chance.randrange(5000)

    def _end_oddly(self, lines: list[bytes], at: int) -> None:
        lines[at] += self._chance.choice((b"\r", b" ", b",", b"\x1e", "\u2028".encode()))

    def _shuffle(self, lines: list[bytes], at: int) -> None:
        del at
        self._chance.shuffle(lines)

    def _swap(self, lines: list[bytes], at: int) -> None:
        other = self._chance.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]

    def _grow(self, lines: list[bytes], at: int) -> None:
        lines[at] = self._encoded({**self._chance.choice(self._records), "x": "y" * _LARGE})

    def _insert_value(self, lines: list[bytes], at: int) -> None:
        lines.insert(at, self._encoded(self._chance.choice(VALUES)))

    def _nest(self, lines: list[bytes], at: int) -> None:
        lines[at] = b"[" * self._chance.choice((3, 300, 100_000)) + lines[at]

    def _repeat_tail(self, lines: list[bytes], at: int) -> None:
        lines += lines[at:]

    def _flip(self, lines: list[bytes], at: int) -> None:
        line = bytearray(lines[at])
        if line:
            line[self._chance.randrange(len(line))] = self._chance.choice(range(0x0B, 0x100))
        lines[at] = bytes(line)

    # -- of values --------------------------------------------------------------------------------------------
    def _changed(self, value: Any) -> Any:
        chance, value = self._chance, json.loads(json.dumps(value))
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            places = _places(value)
            if not places:
                break
            holder, name = chance.choice(places)
            lot = chance.random()
            if lot < 0.6:
                holder[name] = chance.choice(VALUES)
            elif lot < 0.7:
                del holder[name]
            elif lot < 0.75:
                holder[name] = self._nested()
            elif lot < 0.85:
                other, theirs = chance.choice(_places(chance.choice(self._records)))
                holder[name] = json.loads(json.dumps(other[theirs]))
            elif lot < 0.9:
                holder[name] = json.dumps(holder[name])
            else:
                holder[name] = [holder[name]] if lot < 0.95 else {str(name): holder[name]}
        return value

    def _nested(self) -> Any:
        value: Any = 1
        for _ in range(self._chance.choice(_DEPTHS)):
            value = [value] if self._chance.random() < 0.5 else {"a": value}
        return value

    def _encoded(self, value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=self._chance.random() < 0.5)
        return text.encode("utf-8", "surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(holder, name) of each value in a value; of a list its first few."""
    found: list[tuple[Any, Any]] = []
    waiting = [value] if isinstance(value, (dict, list)) else []
    while waiting:
        holder = waiting.pop()
        names: Any = list(holder) if isinstance(holder, dict) else range(min(len(holder), 5))
        for name in names:
            found.append((holder, name))
            if isinstance(holder[name], (dict, list)):
                waiting.append(holder[name])
    return found
