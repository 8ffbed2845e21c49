"""The configuration file that PRECEDENT_CONFIG names: the organisation's own vendors and services, and the sources of
evidence (`sources_config`). Must not decide anything.

A TOML file:

    [vendors.acmepay]                   # a third party of your own, or more names of one that is known
    aliases = ["Acme Pay", "APay"]      # what posts call it
    hosts = ["acmepay.example"]         # whose errors are its errors (with all subdomains)

    [services.checkout-api]             # one of your services
    aliases = ["Checkout", "checkout-svc"]

Whatever is wrong in it is told with the file, the key and the reason; nothing of a wrong file is used.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import StringConstraints, ValidationError

from bot.bootstrap.config.metrics import MetricsConfiguration, ServiceMetrics
from bot.bootstrap.config.sources import ServiceSources, SourcesConfiguration, VendorSources, format_key
from bot.domain.catalog.vendor_table import Vendor
from bot.domain.catalog.vendors import STANDARD, Directory, Service, build_vendor_directory, fold_name
from bot.ports.errors import ConfigurationRejected

EntryName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=2, max_length=80, pattern=r"^[^\x00-\x1f]*$")
]
HostName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, to_lower=True, max_length=253, pattern=r"^([A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}$"
    ),
]
_REASONS = {
    "extra_forbidden": "is not known here; docs/evidence.md and docs/evidence-sources.md list every key",
    "string_pattern_mismatch": "is not a plain host name such as acmepay.example (no https://, no path)",
    "string_type": "must be a text in quotes",
    "tuple_type": 'must be a list such as ["one", "two"]',
    "string_too_short": "is too short: a name has at least two characters",
}


class VendorEntry(VendorSources):
    """`[vendors.<name>]`."""

    aliases: tuple[EntryName, ...] = ()
    hosts: tuple[HostName, ...] = ()


class ServiceEntry(ServiceSources, ServiceMetrics):
    """`[services.<name>]`."""

    aliases: tuple[EntryName, ...] = ()


class Configuration(SourcesConfiguration, MetricsConfiguration):
    """The whole configuration file."""

    vendors: Mapping[EntryName, VendorEntry] = {}
    services: Mapping[EntryName, ServiceEntry] = {}


def read_configuration(path: Path) -> Configuration:
    """Read the configuration file. Raises ConfigurationRejected with the file, the key and the reason."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise ConfigurationRejected(f"{path}: cannot be read: {problem.strerror}.") from problem
    except UnicodeDecodeError as problem:
        raise ConfigurationRejected(f"{path}: is not UTF-8 text (byte {problem.start}).") from problem
    except tomllib.TOMLDecodeError as problem:
        raise ConfigurationRejected(f"{path}: is not TOML: {problem}.") from problem
    try:
        found = Configuration.model_validate(said)
    except ValidationError as bad:
        raise ConfigurationRejected(
            f"{path}: {'; '.join(_format_error(error) for error in bad.errors()[:5])}."
        ) from bad
    _reject_duplicates(path, "services", {name: entry.aliases for name, entry in found.services.items()})
    _reject_duplicates(path, "vendors", {name: (*e.aliases, *e.hosts) for name, e in found.vendors.items()})
    return found


def read_optional_configuration(path: Path | None) -> Configuration:
    """Read the configuration file; without one, return an empty configuration. Raises ConfigurationRejected."""
    return read_configuration(path) if path else Configuration()


def _format_error(error: Any) -> str:
    key, said = format_key(error["loc"]), _REASONS.get(error["type"], error["msg"]).removeprefix("Value error, ")
    return f"{key}: {said}" if key else said


def _reject_duplicates(path: Path, table: str, claims: Mapping[str, Iterable[str]]) -> None:
    """Reject a name that two entries claim: it would silently belong to the last one."""
    owners: dict[str, str] = {}
    for name, aliases in claims.items():
        for alias in (name, *aliases):
            owner = owners.setdefault(fold_name(alias), name)
            if owner != name:
                raise ConfigurationRejected(f"{path}: {table}.{name}: “{alias}” is claimed by {table}.{owner}, too.")


def read_directory(path: Path | None) -> Directory:
    """Return the maintained table of vendors with the names of the configuration file. Raises ConfigurationRejected."""
    return build_directory(read_optional_configuration(path))


def build_directory(found: Configuration) -> Directory:
    """Return the maintained table of vendors with the names of this configuration."""
    if not found.vendors and not found.services:
        return STANDARD
    vendors = (
        Vendor(name.casefold(), "", _list_vendor_aliases(name, e.aliases), e.hosts) for name, e in found.vendors.items()
    )
    return build_vendor_directory(vendors, (Service(name, entry.aliases) for name, entry in found.services.items()))


def _list_vendor_aliases(name: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """Return the aliases of a vendor, with its own name first: running text uses that one, too."""
    return tuple(dict.fromkeys((name, *aliases)))
