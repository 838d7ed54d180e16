"""The part of a workspace that is ours, `.lockstitch/<rootId>`, and the data root where it cannot be used.

Invariant: a found `.lockstitch` is not trusted. Each component is opened relative to the one before, without
following links, and must be a directory that this user owns; else contents go to the data root, and
`problem` says why.
Invariant: nothing outside `.lockstitch` is written in a workspace.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from lockstitch.artifacts.paths import folder_name
from lockstitch.artifacts.safety import SafetyCopies
from lockstitch.artifacts.store import SEVERITY, OpenedStore, Packed, Store, remove_staged, stage, unavailable
from lockstitch.errors import StorageError, UnavailableError
from lockstitch.platform.beneath import Directory, LinkError, current_user, is_ours, open_root

FOLDER = ".lockstitch"
_IGNORE_ALL = b"*\n"
_REMEMBERED = 256


class CurrentDocument(msgspec.Struct, frozen=True):
    """The newest version document of a path as this process left it."""

    stamp: tuple[int, ...]
    """Another one once somebody else has written the file."""
    version_no: int
    listed: bytes
    """The entries of its `artifactVersions`, encoded."""


class Sidecar:
    """Where one workspace's contents are kept. One instance may serve a thread's whole life.

    `store` is the workspace's (None without a workspace), `fallback_store` the data root's; `root` is the
    workspace-relative `.lockstitch/<rootId>`; `problem` is the reason why the last write did not go to the
    workspace, None if it did or if there is no workspace.
    """

    def __init__(
        self,
        workspace: Path | None,
        root_id: str,
        data_root_artifacts: Path,
        safety: SafetyCopies | None = None,
        alone: Callable[[], bool] | None = None,
    ) -> None:
        """`safety` has a copy made of what goes to the workspace; `alone` is `Store.alone` of the workspace's."""
        self.workspace = workspace
        self.root = f"{FOLDER}/{folder_name(root_id)}"
        self.fallback_store = Store(data_root_artifacts) if safety is None else safety.store
        self._safety = safety
        self._swept = False
        self.problem: str | None = None
        self.writing_documents = threading.Lock()
        self.currents: OrderedDict[tuple[str, ...], CurrentDocument] = OrderedDict()
        """By the folders of the documents; what is not here any more is read from the disk."""
        self.store: Store | None = None
        if workspace is not None:
            self.store = OpenedStore(
                workspace / self.root / "artifacts", lambda create: self.open_folder(("artifacts",), create=create)
            )
            if alone is not None:
                self.store.alone = alone

    def put(self, data: bytes) -> str:
        """Store bytes durably, in the workspace if it can be trusted and written, else in the data root.

        Returns the sha256. Raises StorageError when neither takes them.
        """
        packed = Packed(data)
        self.put_packed([packed])
        return packed.sha256

    def put_packed(self, contents: Sequence[Packed]) -> str | None:
        """The same of several contents; returns why they are not in the workspace, None if they are."""
        if self.store is not None:
            try:
                self.store.put_packed(contents)
            except StorageError as error:
                self.problem = f"Contents are kept in the data directory, not in the workspace. {error.message}"
            else:
                self.problem = None
                if self._safety is not None:
                    self._safety.keep(contents, self.store)
                return None
        self.fallback_store.put_packed(contents)
        return self.problem

    def get(self, sha256: str) -> bytes:
        """The bytes, verified, from wherever a sound copy is. Raises UnavailableError(contentUnavailable)."""
        worst = "missing"
        for store in self._stores():
            try:
                return store.get(sha256)
            except UnavailableError as error:
                worst = max(worst, error.facts["contentStatus"], key=SEVERITY.index)
        raise unavailable(sha256, worst)

    def has(self, sha256: str) -> bool:
        """Whether one of the stores has a blob of that name (not verified)."""
        return self.path_of(sha256) is not None

    def among(self, contents: Iterable[str]) -> set[str]:
        """Those of the contents that one of the stores has by name (not verified)."""
        left, found = set(contents), set[str]()
        for store in self._stores():
            if left:
                found |= store.among(left)
                left -= found
        return found

    def path_of(self, sha256: str) -> Path | None:
        """Where the blob is, with `.z` behind its name if it is compressed, or None."""
        return next((path for store in self._stores() if (path := store.path_of(sha256)) is not None), None)

    def paths_of(self, sha256: str) -> list[Path]:
        """Every place where the blob is."""
        return [path for store in self._stores() if (path := store.path_of(sha256)) is not None]

    def open_folder(self, parts: Sequence[str], *, create: bool) -> Directory:
        """Open a folder beneath `.lockstitch/<rootId>`, looking at each component. Raises OSError."""
        if self.workspace is None:
            raise FileNotFoundError(errno.ENOENT, "The thread has no workspace")
        at = open_root(self.workspace)
        with at:
            return self.open_within(at, (*self.root.split("/"), *parts), create=create)

    def open_within(self, base: Directory, parts: Sequence[str], *, create: bool) -> Directory:
        """Open a folder beneath another one of ours, which stays open. Raises OSError."""
        user = current_user()
        at = base
        for part in parts:
            try:
                following = _enter(at, part, create)
            finally:
                if at is not base:
                    at.close()
            at = following
            try:
                if not is_ours(at.own_status(), user):
                    raise PermissionError(errno.EPERM, "Belongs to another user", part)
                if create and part == FOLDER:
                    _ignore_all(at, user)
            except BaseException:
                at.close()
                raise
        return at

    def remove_staged(self, base: Directory) -> None:
        """Remove what dead processes were staging in `.lockstitch/<rootId>`; looked for once."""
        if not self._swept and self.store is not None:
            self._swept = True
            remove_staged(base, alone=self.store.alone())

    def remember(self, folders: tuple[str, ...], current: CurrentDocument) -> None:
        """Keep in mind what was written, so that the next version need not read it."""
        self.currents[folders] = current
        self.currents.move_to_end(folders)
        while len(self.currents) > _REMEMBERED:
            self.currents.popitem(last=False)

    def _stores(self) -> tuple[Store, ...]:
        return (self.fallback_store,) if self.store is None else (self.store, self.fallback_store)


def open_sidecar(
    workspace: Path | None,
    root_id: str,
    data_root_artifacts: Path,
    safety: SafetyCopies | None = None,
    alone: Callable[[], bool] | None = None,
) -> Sidecar:
    """The sidecar of a workspace; touches nothing until something is put or read."""
    return Sidecar(workspace, root_id, data_root_artifacts, safety, alone)


def _enter(at: Directory, part: str, create: bool) -> Directory:
    try:
        return at.enter(part)
    except FileNotFoundError:
        if not create:
            raise
        at.make_directory(part)
        return at.enter(part)


def _ignore_all(folder: Directory, user: int | None) -> None:
    """Keep git from seeing any of it; a file that the user put there instead stays."""
    try:
        found = folder.status(".gitignore")
    except FileNotFoundError:
        stage(folder, ".gitignore", _IGNORE_ALL)
        return
    if stat.S_ISLNK(found.st_mode):
        raise LinkError(os.path.join(FOLDER, ".gitignore"))
    if not stat.S_ISREG(found.st_mode) or not is_ours(found, user):
        raise PermissionError(errno.EPERM, "Is not a regular file of this user", ".gitignore")
