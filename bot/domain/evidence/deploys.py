"""Deploys as evidence. A deploy matches an alert by service, and by environment if both state one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.evidence.items import EvidenceKind, Observed
from bot.domain.evidence.log_templates import clean_line
from bot.domain.text.redaction import mask_url

WINDOW = timedelta(minutes=60)
WINDOW_SHOWN = "60 min"
# A pipeline's clock may run a little ahead of the clock of the tool that posts the alert.
SKEW = timedelta(minutes=2)
MOST_SHOWN, MOST_TEXT, MOST_NAME = 3, 160, 120
_SAME = (
    frozenset({"production", "prod", "prd", "live"}),
    frozenset({"staging", "stage", "stg"}),
    frozenset({"development", "dev"}),
    frozenset({"test", "testing", "qa"}),
    frozenset({"preproduction", "preprod", "pre-prod", "pre-production"}),
)


@dataclass(frozen=True, slots=True)
class Deploy:
    """One deploy of a service."""

    service: str
    at: datetime
    version: str | None = None
    environment: str | None = None
    by: str | None = None
    state: str | None = None
    url: str | None = None
    key: str = ""  # reporting it twice keeps it once
    told_by: str = ""  # who reported it


def sanitize_deploy(deploy: Deploy) -> Deploy:
    """Return the deploy with its texts masked, on one line and cut, and without an invalid link."""
    url = deploy.url if deploy.url and deploy.url.startswith(("https://", "http://")) else None
    return replace(
        deploy,
        service=clean_line(deploy.service)[:MOST_NAME],
        version=_clean_text(deploy.version, 60),
        environment=_clean_text(deploy.environment, 30),
        by=_clean_text(deploy.by, 40),
        state=_clean_text(deploy.state, 30),
        url=mask_url(url)[:1000] if url else None,
    )


def _clean_text(text: str | None, most: int) -> str | None:
    return clean_line(text)[:most] or None if text else None


def is_same_environment(one: str | None, other: str | None) -> bool:
    """Return whether two environments may be one: either is unknown, or they are two words for the same."""
    if not one or not other:
        return True
    a, b = one.casefold().strip(), other.casefold().strip()
    return a == b or any(a in words and b in words for words in _SAME)


def observe_deploys(
    deploys: Iterable[Deploy],
    service: str,
    environment: str | None,
    source: str,
    at: datetime,
    *,
    truncated: bool = False,
) -> tuple[Observed, ...]:
    """Return the latest deploys of the hour before `at`, masked; no deploy is an observation, too."""
    fits = (d for d in deploys if at - WINDOW <= d.at <= at + SKEW and is_same_environment(environment, d.environment))
    latest = sorted(fits, key=lambda d: (d.at, d.version or ""), reverse=True)
    what = f"deploy of {service}"
    if not latest:
        none = f"none in {WINDOW_SHOWN}"
        return (
            Observed(EvidenceKind.DEPLOY, "deploy_none", what, source, at, window=WINDOW_SHOWN, text=none, count=0),
        )
    cut = truncated or len(latest) > MOST_SHOWN
    return tuple(
        Observed(
            EvidenceKind.DEPLOY,
            "deploy",
            what,
            source,
            one.at,
            window=WINDOW_SHOWN,
            text=_format_deploy(one),
            url=one.url,
            truncated=cut,
        )
        for one in latest[:MOST_SHOWN]
    )


def _format_deploy(deploy: Deploy) -> str:
    """Return "v142 to prod by ci: success"; unknown parts are left out."""
    one = sanitize_deploy(deploy)
    parts = (
        one.version or "a version that is not named",
        f"to {one.environment}" if one.environment else "",
        f"by {one.by}" if one.by else "",
    )
    state = f": {one.state}" if one.state else ""
    return (" ".join(part for part in parts if part) + state)[:MOST_TEXT]
