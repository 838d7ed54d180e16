"""Undo a restore that did not come to its end: by an error of ours, or by a kill, at whatever point.

Invariant: what to do is read off the disk and the journal alone, so that it may itself be killed and repeated.
Invariant: a target is touched only while it is as the journal says that we left it. What somebody else wrote
since stays, and what was set aside is then in the store before it goes.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lockstitch.artifacts.content import Content
from lockstitch.artifacts.restore_act import remove_held, sync_folders
from lockstitch.artifacts.restore_journal import Entry, Journal, State, is_tree
from lockstitch.artifacts.restore_target import Target, open_target, remove_empty
from lockstitch.artifacts.restore_tree import FOREIGN, is_folder, state_of
from lockstitch.errors import LockstitchError, RefusedError
from lockstitch.platform.beneath import OpenDirectory
from lockstitch.platform.exchange import RENAMES

log = logging.getLogger(__name__)

_ATTEMPTS = 8


@dataclass(slots=True)
class RolledBack:
    """What came of it."""

    rescued: list[tuple[str, Content]] = field(default_factory=list[tuple[str, Content]])
    """Bytes in the store that no version holds yet, and whose path holds something else now."""
    complete: bool = True
    """False: the workspace or the disk did not answer; the journal has to stay for another attempt."""


def roll_back(workspace: Path, journal: Journal, keep: Callable[[bytes], str]) -> RolledBack:
    """Put every file back that the restore had replaced. Raises nothing."""
    done = RolledBack()
    for entry in reversed(journal.entries):
        try:
            with open_target(workspace, entry.path) as target:
                done.rescued += _put_back(target, entry, keep)
        except FileNotFoundError:
            continue
        except RefusedError as error:
            log.warning("a file of a restore was not put back: %s", error.facts.get("reason"))
        except (LockstitchError, OSError) as error:
            log.warning("a file of a restore could not be put back yet: %s", type(error).__name__)
            done.complete = False
    if done.complete:
        remove_empty(workspace, journal.folders, OpenDirectory.sync)
        with contextlib.suppress(LockstitchError, OSError):
            sync_folders(workspace, journal.entries)
    return done


def _put_back(target: Target, entry: Entry, keep: Callable[[bytes], str]) -> list[tuple[str, Content]]:
    directory = target.directory
    for out in (entry.aside, entry.staged):
        for _ in range(_ATTEMPTS):
            held = _state(directory, entry, out)
            if held is None or held == FOREIGN or (out == entry.staged and _is_staged(entry, held)):
                break
            if not _return(target, entry, out):
                break
    if _was_created(target, entry):
        _take_back(target, entry)
    return remove_held(directory, entry, entry.was.sha256, keep)


def _is_staged(entry: Entry, held: State) -> bool:
    """Whether what is beside the target, under the name of the new content, is that and not what had been there."""
    if entry.makes_folder:
        return is_tree(held)  # also half removed: what had been there was a file
    return _is_new(entry, held)


def _is_new(entry: Entry, held: State) -> bool:
    """Whether a state is the new content rather than what had been there."""
    return entry.to.sha256 is not None and entry.to.is_at(held, entry.was)


def _return(target: Target, entry: Entry, out: str) -> bool:
    """Bring what had been there back, if its place is free or still holds our content; whether to look again."""
    directory = target.directory
    here = _state(directory, entry, target.name)
    if here is None:
        try:
            RENAMES.move_new(directory.fileno(), out, target.name)
        except FileExistsError:
            return True
        return False
    if not _is_new(entry, here):
        return False  # somebody wrote a file since: it stays
    _swap(directory, entry, out, target.name)
    taken = _state(directory, entry, out)
    if taken is not None and not _is_new(entry, taken):
        _swap(directory, entry, out, target.name)  # written a moment ago: the newest bytes belong in the place
        return False
    return False


def _swap(directory: OpenDirectory, entry: Entry, one: str, other: str) -> None:
    fd = directory.fileno()
    if RENAMES.exchange(fd, one, other):
        return
    RENAMES.move_new(fd, other, entry.spare)
    RENAMES.move_new(fd, one, other)
    RENAMES.move_new(fd, entry.spare, one)


def _was_created(target: Target, entry: Entry) -> bool:
    """Whether the target is a file that this restore put where none was."""
    if entry.was.sha256 is not None or entry.to.sha256 is None:
        return False
    if any(_state(target.directory, entry, name) is not None for name in (entry.staged, entry.aside)):
        return False
    here = _state(target.directory, entry, target.name)
    return here is not None and _is_new(entry, here)


def _take_back(target: Target, entry: Entry) -> None:
    directory = target.directory
    with contextlib.suppress(FileNotFoundError):
        RENAMES.move_new(directory.fileno(), target.name, entry.aside)
    held = _state(directory, entry, entry.aside)
    if held is not None and not _is_new(entry, held):
        with contextlib.suppress(FileExistsError):
            RENAMES.move_new(directory.fileno(), entry.aside, target.name)


def _state(directory: OpenDirectory, entry: Entry, name: str) -> State | None:
    """What is at a name; None for nothing. A folder counts as something foreign, unless the entry is about one."""
    return FOREIGN if entry.tree is None and is_folder(directory, name) else state_of(directory, name)
