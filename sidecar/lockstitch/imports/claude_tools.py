"""Claude Code tool calls and their results as our items.

Invariant: Claude Code tells no exit code of a command that succeeded, so none is given.
"""

from __future__ import annotations

import re
from typing import Any

from lockstitch import codec
from lockstitch.imports.calls import command_call, mcp_call, tool_call
from lockstitch.imports.fields import mapping, sequence, string

_REFUSED = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|User rejected tool use|Permission to use .* denied"
    r"|.*requested permissions? .* but you haven't granted it"
)
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code ([0-9]{1,10})(?:\n|$)")


def describe_call(name: str, arguments: Any, cwd: str | None) -> dict[str, Any]:
    """The item of a tool_use block without its result."""
    command = string(mapping(arguments).get("command"))
    if name.casefold() == "bash" and command is not None:
        return command_call(command, cwd)
    if match := re.fullmatch(r"mcp__(.+?)__(.+)", name):
        return mcp_call(match[1], match[2], arguments)
    return tool_call(name, arguments)


def finish_call(item: dict[str, Any], block: dict[str, Any], result: Any) -> dict[str, Any]:
    """The item with its result: the tool_result block, and `toolUseResult` of the line where it says more."""
    text = result_text(block)
    status = result_status(block, result)
    done = {**item, "status": status}
    if item["type"] == "commandExecution":
        done["aggregatedOutput"] = _command_output(text, result)
        if status == "failed" and (match := _EXIT_CODE.match(text)):
            done["exitCode"] = int(match[1])
    elif item["type"] == "mcpToolCall":
        if status == "completed":
            done["result"] = {"content": [_mcp_part(part) for part in _parts(block)]}
        else:
            done["error"] = {"message": text}
    else:
        done["contentItems"] = [_content_item(part) for part in _parts(block)]
        done["success"] = status == "completed"
    duration = mapping(result).get("totalDurationMs", mapping(result).get("durationMs"))
    if isinstance(duration, int) and not isinstance(duration, bool) and duration >= 0:
        done["durationMs"] = duration
    return done


def result_status(block: dict[str, Any], result: Any) -> str:
    """completed, failed, or declined by the person."""
    facts = mapping(result)
    failed = block.get("is_error") is True or facts.get("is_error") is True or facts.get("interrupted") is True
    if isinstance(result, str) and (result.startswith("Error") or _REFUSED.match(result)):
        failed = True
    if not failed:
        return "completed"
    refused = _REFUSED.match(result_text(block)) or (isinstance(result, str) and _REFUSED.match(result))
    return "declined" if refused else "failed"


def result_text(block: dict[str, Any]) -> str:
    """The text of a result, images left out."""
    texts = (part.get("text") for part in map(mapping, _parts(block)))
    return "\n".join(text for text in texts if isinstance(text, str))


def _parts(block: dict[str, Any]) -> list[Any]:
    content = block.get("content", block.get("output"))
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return sequence(content) or ([content] if mapping(content) else [])


def _command_output(text: str, result: Any) -> str:
    facts = mapping(result)
    streams = [stream for name in ("stdout", "stderr") if isinstance(stream := facts.get(name), str) and stream]
    # Where it was cut for the model, `toolUseResult` holds all of it.
    return "\n".join(streams) if streams else text


def image_url(part: dict[str, Any]) -> str | None:
    """An image block as a URL that holds it."""
    source = mapping(part.get("source"))
    if data := string(source.get("data")):
        return f"data:{string(source.get('media_type')) or 'image/png'};base64,{data}"
    return string(source.get("url"))


def _content_item(part: Any) -> dict[str, Any]:
    given = mapping(part)
    if given.get("type") == "image" and (url := image_url(given)):
        return {"type": "inputImage", "imageUrl": url}
    text = given.get("text")
    return {"type": "inputText", "text": text if isinstance(text, str) else codec.encode(part).decode()}


def _mcp_part(part: Any) -> Any:
    given = mapping(part)
    source = mapping(given.get("source"))
    if given.get("type") == "image" and (data := string(source.get("data"))):
        return {"type": "image", "data": data, "mimeType": string(source.get("media_type")) or "image/png"}
    return part
