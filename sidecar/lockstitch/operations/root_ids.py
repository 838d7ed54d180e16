"""The id of a data root: made once, by whoever comes first.

Invariant: a file that is damaged is never made anew; its id names what lies in workspaces.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lockstitch.codec import ParseError, decode, encode
from lockstitch.errors import StorageError
from lockstitch.platform.files import write_atomically
from lockstitch_protocol.ids import new_id


def known_root_id(path: Path) -> str:
    """The id of a data root that cannot be written; empty if it never got one."""
    try:
        return str(decode(path.read_bytes())["rootId"])
    except (OSError, ParseError, KeyError, TypeError):
        return ""


def root_id(path: Path) -> str:
    """The id of this data root; made once, whoever comes first."""
    for _ in range(100):
        try:
            found = decode(path.read_bytes()).get("rootId")
            if isinstance(found, str) and found:
                return found
            raise ParseError("no rootId")
        except FileNotFoundError:
            _offer_root_id(path)
        except (ParseError, AttributeError):
            raise StorageError(
                f"{path} is damaged: it should hold the id of this data root. Put it back from a backup, or remove "
                "it to begin with a new id (file versions in workspaces then stay under the old one).",
                path=str(path),
                errno=0,
            ) from None
    raise StorageError(f"{path} cannot be created.", path=str(path), errno=0)


def _offer_root_id(path: Path) -> None:
    offered = path.with_name(f".{new_id('root')}")
    made = {"rootId": new_id("root"), "madeAt": os.path.realpath(path.parent)}  # a copy elsewhere is told by it
    write_atomically(offered, encode(made) + b"\n")
    try:
        os.link(offered, path)
    except FileExistsError:
        pass
    except OSError:  # COMPAT: file systems without hard links
        if not path.exists():
            os.rename(offered, path)
    with suppress(OSError):
        os.unlink(offered)
