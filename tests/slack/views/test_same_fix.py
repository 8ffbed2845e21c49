"""“Same fix?” in Details on a local Slack: two wordings become one fix for who may say so, and two again."""

from __future__ import annotations

from bot.slack import ids
from tests.slack.conftest import Desk
from tests.slack.listeners.channel_support import audited, go_on
from tests.slack.listeners.corrections_support import recorded
from tests.slack.listeners.details_support import LEDGER, details, text_of


async def pressed(desk: Desk, action: str, word: str, user: str = "alice") -> str:
    """Press the button in the details that are open; what they say then."""
    assert (await desk.slack.click_view(action, user=user)).acked
    await desk.slack.wait_until(lambda: word in text_of(desk.slack.view(user)))
    await desk.work()
    return text_of(desk.slack.view(user))


async def test_an_author_says_that_two_wordings_are_one_fix(office: Desk) -> None:
    first = await recorded(office, **{ids.FIX: "Flush the ledger cache of quagga"})
    go_on(office, hours=30)
    second = await recorded(office, **{ids.FIX: "Empty the ledger cache of quagga by hand"})
    assert first != second
    go_on(office, hours=30)
    ts = await office.alert(LEDGER)
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    (apart,) = await office.memory.incidents.list_briefs(incident_id)
    assert apart.brief.recommendation is not None
    assert (apart.brief.recommendation.successes, len(apart.brief.alternatives)) == (1, 1)

    assert "SAME FIX?" not in await details(office, ts, "bob")
    assert "counted as two fixes" in await details(office, ts, "alice")
    assert "counted as one fix" in await pressed(office, ids.SAME_FIX, "counted as one fix")
    joined = next(b for b in await office.memory.incidents.list_briefs(incident_id))
    assert joined.brief.recommendation is not None
    assert (joined.brief.recommendation.successes, joined.brief.alternatives) == (2, ())
    assert "2 wordings counted as one fix, as a person said" in joined.brief.recommendation.explanation

    assert "counted as two fixes" in await pressed(office, ids.OTHER_FIXES, "counted as two fixes")
    parted = next(b for b in await office.memory.incidents.list_briefs(incident_id))
    assert len(parted.brief.alternatives) == 1
    assert [act for _, act, _ in await audited(office)].count("file fixes") == 2
