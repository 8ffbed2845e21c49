"""Render a channel's settings, its rules and mutes, and the line that says what was muted."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.alerts.channel_settings import ACKNOWLEDGER, NO_DIGEST
from bot.domain.alerts.suppression import ChannelPolicy, Mute, MuteTarget, RuleScope, SilenceRule
from bot.domain.recall.dismissed import DismissedPrecedent
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.payload import encode
from bot.slack.views.markup import (
    Block,
    actions,
    context,
    format_channel,
    format_time,
    format_user,
    header,
    plain_text,
    prose,
    section,
)
from bot.slack.views.wrong_precedent_modal import render_dismissals
from bot.workflows.channels.settings import ChannelView

PAGE = 15
DAY_NAMES = {
    "mon": "Monday",
    "tue": "Tuesday",
    "wed": "Wednesday",
    "thu": "Thursday",
    "fri": "Friday",
    "sat": "Saturday",
    "sun": "Sunday",
}


def render_channel(view: ChannelView) -> ChatMessage:
    """Return a channel's settings for one person, with a button if they may change them."""
    name = f"#{prose(view.channel.name, 80)}" if view.channel.name else "this channel"
    blocks: list[Block] = [section("\n".join([f"*Settings of {name}*", *format_settings(view)]))]
    if view.may.allowed:
        button = {"type": "button", "action_id": ids.CHANGE_CHANNEL, "text": plain_text("Change…")}
        blocks.append(actions("precedent.channel", [button]))
    else:
        blocks.append(context(prose(view.may.refusal, 300)))
    return ChatMessage(f"Settings of {name}", tuple(blocks))


def format_settings(view: ChannelView) -> list[str]:
    """Return one line for each setting."""
    settings, when, called = view.settings, view.digest, dict(view.sources)
    apps = ", ".join(prose(called.get(s, s), 60) for s in sorted(settings.sources)) or "all apps"
    digest = "none"
    if when.day != NO_DIGEST:
        digest = f"{DAY_NAMES[when.day]}, {when.hour:02}:00"
    lines = [
        f"• Alerts of: {apps}",
        f"• Answered from severity: {settings.minimum or 'any'}",
        f"• Mentioned for critical and high: {format_mentioned(view)}",
        f"• Quiet hours (no briefs for warning and info): {format_quiet_hours(view) or 'none'}",
        f"• Digest: {digest}",
        f"• Time zone: {prose(str(when.zone), 60)}",
        f"• Nudges to record what fixed it: {'on' if settings.nudges else 'off'}",
    ]
    if view.channel.is_private:
        pool = ", ".join(format_channel(other) for other in view.pool) or "none"
        lines.append(f"• Private channels whose incidents are recalled here, and the other way round: {pool}")
    if view.channel.is_shared:
        allowed = "allowed by a steward" if settings.shared else "silent"
        lines.append(f"• Shared with another organisation: {allowed}")
    if settings.model is not None:
        lines.append(f"• A language model may be asked: {'yes' if settings.model else 'no'}")
    return lines


def format_mentioned(view: ChannelView) -> str:
    """Return who is mentioned in the first post, in words that mention nobody."""
    tell = view.settings.tell
    if tell is None:
        return "nobody"
    if tell == ACKNOWLEDGER:
        return "who acknowledged"
    return prose(next((g.name for g in view.groups if g.group_id == tell), f"user group {tell}"), 80)


def format_quiet_hours(view: ChannelView) -> str:
    """Return the quiet hours as they are typed: 22:00-07:00."""
    quiet = view.settings.quiet
    return f"{quiet[0]:%H:%M}-{quiet[1]:%H:%M}" if quiet else ""


def render_rules(house: ChannelPolicy, page: int = 1, asides: Sequence[DismissedPrecedent] = ()) -> ChatMessage:
    """Return what is silenced in a channel, newest first, and which precedents were dismissed there, each with Undo."""
    silences: list[SilenceRule | Mute] = sorted(
        (*house.rules, *house.mutes), key=lambda s: (s.at, s.number), reverse=True
    )
    shown = silences[(page - 1) * PAGE : page * PAGE]
    listed = (
        [header("Set aside as precedents"), *render_dismissals(asides[-PAGE:][::-1])] if asides and page == 1 else []
    )
    if not shown and listed:
        return ChatMessage(f"{len(asides)} precedents set aside in this channel", tuple(listed))
    if not shown:
        text = "Nothing is silenced in this channel." if not silences else "There is nothing more."
        return ChatMessage(text, (section(text),))
    blocks = [header("Silenced in this channel"), *(_render_silence(s) for s in shown)]
    pages = -(-len(silences) // PAGE)
    if page < pages:
        blocks.append(context(f"Page {page} of {pages}: `/precedent rules {page + 1}` shows more."))
    return ChatMessage(f"{len(silences)} rules and mutes in this channel", (*blocks, *listed))


def _render_silence(silence: SilenceRule | Mute) -> Block:
    kind = "rule" if isinstance(silence, SilenceRule) else "mute"
    text = format_rule(silence) if isinstance(silence, SilenceRule) else format_mute(silence)
    posts = f"silenced {silence.silenced} post{'' if silence.silenced == 1 else 's'} since"
    who = f"{format_user(silence.by)}, {format_time(silence.at)}, {posts}"
    button: dict[str, object] = {
        "type": "button",
        "action_id": ids.UNDO,
        "text": plain_text("Undo"),
        "value": encode({"k": kind, "n": silence.number}),
    }
    return {**section(f"{text}\n{who}"), "accessory": button}


def format_rule(rule: SilenceRule) -> str:
    """Return what a rule silences, and what it does not."""
    if rule.reach is RuleScope.SOURCE:
        return (
            f"*Not alerts:* whatever {prose(rule.source, 40)} posts, but no critical alert other than "
            f"“{prose(rule.title, 100)}”"
        )
    return f"*Not an alert:* “{prose(rule.title, 150)}” from {prose(rule.tool, 40)} ({prose(rule.source, 40)})"


def format_mute(mute: Mute) -> str:
    """Return what is muted, until when, and why."""
    if mute.what is MuteTarget.NUDGES:
        return f"*Not asked any more what ended it:* {prose(mute.shown, 150)}"
    why = f": {prose(mute.reason, 200)}" if mute.reason else ""
    return f"*Muted:* {prose(mute.shown, 150)}, until {format_time(mute.until)}{why}"


def render_mute(mute: Mute) -> ChatMessage:
    """Return the line in the thread that says what was muted, by whom, until when."""
    text = f"{format_mute(mute)}\n{format_user(mute.by)} muted it; it still counts in its history. `/precedent rules` has Undo."
    return ChatMessage(f"Muted: {prose(mute.shown, 100)}", (section(text),))


def build_app_choices(sources: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the apps as choices: their names, and their ids."""
    return [(called, source) for source, called in sources[:100]]
