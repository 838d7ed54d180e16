"""An import as a series of appends: each holds events of whole lines and, as its last event, how far it came.

Invariant: progress and events are in one append, so that after a crash either both are there or neither.
Invariant: nothing here is written; what a thread holds already is handed in.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lockstitch.artifacts.paths import workspace_key
from lockstitch.codec import ParseError, TooDeepError, canonical, decode
from lockstitch.errors import ConflictError
from lockstitch.imports.detect import open_source
from lockstitch.imports.fields import mapping, string
from lockstitch.imports.growth import Growth, Held, PrefixDigest, Told
from lockstitch.imports.intake import Batch, ContentStore, Intake, Preparation, RecentContents
from lockstitch.imports.scan import given_title, modified_at
from lockstitch.imports.shared import Unshared
from lockstitch.imports.source import SourceThread
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.rows import ThreadRow

COUNTED = {"turn.started": "turns", "item.completed": "items", "artifact.snapshot": "checkpoints"}


@dataclass(frozen=True, slots=True)
class Stored:
    """The thread that holds a part of the source already."""

    held: Held
    complete: bool
    """The end of the source was written; else an import was cut off."""
    imported_name: str | None
    """The name that the import gave; a different one is the user's own."""
    row: ThreadRow
    parts: dict[int, str]
    """Where the files before the last one end, and the digest up to there."""
    document: dict[str, Any] | None = None
    """Of a document: the digest of all its lines, and which message was the last."""


def key_of_directory(path: str) -> str:
    """What a session's directory is compared by. Looks at the disk; it may be of another machine or system."""
    try:
        return workspace_key(path) if os.path.isabs(path) else path
    except (OSError, ValueError):
        return path


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _document_digest(thread: SourceThread) -> str:
    """Of the messages, and of what is told of the thread beside them."""
    told = canonical([thread.title, thread.model, thread.cwd, thread.settled])
    return _sha256(told + b"\n" + (thread.document or b""))


def _message_id(lines: bytes, start: int) -> str | None:
    """What names the message that begins there: its id, else its beginning."""
    line = lines[start : lines.find(b"\n", start)]
    try:
        return string(mapping(decode(line)).get("id")) or _sha256(line) if line else None
    except (ParseError, TooDeepError):
        return None  # the half of one that the next import may find whole


@dataclass(frozen=True, slots=True)
class Step:
    """One append. It is valid only on a thread that holds `follows` bytes of the source."""

    events: list[Incoming]
    follows: int
    read_bytes: int
    counts: Counter[str]


@dataclass(slots=True)
class Steps:
    """Reads one source for one thread. Use `open` in a worker thread, then iterate there; close at the end."""

    path: Path
    stored: Stored | None
    store: ContentStore
    prepare: Preparation
    unshared: Unshared | None = None
    """Other threads hold a part of the conversation."""
    thread_id: str | None = None
    """The thread's id where it is not the session's."""
    described: SourceThread | None = None
    """What was found out about the source when it was offered."""
    thread: SourceThread = field(init=False)
    started_at: str = ""
    """When the thread began; known with the first step."""
    skipped: int = 0
    damaged: int = 0
    _digest: PrefixDigest | None = None
    _growth: Growth = field(init=False)

    def open(self) -> bool:
        """Open the source; False if the thread holds all of it. Raises LockstitchError, also where it has changed."""
        reading = open_source(self.path, self.described)
        self.thread = reading.thread
        if self.thread_id is not None:
            self.thread = replace(self.thread, source_thread_id=self.thread_id)
        self._digest = PrefixDigest(self.thread)
        held = None if self.stored is None else self.stored.held
        if held is not None and self.stored is not None:
            if self.thread.size in self.stored.parts:
                # An earlier one of the files that the thread was made from.
                if self._digest.upto(self.thread.size) == self.stored.parts[self.thread.size]:
                    return False
                self._digest.close()
                self._digest = PrefixDigest(self.thread)
            if (
                self.thread.size < held.read_bytes
                or self._digest.upto(held.read_bytes) != held.read_sha256
                or not self._goes_on(held.read_bytes)
            ):
                raise ConflictError(
                    f"The file {self.path.name} is not the one any more that thread {self.thread.source_thread_id} was "
                    "imported from: its beginning has changed. Import it with replaceExisting to make the thread anew.",
                    kind="threadExists",
                    threadId=self.thread.source_thread_id,
                    reason="sourceChanged",
                    use="replaceExisting",
                )
            if self._is_held(self.stored):
                return False
        self._growth = Growth(reading, held, self.unshared)
        return True

    def _is_held(self, stored: Stored) -> bool:
        if self.thread.document is None:
            return self.thread.size == stored.held.read_bytes and stored.complete
        return stored.document is not None and stored.document["sha256"] == _document_digest(self.thread)

    def _goes_on(self, read_bytes: int) -> bool:
        """Whether the message that was a document's last is still there, though maybe with more in it."""
        if self.stored is None or self.stored.document is None or self.thread.document is None:
            return True
        last = self.stored.document["last"]
        return last is None or _message_id(self.thread.document, read_bytes) == last

    def close(self) -> None:
        if self._digest is not None:
            self._digest.close()

    def __iter__(self) -> Iterator[Step]:
        reading, held, thread = self._growth.reading, self._growth.held, self.thread
        first_at = thread.created_at or modified_at(self.path)
        contents = RecentContents(self.store)
        intake = Intake(thread.source_thread_id, thread.client, first_at, reading.account, contents, self.prepare)
        at, number = (0, 0) if held is None else (held.read_bytes, held.events)
        last = Batch([], at)
        for batch in intake.batches(self._growth.events()):
            self._begin(first_at)
            if last.events:
                number += len(last.events)
                yield self._step(last.events, at, last.read_bytes, number, {})
                at = last.read_bytes
            last = batch
        endings, found = self._growth.endings()
        keys = {event.key for event in found}
        # The same key may be told again by a longer file: what an end made bears the place of that end.
        place = f"@{thread.size}" if thread.document is None else ""
        events = last.events + [intake.ready(event, suffix=place) for event in endings]
        contents.store()  # the last message of a document may hold file edits
        self._begin(first_at)
        # A text that was skipped at an end before may have found its display event since.
        self.skipped = max(reading.skipped - self._growth.skipped_before, 0)
        self.damaged = reading.damaged - self._growth.damaged_before
        number += len(events)
        name = given_title(thread) or reading.title
        updated = self._told_later(name)
        if updated:
            events.append(Incoming("thread.updated", updated, at=events[-1].at if events else first_at, own=True))
        # An import that was cut off knows by `closings` whether the end of the file was written.
        told: dict[str, Any] = {"closings": sorted(keys)}
        if thread.document is not None:
            # Its last message may come again with more in it: what it told is compared then.
            told["document"] = {
                "sha256": _document_digest(thread),
                "last": _message_id(thread.document, thread.settled or 0),
                "told": {event.key: Told.of(event).as_stored() for event in found},
            }
        if thread.earlier:
            told["parts"] = self._parts()
        if name is not None:
            told["name"] = name
        if self.unshared is not None and self.unshared.holder is not None:
            told["shared"] = self.unshared.as_stored()
        yield self._step(events, at, thread.size if thread.settled is None else thread.settled, number, told)

    def _parts(self) -> list[dict[str, Any]]:
        """Where the earlier files end: each of them alone is held too."""
        digest, size, parts = PrefixDigest(self.thread), 0, list[dict[str, Any]]()
        try:
            for path in self.thread.earlier:
                size += path.stat().st_size
                parts.append({"bytes": size, "sha256": digest.upto(size)})
                size += 1
        finally:
            digest.close()
        return parts

    def _begin(self, first_at: str) -> None:
        if not self.started_at:
            # What goes on from another thread began with what is new in it.
            shared = self.unshared is not None and self.unshared.holder is not None
            self.started_at = (self.unshared.first_at if shared and self.unshared else None) or first_at

    def _step(self, events: list[Incoming], follows: int, upto: int, number: int, told: dict[str, Any]) -> Step:
        assert self._digest is not None
        counts = Counter(COUNTED[event.type] for event in events if event.type in COUNTED)
        at = events[-1].at if events else self.started_at if self.stored is None else self.stored.row.last_at
        return Step([*events, self._imported(upto, self._digest.upto(upto), number, at, told)], follows, upto, counts)

    def _imported(self, size: int, sha256: str, number: int, at: str | None, told: dict[str, Any]) -> Incoming:
        payload: dict[str, Any] = {
            "client": self.thread.client,
            "sourceThreadId": self.thread.source_thread_id,
            "sourcePath": str(self.path),
            "readBytes": size,
            "readSha256": sha256,
            "events": number,
        }
        return Incoming("thread.imported", payload | told, at=at, own=True)

    def nothing_read(self) -> Incoming:
        """The progress with which a thread begins."""
        return self._imported(0, hashlib.sha256().hexdigest(), 0, self.started_at, {})

    def _told_later(self, name: str | None) -> dict[str, Any]:
        """What the file tells of its thread now and did not when the thread began. The user's own name stays."""
        thread = self.thread
        cwd = thread.cwd or self._growth.reading.found_cwd
        if self.stored is None:
            updated: dict[str, Any] = {"name": name} if name is not None and name != thread.title else {}
            if cwd is not None and thread.cwd is None:
                updated["workspace"] = {"cwd": cwd, "key": key_of_directory(cwd), "linked": False}
            return updated
        row, updated = self.stored.row, dict[str, Any]()
        if name is not None and name != row.name and row.name in (None, self.stored.imported_name):
            updated["name"] = name
        if thread.model is not None and not row.model:
            updated["model"] = thread.model
        if thread.model_provider is not None and not row.provider:
            updated["modelProvider"] = thread.model_provider
        if cwd is not None and not row.cwd:
            updated["workspace"] = {"cwd": cwd, "key": key_of_directory(cwd), "linked": False}
        if thread.git and not (row.git_sha or row.git_branch or row.git_origin):
            updated["gitInfo"] = thread.git
        return updated
