"""The result of a check, and a runner that keeps a broken check from taking the others with it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.observability import get_logger

log = get_logger("doctor")
_USER_IN_ADDRESS = re.compile(r"(?<=://)(?!USER:)[^/@\s]+@")
MIN_MASKED_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    check: str
    # None: not configured, or it cannot be checked; both are fine
    ok: bool | None
    detail: str
    # what to do if it is not ok
    fix: str = ""


async def run_check(check: str, work: Awaitable[Sequence[Finding]]) -> tuple[Finding, ...]:
    """Run a check. If the check itself breaks, report that as its finding, so that the other checks still run."""
    (found,) = await asyncio.gather(work, return_exceptions=True)
    if isinstance(found, Exception):
        log.error("a check of doctor failed", check=check, exc_info=found)
        failed = f"this check itself failed ({type(found).__name__}): what it looks at is not known"
        return (Finding(check, False, failed, "That is a mistake in Precedent: report it with the log on stderr."),)
    if isinstance(found, BaseException):
        raise found
    return tuple(found)


def mask_secrets(secrets: Iterable[str], findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings with these secrets masked, and without user and password in addresses."""
    hidden = sorted((secret for secret in secrets if len(secret) >= MIN_MASKED_LENGTH), key=len, reverse=True)

    def clean(text: str) -> str:
        for secret in hidden:
            text = text.replace(secret, "…")
        return _USER_IN_ADDRESS.sub("", text)

    return tuple(replace(f, detail=clean(f.detail), fix=clean(f.fix)) for f in findings)
