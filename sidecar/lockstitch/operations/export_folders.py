"""Writes an export's folder: into the workspace if it takes it, else into the data root; whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lockstitch.artifacts.paths import folder_name
from lockstitch.errors import StorageError
from lockstitch.exports.folder import StagedFolder
from lockstitch.exports.seal import FileSeal
from lockstitch.operations.call import Call
from lockstitch.operations.cancelling import to_its_end
from lockstitch.operations.runtime import Runtime
from lockstitch.platform.beneath import descend, open_root
from lockstitch.platform.files import make_private_directory, storage_error, storage_errors

KindOf = Callable[[str], tuple[str, str]]
Files = Iterable[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Target:
    """Where the exports of one kind go for one thread."""

    relative: str
    """To the workspace, else to the data root."""
    absolute: str
    folder: StagedFolder
    problem: str | None
    """Why it is not in the workspace."""


async def open_target(runtime: Runtime, workspace: str | None, thread_id: str, kind: str, exported_at: str) -> Target:
    """Begin a folder, which the caller hands to `write_folder` without waiting in between. Raises StorageError."""
    return await to_its_end(
        runtime,
        lambda: _open_target(runtime, workspace, thread_id, kind, exported_at),
        lambda target: target.folder.abandon(),
    )


def _open_target(runtime: Runtime, workspace: str | None, thread_id: str, kind: str, exported_at: str) -> Target:
    parts = ("exports", folder_name(thread_id), kind)
    problem = None
    if workspace is not None:
        sidecar = runtime.contents.sidecar(workspace)
        relative = "/".join((sidecar.root, *parts))
        absolute = f"{workspace.rstrip('/')}/{relative}"
        try:
            with storage_errors(absolute):
                parent = sidecar.open_folder(parts, create=True)
            return Target(relative, absolute, StagedFolder(parent, absolute, exported_at), None)
        except StorageError as error:
            problem = f"The workspace did not take the export; it is in the data root. {error.message}"
    relative = "/".join(parts)
    place = runtime.root.exports.joinpath(*parts[1:])
    make_private_directory(place)
    try:
        parent = descend(open_root(runtime.root.path), parts)
    except OSError as error:
        raise storage_error(error, place) from error
    return Target(relative, str(place), StagedFolder(parent, str(place), exported_at), problem)


@dataclass(frozen=True, slots=True)
class Written:
    """A folder that is there."""

    name: str
    relative_root: str
    absolute_root: str
    files: list[FileSeal]

    def artifacts(self, kind_of: KindOf) -> list[dict[str, Any]]:
        """Its files as the protocol lists them."""
        return [
            {
                "kind": kind_of(found.path)[0],
                "title": kind_of(found.path)[1],
                "relativePath": f"{self.relative_root}/{found.path}",
                "absolutePath": f"{self.absolute_root}/{found.path}",
                "bytes": found.bytes,
            }
            for found in self.files
        ]


async def write_folder(
    runtime: Runtime, call: Call, target: Target, steps: Iterable[Callable[[list[FileSeal]], Files]], total: int
) -> Written:
    """Write the files that each step gives, one after the other; what a cancel or an error leaves is nothing.

    A step sees what was written before it. Raises StorageError.
    """
    files: list[FileSeal] = []
    try:
        await call.progress("begin", current=0, total=total)
        for step in steps:
            source = iter(step(files))
            while True:
                more = await to_its_end(runtime, lambda source=source: _write_next(target.folder, source, files))
                if not more:
                    break
                await call.progress("report", current=min(len(files), total), total=total)
        call.commit_point()
        name = await runtime.slowly(target.folder.finish)
    except BaseException:
        await to_its_end(runtime, target.folder.abandon)
        raise
    await call.progress("end", current=total, total=total)
    return Written(name, f"{target.relative}/{name}", f"{target.absolute}/{name}", files)


def _write_next(folder: StagedFolder, source: Any, files: list[FileSeal]) -> bool:
    found = next(source, None)
    if found is None:
        return False
    files.append(folder.add(*found))
    return True
