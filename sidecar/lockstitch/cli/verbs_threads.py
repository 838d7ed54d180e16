"""The commands that change which threads there are."""

from __future__ import annotations

from lockstitch.cli.grammar import COUNT, FOLDER, NAME, PATH, TEXT, THREAD, TURN, Argument, Example, Group, Value, Verb
from lockstitch.cli.verbs_files import YES
from lockstitch.cli.verbs_reading import WHICH_THREAD

_WHICH_THREADS = Argument("threads", "the threads, by ids or their beginnings", THREAD, count="many")

THREADS = Group(
    "Keep threads",
    (
        Verb(
            "import",
            "take over sessions that other tools wrote, and threads that were exported",
            arguments=(
                Argument("paths", "a session file, a folder with sessions in it, or a bundle", PATH, count="any"),
                Argument("--scan", "list what is there and whether it is in already; import nothing"),
                Argument("--client", "only sessions of this tool: codex, claude, gemini", Value("TOOL")),
                Argument("--project", "only sessions that worked in this directory", FOLDER),
                Argument("--search", "only sessions whose title, project or id contains it", TEXT),
                Argument("--limit", "at most so many, the last used first", COUNT),
            ),
            examples=(
                Example("lockstitch import --scan", "what the tools on this machine left behind"),
                Example(
                    "lockstitch import session.jsonl", "one session; again is a no-op, a grown one adds what is new"
                ),
                Example("lockstitch import . --project /home/ada/almanac", "the sessions below here of one project"),
            ),
            notes=(
                "Without a path, --scan looks where Codex, Claude Code and Gemini CLI keep their sessions. One session "
                "that cannot be imported stops none of the others; the exit status is 1 then.",
            ),
            module="imports",
            paged=lambda options: options.scan,
        ),
        Verb(
            "rename",
            "give a thread a name",
            arguments=(WHICH_THREAD, Argument("name", "its name", NAME)),
            examples=(
                Example('lockstitch rename 019ad3a1 "Oil the loom"', "a name that says more than its first words"),
            ),
        ),
        Verb(
            "archive",
            "put threads away, or take them out again",
            arguments=(_WHICH_THREADS, Argument("--undo", "take them out of the archive")),
            examples=(
                Example("lockstitch archive 019ad3a1", "it is not listed any more; everything stays readable"),
                Example("lockstitch archive 019ad3a1 --undo", "it is listed again"),
            ),
        ),
        Verb(
            "fork",
            "copy a thread up to a turn, to go on differently",
            arguments=(
                WHICH_THREAD,
                Argument("--turn", "the last turn that comes along (default: all)", TURN),
                Argument("--name", "the name of the copy", NAME),
            ),
            examples=(Example("lockstitch fork 019ad3a1 --turn 1 --name another-way", "go on from after turn 1"),),
        ),
        Verb(
            "rm",
            "remove threads and all that only they need, for good",
            arguments=(_WHICH_THREADS, YES),
            examples=(
                Example(
                    "lockstitch rm 019ad3a1 --yes", "nothing of it is left; files of the workspace are not touched"
                ),
            ),
            notes=("It asks first. Without a terminal nothing is removed, unless --yes is given.",),
        ),
    ),
)
