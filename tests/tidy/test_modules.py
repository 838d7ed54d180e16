"""Rules about the source that no linter knows: size, names, docstrings, and who alone may touch what.

An exception is written down with its reason in `ALLOWED`; one that is not needed any more fails too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (ROOT / "sidecar", ROOT / "protocol")

MAX_LINES = 500
FORBIDDEN_PARTS = {
    "manager",
    "helper",
    "helpers",
    "util",
    "utils",
    "common",
    "misc",
    "data",
    "info",
    "handle",
    "process",
}

ALLOWED: dict[str, dict[str, str]] = {
    "size": {"lockstitch_protocol/plain_params.py": "generated"},
    "name": {
        "lockstitch/data_root.py": "the data root is what it is called on the wire and in the documents",
        "lockstitch_protocol/error_data.py": "`data` is JSON-RPC's own word for that member of an error",
    },
    "apsw": {
        "lockstitch/rpc/handshake.py": "the initialize reply names SQLite's version; nothing else is loaded then",
    },
    "jsonrpcserver": {"lockstitch/rpc/general.py": "the rule itself"},
    "oslash": {"lockstitch/rpc/general.py": "the type that jsonrpcserver answers with"},
    "json": {
        "lockstitch/codec.py": "the rule itself: what msgspec refuses but the wire accepts",
        "lockstitch/rpc/doorstep.py": "the first message is answered before a JSON engine is imported",
        "lockstitch_protocol/client_run.py": "a client imports nothing of ours, so not the codec",
        "lockstitch_protocol/generate.py": "a development tool; no message passes through it",
        "lockstitch_protocol/plain_source.py": "a development tool; no message passes through it",
        "lockstitch_protocol/schema_documents.py": "a development tool; no message passes through it",
    },
    "environment": {
        "lockstitch/settings.py": "the rule itself",
        "lockstitch/cli/terminal.py": "NO_COLOR, TERM, COLUMNS and PAGER: of the terminal, not of the sidecar",
    },
    "platform": {
        "lockstitch/settings.py": "the data root differs by platform, and is decided before the first import",
        "lockstitch/rpc/claim.py": "the two descriptors are claimed before anything is imported",
        "lockstitch/rpc/ends.py": "which signals there are; decided before anything is imported",
        "lockstitch/rpc/handshake.py": "the initialize reply names the system",
        "lockstitch/rpc/outlet.py": "a pipe is made non-blocking differently",
    },
    "names": {
        "lockstitch/data_root.py": "the rule itself",
        "lockstitch/imports/scan.py": "the homes of other tools have a folder `sessions` too",
    },
    "print": {},
}


def modules() -> list[Path]:
    return sorted(path for source in SOURCES for path in source.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(next(source for source in SOURCES if path.is_relative_to(source))).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), str(path))


def imported(tree: ast.Module) -> Iterator[str]:
    """Every absolute module name that is imported anywhere in the module, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def dotted(tree: ast.Module) -> Iterator[str]:
    """Every `name.attribute` in the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def who_imports(package: str, *, within: str = "") -> set[str]:
    return {
        name_of(path)
        for path in modules()
        if not (within and name_of(path).startswith(within))
        and any(name.split(".")[0] == package for name in imported(tree_of(path)))
    }


def test_the_sources_are_found() -> None:
    assert len(modules()) > 50


def test_no_module_is_too_long() -> None:
    long = {name_of(path) for path in modules() if len(path.read_bytes().splitlines()) > MAX_LINES}
    assert long == set(ALLOWED["size"]), f"more than {MAX_LINES} lines"


def test_no_module_has_a_name_that_says_nothing() -> None:
    found = {name_of(path) for path in modules() if FORBIDDEN_PARTS & set(path.stem.split("_"))}
    found |= {name_of(path) for path in modules() if FORBIDDEN_PARTS & set(path.parent.name.split("_"))}
    assert found == set(ALLOWED["name"])


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_every_module_says_what_it_answers_for(path: Path) -> None:
    said = ast.get_docstring(tree_of(path))
    assert said, "a module begins with one sentence about what it answers for, then its Invariant: lines"
    assert said.split("\n\n")[0].rstrip().endswith((".", ":")), "the first paragraph is a sentence"


def test_only_the_timeline_knows_sqlite() -> None:
    assert who_imports("apsw", within="lockstitch/timeline/") == set(ALLOWED["apsw"])
    assert who_imports("sqlite3") == set()


@pytest.mark.parametrize("package", ["jsonrpcserver", "oslash"])
def test_only_dispatch_knows_the_rpc_library(package: str) -> None:
    assert who_imports(package) == set(ALLOWED[package])


def test_only_the_codec_encodes_and_decodes() -> None:
    assert who_imports("json") == set(ALLOWED["json"])
    assert who_imports("orjson") == set()


def test_only_settings_read_the_environment() -> None:
    reading = {"os.environ", "os.environb", "os.getenv", "os.getcwd", "Path.cwd", "Path.home"}
    reading |= {"os.path.expanduser", "path.expanduser", "tempfile.gettempdir"}
    found = {name_of(path) for path in modules() if reading & {*dotted(tree_of(path)), *imported(tree_of(path))}}
    assert found == set(ALLOWED["environment"])


def test_only_platform_asks_which_system_this_is() -> None:
    asking = {"sys.platform", "os.name", "platform.system"}
    found = {
        name_of(path)
        for path in modules()
        if not name_of(path).startswith("lockstitch/platform/") and asking & set(dotted(tree_of(path)))
    }
    assert found == set(ALLOWED["platform"])


def test_only_data_root_joins_names_of_the_data_root() -> None:
    names = {"locks", "sessions", "archived_sessions", "trash", "sqlite", "quarantine", "root.json", "sidecar.log"}
    names |= {"writer", "boots", "log"}

    def joins(tree: ast.Module) -> bool:
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                parts = [node.left, node.right]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                parts = node.args if node.func.attr in ("joinpath", "join") else []
            else:
                continue
            if any(isinstance(part, ast.Constant) and part.value in names for part in parts):
                return True
        return False

    found = {name_of(path) for path in modules() if joins(tree_of(path))}
    assert found == set(ALLOWED["names"])


def test_nothing_prints_but_the_command_line() -> None:
    def prints(tree: ast.Module) -> bool:
        calls = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        return "print" in calls or "pprint" in calls

    found = {
        name_of(path) for path in modules() if not name_of(path).startswith("lockstitch/cli/") and prints(tree_of(path))
    }
    assert found == set(ALLOWED["print"])


def test_packaging_is_no_package() -> None:
    assert not list((ROOT / "packaging").rglob("__init__.py"))
