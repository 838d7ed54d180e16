"""Writes `dist/release.json`: every file that a release hands out, with its size and sha256."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = {".whl": "wheel", ".tgz": "npm package", ".gz": "source", ".json": "contents of the program"}


def entries(folder: Path) -> list[dict[str, object]]:
    """One entry a file, by name; this manifest itself is not among them."""
    found: list[dict[str, object]] = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in KINDS and path.name != "release.json":
            data = path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            found.append({"name": path.name, "kind": KINDS[path.suffix], "bytes": len(data), "sha256": digest})
    return found


def main() -> int:
    """Write it for the folder that is named, or `dist/`."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    version = (ROOT / "sidecar/lockstitch/__init__.py").read_text("utf-8").split('__version__ = "')[1].split('"')[0]
    manifest = {"name": "lockstitch", "version": version, "files": entries(folder)}
    (folder / "release.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
