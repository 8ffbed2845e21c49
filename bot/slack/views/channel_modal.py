"""Build the modal of a channel's settings, and read it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import time

from bot.domain.alerts.alert import Severity
from bot.domain.alerts.channel_settings import ACKNOWLEDGER, NO_DIGEST, ChannelSettings
from bot.domain.reports.digest import DAYS
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.payload import Body
from bot.slack.views.channel import DAY_NAMES, build_app_choices, format_quiet_hours
from bot.slack.views.forms import (
    View,
    has_block,
    input_block,
    line_input,
    modal,
    option,
    read_answers,
    read_selection,
    select,
)
from bot.slack.views.markup import Block
from bot.workflows.channels.settings import ChannelView

ANY, NOBODY, ON, OFF, SILENT, ALLOWED = "any", "nobody", "on", "off", "silent", "allowed"
_QUIET = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(?:-|–|—|to)\s*(\d{1,2})(?::(\d{2}))?", re.IGNORECASE)
SEVERITIES = (
    (ANY, "Any severity"),
    (Severity.WARNING.value, "warning and above"),
    (Severity.HIGH.value, "high and above"),
    (Severity.CRITICAL.value, "critical only"),
)
USUAL = "usual"
MODEL_CHOICES = ((USUAL, "As usual: in public channels only"), (ON, "Yes"), (OFF, "No"))
MODEL_HINT = (
    "It sees the alert, the evidence and the brief, masked: /precedent sent INC-… shows it. Its answers are labelled."
)
Choices = Sequence[tuple[str, str]]


def build_channel_view(view: ChannelView, metadata: Body) -> View:
    """Return the modal with the current settings. It asks about pools in private channels and about sharing in shared
    ones."""
    settings, when = view.settings, view.digest
    days = [(NO_DIGEST, "No digest"), *((day, DAY_NAMES[day]) for day in DAYS)]
    hours = [(str(hour), f"{hour:02}:00") for hour in range(24)]
    blocks: list[Block] = [
        *_build_sources(view),
        _select_one(
            ids.MINIMUM,
            "Answer alerts of which severity?",
            SEVERITIES,
            settings.minimum.value if settings.minimum else ANY,
            "Milder ones still count in the history. Alerts that name no severity are answered.",
        ),
        _select_one(
            ids.MENTION,
            "Whom to mention?",
            _build_mention_choices(view),
            settings.tell or NOBODY,
            "In the first post about a critical or high alert only.",
        ),
        line_input(
            ids.QUIET,
            "Quiet hours",
            "Such as 22:00-07:00. Warning and info get no brief then; critical and high always do.",
            format_quiet_hours(view),
        ),
        _select_one(ids.DIGEST_DAY, "Digest on", days, when.day),
        _select_one(ids.DIGEST_HOUR, "Digest at", hours, str(when.hour)),
        line_input(ids.ZONE, "Time zone", "Of quiet hours and digest, such as Europe/Berlin.", str(when.zone), 64),
        _select_one(
            ids.NUDGES,
            "Ask people to record what fixed it?",
            ((ON, "Yes"), (OFF, "No")),
            ON if settings.nudges else OFF,
        ),
        _select_one(
            ids.MODEL,
            "May a language model be asked about alerts here?",
            MODEL_CHOICES,
            _read_model_choice(view),
            MODEL_HINT,
        ),
        *_build_pool(view),
        *_build_sharing(view),
    ]
    return modal(ids.CHANNEL_VIEW, "Channel settings", "Save", blocks, metadata)


def _select_one(block_id: str, label: str, choices: Choices, now: str, hint: str | None = None) -> Block:
    options = {value: option(text, value) for value, text in choices}
    return select(block_id, label, list(options.values()), initial=options.get(now), hint=hint)


def _read_model_choice(view: ChannelView) -> str:
    return {None: USUAL, True: ON, False: OFF}[view.settings.model]


def _build_sources(view: ChannelView) -> list[Block]:
    """Return the choice of apps; nothing before an app has posted."""
    apps = [option(label, source) for label, source in build_app_choices(view.sources)]
    if not apps:
        return []
    element: dict[str, object] = {"type": "multi_static_select", "action_id": ids.INPUT, "options": apps}
    if listed := [app for app in apps if app["value"] in view.settings.sources]:
        element["initial_options"] = listed
    hint = "None chosen: all. Alerts of other apps are ignored here altogether."
    return [input_block(ids.SOURCES, "Only alerts of these apps", element, optional=True, hint=hint)]


def _build_mention_choices(view: ChannelView) -> list[tuple[str, str]]:
    choices = {NOBODY: "Nobody", ACKNOWLEDGER: "Who acknowledged"} | {g.group_id: f"@{g.name}" for g in view.groups}
    if view.settings.tell and view.settings.tell not in choices:
        choices[view.settings.tell] = f"User group {view.settings.tell}"
    return list(choices.items())


def _build_pool(view: ChannelView) -> list[Block]:
    if not view.channel.is_private or view.channel.is_shared:
        return []
    element: dict[str, object] = {
        "type": "multi_conversations_select",
        "action_id": ids.INPUT,
        "filter": {"include": ["private"], "exclude_external_shared_channels": True, "exclude_bot_users": True},
    }
    if view.pool:
        element["initial_conversations"] = list(view.pool)
    hint = "Their private incidents are recalled here, and ours there. You must be a member of both."
    return [input_block(ids.POOL, "Pool with private channels", element, optional=True, hint=hint)]


def _build_sharing(view: ChannelView) -> list[Block]:
    if not view.channel.is_shared:
        return []
    choices = ((SILENT, "Say nothing here"), (ALLOWED, "Answer alerts here"))
    hint = "The other organisation reads every brief, with what it quotes of past incidents of public channels."
    now = ALLOWED if view.settings.shared else SILENT
    return [_select_one(ids.SHARED, "This channel is shared with another organisation", choices, now, hint)]


def read_channel_settings(view: Body) -> tuple[ChannelSettings, tuple[str, ...] | None]:
    """Return what the person set, and the pool (None: it was not asked). Raises RecordRejected with the field."""
    answers = read_answers(view)
    minimum, tell = answers.get(ids.MINIMUM, ANY), answers.get(ids.MENTION, NOBODY)
    settings = ChannelSettings(
        sources=frozenset(read_selection(view, ids.SOURCES)),
        minimum=Severity(minimum) if minimum in set(Severity) else None,
        tell=None if tell == NOBODY else tell,
        quiet=read_quiet_hours(answers.get(ids.QUIET, "")),
        zone=answers.get(ids.ZONE),
        digest_day=_require_choice(answers.get(ids.DIGEST_DAY), (NO_DIGEST, *DAYS), ids.DIGEST_DAY),
        digest_hour=int(_require_choice(answers.get(ids.DIGEST_HOUR), tuple(map(str, range(24))), ids.DIGEST_HOUR)),
        nudges=answers.get(ids.NUDGES, ON) == ON,
        shared=answers.get(ids.SHARED) == ALLOWED,
        model={ON: True, OFF: False}.get(answers.get(ids.MODEL, USUAL)),
    )
    return settings, read_selection(view, ids.POOL) if has_block(view, ids.POOL) else None


def _require_choice(value: str | None, allowed: Sequence[str], field: str) -> str:
    if value is None or value not in allowed:
        raise RecordRejected(field, "Choose one.")
    return value


def read_quiet_hours(text: str) -> tuple[time, time] | None:
    """Return the quiet hours of "22:00-07:00" or "22-7", None for nothing. Raises RecordRejected."""
    if not text.strip():
        return None
    match = _QUIET.fullmatch(text.strip())
    if match is None:
        raise RecordRejected(ids.QUIET, "Write it as 22:00-07:00, or leave it empty.")
    try:
        start, end = (
            time(int(match[1]), int(match[2] or 0)),
            time(0 if (match[3], int(match[4] or 0)) == ("24", 0) else int(match[3]), int(match[4] or 0)),
        )
    except ValueError as problem:
        raise RecordRejected(ids.QUIET, "There is no such time of day: write it as 22:00-07:00.") from problem
    if start == end:
        raise RecordRejected(ids.QUIET, "From and until are the same. Leave it empty for no quiet hours.")
    return start, end
