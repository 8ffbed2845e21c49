"""What leaves the reader holds no secret, wherever in the post it stood."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.alerts.alert import Alert, AlertMember, AlertState, Symptom
from bot.parsers import read
from bot.parsers.masking import mask_alert
from bot.parsers.shape import build_shape

SECRET = "Zq9Xw7LeAk12"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
FIELDS = [
    {"title": "Password", "value": SECRET},
    {"title": "*api_key*", "value": SECRET},
    {"title": "pass\u200bword", "value": SECRET},
]


@pytest.mark.parametrize(
    "more",
    [
        *({"attachments": [{"fields": [field]}]} for field in FIELDS),
        {"text": f"CRITICAL: db-1 is down\nregion: {TOKEN}\nenvironment: password={SECRET}"},
        {"attachments": [{"author_name": f"password {SECRET}"}]},
        {"attachments": [{"title": "Run", "title_link": f"https://x.example/a?token={SECRET}&key={SECRET}"}]},
        {"attachments": [{"actions": [{"text": "Run", "url": f"https://x.example/run?sig={SECRET}"}]}]},
        {"blocks": [{"type": "section", "fields": [{"type": "mrkdwn", "text": f"*Password*\n{SECRET}"}]}]},
        {"blocks": [{"type": "section", "text": {"text": text}} for text in ("*DB password:*", SECRET)]},
        {"blocks": [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text} for text in ("password: ", SECRET)]}]}]},
    ],
)  # fmt: skip
def test_no_secret_leaves(more: dict[str, Any]) -> None:
    event = {"type": "message", "bot_id": "B1", "subtype": "bot_message", "ts": "1.0", "text": "CRITICAL: db-1 is down"}
    found = read({**event, **more})
    assert isinstance(found, Alert)
    assert SECRET not in repr(found)
    assert SECRET not in repr(build_shape(found))


def test_every_part_of_an_alert_is_masked() -> None:
    member = AlertMember(AlertState.FIRING, {"password": SECRET}, title=f"token={SECRET}")
    alert = Alert(
        "webhook", AlertState.FIRING, "fp", title=TOKEN, severity_raw=TOKEN, service=TOKEN, vendor=TOKEN, region=TOKEN,
        environment=TOKEN, symptoms=(Symptom(kind="metric", name=TOKEN, value=TOKEN, code=TOKEN, text=TOKEN),),
        links={TOKEN: f"https://x.example/?token={SECRET}"}, labels={TOKEN: "x", "api_key": SECRET}, alerts=(member,),
        text=TOKEN,
    )  # fmt: skip
    told = repr(mask_alert(alert))
    assert SECRET not in told
    assert TOKEN not in told
