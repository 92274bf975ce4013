"""A real SMTP server on loopback that keeps what it takes, and can refuse, defer or break off."""

import asyncio
import socket
from collections import deque
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Literal, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

At = Literal["mail", "rcpt", "data"]


@dataclass(frozen=True)
class Mail:
    """One mail that the server took."""

    sender: str
    recipients: list[str]
    message: EmailMessage


@dataclass(frozen=True)
class _Trouble:
    at: At
    answer: str | None  # None: break the connection
    keep: bool = False


class MailServer:
    """Takes every mail unless told otherwise; each trouble is for one mail, in the order they were told."""

    def __init__(self) -> None:
        self.messages: list[Mail] = []
        self._troubles: deque[_Trouble] = deque()
        self._controller = Controller(_Handler(self), hostname="127.0.0.1", port=_free_port())

    @property
    def url(self) -> str:
        """Its address for SMTP_URL."""
        return f"smtp://127.0.0.1:{self._controller.port}"

    def refuse(self, *, at: At = "data", answer: str = "550 5.7.1 refused") -> None:
        """Refuses the next mail for good."""
        self._troubles.append(_Trouble(at, answer))

    def defer(self, *, at: At = "data", answer: str = "451 4.3.0 try again later") -> None:
        """Refuses the next mail for now."""
        self._troubles.append(_Trouble(at, answer))

    def drop(self, *, delivered: bool = True) -> None:
        """Breaks the connection after DATA instead of answering; `delivered`: the mail was taken all the same."""
        self._troubles.append(_Trouble("data", None, keep=delivered))

    def start(self) -> None:
        """Starts listening in a thread of its own."""
        self._controller.start()

    def stop(self) -> None:
        """Stops listening."""
        self._controller.stop()

    def trouble(self, at: At) -> _Trouble | None:
        """The trouble that is due at this point of the conversation; it is used up."""
        return self._troubles.popleft() if self._troubles and self._troubles[0].at == at else None


class _Handler:
    def __init__(self, mails: MailServer) -> None:
        self.mails = mails

    async def handle_MAIL(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        if trouble := self.mails.trouble("mail"):
            return cast(str, trouble.answer)
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        if trouble := self.mails.trouble("rcpt"):
            return cast(str, trouble.answer)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        trouble = self.mails.trouble("data")
        if trouble is None or trouble.keep:
            message = message_from_bytes(cast(bytes, envelope.content), policy=policy.default)
            mail = Mail(envelope.mail_from or "", list(envelope.rcpt_tos), message)
            self.mails.messages.append(mail)
        if trouble and trouble.answer is None:
            cast(asyncio.Transport, server.transport).abort()
            raise asyncio.CancelledError
        return cast(str, trouble.answer) if trouble else "250 OK"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return cast(int, probe.getsockname()[1])
