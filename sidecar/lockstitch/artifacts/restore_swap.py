"""Folders that stand where files are to be, and files where folders are to be: which of them a restore may swap.

Invariant: a folder goes only if the plan takes away every file in it and it holds nothing else; it goes as a whole,
and comes back as a whole.
"""

from __future__ import annotations

from pathlib import Path

from lockstitch.artifacts.content import MISSING
from lockstitch.artifacts.paths import printable, refuse
from lockstitch.artifacts.restore_plan import Contents, Planning, Step, Wanted
from lockstitch.artifacts.restore_target import Folders, open_target
from lockstitch.artifacts.restore_tree import what_else
from lockstitch.errors import RefusedError

_GOING = ("delete", "conflict")


def make_plan(workspace: Path, get: Contents, wanted: list[Wanted], *, backup: bool) -> list[Step]:
    """One step for each file, in the order given. Raises UnavailableError(workspaceUnavailable)."""
    with Folders(workspace) as folders:
        planning = Planning(workspace, folders, get, backup)
        steps = [planning.step(one) for one in wanted]
        by_path = {step.path: step for step in steps}
        for step in steps:
            if step.refusal is not None and step.refusal.kind == "pathRefused":
                if step.reason == "directory":
                    _where_a_folder_stands(planning, step, steps)
                elif step.reason == "notADirectory":
                    _beneath_a_file(planning, step, by_path)
    return steps


def _where_a_folder_stands(planning: Planning, step: Step, steps: list[Step]) -> None:
    """Let a file take the place of a folder whose files all go, if there is nothing else in it."""
    beneath = [one for one in steps if one.path.startswith(f"{step.path}/")]
    if beneath and step.wanted.side is None:
        _as_if_free(planning, step, step.path)  # no file is wanted, and none is there
        return
    if not beneath or any(one.wanted.side is not None or one.action not in (*_GOING, "keep") for one in beneath):
        return
    going = [one for one in beneath if one.action in _GOING]
    files = {one.path[len(step.path) + 1 :] for one in going}
    folders = {folder for one in beneath for folder in _folders_of(one.path[len(step.path) + 1 :])}
    try:
        with open_target(planning.workspace, step.path) as target:
            other = what_else(target, files, folders)
        if other is not None:
            there = f"A folder stands where the file was, and {printable(other)!r} in it is not this thread's"
            refuse("directory", step.path, in_the_way=there)
    except RefusedError as error:
        step.refusal = error
        return
    except OSError:
        return  # it changes just now, or cannot be read
    _as_if_free(planning, step, step.path)
    if step.acts:
        step.members = going
        for one in going:
            one.is_member = True


def _beneath_a_file(planning: Planning, step: Step, by_path: dict[str, Step]) -> None:
    """Let a folder take the place of a file that goes."""
    for folder in _folders_of(step.path):
        file = by_path.get(folder)
        if file is None or file.live.status == "missing":
            continue
        goes = file.wanted.side is None and file.action in _GOING
        if goes or step.wanted.side is None:
            _as_if_free(planning, step, file.path)
        if goes and step.acts:
            file.members = [*(file.members or []), step]
            step.is_member = True
        return


def _as_if_free(planning: Planning, step: Step, beside: str) -> None:
    """Judge a step anew: there is no file at its path, and what is in the way goes."""
    step.live, step.reason, step.refusal = MISSING, None, None
    step.action = "delete" if step.wanted.side is None else "write"
    planning.judge(step, beside)


def _folders_of(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:number]) for number in range(1, len(parts))]
