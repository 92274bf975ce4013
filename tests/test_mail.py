import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.errors import ToolFailed
from tests.support.mail_server import MailServer
from tools.mail import tools
from tools.mail_letter import addresses
from tools.mail_server import server
from tools.settings import ToolSettings
from tools.tool import ToolEnv

MAIL = {"to": "team@example.org", "subject": "Report", "body": "Here it is."}


async def send(url: str | None, root: Path | str = ".", key: str = "key-1", **changes: Any) -> Any:
    (tool,) = tools(ToolSettings(root=str(root), smtp=url, home="home"))
    return await tool.run({**MAIL, **changes}, ToolEnv(key=key))


async def refused(url: str | None, **changes: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await send(url, **changes)
    assert "\n" not in str(caught.value)
    assert "pa55" not in str(caught.value)
    return caught.value


def content(message: EmailMessage) -> str:
    """The text with its lines as they were before the wire."""
    return str(message.get_content()).replace("\r\n", "\n")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Keeper:
    """Keeps what arrives, with who was logged in and whether it came encrypted."""

    def __init__(self) -> None:
        self.got: list[tuple[bytes | None, bool]] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        login = getattr(session.auth_data, "login", None)
        self.got.append((login, session.ssl is not None))
        return "250 OK"


@contextmanager
def own_server(**options: Any) -> Iterator[tuple[Keeper, int]]:
    keeper = Keeper()
    controller = Controller(keeper, hostname="127.0.0.1", port=free_port(), **options)
    controller.start()
    try:
        yield keeper, controller.port
    finally:
        controller.stop()


def only_pa55(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
    right = isinstance(given, LoginPassword) and given.password == b"pa55/w@rd"
    return AuthResult(success=right, handled=right, auth_data=given)


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's certificate by an authority that this process trusts."""
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


async def test_a_mail_arrives_as_it_was_written(mail_server: MailServer) -> None:
    sent = await send(mail_server.url, subject="Bericht 报告", body="Grüße\n.\n..dots\n你好\n")
    (mail,) = mail_server.messages
    assert mail.recipients == sent["to"] == ["team@example.org"]
    assert mail.message["Subject"] == "Bericht 报告"
    assert mail.message["To"] == "team@example.org"
    assert mail.message["Message-ID"] == sent["message_id"]
    assert content(mail.message) == "Grüße\n.\n..dots\n你好\n"


async def test_a_plain_body_with_dots_arrives_whole(mail_server: MailServer) -> None:
    await send(mail_server.url, body=".\n..\nQUIT\n.")
    assert content(mail_server.messages[0].message) == ".\n..\nQUIT\n.\n"


async def test_several_recipients_each_get_it_once(mail_server: MailServer) -> None:
    await send(mail_server.url, to="a@example.org; Bo B <b@example.org>, a@example.org")
    await send(mail_server.url, to=["a@example.org", "b@example.org"])
    assert [mail.recipients for mail in mail_server.messages] == [["a@example.org", "b@example.org"]] * 2


async def test_the_same_key_gives_the_same_message_id(mail_server: MailServer) -> None:
    ids = [(await send(mail_server.url, key=key))["message_id"] for key in ("one", "one", "two", "", "")]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 4
    assert [str(mail.message["Message-ID"]) for mail in mail_server.messages] == ids


async def test_attachments_come_from_inside_the_root(mail_server: MailServer, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "root" / "a.zip").write_bytes(b"PK\0\xff")
    (tmp_path / "root" / "报告.tar.gz").write_bytes(b"\x1f\x8b")
    await send(mail_server.url, tmp_path / "root", attachments=["a.zip", "报告.tar.gz"])
    await send(mail_server.url, tmp_path / "root", attachments="a.zip")
    parts = [
        (p.get_filename(), p.get_content_type(), p.get_content())
        for p in mail_server.messages[0].message.iter_attachments()
    ]
    assert parts == [("a.zip", "application/zip", b"PK\0\xff"), ("报告.tar.gz", "application/gzip", b"\x1f\x8b")]
    for path, failure in (
        ("../secret.txt", "policy"),
        (str(tmp_path / "secret.txt"), "policy"),
        ("b.zip", "not_found"),
    ):
        assert (await refused(mail_server.url, root=tmp_path / "root", attachments=[path])).failure == failure
    assert len(mail_server.messages) == 2


async def test_attachments_over_20_mb_are_refused(mail_server: MailServer, tmp_path: Path) -> None:
    for name in "ab":
        with open(tmp_path / name, "wb") as file:
            file.truncate(11_000_000)
    assert "MB" in str(await refused(mail_server.url, root=tmp_path, attachments=["a", "b"]))
    assert mail_server.messages == []


@pytest.mark.parametrize("subject", ["Hi\nBcc: all@example.org", "Hi\r", "Hi\0", "Hi\u2028x", "Hi\ud800"])
async def test_a_subject_can_not_smuggle_a_header(mail_server: MailServer, subject: str) -> None:
    assert "control character" in str(await refused(mail_server.url, subject=subject))
    assert mail_server.messages == []


@pytest.mark.parametrize(
    "to",
    [
        "",
        [],
        "team",
        "a@b@c",
        "a b@example.org",
        "a@example.org\nBcc: all@example.org",
        "<>",
        "a@example.org> SIZE=1",
        "名@例.cn",
    ],
)
async def test_what_is_no_address_is_refused(mail_server: MailServer, to: Any) -> None:
    error = await refused(mail_server.url, to=to)
    assert error.failure == "invalid_arguments"
    assert "name@example.org" in str(error)
    assert mail_server.messages == []


@given(to=st.text(max_size=40) | st.text("ab@.,;<>\" \r\n\t:'", max_size=25))
def test_any_text_gives_clean_addresses_or_one_line(to: str) -> None:
    try:
        found = addresses(to)
    except ToolFailed as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert all(address.addr_spec.isascii() and address.addr_spec.count("@") == 1 for address in found)
        assert not any(set(str(address)) & set("\r\n\0") for address in found)


@given(subject=st.text(max_size=80), body=st.text(max_size=80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
async def test_any_subject_and_body_arrive_or_are_refused(mail_server: MailServer, subject: str, body: str) -> None:
    before = len(mail_server.messages)
    try:
        await send(mail_server.url, subject=subject, body=body)
    except ToolFailed as error:
        assert error.failure == "invalid_arguments"
        assert len(mail_server.messages) == before
    else:
        message = mail_server.messages[-1].message
        own = {"From", "To", "Subject", "Date", "Message-ID", "MIME-Version"}
        assert set(message.keys()) == own | {"Content-Type", "Content-Transfer-Encoding"}
        assert str(message["Subject"]).split() == subject.split()


@pytest.mark.parametrize("url", [None, ""])
async def test_without_a_server_it_names_the_setting(url: str | None) -> None:
    error = await refused(url)
    assert "SMTP_URL" in str(error)
    assert error.failure == "permanent"


@pytest.mark.parametrize(
    "url", ["mail.example.org", "http://u:pa55@host", "smtp://", "smtp://u:pa55@host:port", "smtp://[u:pa55"]
)
async def test_an_address_of_a_server_that_can_not_be_read_is_refused_without_its_password(url: str) -> None:
    assert "SMTP_URL" in str(await refused(url))


def test_the_parts_of_the_address_are_decoded_and_have_usual_ports() -> None:
    full = server("smtps://me%40example.org:p%2Fw%40@mail.example.org:2465")
    assert (full.host, full.port, full.tls) == ("mail.example.org", 2465, True)
    assert (full.user, full.password, full.sender) == ("me@example.org", "p/w@", "me@example.org")
    assert "p/w@" not in repr(full)
    assert [server(url).port for url in ("smtps://h", "smtp://u:p@h", "smtp://h")] == [465, 587, 25]
    assert server("smtp://u:p@h?from=bot@example.org").sender == "bot@example.org"
    assert server("smtp://h").sender == "forethought@localhost"


async def test_a_server_that_is_not_there_may_come_back_and_nothing_happened() -> None:
    error = await refused(f"smtp://127.0.0.1:{free_port()}")
    assert (error.failure, error.nothing_happened) == ("transient", True)


async def test_a_host_without_an_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*args: Any, **named: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    error = await refused("smtp://mail.invalid")
    assert "no host of that name" in str(error)
    assert (error.failure, error.nothing_happened) == ("transient", True)


@pytest.mark.parametrize("at", ["mail", "rcpt", "data"])
async def test_a_refusal_for_good_is_permanent_and_one_for_now_transient(mail_server: MailServer, at: Any) -> None:
    mail_server.refuse(at=at)
    mail_server.defer(at=at)
    errors = [await refused(mail_server.url) for _ in range(2)]
    assert [(e.failure, e.nothing_happened) for e in errors] == [("permanent", True), ("transient", True)]
    assert "550" in str(errors[0])
    assert mail_server.messages == []
    await send(mail_server.url)
    assert len(mail_server.messages) == 1


async def test_one_refused_recipient_means_that_nobody_gets_it(mail_server: MailServer) -> None:
    mail_server.refuse(at="rcpt", answer="550 5.1.1 no such user")
    error = await refused(mail_server.url, to=["wrong@example.org", "right@example.org"])
    assert "wrong@example.org" in str(error)
    assert mail_server.messages == []


@pytest.mark.parametrize("delivered", [True, False])
async def test_a_connection_lost_after_the_text_leaves_open_whether_it_was_sent(
    mail_server: MailServer, delivered: bool
) -> None:
    mail_server.drop(delivered=delivered)
    error = await refused(mail_server.url)
    assert (error.failure, error.nothing_happened) == ("unknown_outcome", False)
    assert len(mail_server.messages) == delivered


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
async def test_it_logs_in_with_the_user_of_the_address() -> None:
    with own_server(authenticator=only_pa55, auth_required=True, auth_require_tls=False) as (keeper, port):
        await send(f"smtp://me:pa55%2Fw%40rd@127.0.0.1:{port}")
        wrong = await refused(f"smtp://me:wrong@127.0.0.1:{port}")
        without = await refused(f"smtp://127.0.0.1:{port}")
    assert keeper.got == [(b"me", False)]
    assert [(e.failure, e.nothing_happened) for e in (wrong, without)] == [("auth", True)] * 2


async def test_a_server_that_knows_no_login_is_an_auth_failure(mail_server: MailServer) -> None:
    error = await refused(mail_server.url.replace("//", "//me:pa55@"))
    assert error.failure == "auth"


async def test_it_encrypts_where_the_server_offers_it(certificate: ssl.SSLContext) -> None:
    options = {"tls_context": certificate, "require_starttls": True, "authenticator": only_pa55}
    with own_server(**options) as (keeper, port):
        await send(f"smtp://me:pa55%2Fw%40rd@127.0.0.1:{port}")
    assert keeper.got == [(b"me", True)]


async def test_smtps_is_encrypted_from_the_start(certificate: ssl.SSLContext) -> None:
    with own_server(ssl_context=certificate) as (keeper, port):
        await send(f"smtps://127.0.0.1:{port}")
    assert len(keeper.got) == 1


async def test_a_certificate_that_nobody_trusts_is_refused(
    certificate: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with own_server(tls_context=certificate) as (keeper, port):
        error = await refused(f"smtp://me:pa55@127.0.0.1:{port}")
    assert error.failure == "permanent"
    assert keeper.got == []


async def test_a_password_does_not_cross_a_network_in_clear(
    mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.mail_server.Server.local", False)
    error = await refused(mail_server.url.replace("//", "//me:pa55@"))
    assert "no encryption" in str(error)
    assert mail_server.messages == []


def test_planners_see_a_write_without_its_surroundings() -> None:
    (tool,) = tools(ToolSettings())
    assert tool.effect == "write"
    assert set(tool.args_schema["properties"]) == {"to", "subject", "body", "attachments"}
    assert tool.args_schema["required"] == ["to", "subject", "body"]
