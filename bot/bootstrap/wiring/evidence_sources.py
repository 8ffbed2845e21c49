"""Build the sources of logs, deploys and status pages that the configuration names. None of them is asked here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.adapters.evidence.addresses import find_server_problem
from bot.adapters.evidence.deploys_argocd import ArgoDeploys
from bot.adapters.evidence.deploys_github import HEADERS as GITHUB_HEADERS
from bot.adapters.evidence.deploys_github import GithubDeploys
from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.logs_files import FileLogs
from bot.adapters.evidence.logs_journald import JournaldLogs
from bot.adapters.evidence.logs_loki import ERRORS, LokiLogs
from bot.adapters.evidence.selectors import ByService, LabelValues, Selectors
from bot.adapters.evidence.vendor_status import VendorStatus
from bot.bootstrap.config.file import Configuration, ServiceEntry
from bot.bootstrap.config.sources import ArgoEntry, FilesEntry, GithubEntry, JournaldEntry, LokiEntry
from bot.domain.catalog.vendors import fold_name
from bot.ports.errors import ConfigurationRejected
from bot.ports.evidence import EvidenceProvider
from bot.settings import read_secret

Secret = Callable[[str], str | None]


def build_source_providers(configuration: Configuration, secret: Secret = read_secret) -> tuple[EvidenceProvider, ...]:
    """Build one provider for each source of logs and deploys, and one for all status pages. Raises ConfigurationRejected
    if a key is missing or would go unencrypted over the internet."""
    tables = (("logs", configuration.logs), ("deploys", configuration.deploys))
    sources = (
        _BUILDERS[entry.kind](_Source(table, name, configuration, secret), entry)
        for table, entries in tables
        for name, entry in entries.items()
    )
    return (*sources, *_build_status_pages(configuration))


@dataclass(frozen=True, slots=True)
class _Source:
    """One source of the file, with what its builder may need: the services' part of it, and its key."""

    table: str
    name: str
    configuration: Configuration
    secret: Secret

    def build_server(self, entry: LokiEntry | JournaldEntry | GithubEntry | ArgoEntry, **headers: str) -> HttpSource:
        """Build the server of an entry with its key. Raises ConfigurationRejected."""
        where, key = f"{self.table}.{self.name}", None
        if entry.token_env:
            try:
                key = self.secret(entry.token_env)
            except OSError as problem:
                raise ConfigurationRejected(
                    f"{where}.token_env: {entry.token_env}_FILE: {problem.strerror}."
                ) from problem
            if not key:
                raise ConfigurationRejected(f"{where}.token_env: {entry.token_env} is not set where the bot runs.")
        if problem_of_address := find_server_problem(entry.url, has_key=bool(key)):
            raise ConfigurationRejected(f"{where}.url: {entry.url} {problem_of_address}.")
        return HttpSource(entry.url, key, headers=headers, timeout_s=entry.timeout_s)

    def aliases(self) -> Iterator[tuple[str, ServiceEntry]]:
        """Yield every name that an alert may call a service by, case-folded, with the service's entry."""
        for name, entry in self.configuration.services.items():
            for alias in (name, *entry.aliases):
                yield fold_name(alias), entry

    def build_selectors(self, default: LabelValues) -> Selectors:
        """Return the labels of each service in this source; `default` for those that list none."""
        given = ((alias, service.logs.get(self.name)) for alias, service in self.aliases())
        return Selectors({alias: labels for alias, labels in given if isinstance(labels, dict)}, default)

    def build_patterns(self) -> dict[str, tuple[str, ...]]:
        """Return the file patterns of each service in this source."""
        given = ((alias, service.logs.get(self.name)) for alias, service in self.aliases())
        return {alias: patterns for alias, patterns in given if isinstance(patterns, tuple)}


def _build_loki(source: _Source, entry: LokiEntry) -> EvidenceProvider:
    headers = {"X-Scope-OrgID": entry.tenant} if entry.tenant else {}
    line_filter = ERRORS if entry.filter is None else entry.filter
    return LokiLogs(
        source.name, source.build_server(entry, **headers), source.build_selectors(entry.selector), line_filter
    )


def _build_journald(source: _Source, entry: JournaldEntry) -> EvidenceProvider:
    priorities = tuple(str(number) for number in entry.priorities)
    return JournaldLogs(source.name, source.build_server(entry), source.build_selectors(entry.selector), priorities)


def _build_files(source: _Source, entry: FilesEntry) -> EvidenceProvider:
    return FileLogs(source.name, entry.folder, source.build_patterns(), entry.links_into)


def _build_github(source: _Source, entry: GithubEntry) -> EvidenceProvider:
    repositories = {alias: service.repository for alias, service in source.aliases() if service.repository}
    return GithubDeploys(source.name, source.build_server(entry, **GITHUB_HEADERS), ByService(repositories))


def _build_argocd(source: _Source, entry: ArgoEntry) -> EvidenceProvider:
    applications = {alias: service.argocd for alias, service in source.aliases() if service.argocd}
    return ArgoDeploys(source.name, source.build_server(entry), ByService(applications))


# What builds the source of an entry, by its kind in the file: a new kind is an entry in `config.sources` and a line here.
_BUILDERS: Mapping[str, Callable[[_Source, Any], EvidenceProvider]] = {
    "loki": _build_loki,
    "journald": _build_journald,
    "files": _build_files,
    "github": _build_github,
    "argocd": _build_argocd,
}


def _build_status_pages(configuration: Configuration) -> Iterator[EvidenceProvider]:
    pages: Mapping[str, HttpSource] = {
        name.casefold(): HttpSource(entry.status_page)
        for name, entry in configuration.vendors.items()
        if entry.status_page
    }
    if pages:
        yield VendorStatus(pages)
