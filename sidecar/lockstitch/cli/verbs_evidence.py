"""The commands that prove what happened and hand it on."""

from __future__ import annotations

from lockstitch.cli.grammar import PATH, Argument, Example, Group, Verb, one_of
from lockstitch.cli.verbs_reading import WHICH_THREAD

_WITH_SECRETS = Argument("--with-secrets", "leave in what looks like a secret; a bundle always has everything")

EVIDENCE = Group(
    "Prove and hand on",
    (
        Verb(
            "open",
            "write a thread as one page for a browser, and say where it is",
            arguments=(
                WHICH_THREAD,
                Argument("--to", "the file to write (default: one of its own in the folder for temporary files)", PATH),
                Argument("--browser", "open it in the browser too"),
                _WITH_SECRETS,
            ),
            examples=(
                Example("lockstitch open 019ad3a1", "a page that needs nothing else; it can be mailed as it is"),
                Example("lockstitch open 019ad3a1 --to loom.html", "the same in a file of that name"),
            ),
        ),
        Verb(
            "export",
            "write a thread for others: to read, to check, to replay or to import elsewhere",
            arguments=(
                WHICH_THREAD,
                Argument(
                    "--format",
                    "markdown (the default), html, jsonl (its events), bundle (a zip file to import elsewhere), pack "
                    "(evidence that anybody can check) or case (to be replayed and compared)",
                    one_of("FORMAT", "markdown", "html", "jsonl", "bundle", "pack", "case"),
                    default="markdown",
                ),
                Argument("--to", "the file, or for a pack or case the folder, to make (default: see below)", PATH),
                _WITH_SECRETS,
            ),
            examples=(
                Example("lockstitch export 019ad3a1", "Markdown, to paste into a review"),
                Example("lockstitch export 019ad3a1 --format bundle --to loom.zip", "all of it; import takes it in"),
                Example(
                    "lockstitch export 019ad3a1 --format pack --to pack", "events, files, receipts, and their sums"
                ),
            ),
            notes=(
                "Without --to, markdown, html and jsonl are written to standard output, a bundle to a file in this "
                "directory, a pack or case to the workspace's .lockstitch. Nothing that exists is written over.",
                "What looks like a secret is left out and counted, unless it is to stay in. Only a bundle, and a jsonl "
                "with its secrets, can be imported.",
            ),
        ),
        Verb(
            "verify",
            "check a pack or a case: every file, every event, and what the events come to",
            arguments=(Argument("paths", "the folder of a pack or a case", PATH, count="many"),),
            examples=(Example("lockstitch verify pack", "the exit status is 1 if a single byte was changed"),),
            notes=("docs/format.md says how to do the same with sha256sum.",),
        ),
    ),
)
