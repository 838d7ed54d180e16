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
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path

from lockstitch.errors import UnavailableError
from lockstitch.platform.at_once import AtOnce
from lockstitch.platform.beneath import Directory, LinkError, OpenDirectory, open_root
from lockstitch.platform.files import (
    TEMPORARY_PREFIX,
    make_private_directory,
    storage_errors,
    sync_file,
    write_all,
)
from lockstitch.platform.reflink import clone

COMPRESS_ABOVE = 4096
MAX_BLOB_BYTES = 1 << 30
"""No content comes near this size: a compressed blob that grows beyond it is not one of ours."""

SEVERITY = ("missing", "unreadable", "corrupt")
"""Why a content cannot be had; of several copies the worst is told."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_FOLDER = re.compile(r"[0-9a-f]{2}")
_EMPTY = hashlib.sha256(b"").hexdigest()
_BLOCK = 1 << 20
_TOGETHER = 32
"""So many contents are on their way to the disk at a time, each with its file and its folder open."""


class Store:
    """A directory `<aa>/<sha256>` of contents, safe for several processes at once."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        self.alone: Callable[[], bool] = lambda: False
        """Whether no other process may be staging a file here: what is left of dead ones goes at once then."""
        self._synced: set[str] = set()
        self._swept = False
        self._clones = True  # until the disk says that it makes none

    def put(self, data: bytes) -> str:
        """Store bytes durably and return their sha256. Raises StorageError."""
        packed = Packed(data)
        self.put_packed([packed])
        return packed.sha256

    def put_packed(self, contents: Sequence[Packed]) -> None:
        """Store several contents durably, all of them or an error: the disk takes their syncs side by side.

        Raises StorageError.
        """
        with storage_errors(self.root), self._open(create=True) as root:
            if not self._swept:
                self._swept = True
                remove_staged(root, alone=self.alone())
            for first in range(0, len(contents), _TOGETHER):
                self._put_together(root, contents[first : first + _TOGETHER])

    def _put_together(self, root: Directory, contents: Sequence[Packed]) -> None:
        staged: list[_Staged] = []
        with contextlib.ExitStack() as opened:
            folders: dict[str, Directory] = {}
            try:
                for packed in contents:
                    folder = packed.sha256[:2]
                    directory = folders.get(folder)
                    if directory is None:
                        directory = folders[folder] = opened.enter_context(_enter(root, folder))
                    if _find(directory, packed.sha256)[0] is None:
                        staged.append(_Staged(root, packed.stored, directory, packed.name))
                    else:
                        _keep_young(directory, packed.sha256)
                _all_of([each.sync for each in staged])
                for each in staged:
                    each.move()
            except BaseException:
                for each in staged:
                    each.remove()
                raise
            # A blob that was there may have been renamed in a moment ago by a process that has not synced yet.
            _all_of([directory.sync for directory in folders.values()])
            if not folders.keys() <= self._synced:
                root.sync()
                self._synced |= folders.keys()

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

    def among(self, contents: Iterable[str]) -> set[str]:
        """Those of which there is a blob by that name; each folder is opened once."""
        folders: dict[str, list[str]] = {}
        for sha256 in contents:
            if _SHA256.fullmatch(sha256):
                folders.setdefault(sha256[:2], []).append(sha256)
        found: set[str] = set()
        with contextlib.suppress(OSError), self._open(create=False) as root:
            for folder, names in folders.items():
                with contextlib.suppress(OSError), root.enter(folder) as directory:
                    found.update(name for name in names if _is_there(directory, name))
        return found

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

    def copy(
        self, contents: Sequence[Packed], source: Store, *, may_write: Callable[[int], bool]
    ) -> Generator[int | None]:
        """Have copies that are not forced to the disk: clones of the blobs in `source` if the disk makes such, else
        written if `may_write` allows that many bytes.

        Gives of each the bytes that were written, 0 for a clone or a copy that was there, None if it was not
        allowed. Raises OSError, StorageError.
        """
        with self._open(create=True) as root:
            for packed in contents:
                with _enter(root, packed.sha256[:2]) as directory:
                    yield self._copy(root, directory, packed, source, may_write)

    def _copy(
        self, root: Directory, directory: Directory, packed: Packed, source: Store, may_write: Callable[[int], bool]
    ) -> int | None:
        if _is_there(directory, packed.sha256):
            return 0
        staged = _new_staged_name()
        if source.clone_to(root, staged, packed.sha256, packed.name):
            root.move(staged, directory, packed.name)
            return 0
        if not may_write(len(packed.stored)):
            return None
        stage(directory, packed.name, packed.stored, within=root)
        return len(packed.stored)

    def clone_to(self, directory: Directory, name: str, sha256: str, blob: str) -> bool:
        """Make a new name elsewhere share the blocks of a blob; False where the disk cannot. Raises OSError."""
        if not self._clones or not isinstance(directory, OpenDirectory):
            return False
        try:
            with self._open(create=False) as root, root.enter(sha256[:2]) as folder:
                fd = folder.open(blob, os.O_RDONLY)
        except OSError:
            return False  # it is there in its other form
        try:
            self._clones = clone(fd, directory.fileno(), name)
            return self._clones
        finally:
            os.close(fd)

    def bytes_stored(self) -> int:
        """How many bytes all blobs take. Names that are none of ours do not count."""
        total = 0
        with contextlib.suppress(OSError):
            for folder in os.scandir(self.root):
                if _FOLDER.fullmatch(folder.name) and folder.is_dir(follow_symlinks=False):
                    with contextlib.suppress(OSError):
                        total += sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder.path))
        return total

    def _open(self, *, create: bool) -> Directory:
        """The directory of the store."""
        try:
            return open_root(self.root)
        except FileNotFoundError:
            if not create:
                raise
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


class Packed:
    """Bytes as a store keeps them. Compressing is put off until it is needed, and done once."""

    __slots__ = ("_stored", "data", "sha256")

    def __init__(self, data: bytes, sha256: str | None = None) -> None:
        """`sha256`: that of the data, where it is known."""
        self.data = data
        self.sha256 = hashlib.sha256(data).hexdigest() if sha256 is None else sha256
        self._stored: bytes | None = None

    @property
    def stored(self) -> bytes:
        """The content of the blob's file."""
        if self._stored is None:
            small = zlib.compress(self.data, 1) if len(self.data) > COMPRESS_ABOVE else self.data
            self._stored = small if len(small) < len(self.data) else self.data
        return self._stored

    @property
    def name(self) -> str:
        """The name of the blob's file."""
        return self.sha256 if self.stored is self.data else self.sha256 + ".z"


class _Staged:
    """A content that is written beside its place; its descriptor is open until it is synced."""

    def __init__(self, within: Directory, data: bytes, directory: Directory, name: str) -> None:
        """Raises OSError; nothing is left then. What a kill leaves begins with TEMPORARY_PREFIX."""
        self._within, self._directory, self._name = within, directory, name
        self._staged = _new_staged_name()
        self._fd = within.open(self._staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_all(self._fd, data)
        except BaseException:
            self.remove()
            raise

    def sync(self) -> None:
        """Have its bytes on the disk. Raises OSError."""
        sync_file(self._fd)

    def move(self) -> os.stat_result:
        """Rename it into its place, and say what it is. Raises OSError."""
        found = os.fstat(self._fd)
        self._close()
        self._within.move(self._staged, self._directory, self._name)
        return found

    def remove(self) -> None:
        """Leave nothing, if it is not in its place yet."""
        self._close()
        with contextlib.suppress(OSError):
            self._within.unlink(self._staged)

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def stage(directory: Directory, name: str, data: bytes, *, within: Directory | None = None) -> os.stat_result:
    """Write a file beside its place, or `within` another directory of the disk, and rename it there, unsynced.

    Returns its status. Raises OSError; nothing is left then.
    """
    staged = _Staged(within or directory, data, directory, name)
    try:
        return staged.move()
    except BaseException:
        staged.remove()
        raise


_disk = AtOnce()


def _all_of(calls: Sequence[Callable[[], object]]) -> None:
    """Run calls that wait for the disk side by side; raises what the first one to fail raised."""
    for error in _disk.run(calls):
        if error is not None:
            raise error


def _enter(root: Directory, folder: str) -> Directory:
    """A folder of the store; made if it is not there, not durably."""
    try:
        return root.enter(folder)
    except FileNotFoundError:
        root.make_directory(folder, durable=False)
        return root.enter(folder)


_process = secrets.token_hex(4)


def _ours() -> str:
    """How the names begin of what this process is staging."""
    return f"{TEMPORARY_PREFIX}{os.getpid():x}-{_process}-"


def _new_staged_name() -> str:
    return _ours() + secrets.token_hex(8)


def remove_staged(directory: Directory, *, alone: bool) -> None:
    """Remove what dead processes were staging, if nobody else is at work; else whoever is alone next does.

    What other threads of this process are staging stays.
    """
    if not alone:
        return
    with contextlib.suppress(OSError):
        for name in directory.names():
            if name.startswith(TEMPORARY_PREFIX) and not name.startswith(_ours()):
                with contextlib.suppress(OSError):
                    if stat.S_ISREG(directory.status(name).st_mode):
                        directory.unlink(name)


def _is_there(directory: Directory, sha256: str) -> bool:
    """Whether a blob is there, by its name; one that a power cut left empty is not."""
    for name in (sha256, sha256 + ".z"):
        with contextlib.suppress(OSError):
            found = directory.status(name)
            if stat.S_ISREG(found.st_mode) and (found.st_size or sha256 == _EMPTY):
                return True
    return False


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
