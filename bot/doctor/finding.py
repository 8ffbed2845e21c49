"""What a check of the installation found, and running one so that it cannot take the others with it. Must not check
anything.
"""

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
    """One check. `ok` None: not configured, or it cannot be seen; which is fine. `fix` says what to do where it is not."""

    check: str
    ok: bool | None
    detail: str
    fix: str = ""


async def run_check(check: str, work: Awaitable[Sequence[Finding]]) -> tuple[Finding, ...]:
    """What a check finds; a check that fails itself is a finding, too, and the others are made all the same."""
    (found,) = await asyncio.gather(work, return_exceptions=True)
    if isinstance(found, Exception):
        log.error("a check of doctor failed", check=check, exc_info=found)
        failed = f"this check itself failed ({type(found).__name__}): what it looks at is not known"
        return (Finding(check, False, failed, "That is a mistake in Precedent: report it with the log on stderr."),)
    if isinstance(found, BaseException):
        raise found
    return tuple(found)


def mask_secrets(secrets: Iterable[str], findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings with none of these secrets in them, and no user and password in an address."""
    hidden = sorted((secret for secret in secrets if len(secret) >= MIN_MASKED_LENGTH), key=len, reverse=True)

    def clean(text: str) -> str:
        for secret in hidden:
            text = text.replace(secret, "…")
        return _USER_IN_ADDRESS.sub("", text)

    return tuple(replace(f, detail=clean(f.detail), fix=clean(f.fix)) for f in findings)
