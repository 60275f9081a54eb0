"""Which addresses a tool may reach: the public internet and nothing else. (chapter 4.4)

A model fetches what a page or a user tells it to, and this program may stand inside a network
that others cannot enter: routers, databases, the metadata service of a cloud with its keys. So

    name → addresses → each of them checked → connect to *these*

The name alone proves nothing, because whoever owns it decides where it leads. And it is looked
up once only: a second look-up may give another answer ("DNS rebinding").

It does not judge what a public address serves, and does not know what a proxy would do.

Sources: IANA's registries of special-purpose addresses (RFC 6890); RFC 6052 and 3056 for IPv4
inside IPv6.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Sequence

import httpx

from freya_teach.errors import ToolError
from freya_teach.tools.urls import port_of

Endpoint = tuple[str, int]
"""Address and port."""

SPECIAL_USE = {
    ipaddress.ip_network(network): use
    for network, use in {
        "0.0.0.0/8": "this machine",
        "10.0.0.0/8": "a private network",
        "100.64.0.0/10": "the inner network of a provider",
        "127.0.0.0/8": "this machine (loopback)",
        "168.63.129.16/32": "the inner service of a cloud",
        "169.254.0.0/16": "the local link, where a cloud has its metadata service",
        "172.16.0.0/12": "a private network",
        "192.0.0.0/24": "a reserved network",
        "192.0.2.0/24": "examples in documents",
        "192.88.99.0/24": "a reserved network",
        "192.168.0.0/16": "a private network",
        "198.18.0.0/15": "tests of network devices",
        "198.51.100.0/24": "examples in documents",
        "203.0.113.0/24": "examples in documents",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "a reserved network",
        "::/128": "this machine",
        "::1/128": "this machine (loopback)",
        "2001::/23": "a reserved network",
        "2001:db8::/32": "examples in documents",
        "3fff::/20": "examples in documents",
        "fc00::/7": "a private network",
        "fe80::/10": "the local link",
        "ff00::/8": "multicast",
    }.items()
}
IPV4_INSIDE = {
    ipaddress.IPv6Network("::ffff:0:0/96"): 0,
    ipaddress.IPv6Network("64:ff9b::/96"): 0,
    ipaddress.IPv6Network("2002::/16"): 80,
}
"""Where an IPv6 address carries an IPv4 one, and how many bits stand behind it."""
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")


def checked(
    url: httpx.URL, addresses: Sequence[str], allow_private: Collection[Endpoint] = ()
) -> Sequence[str]:
    """The same addresses, if every one of them is public or explicitly allowed.

    One that is not public is enough to refuse the name: no honest site mixes them.
    Raises `ToolError`.
    """
    host = url.raw_host.decode("ascii")
    if not addresses:
        raise ToolError(f"The name {host} has no address. Check the spelling, or use another site.")
    for address in addresses:
        use = special_use(address)
        if use and (address, port_of(url)) not in allow_private:
            where = f"{host} is" if address == host else f"{host} leads to {address}, which is"
            raise ToolError(
                f"{where} an address for {use}. Only the public internet can be fetched. "
                "Do not try other spellings of it: use a public site, or tell the user."
            )
    return addresses


def special_use(address: str) -> str:
    """What an address is set apart for, in words; "" for a public one.

    >>> special_use("::ffff:10.0.0.1")
    'a private network'
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "nothing that is known"
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None:
            return "the local link"
        for network, bits_behind in IPV4_INSIDE.items():
            if ip in network:
                return special_use(str(ipaddress.IPv4Address(int(ip) >> bits_behind & 0xFFFFFFFF)))
    for known, use in SPECIAL_USE.items():
        if ip in known:
            return use
    if not ip.is_global or (ip.version == 6 and ip not in PUBLIC_IPV6):
        return "a reserved network"
    return ""
