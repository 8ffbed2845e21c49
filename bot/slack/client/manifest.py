"""Prepare the app's manifest for a person to create the app with: for Socket Mode or for HTTP, as a link or as text to
paste.

The manifest itself is manifest.yml; it comes in parsed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

CREATE = "https://api.slack.com/apps?new_app=1&manifest_json="
# Legal in a query as they are, and what terminals take for part of a link.
PLAIN = ":,/"
EVENTS = "/slack/events"


def adapt_to_http(manifest: Mapping[str, Any], address: str) -> dict[str, Any]:
    """Return the manifest of an app whose events, buttons and commands Slack sends to this address (without the
    path)."""
    made: dict[str, Any] = copy.deepcopy(dict(manifest))
    url = address.rstrip("/") + EVENTS
    settings = made["settings"]
    settings["socket_mode_enabled"] = False
    for part in ("event_subscriptions", "interactivity"):
        settings[part] = {"request_url": url, **settings[part]}
    for command in made["features"]["slash_commands"]:
        command["url"] = url
    return made


def build_creation_link(manifest: Mapping[str, Any]) -> str:
    """Return the address of Slack's page that creates an app, with the manifest filled in; compact, so that it stays
    short."""
    return CREATE + quote(json.dumps(manifest, ensure_ascii=False, separators=(",", ":")), safe=PLAIN)
