"""“Wrong precedent…” on a local Slack: what is set aside, where that shows, and taking it back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from bot.domain.recall.query import OPERATOR, Query
from bot.domain.recall.ranking import Tier
from bot.domain.reports.usefulness import Ratio
from bot.slack import ids
from bot.workflows.reports.usefulness import ComposeUsefulnessReport
from tests.slack.conftest import Desk
from tests.slack.listeners.channel_support import (
    LEDGER,
    ask,
    audited,
    choose,
    go_on,
    opened,
    press,
    replies,
    shown,
    submit,
)
from tests.slack.listeners.corrections_support import recorded
from tests.slack.listeners.details_support import details

WHOLE_TIME = datetime(2020, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)


async def test_a_wrong_precedent_is_set_aside_for_its_kind_of_alert_and_taken_back(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    (before,) = await office.memory.incidents.list_briefs(incident_id)
    wrong, known = before.brief.sources[0], await office.memory.incidents.list_records(OPERATOR)
    assert before.brief.recommendation is not None

    await choose(office, ts, ids.WRONG)
    view = await opened(office)
    offered = json.dumps(view)
    assert all(line.incident_id in offered for line in (*before.brief.sources, *before.brief.possible)[:20])
    assert await submit(office, {ids.PRECEDENT: wrong.incident_id, ids.PIN: "alert", ids.REASON: "token: abcdef123456"})
    errors = {
        ids.PRECEDENT: wrong.incident_id,
        ids.WHY: "other cause",
        ids.PIN: "alert",
        ids.REASON: "password=hunter2hunter2",
    }
    assert await submit(office, errors) == {}

    after = next(b for b in await office.memory.incidents.list_briefs(incident_id) if b.channel == "C0ALERTS")
    assert wrong.incident_id not in [line.incident_id for line in after.brief.sources]
    listed = next(line for line in after.brief.possible if line.incident_id == wrong.incident_id)
    assert (listed.tier, listed.why[0]) == ("possible", "set aside: other cause")
    told = " ".join(shown(m) for m in replies(office, ts) if m.get("blocks"))
    assert f"*{wrong.incident_id}* was set aside for this kind of alert" in told
    assert "<@" not in told
    aside = await details(office, ts)
    assert f"*{wrong.incident_id}* set aside by <@U0BOB>: other cause" in aside
    assert "hunter2" not in aside
    await office.slack.close_view(user="bob")

    # Nothing about the record changed, and other alerts count it as before.
    assert await office.memory.incidents.list_records(OPERATOR) == known
    other = await office.memory.recall.precedents(Query(wrong.title, title=wrong.title), OPERATOR)
    assert other.set_aside == ()
    again = await office.memory.recall.precedents(
        Query("x", fingerprint=before.brief.alert.fingerprint, service="elsewhere"), OPERATOR
    )
    assert [p.tier for p in again.precedents if p.incident.incident_id == wrong.incident_id] == [Tier.POSSIBLE]

    found = await ComposeUsefulnessReport(office.memory.incidents, office.memory.store.feedback)(*WHOLE_TIME, OPERATOR)
    assert (found.right.part, found.right.of) == (0, 1)

    rules = await ask(office, "rules", "alice")
    assert "Set aside as precedents" in shown(rules)
    assert "INC" in shown(rules)
    await press(office, rules, ids.UNDO, "alice")
    await office.slack.wait_until(lambda: "Nothing is silenced" in json.dumps(office.slack.ephemerals("alice")))
    await office.work()
    restored = next(b for b in await office.memory.incidents.list_briefs(incident_id) if b.channel == "C0ALERTS")
    assert [line.incident_id for line in restored.brief.sources] == [s.incident_id for s in before.brief.sources]
    assert restored.brief.set_aside == ()
    assert "Nothing is silenced" in (await ask(office, "rules"))["text"]
    acts = [action for _, action, object_ in await audited(office) if object_ == wrong.incident_id]
    assert acts[-2:] == ["set aside", "undo set aside"]


async def test_the_only_precedent_set_aside_counts_as_wrong_and_undo_gives_the_very_brief_back(office: Desk) -> None:
    await recorded(office)
    go_on(office, hours=30)
    ts = await office.alert(LEDGER)
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    (before,) = await office.memory.incidents.list_briefs(incident_id)
    (only,) = before.brief.sources
    await choose(office, ts, ids.WRONG)
    said = {ids.PRECEDENT: only.incident_id, ids.WHY: "other cause", ids.PIN: "alert", ids.REASON: "<!channel> *x*"}
    assert await submit(office, said) == {}
    (after,) = await office.memory.incidents.list_briefs(incident_id)
    assert (after.brief.sources, after.brief.recommendation) == ((), None)
    assert "<!channel>" not in json.dumps(office.slack.replies("C0ALERTS", ts))
    found = await ComposeUsefulnessReport(office.memory.incidents, office.memory.store.feedback)(*WHOLE_TIME, OPERATOR)
    assert (found.right, found.unjudged) == (Ratio(0, 1), 0)
    await press(office, await ask(office, "rules", "alice"), ids.UNDO, "alice")
    await office.slack.wait_until(lambda: "Nothing is silenced" in json.dumps(office.slack.ephemerals("alice")))
    await office.work()
    (restored,) = await office.memory.incidents.list_briefs(incident_id)
    assert restored.brief == before.brief


async def test_what_is_pinned_off_for_a_service_is_shown_in_details_alone(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    (before,) = await office.memory.incidents.list_briefs(incident_id)
    wrong = before.brief.sources[-1].incident_id
    await choose(office, ts, ids.WRONG)
    assert await submit(office, {ids.PRECEDENT: wrong, ids.WHY: "outdated", ids.PIN: "service"}) == {}
    after = next(b for b in await office.memory.incidents.list_briefs(incident_id) if b.channel == "C0ALERTS")
    assert wrong not in [line.incident_id for line in (*after.brief.sources, *after.brief.possible)]
    assert f"outdated, not shown for {before.brief.alert.service}" in await details(office, ts)
