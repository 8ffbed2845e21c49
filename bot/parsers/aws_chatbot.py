"""Parse CloudWatch alarms and AWS events posted by AWS Chatbot (Amazon Q).

The reason's prose never gives the state.
"""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState, Symptom
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.symptoms import build_error, find_metrics
from bot.parsers.message import Message
from bot.parsers.vocabulary.states import read_token_state

TOOL = "aws_chatbot"
_APP = "A6L22LZNH"
_ALARM = re.compile(r"CloudWatch Alarm \| ([^|\n]{1,255}) \| ([\w-]{4,30}) \| Account: (\d{12})")
_EVENT = re.compile(r"(AWS Health Event|[\w ]{3,60}?) \| ([\w-]{4,30}) \| Account: (\d{12})")
_CODE = re.compile(r"^(AWS_[A-Z0-9_]{3,80})$", re.MULTILINE)
_CLOSED = frozenset({"closed", "resolved"})


def matches(message: Message) -> bool:
    """Its app, or the heading that it gives to alarms and health events."""
    return bool(
        _ALARM.search(message.body)
        or (_EVENT.search(message.body) and message.poster.app_id == _APP)
        or "AWS Health Event |" in message.body
    )


def _find_symptoms(message: Message) -> tuple[Symptom, ...]:
    """Return the datapoints under the metric's name, which is the chart's alternative text."""
    name = next((alt for alt in message.alt_texts if re.fullmatch(r"[A-Za-z][\w.]{2,60}", alt)), None)
    found = [s for s in find_metrics(message.body) if s.name == "datapoint"]
    return tuple(Symptom("metric", name or s.name, s.value, s.op, s.threshold) for s in found)


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: the heading of name, region and account is its identity."""
    fields = {label.casefold(): value for label, value in message.fields}
    alarm = _ALARM.search(message.body)
    if alarm:
        state = read_token_state(fields.get("state changed to", "")) or _read_emoji(message)
        return Draft(
            TOOL,
            state,
            alarm[1],
            identity=(alarm[1], alarm[2], alarm[3]),
            region=alarm[2],
            symptoms=_find_symptoms(message),
            labels={"account": alarm[3]},
            settled=frozenset({"title", "severity", "service", "vendor", "host"}),
        )
    event, code = _EVENT.search(message.body), _CODE.search(message.body)
    kind, region, account = (event[1].strip(), event[2], event[3]) if event else ("", None, "")
    health = kind == "AWS Health Event"
    state = AlertState.RESOLVED if fields.get("status", "").casefold() in _CLOSED else AlertState.FIRING
    title = code[1] if code else kind
    return Draft(
        TOOL,
        state,
        title,
        kind="vendor_status" if health else "alert",
        identity=(title, region or "", account),
        region=region,
        vendor="aws" if health else None,
        symptoms=(build_error(code[1]),) if code else (),
        labels={"account": account},
        settled=frozenset({"title", "severity", "vendor"}),
    )


def _read_emoji(message: Message) -> AlertState:
    over = any(mark in message.body for mark in (":white_check_mark:", ":large_green_circle:", "✅"))
    return AlertState.RESOLVED if over else AlertState.FIRING
