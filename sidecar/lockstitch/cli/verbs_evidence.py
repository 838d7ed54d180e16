"""The commands that prove what happened and hand it on."""

from __future__ import annotations

from lockstitch.cli.grammar import Group

EVIDENCE = Group("Prove and hand on", ())
