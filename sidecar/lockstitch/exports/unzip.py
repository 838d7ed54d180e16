"""A zip file that somebody else made, opened without trusting anything it says.

Invariant: nothing is extracted: entries are read as streams, each within what its header promised, and what the
headers promise is bounded before one is read. Names are of a whitelist; there are no links, no second entry of a name.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import IO

from lockstitch.exports.bundle import ENTRY, RATIO

MOST_ENTRIES = 100_000
MOST_ENTRY_BYTES = 4 << 30
MOST_BYTES = 32 << 30
SLACK = 1 << 16
"""So much an entry may grow whatever its ratio."""

_BLOCK = 1 << 20
_END, _END_64 = b"PK\5\6", b"PK\6\6"
_END_BYTES, _END_64_BYTES = 22, 56
_MOST_DIRECTORY_BYTES = MOST_ENTRIES * 256


class BadArchiveError(Exception):
    """What is wrong with the file, as the end of a sentence."""


class Unzipped:
    """An archive whose headers were looked at."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        """`size` is that of the file. Raises BadArchiveError."""
        _check_directory(file, size)
        with _bad_archives():
            self._archive = zipfile.ZipFile(file)
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self._archive.infolist():
            self._check(entry)
            self._entries[entry.filename] = entry
        if sum(entry.compress_size for entry in self._entries.values()) > size:
            raise BadArchiveError("has entries that overlap")
        if sum(entry.file_size for entry in self._entries.values()) > MOST_BYTES:
            raise BadArchiveError(f"would grow beyond {MOST_BYTES} bytes")

    @property
    def names(self) -> set[str]:
        return set(self._entries)

    def size_of(self, name: str) -> int:
        """How large the entry says it is."""
        return self._entries[name].file_size

    def blocks(self, name: str) -> Iterator[bytes]:
        """The bytes of an entry, no more than it promised. Raises BadArchiveError."""
        left = self._entries[name].file_size
        with _bad_archives(), self._archive.open(self._entries[name]) as stream:
            while block := stream.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    break
                yield block
        if left != 0:
            raise BadArchiveError(f"has an entry {name} that is not as long as it says")

    def _check(self, entry: zipfile.ZipInfo) -> None:
        name = entry.orig_filename
        if ENTRY.fullmatch(name) is None or entry.filename != name:
            raise BadArchiveError(f"has an entry {name[:80]!r}, which no bundle has")
        if name in self._entries:
            raise BadArchiveError(f"has two entries {name}")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise BadArchiveError(f"has an entry {name} that is not a regular file")
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadArchiveError(f"has an entry {name} that is encrypted or packed in an unusual manner")
        if entry.file_size > MOST_ENTRY_BYTES or entry.file_size > SLACK + RATIO * entry.compress_size:
            raise BadArchiveError(f"has an entry {name} that would grow to {entry.file_size} bytes")


@contextmanager
def _bad_archives() -> Generator[None]:
    """What the zip reader raises for files that others made."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError) as error:
        raise BadArchiveError("is damaged or cut off") from error
    except (RuntimeError, OverflowError, UnicodeError) as error:
        raise BadArchiveError("is no zip file of a kind that is read here") from error


def _check_directory(file: IO[bytes], size: int) -> None:
    """Refuse a directory too large to be looked at, before anybody reads it."""
    file.seek(max(0, size - (1 << 16) - _END_BYTES))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise BadArchiveError("is cut off: it has no directory")
    count, length = struct.unpack_from("<HI", tail, at + 10)
    at_64 = tail.rfind(_END_64)
    if at_64 >= 0 and len(tail) - at_64 >= _END_64_BYTES:
        count_64, length_64 = struct.unpack_from("<QQ", tail, at_64 + 32)
        count, length = max(count, count_64), max(length, length_64)
    if count > MOST_ENTRIES or (length > _MOST_DIRECTORY_BYTES and length != 0xFFFFFFFF):
        raise BadArchiveError(f"has more than {MOST_ENTRIES} entries")
