"""Build the modals that silence, "Mute…" and "Not an alert…", and read them back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from bot.domain.alerts.suppression import MuteTarget, RuleScope, name_alert
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.payload import Body
from bot.slack.views.forms import View, line_input, modal, option, read_answers, select
from bot.slack.views.markup import Block, plain, verbatim
from bot.workflows.channels.silences import AnsweredAlert

AT_A_TIME, ONLY_THIS = "at", "this"
SPANS = (
    ("1h", "1 hour", timedelta(hours=1)),
    ("4h", "4 hours", timedelta(hours=4)),
    ("24h", "24 hours", timedelta(hours=24)),
    ("7d", "7 days (stewards)", timedelta(days=7)),
)
_TIME = re.compile(r"(?:(\d{4}-\d{2}-\d{2})[ T]+)?(\d{1,2}):(\d{2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class MuteForm:
    """One request to mute something."""

    what: MuteTarget
    until: datetime
    reason: str


def build_mute_view(answered: AnsweredAlert, metadata: Body, zone: tzinfo) -> View:
    """Return the modal that asks what to mute, for how long, and why."""
    things = [option(f"This alert: {name_alert(answered.alert)}", MuteTarget.FINGERPRINT.value)]
    if answered.alert.service:
        things.append(option(f"Everything of service {answered.alert.service}", MuteTarget.SERVICE.value))
    things.append(option("Everything in this channel", MuteTarget.CHANNEL.value))
    spans = [*(option(label, value) for value, label, _ in SPANS), option("Until a time…", AT_A_TIME)]
    blocks: list[Block] = [
        select(
            ids.WHAT,
            "Mute what?",
            things,
            initial=things[0],
            hint="Muted alerts still count in the history; nothing is posted about them in this channel.",
        ),
        select(ids.UNTIL, "For how long?", spans, initial=spans[0]),
        line_input(
            ids.UNTIL_TIME, "Until", f"18:30 or 2026-12-24 08:00, for “Until a time…”. Time zone: {zone}.", most=40
        ),
        line_input(ids.REASON, "Why?", "Your colleagues will read it."),
    ]
    return modal(ids.MUTE_VIEW, "Mute", "Mute", blocks, metadata)


def read_mute(view: Body, now: datetime, zone: tzinfo) -> MuteForm:
    """Return what the person asked; times are the channel's local ones. Raises RecordRejected with the field."""
    answers = read_answers(view)
    what, span = answers.get(ids.WHAT, ""), answers.get(ids.UNTIL, "")
    if what not in set(MuteTarget) - {MuteTarget.NUDGES}:
        raise RecordRejected(ids.WHAT, "Choose one.")
    lasts = next((length for value, _, length in SPANS if value == span), None)
    until = now + lasts if lasts else _read_until(answers.get(ids.UNTIL_TIME, ""), now, zone)
    return MuteForm(MuteTarget(what), until, answers.get(ids.REASON, ""))


def _read_until(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Return the end that a time of day (the next one) or a date with a time names, in the channel's zone. Raises
    RecordRejected."""
    local, match = now.astimezone(zone), _TIME.fullmatch(text.strip())
    if match is None:
        raise RecordRejected(ids.UNTIL_TIME, "Write it as 18:30 or 2026-12-24 08:00.")
    try:
        day = datetime.fromisoformat(match[1]).date() if match[1] else local.date()
        until = datetime(day.year, day.month, day.day, int(match[2]), int(match[3]), tzinfo=zone)
        until = until.astimezone(now.tzinfo)
    except (ValueError, OverflowError) as problem:
        raise RecordRejected(ids.UNTIL_TIME, "There is no such time.") from problem
    if until <= now and not match[1]:
        tomorrow = local.date() + timedelta(days=1)
        return datetime(
            tomorrow.year, tomorrow.month, tomorrow.day, int(match[2]), int(match[3]), tzinfo=zone
        ).astimezone(now.tzinfo)
    if until <= now:
        raise RecordRejected(ids.UNTIL_TIME, "That time is over already.")
    return until


def build_not_alert_view(answered: AnsweredAlert, metadata: Body) -> View:
    """Return the modal that asks for confirmation, and how much to learn from it; a wide rule is never the default."""
    app = answered.app or answered.alert.tool
    choices = [option("Nothing: quiet only while it goes on", ONLY_THIS)]
    if answered.source:
        choices = [
            option(f"Ignore this title from {app} from now on", RuleScope.TITLE.value),
            *choices,
            option(f"Ignore everything that {app} posts here", RuleScope.SOURCE.value),
        ]
    blocks: list[Block] = [
        verbatim(plain(name_alert(answered.alert), 200) or "Alert"),
        verbatim(f"The brief of {plain(answered.incident_id, 40)} is deleted and the incident is dismissed."),
        select(
            ids.REACH,
            "What should I learn from it?",
            choices,
            initial=choices[0],
            hint="Numbers in the title may differ. A critical alert is ignored only if its title is the very same. "
            "/precedent rules lists what is ignored, with Undo.",
        ),
    ]
    return modal(ids.NOT_ALERT_VIEW, "Not an alert?", "Delete brief", blocks, metadata)


def read_reach(view: Body) -> RuleScope | None:
    """Return how much is to be learned; None for nothing. Raises RecordRejected."""
    reach = read_answers(view).get(ids.REACH, "")
    if reach == ONLY_THIS:
        return None
    if reach not in set(RuleScope):
        raise RecordRejected(ids.REACH, "Choose one.")
    return RuleScope(reach)
