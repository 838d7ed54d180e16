"""What a restore would do to each file, and why it may not: the plan that a dry run shows and an act follows.

Invariant: planning reads and changes nothing. Every refusal that the disk and the contents would give at the
act is found here; what changes between plan and act is found out at the exchange.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstitch.artifacts.capture import not_read, read_in
from lockstitch.artifacts.content import Content
from lockstitch.artifacts.paths import path_to_wire
from lockstitch.artifacts.restore_journal import State
from lockstitch.artifacts.restore_target import Folders, refuse_unwritable
from lockstitch.codec import present
from lockstitch.errors import ConflictError, LockstitchError, RefusedError, UnavailableError
from lockstitch.platform.files import storage_error

MAX_FILE_BYTES = 64 << 20
"""A larger file is recorded as `tooLarge`, without its content, hence never overwritten."""


Contents = Callable[[str], bytes]
"""The bytes of a content by its hash, verified. Raises UnavailableError."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the timeline says of one file: what it is to become, and what it was last known to be."""

    path: str
    side: dict[str, Any] | None
    """The content reference to restore; None: no file."""
    known: str | None
    """The last known hash; None with `known_absent` false: the timeline does not know."""
    known_absent: bool
    unavailable: str | None = None
    """A contentStatus: what is wanted was never recorded, or is gone."""
    reason: str | None = None
    mode: int | None = None
    """The bits to give the file where `side` has none."""


@dataclass(slots=True)
class Step:
    """One file of a plan."""

    wanted: Wanted
    action: str
    live: Content = field(default_factory=lambda: Content("missing"))
    reason: str | None = None
    refusal: LockstitchError | None = None
    external: bool = False
    """The disk holds what the timeline does not know: recorded as a version before anything else."""
    members: list[Step] | None = None
    """Of a file that changes places with a folder: the files that go or come with the folder."""
    is_member: bool = False

    @property
    def path(self) -> str:
        return self.wanted.path

    @property
    def to(self) -> State:
        side = self.wanted.side
        if side is None:
            return State()
        # Where the version has no bits of its own the file keeps those that it has.
        otherwise = mode_of(self.live.mode, self.wanted.mode)
        return State(side.get("sha256"), mode_of(side.get("mode"), otherwise))

    @property
    def was(self) -> State:
        return State(self.live.sha256, mode_of(self.live.mode, None))

    @property
    def acts(self) -> bool:
        return self.action in ("write", "delete")

    def as_wire(self) -> dict[str, Any]:
        """This file in the `plan` of a reply."""
        side = self.wanted.side
        told = {
            **path_to_wire(self.path),
            "action": self.action,
            "fromSha256": self.live.sha256,
            "toSha256": None if side is None else side.get("sha256"),
            "reason": self.reason or self.wanted.reason,
        }
        return present(told)


def mode_of(text: str | None, otherwise: int | None) -> int | None:
    """Permission bits from octal digits; never setuid, setgid or sticky."""
    try:
        return otherwise if text is None else int(text, 8) & 0o777
    except ValueError:
        return otherwise


@dataclass(frozen=True, slots=True)
class Planning:
    """What the steps of one plan are judged by."""

    workspace: Path
    folders: Folders
    get: Contents
    backup: bool

    def step(self, wanted: Wanted) -> Step:
        """What is to be done with one file, looked at by itself."""
        try:
            read = self._read(wanted.path)
        except RefusedError as error:
            return Step(wanted, "unavailable", reason=error.facts.get("reason"), refusal=error)
        step = Step(wanted, "delete" if wanted.side is None else "write", read.without_data())
        self.judge(step)
        return step

    def _read(self, path: str) -> Content:
        """What is at a path. Raises RefusedError if it may not be replaced."""
        try:
            target = self.folders.at(path)
            refuse_unwritable(target, path)
            return read_in(target.directory, target.name, path, max_bytes=MAX_FILE_BYTES)
        except OSError as error:
            return not_read(error, path)

    def judge(self, step: Step, beside: str | None = None) -> None:
        """Decide what is to be done with what was found. `beside`: a path whose folder is there, if its own is not."""
        wanted, live = step.wanted, step.live
        there = live.status in ("available", "missing") and wanted.unavailable is None and _is_there(step)
        status = wanted.unavailable or (None if there else _unavailable(self.get, wanted.side))
        if status is not None:
            step.action, step.reason = "unavailable", status
            step.refusal = _cannot_be_had(wanted.path, status)
            return
        if live.status not in ("available", "missing"):
            _judge_unreadable(step, self.backup)
            return
        step.external = not _is_known(wanted, live)
        if there:
            step.action = "keep"
        elif step.external and live.status == "available":
            if self.backup:
                step.reason = "backup"
            else:
                step.action, step.reason, step.refusal = "conflict", "changed", conflict([step])
        if step.acts and not self.folders.can_write_beside(beside or wanted.path):
            denied = OSError(errno.EACCES, "the folder may not be written")
            step.refusal = storage_error(denied, os.path.join(self.workspace, wanted.path))
            step.action, step.reason = "unavailable", "readOnly"


def _is_known(wanted: Wanted, live: Content) -> bool:
    if live.status == "missing":
        return wanted.known_absent
    return wanted.known is not None and wanted.known == live.sha256


def _is_there(step: Step) -> bool:
    """Whether the file already is what it is to become."""
    to, was = step.to, step.was
    if step.wanted.side is not None and to.sha256 is None:
        return False
    return to.sha256 == was.sha256 and (to.sha256 is None or to.mode is None or to.mode == was.mode)


def _unavailable(get: Contents, side: dict[str, Any] | None) -> str | None:
    """Why a content cannot be restored; None if it can. Read and verified, since a name proves nothing."""
    if side is None:
        return None
    if side.get("contentStatus") != "available":
        return side.get("contentStatus") or "missing"
    try:
        get(side.get("sha256") or "")
    except UnavailableError as error:
        return error.facts["contentStatus"]
    return None


def _judge_unreadable(step: Step, backup: bool) -> None:
    """A file that is there and cannot be read, or is too large, cannot be recorded, hence not be replaced."""
    status = step.live.status
    step.reason = status
    if backup:
        step.action, step.refusal = "unavailable", _cannot_be_had(step.path, status)
    else:
        step.action, step.refusal = "conflict", conflict([step])


def _cannot_be_had(path: str, status: str) -> UnavailableError:
    shown = path_to_wire(path)["path"]
    return UnavailableError(
        f"Nothing was changed: the content of {shown} cannot be had ({status}). Leave that file out with `paths`, "
        "or restore another version of it.",
        kind="contentUnavailable",
        contentStatus=status,
        path=shown,
    )


def conflict(steps: list[Step]) -> ConflictError:
    """The error of files that hold what the timeline does not know."""
    names = ", ".join(path_to_wire(step.path)["path"] for step in steps[:3])
    more = f" and {len(steps) - 3} more" if len(steps) > 3 else ""
    return ConflictError(
        f"Nothing was changed: {names}{more} changed since the last version that the thread knows. Capture it, or "
        'restore with onConflict "backup", which records the present bytes as a version first.',
        kind="conflict",
        files=[conflict_of(step) for step in steps],
    )


def conflict_of(step: Step) -> dict[str, Any]:
    """One conflicting file: what was expected and what is there."""
    told = {
        **path_to_wire(step.path),
        "expectedSha256": step.wanted.known,
        "actualSha256": step.live.sha256,
        "reason": step.reason,
    }
    return present(told)


def refuse_plan(steps: list[Step]) -> None:
    """Raise what forbids the plan: a place that may not be written, then a content, then all conflicts at once."""
    for kind in ("pathRefused", "contentUnavailable", "storageReadOnly"):
        for step in steps:
            if step.refusal is not None and step.refusal.kind == kind:
                raise step.refusal
    conflicts = [step for step in steps if step.action == "conflict"]
    if conflicts:
        raise conflict(conflicts)
