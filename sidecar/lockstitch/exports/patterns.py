"""What a secret looks like: few patterns, each so particular that what it matches is one.

Invariant: a hash, an id or a signature matches none of them; what stands in a secret's place matches none either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_PRIVATE = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_NAMED = (
    r"(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)(?:_(?:KEY|BASE|VALUE|[0-9]+))?"
)
_NO_VALUE = r"(?![0-9]+(?![^\s'\"`])|process\.|os\.|env\.|import\.|self\.|this\.|[A-Za-z_.]+\()"

_TOKENS = (
    r"gh[pousr]_[A-Za-z0-9]{20,255}",
    r"github_pat_[A-Za-z0-9_]{22,255}",
    r"glpat-[A-Za-z0-9_-]{20,255}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,255}",
    r"sk-ant-[A-Za-z0-9_-]{16,255}",
    r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,255}",
    r"sk-[A-Za-z0-9]{32,255}",
    r"[sr]k_live_[A-Za-z0-9]{16,255}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,500}",
    r"hf_[A-Za-z0-9]{30,255}",
    r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    r"eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{16,4000}",
)

PATTERNS: dict[str, tuple[re.Pattern[str], ...]] = {
    "privateKey": (
        re.compile(rf"-----BEGIN {_PRIVATE}(?:(?!-----BEGIN )[\s\S]){{0,20000}}?-----END {_PRIVATE}"),
        re.compile(rf'-----BEGIN {_PRIVATE}(?:(?:\\[nr]|[\s+|>"-])*[A-Za-z0-9+/=]{{16,}})+'),
    ),
    "cloudKey": (
        re.compile(rf"{_START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_END}"),
        re.compile(rf"{_START}AIza[0-9A-Za-z_-]{{35}}{_END}"),
    ),
    "token": (
        re.compile(rf"{_START}(?:{'|'.join(_TOKENS)}){_END}"),
        re.compile(
            r"(?i:authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?i:bearer|basic|token)\s{1,4}"
            r"(?P<secret>[A-Za-z0-9._~+/=-]{16,4000})"
        ),
    ),
    "urlPassword": (
        re.compile(
            r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'\"<>]{0,100}:"
            r"(?P<secret>(?![$*{%<])[^\s/@'\"<>\[\]]{1,200})@(?=[\w\[])"
        ),
    ),
    "envAssignment": (
        re.compile(
            rf"(?<![A-Za-z0-9_])[A-Z0-9_]{{0,60}}?{_NAMED}=[\"']?{_NO_VALUE}"
            r"(?P<secret>[^\s'\"`$\[<{*(\\][^\s'\"`]{5,4000})"
        ),
    ),
}
"""Kind to patterns. Where one has a group `secret`, only that is the secret."""

_SIGNS = re.compile(
    rb"PRIVATE KEY|AKIA|ASIA|ABIA|ACCA|AIza|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|k_live_|npm_|pypi-|hf_|SG\."
    rb"|eyJ|(?i:authorization)|://|SECRET|TOKEN|PASSW|API_?KEY|ACCESS_?KEY|CREDENTIAL"
)


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret in a text: `text[start:end]`."""

    start: int
    end: int
    kind: str


def may_hold(data: bytes) -> bool:
    """Whether bytes of ours (JSON or a text) could hold a secret at all; cheap, and never wrongly false."""
    return _SIGNS.search(data) is not None


def secrets_in(text: str) -> list[Secret]:
    """The secrets of a whole text, in order, none overlapping another."""
    found: list[Secret] = []
    for kind, patterns in PATTERNS.items():
        for pattern in patterns:
            group = "secret" if "secret" in pattern.groupindex else 0
            found += [Secret(*match.span(group), kind) for match in pattern.finditer(text)]
    found.sort(key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def mark_of(kind: str) -> str:
    """What stands in a secret's place."""
    return f"[redacted:{kind}]"
