"""The lines before the hunks, as git writes and reads them, names quoted as git quotes them."""

from __future__ import annotations

import msgspec

_ESCAPES = {
    0x07: "\\a",
    0x08: "\\b",
    0x09: "\\t",
    0x0A: "\\n",
    0x0B: "\\v",
    0x0C: "\\f",
    0x0D: "\\r",
    0x22: '\\"',
    0x5C: "\\\\",
}


class Header(msgspec.Struct, frozen=True):
    """What a file's header says; a mode is git's (`100644`), None for a side without a file."""

    old_path: str
    new_path: str
    old_mode: str | None
    new_mode: str | None
    similarity: int | None = None
    """Per cent; given for a rename only."""

    def git_lines(self) -> str:
        """`diff --git` and the extended lines: creation, deletion, mode, rename."""
        lines = [f"diff --git {quoted('a/' + self.old_path)} {quoted('b/' + self.new_path)}"]
        if self.old_mode is None:
            lines.append(f"new file mode {self.new_mode}")
        elif self.new_mode is None:
            lines.append(f"deleted file mode {self.old_mode}")
        elif self.old_mode != self.new_mode:
            lines += [f"old mode {self.old_mode}", f"new mode {self.new_mode}"]
        if self.similarity is not None:
            lines += [
                f"similarity index {self.similarity}%",
                f"rename from {quoted(self.old_path)}",
                f"rename to {quoted(self.new_path)}",
            ]
        return "\n".join(lines) + "\n"

    def file_lines(self) -> str:
        """`---` and `+++`."""
        old, new = self._labels()
        return f"--- {_ended(old)}\n+++ {_ended(new)}\n"

    def binary_line(self) -> str:
        """What git writes for contents that have no lines."""
        old, new = self._labels()
        return f"Binary files {old} and {new} differ\n"

    def _labels(self) -> tuple[str, str]:
        old = "/dev/null" if self.old_mode is None else quoted("a/" + self.old_path)
        new = "/dev/null" if self.new_mode is None else quoted("b/" + self.new_path)
        return old, new


def git_mode(mode: str | None) -> str:
    """git knows two modes of a regular file; an unknown one is taken for not executable."""
    return "100755" if mode is not None and int(mode, 8) & 0o100 else "100644"


def quoted(path: str) -> str:
    """A name as git prints it: in quotes with C escapes if it holds anything but plain ASCII."""
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # COMPAT: Windows names may hold any lone surrogate
        data = path.encode("utf-8", "surrogatepass")
    if all(0x20 <= byte < 0x7F and byte not in _ESCAPES for byte in data):
        return path
    return '"' + "".join(_quoted_byte(byte) for byte in data) + '"'


def _quoted_byte(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _ended(label: str) -> str:
    """A tab ends a name that holds a space: `patch` would take the rest for a date."""
    return label + "\t" if " " in label else label
