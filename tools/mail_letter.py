"""A mail as it is handed over: checked addresses, headers that nothing can be smuggled into, attachments."""

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid, parseaddr
from pathlib import Path

from state.errors import ToolFailed, shorten
from tools.folder import Folder

_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_MAX_ATTACHED = 20_000_000


@dataclass(frozen=True)
class Letter:
    """What goes over the wire."""

    sender: str
    to: list[str]
    message_id: str
    data: bytes


def addresses(to: list[str] | str) -> list[Address]:
    """The recipients, each once; a text may hold several, separated by commas or semicolons."""
    given = [part for text in ([to] if isinstance(to, str) else to) for part in re.split("[,;]", text)]
    found = {address.addr_spec: address for address in map(_address, filter(str.strip, given))}
    if not found:
        raise ToolFailed("to is empty; right would be name@example.org", "invalid_arguments")
    return list(found.values())


def letter(
    sender: str, to: list[Address], subject: str, body: str, key: str, folder: Folder, attachments: list[str]
) -> Letter:
    """Writes the mail; its Message-ID follows from the key, so that the same mail sent again can be recognised."""
    if _CONTROL.search(subject):
        raise ToolFailed(
            f"subject {subject[:120]!r} has a line break or another control character", "invalid_arguments"
        )
    who, message_id = _address(sender), _message_id(key)
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = who, to, subject
    message["Date"], message["Message-ID"] = formatdate(), message_id
    message.set_content(body.encode("utf-8", "replace").decode(), cte="base64" if not body.isascii() else None)
    _attach(message, folder, attachments)
    return Letter(who.addr_spec, [address.addr_spec for address in to], message_id, message.as_bytes())


def _address(text: str) -> Address:
    name, plain = parseaddr(text)
    whole = text.strip() == plain or text.strip().endswith(f"<{plain}>")
    if _CONTROL.search(text) or not _ADDRESS.fullmatch(plain) or not whole:
        raise ToolFailed(f"{text[:120]!r} is no mail address; right would be name@example.org", "invalid_arguments")
    return Address(display_name=name, addr_spec=plain)


def _message_id(key: str) -> str:
    if not key:
        return make_msgid(domain="forethought.invalid")
    return f"<{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}@forethought.invalid>"


def _attach(message: EmailMessage, folder: Folder, paths: list[str]) -> None:
    left = _MAX_ATTACHED
    for path in paths:
        data = folder.read(path, limit=left)
        left -= len(data)
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        if mimetypes.guess_type(path)[1]:  # a .tar.gz is a gzip, whatever is in it
            kind = "application/gzip"
        main, _, sub = kind.partition("/")
        name = shorten(Path(path).name, 200)
        message.add_attachment(data, maintype=main, subtype=sub, filename=_CONTROL.sub("_", name))
