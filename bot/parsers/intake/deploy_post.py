"""Read a deploy post of a channel that the operator listed: service, version and environment.

No other word of the post is kept: the service is on the operator's list, the version has the form of one, and the
environment is on a known list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.domain.alerts.alert import DeployAnnouncement
from bot.domain.catalog.vendors import Directory, find_service
from bot.parsers.message import parse_message
from bot.parsers.vocabulary.places import read_environment, read_environment_name

_LABELS = ("service", "app", "application", "project", "repository", "repo", "component")
_VERSION = re.compile(
    r"(?<![\w.-])(?:v\d{1,6}(?:\.\d{1,6}){0,3}(?:[-+][a-z0-9.]{1,20})?|\d{1,4}\.\d{1,6}\.\d{1,6}(?:[-+][a-z0-9.]{1,20})?"
    r"|(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{7,40})(?![\w-]|\.\d)",
    re.IGNORECASE,
)
_TO = re.compile(r"\b(?:to|in|on|env(?:ironment)?:?|stage:?)\s+[`*_]{0,2}([\w-]{2,20})", re.IGNORECASE)
_READ = 2_000


def find_deploy(event: Mapping[str, Any], names: Directory) -> DeployAnnouncement | None:
    """Return what a post says was deployed; None if it names none of the configured services."""
    message = parse_message(event, names=names)
    text = "\n".join((message.body, *(f"{label}: {value}" for label, value in message.fields)))[:_READ]
    labelled = (value for label, value in message.fields if label.casefold().strip() in _LABELS)
    named = (find_service(value[:200], names) for value in (*labelled, text))
    service = next((found for found in named if found), None)
    if service is None:
        return None
    version = _VERSION.search(text)
    return DeployAnnouncement(service, version[0][:40] if version else None, _find_environment(text, message.fields))


def _find_environment(text: str, fields: tuple[tuple[str, str], ...]) -> str | None:
    stated = (read_environment(value) for label, value in fields if label.casefold().startswith("env"))
    said = (read_environment(match[1]) for match in _TO.finditer(text))
    return next((found for found in (*stated, *said) if found), None) or read_environment_name(text)
