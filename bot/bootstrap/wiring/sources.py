"""The sources of evidence that the configuration names, made ready to be asked. Must not ask any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bot.adapters.evidence.addresses import server_problem
from bot.adapters.evidence.deploys_argocd import ArgoDeploys
from bot.adapters.evidence.deploys_github import HEADERS as GITHUB_HEADERS
from bot.adapters.evidence.deploys_github import GithubDeploys
from bot.adapters.evidence.http_source import Server
from bot.adapters.evidence.logs_files import FileLogs
from bot.adapters.evidence.logs_journald import JournaldLogs
from bot.adapters.evidence.logs_loki import ERRORS, LokiLogs
from bot.adapters.evidence.selectors import ByService, Labels, Selectors
from bot.adapters.evidence.vendor_status import VendorStatus
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.config.sources import ArgoEntry, FilesEntry, GithubEntry, JournaldEntry, LokiEntry
from bot.domain.catalog.vendors import folded
from bot.ports import ConfigurationRejected
from bot.ports.evidence import EvidenceProvider
from bot.settings import named_secret

Secret = Callable[[str], str | None]


def providers_of(configuration: Configuration, secret: Secret = named_secret) -> tuple[EvidenceProvider, ...]:
    """One provider for each source of logs and deploys, and one for all status pages. Raises ConfigurationRejected where
    a key is not there, or would go unencrypted over the internet."""
    return (*_logs(configuration, secret), *_deploys(configuration, secret), *_pages(configuration))


def _server(
    where: str, entry: LokiEntry | JournaldEntry | GithubEntry | ArgoEntry, secret: Secret, **headers: str
) -> Server:
    key = None
    if entry.token_env:
        try:
            key = secret(entry.token_env)
        except OSError as problem:
            raise ConfigurationRejected(f"{where}.token_env: {entry.token_env}_FILE: {problem.strerror}.") from problem
        if not key:
            raise ConfigurationRejected(f"{where}.token_env: {entry.token_env} is not set where the bot runs.")
    if problem_of_address := server_problem(entry.url, has_key=bool(key)):
        raise ConfigurationRejected(f"{where}.url: {entry.url} {problem_of_address}.")
    return Server(entry.url, key, headers=headers, timeout_s=entry.timeout_s)


def _named(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Every name that an alert may call a service by, folded, with the name that the file gives it."""
    for name, entry in configuration.services.items():
        for alias in (name, *entry.aliases):
            yield folded(alias), name


def _logs(configuration: Configuration, secret: Secret) -> Iterator[EvidenceProvider]:
    for name, entry in configuration.logs.items():
        where = f"logs.{name}"
        if isinstance(entry, FilesEntry):
            yield FileLogs(name, entry.folder, _patterns(configuration, name), entry.links_into)
        elif isinstance(entry, LokiEntry):
            headers = {"X-Scope-OrgID": entry.tenant} if entry.tenant else {}
            server = _server(where, entry, secret, **headers)
            line_filter = ERRORS if entry.filter is None else entry.filter
            yield LokiLogs(name, server, _selectors(configuration, name, entry.selector), line_filter)
        else:
            priorities = tuple(str(number) for number in entry.priorities)
            selectors = _selectors(configuration, name, entry.selector)
            yield JournaldLogs(name, _server(where, entry, secret), selectors, priorities)


def _selectors(configuration: Configuration, source: str, default: Labels) -> Selectors:
    given = ((alias, configuration.services[name].logs.get(source)) for alias, name in _named(configuration))
    return Selectors({alias: labels for alias, labels in given if isinstance(labels, dict)}, default)


def _patterns(configuration: Configuration, source: str) -> dict[str, tuple[str, ...]]:
    given = ((alias, configuration.services[name].logs.get(source)) for alias, name in _named(configuration))
    return {alias: patterns for alias, patterns in given if isinstance(patterns, tuple)}


def _deploys(configuration: Configuration, secret: Secret) -> Iterator[EvidenceProvider]:
    repositories = {alias: r for alias, n in _named(configuration) if (r := configuration.services[n].repository)}
    applications = {alias: a for alias, n in _named(configuration) if (a := configuration.services[n].argocd)}
    for name, entry in configuration.deploys.items():
        where = f"deploys.{name}"
        if isinstance(entry, GithubEntry):
            yield GithubDeploys(name, _server(where, entry, secret, **GITHUB_HEADERS), ByService(repositories))
        else:
            yield ArgoDeploys(name, _server(where, entry, secret), ByService(applications))


def _pages(configuration: Configuration) -> Iterator[EvidenceProvider]:
    pages: Mapping[str, Server] = {
        name.casefold(): Server(entry.status_page) for name, entry in configuration.vendors.items() if entry.status_page
    }
    if pages:
        yield VendorStatus(pages)
