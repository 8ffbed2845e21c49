"""Check the Hindsight server: it answers, accepts the key, has a supported version, and has the bank."""

from __future__ import annotations

import re
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from bot.bootstrap.lazy_adapters import import_adapter
from bot.doctor.finding import Finding
from bot.ports.clock import Clock
from bot.settings import Settings, find_proxy

if TYPE_CHECKING:  # its library takes long to import, and only who uses a bank should wait for it
    from bot.adapters.memory.hindsight import HindsightBank

CHECK = "Hindsight"
_NAMED_ERROR = re.compile(r" \(\w+Error\)")
MEANWHILE = "Until then the local index answers and nothing is lost."
FIXES = (
    ("refuses the key", "Put the key that the server was started with into HINDSIGHT_API_KEY, restart the bot."),
    ("cannot be reached", "Start the server, or correct HINDSIGHT_URL; to do without it unset HINDSIGHT_URL."),
    ("did not answer", "Look at the server's log and load; to do without it unset HINDSIGHT_URL."),
    ("is no Hindsight server", "Correct HINDSIGHT_URL: something else answers there."),
    ("knows no such bank", "Correct HINDSIGHT_URL: its base address, without a path."),
    ("is too old", "Upgrade the Hindsight server."),
    ("overloaded or failing", "Look at the Hindsight server's log and its database."),
    ("refuses this", "Correct HINDSIGHT_BANK_ID: letters, digits, - and _."),
)
ELSE = "Look at the Hindsight server's log."


async def check_hindsight(settings: Settings, clock: Clock) -> Finding:
    """Check the server. A missing bank is fine: the bot creates it when it starts."""
    if not settings.hindsight_url:
        return Finding(CHECK, None, "not configured: the embedded memory is used")
    key = settings.hindsight_api_key.get_secret_value() if settings.hindsight_api_key else None
    opening: AbstractAsyncContextManager[HindsightBank] = import_adapter("memory.hindsight").open_hindsight(
        settings.hindsight_url, key, settings.hindsight_bank_id, clock
    )
    async with opening as bank:
        status = await bank.inspect()
    where = f"{settings.hindsight_url}, bank {status.bank}"
    if status.problem:
        return _build_failure(settings.hindsight_url, where, status.problem)
    made = "" if status.is_there else "; the bank is not there yet: the bot makes it when it starts"
    return Finding(CHECK, True, f"{where}, version {status.version}{made}")


def _build_failure(url: str, where: str, problem: str) -> Finding:
    proxy = find_proxy(url)
    if proxy and "cannot be reached" in problem:
        said = f"{where}: it cannot be reached through the proxy {proxy[1]}"
        return Finding(CHECK, False, said, f"Add its host to NO_PROXY, or correct {proxy[0]}. {MEANWHILE}")
    fix = next((fix for sign, fix in FIXES if sign in problem), ELSE)
    said = _NAMED_ERROR.sub("", problem.partition(";")[0].rstrip("."))
    return Finding(CHECK, False, f"{where}: {said}", f"{fix} {MEANWHILE}")
