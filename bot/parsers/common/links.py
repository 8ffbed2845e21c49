"""Assign the links of a post to the roles they play."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.parsers.message import Message
from bot.parsers.text.markup import Link

_ROLES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("silence", re.compile(r"silence|mute|snooze|no_bell|stumm", re.IGNORECASE)),
    ("runbook", re.compile(r"run-?books?|playbook|spiral_note_pad|green_book|手順|マニュアル|handbuch|procédure|/rb/", re.IGNORECASE)),
    ("dashboard", re.compile(r"dashboard|tableau de bord|chart|bar_chart|ダッシュボード|仪表|tablero|painel|/d/", re.IGNORECASE)),
    ("query", re.compile(r"\bquery\b|/graph\?|chart_with|:mag:", re.IGNORECASE)),
    ("panel", re.compile(r"\bpanel\b", re.IGNORECASE)),
    ("logs", re.compile(r"\blogs?\b|kibana|/discover|/logs\?", re.IGNORECASE)),
    ("target", re.compile(r"visit site|checked url|\bwebsite\b", re.IGNORECASE)),
)  # fmt: skip


def find_role(link: Link) -> str:
    """Return the role that a link's label names, else the one that its address implies, else "source"."""
    for text in (link.label, link.url):
        found = next((role for role, pattern in _ROLES if pattern.search(text)), None)
        if found and (text == link.label or link.place not in {"title"}):
            return found
    return "source"


def find_links(message: Message, known: Mapping[str, str]) -> dict[str, str]:
    """Return links by role; those that the parser knows keep theirs. A second link of a role gets a number."""
    found = dict(known)
    ordered = sorted(message.links, key=lambda link: link.place != "title")
    for link in ordered:
        if link.url in found.values() or link.place == "footer" or len(found) >= 24:
            continue
        role, number = find_role(link), 1
        key = role
        while key in found:
            number += 1
            key = f"{role}_{number}"
        found[key] = link.url
    return found
