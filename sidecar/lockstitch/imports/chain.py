"""A thread that lies in several files: each goes on where the one before was left, read as one file.

Invariant: the bytes of the first files are a prefix of the whole, so that what was imported of them stays valid.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lockstitch.errors import LockstitchError
from lockstitch.imports.source import SourceThread

_SEPARATOR = b"\n"
"""Between two files: the last line of the first may lack its own."""


class ChainedFile(io.RawIOBase):
    """Several files, read one after the other from the start."""

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__()
        self._paths = list(paths)
        self._file = self._paths.pop(0).open("rb")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if data or size == 0 or not self._paths:
            return data
        self._file.close()
        self._file = self._paths.pop(0).open("rb")
        return _SEPARATOR

    def close(self) -> None:
        self._file.close()
        super().close()


def open_lines(thread: SourceThread) -> io.RawIOBase | io.BytesIO:
    """The lines of a thread's source, from their start."""
    return ChainedFile(thread.files) if thread.document is None else io.BytesIO(thread.document)


def with_earlier_files(thread: SourceThread, describe: Callable[[Path], SourceThread]) -> SourceThread:
    """The thread with the files that its own goes on from, as far as they can be found; its head is the first's."""
    if thread.base is None:
        return thread
    files = [found for found in _siblings(thread, describe) if (found.begun_at or "") < (thread.begun_at or "")]
    if not files:
        return thread
    files.sort(key=lambda found: (found.begun_at or "", str(found.path)))
    first = files[0]
    size = sum(found.size + len(_SEPARATOR) for found in files) + thread.size
    return replace(
        first,
        path=thread.path,
        size=size,
        base=thread.base,
        title=thread.title or first.title,
        earlier=tuple(found.path for found in files),
    )


def _siblings(thread: SourceThread, describe: Callable[[Path], SourceThread]) -> Iterator[SourceThread]:
    """Other files of the same thread: beside it, or anywhere in its home by the id in their names."""
    home = next((folder for folder in thread.path.parents if folder.name == "sessions"), None)
    places = set(thread.path.parent.glob("*.jsonl"))
    if home is not None:
        places |= set(home.rglob(f"*{thread.source_thread_id}*.jsonl"))
    for path in sorted(places - {thread.path}):
        try:
            found = describe(path)
        except (LockstitchError, OSError):
            continue
        if (found.client, found.source_thread_id) == (thread.client, thread.source_thread_id):
            yield found
