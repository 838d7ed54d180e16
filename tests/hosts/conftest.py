"""These tests need programs that others wrote: `python -m tests.hosts` installs them and then runs this folder."""

from __future__ import annotations

import os

if "LOCKSTITCH_HOSTS" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
