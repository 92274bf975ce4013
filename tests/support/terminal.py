"""A process at a terminal of its own: what it shows can be waited for, keys can be pressed."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from types import TracebackType
from typing import Any

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """Used as a context manager; `shown` is everything so far, `text` the same without escape sequences."""

    def __init__(self, line: list[str], *, width: int = 100, height: int = 40, **options: Any) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self._process = subprocess.Popen(
            line, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, **options
        )
        os.close(slave)
        self.shown = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """What was shown, without colours and cursor movements."""
        return ESCAPES.sub("", self.shown).replace("\r\n", "\n")

    def expect(self, words: str, seconds: float = 30.0) -> None:
        """Waits until the words are shown."""
        until = time.monotonic() + seconds
        while words not in self.text:
            if not self._read(until - time.monotonic()):
                raise AssertionError(f"{words!r} did not come; there is:\n{self.text}")

    def prompted(self, seconds: float = 30.0) -> None:
        """Waits until a question about a request stands at the end; what is typed before that counts for nothing."""
        until = time.monotonic() + seconds
        while not self.text.rstrip().endswith("[l]eave open:"):
            if not self._read(until - time.monotonic()):
                raise AssertionError(f"no question came; there is:\n{self.text}")

    def send(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._master, keys.encode())

    def interrupt(self) -> None:
        """Sends SIGINT."""
        self._process.send_signal(2)

    def leave(self, seconds: float = 30.0) -> int:
        """Waits for the end and gives the exit code."""
        until = time.monotonic() + seconds
        while self._read(until - time.monotonic()):
            pass
        return self._process.wait(max(0.1, until - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        """Takes in what is shown next; False at the end, or when the time is over."""
        if not select.select([self._master], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other end is closed
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)
