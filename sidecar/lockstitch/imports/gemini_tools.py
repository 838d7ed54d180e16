"""Gemini CLI tool calls as our items and file edits. Call and result are one object in the source.

Invariant: of an edited file only what was written is proven, and what it replaced where an earlier write proves it:
the tool shows both sides with its own line ends, whatever the file has.
"""

from __future__ import annotations

import re
from typing import Any

from lockstitch import codec
from lockstitch.imports.calls import command_call, mcp_call, tool_call
from lockstitch.imports.claude_tools import image_url
from lockstitch.imports.edits import ABSENT, Edit
from lockstitch.imports.fields import mapping, sequence, string

ENDED = {"success": "completed", "error": "failed", "cancelled": "declined", "canceled": "declined"}
EDITORS = frozenset({"write_file", "replace", "edit", "create_file"})
_EXIT_CODE = re.compile(r"^Exit Code: (-?[0-9]{1,10})[ \t]*$", re.MULTILINE)
_CREATED = re.compile(r"Successfully created and wrote to new file|Created new file")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]|\\\\")


def describe_call(name: str, arguments: Any, cwd: str | None) -> dict[str, Any]:
    """The item of a call without its result."""
    given = mapping(arguments)
    command = string(given.get("command"))
    if name in ("run_shell_command", "shell") and command is not None:
        where = next((path for field in ("cwd", "dir_path", "directory") if (path := string(given.get(field)))), None)
        return command_call(command, where or cwd)
    if match := re.fullmatch(r"(?:mcp_)?_?([A-Za-z0-9.-]+)__(.+)", name):
        return mcp_call(match[1], match[2], arguments)
    return tool_call(name, arguments)


def finish_call(item: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """The item with its result."""
    status = ENDED.get(str(call.get("status")), "failed")
    done = {**item, "status": status}
    text = result_text(call)
    if item["type"] == "commandExecution":
        shown = string(call.get("resultDisplay"))
        done["aggregatedOutput"] = shown if shown is not None else text
        codes = _EXIT_CODE.findall(text)
        if codes:
            done["exitCode"] = int(codes[-1])
            if int(codes[-1]) != 0 and status == "completed":
                done["status"] = "failed"
    elif item["type"] == "mcpToolCall":
        if status == "completed":
            done["result"] = {"content": [{"type": "text", "text": text}] if text else []}
        else:
            done["error"] = {"message": text or str(call.get("status"))}
    else:
        done["contentItems"] = [{"type": "inputText", "text": text}] if text else []
        done["contentItems"] += [{"type": "inputImage", "imageUrl": url} for url in _images(call)]
        done["success"] = status == "completed"
    return done


def _responses(call: dict[str, Any]) -> list[dict[str, Any]]:
    result = call.get("result")
    parts = sequence(result) or ([result] if mapping(result) else [])
    return [mapping(part) for part in parts]


def result_text(call: dict[str, Any]) -> str:
    """What the tool answered to the model, else what it showed."""
    if isinstance(call.get("result"), str):
        return str(call["result"])
    texts: list[str] = []
    for part in _responses(call):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        text = next((found for name in ("output", "error", "content") if (found := response.get(name))), None)
        if isinstance(text, str):
            texts.append(text)
        elif response:
            texts.append(codec.encode(response).decode())
        elif text := string(part.get("text")):
            texts.append(text)
    if not texts and (shown := string(call.get("resultDisplay"))) is not None:
        texts.append(shown)
    return "\n".join(texts)


def _images(call: dict[str, Any]) -> list[str]:
    return [url for part in _responses(call) if (url := inline_image(part))]


def inline_image(part: dict[str, Any]) -> str | None:
    """A picture that a part holds, as a URL."""
    given = mapping(part.get("inlineData", part.get("inline_data")))
    if data := string(given.get("data")):
        kind = string(given.get("mimeType")) or string(given.get("mime_type")) or "image/png"
        return f"data:{kind};base64,{data}" if kind.startswith("image/") else None
    return image_url(part) if part.get("type") == "image" else None


def read_edit(name: str, call: dict[str, Any], last: str | None) -> Edit | None:
    """The edit of a call that succeeded; `last` is what an earlier one proves to be in the file."""
    given, shown = mapping(call.get("args")), mapping(call.get("resultDisplay"))
    path = next((path for field in ("file_path", "path", "absolute_path") if (path := string(given.get(field)))), None)
    if path is None:
        return None
    diff = string(shown.get("fileDiff"))
    old, new = shown.get("originalContent"), shown.get("newContent")
    created = _CREATED.search(result_text(call)) is not None or (
        shown.get("isNewFile") is True or mapping(shown.get("diffStat")).get("isNewFile") is True
    )
    before = ABSENT if created else None
    if before is None and isinstance(old, str) and (old == last or "\n" not in old) and (old or last == ""):
        before = old
    after: str | None = None
    content = given.get("content") if name in ("write_file", "create_file") else None
    if isinstance(content, str):
        after = content if _is_written(content, path, last) else None
    elif isinstance(new, str) and (before is not None or "\n" not in new) and (not _DRIVE.match(path) or not created):
        after = new
    source = "resultDisplay" if before != ABSENT else name
    after_source = name if content is not None else "resultDisplay"
    if diff is None and isinstance(given.get("old_string"), str) and isinstance(given.get("new_string"), str):
        return Edit(path, "created" if created else "modified", before, after, source, after_source,
                    _strings(given["old_string"], given["new_string"]), "strings")  # fmt: skip
    return Edit(path, "created" if created else "modified", before, after, source, after_source, diff, "unified")


def _is_written(content: str, path: str, last: str | None) -> bool:
    # Line feeds become those of the file, or of the system, where these are CR LF.
    return "\n" not in content or not (_DRIVE.match(path) or (last is not None and "\r\n" in last))


def _strings(old: str, new: str) -> str:
    lines = [f"-{line}\n" for line in old.split("\n")] if old else []
    return "".join(lines + ([f"+{line}\n" for line in new.split("\n")] if new else []))
