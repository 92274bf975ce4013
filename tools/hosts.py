"""Where a page may be fetched from: addresses of the public internet, and private hosts that a setting names.

A name is looked up once and the connection goes to an address from that answer, so a name that changes its answer in
between (DNS rebinding) gains nothing. Leaves out: names that only a proxy can look up.
"""

import socket
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

import httpx
from anyio import to_thread

from state.errors import ToolFailed, shorten

_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = [ip_network(net) for net in ("192.0.0.0/24", "168.63.129.16", "2001::/23", "3fff::/20", "5f00::/16")]
"""What ipaddress takes for public in some Pythons: special ranges of IANA; and where Azure keeps its metadata."""
_PORTS = {"http": 80, "https": 443}


async def addresses(url: httpx.URL, private_hosts: tuple[str, ...]) -> list[str]:
    """The addresses that the URL may be fetched from; raises `ToolFailed` for one that may not be fetched."""
    port = url.port if url.port is not None else _PORTS.get(url.scheme, 0)
    _check_form(url, port)
    found = await _looked_up(url.raw_host.decode("ascii"), port)
    inside = [address for address in found if not public(address)]
    if inside and not _named(url.host, port, private_hosts):
        raise ToolFailed(
            f"{url.host} is at {inside[0]}, an address that is not on the public internet, and is not fetched; a"
            f" person may allow it: --set private_hosts={url.host}, in Python private_hosts=[{url.host!r}]",
            "policy",
        )
    return found


def public(address: str) -> bool:
    """Whether an address belongs to the public internet; one that wraps another is judged by the inner one."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        inner = IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip.ipv4_mapped or ip.sixtofour
        if inner is not None:
            return public(str(inner))
        if ip.is_site_local:
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or any(ip in net for net in _NOT_PUBLIC))


def _check_form(url: httpx.URL, port: int) -> None:
    if url.scheme not in _PORTS or not url.host:
        wrong = f"url {shorten(str(url))!r} can't be fetched; right would be for example: https://example.org/page"
        raise ToolFailed(wrong, "invalid_arguments")
    if url.userinfo:
        raise ToolFailed(f"url of {url.host} holds a user or a password; leave it out", "invalid_arguments")
    if not 0 < port < 65536:
        raise ToolFailed(f"url of {url.host} has the port {port}; right would be 1 to 65535", "invalid_arguments")


async def _looked_up(host: str, port: int) -> list[str]:
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        found = await to_thread.run_sync(look_up, abandon_on_cancel=True)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_AGAIN, socket.EAI_FAIL):
            message = f"{host} could not be looked up: {error.strerror}; the network may be down"
            raise ToolFailed(message, "transient") from error
        raise ToolFailed(f"there is no host {host!r}; check the address and the network", "not_found") from error
    except ValueError as error:
        raise ToolFailed(
            f"{shorten(host)!r} is no name of a host: {shorten(str(error))}", "invalid_arguments"
        ) from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _named(host: str, port: int, private_hosts: tuple[str, ...]) -> bool:
    name = host.lower().rstrip(".")
    bare = f"[{name}]" if ":" in name else name
    return not {name, bare, f"{bare}:{port}"}.isdisjoint(allowed.strip().lower() for allowed in private_hosts)
