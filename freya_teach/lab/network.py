"""The network, shut: what a lesson promises is enforced, not hoped for. (start)

Python tells an audit hook of every connection and name look-up before it is made, in any
library, and a hook that raises prevents it. Loopback and local sockets stay open: the Jupyter
kernel itself needs them. A hook cannot be taken out again, so the door is a flag beside it.

Source: PEP 578; the audit events table of the Python library reference.
"""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

ADDRESS_ARGUMENT = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getnameinfo": 0,
}
NAME_LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
LOCAL_NAMES = {"", "localhost", "ip6-localhost"}


class NetworkShut(ConnectionError):
    """Something tried to leave this machine while the course runs offline."""


class _Door:
    installed = False
    shut = False


def shut_network() -> None:
    """From now on nothing in this process reaches beyond loopback: it raises `NetworkShut`."""
    _Door.shut = True
    if not _Door.installed:
        _Door.installed = True
        sys.addaudithook(_watch)


def open_network() -> None:
    """Let connections out again, for a live lesson."""
    _Door.shut = False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket.") or not _Door.shut:
        return
    if event in NAME_LOOKUPS:
        host = arguments[0]
    elif event in ADDRESS_ARGUMENT:
        address = arguments[ADDRESS_ARGUMENT[event]]
        host = address[0] if isinstance(address, tuple) else None  # a path: a local socket
    else:
        return
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    if not _is_local(name):
        raise NetworkShut(
            f"the course runs offline, and something tried to reach {name!r}. "
            "Set FREYA_LIVE=1 before you start Jupyter to let it."
        )


def _is_local(name: str) -> bool:
    if name.lower() in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False
