"""The commands about the product itself, and those for programs."""

from __future__ import annotations

from lockstitch.cli.grammar import COMMAND, JSON, METHOD, Argument, Example, Group, Verb, one_of

PRODUCT = Group(
    "Upkeep and programs",
    (
        Verb(
            "doctor",
            "say where everything is, whether it is sound, and what to do if not",
            arguments=(
                Argument("--relink", "link threads whose workspace moved to where it was found (asks first)"),
                Argument("--yes", "do it without asking", short="-y"),
            ),
            examples=(
                Example("lockstitch doctor", "a look at everything; the exit status is 1 if something is wrong"),
                Example("lockstitch doctor --json", "the same for programs"),
                Example("lockstitch doctor --relink --yes", "after a workspace was moved or renamed"),
            ),
        ),
        Verb(
            "storage",
            "say what is stored, check it, make the database anew, or clear what nothing refers to",
            arguments=(
                Argument(
                    "action",
                    "what to do (default report); clear only lists, unless it is told --yes",
                    one_of("ACTION", "report", "verify", "rebuild", "clear"),
                    "report",
                    count="optional",
                ),
                Argument("--yes", "clear: remove what is listed", short="-y"),
            ),
            examples=(
                Example("lockstitch storage", "bytes and files by kind, the largest threads, the database"),
                Example("lockstitch storage verify", "sums, contents and rows; the status is 1 if something differs"),
                Example("lockstitch storage clear", "what could be removed, and why; nothing is"),
            ),
            paged=True,
        ),
        Verb(
            "self-test",
            "try out whether this installation works on this machine",
            examples=(Example("lockstitch self-test", "a second of real work in a temporary folder"),),
            module="self_test",
            alone=True,
        ),
        Verb(
            "demo",
            "show what it does: record, import, kill without warning, find everything again",
            arguments=(Argument("--keep", "leave the demo's folder behind and say where it is"),),
            examples=(Example("lockstitch demo", "takes a few seconds and leaves nothing behind"),),
            alone=True,
        ),
        Verb(
            "call",
            "call a method of the protocol in this process and write its result as JSON",
            arguments=(
                Argument("method", "such as thread/list", METHOD, count="optional"),
                Argument(
                    "params",
                    "its params, or - to read them from standard input (default {})",
                    JSON,
                    "{}",
                    count="optional",
                ),
                Argument("--list", "list the methods instead"),
            ),
            examples=(
                Example("lockstitch call --list", "the methods that there are"),
                Example(
                    'lockstitch call thread/read \'{"threadId": "019ad3a1-5f00-7c31-8a55-3b7e90d1c6f2"}\'', "one call"
                ),
            ),
            notes=("The methods, their params and results are in docs/protocol.md.",),
            paged=True,
        ),
        Verb(
            "serve",
            "serve a host on standard input and output; `lockstitch serve --help` lists its options",
            alone=True,
        ),
        Verb(
            "completion",
            "write the completion of this command for a shell",
            arguments=(Argument("shell", "bash, zsh or fish", one_of("SHELL", "bash", "zsh", "fish")),),
            examples=(
                Example("lockstitch completion bash > lockstitch.bash", "then, in ~/.bashrc: source lockstitch.bash"),
                Example("lockstitch completion zsh > _lockstitch", "into a directory of $fpath"),
                Example("lockstitch completion fish > lockstitch.fish", "into ~/.config/fish/completions"),
            ),
            alone=True,
        ),
        Verb(
            "help",
            "say how a command is used",
            arguments=(Argument("command", "the command (default: an overview)", COMMAND, count="optional"),),
            examples=(Example("lockstitch help show", "the same as lockstitch show --help"),),
            alone=True,
            paged=True,
        ),
    ),
)
