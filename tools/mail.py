"""Mail over SMTP. The message and its recipients are agreed step by step, so that a failure says whether mail left.

Before the text is handed over nothing has happened; a refusal of the text means the same (RFC 5321, 4.2.5); only a
connection lost in between leaves it open. Leaves out: reading mail, and OAuth.
"""

import re
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from anyio import to_thread
from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from state.result import FailureClass
from tools.folder import Folder
from tools.mail_letter import Letter, addresses, letter
from tools.mail_server import Server, server
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv, write

_SECONDS = 20.0
_AUTH_CODES = (530, 534, 535, 538)


class Sent(TypedDict):
    """A mail that the server has accepted."""

    message_id: str
    to: list[str]


def tools(settings: ToolSettings) -> list[Tool]:
    """The mail tool; without a server it says what to set."""
    folder = Folder(settings.root, settings.home)
    probe = partial(_answers, settings.smtp) if settings.smtp else None

    def send_mail(
        to: list[str] | str, subject: str, body: str, env: ToolEnv, attachments: list[str] | str | None = None
    ) -> Sent:
        """Sends a mail; attachments are paths of files."""
        target = server(settings.smtp)
        files = [attachments] if isinstance(attachments, str) else attachments or []
        written = letter(target.sender, addresses(to), subject, body, env.key, folder, files)
        with _connection(target) as smtp:
            _deliver(smtp, written)
        return {"message_id": written.message_id, "to": written.to}

    def refuse(args: dict[str, Any]) -> None:
        if "to" in args:
            addresses(args["to"])
        folder.refusing("attachments")(args)

    return [write(send_mail, timeout=90.0, probe=probe, refuse=refuse)]


async def _answers(url: str | None) -> None:
    """Logs in and out again; raises what a mail would run into."""

    def greet() -> None:
        with _connection(server(url)):
            pass

    await to_thread.run_sync(greet, abandon_on_cancel=True)


@contextmanager
def _connection(target: Server) -> Iterator[smtplib.SMTP]:
    """An SMTP connection, encrypted where the server can, logged in where the address says so."""
    with _nothing_sent(target):
        smtp = _open(target)
        try:
            _secure(smtp, target)
            if target.user:
                smtp.login(target.user, target.password)
        except BaseException:
            smtp.close()
            raise
    try:
        yield smtp
    finally:
        with suppress(OSError, smtplib.SMTPException):
            smtp.quit()
        smtp.close()


def _open(target: Server) -> smtplib.SMTP:
    if target.tls:
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(target.host, target.port, timeout=_SECONDS, context=context)
    return smtplib.SMTP(target.host, target.port, timeout=_SECONDS)


def _secure(smtp: smtplib.SMTP, target: Server) -> None:
    smtp.ehlo_or_helo_if_needed()
    if target.tls:
        return
    if smtp.has_extn("starttls"):
        smtp.starttls(context=ssl.create_default_context())
        smtp.ehlo_or_helo_if_needed()
    elif target.user and not target.local:
        why = (
            "offers no encryption, so the password is not sent to it; right would be smtps:// or a server with STARTTLS"
        )
        raise ToolFailed(f"mail server {target.host} {why}", "auth")


def _deliver(smtp: smtplib.SMTP, written: Letter) -> None:
    """Hands the letter over; all recipients are agreed before any text is, so none gets it alone."""
    with _nothing_sent():
        _expect(smtp.mail(written.sender), "the sender " + written.sender)
        for address in written.to:
            _expect(smtp.rcpt(address), f"the recipient {address}")
        _expect(smtp.docmd("DATA"), "the mail")
    text = re.sub(rb"(?m)^\.", b"..", written.data)
    try:
        smtp.send(text + b".\r\n")
        reply = smtp.getreply()
    except (OSError, smtplib.SMTPException) as error:
        message = f"the connection broke after the mail was handed over, so it may have been sent: {_reason(error)}"
        raise ToolFailed(message, "unknown_outcome", nothing_happened=False) from error
    _expect(reply, "the mail")


def _expect(reply: tuple[int, bytes], what: str) -> None:
    code, text = reply
    if code not in (250, 251, 252, 354):
        why = shorten(text.decode("utf-8", "replace"))
        raise ToolFailed(f"the mail server refused {what}: {code} {why}", _class_of(code))


@contextmanager
def _nothing_sent(target: Server | None = None) -> Iterator[None]:
    """Says what went wrong before any text was handed over."""
    where = f"mail server {target.host}:{target.port}" if target else "the mail server"
    try:
        yield
    except smtplib.SMTPAuthenticationError as error:
        raise ToolFailed(
            f"{where} refused the login: {_reason(error)}; check SMTP_URL", _class_of(error.smtp_code)
        ) from error
    except smtplib.SMTPResponseException as error:
        raise ToolFailed(f"{where}: {_reason(error)}", _class_of(error.smtp_code)) from error
    except smtplib.SMTPNotSupportedError as error:
        raise ToolFailed(f"{where} knows no login: {error}; check SMTP_URL", "auth") from error
    except ssl.SSLError as error:
        raise ToolFailed(f"{where} has no encryption that can be trusted: {_reason(error)}", "permanent") from error
    except (OSError, smtplib.SMTPException) as error:
        raise ToolFailed(f"{where} can't be reached: {_reason(error)}; check SMTP_URL", "transient") from error


def _class_of(code: int) -> FailureClass:
    if code in _AUTH_CODES:
        return "auth"
    return "transient" if 400 <= code < 500 or code == -1 else "permanent"


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
        return f"{error.smtp_code} {shorten(text)}"
    if isinstance(error, socket.gaierror):
        return "there is no host of that name"
    return shorten(str(error) or type(error).__name__)
