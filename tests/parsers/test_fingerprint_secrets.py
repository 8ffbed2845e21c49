"""The identity of an alert is shown and kept: no secret may be part of it."""

from __future__ import annotations

import json

from bot.parsers import read
from bot.parsers.shape import build_shape


def test_a_secret_in_a_title_is_not_in_the_fingerprint() -> None:
    secret = "hunter2" + "hunter2"
    event = {"type": "message", "ts": "1.0", "bot_id": "B1", "text": f"[FIRING] db password={secret} broke"}
    assert secret not in json.dumps(build_shape(read(event))).lower()
