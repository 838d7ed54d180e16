"""Writes `schemas/`, and `plain_params.py` beside it, from the registry, or says which file is not what it gives.

Invariant: the same registry gives the same bytes on every machine; Node is needed for `typescript/types.d.ts`
only, and its packages are pinned.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from lockstitch_protocol.plain_source import plain_params_source
from lockstitch_protocol.schema_documents import Documents, tidy_typescript, to_json

PACKAGES = {"json-schema-to-typescript": "15.0.4", "prettier": "3.5.3"}
"""npm packages that make the TypeScript; prettier is pinned too, for it decides the layout."""

TYPES = "typescript/types.d.ts"
_BANNER = "/* Generated from lockstitch_protocol by `python -m lockstitch_protocol.generate`. Do not edit. */\n\n"
_DEFAULT_DIRECTORY = Path(__file__).resolve().parents[2] / "schemas"
_PLAIN_PARAMS = Path(__file__).with_name("plain_params.py")


def plain_files(documents: Documents) -> dict[str, str]:
    """The files that need no Node, by their paths in `schemas/`."""
    files = {"openrpc.json": to_json(documents.openrpc())}
    for name, schema in documents.type_files().items():
        files[f"json/{name}"] = to_json(schema)
    files["typescript/methods.d.ts"] = _BANNER + documents.typescript_maps()
    return files


def typescript_types(documents: Documents) -> str:
    """`typescript/types.d.ts`, made by json-schema-to-typescript in a temporary directory."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        package = {"private": True, "dependencies": PACKAGES, "overrides": {"prettier": PACKAGES["prettier"]}}
        (directory / "package.json").write_text(json.dumps(package), encoding="utf-8")
        (directory / "schema.json").write_text(to_json(documents.bundle()), encoding="utf-8")
        npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--silent"]
        subprocess.run(npm, cwd=directory, check=True, stdout=sys.stderr)
        tool = directory / "node_modules" / "json-schema-to-typescript" / "dist" / "src" / "cli.js"
        command = ["node", str(tool), "--input", "schema.json", "--output", "types.d.ts", "--bannerComment="]
        command += ["--unreachableDefinitions", "--no-additionalProperties", "--style.printWidth=120"]
        subprocess.run(command, cwd=directory, check=True, stdout=sys.stderr)
        return _BANNER + tidy_typescript((directory / "types.d.ts").read_text(encoding="utf-8"))


def generated_paths(directory: Path) -> set[str]:
    """The files in `schemas/` that this program owns, whether or not it still makes them."""
    patterns = ("openrpc.json", "json/*.json", "typescript/*.d.ts")
    return {path.relative_to(directory).as_posix() for pattern in patterns for path in directory.glob(pattern)}


def differences(directory: Path, files: dict[str, str], *, with_typescript: bool) -> list[str]:
    """What is not as it should be, one sentence a file."""
    found: list[str] = []
    for name, text in sorted(files.items()):
        path = directory / name
        if not path.exists():
            found.append(f"{name} is missing")
        elif path.read_bytes() != text.encode():
            found.append(f"{name} differs")
    kept = set(files) if with_typescript else {*files, TYPES}
    found += [f"{name} is not generated any more" for name in sorted(generated_paths(directory) - kept)]
    return found


def write(directory: Path, files: dict[str, str], *, with_typescript: bool) -> None:
    """Make the directory hold these files, and none of its own that are not among them."""
    kept = set(files) if with_typescript else {*files, TYPES}
    for name in generated_paths(directory) - kept:
        (directory / name).unlink()
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def main(arguments: list[str] | None = None) -> int:
    """Run the generator; 1 means that a file differs."""
    parser = argparse.ArgumentParser(prog="python -m lockstitch_protocol.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say which file differs")
    parser.add_argument("--no-typescript", action="store_true", help="leave out the part that needs Node")
    parser.add_argument("--output", type=Path, default=_DEFAULT_DIRECTORY, help="the directory; default schemas/")
    options = parser.parse_args(arguments)
    documents = Documents()
    files = plain_files(documents)
    with_typescript = not options.no_typescript
    if with_typescript:
        files[TYPES] = typescript_types(documents)
    if not options.check:
        write(options.output, files, with_typescript=with_typescript)
        _PLAIN_PARAMS.write_bytes(plain_params_source().encode())
        return 0
    found = differences(options.output, files, with_typescript=with_typescript)
    if _PLAIN_PARAMS.read_bytes() != plain_params_source().encode():
        found.append(f"{_PLAIN_PARAMS.name} differs")
    for line in found:
        sys.stderr.write(f"{line}; run python -m lockstitch_protocol.generate\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
