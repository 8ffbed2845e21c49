"""Find third parties in texts and addresses, and the configured names of the organization's services.

A `Directory` holds the maintained table and the operator's additions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from bot.domain.catalog.vendor_table import VENDORS, Vendor

# Where a text merely mentions these, they are the place something runs or a tool of the team, seldom what fails.
_ONLY_WHEN_NAMED = frozenset({"cloud", "work"})
_HOST = re.compile(r"(?<![\w@.-])(?:https?://)?((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,12})(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Service:
    """One of the organization's own services: its name, and what posts call it as well."""

    name: str
    aliases: tuple[str, ...] = ()


def fold_name(name: str) -> str:
    """Return a name without case, with one space for any run of spaces, dashes and underscores."""
    return " ".join(re.split(r"[\s_-]+", name.casefold().strip()))


@lru_cache(maxsize=256)
def _compile_names(names: frozenset[str]) -> re.Pattern[str]:
    """Compile one pattern for some names: they may start a CamelCase word (RazorpayTimeoutError), not sit inside one."""
    longest_first = sorted(map(re.escape, names), key=lambda form: (-len(form), form))
    return re.compile(r"(?<![A-Za-z0-9@/.-])(?i:" + "|".join(longest_first) + r")(?![a-z0-9])")


def _find_first(names: Iterable[str], text: str) -> re.Match[str] | None:
    """Find the first mention of any of these names. Only names whose letters are in the text are tried, for speed."""
    shown = text.casefold()
    there = frozenset(name for name in names if name and name.casefold() in shown)
    return _compile_names(there).search(text) if there else None


@dataclass(frozen=True, slots=True)
class Directory:
    """Names and where they lead; built by `build_vendor_directory`."""

    vendors: tuple[Vendor, ...]
    services: tuple[Service, ...] = ()
    by_name: Mapping[str, Vendor] = field(default_factory=dict)
    by_host: Mapping[str, Vendor] = field(default_factory=dict)
    by_service: Mapping[str, str] = field(default_factory=dict)
    in_text: tuple[str, ...] = ()  # vendors' aliases that may occur in any text
    anywhere: tuple[str, ...] = ()  # all of the vendors' aliases
    service_names: tuple[str, ...] = ()


def _merge_vendors(more: Iterable[Vendor]) -> tuple[Vendor, ...]:
    """Return the table with additions; an addition to a listed vendor extends its aliases and hosts."""
    known = {vendor.name: vendor for vendor in VENDORS}
    for vendor in more:
        old = known.pop(vendor.name, None)
        if old:
            vendor = Vendor(
                old.name,
                vendor.category or old.category,
                tuple(dict.fromkeys((*old.aliases, *vendor.aliases))),
                tuple(dict.fromkeys((*old.hosts, *vendor.hosts))),
                old.words,
            )
        known[vendor.name] = vendor
    return tuple(known.values())


def build_vendor_directory(vendors: Iterable[Vendor] = (), services: Iterable[Service] = ()) -> Directory:
    """Build the maintained table with these vendors and services added; the later claim to a name wins."""
    whole, ours = _merge_vendors(vendors), tuple(services)
    return Directory(
        whole,
        ours,
        {alias.casefold(): v for v in whole for alias in (v.name, *v.aliases, *v.words)},
        {host.casefold(): v for v in whole for host in v.hosts},
        {fold_name(alias): service.name for service in ours for alias in (service.name, *service.aliases)},
        tuple(a for v in whole if v.category not in _ONLY_WHEN_NAMED for a in v.aliases),
        tuple(a for v in whole for a in v.aliases),
        tuple(a for service in ours for a in (service.name, *service.aliases) if len(a) >= 3),
    )


STANDARD = build_vendor_directory()


def resolve_vendor(name: str, names: Directory = STANDARD) -> str:
    """Return the directory's name for a vendor in a label; an unlisted vendor keeps its own name, folded."""
    spaced = " ".join(name.casefold().split())
    found = names.by_name.get(spaced) or names.by_name.get(fold_name(name))
    return found.name if found else spaced


def find_host_vendor(host: str, names: Directory = STANDARD) -> str | None:
    """Return the vendor that owns a host, by suffix; None for an unlisted host."""
    labels = host.casefold().rstrip(".").split(".")
    tails = (".".join(labels[i:]) for i in range(len(labels) - 1))
    return next((names.by_host[tail].name for tail in tails if tail in names.by_host), None)


def find_category(name: str, names: Directory = STANDARD) -> str | None:
    """Return the category of a vendor ("payments", "cloud", ...); None if it is not listed."""
    found = names.by_name.get(name.casefold())
    return found.category if found else None


def find_vendor(
    text: str, known: frozenset[str] = frozenset(), *, anywhere: bool = False, names: Directory = STANDARD
) -> str | None:
    """Return the first vendor that the text names; `known` adds names from the records.

    Cloud and work tools count only with `anywhere` (the text is about a vendor, as on a status page).
    """
    aliases = names.anywhere if anywhere else names.in_text
    matches = [m for m in (_find_first(aliases, text), _find_first(known, text)) if m]
    first = min(matches, key=lambda m: m.start(), default=None)
    return resolve_vendor(first[0], names) if first else None


def find_vendor_in_hosts(text: str, *, anywhere: bool = False, names: Directory = STANDARD) -> str | None:
    """Return the vendor whose host an error text contains ("POST https://api.stripe.com/... 503")."""
    for match in _HOST.finditer(text):
        name = find_host_vendor(match[1], names)
        if name and (anywhere or find_category(name, names) not in _ONLY_WHEN_NAMED):
            return name
    return None


def resolve_service(name: str, names: Directory = STANDARD) -> str:
    """Return the configured name of a service; one that is not configured keeps its own name."""
    return names.by_service.get(fold_name(name), name)


def find_service(text: str, names: Directory = STANDARD) -> str | None:
    """Return the first configured service that the text names."""
    match = _find_first(names.service_names, text)
    return resolve_service(match[0], names) if match else None
