"""Where everything of a data root lies: the only module that joins on-disk names.

Invariant: nothing here creates, opens or removes anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

TIMELINE_VERSION = 2
"""N of `timeline-v<N>.sqlite`: changes with every incompatible change of schema or reducer."""

SEARCH_VERSION = 1
"""N of `search-v<N>.sqlite`: changes with what is searched, and how words are told apart."""

_ROLLOUT_NAME = re.compile(r"rollout-(\d{4})-(\d\d)-(\d\d)T\d\d-\d\d-\d\d-([A-Za-z0-9][A-Za-z0-9_-]{0,99})\.jsonl")


class RolloutPlace(msgspec.Struct, frozen=True):
    """A rollout file found on disk. `path` is relative to the data root, `/`-separated."""

    thread_id: str
    path: str
    archived: bool


class DataRoot:
    """The layout of one data root (docs/format.md). Its paths are joined once: appends ask for them."""

    __slots__ = (
        "_prefix",
        "archived_sessions",
        "artifacts",
        "boots",
        "exports",
        "index_lock",
        "journal",
        "log_file",
        "path",
        "quarantine",
        "root_file",
        "search",
        "search_lock",
        "sessions",
        "sqlite",
        "timeline",
        "trash",
        "writer_lock",
    )

    def __init__(self, path: Path) -> None:
        self.path = path
        self._prefix = os.path.join(path, "")
        self.root_file = path / "root.json"
        self.writer_lock = path / "locks" / "writer"
        self.index_lock = path / "locks" / "index"
        self.search_lock = path / "locks" / "search"
        self.boots = path / "locks" / "boots"
        self.sessions = path / "sessions"
        self.archived_sessions = path / "archived_sessions"
        self.trash = path / "trash"
        self.sqlite = path / "sqlite"
        self.timeline = self.sqlite / f"timeline-v{TIMELINE_VERSION}.sqlite"
        self.search = self.sqlite / f"search-v{SEARCH_VERSION}.sqlite"
        self.artifacts = path / "artifacts"
        self.exports = path / "exports"
        self.journal = path / "journal"
        self.quarantine = path / "quarantine"
        self.log_file = path / "log" / "sidecar.log"

    def boot_lock(self, boot_id: str) -> Path:
        """The file whose lock that boot holds while it lives."""
        return self.boots / boot_id

    def staged_rollout(self, boot_id: str, thread_id: str) -> Path:
        """Where that process writes a new rollout before it appears whole; left by a crash, a start removes it."""
        return self.trash / f"{boot_id}-{thread_id}"

    def doomed(self, token: str, name: str) -> Path:
        """Where the rollout of a deleted thread goes before it is removed."""
        return self.trash / f"{token}-{name}"

    def set_aside(self, name: str, token: str) -> Path:
        """Where something goes that stands in the place of a file of ours and is none."""
        return self.quarantine / f"{name}-{token}"

    def private_directories(self) -> tuple[Path, ...]:
        """The directories that a writable root has from its first start."""
        return (
            self.path,
            self.boots,
            self.sessions,
            self.archived_sessions,
            self.trash,
            self.sqlite,
            self.artifacts,
            self.journal,
            self.quarantine,
        )

    def resolve(self, relative: str) -> Path:
        """The absolute path of a place that is written relative to the root, as in `RolloutPlace.path`."""
        return self.path.joinpath(*relative.split("/"))

    def resolved(self, relative: str) -> str:
        """The same as text: a list of threads names one for each."""
        return self._prefix + relative.replace("/", os.sep)

    def rollouts(self) -> Iterator[RolloutPlace]:
        """Every rollout file, archived ones too; names are read, contents are not."""
        for archived, top in ((False, "sessions"), (True, "archived_sessions")):
            base = self.path / top
            for directory, folders, names in os.walk(base):
                folders.sort()
                prefix = Path(directory).relative_to(self.path).as_posix()
                for name in sorted(names):
                    thread_id = thread_id_of(name)
                    if thread_id is not None:
                        yield RolloutPlace(thread_id, f"{prefix}/{name}", archived)


def rollout_name(created_at: str, thread_id: str) -> str:
    """The file name of a thread's rollout; `created_at` is RFC 3339 UTC."""
    return f"rollout-{created_at[:19].replace(':', '-')}-{thread_id}.jsonl"


def session_place(created_at: str, thread_id: str) -> str:
    """Where a live thread's rollout lies, relative to the root, `/`-separated."""
    year, month, day = created_at[:10].split("-")
    return f"sessions/{year}/{month}/{day}/{rollout_name(created_at, thread_id)}"


def archived_place(name: str) -> str:
    """Where the rollout of that file name lies once it is archived."""
    return f"archived_sessions/{name}"


def unarchived_place(name: str) -> str:
    """Where the rollout of that file name lies once it is taken out of the archive."""
    match = _ROLLOUT_NAME.fullmatch(name)
    if match is None:
        raise ValueError("not the name of a rollout")
    return f"sessions/{match[1]}/{match[2]}/{match[3]}/{name}"


def thread_id_of(name: str) -> str | None:
    """The thread id in a rollout's file name; None if it is not one."""
    match = _ROLLOUT_NAME.fullmatch(name)
    return None if match is None else match[4]
