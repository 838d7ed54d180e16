"""Which names no system may be asked for: reserved ones, and `.git` or `.lockstitch` in any spelling.

Invariant: the answer is the same on every platform, because a thread moves between them: what one system
takes for a plain file is a device, a stream or a repository's insides on another.
Only what is harmless elsewhere depends on the platform: a `:` or a control character in a name is refused on
Windows alone, where it cannot be in a name; files like `12:30.log` are normal on the others.
"""

from __future__ import annotations

import re
import unicodedata

# Unicode's Default_Ignorable_Code_Point: file systems that fold case (HFS+, APFS, ext4 with casefold) skip them.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# 8.3 names that NTFS makes for `.git` and `.lockstitch`: GIT~1, and after collisions two letters and a hash.
_SHORT = re.compile(r"(?:git|gi[0-9a-f]{4}|lockst|lo[0-9a-f]{4})~[0-9]+(?:\..*)?")
_PROTECTED = {".git", ".lockstitch"}
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])")
_ONLY_WINDOWS_FORBIDS = re.compile(r'[\x01-\x1f<>:"|?*]')
_DRIVE = re.compile(r"[A-Za-z]:")


def is_protected(name: str) -> bool:
    """Whether some system takes this name for `.git` or `.lockstitch`."""
    plain = _plain(name)
    return plain in _PROTECTED or _SHORT.fullmatch(plain) is not None


def refusal_of_name(name: str, *, windows: bool) -> str | None:
    """Why one component of a path is refused, as the contract's `reason`; None when it is fine."""
    if name == "..":
        return "outsideWorkspace"
    if is_protected(name):
        return "protected"
    # A device keeps its meaning with any extension and with spaces before it: `NUL .txt`.
    if _DEVICE.fullmatch(name.partition(":")[0].partition(".")[0].rstrip(" ").casefold()):
        return "reservedName"
    if name[-1:] in (".", " "):
        return "trailingDotOrSpace"
    if ":$" in name:
        return "alternateStream"
    if windows and _ONLY_WINDOWS_FORBIDS.search(name):
        return "alternateStream" if ":" in name else "reservedName"
    return None


def has_drive(path: str) -> bool:
    """Whether Windows would take the path's beginning for a drive."""
    return _DRIVE.match(path) is not None


def _plain(name: str) -> str:
    """The name as the most forgiving file system compares it: no stream, no trailing dots, folded."""
    folded = unicodedata.normalize("NFD", _IGNORABLE.sub("", name)).casefold()
    return folded.partition(":")[0].rstrip(". ")
