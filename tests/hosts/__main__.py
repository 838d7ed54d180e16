"""`python -m tests.hosts`: install the clients that others wrote, run the story through each, print the table."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hosts import tools
from tests.hosts.roster import ROSTER

HEAD = ("host", "version", "framing", "how it ends", "result")


def main() -> int:
    """Run it; the exit status is pytest's. A client that could not be had is named in the table, and fails nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.hosts", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what needs a window")
    parser.add_argument("--sidecar", help="the program to test; default: the code of this clone")
    options = parser.parse_args()
    tools.install(electron=not options.quick)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table"
        environment = {
            **os.environ,
            "LOCKSTITCH_HOSTS": "quick" if options.quick else "all",
            "LOCKSTITCH_HOSTS_TABLE": str(table),
            **({"LOCKSTITCH_SIDECAR": str(Path(options.sidecar).resolve())} if options.sidecar else {}),
        }
        command = [sys.executable, "-m", "pytest", "tests/hosts", "-rs", "-n", "auto", "--dist", "loadfile"]
        status = subprocess.run(command, cwd=tools.ROOT, env=environment, check=False).returncode
        rows = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()] if table.exists() else []
    show(rows, [client.name for client in ROSTER if not (client.graphical and options.quick)])
    return status


def show(rows: list[list[str]], names: list[str]) -> None:
    """Print the table, in the order of the roster; what left no row has failed."""
    found = {row[0]: row for row in rows}
    lines = [list(HEAD), *(found.get(name, [name, "", "", "", "fails"]) for name in names)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    print()
    for number, line in enumerate(lines):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


if __name__ == "__main__":
    sys.exit(main())
