"""Channels, users and sample alerts for the local Slack, read from one given folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bot.playground.workspace.state import JSON

DEFAULT: dict[str, Any] = {
    "users": [
        {"id": "U0ALICE", "name": "alice", "real_name": "Alice Moreau", "is_admin": True},
        {"id": "U0BOB", "name": "bob", "real_name": "Bob Tanaka"},
        {"id": "U0GINA", "name": "gina", "real_name": "Gina Okafor", "is_guest": True},
    ],
    "usergroups": [{"id": "S0ONCALL", "name": "oncall", "members": ["bob"]}],
    "channels": [
        {"id": "C0ALERTS", "name": "alerts"},
        {"id": "C0RANDOM", "name": "random", "bot": False},
        {"id": "C0SECRET", "name": "sec-incidents", "is_private": True, "members": ["alice"]},
        {"id": "C0PARTNERS", "name": "partners", "is_ext_shared": True, "members": ["alice", "bob", "gina"]},
    ],
}


def read_channels(seeds_dir: Path | None) -> dict[str, Any]:
    """Return the content of `channels.json`, or a small built-in workspace."""
    if seeds_dir is None:
        return DEFAULT
    content: dict[str, Any] = json.loads((seeds_dir / "channels.json").read_text(encoding="utf-8"))
    return content


def read_sample_alerts(seeds_dir: Path | None) -> dict[str, JSON]:
    """Return the sample alerts by name: payloads as tools send them to an incoming webhook."""
    if seeds_dir is None:
        return {}
    files = sorted((seeds_dir / "alerts").glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}
