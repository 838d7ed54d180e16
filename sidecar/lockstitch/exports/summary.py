"""`summary.md` of an evidence pack: one page that a person reads first."""

from __future__ import annotations

from typing import Any

from lockstitch.exports.facts import ThreadFacts


def summary_of(facts: ThreadFacts, exported_at: str, gaps: list[str]) -> str:
    """Markdown."""
    lines = [
        f"# Evidence: {plain(facts.title)}",
        "",
        f"- Thread `{facts.thread_id}`" + (f", turn `{facts.turn_id}`" if facts.turn_id else ""),
        f"- Exported {exported_at}",
        f"- Status: {facts.session['status']}",
        f"- Events: {len(facts.lines)}, last sequence {facts.last_sequence}, last sum `{facts.last_sum}`",
        f"- File checkpoints: {len(facts.checkpoints)}",
    ]
    if facts.redactions is None:
        lines.append("- Secrets were not looked for: read it before you hand it on.")
    else:
        counted = ", ".join(f"{count} {kind}" for kind, count in facts.redactions.items()) or "none found"
        lines.append(f"- Secrets left out: {counted}. Lines are summed again and keep `originalSum`.")
    lines += ["", "## Turns", ""]
    for receipt in facts.receipts:
        counts = receipt["counts"]
        lines.append(
            f"- `{receipt['turnId']}` {receipt['status']}: {counts['items']} items, {counts['commands']} commands, "
            f"{counts['toolCalls']} tool calls, {counts['fileCheckpoints']} file checkpoints"
        )
    lines += ["", "## Files changed", ""]
    lines += [_changed(found) for receipt in facts.receipts for found in receipt["filesChanged"]] or ["None."]
    lines += ["", "## Known gaps", ""]
    lines += [f"- {plain(gap)}" for gap in gaps] or ["None."]
    lines += [
        "",
        "`manifest.json` has the SHA-256 of every file; `events.jsonl` holds one event a line, each with a sum.",
        "",
    ]
    return "\n".join(lines)


def _changed(found: dict[str, Any]) -> str:
    counted = ""
    if found.get("additions") is not None:
        counted = f" +{found['additions']} -{found['deletions']}"
    return f"- `{plain(found['path'])}` {found['op']}{counted}"


def plain(text: str) -> str:
    """A text on one line, so that it cannot become structure."""
    return " ".join(text.replace("`", "'").split())
