"""Random changes of packs and cases, all to be found: `python -m tests.soak_exports [changes] [seed]`."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.wire.host import Host
from tests.wire.mutations import Folder
from tests.wire.test_exports import CASE, EVIDENCE, folder_of, lively, with_secrets

from lockstitch.exports.verify import verify
from lockstitch.operations.replay_case import projected


def folders(place: Path) -> list[Folder]:
    """Packs and cases of two threads, with secrets and without, in workspaces and in the data root."""
    found: list[Folder] = []
    with Host(place / "home") as host:
        for number, fill in enumerate((lively, with_secrets)):
            workspace = place / f"w{number}"
            workspace.mkdir()
            thread = fill(host, workspace)
            for method in (EVIDENCE, CASE):
                found += [
                    Folder(folder_of(host.call(method, sessionId=thread, redact=redact))) for redact in (True, False)
                ]
            turn = host.read(thread, turns=True)["turns"][0]["id"]
            found.append(Folder(folder_of(host.call(EVIDENCE, sessionId=thread, turnId=turn))))
    return found


def main(changes: int, seed: int) -> int:
    """Make them; the exit status says whether all were found."""
    chance, counts, began = random.Random(seed), Counter[str](), time.monotonic()
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        known = folders(Path(place).resolve())
        while sum(counts.values()) < changes:
            folder = chance.choice(known)
            made = folder.change(chance)
            if made:
                verdict = verify(str(folder.path), projected)
                counts[made.split()[0]] += 1
                if not verdict.mismatches:
                    missed.append(f"{made} in {folder.path.name}")
            folder.restore()
        for folder in known:
            assert not verify(str(folder.path), projected).mismatches, f"{folder.path} is not as it was"
    told = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    print(f"{sum(counts.values())} changes of {len(known)} folders in {time.monotonic() - began:.0f} s: {told}")
    print(f"{len(missed)} not found (seed {seed})", *missed[:20], sep="\n")
    return int(bool(missed))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(given[0] if given else 2500, given[1] if len(given) > 1 else 6))
