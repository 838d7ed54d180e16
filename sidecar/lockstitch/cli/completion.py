"""`lockstitch completion`: what a shell needs to complete commands, options, threads, turns and files.

The scripts ask the command itself, with `--complete` and the words so far: one candidate a line, a tab and what it is
behind it; `:files` and `:folders` leave it to the shell. So whatever the tables of the commands know can be completed.

Invariant: nothing is changed, and nothing is said about a failure: there is just nothing to complete.
Invariant: a candidate holds no control character, whatever a file of a transcript is called.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence

from lockstitch.cli.grammar import COMMON, VERSION, Argument, Kind, Verb
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal, let_go_of_stdout
from lockstitch.cli.text import cut, harmless, one_line

_MOST = 200
"""So many threads are offered, the last used first."""

_WIDEST = 60
"""Columns of what is said about a value."""

_BASH = r"""# bash completion for lockstitch: source this file
_lockstitch() {
    local line value offer
    COMPREPLY=()
    compopt -o nosort 2>/dev/null
    while IFS= read -r line; do
        case $line in
            :files|:folders)
                [[ $line == :files ]] && offer=-f || offer=-d
                compopt -o filenames
                while IFS= read -r value; do
                    COMPREPLY+=("$value")
                done < <(compgen "$offer" -- "${COMP_WORDS[COMP_CWORD]}")
                ;;
            *) printf -v value '%q' "${line%%$'\t'*}"; COMPREPLY+=("$value") ;;
        esac
    done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _lockstitch lockstitch
"""
_ZSH = r"""#compdef lockstitch
# zsh completion for lockstitch: put this file as _lockstitch into a directory of $fpath
_lockstitch() {
    local line
    local -i widest=0
    local -a values said shown
    for line in "${(@f)$("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            :files) _files ;;
            :folders) _files -/ ;;
            *$'\t'*) values+=("${line%%$'\t'*}"); said+=("-- ${line#*$'\t'}") ;;
            ?*) values+=("$line"); said+=("") ;;
        esac
    done
    for line in "${values[@]}"; do (( ${(m)#line} > widest )) && widest=${(m)#line}; done
    (( widest > COLUMNS / 2 )) && widest=$(( COLUMNS / 2 ))
    for line in {1..$#values}; do
        (( ${(m)#values[line]} < widest )) && shown+=("${(mr:widest:)values[line]}  ${said[line]}") \
            || shown+=("${values[line]}  ${said[line]}")
    done
    (( $#values )) && compadd -l -V lockstitch -d shown -a values
}
if [[ "${funcstack[1]}" == _lockstitch ]]; then _lockstitch "$@"; else compdef _lockstitch lockstitch; fi
"""
_FISH = r"""# fish completion for lockstitch: put this file into ~/.config/fish/completions
function __lockstitch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :folders
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c lockstitch -f -k -a '(__lockstitch_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Write the script."""
    if options.json:
        from lockstitch.codec import encode

        terminal.json(encode({"shell": options.shell, "script": SCRIPTS[options.shell]}))
    else:
        terminal.exactly(SCRIPTS[options.shell].encode())
    return OK


def complete(words: Sequence[str], terminal: Terminal) -> int:
    """Write what the last of the words may become."""
    try:
        for value, what in list(_candidates(words)):
            if value == harmless(value) and "\n" not in value and "\t" not in value:
                terminal.line(f"{value}\t{cut(one_line(what), _WIDEST)}" if what else value)
        terminal.end()
    except (Exception, KeyboardInterrupt):  # a keystroke is no place for a message
        let_go_of_stdout()
    return OK


def _candidates(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    from lockstitch.cli.arguments import VERBS

    given = [word for word in words if word != "="]  # bash cuts `--option=value` at the sign
    if not words or words[-1] == "=":
        given.append("")
    *before, current = given
    walk = _Walk(VERBS)
    for word in before:
        walk.step(word)
    option, sign, typed = current.partition("=")
    argument = walk.pending
    prefix = ""
    if argument is None and sign and option in walk.options:
        argument, current, prefix = walk.options[option], typed, f"{option}="
    elif argument is None and current.startswith("-"):
        for name, one in walk.options.items():
            if name.startswith(current) and name not in walk.given:
                yield name, one.summary
        return
    if argument is None and walk.verb is None:
        yield from ((verb.name, verb.summary) for verb in VERBS.values() if verb.name.startswith(current))
        return
    argument = argument or walk.place
    if argument is None or argument.value is None:
        return
    for value, what in _values(argument, current, walk):
        if value.startswith(":") or value.lower().startswith(current.lower()):
            yield (value if value.startswith(":") else prefix + value), what


class _Walk:
    """The words so far: which command it is, which options are given, what comes next."""

    def __init__(self, verbs: dict[str, Verb]) -> None:
        self._verbs = verbs
        self.verb: Verb | None = None
        self.given: dict[str, str] = {}
        self.placed: list[str] = []
        self.pending: Argument | None = None
        """The option whose value comes next."""
        self.options = {name: one for one in (*COMMON, VERSION) for name in (one.short, one.name) if name}

    def step(self, word: str) -> None:
        """Take one word that is complete."""
        if self.pending is not None:
            self.given[self.pending.name] = word
            self.pending = None
        elif word.startswith("-"):
            name, sign, value = word.partition("=")
            argument = self.options.get(name)
            self.given[argument.name if argument else name] = value
            if argument is not None and argument.value is not None and not sign:
                self.pending = argument
        elif self.verb is None:
            self.verb = self._verbs.get(word)
            if self.verb is not None:
                mine = [one for one in self.verb.arguments if one.is_option]
                named = {name: one for one in (*mine, *COMMON) for name in (one.name, one.short) if name}
                self.options = named
        else:
            self.placed.append(word)

    @property
    def place(self) -> Argument | None:
        """The argument whose turn it is by its place."""
        arguments = [one for one in self.verb.arguments if not one.is_option] if self.verb else []
        if len(self.placed) < len(arguments):
            return arguments[len(self.placed)]
        return arguments[-1] if arguments and arguments[-1].count in ("many", "any") else None


def _values(argument: Argument, current: str, walk: _Walk) -> Iterator[tuple[str, str]]:
    assert argument.value is not None
    if argument.value.choices:
        yield from ((choice, "") for choice in argument.value.choices)
        return
    kind: Kind = argument.value.completes
    if kind == "commands":
        from lockstitch.cli.arguments import VERBS

        yield from ((verb.name, verb.summary) for verb in VERBS.values())
    elif kind == "methods":
        from lockstitch_protocol.methods import METHODS

        yield from ((name, method.summary) for name, method in METHODS.items())
    elif kind in ("files", "folders"):
        yield f":{kind}", ""
    elif kind:
        yield from _recorded(kind, current, walk)


def _recorded(kind: Kind, current: str, walk: _Walk) -> Iterator[tuple[str, str]]:
    """Threads, or the turns or checkpoints of the thread that was named: by a quick look, not by a whole start."""
    from pathlib import Path

    from lockstitch.cli.text import short_ids
    from lockstitch.data_root import DataRoot
    from lockstitch.settings import Arguments, root_of_process
    from lockstitch.timeline.glance import glance

    arguments = Arguments()
    arguments.data_dir = walk.given.get("--data-dir")
    root = DataRoot(Path(root_of_process(arguments).path))
    places = {place.thread_id: place.archived for place in root.rollouts()}
    with glance(root) as seen:
        if kind == "threads":
            archived = walk.verb is not None and not {"--undo", "--archived"}.isdisjoint(walk.given)
            if seen is None:
                titles = [(one, "") for one, is_archived in sorted(places.items()) if is_archived == archived]
            else:
                titles = seen.threads(archived=archived, most=_MOST)
            shorts = short_ids(list(places))
            yield from ((one if current else shorts.get(one, one), title) for one, title in titles)
        elif seen is None:
            return
        elif kind == "turns":
            said = seen.turns(_thread(walk, places))
            yield from ((str(number), text) for number, text in enumerate(said, 1))
        else:
            checkpoints = seen.checkpoints(_thread(walk, places))
            files: dict[str, str] = {}
            for _, path, op, source in checkpoints:
                if "//" not in path:  # a name that is no valid Unicode: no shell could be given it back
                    files.setdefault(path, f"{op}, {source}")
            yield from files.items()
            if current:
                yield from ((one, f"{op} {path}") for one, path, op, _ in checkpoints)


def _thread(walk: _Walk, ids: Iterable[str]) -> str:
    """The thread that the words so far name."""
    from lockstitch.cli.ids import chosen

    named = walk.given.get("--thread") or walk.placed[0]
    return chosen(named, list(ids), "thread") or named
