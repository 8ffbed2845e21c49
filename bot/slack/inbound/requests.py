"""Sanitize what Slack sends before Bolt reads it: JSON of any shape in, documented types for known keys out.

Bolt takes the documented types for granted and fails on others; then Slack would get no acknowledgement and would send
the same again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest

TEXTS = frozenset({
    "action_id", "app_installed_team_id", "block_id", "bot_access_token", "bot_id", "callback_id", "channel_id",
    "channel_type", "command", "deleted_ts", "domain", "enterprise_id", "event_id", "event_ts",
    "function_execution_id", "hash", "id", "inviter", "private_metadata", "response_url", "ssl_check", "subtype",
    "tab", "team_id", "text", "thread_ts", "token", "trigger_id", "ts", "type", "url", "user_id", "user_team", "value",
})  # fmt: skip
OBJECTS = frozenset({
    "assistant_thread", "container", "event", "function", "function_data", "item", "message", "previous_message",
    "root", "state", "view",
})  # fmt: skip
# An id, or an object that has one.
EITHER = frozenset({"channel", "enterprise", "team", "user"})
LISTS = frozenset({"actions", "authorizations", "response_urls"})
MOST_DEEP = 80


def sanitize_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body without values of another type than Slack documents for their key; unknown keys stay."""
    items = ((key, _sanitize_value(key, value)) for key, value in body.items())
    return {key: value for key, value in items if value is not None or key not in TEXTS | OBJECTS | EITHER | LISTS}


def _sanitize_value(key: str, value: Any) -> Any:
    if key in TEXTS:
        return value if isinstance(value, str) else None
    if key in OBJECTS or (key in EITHER and not isinstance(value, str)):
        return sanitize_body(value) if isinstance(value, Mapping) else None
    if key in LISTS:
        return (
            [sanitize_body(row) for row in value if isinstance(row, Mapping)] or None
            if isinstance(value, list)
            else None
        )
    return value


def build_bolt_request(body: object) -> AsyncBoltRequest | None:
    """Return the request for Bolt, which the transport has verified as Slack's; None for anything that is no JSON
    object, or nested deeper than anything that Slack sends."""
    if not isinstance(body, Mapping) or _is_deep(body):
        return None
    # Bolt calls this mode "socket_mode": the signature, if one is needed, is checked before.
    return AsyncBoltRequest(mode="socket_mode", body=_fill_in(sanitize_body(body)))


def _fill_in(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with what Bolt looks up without being asked in requests of these types; a request that lacks its
    subject becomes unknown to Bolt."""
    rows = body.get("actions", ())
    subject = {
        "block_actions": bool(rows) and "action_id" in rows[0],
        "interactive_message": bool(rows),
        "workflow_step_edit": False,  # steps of workflows are none of ours
    }
    if not subject.get(str(body.get("type")), True):
        return body | {"type": "unreadable"}
    return body | {"view": {"type": "modal"} | body["view"], "workflow_step": {}} if "view" in body else body


def _is_deep(body: object) -> bool:
    level = [body]
    for _ in range(MOST_DEEP):
        level = [inner for value in level for inner in _list_inner(value)]
        if not level:
            return False
    return True


def _list_inner(value: object) -> list[Any]:
    """Return the objects and lists directly inside a value."""
    inner: Any = value.values() if isinstance(value, Mapping) else value
    return [item for item in inner if isinstance(item, Mapping | list)] if isinstance(value, Mapping | list) else []
