"""Workspaces that are not where a thread left them, and where they may be now.

A workspace is known again by the version documents that this data root wrote into it for the very thread.

Invariant: only names of folders are looked at, so many of them and no more; nothing is linked without being asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lockstitch.artifacts.documents import holds_documents

_MOST_FOLDERS = 5_000
_DEPTH = 2
"""So deep below the nearest folder that is still there."""


def lost_workspaces(threads: list[dict[str, Any]], root_id: str) -> list[dict[str, Any]]:
    """`{cwd, threadIds, found[]}` of every linked directory that is gone, with the folders that may be it."""
    lost: dict[str, list[str]] = {}
    for thread in threads:
        cwd = thread["cwd"]
        if cwd and thread["workspaceLinked"] and not thread.get("ephemeral") and not os.path.isdir(cwd):
            lost.setdefault(cwd, []).append(thread["id"])
    found: list[dict[str, Any]] = []
    for cwd, ids in sorted(lost.items()):
        places = [
            str(folder)
            for folder in dict.fromkeys([*_below(_remaining(Path(cwd))), Path(os.path.abspath("."))])
            if any(holds_documents(folder, root_id, one) for one in ids)
        ]
        found.append({"cwd": cwd, "threadIds": ids, "found": places})
    return found


def _remaining(path: Path) -> Path:
    """The nearest folder above that is still there."""
    for folder in path.parents:
        if folder.is_dir():
            return folder
    return path.parent


def _below(folder: Path) -> Iterator[Path]:
    """The folders below, the nearer ones first; no hidden ones and no links."""
    level, seen = [folder], 0
    for _ in range(_DEPTH):
        deeper: list[Path] = []
        for one in level:
            try:
                with os.scandir(one) as entries:
                    names = sorted(
                        entry.name
                        for entry in entries
                        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
                    )
            except OSError:
                continue
            for name in names:
                seen += 1
                if seen > _MOST_FOLDERS:
                    return
                deeper.append(one / name)
                yield one / name
        level = deeper
