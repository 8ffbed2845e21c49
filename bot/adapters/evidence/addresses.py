"""Which addresses a source of evidence may have, decided from the address alone: nothing is asked."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
# Cloud machines keep credentials under these; whatever else is link-local has no evidence either.
_METADATA = tuple(
    ipaddress.ip_network(net)
    for net in ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "100.100.100.200/32", "168.63.129.16/32", "0.0.0.0/32")
)  # fmt: skip
# Not of the internet either: what a provider shares among its customers, and private networks like Tailscale's use.
_SHARED = ipaddress.ip_network("100.64.0.0/10")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "metadata", "instance-data"})


def resolve_literal(address: str) -> IpAddress | None:
    """Return the address that a literal means, unwrapping an IPv4 address inside an IPv6 one; None for a name."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv4Address):
        return found
    inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF) if found in _NAT64 else None
    return inner or found.ipv4_mapped or found.sixtofour or found


def find_refusal(address: IpAddress, *, private_only: bool) -> str | None:
    """Return why an address must not be asked, None if it may be. `private_only`: a key would go there unencrypted."""
    if any(address.version == net.version and address in net for net in _METADATA):
        return f"{address} is an address of the machine's own metadata, which is never asked"
    is_shared = address.version == 4 and address in _SHARED
    if private_only and not (address.is_private or address.is_loopback or is_shared):
        return "its key would go unencrypted over the internet: use https"
    return None


def find_server_problem(url: str, *, has_key: bool) -> str | None:
    """Return what is wrong with a configured address, as far as that shows without asking anybody."""
    try:
        parts = urlsplit(url)
        port_ok = parts.port is None or parts.port > 0
    except ValueError:
        return "is no address"
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_ok:
        return "is no address such as https://host:port"
    if parts.username is not None or parts.password is not None:
        return "holds a user or password: put the key into the environment, and name it with token_env"
    if parts.query or parts.fragment:
        return "must end with its path: no ? and no #"
    if parts.hostname.casefold().rstrip(".") in _METADATA_NAMES:
        return "is the machine's own metadata, which is never asked"
    literal = resolve_literal(parts.hostname)
    return find_refusal(literal, private_only=has_key and parts.scheme == "http") if literal else None
