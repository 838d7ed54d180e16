"""`schemas/` is what the registry gives, and names nothing of the machine it was made on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lockstitch_protocol.generate import main
from lockstitch_protocol.methods import METHODS

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "schemas"


def test_schemas_regenerate_clean() -> None:
    assert main(["--check", "--no-typescript", "--output", str(SCHEMAS)]) == 0


def test_a_file_that_differs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-typescript", "--output", str(tmp_path)]) == 0
    (tmp_path / "json" / "Thread.json").write_bytes(b"{}")
    (tmp_path / "json" / "Turn.json").unlink()
    (tmp_path / "json" / "Old.json").write_bytes(b"{}")
    assert main(["--check", "--no-typescript", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert [line.split(";")[0] for line in said.splitlines()] == [
        "json/Thread.json differs",
        "json/Turn.json is missing",
        "json/Old.json is not generated any more",
    ]
    assert main(["--no-typescript", "--output", str(tmp_path)]) == 0
    assert main(["--check", "--no-typescript", "--output", str(tmp_path)]) == 0


def test_every_reference_leads_to_a_file() -> None:
    names = {path.name for path in (SCHEMAS / "json").glob("*.json")}
    for path in (SCHEMAS / "json").glob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r'"\$ref": "([^"]+)"', text)) <= names, path.name


def test_openrpc_lists_every_method() -> None:
    document = json.loads((SCHEMAS / "openrpc.json").read_text(encoding="utf-8"))
    assert [method["name"] for method in document["methods"]] == list(METHODS)


def test_the_typescript_has_every_type_of_the_maps() -> None:
    types = (SCHEMAS / "typescript" / "types.d.ts").read_text(encoding="utf-8")
    maps = (SCHEMAS / "typescript" / "methods.d.ts").read_text(encoding="utf-8")
    imported = re.findall(r"^  (\w+),$", maps, re.MULTILINE)
    exported = re.findall(r"^export (?:interface|type) (\w+)", types, re.MULTILINE)
    assert imported
    assert set(imported) <= set(exported)
    schemas = {path.stem for path in (SCHEMAS / "json").glob("*.json")}
    assert set(exported) == schemas, "run python -m lockstitch_protocol.generate, with Node"


def test_no_machine_path_is_in_a_generated_file() -> None:
    for path in SCHEMAS.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not [place for place in (ROOT, Path.home(), tempfile.gettempdir()) if f"{place}/" in text], path


@pytest.mark.parametrize(
    "module", ["errors", "retired", "item_fields", "event_checks", "event_types", "snapshot", "ids"]
)
def test_plain_modules_do_not_import_pydantic(module: str) -> None:
    code = f"import sys, lockstitch_protocol.{module}; sys.exit('pydantic' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "protocol", check=False)
    assert run.returncode == 0
