"""One act on the user's files: a plan, its refusals, the files, and the events that record it, together or not.

Order: what the timeline does not know is recorded as external; journal; contents staged; files exchanged; ONE
append with every restored checkpoint, the conversation's rollback and `thread.rewound` (the commit point); what
was set aside goes; journal gone. An error or a kill before the commit point puts every file back.

Invariant: whether an act happened is decided by whether its `thread.rewound` event is in the rollout.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstitch.artifacts import restore_act
from lockstitch.artifacts.capture import read_file
from lockstitch.artifacts.content import Content, reference
from lockstitch.artifacts.paths import path_to_wire
from lockstitch.artifacts.restore_act import CameOut
from lockstitch.artifacts.restore_journal import Entry, Journal, tree_state
from lockstitch.artifacts.restore_plan import MAX_FILE_BYTES, Step, Wanted, conflict, refuse_plan
from lockstitch.artifacts.restore_rollback import roll_back
from lockstitch.artifacts.restore_swap import make_plan
from lockstitch.artifacts.restore_target import Folders, missing_folders, refuse_platform, remove_empty
from lockstitch.artifacts.sidecar import Sidecar
from lockstitch.errors import InvalidError, LockstitchError, UnavailableError
from lockstitch.operations.act_recovery import is_recorded, record_rescued, recover_orphans
from lockstitch.operations.call import Call
from lockstitch.operations.incoming import digest_of
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.snapshots import Snapshots, stored_events
from lockstitch.operations.thread import refuse_archived
from lockstitch.platform.beneath import CAN_OPEN_BENEATH, OpenDirectory
from lockstitch.rollout.line import Draft
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.checkpoints import ABSENT, Snapshot
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.jobs import Appended, AppendJob
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow

log = logging.getLogger(__name__)

_MOST_KEPT = 32 << 20

Conversation = Callable[[Admission], dict[str, Any]]
"""Adds what the act does to the conversation; returns what `thread.rewound` says of it. May refuse."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What the caller allows."""

    backup: bool
    dry_run: bool

    @classmethod
    def of(cls, confirm: bool, on_conflict: str | None, dry_run: bool | None) -> Consent:
        """Raises InvalidError for an act that is neither confirmed nor a dry run."""
        if not confirm and not dry_run:
            raise InvalidError.at("confirmRestore", "must be true, since files are changed; or set dryRun")
        return cls(on_conflict == "backup", bool(dry_run))


@dataclass(slots=True)
class Asked:
    """What an act is to bring about, looked up on one view."""

    wanted: list[Wanted]
    facts: dict[str, Any]
    """What `thread.rewound` says besides: kind, turn, position, what it undoes."""
    record_all: bool = False
    """Record a checkpoint for each file, also for one that is already as wanted."""
    emptied: list[str] = field(default_factory=list[str])
    """Folders that an earlier act made and that go if they are empty afterwards."""
    conversation: Conversation | None = None


@dataclass(slots=True)
class Done:
    """What became of it."""

    thread: ThreadRow
    steps: list[Step]
    act_id: str
    applied: bool
    drafts: list[tuple[int, Draft]] = field(default_factory=list[tuple[int, Draft]])
    external: list[tuple[int, Draft]] = field(default_factory=list[tuple[int, Draft]])
    at: str = ""

    def plan(self) -> list[dict[str, Any]]:
        """The plan as a reply holds it."""
        return [step.as_wire() for step in self.steps]


async def perform(
    runtime: Runtime,
    call: Call,
    thread_id: str,
    consent: Consent,
    act_id: str,
    ask: Callable[[View, ThreadRow], Asked],
) -> Done:
    """Plan, refuse or do. Raises LockstitchError; nothing was changed then but that the user's own edits, where
    the caller asked for that, may have been recorded."""
    act = _Act(runtime, call, thread_id, consent, act_id)
    async with runtime.order.turn(thread_id):
        return await act.run(ask)


class _Act:
    def __init__(self, runtime: Runtime, call: Call, thread_id: str, consent: Consent, act_id: str) -> None:
        self._runtime, self._call, self._thread_id = runtime, call, thread_id
        self._consent, self._id = consent, act_id
        self._snapshots = Snapshots(runtime, thread_id)
        self._out: dict[str, CameOut] = {}
        self._journal_file: Path | None = None
        self._rescued: list[tuple[str, Content]] = []

    async def run(self, ask: Callable[[View, ThreadRow], Asked]) -> Done:
        if self._runtime.refusal is not None:
            raise self._runtime.refusal  # what could not be recorded is not done
        if self._consent.backup:
            # What is only in memory is no backup of a file that nobody else has.
            self._runtime.ephemeral.refuse(self._thread_id, "given a backup")
        await recover_orphans(self._runtime)
        self._thread = await self._snapshots.open()
        refuse_archived(self._thread)
        self._workspace = self._linked()
        self._contents = _Verified(self._sidecar)
        asked = await self._runtime.read_thread(self._thread_id, lambda view: ask(view, self._thread))
        self._asked = asked
        steps = await self._runtime.slowly(self._plan)
        done = Done(self._thread, steps, self._id, applied=False)
        if self._consent.dry_run:
            return done
        refuse_plan(steps)
        self._call.commit_point()
        done.external = await self._record_external(steps)
        journal = self._journal(steps)
        try:
            await self._runtime.slowly(lambda: self._change_files(journal, steps))
        except BaseException:
            await self._record_rescued()
            raise
        appended = await self._record(journal, steps)
        done.thread, done.drafts, done.applied, done.at = appended.thread, stored_events(appended), True, self._at
        await self._clean_up(journal)
        await self._snapshots.write_documents(done.thread, [*done.external, *done.drafts])
        return done

    def _linked(self) -> Path:
        workspace = self._snapshots.workspace
        if workspace is None:
            raise UnavailableError(
                f"Thread {self._thread.thread_id} is not linked to a workspace; link it with thread/metadata/update.",
                kind="workspaceNotLinked",
                threadId=self._thread.thread_id,
            )
        if not CAN_OPEN_BENEATH:
            refuse_platform(workspace)
        return Path(workspace)

    @property
    def _sidecar(self) -> Sidecar:
        assert self._snapshots.sidecar is not None
        return self._snapshots.sidecar

    def _plan(self) -> list[Step]:
        return make_plan(self._workspace, self._contents.get, self._asked.wanted, backup=self._consent.backup)

    def _journal(self, steps: list[Step]) -> Journal:
        entries = [_entry(step) for step in steps if step.acts and not step.is_member]
        workspace = str(self._workspace)
        return Journal(self._id, self._thread.thread_id, workspace, entries, emptied=list(self._asked.emptied))

    # -- the files --------------------------------------------------------------------------------------------
    def _change_files(self, journal: Journal, steps: list[Step]) -> None:
        """Everything between the plan and the append; whatever fails, every file is as it was."""
        self._secure(steps)
        journal.folders = self._new_folders(journal)
        if not journal.entries and not journal.emptied:
            return
        self._journal_file = self._runtime.journals.write(journal)
        try:
            restore_act.stage(self._workspace, journal, self._contents.get)
            self._out = restore_act.exchange(self._workspace, journal, self._sidecar.put)
            restore_act.sync_folders(self._workspace, journal.entries)
        except BaseException:
            self._take_back(journal)
            raise

    def _new_folders(self, journal: Journal) -> list[str]:
        found: dict[str, None] = {}
        with Folders(self._workspace) as folders:
            for entry in journal.entries:
                if entry.to.sha256 is not None:
                    found.update(dict.fromkeys(missing_folders(folders, entry.path)))
                found.update(dict.fromkeys(entry.new_folders()))
        return list(found)

    def _secure(self, steps: list[Step]) -> None:
        """What is going to be replaced is in the store before anything moves: what is not what it was then comes
        out at the exchange."""
        for step in steps:
            if step.acts and step.live.status == "available" and not self._is_stored(step.live.sha256):
                found = read_file(self._workspace, step.path, max_bytes=MAX_FILE_BYTES)
                if found.data is None or found.sha256 != step.live.sha256:
                    step.reason = "changed"
                    raise conflict([step])
                self._sidecar.put(found.data)

    def _is_stored(self, sha256: str | None) -> bool:
        """Whether a sound copy of what a version holds is there: it was made durable when it was recorded."""
        with suppress(UnavailableError):
            self._contents.get(sha256 or "")
            return True
        return False

    def _take_back(self, journal: Journal) -> None:
        done = roll_back(self._workspace, journal, self._sidecar.put)
        if done.complete and self._journal_file is not None:
            with suppress(LockstitchError):
                self._runtime.journals.remove(self._journal_file)
        self._rescued += done.rescued

    async def _record_rescued(self) -> None:
        """What somebody saved while files were put back is in the store; make versions of it."""
        if self._rescued:
            try:
                await record_rescued(self._runtime, self._thread_id, self._rescued)
            except LockstitchError as error:
                log.warning("bytes that are safe in the store could not be made a version: %s", error.kind)

    async def _clean_up(self, journal: Journal) -> None:
        """After the commit point nothing here is an error of the act: a start finishes what fails."""
        late: list[tuple[str, Content]] = []

        def clean() -> None:
            late.extend(restore_act.retire(self._workspace, journal, self._sidecar.put))
            remove_empty(self._workspace, journal.emptied, OpenDirectory.sync)
            if self._journal_file is not None and not late:
                self._runtime.journals.remove(self._journal_file)

        try:
            await self._runtime.slowly(clean)
            if late:
                await record_rescued(self._runtime, self._thread_id, late)
                if self._journal_file is not None:
                    self._runtime.journals.remove(self._journal_file)
        except (LockstitchError, OSError) as error:
            log.warning("what a restore set aside is removed at the next start: %s", type(error).__name__)

    # -- the events -------------------------------------------------------------------------------------------
    async def _record_external(self, steps: list[Step]) -> list[tuple[int, Draft]]:
        """Record every disk state that the timeline does not know, before anything is done about it."""
        unknown = [step for step in steps if step.external]
        if not unknown:
            return []

        def make() -> list[Incoming]:
            return [self._event(self._external(step)) for step in unknown]

        events = await self._runtime.slowly(make)
        return stored_events(await self._append(events, lambda admission: None))

    def _external(self, step: Step) -> Snapshot:
        """The present state as a version. Raises ConflictError if it has changed since the plan."""
        if step.live.status != "available":
            return self._snapshot(step.path, "external", ABSENT)
        found = read_file(self._workspace, step.path, max_bytes=MAX_FILE_BYTES)
        if found.data is None or found.sha256 != step.live.sha256:
            step.reason = "changed"
            raise conflict([step])
        self._sidecar.put(found.data)
        return self._snapshot(step.path, "external", reference(found))

    def _snapshot(
        self, path: str, source: str, after: dict[str, Any], before: dict[str, Any] | None = None
    ) -> Snapshot:
        wire = path_to_wire(path)
        op = "restored" if source == "restore" else "external"
        snapshot = Snapshot(wire["path"], source, after, before, op=op, place=self._snapshots.place())
        if "pathBase64" in wire:
            snapshot.fields["pathBase64"] = wire["pathBase64"]
        if source == "restore":
            snapshot.fields["rewindId"] = self._id
        if before is not None:
            self._runtime.contents_of(self._thread_id).diff(self._sidecar, snapshot.key, None, before, after)
        return snapshot

    @staticmethod
    def _event(snapshot: Snapshot) -> Incoming:
        return Incoming("artifact.snapshot", {}, own=True, outside=True, snapshot=snapshot)

    def _restored(self, steps: list[Step]) -> list[Incoming]:
        """The checkpoints of what was done; first the versions that nobody had foreseen."""
        events: list[Incoming] = []
        for step in steps:
            out = self._out.get(step.path)
            if out is None and not self._asked.record_all:
                continue
            before = ABSENT
            if out is None:
                before = ABSENT if step.live.status == "missing" else reference(step.live)
            elif out.content is not None:
                before = reference(out.content)
            if out is not None and not out.foreseen:
                events.append(self._event(self._snapshot(step.path, "external", before)))
            events.append(self._event(self._snapshot(step.path, "restore", self._after(step), before)))
        return events

    def _after(self, step: Step) -> dict[str, Any]:
        side = step.wanted.side
        if side is None:
            return ABSENT
        mode = step.to.mode
        after = {name: value for name, value in side.items() if name != "assumed"}
        if mode is None:
            found = read_file(self._workspace, step.path, max_bytes=MAX_FILE_BYTES)
            return {**after, "mode": found.mode} if found.mode is not None else after
        return {**after, "mode": f"{mode:04o}"}

    async def _record(self, journal: Journal, steps: list[Step]) -> Appended:
        """The commit point: one append, or every file goes back."""
        asked = self._asked
        try:
            events = await self._runtime.slowly(lambda: self._restored(steps))
            self._at = self._runtime.now()

            def build(admission: Admission) -> None:
                facts = dict(asked.facts)
                if asked.conversation is not None:
                    facts.update(asked.conversation(admission))
                if journal.folders:
                    facts["folders"] = [path_to_wire(folder) for folder in journal.folders]
                admission.add(rewound(self._id, facts))

            return await self._append(events, build)
        except BaseException:
            if not await self._is_recorded():
                await self._runtime.slowly(lambda: self._take_back(journal))
                await self._record_rescued()
            raise

    async def _is_recorded(self) -> bool:
        try:
            return await is_recorded(self._runtime, self._thread_id, self._id)
        except LockstitchError:
            return False  # the writer fails no append that it has committed

    async def _append(self, events: list[Incoming], more: Callable[[Admission], None]) -> Appended:
        def build(admission: Admission) -> None:
            for event in events:
                admission.add(event)
            more(admission)

        job: AppendJob = self._runtime.job(AppendJob, thread_id=self._thread_id, build=build)
        return await self._runtime.perform(self._call, job)


def _entry(step: Step) -> Entry:
    """A step for the journal, with the files of the folder that the file changes places with."""
    token = secrets.token_hex(8)
    if step.members is None:
        return Entry(step.path, step.was, step.to, token)
    makes_folder = step.wanted.side is None
    tree = {one.path[len(step.path) + 1 :]: one.to if makes_folder else one.was for one in step.members}
    folder = tree_state(tree)
    return Entry(step.path, step.was if makes_folder else folder, folder if makes_folder else step.to, token, tree)


class _Verified:
    """Contents as the stores have them, kept for the length of an act once they are read and found sound."""

    def __init__(self, sidecar: Sidecar) -> None:
        self._sidecar = sidecar
        self._found: dict[str, bytes] = {}
        self._room = _MOST_KEPT

    def get(self, sha256: str) -> bytes:
        """The bytes. Raises UnavailableError."""
        found = self._found.get(sha256)
        if found is None:
            found = self._sidecar.get(sha256)
            if len(found) <= self._room:
                self._room -= len(found)
                self._found[sha256] = found
        return found


def rewound(act_id: str, facts: dict[str, Any]) -> Incoming:
    """The event that says that an act happened; its id is the act's, so that it is found without a search."""
    payload = {"rewindId": act_id, **facts}
    return Incoming("thread.rewound", payload, event_id=act_id, digest=digest_of(payload), own=True)
