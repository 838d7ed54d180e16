"""Contents by sha256: put them so that they survive power loss, and never give out a wrong byte.

Invariant: a blob's name is the sha256 of its raw bytes; the file holds them raw, or compressed by zlib with
`.z` behind the name. A blob appears whole, by a rename, and is never changed.
Invariant: what `put` has answered for is on the disk, its directory entry too, whoever wrote it first.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import zlib
from collections.abc import Callable
from pathlib import Path

from lockstitch.errors import UnavailableError
from lockstitch.platform.beneath import Directory, LinkError, open_root
from lockstitch.platform.files import (
    TEMPORARY_PREFIX,
    make_private_directory,
    storage_errors,
    sync_file,
    write_all,
)

COMPRESS_ABOVE = 4096
MAX_BLOB_BYTES = 1 << 30
"""No content comes near this size: a compressed blob that grows beyond it is not one of ours."""

SEVERITY = ("missing", "unreadable", "corrupt")
"""Why a content cannot be had; of several copies the worst is told."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_BLOCK = 1 << 20


class Store:
    """A directory `<aa>/<sha256>` of contents, safe for several processes at once."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        self._synced: set[str] = set()

    def put(self, data: bytes) -> str:
        """Store bytes durably and return their sha256. Raises StorageError."""
        sha256 = hashlib.sha256(data).hexdigest()
        with storage_errors(self.root), self._open(create=True) as root:
            if root.make_directory(sha256[:2]):
                self._synced.add(sha256[:2])
            with root.enter(sha256[:2]) as directory:
                if _find(directory, sha256)[0] is not None:
                    _keep_young(directory, sha256)
                else:
                    packed = zlib.compress(data, 1) if len(data) > COMPRESS_ABOVE else data
                    if len(packed) < len(data):
                        stage(directory, sha256 + ".z", packed)
                    else:
                        stage(directory, sha256, data)
                # A blob that was there may have been renamed in a moment ago by a process that has not synced yet.
                directory.sync()
            if sha256[:2] not in self._synced:
                root.sync()
                self._synced.add(sha256[:2])
        return sha256

    def get(self, sha256: str) -> bytes:
        """The bytes, verified.

        Raises UnavailableError(contentUnavailable) with contentStatus missing, corrupt or unreadable.
        """
        status = "missing"
        if _SHA256.fullmatch(sha256):
            try:
                with self._open(create=False) as root, root.enter(sha256[:2]) as directory:
                    data, status = _find(directory, sha256)
                if data is not None:
                    return data
            except OSError as error:
                status = _status_of(error)
        raise unavailable(sha256, status)

    def has(self, sha256: str) -> bool:
        """Whether a blob of that name is there; its bytes are verified only when read."""
        return self.path_of(sha256) is not None

    def path_of(self, sha256: str) -> Path | None:
        """Where the blob is (with `.z` behind its name if it is compressed), or None."""
        if not _SHA256.fullmatch(sha256):
            return None
        with contextlib.suppress(OSError), self._open(create=False) as root, root.enter(sha256[:2]) as directory:
            for name in (sha256, sha256 + ".z"):
                with contextlib.suppress(OSError):
                    if stat.S_ISREG(directory.status(name).st_mode):
                        return self.root / sha256[:2] / name
        return None

    def _open(self, *, create: bool) -> Directory:
        """The directory of the store."""
        if create:
            make_private_directory(self.root)
        return open_root(self.root)


class OpenedStore(Store):
    """A store whose directory is opened by somebody else, who trusts it only after looking."""

    def __init__(self, root: Path, opener: Callable[[bool], Directory]) -> None:
        super().__init__(root)
        self._opener = opener

    def _open(self, *, create: bool) -> Directory:
        return self._opener(create)


def _keep_young(directory: Directory, sha256: str) -> None:
    """Somebody is about to refer to a blob that is there: a clearing that goes on just now must spare it."""
    for name in (sha256, sha256 + ".z"):
        with contextlib.suppress(OSError):
            directory.touch(name)


def stage(directory: Directory, name: str, data: bytes, *, durable: bool = True) -> None:
    """Write a file beside its place and rename it there. Raises OSError; nothing is left then."""
    staged = TEMPORARY_PREFIX + secrets.token_hex(8)
    fd = directory.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            write_all(fd, data)
            if durable:
                sync_file(fd)
        finally:
            os.close(fd)
        directory.replace(staged, name)
    except BaseException:
        with contextlib.suppress(OSError):
            directory.unlink(staged)
        raise


def unavailable(sha256: str, status: str) -> UnavailableError:
    """The error of a content that cannot be had."""
    return UnavailableError(
        f"The content {sha256[:64]} is {status} in the artifact store; `storage/verify` lists what is affected.",
        contentStatus=status,
        sha256=sha256[:64],
    )


def _find(directory: Directory, sha256: str) -> tuple[bytes | None, str]:
    """The sound bytes of a blob, raw or compressed; else None and what is wrong."""
    worst = "missing"
    for name in (sha256, sha256 + ".z"):
        try:
            data = _read_blob(directory, name, sha256)
        except OSError as error:
            status = _status_of(error)
        else:
            if data is not None:
                return data, "available"
            status = "corrupt"
        worst = max(worst, status, key=SEVERITY.index)
    return None, worst


def _status_of(error: OSError) -> str:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return "missing"
    # A link, FIFO or directory stands where a blob should.
    return "corrupt" if isinstance(error, LinkError) or error.errno in (errno.EINVAL, errno.EISDIR) else "unreadable"


def _read_blob(directory: Directory, name: str, sha256: str) -> bytes | None:
    """The blob's raw bytes, or None if they are not what the name says. Raises OSError."""
    fd = directory.open(name, os.O_RDONLY)
    try:
        size = os.fstat(fd).st_size
        if size > MAX_BLOB_BYTES:
            return None
        blocks: list[bytes] = []
        while block := os.read(fd, _BLOCK):
            blocks.append(block)
    finally:
        os.close(fd)
    data = b"".join(blocks)
    if name.endswith(".z"):
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(data, MAX_BLOB_BYTES)
        except zlib.error:
            return None
    return data if hashlib.sha256(data).hexdigest() == sha256 else None
