"""Read what a person wrote from a message of Slack's Web API. Nothing that an app posted gets out, and no secret."""

from __future__ import annotations

from bot.domain.text.redaction import mask
from bot.domain.text.visible import clean
from bot.ports.chat import ThreadMessage
from bot.slack.inbound.events import SPOKEN_SUBTYPES
from bot.slack.payload import Body
from bot.slack.views.markup import decode_text

SLACKBOT = "USLACKBOT"


def read_thread_message(message: Body) -> ThreadMessage | None:
    """Return what a person wrote in this message; None where an app or Slack itself did, or it has no word."""
    user, ts, root = (str(message.get(key) or "") for key in ("user", "ts", "thread_ts"))
    if not user or not ts or user == SLACKBOT or message.get("bot_id") or message.get("subtype") not in SPOKEN_SUBTYPES:
        return None
    text = mask(clean(decode_text(str(message.get("text") or "")), lines=True))[0]
    return ThreadMessage(user, ts, text, root or None) if any(c.isalnum() for c in text) else None
