"""Parse Sentry issues. The issue id is the identity, never the notification's uuid."""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertState
from bot.parsers.common.draft import Draft, Refusal
from bot.parsers.common.symptoms import build_error, build_metric
from bot.parsers.message import Message
from bot.parsers.text.markup import Link

TOOL = "sentry"
_ISSUE = re.compile(r"https?://[^/\s]+/(?:organizations/[\w-]+/)?issues/(\d+)")
_STATE = re.compile(r"\bState: (New|Ongoing|Escalating|Regressed|Resolved|Archived|Ignored)\b")
_TAG = re.compile(r"\b(environment|level|release|server_name|region|transaction): ([\w.@/-]{1,80})(?=\s|$)")
_PROJECT = re.compile(r"\bProject: ([\w.-]{1,100})")
_SHORT_ID = re.compile(r"\bShort ID: ([\w-]{1,100})")
_COUNT = re.compile(r"\b(Events|Users Affected): (\d+)")
_DONE = frozenset({"Resolved", "Archived", "Ignored"})


def _find_link(message: Message) -> Link | None:
    return next((link for link in message.links if link.label and _ISSUE.match(link.url)), None)


def matches(message: Message) -> bool:
    """An issue link of Sentry's that has a name, with Sentry's own words around it."""
    body = message.body
    return bool(_find_link(message)) and bool(_SHORT_ID.search(body) or _STATE.search(body))


def parse(message: Message) -> Draft | Refusal:
    """Draft the alert: the state is in the context line; a resolve edits the first post."""
    body = message.body
    link = _find_link(message) or Link("", "")
    issue, stated = _ISSUE.match(link.url), _STATE.search(body)
    project, short_id = _PROJECT.search(body), _SHORT_ID.search(body)
    done = bool(stated and stated[1] in _DONE) or "Issue resolved by" in body
    labels = dict(_TAG.findall(body.partition("State: ")[0]))
    labels |= {"project": project[1]} if project else {}
    labels |= {"short_id": short_id[1]} if short_id else {}
    said = re.search(rf"{re.escape(link.label)}: (.{{1,200}})", message.text)
    signs = (build_error(link.label, said[1] if said else None), *(build_metric(n, v) for n, v in _COUNT.findall(body)))
    return Draft(
        TOOL,
        AlertState.RESOLVED if done else AlertState.FIRING,
        link.label,
        identity=("issue", issue[1] if issue else link.label),
        service=project[1] if project else None,
        symptoms=signs,
        links={"source": link.url},
        labels=labels,
        settled=frozenset({"title"}),
    )
