"""The page of the local Slack: its static files, and its state as JSON."""

from __future__ import annotations

from importlib import resources
from typing import Any

from aiohttp import web

from bot.playground.driver import LocalSlackDriver
from bot.playground.workspace import messages
from bot.playground.workspace.state import JSON, LocalChannel, LocalUser, SlackRefused

_FILES = {
    "app.js": "text/javascript",
    "blocks.js": "text/javascript",
    "files.js": "text/javascript",
    "icons.js": "text/javascript",
    "message.js": "text/javascript",
    "modal.js": "text/javascript",
    "page.js": "text/javascript",
    "side.js": "text/javascript",
    "story.js": "text/javascript",
    "text.js": "text/javascript",
    "traffic.js": "text/javascript",
    "style.css": "text/css",
    "index.html": "text/html",
}
_RECENT = 60
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)


async def static_file(request: web.Request) -> web.Response:
    """Serve one of the page's own files, and the page itself at every other address."""
    return _serve_file(request.match_info["name"])


async def index(_request: web.Request) -> web.Response:
    """Serve the page."""
    return _serve_file("index.html")


def _serve_file(name: str) -> web.Response:
    if name not in _FILES:
        raise web.HTTPNotFound
    text = (resources.files("bot.playground") / "static" / name).read_text(encoding="utf-8")
    headers = {
        "Content-Security-Policy": _POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return web.Response(text=text, content_type=_FILES[name], charset="utf-8", headers=headers)


def build_page_state(slack: LocalSlackDriver, user_id: str, channel_id: str, thread_ts: str) -> JSON:
    """Return everything that one person sees: channels, messages, thread, modals, Home, and the available choices."""
    core = slack.core
    people = [u for u in core.workspace.users.values() if not u.is_bot]
    user = core.workspace.users.get(user_id) or people[0]
    channels = _list_channels(slack, user)
    channel = next((c for c in channels if c.id == channel_id), channels[0] if channels else None)
    screen = core.surfaces.screen(user.id)
    return {
        "version": core.version,
        "team": core.workspace.name,
        "bot": {"user": core.workspace.bot_user, "name": core.workspace.bot.name, "connected": slack.connected},
        "me": user.id,
        "people": [_build_person(u) for u in people],
        "names": {u.id: u.real_name for u in core.workspace.users.values()},
        "channel_names": {c.id: c.name for c in core.workspace.channels.values()},
        "channels": [_build_channel(slack, c, user) for c in channels],
        "channel": channel.id if channel else None,
        "messages": [messages.build_public_message(m) for m in core.workspace.timeline(channel)] if channel else [],
        "thread": _read_thread(slack, channel, thread_ts),
        "ephemerals": slack.ephemerals(user.id, channel.id) if channel else [],
        "modals": screen.modals,
        "errors": screen.errors,
        "notice": screen.notice,
        "home": screen.home,
        "commands": list(core.installed.commands),
        "shortcuts": list(core.installed.shortcuts),
        "samples": [_build_sample(name, payload) for name, payload in slack.samples.items()],
        "switches": slack.board.to_json(),
    }


def _list_channels(slack: LocalSlackDriver, user: LocalUser) -> list[LocalChannel]:
    seen = [c for c in slack.core.workspace.channels.values() if not c.is_im or user.id in c.members]
    if user.is_guest:
        return [c for c in seen if user.id in c.members]
    return [c for c in seen if not c.is_private or user.id in c.members]


def _build_person(user: LocalUser) -> JSON:
    return {"id": user.id, "name": user.name, "real_name": user.real_name, "guest": user.is_guest}


def _build_channel(slack: LocalSlackDriver, channel: LocalChannel, user: LocalUser) -> JSON:
    facts: dict[str, Any] = {"id": channel.id, "name": channel.name, "topic": channel.topic}
    facts |= {"private": channel.is_private, "shared": channel.is_ext_shared, "im": channel.is_im}
    facts |= {"bot": slack.core.workspace.has_bot(channel), "members": list(channel.members)}
    recent = slack.core.workspace.timeline(channel)[-_RECENT:]
    mention = f"<@{user.id}>"
    facts["recent"] = [m["ts"] for m in recent if m.get("user") != user.id]
    facts["mentions"] = [m["ts"] for m in recent if channel.is_im or mention in m.get("text", "")]
    return facts


def _build_sample(name: str, payload: JSON) -> JSON:
    """Describe a sample alert for the picker: the tool and its first line."""
    attachment: JSON = next(iter(payload.get("attachments") or ()), {})
    said = str(attachment.get("title") or payload.get("text") or name)
    return {"name": name, "tool": str(payload.get("username") or "webhook"), "title": said}


def _read_thread(slack: LocalSlackDriver, channel: LocalChannel | None, thread_ts: str) -> list[JSON]:
    if channel is None or not thread_ts:
        return []
    try:
        return [messages.build_public_message(m) for m in slack.core.workspace.thread(channel, thread_ts)]
    except SlackRefused:
        return []
