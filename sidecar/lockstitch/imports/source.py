"""What a reader gives: the thread that a source file holds, its events, and an account of the rest.

Invariant: the same bytes give the same events, keys and ids included; a file cut at any byte gives a prefix of
the events of the whole file (what is still open at its end is in `closings`, not among them).
Invariant: events come in the order of the file, and `line` never goes backwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import msgspec

MAX_DAMAGE_KEPT = 100


@dataclass(frozen=True, slots=True)
class SourceThread:
    """The head of a session file, as far as its first lines tell."""

    client: str
    """codex, claude or gemini."""
    source_thread_id: str
    """The tool's own id if it can be a thread id of ours, else one made from it."""
    path: Path
    size: int
    title: str | None = None
    preview: str | None = None
    """The start of what the person first asked."""
    cwd: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    model: str | None = None
    model_provider: str | None = None
    client_version: str | None = None
    source: str | None = None
    """Where the tool ran, in its words (cli, vscode, exec, subagent…)."""
    git: dict[str, str] = field(default_factory=dict[str, str])
    """sha, branch, originUrl."""
    parent_thread_id: str | None = None
    stamp: int = 0
    """When the file was last written, as the disk says, in nanoseconds."""
    form: str = ""
    """Which of a tool's forms the file has, where they are read differently (bare, plain, sidechain)."""
    first_turn_id: str | None = None
    """The turn that the session begins with, where its id is the source's: sessions that begin alike share it."""
    archived: bool = False
    base: dict[str, Any] | None = None
    """The file goes on where another file of the same thread was left (Codex `history_base`)."""
    begun_at: str | None = None
    """When this file was begun: orders the files of one thread."""
    earlier: tuple[Path, ...] = ()
    """The files before this one, in order; `size` is that of all."""
    project_hash: str | None = None
    """The digest by which the tool names the directory (Gemini CLI)."""
    document: bytes | None = None
    """The lines of a file that is one JSON document, as they were when it was opened; `size` is theirs then."""
    settled: int | None = None
    """Where the last line of a document begins: the tool may write it again with more in it."""
    other_paths: tuple[Path, ...] = ()
    """Further files of the same thread that a scan met."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All files of the thread, in order."""
        return (*self.earlier, self.path)

    def as_wire(self) -> dict[str, Any]:
        """One entry of `source/scan`."""
        wire: dict[str, Any] = {
            "sourceClient": self.client,
            "sourceThreadId": self.source_thread_id,
            "sourcePath": str(self.path),
            "title": self.title or self.preview,
            "projectPath": self.cwd,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
            "bytes": self.size,
        }
        return {name: value for name, value in wire.items() if value is not None}


class SourceEvent(msgspec.Struct, frozen=True):
    """One event in our vocabulary, ready for the append path. A struct, since making a frozen dataclass is slow."""

    type: str
    payload: dict[str, Any]
    turn_id: str | None
    item_id: str | None
    at: str | None
    line: tuple[int, int]
    """(offset, length) of the source line that gave the event, or that ended what it reports."""
    key: str
    """Names the event within its thread, the same in every reading: twice is once."""


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that the file does not end. `outcome` is what its last lines suggest."""

    turn_id: str
    at: str | None
    outcome: str
    """completed (the agent had answered), canceled (the person interrupted), or open."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the file: `reached` is called before the first line that is not wholly in front of it."""

    at: int
    reached: Callable[[], None]


@dataclass(slots=True)
class Account:
    """What was met and did not become an item: nothing is left out without a count."""

    damaged: int = 0
    mended: int = 0
    damage: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    """(offset, length, reason) of the first hundred."""
    skipped: Counter[str] = field(default_factory=Counter[str])
    """The tool's own state and repeats, by line type: known, and kept out."""
    opaque: Counter[str] = field(default_factory=Counter[str])
    """Lines kept raw as `import.source.…` events, by type."""
    duplicates: int = 0
    """Lines or results that had come before."""
    encrypted: int = 0
    """Reasoning that only its maker can read."""
    outside: int = 0
    """File edits outside the session's directory, or at a place where nothing is ever recorded."""
    unproven: int = 0
    """File sides that the source does not prove."""
    edits: Counter[str] = field(default_factory=Counter[str])
    """File edits by what is proven: both, after, before, none."""

    def add_damage(self, offset: int, length: int, reason: str) -> None:
        self.damaged += 1
        if len(self.damage) < MAX_DAMAGE_KEPT:
            self.damage.append((offset, length, reason))


class SourceReading(Protocol):
    """One source file being read. `events` is read once, then `closings`."""

    @property
    def thread(self) -> SourceThread: ...
    @property
    def account(self) -> Account: ...
    @property
    def title(self) -> str | None:
        """The best title met so far: the person's own, else the tool's."""
        ...

    @property
    def found_cwd(self) -> str | None:
        """The session's directory, where only the lines behind the head told it."""
        ...

    @property
    def damaged(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    @property
    def open_turn(self) -> OpenTurn | None:
        """After `events`: the turn that no line ends. None if there is none, or if `closings` ends it."""
        ...

    def events(self, *, final: bool = False, mark: Mark | None = None) -> Iterator[SourceEvent]:
        """Stream the events. `final`: nothing more will be written, so a torn last line is damage."""
        ...

    def closings(self) -> list[SourceEvent]:
        """After `events`, or at its mark: what the reader holds back, since later lines could change it.

        Calls without a result (`item.started`), the last usage, and the end of a turn that a line ended.
        Their keys are those under which a longer file gives them. The reading goes on as if it was not asked.
        """
        ...
