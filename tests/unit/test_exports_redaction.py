"""What counts as a secret, and that redaction is of whole texts: in parts, previews and diffs too."""

from __future__ import annotations

import pytest

from lockstitch.exports.patterns import may_hold, secrets_in
from lockstitch.exports.redaction import Redactor

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "a1B2" * 9
ANTHROPIC = "sk-ant-" + "api03-Zz09_-" * 4
PEM = "\n".join(
    ["-----BEGIN RSA PRIVATE KEY-----", *("MIIEpAIBAAKCAQEA7" + c * 47 for c in "abc"), "-----END RSA PRIVATE KEY-----"]
)

SECRETS = {
    KEY: "cloudKey",
    "AIza" + "Sy" * 17 + "x": "cloudKey",
    GITHUB: "token",
    "github_pat_" + "1" * 30: "token",
    "glpat-" + "x" * 20: "token",
    ANTHROPIC: "token",
    "sk-proj-" + "aB3_" * 8: "token",
    "sk-" + "aB3d" * 12: "token",
    "xoxb-" + "123456-abcdef": "token",
    "sk_live_" + "a" * 24: "token",
    "npm_" + "a" * 36: "token",
    ".".join(["eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", "s5-_" * 8]): "token",
    PEM: "privateKey",
}
HARMLESS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "item_01890a5dac96774bbcceb302099a8057",
    "https://example.com:8443/a?b=c@d",
    "git@github.com:you/repo.git",
    "postgres://user:$PASSWORD@host/db",
    "MAX_TOKENS=100000",
    "TOKEN_LIMIT=100000",
    "const API_KEY=process.env.API_KEY;",
    "SECRET=",
    "sk-learn is a library, and sk-is-not-a-key either",
    "[redacted:token] https://u:[redacted:urlPassword]@h API_KEY=[redacted:envAssignment]",
    "MEUCIQDk1x" + "Ab+/" * 20 + "==",
    "the header is -----BEGIN PUBLIC KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:12])
def test_a_secret_is_found_wherever_it_stands(secret: str) -> None:
    kind = SECRETS[secret]
    for text in (secret, f"key={secret}\n", f'{{"k":"{secret}"}}', f"a {secret}, b"):
        assert may_hold(text.encode())
        redactor = Redactor()
        assert redactor.text(text) == text.replace(secret, f"[redacted:{kind}]")
        assert redactor.counts == {kind: 1}


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("https://user:pass@example.com/x", "pass", "urlPassword"),
        ("postgres://app:s3cr3t!@db:5432/x", "s3cr3t!", "urlPassword"),
        ("DB_PASSWORD=correcthorse\nX=1", "correcthorse", "envAssignment"),
        ("export AWS_SECRET_ACCESS_KEY='wJalrXUtnFEMI/K7MDENG'", "wJalrXUtnFEMI/K7MDENG", "envAssignment"),
        ("Authorization: Bearer abcdef0123456789abcd", "abcdef0123456789abcd", "token"),
    ],
)
def test_only_the_secret_itself_goes(text: str, secret: str, kind: str) -> None:
    assert Redactor().text(text) == text.replace(secret, f"[redacted:{kind}]", 1)


@pytest.mark.parametrize("text", HARMLESS)
def test_hashes_ids_signatures_and_examples_stay(text: str) -> None:
    assert secrets_in(text) == []
    assert Redactor().text(text) == text


def test_parts_of_a_text_are_redacted_as_the_whole_is() -> None:
    """A secret that was streamed in two pieces goes from both."""
    whole = f"one {KEY} two {GITHUB} three"
    for cut in range(len(whole)):
        for other in range(cut, len(whole)):
            if (other - cut) % 7:
                continue
            pieces = Redactor().pieces([whole[:cut], whole[cut:other], whole[other:]])
            assert pieces is not None
            assert "".join(pieces) == "one [redacted:cloudKey] two [redacted:token] three"
    assert Redactor().pieces(["a", "b"]) is None


def test_a_preview_that_cuts_a_secret_is_redacted_as_the_whole_is() -> None:
    whole = "x" * 10 + " " + KEY + " rest"
    redactor = Redactor()
    assert redactor.learn(whole.encode(), whole[:20])
    assert redactor.text(whole[:20]) == "x" * 10 + " [redacted:cloudKey]"


def test_lines_of_a_known_private_key_go_from_diffs_too() -> None:
    redactor = Redactor()
    body = PEM.split("\n")[2]
    hunk = f"@@ -1,3 +1,3 @@\n {body}\n-a\n+b\n"
    assert redactor.text(hunk) == hunk
    assert redactor.learn(f"text\n{PEM}\n".encode())
    assert redactor.text(hunk) == hunk.replace(body, "[redacted:privateKey]")
    assert redactor.counts == {"privateKey": 1}


def test_values_keep_their_shape_and_ids() -> None:
    value = {"id": KEY, "a": [1, None, {GITHUB: f"see {KEY}"}], "text": "ok"}
    redactor = Redactor(frozenset({KEY}))
    assert redactor.value(value) == {
        "id": KEY,
        "a": [1, None, {"[redacted:token]": "see [redacted:cloudKey]"}],
        "text": "ok",
    }
    same = {"a": ["b", {"c": 1}]}
    assert redactor.value(same) is same
