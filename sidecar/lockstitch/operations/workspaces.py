"""Workspaces: how a thread's root is spelled, compared and linked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lockstitch.artifacts.paths import workspace_key
from lockstitch.errors import InvalidError, UnavailableError

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime


def key_of_workspace(path: str) -> str:
    """The canonical key of a workspace path, however it is spelled. Looks at the disk: not for the event loop."""
    try:
        return workspace_key(path)
    except (OSError, ValueError):
        return path.rstrip("/") or "/"


async def workspace_fields(runtime: Runtime, cwd: str | None, *, must_exist: bool = False) -> dict[str, Any]:
    """`cwd`, `workspaceKey`, `workspaceLinked` and who links it, as `thread.started` holds them; nothing without a cwd.

    Raises InvalidError for a path that is not absolute, UnavailableError for one that is no directory.
    """
    if cwd is None or (cwd == "" and not must_exist):
        return {}
    if not os.path.isabs(cwd) or "\0" in cwd:
        raise InvalidError.at("workspace" if must_exist else "cwd", "must be an absolute path")

    def look() -> str:
        if must_exist and not os.path.isdir(cwd):
            raise UnavailableError(
                "The workspace is not a directory on this machine; create it or give another one.",
                kind="workspaceUnavailable",
                path=cwd,
            )
        return key_of_workspace(cwd)

    key = await runtime.slowly(look)
    return {"cwd": cwd, "workspaceKey": key, "workspaceLinked": True, "workspaceRootId": runtime.root_id}
