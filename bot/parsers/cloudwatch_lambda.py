"""Parse CloudWatch alarms posted by the Terraform "notify-slack" Lambda.

The fallback says "triggered" whatever the state, so it is ignored.
"""

from __future__ import annotations

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.message import Message
from bot.parsers.vocabulary.places import read_region
from bot.parsers.vocabulary.states import read_token_state

TOOL = "cloudwatch_lambda"


def _read_fields(message: Message) -> dict[str, str]:
    return {label.casefold(): value.strip("` ") for label, value in message.fields if label}


def matches(message: Message) -> bool:
    """Its fields."""
    return {"alarm name", "current state"} <= set(_read_fields(message))


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: state from the "Current State" field; name and region are the identity."""
    fields = _read_fields(message)
    name, link = fields["alarm name"], fields.get("link to alarm", "")
    return Draft(
        TOOL,
        read_token_state(fields["current state"]) or AlertState.FIRING,
        name,
        identity=(name, read_region(link) or ""),
        links={"source": link} if link.startswith("https://") else {},
        settled=frozenset({"title", "severity", "service", "vendor", "host"}),
    )
