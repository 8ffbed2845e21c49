"""Ask each source of evidence what an alert would ask of it, and suggest a fix if it does not answer.

Must not show the contents of a source: only whether it answers, and how much there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.adapters.evidence.logs_journald import JournaldLogs
from bot.adapters.evidence.logs_loki import LokiLogs
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.wiring.evidence_sources import build_source_providers
from bot.doctor.finding import Finding
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.evidence.items import Evidence, EvidenceKind, Observed, Unavailable
from bot.ports.errors import ConfigurationRejected, EvidenceUnavailable
from bot.ports.evidence import EvidenceProvider

MAX_QUESTIONS, MAX_CONCURRENT = 20, 4
DEADLINE_S = 40.0
FIXES = (
    (
        ("cannot be reached", "no answer within", "name is not known"),
        "Start it, or correct its url; it must be reachable from where the bot runs (no proxy is used).",
    ),
    (("HTTP 401", "HTTP 403"), "Put a key that may read this into the variable that token_env names."),
    (("HTTP 404",), "Correct the repository, application or address in the file, or let the key see it."),
    (("certificate",), "Let the machine trust its certificate (SSL_CERT_FILE), or correct its url."),
    (("no file matches",), "Correct folder and patterns; patterns are below folder."),
    (("cannot be read by",), "Let the bot's user read them, for instance as a member of the group adm."),
    (("leads out",), "Name the folder that the links lead to in links_into."),
    (("is JSON with a time",), "Let the service write one JSON object a line, with a time."),
    (("redirects",), "Configure the address that it redirects to."),
    (("the answer is",), "Correct its url: something else answers there."),
)
SET_IT = "Set that variable where the bot runs (.env, the environment, or NAME_FILE), or correct the file."
ELSE = "See docs/evidence-sources.md for what this source needs."

# How to ask a source for all its lines instead of errors alone; a kind without a filter is not listed.
ALL_LINES: Mapping[type[EvidenceProvider], Callable[[Any], EvidenceProvider]] = {
    LokiLogs: lambda source: replace(source, line_filter=""),
    JournaldLogs: lambda source: replace(source, priorities=()),
}


async def check_sources(configuration: Configuration | None, at: datetime) -> tuple[Finding, ...]:
    """Check each source: one finding, or several if it fails in several ways.

    Without a configuration (None) there is nothing to check: the file itself is wrong, which is reported elsewhere.
    """
    if configuration is None:
        return ()
    try:
        providers = build_source_providers(configuration)
    except ConfigurationRejected as problem:
        return (Finding("Evidence", False, str(problem), SET_IT),)
    posts = check_deploy_posts(configuration)
    if not providers:
        return (Finding("Evidence", None, "no source of logs, deploys or status is named"), *posts)
    asked = await asyncio.gather(*(check_provider(one, build_sample_alerts(configuration), at) for one in providers))
    return (*(finding for found in asked for finding in found), *posts)


def build_sample_alerts(configuration: Configuration) -> tuple[Alert, ...]:
    """Build an alert for each service and each vendor of the configuration."""
    services = (Alert("doctor", AlertState.FIRING, "doctor", service=name) for name in configuration.services)
    vendors = (Alert("doctor", AlertState.FIRING, "doctor", vendor=name.casefold()) for name in configuration.vendors)
    return (*services, *vendors)


def check_deploy_posts(configuration: Configuration) -> tuple[Finding, ...]:
    """Check that deploy posts can be read in the configured channels."""
    channels = configuration.deploy_posts.channels
    if not channels:
        return ()
    if not configuration.services:
        fix = "List your services as [services.<name>]."
        return (Finding("Deploy posts", False, "no services are listed, so no post can be told to be of one", fix),)
    return (Finding("Deploy posts", True, f"read in {', '.join(channels)}, of {len(configuration.services)} services"),)


async def check_provider(provider: EvidenceProvider, alerts: Sequence[Alert], at: datetime) -> tuple[Finding, ...]:
    """Ask one source about these alerts: one finding if all is well, or else one for each reason."""
    check = f"Source {provider.name}"
    limit = asyncio.Semaphore(MAX_CONCURRENT)
    asked = [_SampleResult(alert.service or alert.vendor or "") for alert in alerts]

    async def ask(one: _SampleResult, alert: Alert) -> None:
        async with limit:
            await one.observe(_without_error_filter(provider), alert, at)

    about = [(one, alert) for one, alert in zip(asked, alerts, strict=True) if _is_relevant(provider.kind, alert)]
    try:
        async with asyncio.timeout(DEADLINE_S):
            await asyncio.gather(*(ask(*pair) for pair in about[:MAX_QUESTIONS]))
    except TimeoutError:
        return (Finding(check, False, f"not done within {DEADLINE_S:g} s", suggest_fix("no answer within")),)
    failed: dict[str, list[str]] = {}
    for one in asked:
        for reason in one.reasons:
            failed.setdefault(reason, []).append(one.name)
    if failed:
        return tuple(
            Finding(check, False, f"{_format_names(names)}: {why}", suggest_fix(why)) for why, names in failed.items()
        )
    seen = [one for one in asked if one.found]
    if not seen:
        return (Finding(check, False, "nothing in the file says what to ask it for", ELSE),)
    more = f", {len(about) - MAX_QUESTIONS} more not asked" if len(about) > MAX_QUESTIONS else ""
    said = "; ".join(f"{one.name}: {one.found}" for one in seen[:3])
    return (Finding(check, True, f"answers for {len(seen)} ({said}){more}"),)


class _SampleResult:
    """The result of one sample question."""

    def __init__(self, name: str) -> None:
        self.name, self.found = name, ""
        self.reasons: tuple[str, ...] = ()

    async def observe(self, provider: EvidenceProvider, alert: Alert, at: datetime) -> None:
        """Ask the source, and store the answer or the reason that there is none."""
        try:
            items = await provider.observe(alert, at)
        except EvidenceUnavailable as problem:
            self.reasons = (str(problem),)
            return
        unseen = [item.reason for item in items if isinstance(item, Unavailable) and item.signal != "log_skipped"]
        self.reasons = tuple(dict.fromkeys(unseen))
        self.found = summarize(items)


def summarize(items: Iterable[Evidence]) -> str:
    """Describe how much evidence there is, without any of it."""
    seen = [item for item in items if isinstance(item, Observed)]
    if not seen:
        return ""
    if seen[0].kind is EvidenceKind.LOGS:
        lines = sum(item.count or 0 for item in seen)
        return (
            f"{lines} lines in {seen[0].window}" if lines else f"no lines in {seen[0].window}: is the selector right?"
        )
    if seen[0].kind is EvidenceKind.DEPLOY:
        return f"{sum(item.count is None for item in seen)} deploys in {seen[0].window}"
    return (seen[0].text or f"{len(seen)} values")[:60]


def _is_relevant(kind: EvidenceKind, alert: Alert) -> bool:
    return bool(alert.vendor if kind is EvidenceKind.VENDOR_STATUS else alert.service)


def _without_error_filter(provider: EvidenceProvider) -> EvidenceProvider:
    """Return the same source without its filter for errors: a quiet service has none."""
    widen = ALL_LINES.get(type(provider))
    return widen(provider) if widen else provider


def _format_names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def suggest_fix(reason: str) -> str:
    """Suggest a fix for a reason."""
    return next((fix for words, fix in FIXES if any(word in reason for word in words)), ELSE)
