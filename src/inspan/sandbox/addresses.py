"""Which addresses a granted name may lead to: those of the public internet, unless the user said otherwise.

A table of our own, after IANA's registries of special-purpose addresses: the standard library's answer differs between
its versions, and says nothing about an address that carries another one. A name's owner chooses its addresses; without
this a granted name could lead to the host itself, its neighbours, or the place where a cloud hands out credentials.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from inspan.spec.egress import Address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


_NEVER = _networks(
    "0.0.0.0/8",  # this host
    "169.254.0.0/16",  # link-local: where clouds keep their metadata
    "168.63.129.16/32",  # the same of one cloud, under a public address
    "192.0.0.192/32",  # and of another
    "100.100.100.200/32",  # and another
    "224.0.0.0/4",  # multicast
    "255.255.255.255/32",
    "::/128",
    "2001::/32",  # Teredo and 6to4: they carry another address, and nobody is reached by them any more
    "2002::/16",
    "fe80::/10",
    "fd00:ec2::/32",  # metadata again
    "ff00::/8",
)
"""Refused whatever the user's configuration says of the name."""

_SPECIAL = _networks(
    "10.0.0.0/8",
    "100.64.0.0/10",  # carriers' own
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",  # relays of 6to4
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4",
    "2001::/23",  # protocols' own
    "2001:db8::/32",
    "3fff::/20",
)
"""Not global; allowed where a destination is private on purpose."""

_UNICAST = ipaddress.ip_network("2000::/3")  # all of IPv6 that is global
_CARRIERS = (ipaddress.ip_network("::ffff:0:0/96"), ipaddress.ip_network("64:ff9b::/96"))
"""IPv6 networks whose addresses stand for the IPv4 address in their last 32 bits."""


def refused(address: Address, *, private: bool = False) -> bool:
    """Whether no connection may be made to ``address``.

    Args:
        private: the user's own configuration says that the destination is private on purpose. Link-local addresses,
            where machines find their credentials, multicast and "this host" are refused all the same.
    """
    address = _meant(address)
    if any(address in network for network in _NEVER):
        return True
    if private:
        return False
    if any(address in network for network in _SPECIAL):
        return True
    return address.version == 6 and address not in _UNICAST


def first_refused(addresses: Iterable[Address], *, private: bool = False) -> Address | None:
    """The first address that may not be reached; one is enough to refuse the name."""
    return next((address for address in addresses if refused(address, private=private)), None)


def _meant(address: Address) -> Address:
    """The IPv4 address an IPv6 one stands for."""
    if isinstance(address, ipaddress.IPv6Address) and any(address in network for network in _CARRIERS):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
