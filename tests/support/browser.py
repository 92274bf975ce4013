"""A real Chromium, the system's own, without a window; nothing is downloaded."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
WAIT = 20_000
"""Milliseconds that a test waits for what it expects, on a busy machine too."""


def program() -> str:
    """Where the browser is; without one the test is skipped on a desk and fails in continuous integration."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), "")
    if not found:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "there is no Chromium; on Debian: apt-get install chromium"
        )
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser."""
    with sync_playwright() as driver:
        sandbox = [] if os.getuid() else ["--no-sandbox"]  # which root can't use
        browser = driver.chromium.launch(executable_path=program(), args=sandbox)
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page whose every request, message and dialog is kept, to be judged at the end."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **options})
        self.context.set_default_timeout(WAIT)
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.agrees = False
        """Whether a dialog is expected, and accepted."""
        self.page.on("dialog", self._asked)
        self.page.on("console", self._heard)

    def _asked(self, dialog: Any) -> None:
        if self.agrees:
            dialog.accept()
        else:
            self.complaints.append(f"dialog: {dialog.message}")
            dialog.dismiss()

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def close(self) -> None:
        """Closes it; what the browser complained about fails the test."""
        self.context.close()
        assert not self.complaints, self.complaints
