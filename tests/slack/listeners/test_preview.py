"""The preview that the hello offers, on a local Slack: what would have been said, to one person, with nothing kept or posted."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from bot.adapters.store.database.tables import inbox, lives, notices, outbox
from bot.bootstrap.wiring.operations import build_preview_channel
from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.brief.decide import decide
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.operations.preview import (
    Preview,
    PreviewedAnswer,
    PreviewedIncident,
    PreviewOutcome,
    RecurringAlert,
    SeenPost,
)
from bot.domain.recall.ranking import Recalled
from bot.playground.blocks.validate import validate_view
from bot.slack import ids
from bot.slack.app import build_app
from bot.slack.listeners.preview import read_preview_channel
from bot.slack.views.help import render_hello
from bot.slack.views.preview_modal import build_preview_view
from tests.bootstrap.past import case
from tests.fakes import START
from tests.slack.conftest import ROOT, Desk, listening, pressed

RAISED = "payment-gateway-504"


def sample(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "seeds/alerts" / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


async def rows(desk: Desk) -> list[int]:
    """How many rows there are of everything that could be kept of alerts."""
    async with desk.memory.store.database.read() as connection:
        counts = [sa.select(sa.func.count()).select_from(table) for table in (lives, notices, inbox, outbox)]
        return [int((await connection.execute(count)).scalar_one()) for count in counts]


def text_of(desk: Desk, user: str) -> str:
    view = desk.slack.view(user)
    return json.dumps(view["blocks"], ensure_ascii=False) if view else "Reading"


async def previewed(desk: Desk, hello: str, user: str) -> str:
    if desk.slack.view(user):
        await desk.slack.close_view(user=user, clear=True)
    await desk.slack.click("C0ALERTS", hello, ids.PREVIEW, user=user)
    await desk.slack.wait_until(lambda: "Reading" not in text_of(desk, user), 20)
    return text_of(desk, user)


async def test_who_invited_the_bot_sees_what_it_would_have_said(unconnected: Desk) -> None:
    desk, slack = unconnected, unconnected.slack
    preview = build_preview_channel(desk.base, read=desk.deps.read)
    app = build_app(desk.app.client, slack.signing_secret, replace(desk.deps, preview=preview))
    await desk.seed()
    await slack.leave("alerts", "precedent")
    for _ in range(2):
        await slack.post_alert("alerts", sample(RAISED))
    await slack.deliver_message("alerts", case("datadog/triggered"))
    await slack.deliver_message("alerts", case("datadog/warn_log_monitor"))
    await slack.deliver_message("alerts", case("chatter/github_pr_bot"))
    await slack.post("alerts", "is prod down?", user="bob")
    async with listening(slack, app):
        await slack.invite("alerts", "precedent", inviter="alice")
        await desk.work()
        hello = slack.timeline("alerts")[-1]
        assert "Preview on the last 50 alerts" in json.dumps(hello)
        before, posted = await rows(desk), len(slack.messages("alerts"))
        shown = await previewed(desk, hello["ts"], "alice")
        for said in (
            "The last 4 alert posts here",
            "made 3 incidents",
            "1×* a brief with what fixed it (1 HIGH)",
            "GitHub 1",
        ):
            assert said in shown, shown
        assert "RESOLUTION STEPS" in shown
        assert "INC-" in shown
        assert "Only you see this" in shown
        assert ids.FIXED not in shown
        assert slack.view("bob") is None
        await asyncio.gather(*(slack.click("C0ALERTS", hello["ts"], ids.PREVIEW, user="bob") for _ in range(2)))
        await slack.wait_until(lambda: "RESOLUTION STEPS" in text_of(desk, "bob"), 20)
        assert (await rows(desk), len(slack.messages("alerts"))) == (before, posted)
        await slack.limit(1, "conversations.history")
        assert "press the button again in a minute" in await previewed(desk, hello["ts"], "alice")
        await slack.refuse_scope("channels:history")
        assert "lacks the scope channels:history" in await previewed(desk, hello["ts"], "alice")
        slack.core.workspace.channel("alerts").is_ext_shared = True
        desk.chat._channels.clear()
        await slack.click("C0ALERTS", hello["ts"], ids.PREVIEW, user="alice")
        assert "shared with another organisation" in await desk.whisper("alice")


@pytest.mark.parametrize(
    ("action", "channel"),
    [
        (render_hello("C0NEW").blocks[1]["elements"][0], "C0NEW"),
        (render_hello().blocks[1]["elements"][0], "C0SHADOW"),
        ({"value": "C0NEW"}, "C0SHADOW"),
        ({"value": 1}, "C0SHADOW"),
        ({}, "C0SHADOW"),
    ],
)
def test_the_preview_is_of_the_channel_that_the_button_names(action: Any, channel: str) -> None:
    """The hello may stand in a shadow channel."""
    it, _ = pressed({}, channel={"id": "C0SHADOW"})
    assert read_preview_channel(replace(it, action=action)) == channel


def shown(found: Preview | str) -> str:
    view = build_preview_view(found)
    assert validate_view(view) == []
    return json.dumps(view, ensure_ascii=False)


def test_whatever_was_found_fits_and_says_what_it_is() -> None:
    unread = {f"<!channel> *App* {n}": n for n in range(1, 12)}
    assert "`" not in shown("I cannot read `this`")
    nothing = shown(Preview(messages=7, unread=unread))
    assert "None of the last 7 messages" in nothing
    assert "<!channel>" not in nothing
    assert "+3 more" in nothing
    recurring = tuple(RecurringAlert("t" * 300, "s" * 300, 40 - n, PreviewOutcome.REACTION) for n in range(12))
    silent = {f"muted by {n} " + "x" * 300: 1 for n in range(9)}
    much = Preview(
        50,
        50,
        START,
        {"grafana": 50},
        12,
        12,
        {PreviewOutcome.SILENCE: 9, PreviewOutcome.REACTION: 3},
        {},
        silent,
        recurring,
    )
    assert "+4 more" in shown(much)
    assert "muted by 0" in shown(much)
    assert "The last 1 alert post here" in shown(Preview(1, 1, START, {"grafana": 1}, 1, 0))
    at = START
    alert = Alert("grafana", AlertState.FIRING, "f", title="Disk", severity=Severity.WARNING)
    life = Lifecycle("", "f", "public", IncidentState.OPEN, at, at)
    mild = PreviewedAnswer(
        PreviewedIncident(life, SeenPost(alert, "1.5", at, "B1")),
        PreviewOutcome.REACTION,
        decide(alert, Recalled(), (), at),
    )
    assert "Asked for more, I would say" in shown(replace(much, example=mild))
