"""`lockstitch diff`: what a file checkpoint changed.

Invariant: into a pipe or file go the bytes of the patch and nothing else, so that it applies.
"""

from __future__ import annotations

import argparse
from typing import Any

from lockstitch.cli.checkpoints import checkpoint_id, path_of
from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.patch import change_counts, patch_lines
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import moment_of, one_line
from lockstitch.codec import decode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Show a diff."""
    thread_id = local.thread_id(options.thread)
    chosen = await checkpoint_id(local, thread_id, options.checkpoint)
    params: dict[str, Any] = {"sessionId": thread_id, "checkpointId": chosen, "contextLines": options.context}
    if options.live:
        params["against"] = "live"
    result = await local.call("agentSession/fileCheckpoint/diff", params)
    if options.json:
        terminal.json(result)
        return OK
    found = decode(result)
    if terminal.is_terminal:
        terminal.lines(*difference(found, terminal))
    else:
        terminal.exactly(found["diff"]["unified"].encode())
    return OK


def difference(found: dict[str, Any], terminal: Terminal) -> list[str]:
    """The result of fileCheckpoint/diff, for a person."""
    checkpoint, diff = found["checkpoint"], found["diff"]
    version = f"v{checkpoint['versionNo']:04}" if checkpoint.get("versionNo") is not None else ""
    facts = [checkpoint["op"], version, moment_of(checkpoint["updatedAt"]), f"by {checkpoint['source']}"]
    lines = [
        terminal.paint(one_line(path_of(checkpoint)), "bold")
        + "  "
        + terminal.paint(" · ".join(fact for fact in facts if fact), "dim")
        + "  "
        + change_counts(diff["additions"], diff["deletions"], terminal)
    ]
    if diff["binary"]:
        lines.append("not text: only that it changed can be shown")
    elif not diff["unified"]:
        lines.append("no difference")
    lines += patch_lines(diff["unified"], terminal)
    for name, said in (("truncated", "the diff is cut here: it is longer than the limit"), ("approximate", "")):
        if diff.get(name) and said:
            lines.append(terminal.paint(said, "yellow"))
    return lines
