"""How many alerts of a group fire, as the post's own bracket counts them."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.alerts.alert import Alert
from bot.parsers import read

AT = "https://alertmanager.example.org/#/alerts?receiver=slack"


def post(**card: Any) -> dict[str, Any]:
    attachment = {"color": "a30200", "title_link": AT, **card}
    return {"type": "message", "subtype": "bot_message", "bot_id": "B1", "ts": "1795981200.000100", "attachments": [attachment]}  # fmt: skip


@pytest.mark.parametrize(
    ("card", "counts"),
    [
        ({"title": "[FIRING:3] PodCrashLooping ledger (critical)"}, (3, None)),
        ({"title": "[FIRING:2, RESOLVED:1] PodCrashLooping ledger (critical)"}, (2, 1)),
        ({"title": "[RESOLVED] PodCrashLooping ledger (critical)"}, (None, None)),
        ({"title": "PodCrashLooping", "fallback": "[FIRING:4] PodCrashLooping ledger (critical) | " + AT}, (4, None)),
    ],
)
def test_the_bracket_counts(card: dict[str, Any], counts: tuple[int | None, int | None]) -> None:
    alert = read(post(**card))
    assert isinstance(alert, Alert)
    assert (alert.firing, alert.cleared) == counts


def test_what_slack_adds_for_a_link_is_not_counted() -> None:
    event = post(title="[RESOLVED] PodCrashLooping ledger (critical)")
    event["attachments"].append({"from_url": AT, "title": "[FIRING:9] other"})
    alert = read(event)
    assert isinstance(alert, Alert)
    assert alert.firing is None
