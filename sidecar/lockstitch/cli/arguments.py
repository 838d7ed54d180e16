"""All commands, in groups, and the one parser of them.

Invariant: building it imports nothing but tables; what a command needs is imported when it runs.
"""

from __future__ import annotations

from lockstitch.cli.grammar import Group, Parser, Verb, parser_of
from lockstitch.cli.verbs_evidence import EVIDENCE
from lockstitch.cli.verbs_files import FILES
from lockstitch.cli.verbs_product import PRODUCT
from lockstitch.cli.verbs_reading import READING
from lockstitch.cli.verbs_threads import THREADS

GROUPS: tuple[Group, ...] = (READING, FILES, THREADS, EVIDENCE, PRODUCT)
VERBS: dict[str, Verb] = {verb.name: verb for group in GROUPS for verb in group.verbs}
"""Name to command, in the order of the help."""


def parser() -> Parser:
    """The parser of the whole command line."""
    return parser_of(GROUPS)
