"""Thousands of random lives of a workspace, with kills: `python -m tests.soak_restore [sequences] [first seed]`."""

from __future__ import annotations

import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.property.restore_model import Life

STEPS = 20
PATIENCE = 120.0
"""Seconds; a sequence takes a tenth of one."""


async def _within(life: Life) -> None:
    """Play one; if it does not come to its end, say what waits for what. Raises TimeoutError then."""
    task = asyncio.ensure_future(life.live(STEPS))
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    if not done:
        print(f"stands still: {life.reaper}, {life.log[-3:]}")
        for waiting in asyncio.all_tasks():
            waits: Any = waiting.get_coro()
            while waits is not None:
                print("  ", waits)
                waits = getattr(waits, "cr_await", None) or getattr(waits, "ag_await", None)
        raise TimeoutError
    task.result()


def main(sequences: int, first: int) -> int:
    """Play them; the seed of a failure is told, so that it can be played again alone."""
    counts: Counter[str] = Counter()
    began = time.monotonic()
    memory = Path("/dev/shm")
    for seed in range(first, first + sequences):
        root = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        life = Life(root, random.Random(seed))
        try:
            asyncio.run(_within(life))
        except BaseException:
            print(f"seed {seed} failed in {root}")
            raise
        shutil.rmtree(root)
        counts.update(life.counts)
        if (seed - first + 1) % 100 == 0:
            print(f"{seed - first + 1} sequences, {time.monotonic() - began:.0f} s", flush=True)
    told = ", ".join(f"{count} {name.strip('_').replace('_', ' ')}" for name, count in counts.most_common())
    print(f"{sequences} sequences of {STEPS} steps in {time.monotonic() - began:.0f} s: {told}")
    return 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(given[0] if given else 5000, given[1] if len(given) > 1 else 0))
