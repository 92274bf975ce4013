"""The address of a mail server, smtp://user:password@host:port, read into its parts."""

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from state.errors import ToolFailed

_EXAMPLE = "smtp://user:password@mail.example.org:587 or smtps://…:465"


@dataclass(frozen=True)
class Server:
    """Where mail is handed in, and as whom."""

    host: str
    port: int
    tls: bool
    user: str
    password: str = field(repr=False)
    sender: str

    @property
    def local(self) -> bool:
        """Whether the server is this machine, where a password crosses no network."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def server(url: str | None) -> Server:
    """Reads the address; the sender is ?from=, else the user if that is an address. No message shows the password."""
    if not url:
        raise ToolFailed(f"no mail server is set; set SMTP_URL, for example to {_EXAMPLE}", "permanent")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ToolFailed(f"SMTP_URL can't be read ({error}); right would be {_EXAMPLE}", "permanent") from error
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ToolFailed(f"SMTP_URL is no address of a mail server; right would be {_EXAMPLE}", "permanent")
    user, tls = unquote(parts.username or ""), parts.scheme == "smtps"
    sender = parse_qs(parts.query).get("from", [""])[0] or (user if "@" in user else "forethought@localhost")
    usual = 465 if tls else 587 if user else 25
    return Server(parts.hostname, port or usual, tls, user, unquote(parts.password or ""), sender)
