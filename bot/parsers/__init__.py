"""Read a monitoring tool's Slack message as an `Alert`. Pure, like the core.

`read` tries the parsers in order. The generic one is last, for tools without a parser of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.domain.alerts.alert import Alert, NotAlert, PostDelivery, Reading
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.parsers import (
    alertmanager,
    aws_chatbot,
    cloudwatch_lambda,
    cloudwatch_lambda_events,
    datadog,
    generic,
    grafana,
    opsgenie,
    pagerduty,
    sentry,
    sentry_metric,
)
from bot.parsers.common.draft import Refusal
from bot.parsers.common.finish import finish
from bot.parsers.masking import mask_alert
from bot.parsers.message import Message, parse_message
from bot.parsers.vocabulary.noise import find_noise

PARSERS = (
    grafana,
    alertmanager,
    datadog,
    pagerduty,
    opsgenie,
    sentry,
    sentry_metric,
    aws_chatbot,
    cloudwatch_lambda,
    cloudwatch_lambda_events,
    generic,
)

_MEMBERSHIP_LISTED = (
    "channel_join channel_leave channel_topic channel_purpose channel_name channel_archive channel_unarchive "
    "group_join group_leave pinned_item unpinned_item reminder_add bot_add bot_remove me_message "
    "huddle_thread tombstone ekm_access_denied"
)
_MEMBERSHIP = frozenset(_MEMBERSHIP_LISTED.split())
_QUOTES_ALERT = re.compile(
    r"\[(?:FIRING|RESOLVED)|\b(?:fixed|resolved|caused|mitigated|rolled back|restarted|root cause|last time)\b",
    re.IGNORECASE,
)


def _refuse_poster(message: Message, subtype: object, own_bot_ids: frozenset[str]) -> tuple[str, str] | None:
    """Return (kind, reason) if a message cannot be an alert, judging by who posted it and how; else None."""
    poster = message.poster
    if subtype == "message_deleted":
        return "deleted", "a message was deleted"
    if message.subtype in _MEMBERSHIP:
        return "chatter", "a change of the channel"
    if message.own_metadata or {poster.bot_id, poster.user, poster.app_id} & own_bot_ids:
        return "self", "our own post"
    if message.shared:
        return "shared_alert", "an existing message was shared"
    if message.email or poster.is_bot:
        return None
    about = _QUOTES_ALERT.search(message.text) and (message.delivery is not PostDelivery.POST or "[" in message.text)
    if (
        about
        and not message.cards
        and ("```" in message.text or "(" in message.text or message.delivery is PostDelivery.THREAD_REPLY)
    ):
        return "knowledge_about_alert", "a person writes about an alert"
    return "chatter", "a person wrote it"


def _finish_first(message: Message, vendor_names: frozenset[str], root: Alert | None) -> Alert | Refusal:
    """Return what the first parser that recognizes the post makes of it."""
    parser = next(parser for parser in PARSERS if parser.matches(message))
    noise = find_noise(message.body) if parser is not generic else None
    if noise and noise[0] == "test_notification":
        return Refusal(*noise)
    draft = parser.parse(message)
    return draft if isinstance(draft, Refusal) else finish(message, draft, vendor_names, root=root)


def read(
    event: Mapping[str, Any],
    *,
    own_bot_ids: frozenset[str] = frozenset(),
    vendor_names: frozenset[str] = frozenset(),
    names: Directory = STANDARD,
) -> Reading:
    """Read one Slack message event.

    `own_bot_ids` are the bot's own bot, user or app ids; `vendor_names` are vendors that the records know,
    `names` what the organisation configured. Any JSON object is read without an error; what leaves is masked, and at
    most the first 64 kB are read (`truncated`).
    """
    message = parse_message(event, names=names)
    refused = _refuse_poster(message, event.get("subtype"), own_bot_ids)
    if refused:
        return NotAlert(*refused, delivery=message.delivery)
    answered = _finish_first(message.root, vendor_names, None) if message.root else None
    found = _finish_first(message, vendor_names, answered if isinstance(answered, Alert) else None)
    if isinstance(found, Refusal):
        return NotAlert(found.kind, found.reason, delivery=message.delivery)
    return mask_alert(found)
