"""Every address behind a name is public, or nothing is fetched."""

import ipaddress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import ToolError
from freya_teach.tools.addresses import checked, special_use
from freya_teach.tools.urls import address_of, parse_url

REFUSED_ADDRESSES = {
    # this machine
    "0.0.0.0": "this machine",  # noqa: S104 - the point
    "0.1.2.3": "this machine",
    "127.0.0.1": "loopback",
    "127.1.2.3": "loopback",
    "127.255.255.255": "loopback",
    "::": "this machine",
    "::1": "loopback",
    # networks behind a router
    "10.0.0.0": "private",
    "10.255.255.255": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.0.1": "private",
    "fc00::1": "private",
    "fd12:3456:789a::1": "private",
    "fec0::1": "reserved",
    "100.64.0.1": "provider",
    "100.127.255.255": "provider",
    # the services of clouds
    "169.254.169.254": "metadata",
    "169.254.170.2": "metadata",
    "fd00:ec2::254": "private",
    "100.100.100.200": "provider",
    "168.63.129.16": "cloud",
    "192.0.0.192": "reserved",
    # the local link
    "169.254.0.1": "local link",
    "fe80::1": "local link",
    "fe80::1%eth0": "local link",
    "2606:4700:4700::1111%eth0": "local link",
    "febf::1": "local link",
    # to many at once
    "224.0.0.1": "multicast",
    "239.255.255.250": "multicast",
    "255.255.255.255": "reserved",
    "ff02::1": "multicast",
    "ff0e::1": "multicast",
    # examples, tests, reserved
    "192.0.2.1": "examples",
    "198.51.100.7": "examples",
    "203.0.113.9": "examples",
    "198.18.0.1": "tests",
    "240.0.0.1": "reserved",
    "192.88.99.1": "reserved",
    "2001:db8::1": "examples",
    "3fff::1": "examples",
    "2001::1": "reserved",  # Teredo
    "100::1": "reserved",
    "5f00::1": "reserved",
    "4000::1": "reserved",
    # IPv4 inside IPv6
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.0.0.1": "private",
    "::ffff:a9fe:a9fe": "metadata",
    "64:ff9b::127.0.0.1": "loopback",
    "64:ff9b::169.254.169.254": "metadata",
    "64:ff9b:1::10.0.0.1": "reserved",
    "2002:7f00:1::": "loopback",
    "2002:a9fe:a9fe::1": "metadata",
    "2002:c0a8:101::1": "private",
    "::127.0.0.1": "reserved",
    "::ffff:0:127.0.0.1": "reserved",
    # no addresses at all
    "": "nothing",
    "example.com": "nothing",
    "0x7f.1": "nothing",
    "127.1": "nothing",
    "2130706433": "nothing",
    "0177.0.0.1": "nothing",
}
PUBLIC_ADDRESSES = [
    "1.1.1.1",
    "93.184.216.34",
    "172.15.255.255",
    "172.32.0.1",
    "100.128.0.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "::ffff:1.1.1.1",
    "64:ff9b::101:101",
    "2002:101:101::1",
]


@pytest.mark.parametrize(("address", "use"), REFUSED_ADDRESSES.items())
def test_an_address_that_is_not_public_is_told_by_its_use(address: str, use: str) -> None:
    assert use in special_use(address)
    url = httpx.URL("http://docs.example.com/")
    with pytest.raises(ToolError, match="Only the public internet"):
        checked(url, [address])


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_a_public_address_passes(address: str) -> None:
    assert special_use(address) == ""
    assert checked(httpx.URL("http://docs.example.com/"), [address]) == [address]


@given(st.ip_addresses())
def test_nothing_that_python_calls_private_is_called_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    embedded = ("64:ff9b::/96", "2002::/16", "::ffff:0:0/96")
    inside = any(address in ipaddress.ip_network(network) for network in embedded)
    if not inside and (not address.is_global or address.is_multicast or address.is_reserved):
        assert special_use(str(address))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_inside_ipv6(address: ipaddress.IPv4Address) -> None:
    plain = special_use(str(address))
    assert special_use(f"::ffff:{address}") == plain
    assert special_use(f"64:ff9b::{address}") == plain
    assert special_use(str(ipaddress.IPv6Address((0x2002 << 112) | (int(address) << 80)))) == plain


REFUSED_ONCE_READ = [
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127。0。0。1/",
    "http://0.0.0.0:8000/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:0:0:1]:8080/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "https://[64:ff9b::a9fe:a9fe]/",
]


@pytest.mark.parametrize("text", REFUSED_ONCE_READ)
def test_an_address_in_the_url_is_checked_without_a_look_up(text: str) -> None:
    url = parse_url(text)
    address = address_of(url)
    assert address is not None
    with pytest.raises(ToolError, match="Only the public internet"):
        checked(url, [address])


def test_one_private_address_among_public_ones_is_enough() -> None:
    url = httpx.URL("http://docs.example.com/")
    with pytest.raises(ToolError, match=r"docs\.example\.com leads to 10\.0\.0\.1, which is an"):
        checked(url, ["93.184.216.34", "10.0.0.1"])


def test_a_name_without_an_address_is_refused() -> None:
    with pytest.raises(ToolError, match="has no address"):
        checked(httpx.URL("http://docs.example.com/"), [])


def test_an_allowed_address_is_allowed_on_its_port_only() -> None:
    allowed = {("127.0.0.1", 8001)}
    url = httpx.URL("http://docs.example.com:8001/")
    assert checked(url, ["127.0.0.1"], allowed) == ["127.0.0.1"]
    for port, address in ((8002, "127.0.0.1"), (8001, "127.0.0.2")):
        with pytest.raises(ToolError, match="Only the public internet"):
            checked(url.copy_with(port=port), [address], allowed)
