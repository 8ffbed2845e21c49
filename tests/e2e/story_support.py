"""What tests of story share with other tests."""

from __future__ import annotations

from typing import Any

from bot.slack import ids
from tests.e2e.process import BotProcess, until

CHANNEL = "alerts"


def alert(name: str, service: str) -> dict[str, Any]:
    """A post of Alertmanager's about one service."""
    return {
        "username": "Alertmanager",
        "attachments": [
            {
                "color": "danger",
                "title": f"[FIRING:1] {name} {service} (prod eu-west-1 critical)",
                "title_link": "https://alertmanager.larkpay.example/#/alerts",
                "fields": [{"title": "Severity", "value": "critical"}, {"title": "Service", "value": service}],
            }
        ],
    }


ALERT = alert("LedgerExportChecksumDrift", "ledger-export")


async def brief_of(bot: BotProcess, ts: str, number: int = 1) -> dict[str, Any]:
    replies = await until(bot.slack, lambda: (r := bot.slack.replies(CHANNEL, ts)) and len(r) >= number and r)
    found: dict[str, Any] = replies[number - 1]
    return found


def block(name: str) -> str:
    return f"{name}.{ids.INPUT}"
