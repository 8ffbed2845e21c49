"""A month on a local Slack: sixty alerts of twelve families, what people did about them, and what they would have been told.

`pytest -s tests/slack/test_month.py` prints the table of what was told against what was true.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from bot.cli.plain_text import format_message
from bot.domain.alerts.alert import Alert
from bot.domain.brief.as_json import build_brief_json
from bot.domain.brief.decide import Brief
from bot.domain.fixes.identity import is_same_fix
from bot.domain.recall.query import OPERATOR
from bot.domain.text.names import find_content_words
from bot.parsers import read
from bot.slack import ids
from bot.workflows.recall.preview_brief import PreviewBrief
from tests.scenarios.month import Occurrence, occurrences
from tests.slack.conftest import Desk
from tests.slack.listeners.corrections_support import asks, press_record

START = datetime(2027, 3, 1, 6, tzinfo=UTC)
GOLDEN = (0, 13, 26, 27, 41, 44, 50, 53, 59)
BETWEEN, WORKED_ON = timedelta(hours=12), timedelta(minutes=70)


def post_of(one: Occurrence, *, fires: bool = True) -> dict[str, Any]:
    """How the tool writes the alert: Alertmanager's usual template, or fields as many tools have them."""
    color = "danger" if fires else "good"
    alert, said = one.alert, ", ".join(one.family.signs)
    labels = {k: alert[k] for k in ("service", "region", "vendor", "environment", "severity") if alert[k]}
    if alert["tool"] == "alertmanager":
        title = f"[{'FIRING:1' if fires else 'RESOLVED'}] {alert['title']} {alert['service']} {alert['region']} (production critical)"
        lines = [f"*Description:* {said}", "*Details:*"]
        lines += [f"  • *{k}:* `{v}`" for k, v in {"alertname": alert["title"], **labels}.items()]
        card: dict[str, Any] = {"title": title, "title_link": "https://am.example/#/alerts", "text": "\n".join(lines)}
        return {"username": "Alertmanager", "attachments": [{"color": color, "fallback": f"{title} | am", **card}]}
    fields = [{"title": k.title(), "value": v, "short": True} for k, v in labels.items()]
    card = {"title": f"{'Triggered' if fires else 'Resolved'}: {alert['title']}", "text": said}
    return {"username": "Watchly", "attachments": [{"color": color, "fields": fields, **card}]}


@dataclass
class Told:
    """What was said over the month, and how often that was true."""

    threads: dict[int, str] = field(default_factory=dict)
    fixes: Counter[tuple[str, str]] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    restored: list[bool] = field(default_factory=list)

    def take(self, one: Occurrence, brief: Brief) -> None:
        """Judge one brief by the truth."""
        best = brief.recommendation
        if best is None:
            self.fixes["-", "abstained"] += 1
        else:
            right = any(is_same_fix(best.fix, fix) for fix in one.family.true_fix(one.n))
            self.fixes[best.confidence.value, "right" if right else "wrong"] += 1
            if not right:
                self.wrong.append(f"alert {one.number} ({one.alert['title']}): {best.confidence.value} {best.fix!r}")
        for skip in brief.skip:
            guilty = find_content_words(skip.check) <= find_content_words(one.family.cause)
            self.skips["wrong" if guilty else "right"] += 1

    def table(self) -> str:
        rows = [
            f"{level:<7}{self.fixes[level, 'right']:>6}{self.fixes[level, 'wrong']:>7}"
            for level in ("HIGH", "MEDIUM", "LOW")
        ]
        return "\n".join(
            [
                "told   right  wrong",
                *rows,
                f"abstained {self.fixes['-', 'abstained']} of {sum(self.fixes.values())}",
                f"SKIP right {self.skips['right']}, wrong {self.skips['wrong']}",
                *self.wrong,
            ]
        )


@dataclass
class Month:
    """The people and their bot."""

    desk: Desk
    clock: Any
    told: Told = field(default_factory=Told)

    async def goes_by(self) -> Told:
        for one in occurrences():
            self.clock.at = START + one.number * BETWEEN
            ts, incident_id = await self.fires(one)
            self.clock.at += WORKED_ON
            await self.desk.slack.post_alert("C0ALERTS", post_of(one, fires=False))
            await self.desk.work()
            await self.people(one, ts, incident_id)
        return self.told

    async def fires(self, one: Occurrence) -> tuple[str, str]:
        posted = await self.desk.slack.post_alert("C0ALERTS", post_of(one))
        await self.desk.work()
        ts = str(posted["ts"])
        incident_id = await self.desk.memory.incidents.find_incident("C0ALERTS", ts)
        assert incident_id
        (kept,) = await self.desk.memory.incidents.list_briefs(incident_id)
        self.told.take(one, kept.brief)
        shown = format_message({"blocks": self.desk.brief(ts)["blocks"]})
        self.told.threads[one.number] = shown.replace(self.desk.slack.url, "https://slack.example")
        return ts, incident_id

    async def people(self, one: Occurrence, ts: str, incident_id: str) -> None:
        """What people record of it, each time with the modal."""
        true, decoy = one.wording, one.family.decoy
        acts: dict[str, list[tuple[str, str]]] = {
            "right": [("recovered", true)],
            "decoy first": [("no", decoy), ("recovered", true)],
            "partly": [("partly", true)],
            "mistaken": [("recovered", decoy)],
            "mistaken then failed": [("no", decoy), ("recovered", true)],
            "retracted": [("recovered", decoy)],
            "only failed": [("no", decoy)],
            "unsure": [("not_sure", true)],
            "nothing": [],
        }
        before = await self.answer(one) if one.act == "retracted" else None
        for outcome, fix in acts[one.act]:
            said = {ids.OUTCOME: outcome, ids.FIX: fix, ids.BOUNDARY: one.family.boundary}
            said[ids.FAILED_CHECKS] = "\n".join(f"{check}, {minutes} min" for check, minutes in one.family.checks)
            if outcome == "recovered" and fix == true:
                said[ids.ROOT_CAUSE] = one.family.cause
            await press_record(self.desk, self.desk.brief(ts)["ts"], "alice")
            assert (await self.desk.slack.submit_view(said, user="alice")).errors == {}
            await self.desk.work()
        if before is not None:
            assert await self.answer(one) != before
            await asks(self.desk, f"retract {incident_id}", "alice")
            assert (await self.desk.slack.submit_view({"reason": "the wrong fix"}, user="alice")).errors == {}
            await self.desk.work()
            self.told.restored.append(await self.answer(one) == before)

    async def answer(self, one: Occurrence) -> str:
        """What such an alert would be told now."""
        event = {"type": "message", "subtype": "bot_message", "bot_id": "B0", "ts": f"{START.timestamp():.6f}"}
        alert = read(event | post_of(one))
        assert isinstance(alert, Alert)
        preview = PreviewBrief(self.desk.memory.recall, self.desk.memory.index)
        return json.dumps(build_brief_json(await preview(alert, OPERATOR, START + one.number * BETWEEN + WORKED_ON)))


@pytest.mark.integration  # for its length; it needs no service
async def test_a_month(office: Desk, snapshot: SnapshotAssertion) -> None:
    month = await Month(office, office.deps.clock).goes_by()
    print(f"\n{month.table()}")  # for `pytest -s`
    assert sum(month.fixes.values()) == 60
    assert month.fixes["HIGH", "wrong"] == 0, month.table()
    assert month.restored == [True]
    assert month.table() == snapshot(name="table")
    for number in GOLDEN:
        assert month.threads[number] == snapshot(name=f"alert {number:02}")
