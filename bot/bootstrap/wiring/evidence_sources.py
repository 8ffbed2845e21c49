"""The sources of evidence that the configuration names, made ready to be asked. Must not ask any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.config.sources import ArgoEntry, FilesEntry, GithubEntry, JournaldEntry, LokiEntry
from bot.domain.catalog.vendors import folded
from bot.ports.errors import ConfigurationRejected
from bot.ports.evidence import EvidenceProvider
from bot.settings import read_secret

Secret = Callable[[str], str | None]


def build_source_providers(configuration: Configuration, secret: Secret = read_secret) -> tuple[EvidenceProvider, ...]:
    """One provider for each source of logs and deploys, and one for all status pages. Raises ConfigurationRejected where
    a key is not there, or would go unencrypted over the internet."""
    return (
        *_build_logs(configuration, secret),
        *_build_deploys(configuration, secret),
        *_build_status_pages(configuration),
    )


def _build_server(
    where: str, entry: LokiEntry | JournaldEntry | GithubEntry | ArgoEntry, secret: Secret, **headers: str
) -> HttpSource:
    key = None
    if entry.token_env:
        try:
            key = secret(entry.token_env)
        except OSError as problem:
            raise ConfigurationRejected(f"{where}.token_env: {entry.token_env}_FILE: {problem.strerror}.") from problem
        if not key:
            raise ConfigurationRejected(f"{where}.token_env: {entry.token_env} is not set where the bot runs.")
    if problem_of_address := find_server_problem(entry.url, has_key=bool(key)):
        raise ConfigurationRejected(f"{where}.url: {entry.url} {problem_of_address}.")
    return HttpSource(entry.url, key, headers=headers, timeout_s=entry.timeout_s)


def _iterate_aliases(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Every name that an alert may call a service by, folded, with the name that the file gives it."""
    for name, entry in configuration.services.items():
        for alias in (name, *entry.aliases):
            yield folded(alias), name


def _build_logs(configuration: Configuration, secret: Secret) -> Iterator[EvidenceProvider]:
    for name, entry in configuration.logs.items():
        where = f"logs.{name}"
        if isinstance(entry, FilesEntry):
            yield FileLogs(name, entry.folder, _build_patterns(configuration, name), entry.links_into)
        elif isinstance(entry, LokiEntry):
            headers = {"X-Scope-OrgID": entry.tenant} if entry.tenant else {}
            server = _build_server(where, entry, secret, **headers)
            line_filter = ERRORS if entry.filter is None else entry.filter
            yield LokiLogs(name, server, _build_selectors(configuration, name, entry.selector), line_filter)
        else:
            priorities = tuple(str(number) for number in entry.priorities)
            selectors = _build_selectors(configuration, name, entry.selector)
            yield JournaldLogs(name, _build_server(where, entry, secret), selectors, priorities)


def _build_selectors(configuration: Configuration, source: str, default: LabelValues) -> Selectors:
    given = ((alias, configuration.services[name].logs.get(source)) for alias, name in _iterate_aliases(configuration))
    return Selectors({alias: labels for alias, labels in given if isinstance(labels, dict)}, default)


def _build_patterns(configuration: Configuration, source: str) -> dict[str, tuple[str, ...]]:
    given = ((alias, configuration.services[name].logs.get(source)) for alias, name in _iterate_aliases(configuration))
    return {alias: patterns for alias, patterns in given if isinstance(patterns, tuple)}


def _build_deploys(configuration: Configuration, secret: Secret) -> Iterator[EvidenceProvider]:
    repositories = {
        alias: r for alias, n in _iterate_aliases(configuration) if (r := configuration.services[n].repository)
    }
    applications = {alias: a for alias, n in _iterate_aliases(configuration) if (a := configuration.services[n].argocd)}
    for name, entry in configuration.deploys.items():
        where = f"deploys.{name}"
        if isinstance(entry, GithubEntry):
            yield GithubDeploys(name, _build_server(where, entry, secret, **GITHUB_HEADERS), ByService(repositories))
        else:
            yield ArgoDeploys(name, _build_server(where, entry, secret), ByService(applications))


def _build_status_pages(configuration: Configuration) -> Iterator[EvidenceProvider]:
    pages: Mapping[str, HttpSource] = {
        name.casefold(): HttpSource(entry.status_page)
        for name, entry in configuration.vendors.items()
        if entry.status_page
    }
    if pages:
        yield VendorStatus(pages)
