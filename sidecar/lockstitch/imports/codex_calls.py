"""Codex tool calls and their outputs as our items: commands, MCP calls, images, other tools.

Invariant: an exit code, a duration or a success is only what the output says; nothing is made up.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from lockstitch import codec
from lockstitch.imports.calls import command_call, mcp_call
from lockstitch.imports.fields import mapping, milliseconds, sequence, string, whole

SHELLS = frozenset({"shell", "container.exec", "shell_command", "exec_command", "local_shell", "local_shell_call"})


@dataclass(frozen=True, slots=True)
class CallDetail:
    """What a call's result needs to know of the call."""

    name: str
    script: str
    """The text in which a patch may stand."""
    directory: str | None
    """Where its relative paths start."""


@dataclass(slots=True)
class Output:
    """A call's result, told apart."""

    text: str
    parts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The result as content items, images included."""
    exit_code: int | None = None
    duration_ms: int | None = None
    failed: bool = False
    declined: bool = False

    @property
    def status(self) -> str:
        if self.declined:
            return "declined"
        return "failed" if self.failed or self.exit_code not in (None, 0) else "completed"


def decode_arguments(arguments: Any) -> Any:
    """A call's arguments; they come as a text of JSON, and stay that text if they are none."""
    if isinstance(arguments, str):
        try:
            return codec.decode(arguments.encode("utf-8", "replace"))
        except (codec.ParseError, codec.TooDeepError):
            return arguments
    return arguments


def describe_call(
    name: str, namespace: str | None, arguments: Any, cwd: str | None
) -> tuple[dict[str, Any], CallDetail]:
    """The item of a call without its result, and what the result will need."""
    given = mapping(arguments)
    directory = _join(cwd, string(given.get("workdir")) or string(given.get("working_directory")))
    if name in SHELLS:
        command = command_text(given.get("command", given.get("cmd")))
        if command is not None:
            detail = CallDetail(name, command, directory)
            return command_call(command, directory), detail
    script = arguments if isinstance(arguments, str) else string(given.get("input")) or ""
    detail = CallDetail(name, script if name == "apply_patch" else "", directory)
    if name == "view_image" and (path := string(given.get("path"))):
        return {"type": "imageView", "path": path}, detail
    full_name = f"{namespace}{name}" if namespace and namespace.startswith("mcp__") else name
    match = re.fullmatch(r"mcp__(.+?)__(.+)", full_name)
    if match:
        return mcp_call(match[1], match[2], arguments), detail
    return dynamic_item(namespace, name, arguments), detail


def dynamic_item(namespace: str | None, tool: str, arguments: Any) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "dynamicToolCall", "tool": tool, "arguments": arguments, "status": "inProgress"}
    return {**item, "namespace": namespace} if namespace else item


def command_text(command: Any) -> str | None:
    """A command as a person would type it: what a shell was asked to run stands for itself."""
    words = sequence(command)
    if not words:
        return string(command)
    texts = [word if isinstance(word, str) else str(word) for word in words]
    shell = re.fullmatch(r"(?:.*[/\\])?(?:ba|z|da|k)?sh(?:\.exe)?", texts[0])
    if shell and len(texts) == 3 and texts[1] in ("-lc", "-c", "-l", "-ic"):
        return texts[2]
    return shlex.join(texts)


def _join(cwd: str | None, workdir: str | None) -> str | None:
    if workdir is None:
        return cwd
    if cwd is None or workdir.startswith("/") or re.match(r"[A-Za-z]:[/\\]|\\\\", workdir):
        return workdir
    return f"{cwd.rstrip('/')}/{workdir}"


# ── outputs ──

_HEADS = re.compile(
    r"(?P<chunk>Chunk ID: .*)|Wall time: (?P<wall>[0-9]{1,9}(?:\.[0-9]+)?) seconds?"
    r"|Process exited with code (?P<exit>-?[0-9]{1,10})"
    r"|Exit code: (?P<code>-?[0-9]{1,10})|(?P<running>Process running with session ID .*)"
    r"|(?P<tokens>Original token count: [0-9]+|Total output lines: [0-9]+)"
)
_REFUSED = re.compile(r"rejected by user|patch rejected|rejected by approval|user denied|declined by", re.IGNORECASE)
_FAILED = re.compile(
    r"unsupported (?:custom tool )?call|apply_patch verification failed|error: |failed |execution error|aborted"
    r"|failed in sandbox|tool call error|err: |invalid patch|unable to locate|collab .* failed",
    re.IGNORECASE,
)


def read_output(output: Any) -> Output:
    """Tell a result apart, in any of the shapes that versions wrote."""
    if isinstance(output, str):
        return _read_text(output)
    parts = sequence(output)
    one = mapping(output)
    if one and string(one.get("type")):
        parts = [one]
    if parts:
        items = [content_item(part) for part in parts]
        texts = [item["text"] for item in items if item["type"] == "inputText"]
        found = _read_text("\n".join(texts))
        found.parts = items
        return found
    if one:
        found = _read_text(string(one.get("content")) or string(one.get("output")) or codec.encode(one).decode())
        if isinstance(one.get("content"), list):
            found = read_output(one["content"])
        found.failed = found.failed or one.get("success") is False
        return found
    return Output("")


def _read_text(text: str) -> Output:
    found = _strip_heads(text)
    if not found.parts:
        found.parts = [{"type": "inputText", "text": text}] if text else []
    if found.exit_code is None and found.text == text:
        start = text[:200]
        lower = start.lower()  # a search that minds no case costs as much as all the rest
        refused = "rejected" in lower or "denied" in lower or "declined" in lower
        found.declined = refused and _REFUSED.search(start) is not None
        found.failed = not found.declined and _FAILED.match(start) is not None
    return found


def _strip_heads(text: str) -> Output:
    """The output proper, under up to three layers of head lines or a JSON wrapper."""
    found = Output(text)
    for _ in range(3):
        rest = _strip_json(found) or _strip_lines(found)
        if rest is None:
            return found
        found.text = rest
    return found


def _strip_json(found: Output) -> str | None:
    if not found.text.startswith("{") or '"output"' not in found.text:
        return None
    wrapper = mapping(decode_arguments(found.text))
    output, metadata = wrapper.get("output"), mapping(wrapper.get("metadata"))
    if not isinstance(output, str) or set(wrapper) - {"output", "metadata"}:
        return None
    _note(found, whole(metadata.get("exit_code")), metadata.get("duration_seconds"))
    return output


def _strip_lines(found: Output) -> str | None:
    position, exit_code, wall = 0, None, None
    while True:
        end = found.text.find("\n", position)
        line = found.text[position : end if end >= 0 else len(found.text)].removesuffix("\r")
        if position and line == "Output:":
            _note(found, exit_code, wall)
            return found.text[end + 1 :] if end >= 0 else ""
        match = _HEADS.fullmatch(line)
        if match is None or end < 0:
            return None
        exit_code = int(match["exit"] or match["code"]) if match["exit"] or match["code"] else exit_code
        wall = float(match["wall"]) if match["wall"] else wall
        position = end + 1


def _note(found: Output, exit_code: int | None, seconds: Any) -> None:
    if exit_code is not None:
        found.exit_code = exit_code
    if isinstance(seconds, (int, float)) and 0 <= seconds < 1e9 and found.duration_ms is None:
        found.duration_ms = round(seconds * 1000)


def content_item(part: Any) -> dict[str, Any]:
    """One part of a result in the shape of a dynamic tool's content items."""
    given = mapping(part)
    image = string(given.get("image_url")) or string(given.get("imageUrl"))
    if image is None and (data := string(given.get("data"))) and given.get("type") == "image":
        image = f"data:{string(given.get('mimeType')) or 'image/png'};base64,{data}"
    if image is not None:
        return {"type": "inputImage", "imageUrl": image}
    text = given.get("text")
    if isinstance(text, str):
        return {"type": "inputText", "text": text}
    return {"type": "inputText", "text": part if isinstance(part, str) else codec.encode(part).decode()}


def finish_call(item: dict[str, Any], output: Output) -> dict[str, Any]:
    """The item of a call with its result."""
    done = {**item, "status": output.status}
    if item["type"] == "imageView":
        if output.status == "completed":
            return {"type": "imageView", "id": item["id"], "path": item["path"]}
        done = {**dynamic_item(None, "view_image", {"path": item["path"]}), "id": item["id"], "status": output.status}
    if done["type"] == "commandExecution":
        done["aggregatedOutput"] = output.text
        if output.exit_code is not None:
            done["exitCode"] = output.exit_code
    elif done["type"] == "mcpToolCall":
        if output.status == "completed":
            done["result"] = {"content": [{"type": "text", "text": output.text}] if output.text else []}
        else:
            done["error"] = {"message": output.text}
    else:
        done["contentItems"] = output.parts
        done["success"] = output.status == "completed"
    if output.duration_ms is not None:
        done["durationMs"] = output.duration_ms
    return done


def finish_command(item: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """A command with what `CommandExecution` or `exec_command_end` tells of it."""
    done = {**item, "status": {"failed": "failed", "declined": "declined"}.get(str(told.get("status")), "completed")}
    output = told.get("aggregated_output")
    if not isinstance(output, str):
        output = (string(told.get("stdout")) or "") + (string(told.get("stderr")) or "")
    done["aggregatedOutput"] = output
    exit_code = whole(told.get("exit_code"))
    if exit_code is not None:
        done["exitCode"] = exit_code
        if exit_code != 0 and done["status"] == "completed":
            done["status"] = "failed"
    if (duration := milliseconds(told.get("duration"))) is not None:
        done["durationMs"] = duration
    return done


def finish_mcp(item: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """An MCP call with its result: `{Ok: …}`, `{Err: …}`, or the plain result."""
    done = dict(item)
    result = told.get("result")
    wrapped = mapping(result)
    error = wrapped.get("Err", told.get("error"))
    value = wrapped.get("Ok", result)
    if error:
        done |= {"status": "failed", "error": {"message": error if isinstance(error, str) else _message(error)}}
    else:
        # A result may come without `content` where it is structured only.
        done |= {"status": "failed" if mapping(value).get("isError") is True else "completed", "result": value}
    if (duration := milliseconds(told.get("duration"))) is not None:
        done["durationMs"] = duration
    return done


def _message(error: Any) -> str:
    return string(mapping(error).get("message")) or codec.encode(error).decode()
