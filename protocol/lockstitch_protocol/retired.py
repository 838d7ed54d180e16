"""Names that older hosts use and this protocol no longer takes, each with what to use instead.

Invariant: a plain table without pydantic; a name stands either here or in the registry, never in both.
"""

from __future__ import annotations

from typing import Final

RETIRED_METHODS: Final[dict[str, str]] = {
    "agent_runtime_list_file_checkpoints": "agentSession/fileCheckpoint/list",
    "agent_runtime_get_file_checkpoint": "agentSession/fileCheckpoint/get",
    "agent_runtime_diff_file_checkpoint": "agentSession/fileCheckpoint/diff",
    "agent_runtime_restore_file_checkpoint": "agentSession/fileCheckpoint/restore",
    "agent_runtime_get_thread_read": "agentSession/read",
    "agent_runtime_export_evidence_pack": "evidence/export",
    "agent_runtime_export_replay_case": "agentSession/replayCase/export",
}
"""Retired method to its replacement: -32601 `methodRetired` with `data.replacement`."""

RETIRED_EVENTS: Final[dict[str, str]] = {
    "tool.started": "item.started",
    "tool.args": "item.updated",
    "tool.result": "item.completed",
    "tool.failed": "item.completed",
    "done": "turn.completed",
    "final_done": "turn.completed",
    "turn.done": "turn.completed",
    "turn.final_done": "turn.completed",
    "cancelled": "turn.canceled",
    "turn.cancelled": "turn.canceled",
}
"""Retired event type to its replacement: -32602 that names it."""
