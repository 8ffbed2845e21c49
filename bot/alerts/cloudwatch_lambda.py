"""CloudWatch, AWS Health and AWS Backup through the Terraform "notify-slack" Lambda.

Must not trust the fallback: it says "triggered" whatever the state.
"""

from __future__ import annotations

import re

from bot.alerts.common.draft import Draft, Refusal
from bot.alerts.message import Message
from bot.alerts.vocabulary.places import region_in
from bot.alerts.vocabulary.states import strip_emoji, token_state
from bot.domain.alert import AlertState

TOOL = "cloudwatch_lambda"
_HEALTH = re.compile(r"^New AWS Health Event for (\w+)", re.MULTILINE)
_BACKUP = re.compile(r"^\W{0,6}(An AWS Backup job (failed|completed|aborted|expired|started)[^\n]{0,60})", re.MULTILINE)
_GUARD = re.compile(r"AWS GuardDuty Finding - ([^\n]{3,120})")


def _fields(message: Message) -> dict[str, str]:
    return {label.casefold(): value.strip("` ") for label, value in message.fields if label}


def matches(message: Message) -> bool:
    """Its fields or its own headings."""
    named = {"alarm name", "current state"} <= set(_fields(message))
    titles = " ".join(label for label, _ in message.fields)
    return (
        named or any(p.search(message.body) for p in (_HEALTH, _GUARD)) or bool(_BACKUP.search(strip_emoji(titles)[0]))
    )


def _alarm(message: Message, fields: dict[str, str]) -> Draft:
    """An alarm: the state is the "Current State" field."""
    name = fields["alarm name"]
    link = fields.get("link to alarm", "")
    state = token_state(fields["current state"]) or AlertState.FIRING
    settled = frozenset({"title", "severity", "vendor"})
    return Draft(
        TOOL,
        state,
        name,
        identity=(name, region_in(link) or ""),
        links={"source": link} if link else {},
        settled=settled,
    )


def _event(message: Message, fields: dict[str, str]) -> Draft | Refusal:
    """Health events tell of AWS itself; backup jobs and findings of one's own account."""
    health, guard = _HEALTH.search(message.body), _GUARD.search(message.body)
    backup = _BACKUP.search(strip_emoji(message.fields[0][0])[0]) if message.fields else None
    link = next((value for value in fields.values() if value.startswith("https://")), "")
    links = {"source": link} if link else {}
    if backup and backup[2] in {"completed", "started"}:
        return Refusal("job", "a backup job that went well")
    if backup:
        settled = frozenset({"title", "severity", "vendor", "environment"})
        resource = next((v for _, v in message.fields if v.strip("` ").startswith("arn:")), "")
        return Draft(
            TOOL,
            AlertState.FIRING,
            backup[1].strip(),
            kind="job",
            identity=("backup", resource.strip("` ")),
            settled=settled,
        )
    if guard:
        return Draft(
            TOOL, AlertState.FIRING, guard[1], kind="security", links=links, settled=frozenset({"title", "vendor"})
        )
    title = health[0] if health else ""
    code, region = fields.get("code", ""), fields.get("affected region", "")
    settled = frozenset({"title", "severity", "environment"})
    return Draft(
        TOOL,
        AlertState.FIRING,
        title,
        kind="vendor_status",
        identity=(code or title, region),
        vendor="aws",
        links=links,
        settled=settled,
    )


def parse(message: Message) -> Draft | Refusal:
    """An alarm by its fields, else an event by its heading."""
    fields = _fields(message)
    return _alarm(message, fields) if "alarm name" in fields else _event(message, fields)
