"""Hundreds of planted escapes: `python -m tests.soak_escapes [escapes] [first seed]`; 0 bytes are touched outside."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
from pathlib import Path

from tests.property.escapes import Escapes


def main(escapes: int, first: int) -> int:
    """Play them on one runtime; the seed of a failure is in its message."""
    logging.disable(logging.CRITICAL)
    root = Path(tempfile.mkdtemp())
    try:
        counts = asyncio.run(Escapes(root).play(range(first, first + escapes)))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    told = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{escapes} escapes, 0 reads and 0 writes outside: {told}")
    return 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(given[0] if given else 500, given[1] if len(given) > 1 else 0))
