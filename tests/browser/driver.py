"""Chromium without a window, by way of chromedriver (W3C WebDriver, and the DevTools commands it passes on)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
DRIVER = shutil.which("chromedriver")


class Browser:
    """One window."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"
        options = {"binary": CHROMIUM, "args": ["--headless=new", "--no-sandbox", "--disable-gpu"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request) as reply:
            return json.loads(reply.read())["value"]

    def open(self, page: Path) -> None:
        """Load a page; what was told and asked for before it is forgotten."""
        self.complaints()
        self.requests()
        self._ask("POST", f"{self._session}/url", {"url": page.as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script's statements in the page; what it returns. A promise is waited for."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def tools(self, command: str, **params: Any) -> Any:
        """A command of the DevTools."""
        return self._ask("POST", f"{self._session}/goog/cdp/execute", {"cmd": command, "params": params})

    def media(self, width: int, *, dark: bool = False) -> None:
        """The size of the window, and which colours the user prefers."""
        self.tools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tools("Emulation.setEmulatedMedia", features=[scheme])

    def keys(self, text: str) -> None:
        """Type, as a person does."""
        for letter in text:
            key = "Enter" if letter == "\n" else letter
            shown = {} if letter == "\n" else {"text": letter}
            self.tools("Input.dispatchKeyEvent", type="keyDown", key=key, **shown)
            self.tools("Input.dispatchKeyEvent", type="keyUp", key=key)

    def pdf(self) -> bytes:
        return b64decode(self.tools("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])

    def complaints(self) -> list[str]:
        """What the console was told since the last look."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Every address that was asked for since the last look."""
        events = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def _log(self, kind: str) -> Any:
        return self._ask("POST", f"{self._session}/se/log", {"type": kind})

    def close(self) -> None:
        self._ask("DELETE", self._session)


@contextmanager
def browser() -> Iterator[Browser]:
    """A window, and the driver that belongs to it, for the length of a block."""
    assert DRIVER is not None
    with subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, encoding="utf-8") as driver:
        try:
            assert driver.stdout is not None
            found = (re.search(r"successfully on port (\d+)", line) for line in driver.stdout)
            port = next(int(match[1]) for match in found if match)
            window = Browser(port)
            try:
                yield window
            finally:
                window.close()
        finally:
            driver.terminate()
