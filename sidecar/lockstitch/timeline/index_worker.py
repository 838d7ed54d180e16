"""A process that reads rollouts for another one: places come in on stdin, rows go out on stdout.

A message is its length in four bytes, then msgpack: in, a list of `[number, thread id, path, archived]`; out, for each
of them its `Prepared` or nil. The end of stdin ends it, and so does the death of who started it.

Invariant: it writes no file and takes no lock; what it made is judged by who stores it.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from lockstitch.data_root import DataRoot, RolloutPlace
from lockstitch.platform.files import write_all
from lockstitch.platform.program import be_nice, open_binary_pipes
from lockstitch.timeline.read_up import Prepared, prepare

VERB = "read-rollouts"
"""Not for people, hence in no help."""

Asked = list[tuple[int, str, str, bool]]

encode = msgspec.msgpack.Encoder().encode
_decode_asked = msgspec.msgpack.Decoder(Asked).decode
decode_made = msgspec.msgpack.Decoder(list[Prepared | None]).decode


def run(arguments: list[str]) -> int:
    """Serve until stdin ends. `arguments`: the data root, and the ids that it has."""
    root, root_ids = DataRoot(Path(arguments[0])), frozenset(arguments[1:])
    be_nice()
    open_binary_pipes()
    try:
        while (message := read_message(0)) is not None:
            made = encode(
                [
                    prepare(root, root_ids, number, RolloutPlace(thread_id, path, archived))
                    for number, thread_id, path, archived in _decode_asked(message)
                ]
            )
            write_all(1, len(made).to_bytes(4, "big") + made)
    except OSError:
        pass  # nobody reads it any more
    return 0


def read_message(fd: int) -> bytes | None:
    """The next message; None at the end. Raises OSError."""
    head = _read(fd, 4)
    return None if head is None else _read(fd, int.from_bytes(head, "big"))


def _read(fd: int, length: int) -> bytes | None:
    parts: list[bytes] = []
    while length:
        part = os.read(fd, min(length, 1 << 20))
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
