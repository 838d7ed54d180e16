"""What a secret looks like: few patterns, each so particular that what it matches is one.

Invariant: a hash, an id or a signature matches none of them; what stands in a secret's place matches none either.
Invariant: each begins with plain characters, its sign: a text is searched for those, which costs next to nothing, and
the pattern is only tried where they stand. None can take longer than its length times a constant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PRIVATE = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_NAME_GOES_ON = r"(?:_(?:KEY|BASE|VALUE|[0-9]+))?"
_NO_VALUE = r"(?![0-9]+(?![^\s'\"`])|process\.|os\.|env\.|import\.|self\.|this\.|[A-Za-z_.]+\()"


@dataclass(frozen=True, slots=True)
class _Pattern:
    kind: str
    sign: str
    pattern: re.Pattern[str]
    """Matched where the sign begins. Where it has a group `secret`, only that is the secret."""


def _alone(kind: str, sign: str, rest: str) -> _Pattern:
    """A word by itself: no letter or digit stands directly before or behind it."""
    return _Pattern(kind, sign, re.compile(rf"(?<![A-Za-z0-9]){re.escape(sign)}{rest}(?![A-Za-z0-9])"))


def _assigned(name: str) -> _Pattern:
    return _Pattern(
        "envAssignment",
        name.removesuffix("S?"),
        re.compile(
            rf"(?<![a-z]){name}{_NAME_GOES_ON}=[\"']?{_NO_VALUE}(?P<secret>[^\s'\"`$\[<{{*(\\][^\s'\"`]{{5,4000}})"
        ),
    )


PATTERNS: tuple[_Pattern, ...] = (
    _Pattern(
        "privateKey",
        "-----BEGIN ",
        re.compile(
            rf"-----BEGIN {_PRIVATE}(?:(?:(?!-----BEGIN )[\s\S]){{0,20000}}?-----END {_PRIVATE}"
            rf'|(?:(?:\\[nr]|[\s+|>"-])*[A-Za-z0-9+/=]{{16,}})+)'
        ),
    ),
    *(_alone("cloudKey", sign, r"[A-Z0-9]{16}") for sign in ("AKIA", "ASIA", "ABIA", "ACCA")),
    _alone("cloudKey", "AIza", r"[0-9A-Za-z_-]{35}"),
    *(_alone("token", sign, r"[A-Za-z0-9]{20,255}") for sign in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _alone("token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _alone("token", "glpat-", r"[A-Za-z0-9_-]{20,255}"),
    _alone("token", "xox", r"[abeoprs]-[A-Za-z0-9-]{10,255}"),
    _alone(
        "token",
        "sk-",
        r"(?:ant-[A-Za-z0-9_-]{16,255}|(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,255}|[A-Za-z0-9]{32,255})",
    ),
    _alone("token", "sk_live_", r"[A-Za-z0-9]{16,255}"),
    _alone("token", "rk_live_", r"[A-Za-z0-9]{16,255}"),
    _alone("token", "npm_", r"[A-Za-z0-9]{36}"),
    _alone("token", "pypi-AgEIcHlwaS5vcmc", r"[A-Za-z0-9_-]{50,500}"),
    _alone("token", "hf_", r"[A-Za-z0-9]{30,255}"),
    _alone("token", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _alone("token", "eyJ", r"[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{16,4000}"),
    *(
        _Pattern(
            "token",
            sign,
            re.compile(
                rf"{sign}[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?(?i:bearer|basic|token)\s{{1,4}}"
                r"(?P<secret>[A-Za-z0-9._~+/=-]{16,4000})"
            ),
        )
        for sign in ("uthorization", "UTHORIZATION")
    ),
    _Pattern(
        "urlPassword",
        "://",
        re.compile(
            r"(?<=[A-Za-z0-9+.-])://[^\s/:@'\"<>]{0,100}:(?P<secret>(?![$*{%<])[^\s/@'\"<>\[\]]{1,200})@(?=[\w\[])"
        ),
    ),
    *(
        _assigned(name)
        for name in (
            *("SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "ACCESSKEY"),
            *("PRIVATE_KEY", "CREDENTIALS?"),
        )
    ),
)

_SIGNS = tuple(pattern.sign.encode() for pattern in PATTERNS)


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret in a text: `text[start:end]`."""

    start: int
    end: int
    kind: str


def may_hold(data: bytes) -> bool:
    """Whether bytes of ours (JSON or a text) could hold a secret at all; cheap, and never wrongly false."""
    return any(sign in data for sign in _SIGNS)


def secrets_in(text: str) -> list[Secret]:
    """The secrets of a whole text, in order, none overlapping another."""
    found: list[Secret] = []
    for known in PATTERNS:
        at = text.find(known.sign)
        while at >= 0:
            match = known.pattern.match(text, at)
            if match is not None:
                group = "secret" if "secret" in known.pattern.groupindex else 0
                found.append(Secret(*match.span(group), known.kind))
                at = match.end() - 1
            at = text.find(known.sign, at + 1)
    if len(found) < 2:
        return found
    found.sort(key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def mark_of(kind: str) -> str:
    """What stands in a secret's place."""
    return f"[redacted:{kind}]"
