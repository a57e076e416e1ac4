"""Which addresses a granted name may lead to."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspan.sandbox.addresses import first_refused, refused

GLOBAL = ("1.1.1.1", "8.8.8.8", "192.0.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1",
          "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2001:200::1")  # fmt: skip

PRIVATE = (
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "127.0.0.1", "127.255.0.1",
    "100.64.0.1", "100.127.255.254", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.80",
    "240.0.0.1", "192.88.99.1", "::1", "fc00::1", "fd12:3456::1", "2001:db8::1", "3fff::1", "100::1", "64:ff9b:1::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::192.168.0.1", "::127.0.0.1",
    "fec0::1", "5f00::1", "2001:20::1", "4000::1",
)  # fmt: skip

NEVER = (
    "0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "168.63.129.16", "192.0.0.192", "100.100.100.200",
    "224.0.0.1", "239.1.2.3", "255.255.255.255", "::", "fe80::1", "fe80::1%1", "fd00:ec2::254", "ff02::1",
    "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "2002:101:101::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
)  # fmt: skip


@pytest.mark.parametrize("text", GLOBAL)
def test_the_public_internet_is_reached(text: str) -> None:
    assert not refused(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PRIVATE)
def test_a_private_address_needs_the_users_word(text: str) -> None:
    assert refused(ipaddress.ip_address(text))
    assert not refused(ipaddress.ip_address(text), private=True)


@pytest.mark.parametrize("text", NEVER)
def test_where_credentials_are_handed_out_is_never_reached(text: str) -> None:
    assert refused(ipaddress.ip_address(text))
    assert refused(ipaddress.ip_address(text), private=True)


def test_one_bad_answer_refuses_all() -> None:
    good, bad = ipaddress.ip_address("1.1.1.1"), ipaddress.ip_address("10.0.0.1")
    assert first_refused([good]) is None
    assert first_refused([good, bad]) == bad
    assert first_refused([good, bad], private=True) is None


addresses = st.one_of(
    st.ip_addresses(v=4),
    st.ip_addresses(v=6),
    st.ip_addresses(v=4).map(lambda v4: ipaddress.ip_address(f"::ffff:{v4}")),
    st.ip_addresses(v=4).map(lambda v4: ipaddress.IPv6Address((0x64FF9B << 96) | int(v4))),
)


@given(addresses)
def test_what_is_reached_is_global_for_the_standard_library_too(address: ipaddress.IPv4Address) -> None:
    """The library says too much in some versions and never calls a global address private in any."""
    meant = address
    if address.version == 6 and (address.ipv4_mapped or int(address) >> 96 in (0x64FF9B,)):
        meant = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if not refused(address):
        assert meant.is_global and not meant.is_multicast and not meant.is_link_local and not meant.is_loopback
