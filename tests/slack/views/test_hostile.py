"""Text from alerts, records and people, written to do harm, through every surface and every view."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, tzinfo
from enum import Enum
from typing import Any, TypeVar

import pytest

from bot.domain.brief.decide import Brief
from bot.domain.incidents.record import Runbook
from bot.domain.resolutions.suggestions import SuggestedFix
from bot.slack.listeners.routes import HELP
from bot.slack.views import resolve_modal
from bot.slack.views.channel import render_channel, render_rules
from bot.slack.views.channel_modal import build_channel_view
from bot.slack.views.details_modal import build_details_view
from bot.slack.views.help import render_help
from bot.slack.views.home import render_home, render_open_incidents, render_status
from bot.slack.views.silence_modals import build_mute_view, build_not_alert_view
from bot.slack.views.surfaces import SlackSurfaces, render_apology
from bot.workflows.recall.details import BriefDetails
from bot.workflows.resolutions.resolve import ResolveForm
from tests.slack import cases
from tests.slack.views.hostile_support import HOSTILE, INVISIBLE, OURS

SURFACES = SlackSurfaces()
Value = TypeVar("Value")


def spoiled(value: Any, text: str) -> Any:
    """The same value with every free text replaced; ids, addresses and states stay what they are."""
    if isinstance(value, Enum | datetime | time | tzinfo) or value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, Mapping):
        return {f"{text}{n}": spoiled(v, text) for n, v in enumerate(value.values())}
    if isinstance(value, tuple | frozenset):
        return type(value)(spoiled(v, text) for v in value)
    fields = dataclasses.fields(value)
    kept = {"url", "links", "state", "memory_mode", "tier", "kind", "visibility"}
    changed = {f.name: spoiled(getattr(value, f.name), text) for f in fields if f.name not in kept}
    return dataclasses.replace(value, **changed)


def briefs(text: str) -> list[Brief]:
    return [
        spoiled(b, text) for b in (cases.high(), cases.seen(), cases.mixed(), cases.insufficient(), cases.memory_off())
    ]


def surfaces(text: str) -> list[Any]:
    """Everything that can be shown, with this text in every place that holds data."""
    shown: list[Any] = []
    for brief in briefs(text):
        shown += [
            SURFACES.render_brief(brief),
            SURFACES.render_superseded(brief),
            SURFACES.render_recalled(brief, text, 5),
        ]
        shown += [SURFACES.render_repeat(brief, "https://ok.example/x"), SURFACES.render_repeat(brief, f"{text}<|")]
    rows, lines = spoiled(cases.open_rows(), text), spoiled(cases.status_lines(), text)
    shown += [
        SURFACES.render_recorded(spoiled(cases.life(), text), text, text),
        SURFACES.render_digest(spoiled(cases.digest(), text)),
    ]
    shown += [
        render_open_incidents(rows),
        render_status(lines),
        render_help(HELP, text),
        render_home(lines, rows, HELP),
    ]
    house, view, answered = (spoiled(v, text) for v in (cases.house(), cases.channel_settings(), cases.answered()))
    shown += [render_rules(house), render_channel(replace(view, digest=cases.untouched().digest))]
    shown += [SURFACES.render_mute(m) for m in house.mutes]
    form = ResolveForm(
        text,
        text,
        (SuggestedFix(text), SuggestedFix(f"{text}2", failed=True)),
        (text,),
        runbooks=(Runbook(text, text, (text,)),),
    )
    views = [resolve_modal.build_resolve_view(form, {"i": text}), resolve_modal.build_pick_view(rows, {"c": text})]
    views += [build_mute_view(answered, {"c": text}, UTC), build_not_alert_view(answered, {"c": text})]
    views += [build_details_view(BriefDetails(brief)) for brief in briefs(text)]
    views.append(build_channel_view(replace(view, digest=cases.untouched().digest), {"c": text}))
    return [*((m.text, m.blocks) for m in [*shown, render_apology(text)]), *views]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_data_has_power(text: str) -> None:
    assert len(HOSTILE) >= 40
    for surface in surfaces(text):
        notification = [("mrkdwn", surface[0])] if isinstance(surface, tuple) else []
        for kind, said in [*notification, *cases.texts(surface)]:
            ours = OURS.findall(said) if kind == "mrkdwn" else []
            rest = OURS.sub("", said) if kind == "mrkdwn" else said
            assert "<" not in rest, said
            assert ">" not in rest, said
            assert not re.search(r"&(?!amp;|lt;|gt;)", rest), said
            assert not INVISIBLE.search(said), repr(said)
            assert all("evil" not in o.split("|")[0] for o in ours)


@pytest.mark.parametrize("text", [h for h in HOSTILE if len(h) < 30])
def test_data_adds_no_format(text: str) -> None:
    def marks(word: str) -> list[tuple[int, ...]]:
        found = (said for surface in surfaces(word) for kind, said in cases.texts(surface) if kind == "mrkdwn")
        return [tuple(said.count(mark) for mark in "*~`") for said in found]

    blank = {"\u202e", "\t\t"}
    if text not in blank and is_shown(text):
        assert marks(text) == marks("x")


def is_shown(text: str) -> bool:
    """Whether anything of the text can be seen at all (else lines are missing, and marks with them)."""
    return bool(render_help(HELP, text).blocks) and "“”" not in cases.shown(render_help(HELP, text).blocks)


@pytest.mark.parametrize("make", [SURFACES.render_brief, SURFACES.render_superseded])
def test_every_mrkdwn_is_verbatim(make: Callable[[Brief], Any]) -> None:
    """Slack must add no links, mentions or emoji of its own."""

    def objects(node: Any) -> list[Mapping[str, Any]]:
        if isinstance(node, Mapping):
            mine = [node] if node.get("type") in {"mrkdwn", "plain_text"} else []
            return mine + [o for v in node.values() for o in objects(v)]
        return [o for item in node for o in objects(item)] if isinstance(node, list | tuple) else []

    for found in objects(make(cases.high()).blocks):
        assert found.get("verbatim") is True or found.get("emoji") is False
