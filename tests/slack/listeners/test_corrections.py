"""Records corrected, retracted and purged on a local Slack: who may, what is shown, and which threads are told."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.domain.incidents.record import VerificationStatus
from bot.domain.recall.query import OPERATOR
from bot.slack import ids
from tests.slack.conftest import Desk, wait
from tests.slack.listeners.channel_support import go_on, submit
from tests.slack.listeners.corrections_support import LEDGER, SAID, asks, press_record, recorded, refused, told

SECRET = "C0SECRET"


def initial(view: dict[str, Any]) -> dict[str, str]:
    found = {}
    for block in (b for b in view["blocks"] if b["type"] == "input"):
        element = block["element"]
        chosen = element.get("initial_option") or {}
        found[block["block_id"]] = str(element.get("initial_value") or chosen.get("value") or "")
    return found


async def recalled(desk: Desk, user: str = "bob", channel: str = "alerts") -> str:
    before = len(desk.slack.ephemerals(user))
    await desk.slack.slash(channel, "/recall", "ledger drift quagga", user=user)
    found = await desk.slack.wait_until(lambda: desk.slack.ephemerals(user)[before:])
    return json.dumps(found[-1], ensure_ascii=False)


async def audit_of(desk: Desk, action: str) -> list[Any]:
    return [line async for line in desk.memory.store.audit_log.stream_lines() if line.action == action]


# who may


async def test_who_may_not_is_told_who_may(office: Desk) -> None:
    incident_id = await recorded(office)
    told_edit = await refused(office, f"edit {incident_id}", "bob")
    assert told_edit == "You may not edit a record. Its author and workspace admins and owners may."
    assert "Its author and workspace admins" in await refused(office, f"retract {incident_id}", "bob")
    assert await refused(office, f"purge {incident_id}", "bob") == (
        "You may not purge a record. Workspace admins and owners may."
    )
    assert (await office.memory.incidents.read_record(incident_id)).attempts


async def test_a_submission_is_asked_again(office: Desk) -> None:
    """Who lost the right between opening and submitting changes nothing."""
    incident_id = await recorded(office)
    await asks(office, f"purge {incident_id}", "alice")
    office.slack.core.workspace.user("alice").is_admin = False
    go_on(office, minutes=6)
    errors = await submit(office, {"reason": "contains a customer name"}, "alice")
    assert errors == {"reason": "You may not purge a record. Workspace admins and owners may."}
    assert (await office.memory.incidents.read_record(incident_id)).attempts


async def test_what_is_private_is_like_what_is_not_there(office: Desk) -> None:
    incident_id = await recorded(office, channel=SECRET)
    for act in ("edit", "retract", "purge"):
        said = {await refused(office, f"{act} {name}", "alice") for name in (incident_id, "INC-999")}
        assert said == {
            f"There is no record {incident_id} that you may see from here.",
            "There is no record INC-999 that you may see from here.",
        }
    view = await asks(office, f"edit {incident_id}", "alice", SECRET)
    assert initial(view)["root_cause"] == "a stale quagga cache"
    await office.slack.leave(SECRET, "alice")
    go_on(office, minutes=5)
    errors = await submit(office, {"root_cause": "something else"}, "alice")
    assert set(errors.values()) == {"Only members of that channel may do this."}
    assert (await office.memory.incidents.read_record(incident_id)).root_cause == "a stale quagga cache"


@pytest.mark.parametrize(("what", "said"), [("edit", "/precedent edit INC-7"), ("purge", "/precedent purge INC-7")])
async def test_without_a_name_the_usage_is_told(office: Desk, what: str, said: str) -> None:
    assert said in await refused(office, what, "alice")


# guests


async def test_what_a_guest_saw_work_is_not_verified_and_they_are_told_who_confirms(office: Desk) -> None:
    await office.slack.add_user("gus", is_guest=True)
    await office.slack.invite("alerts", "gus")
    ts = await office.alert(LEDGER)
    await office.slack.click("alerts", office.brief(ts)["ts"], ids.RECORD, user="gus")
    await office.slack.wait_until(lambda: office.slack.view("gus"))
    assert (await office.slack.submit_view(SAID, user="gus")).errors == {}
    await office.work()
    said = json.dumps(office.slack.view("gus"), ensure_ascii=False)
    assert "not verified yet, for you are a guest of this workspace" in said
    assert "Any member of this workspace who is no guest can confirm it" in said
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    (attempt,) = (await office.memory.incidents.read_record(incident_id)).attempts
    assert (attempt.status, attempt.by is not None) == (VerificationStatus.UNVERIFIED, True)
    assert "to be confirmed: Flush the ledger cache" in told(office, ts)
    assert "VERIFIED" not in told(office, ts)


async def test_a_guests_button_tells_them_aside(office: Desk) -> None:
    await office.seed()
    await office.slack.add_user("gus", is_guest=True)
    await office.slack.invite("alerts", "gus")
    ts = await office.alert()
    await office.slack.click("alerts", office.brief(ts)["ts"], ids.FIXED, user="gus")
    assert "you are a guest" in await office.whisper("gus")
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    assert [a.status for a in (await office.memory.incidents.read_record(incident_id)).attempts] == ["UNVERIFIED"]


async def test_only_the_named_group_confirms(office: Desk) -> None:
    confirms: Any = office.deps.resolve.confirms
    confirms.people.verifier_group = "S0ONCALL"
    object.__setattr__(confirms.verifiers, "group", "S0ONCALL")
    one = await recorded(office, "alice")
    (attempt,) = (await office.memory.incidents.read_record(one)).attempts
    assert attempt.status == "UNVERIFIED"
    assert "the user group that confirms fixes" in json.dumps(office.slack.view("alice"))
    (posted,) = await office.memory.incidents.list_briefs(one)
    await press_record(office, posted.message_ts or "", "bob")
    await submit(office, SAID, "bob")
    assert [a.status for a in (await office.memory.incidents.read_record(one)).attempts] == ["UNVERIFIED", "VERIFIED"]


# editing


async def test_the_modal_says_what_the_record_says_and_shows_what_changed(office: Desk) -> None:
    incident_id = await recorded(office)
    view = await asks(office, f"edit {incident_id}", "alice")
    assert initial(view) == {
        "title": (await office.memory.incidents.read_record(incident_id)).title,
        "root_cause": "a stale quagga cache",
        "boundary": "unknown",
        "failed_checks": "DNS, 10",
        "lesson": "",
        "attempt.0": "VERIFIED",
    }
    said = {"root_cause": "a cron job", "boundary": "internal", "attempt.0": "FAILED", "lesson": "look at cron"}
    assert await submit(office, said | {"failed_checks": "DNS, 10\nTLS"}, "alice") == {}
    shown = json.dumps(office.slack.view("alice"), ensure_ascii=False)
    for text in ("a stale quagga cache → a cron job", "unknown → internal", "VERIFIED → FAILED", "DNS, 10; TLS"):
        assert text in shown
    record = await office.memory.incidents.read_record(incident_id)
    assert (record.root_cause, record.boundary, record.lesson) == ("a cron job", "internal", "look at cron")
    assert [(a.status, a.how, a.by) for a in record.attempts] == [("FAILED", "edit", "U0ALICE")]
    assert [(c.check, c.minutes) for c in record.failed_checks] == [("DNS", 10.0), ("TLS", None)]
    (line,) = await audit_of(office, "edit")
    assert (line.actor, line.object) == ("U0ALICE", incident_id)
    assert (line.before["root_cause"], line.after["root_cause"]) == ("a stale quagga cache", "a cron job")
    assert set(line.before) == {"root_cause", "boundary", "attempts", "failed_checks", "lesson"}


@pytest.mark.parametrize(
    ("said", "field", "why"),
    [
        ({"title": ""}, "title", ""),
        ({"failed_checks": "x" * 300}, "failed_checks", "x"),
        ({"failed_checks": "\n".join(f"check {n}" for n in range(30))}, "failed_checks", "At most 20 lines"),
    ],
)
async def test_errors_stand_at_their_field(office: Desk, said: dict[str, str], field: str, why: str) -> None:
    incident_id = await recorded(office)
    before = await office.memory.incidents.read_record(incident_id)
    await asks(office, f"edit {incident_id}", "alice")
    outcome = await office.slack.submit_view(said, user="alice")
    assert field in outcome.errors or outcome.notice
    assert why in str(outcome.errors.get(field, ""))
    assert await office.memory.incidents.read_record(incident_id) == before


async def test_saving_what_is_there_changes_nothing(office: Desk) -> None:
    incident_id = await recorded(office)
    before = await office.memory.incidents.read_record(incident_id)
    await asks(office, f"edit {incident_id}", "alice")
    assert await submit(office, {}, "alice") == {}
    assert "Nothing changed" in json.dumps(office.slack.view("alice"))
    assert await office.memory.incidents.read_record(incident_id) == before
    assert await audit_of(office, "edit") == []


async def test_what_two_people_edit_at_once_is_neither_lost_nor_overwritten(office: Desk) -> None:
    incident_id, author = await recorded(office, "bob"), "bob"
    await asks(office, f"edit {incident_id}", author)
    await asks(office, f"edit {incident_id}", "alice")
    assert await submit(office, {"lesson": "alice's lesson"}, "alice") == {}
    errors = await submit(office, {"lesson": "another lesson", "root_cause": "cron"}, author)
    assert errors == {
        "lesson": "Somebody changed this meanwhile. It says now: “alice's lesson”. Close this and begin again."
    }
    assert await submit(office, {"lesson": "", "root_cause": "cron"}, author) == {}
    record = await office.memory.incidents.read_record(incident_id)
    assert (record.lesson, record.root_cause) == ("alice's lesson", "cron")


async def test_a_guest_who_wrote_a_record_may_not_make_it_verified(office: Desk) -> None:
    await office.slack.add_user("gus", is_guest=True)
    await office.slack.invite("alerts", "gus")
    incident_id = await recorded(office, "gus")
    await asks(office, f"edit {incident_id}", "gus")
    errors = await submit(office, {"attempt.0": "VERIFIED"}, "gus")
    assert "you are a guest" in errors["attempt.0"]
    assert (await office.memory.incidents.read_record(incident_id)).attempts[0].status == "UNVERIFIED"


# threads are told


async def test_an_open_thread_that_used_the_record_is_told_and_its_steps_go(office: Desk) -> None:
    incident_id = await recorded(office)
    ts = await office.alert(LEDGER)
    assert "1. Flush the ledger cache of quagga" in told(office, ts)
    await asks(office, f"edit {incident_id}", "alice")
    await submit(office, {"attempt.0": "FAILED"}, "alice")
    replies = office.slack.replies("C0ALERTS", ts)
    assert len(replies) == 2
    assert replies[1]["text"] == f"{incident_id} was corrected: its steps above no longer count."
    brief = json.dumps(replies[0]["blocks"], ensure_ascii=False)
    assert "1. Flush" not in brief
    assert "DID NOT WORK" in brief


async def test_another_recommendation_is_a_new_reply_and_the_old_one_is_marked(office: Desk) -> None:
    first = await recorded(office)
    go_on(office, hours=2)
    second = await recorded(office, "bob", fix="Rebuild the ledger index")
    assert first != second
    go_on(office, hours=2)
    await recorded(office, "bob", fix="Rebuild the ledger index")
    go_on(office, hours=2)
    ts = await office.alert(LEDGER)
    assert "1. Rebuild the ledger index" in json.dumps(office.brief(ts)["blocks"])
    for incident_id in (second, str(int(second.removeprefix("INC-")) + 1)):
        await asks(office, f"retract {incident_id}", "alice")
        assert await submit(office, {"reason": "was about another system"}, "alice") == {}
    replies = office.slack.replies("C0ALERTS", ts)
    assert any("Flush the ledger cache" in json.dumps(r["blocks"]) for r in replies[1:])
    assert "Superseded by a newer brief below" in json.dumps(replies[0]["blocks"]) + replies[0]["text"]
    assert sum("no longer count" in str(r["text"]) for r in replies) >= 1


# retracting


async def test_retracted_is_gone_from_recall_at_once_and_the_thread_is_told(desk: Desk) -> None:
    incident_id = await recorded(desk)
    ts = await desk.alert(LEDGER)
    assert incident_id in await recalled(desk)
    view = await asks(desk, f"retract {incident_id}", "alice")
    assert "gone from recall at once" in json.dumps(view)
    await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    assert (await desk.slack.submit_view({"reason": "it was a drill"}, user="alice")).errors == {}
    assert incident_id not in await recalled(desk), "before anything else is worked off"
    await desk.work()
    assert f"{incident_id} was retracted: its steps above no longer count." in told(desk, ts)
    assert "1. Flush" not in json.dumps(desk.brief(ts)["blocks"])
    (line,) = await audit_of(desk, "retract")
    assert (line.detail, line.after["root_cause"]) == ("it was a drill", None)
    assert line.before["root_cause"] == "a stale quagga cache"


async def test_an_open_incident_has_nothing_to_retract(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    assert "is still open" in await refused(office, f"retract {incident_id}", "alice")


# purging


def on_disk(desk: Desk, mark: str) -> list[str]:
    file = Path(str(desk.memory.store.database.engine.url.database))
    return sorted(p.name for p in file.parent.iterdir() if p.is_file() and mark.encode() in p.read_bytes())


def on_slack(desk: Desk, mark: str) -> bool:
    channels = desk.slack.core.workspace.channels.values()
    return mark in json.dumps([list(c.messages.values()) for c in channels])


async def test_purged_is_nowhere_any_more(office: Desk) -> None:
    incident_id = await recorded(office)
    ts = await office.alert(LEDGER)
    assert on_disk(office, "quagga")
    assert on_slack(office, "quagga")
    view = await asks(office, f"purge {incident_id}", "alice")
    assert "Nobody can bring it back" in json.dumps(view)
    assert await submit(office, {"reason": "holds a name"}, "alice") == {}
    for _ in range(40):
        if not on_slack(office, "quagga"):
            break
        await wait()
        await office.work()
    assert not on_slack(office, "quagga")
    assert on_disk(office, "quagga") == []
    assert f"{incident_id} was purged: its steps above no longer count." in told(office, ts)
    assert await office.memory.incidents.find_records((incident_id,)) == {}
    (line,) = await audit_of(office, "purge")
    assert line.detail.startswith("sha256 ")
    assert [r.incident_id for r in await office.memory.incidents.list_records(OPERATOR, recallable_only=True)] == []
    again = await asks(office, f"purge {incident_id}", "alice")
    assert "no record is left of it" in json.dumps(again)
    assert await submit(office, {"reason": "to be sure"}, "alice") == {}
    assert len(await audit_of(office, "purge")) == 2
    assert len(office.slack.replies("C0ALERTS", await office.alert("payment-gateway-504"))) == 1


# two at once


async def test_the_second_to_record_sees_the_first(office: Desk) -> None:
    ts = await office.alert(LEDGER)
    for user in ("alice", "bob"):
        await office.slack.click("alerts", office.brief(ts)["ts"], ids.RECORD, user=user)
        await office.slack.wait_until(partial(office.slack.view, user))
    assert (await office.slack.submit_view(SAID, user="alice")).errors == {}
    assert office.slack.view("alice") is None
    assert (await office.slack.submit_view(SAID | {"fix": "Restart it"}, user="bob")).errors == {}
    shown = json.dumps(office.slack.view("bob"), ensure_ascii=False)
    assert "had been recorded before you; both are kept" in shown
    assert "<@U0ALICE>" in shown
    assert "Flush the ledger cache" in shown
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    assert [a.by for a in (await office.memory.incidents.read_record(incident_id)).attempts] == ["U0ALICE", "U0BOB"]
