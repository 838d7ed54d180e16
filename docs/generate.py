"""Writes `docs/protocol.md` and `docs/cli.md`, or says which of them is not what the registry and the tables give.

Invariant: the same registry, tables and examples give the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def pages() -> dict[str, str]:
    """The generated pages, by their names in `docs/`."""
    from docs import cli_page, protocol_page

    return {"protocol.md": protocol_page.page(), "cli.md": cli_page.page()}


def main(arguments: list[str] | None = None) -> int:
    """Run the generator; 1 means that a page differs."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say which page differs")
    options = parser.parse_args(arguments)
    status = 0
    for name, text in pages().items():
        path = ROOT / "docs" / name
        if not options.check:
            path.write_bytes(text.encode())
        elif not path.exists() or path.read_bytes() != text.encode():
            sys.stderr.write(f"docs/{name} differs; run python -m docs.generate\n")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
