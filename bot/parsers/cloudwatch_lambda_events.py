"""Parse AWS Health, AWS Backup and GuardDuty posts of the Terraform "notify-slack" Lambda.

AWS is the failing vendor only in health events, which are about AWS itself.
"""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.message import Message

TOOL = "cloudwatch_lambda"
_HEALTH = re.compile(r"^New AWS Health Event for [\w -]{2,60}", re.MULTILINE)
_GUARD = re.compile(r"AWS GuardDuty Finding - ([^\n]{3,120})")
_BACKUP = re.compile(r"(An AWS Backup job (failed|completed|aborted|expired|started)\b[^\n]{0,60})")


def matches(message: Message) -> bool:
    """One of its own headings."""
    labels = " ".join(label for label, _ in message.fields)
    return any(p.search(message.body) for p in (_HEALTH, _GUARD)) or bool(_BACKUP.search(labels))


def _draft_health(title: str, fields: dict[str, str], links: dict[str, str]) -> Draft:
    """Draft an event of AWS itself, which names the vendor."""
    identity = (fields.get("code", "") or title, fields.get("affected region", ""))
    settled = frozenset({"title", "severity", "environment", "host"})
    return Draft(TOOL, AlertState.FIRING, title, "vendor_status", identity, vendor="aws", links=links, settled=settled)


def _draft_backup(message: Message, title: str, outcome: str) -> Draft | Refusal:
    """Draft a backup job. Its resource is the identity, because job ids change."""
    if outcome in {"completed", "started"}:
        return Refusal("job", "a backup job that went well")
    values = (value.strip("` ") for _, value in message.fields)
    resource = next((value for value in values if value.startswith("arn:")), "")
    settled = frozenset({"title", "severity", "vendor", "environment", "host"})
    return Draft(TOOL, AlertState.FIRING, title, "job", ("backup", resource), settled=settled)


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert by its heading."""
    fields = {label.casefold(): value.strip("` ") for label, value in message.fields if label}
    link = next((value for value in fields.values() if value.startswith("https://")), None)
    links = {"source": link} if link else {}
    health = _HEALTH.search(message.body)
    backup = _BACKUP.search(" ".join(label for label, _ in message.fields))
    guard = _GUARD.search(message.body)
    if health:
        return _draft_health(health[0], fields, links)
    if backup:
        return _draft_backup(message, backup[1].strip(), backup[2])
    title = guard[1] if guard else None
    return Draft(TOOL, AlertState.FIRING, title, "security", links=links, settled=frozenset({"vendor"}))
