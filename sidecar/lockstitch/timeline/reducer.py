"""The reducer: state × event → state. What every event means for threads, turns, items and checkpoints.

Invariant: pure. It reads no file and no clock, refuses nothing, and gives the same rows whether a rollout is
reduced event by event as it grows or all at once; what may be appended is decided before, in admission.py.
Invariant: of a payload only the fields that rows need are decoded; `item` is always its last key.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import msgspec

from lockstitch import codec
from lockstitch.timeline import payloads, workers
from lockstitch.timeline.parts import add_part
from lockstitch.timeline.previews import preview_of
from lockstitch.timeline.rows import (
    MESSAGES,
    CheckpointRow,
    ClientEventRow,
    ImportSourceRow,
    ItemKind,
    ItemRow,
    ItemStatus,
    ThreadRow,
    TurnRow,
    TurnStatus,
    set_usage,
    usage_of,
)
from lockstitch.timeline.state import ThreadState
from lockstitch.timeline.times import microseconds_of

MARK_EVERY = 64
_RECEIVED_AT = f'"{payloads.RECEIVED_AT}":'.encode()
_MOST_TOKENS = 1 << 53
"""A larger count in one event is nonsense, and a thousand such counts still fit a column."""

TURN_ENDS: dict[str, TurnStatus] = {
    "turn.completed": TurnStatus.completed,
    "turn.failed": TurnStatus.failed,
    "turn.canceled": TurnStatus.canceled,
    "turn.interrupted": TurnStatus.recovered,
}
DELTAS: dict[str, ItemKind] = {
    "message.delta": ItemKind.agentMessage,
    "reasoning.delta": ItemKind.reasoning,
    "command.output": ItemKind.commandExecution,
}
ITEM_OPENS = frozenset({"item.started", "item.updated", "command.started", "patch.started"})
ITEM_ENDS = frozenset(
    {
        "item.completed",
        "message.created",
        "command.exited",
        "patch.applied",
        "patch.failed",
        "patch.declined",
        "plan.final",
        "reasoning.final",
        "context.compaction.completed",
        "artifact.snapshot",
        "file.changed",
    }
)
ITEM_EVENTS = ITEM_OPENS | ITEM_ENDS
"""The events whose line holds a whole item, as `payload.item`."""
SILENT = frozenset({"turn.interrupted", "thread.recovered", workers.INTERRUPTED})
"""What recovery writes: it does not make a thread look newly used."""


class Fact(msgspec.Struct, frozen=True, gc=False):
    """One event as it stands in the rollout: its line begins at `line_at`, its payload at `line_at + payload_at`."""

    sequence: int
    at: str
    type: str
    event_id: str
    turn_id: str | None
    item_id: str | None
    payload: bytes
    line_at: int
    line_length: int
    payload_at: int
    digest: str | None = None
    req: str | None = None
    item: payloads.PayloadItem | None = None
    """Of an item event, what `payloads.read_item` would find in the payload, if that is at hand."""
    claimed: bool = True
    """Whether `at` may be a host's claim, and the payload say when the event came. Asking that costs a search."""


def reduce(state: ThreadState, fact: Fact) -> None:
    """Apply one event to the state. Events come in the order of their sequence."""
    thread, sequence, type_, turn_id = state.thread, fact.sequence, fact.type, fact.turn_id
    moment = moment_of(fact.at, fact.payload) if fact.claimed else state.microseconds_of(fact.at)
    if sequence % MARK_EVERY == 1:
        state.add_mark(sequence, fact.line_at)
    thread.last_sequence, thread.last_at = sequence, fact.at
    if moment > thread.updated_at and type_ not in SILENT:
        thread.updated_at = moment
    turn = None if turn_id is None else state.turn(turn_id)
    try:
        if type_ in ITEM_EVENTS:
            _reduce_item(state, fact, turn)
        handler = _HANDLERS.get(type_)
        if handler is not None:
            handler(state, fact, turn, moment)
    except (codec.ParseError, ValueError):
        # A payload of another shape than its type says (a newer writer): the event is kept, no row changes.
        pass
    if turn_id is not None:
        if turn is None:
            turn = state.turn(turn_id)
        if turn is not None:
            turn.last_sequence = sequence
            if state.dirty_turns.get(turn.turn_no) is not turn:
                state.touch_turn(turn)
    if fact.digest is not None:
        remember(state, fact.event_id, fact.digest, sequence, fact.line_at, fact.line_length)
    if fact.req is not None:
        remember(state, f"req:{fact.req}", fact.req, sequence, fact.line_at, fact.line_length)


def moment_of(at: str, payload: bytes) -> int:
    """When an event happened by our own clock, in microseconds: `at`, unless that was only a host's claim."""
    if _RECEIVED_AT in payload:
        received = payloads.read_received(payload).at
        if received is not None:
            return microseconds_of(received)
    return microseconds_of(at)


def remember(state: ThreadState, key: str, digest: str, sequence: int, line_at: int, line_length: int) -> None:
    """Keep what a host's own id, or a request's, stands for: the same once more is found by it."""
    row = ClientEventRow(state.thread.thread_no, key, sequence, line_at, line_length, bytes.fromhex(digest))
    state.client_events[key.lower()] = row
    state.new_rows.append(row)


# -- threads --------------------------------------------------------------------------------------------------
def _on_thread_started(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn
    thread, started = state.thread, payloads.read_thread_started(fact.payload)
    thread.format, thread.cwd, thread.workspace_key = started.format, started.cwd, started.workspaceKey
    thread.linked = int(started.workspaceLinked)
    thread.model, thread.provider, thread.name = started.model, started.modelProvider, started.name
    thread.source, thread.thread_source, thread.cli_version = started.source, started.threadSource, started.cliVersion
    thread.parent_thread = started.parentThreadId
    _set_git(thread, started.gitInfo)
    if started.forkedFrom is not None:
        thread.forked_from, thread.fork_root = started.forkedFrom.threadId, started.forkedFrom.rootId
    thread.created_at = thread.updated_at = thread.recency_at = moment
    thread.started_length = fact.line_length
    _set_extra(thread, fact, started.extra)


def _on_thread_updated(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn, moment
    thread, update = state.thread, payloads.read_thread_updated(fact.payload)
    if not isinstance(update.name, msgspec.UnsetType):
        thread.name = update.name
    if not isinstance(update.gitInfo, msgspec.UnsetType):
        _set_git(thread, update.gitInfo)
    if not isinstance(update.model, msgspec.UnsetType):
        thread.model = update.model
    if not isinstance(update.modelProvider, msgspec.UnsetType):
        thread.provider = update.modelProvider
    if not isinstance(update.workspace, msgspec.UnsetType):
        thread.cwd, thread.workspace_key = update.workspace.cwd, update.workspace.key
        thread.linked = int(update.workspace.linked and update.workspace.key is not None)
    _set_extra(thread, fact, update.extra)


def _set_git(thread: ThreadRow, git: payloads.GitFields | None) -> None:
    git = git or payloads.GitFields()
    thread.git_sha, thread.git_branch, thread.git_origin = git.sha, git.branch, git.originUrl


def _set_extra(thread: ThreadRow, fact: Fact, extra: codec.Raw) -> None:
    if extra:
        thread.extra_at, thread.extra_length = fact.line_at, fact.line_length


def _on_thread_archived(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn
    state.thread.archived_at = moment if fact.type == "thread.archived" else None


def _on_thread_rolled_back(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn, moment
    thread = state.thread
    usage = usage_of(thread)
    for row in state.last_visible_turns(payloads.read_rolled_back(fact.payload).numTurns):
        row.hidden = 1
        thread.turn_count -= 1
        thread.messages -= row.messages
        thread.items -= row.items
        usage.add(usage_of(row), -1)
        state.touch_turn(row)
        if row.turn_no == thread.preview_turn:
            thread.preview, thread.preview_turn = "", None
    set_usage(thread, usage)


def _on_thread_rolled_forward(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn, moment
    thread, forward = state.thread, payloads.read_rolled_forward(fact.payload)
    usage = usage_of(thread)
    for turn_id in forward.turnIds:
        row = state.turn(turn_id)
        if row is None or not row.hidden:
            continue
        row.hidden = 0
        thread.turn_count += 1
        thread.messages += row.messages
        thread.items += row.items
        usage.add(usage_of(row))
        state.touch_turn(row)
        if thread.preview_turn is None and turn_id == forward.previewTurnId:
            thread.preview, thread.preview_turn = forward.preview, row.turn_no
    set_usage(thread, usage)


def _on_thread_recovered(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn, moment
    recovered = payloads.read_recovered(fact.payload)
    if recovered.damage:
        known: list[object] = codec.decode(state.thread.damage.encode()) if state.thread.damage else []
        known += codec.decode(bytes(recovered.damage))
        state.thread.damage = codec.encode(known).decode()
    state.thread.partial |= recovered.partial


def _on_imported(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn, moment
    source = payloads.read_imported(fact.payload)
    state.import_source = ImportSourceRow(
        state.thread.thread_no,
        source.client,
        source.sourceThreadId,
        source.readBytes,
        fact.line_at,
        fact.line_length,
    )
    state.new_rows.append(state.import_source)


# -- turns ----------------------------------------------------------------------------------------------------
def _on_turn_started(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    thread = state.thread
    if turn is not None or fact.turn_id is None:
        return  # a host announces again the turn that turn/start opened: the event is kept, the turn is as it was
    started = payloads.read_turn_started(fact.payload)
    thread.last_turn_no += 1
    row = TurnRow(thread.thread_no, thread.last_turn_no, fact.turn_id, first_sequence=fact.sequence)
    row.started_at, row.boot_id = moment, started.bootId
    if started.model is not None or started.effort is not None:
        row.model_at = fact.line_at
        thread.model = started.model or thread.model
    thread.open_turn_no = row.turn_no
    thread.turn_count += 1
    thread.recency_at = max(thread.recency_at, moment)
    state.touch_turn(row)


def _on_turn_resumed(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del moment
    if turn is None:
        return
    turn.status, turn.completed_at, turn.end_at = TurnStatus.in_progress, None, None
    turn.boot_id = payloads.read_turn_started(fact.payload).bootId
    state.thread.open_turn_no = turn.turn_no


def _on_turn_end(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    thread = state.thread
    if turn is None:
        return
    turn.status, turn.completed_at, turn.end_at = TURN_ENDS[fact.type], moment, fact.line_at
    turn.boot_id = None  # only asked of open turns; the events of this one keep it
    for item in [row for row in state.open_items.values() if row.turn_no == turn.turn_no]:
        item.status = _cut_off(item, turn)
        state.touch_item(item)
    if thread.open_turn_no == turn.turn_no:
        thread.open_turn_no, thread.pending = None, ""
    named = payloads.read_turn_ended(fact.payload).usage
    if named is not None and turn.usage_reported == 0:
        _add_usage(state, turn, named)


def _cut_off(item: ItemRow, turn: TurnRow) -> ItemStatus:
    """What an item without an end is once its turn is over: text that was streamed is whole if the turn completed."""
    streamed = item.kind in (ItemKind.agentMessage, ItemKind.reasoning, ItemKind.plan)
    return ItemStatus.streamed if streamed and turn.status == TurnStatus.completed else ItemStatus.interrupted


def interrupt(state: ThreadState, moment: int) -> None:
    """End the open turn as recovery would, without its event: for what is only shown."""
    turn = state.open_turn()
    if turn is not None:
        fact = Fact(state.thread.last_sequence, "", "turn.interrupted", "", turn.turn_id, None, b"{}", 0, 0, 0)
        _on_turn_end(state, fact, turn, moment)
        state.touch_turn(turn)


# -- items ----------------------------------------------------------------------------------------------------
# As plain numbers: before Python 3.12 asking an enum for a member costs a call, and so does binding one in SQLite.
_IN_PROGRESS, COMPLETED = int(ItemStatus.in_progress), int(ItemStatus.completed)
USER_MESSAGE = int(ItemKind.userMessage)
ITEM_STATUS = {
    "inProgress": _IN_PROGRESS,
    "completed": COMPLETED,
    "failed": int(ItemStatus.failed),
    "declined": int(ItemStatus.declined),
}


def _reduce_item(state: ThreadState, fact: Fact, turn: TurnRow | None) -> None:
    item = fact.item or payloads.read_item(fact.payload)
    length = item.length
    item_at = fact.payload_at + len(fact.payload) - 1 - length
    status = _IN_PROGRESS
    if fact.type not in ITEM_OPENS:
        status = COMPLETED if item.status is None else ITEM_STATUS.get(item.status, COMPLETED)
    row = _item_row(state, fact, turn, item.id, item.kind)
    row.status, row.parts = status, None
    row.line_at, row.line_length, row.item_at, row.item_length = fact.line_at, fact.line_length, item_at, length
    if item.spilled is not None and row.kind != ItemKind.other:
        state.mark_spilled(row, item.spilled, fact.sequence)
    if row.kind == USER_MESSAGE and not state.thread.preview and not row.outside:
        state.thread.preview = preview_of(payloads.read_item_content(fact.payload))
        state.thread.preview_turn = row.turn_no
    state.touch_item(row)


def _item_row(state: ThreadState, fact: Fact, turn: TurnRow | None, item_id: str, kind: int) -> ItemRow:
    row = state.item(item_id)
    if row is not None:
        return row
    thread = state.thread
    thread.items += 1
    message = kind in MESSAGES
    if message:
        thread.messages += 1
    if turn is None:
        return ItemRow(thread.thread_no, thread.last_turn_no, fact.sequence, item_id, kind, outside=1)
    turn.items += 1
    if message:
        turn.messages += 1
    return ItemRow(thread.thread_no, turn.turn_no, fact.sequence, item_id, kind)


def _on_delta(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del moment
    if fact.item_id is None:
        return
    row = _item_row(state, fact, turn, fact.item_id, DELTAS[fact.type])
    row.parts = add_part(row.parts, fact.line_at, fact.line_length)
    if turn is not None and turn.status != TurnStatus.in_progress:
        # Another process ended the turn while this text waited for its segment to be full.
        if row.status == ItemStatus.in_progress:
            row.status = _cut_off(row, turn)
    elif row.status in (ItemStatus.interrupted, ItemStatus.streamed):
        row.status = ItemStatus.in_progress
    state.touch_item(row)


# -- the rest -------------------------------------------------------------------------------------------------
def _on_checkpoint(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del moment
    found = payloads.read_checkpoint(fact.payload).checkpoint
    thread = state.thread
    row = CheckpointRow(
        thread.thread_no,
        fact.sequence,
        0 if turn is None else turn.turn_no,
        found.checkpointId,
        found.key,
        found.versionNo,
        found.op,
        found.source,
        fact.line_at,
        fact.line_length,
        None if found.before is None else found.before.sha256,
        None if found.after is None else found.after.sha256,
        int(found.after is None),
        int(found.source in ("capture", "external", "restore")),
    )
    state.checkpoints[found.checkpointId.lower()] = row
    if found.versionNo is not None:
        state.facts[found.key] = state.versions[found.key] = row
    thread.checkpoints += 1
    thread.last_checkpoint = fact.sequence
    state.new_rows.append(row)


def _on_confirmed(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del moment
    found = payloads.read_confirmed(fact.payload)
    row = CheckpointRow(
        state.thread.thread_no,
        fact.sequence,
        0 if turn is None else turn.turn_no,
        fact.event_id,
        found.key,
        None,
        "confirmed",
        "capture",
        fact.line_at,
        fact.line_length,
        found.sha256,
        found.sha256,
        int(found.sha256 is None),
        1,
    )
    state.facts[found.key] = row
    state.new_rows.append(row)


def _on_usage(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del moment
    _add_usage(state, turn, payloads.read_usage(fact.payload))


def _add_usage(state: ThreadState, turn: TurnRow | None, sent: payloads.UsagePayload) -> None:
    cost = sent.costUsd if sent.costUsd is not None and isfinite(sent.costUsd) else None
    counts = (sent.inputTokens, sent.cachedInputTokens, sent.outputTokens, sent.reasoningOutputTokens)
    if max(counts) > _MOST_TOKENS:
        counts = [min(count, _MOST_TOKENS) for count in counts]
    input_, cached, output, reasoning = map(int, counts)
    for row in (state.thread, turn):
        if row is not None:
            row.usage_input += input_
            row.usage_cached += cached
            row.usage_output += output
            row.usage_reasoning += reasoning
            row.usage_reported += 1
            if cost is not None:
                row.usage_cost = (row.usage_cost or 0.0) + cost


def _on_route(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del state, moment
    if turn is not None:
        turn.route_at = fact.line_at


def _on_authority(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del state, moment
    if turn is not None:
        turn.authority_at = fact.line_at


def _on_action(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    del turn, moment
    request = str(payloads.read_action(fact.payload).requestId)
    pending: list[str] = codec.decode(state.thread.pending.encode()) if state.thread.pending else []
    if request in pending:
        pending.remove(request)
    if fact.type == "action.required":
        pending.append(request)
    state.thread.pending = codec.encode(pending).decode() if pending else ""


_HANDLERS: dict[str, Callable[[ThreadState, Fact, TurnRow | None, int], None]] = {
    "thread.started": _on_thread_started,
    "thread.updated": _on_thread_updated,
    "thread.archived": _on_thread_archived,
    "thread.unarchived": _on_thread_archived,
    "thread.rolledBack": _on_thread_rolled_back,
    "thread.rolledForward": _on_thread_rolled_forward,
    "thread.recovered": _on_thread_recovered,
    "thread.imported": _on_imported,
    "turn.started": _on_turn_started,
    "turn.resumed": _on_turn_resumed,
    **dict.fromkeys(TURN_ENDS, _on_turn_end),
    **dict.fromkeys(DELTAS, _on_delta),
    "artifact.snapshot": _on_checkpoint,
    "file.changed": _on_checkpoint,
    "artifact.confirmed": _on_confirmed,
    **dict.fromkeys(workers.TYPES, workers.on_worker),
    "provider.usage": _on_usage,
    "route.selected": _on_route,
    "authority.set": _on_authority,
    "action.required": _on_action,
    "action.resolved": _on_action,
    "action.cancelled": _on_action,
}
