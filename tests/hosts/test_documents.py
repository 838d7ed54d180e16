"""Every code block of the documents for integrators runs as it stands there, on the real process."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hosts import tools
from tests.hosts.roster import ROSTER

from lockstitch.settings import parse_arguments

DOCUMENTS = [tools.ROOT / "docs" / "hosts.md", *sorted((tools.ROOT / "docs" / "recipes").glob("*.md"))]
FENCE = re.compile(r"^( *)```([a-z]+)( cjs)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for document in DOCUMENTS:
        for number, (indent, language, cjs, code) in enumerate(FENCE.findall(document.read_text(encoding="utf-8"))):
            plain = re.sub(rf"^{indent}", "", code, flags=re.MULTILINE)
            found.append((f"{document.name}:{number}", language + cjs.replace(" ", "."), plain))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `lockstitch` and `lockstitch-sidecar` are on the PATH, and the packages of npm can be imported."""
    made = tmp_path_factory.mktemp("documents")
    programs = made / "bin"
    programs.mkdir()
    paths = [str(tools.ROOT / "sidecar"), str(tools.ROOT / "protocol")]
    for name, run in (("lockstitch", "sys.exit(main())"), ("lockstitch-sidecar", "sidecar()")):
        code = f"import sys; sys.path[:0] = {paths!r}; from lockstitch.__main__ import main, sidecar; {run}"
        (programs / name).write_text(f"#!{sys.executable} -P\n{code}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    tsc = tools.NPM / "node_modules" / "typescript" / "bin" / "tsc"
    if tsc.exists():
        client = made / "node_modules" / "lockstitch"
        ignored = shutil.ignore_patterns("dist", "protocol")
        shutil.copytree(tools.ROOT / "packaging/npm/lockstitch", client, ignore=ignored)
        shutil.copytree(tools.ROOT / "schemas/typescript", client / "src" / "protocol")
        build = [str(tools.node()), "build.mjs", "--typeRoots", str(tsc.parents[2] / "@types")]
        subprocess.run(build, cwd=client, env={**os.environ, "TSC": str(tsc)}, check=True)
        shutil.copytree(tools.NPM / "node_modules" / "vscode-jsonrpc", made / "node_modules" / "vscode-jsonrpc")
    return made


@pytest.mark.parametrize(("name", "language", "code"), blocks(), ids=[name for name, _, _ in blocks()])
def test_block(name: str, language: str, code: str, folder: Path, tmp_path: Path) -> None:
    if language == "json":
        asked = json.loads(code)
        sample = json.loads((tools.ROOT / "packaging/electron/package.json").read_text(encoding="utf-8"))
        assert sample["build"] == asked
        return
    suffix, command = program(language)
    if command is None:
        pytest.skip(f"what runs {language} is not here")
    script = folder / f"{name.replace(':', '-').replace('.md', '')}{suffix}"
    script.write_text(code, encoding="utf-8")
    programs = folder / "bin"
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": os.pathsep.join([str(tools.ROOT / "sidecar"), str(tools.ROOT / "protocol")]),
        "LOCKSTITCH_DATA_DIR": str(tmp_path / "data"),
        "LOCKSTITCH_BINARY": str(programs / "lockstitch"),
    }
    arguments = [part.replace("SCRIPT", str(script)) for part in command]
    done = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert done.stdout or done.stderr, "it says nothing"


def program(language: str) -> tuple[str, list[str] | None]:
    """How a block of that language is run, `SCRIPT` being its file; None where what runs it is missing."""
    node, nvim, emacs = tools.node(), tools.neovim(), tools.emacs()
    if not (tools.NPM / "node_modules").exists():
        node = None
    return {
        "sh": (".sh", ["bash", "-eu", "SCRIPT"]),
        "python": (".py", [sys.executable, "SCRIPT"]),
        "js": (".mjs", [node, "SCRIPT"] if node else None),
        "js.cjs": (".cjs", [node, "SCRIPT"] if node else None),
        "lua": (".lua", [nvim, "--clean", "--headless", "-c", "luafile SCRIPT", "-c", "qa!"] if nvim else None),
        "elisp": (".el", [emacs, "--batch", "-Q", "-l", "SCRIPT"] if emacs else None),
    }[language]


def test_the_table_names_every_host() -> None:
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", DOCUMENTS[0].read_text("utf-8"), re.MULTILINE
    )
    told = {row[0].strip(): [cell.strip() for cell in row[2:]] for row in rows}
    for client in ROSTER:
        assert told.get(client.name) == [client.framing, client.ends, "passes"]


def test_the_arguments_exist() -> None:
    found = set(re.findall(r"`(--[a-zA-Z-]+)", DOCUMENTS[0].read_text("utf-8").split("## Speak")[0]))
    assert {"--data-dir", "--parent-pid", "--clientProcessId", "--log-level", "--stdio"} <= found
    values = {"--log-level": "info", "--listen": "stdio://"}
    for name in found:
        parse_arguments([name] if name == "--stdio" else [name, values.get(name, "7")])
