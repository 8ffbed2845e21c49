"""Every surface: accepted by Slack, within the limits, in the words and the order of the brief."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

import pytest
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from bot.domain.alerts.channel_settings import ACKNOWLEDGER
from bot.domain.alerts.suppression import ChannelPolicy
from bot.domain.brief.decide import Brief
from bot.domain.brief.recommendation import Recommendation
from bot.domain.brief.runbooks import RunbookRecord
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.reports.digest import Digest
from bot.domain.resolutions.suggestions import SuggestedFix
from bot.playground import validate_message, validate_view
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.listeners.routes import HELP
from bot.slack.payload import MAX_METADATA
from bot.slack.views import resolve_modal
from bot.slack.views.channel import render_channel, render_rules
from bot.slack.views.channel_modal import build_channel_view
from bot.slack.views.help import render_hello, render_help, render_recall_usage
from bot.slack.views.home import render_home, render_open_incidents, render_status
from bot.slack.views.silence_modals import build_mute_view, build_not_alert_view
from bot.slack.views.surfaces import SlackSurfaces, render_apology, render_note
from bot.workflows.resolutions.resolve import ResolveForm
from tests.slack import cases

SURFACES = SlackSurfaces()
FORM = ResolveForm(
    "INC-81", "Razorpay 504s", (SuggestedFix("Switch gateway"), SuggestedFix("Raise the timeout")), ("DB pool",)
)

MESSAGES: Mapping[str, Callable[[], ChatMessage]] = {
    "brief high": lambda: SURFACES.render_brief(cases.high()),
    "brief mixed": lambda: SURFACES.render_brief(cases.mixed()),
    "brief insufficient": lambda: SURFACES.render_brief(cases.insufficient()),
    "brief memory off": lambda: SURFACES.render_brief(cases.memory_off()),
    "brief resolved": lambda: SURFACES.render_brief(replace(cases.high(), incident=cases.view("resolved"))),
    "superseded": lambda: SURFACES.render_superseded(cases.mixed()),
    "repeat": lambda: SURFACES.render_repeat(cases.high(), cases.URL),
    "recorded": lambda: SURFACES.render_recorded(
        cases.life(IncidentState.RESOLVED), "it fixed it, recovery seen: Switch gateway", "U0ABC"
    ),
    "recorded, goes on": lambda: SURFACES.render_recorded(cases.life(), "it did not fix it: Restart it", "U0ABC"),
    "digest": lambda: SURFACES.render_digest(cases.digest()),
    "empty digest": lambda: SURFACES.render_digest(replace(cases.digest(), families=())),
    "precedents": lambda: SURFACES.render_recalled(cases.high(), "payments 504 vendor:razorpay", 5),
    "no precedents": lambda: SURFACES.render_recalled(replace(cases.insufficient(), incident=None), "payments", 5),
    "incidents": lambda: render_open_incidents(cases.open_rows(14)),
    "no incidents": lambda: render_open_incidents(()),
    "status": lambda: render_status(cases.status_lines()),
    "help": lambda: render_help(HELP),
    "help on unknown": lambda: render_help(HELP, "frobnicate"),
    "usage": render_recall_usage,
    "hello": render_hello,
    "brief that tells": lambda: SURFACES.render_brief(cases.high(), "S0ONCALL"),
    "channel": lambda: render_channel(cases.channel_settings()),
    "channel of a member": lambda: render_channel(cases.channel_settings(is_steward=False)),
    "rules": lambda: render_rules(cases.house()),
    "no rules": lambda: render_rules(ChannelPolicy()),
    "muted": lambda: SURFACES.render_mute(cases.house().mutes[0]),
    "note": lambda: render_note("A sentence."),
    "sorry": lambda: render_apology("A <sentence>."),
}
VIEWS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "home": lambda: {
        "type": "home",
        "blocks": list(render_home(cases.status_lines(), cases.open_rows(), HELP).blocks),
    },
    "empty home": lambda: {"type": "home", "blocks": list(render_home((), (), HELP).blocks)},
    "resolve": lambda: resolve_modal.build_resolve_view(FORM, {"i": "INC-81", "c": "C1"}),
    "resolve a message": lambda: resolve_modal.build_resolve_view(
        ResolveForm(None, "Message"), {"c": "C1", "ts": "1.2"}
    ),
    "pick": lambda: resolve_modal.build_pick_view(cases.open_rows(120), {"c": "C1"}),
    "pick none": lambda: resolve_modal.build_pick_view((), {"c": "C1"}),
    "channel settings": lambda: build_channel_view(cases.channel_settings(), {"c": "C1"}),
    "channel settings untouched": lambda: build_channel_view(cases.untouched(), {"c": "C1"}),
    "mute": lambda: build_mute_view(cases.answered(), {"c": "C1", "i": "INC-81"}, UTC),
    "not an alert": lambda: build_not_alert_view(cases.answered(), {"c": "C1", "i": "INC-81"}),
    "not an alert of nobody": lambda: build_not_alert_view(
        replace(cases.answered(), source=""), {"c": "C1", "i": "INC-81"}
    ),
}


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JSONSnapshotExtension)


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_are_as_agreed(name: str, golden: SnapshotAssertion) -> None:
    message = MESSAGES[name]()
    assert {"text": message.text, "blocks": [dict(b) for b in message.blocks]} == golden


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_as_agreed(name: str, golden: SnapshotAssertion) -> None:
    assert VIEWS[name]() == golden


@pytest.mark.parametrize("name", MESSAGES)
def test_slack_takes_every_message(name: str) -> None:
    message = MESSAGES[name]()
    blocks = [dict(b) for b in message.blocks]
    assert validate_message({"text": message.text, "blocks": blocks}) == []
    for block in blocks:
        parsed = Block.parse(block)
        assert parsed is not None
        parsed.validate_json()
    assert message.text


@pytest.mark.parametrize("name", VIEWS)
def test_slack_takes_every_view(name: str) -> None:
    view = VIEWS[name]()
    assert validate_view(view) == []
    View(**view).validate_json()
    assert len(view.get("private_metadata", "")) < MAX_METADATA


def order(brief: Brief) -> list[int]:
    text = cases.shown(SURFACES.render_brief(brief).blocks)
    parts = ("payments-api", "Firing since", "is missing", "BOUNDARY", "ROOT CAUSE", "RESOLUTION STEPS", "written for",
             "1. Switch", "SKIP", "LATER", "DID NOT WORK", "ALTERNATIVES", "SOURCES", "This fixed it")  # fmt: skip
    return [text.index(part) for part in parts]


def test_the_order_is_the_briefs() -> None:
    brief = replace(cases.high(), missing=cases.insufficient().missing)
    assert order(brief) == sorted(order(brief))


def test_the_notification_is_the_verdict() -> None:
    message = SURFACES.render_brief(cases.high())
    assert message.text == cases.high().verdict == message.blocks[0]["text"]["text"]


def test_steps_carry_their_record_and_stand_verbatim() -> None:
    text = cases.shown(SURFACES.render_brief(cases.high()).blocks)
    assert "*RESOLUTION STEPS* HIGH · worked 3 of 3 · last worked 2026-11-02" in text
    assert "tried in 3 of 4 similar outages, worked 3 of 3: INC-42, INC-55, INC-61" in text
    assert "1. Switch payouts to the backup gateway\n2. Watch the error rate for 10 minutes" in text
    assert "DB pool: not the cause in 3 of 3, 10–25 min, n=3" in text
    assert "14× in 30 days, 12 cleared with no recorded fix" in text


def test_a_mixed_record_says_so() -> None:
    text = cases.shown(SURFACES.render_brief(cases.mixed()).blocks)
    assert "LOW · mixed results: 2 success, 1 failure, 1 partly" in text


def test_insufficient_memory_says_why_and_what_to_collect_and_guesses_nothing() -> None:
    blocks = SURFACES.render_brief(cases.insufficient()).blocks
    text = cases.shown(blocks)
    assert "*INSUFFICIENT_MEMORY* nothing close among 14 past incidents" in text
    assert "first time in 30 days" in text
    assert "• vendor status page\n• p95 latency" in text
    assert "<https://wiki.example/pay|runbook>" in text
    assert "ROOT CAUSE" not in text
    assert "STEPS" not in text
    assert "This fixed it" not in text


def test_with_memory_off_nothing_hints_at_history() -> None:
    brief = replace(cases.memory_off(), history=cases.high().history)
    text = cases.shown(SURFACES.render_brief(brief).blocks)
    for word in ("memory", "MEMORY", "30 days", "BOUNDARY", "SOURCES", "STEPS", "recorded"):
        assert word not in text.replace("Record…", "")
    assert "504 Gateway Timeout" in text


def test_buttons_follow_the_incident() -> None:
    def buttons(brief: Brief) -> list[str]:
        found = [b for b in SURFACES.render_brief(brief).blocks if b["type"] == "actions"]
        return [e["action_id"] for b in found for e in b["elements"]]

    brief = cases.high()
    assert buttons(brief) == [ids.FIXED, ids.RECORD, ids.DETAILS, ids.MORE]
    assert buttons(replace(brief, incident=cases.view("cleared"))) == [ids.FIXED, ids.RECORD, ids.DETAILS, ids.MORE]
    assert buttons(replace(brief, incident=cases.view("resolved"))) == [ids.RECORD, ids.DETAILS, ids.MORE]
    assert buttons(replace(brief, recommendation=None, steps=())) == [ids.RECORD, ids.DETAILS, ids.MORE]
    assert buttons(replace(brief, incident=cases.view(incident_id="x" * 110))) == [ids.FIXED, ids.RECORD, ids.DETAILS]
    assert buttons(replace(brief, incident=None)) == []
    assert buttons(replace(brief, incident=cases.view(incident_id="x" * 201))) == []


def test_the_state_line_tells_where_it_stands() -> None:
    def line(**given: Any) -> str:
        brief = replace(cases.high(), incident=cases.view(**given))
        return str(SURFACES.render_brief(brief).blocks[1]["elements"][0]["text"])

    assert line().startswith("*Firing since* <!date^1795921200^")
    assert "critical · production/ap-south-1 · fired 3×" in line()
    assert "1795924800" in line(state="cleared", cleared_at=cases.NOW + timedelta(hours=1))
    assert line(state="resolved").startswith("*Resolved* (opened <!date^")
    assert "acknowledged by maya" in line(acknowledged_by="maya")
    bare = replace(cases.high(), incident=None, history=None, alert=cases.alert(severity=None, region=None))
    assert SURFACES.render_brief(bare).blocks[1]["elements"][0]["text"] == "Firing · production"


def with_steps(*steps: str) -> str:
    brief = replace(cases.high(), steps=steps, step_warnings=())
    blocks = SURFACES.render_brief(brief).blocks
    return str(next(b for b in blocks if b["type"] == "section" and b["text"]["type"] == "plain_text")["text"]["text"])


def test_five_steps_then_where_the_others_are() -> None:
    said = with_steps(*(f"step {n}" for n in range(1, 8))).split("\n")
    assert said[:5] == [f"{n}. step {n}" for n in range(1, 6)]
    assert said[5] == "+2 more in the record of INC-61"


def test_steps_that_do_not_fit_are_left_out_whole() -> None:
    said = with_steps("a" * 400, "b" * 400, "c" * 400).split("\n")
    assert said[0] == "1. " + "a" * 400
    assert said[-1].startswith("+")
    assert all(len(line) > 400 for line in said[:-1])


def test_a_first_step_too_long_is_cut_and_says_so() -> None:
    assert with_steps("word " * 500).endswith("… [cut: read the whole step in the record of INC-61]")


def test_spaces_of_a_command_stay() -> None:
    assert with_steps("sed 's/  / /' <in >out") == "1. sed 's/  / /' &lt;in &gt;out"


def test_a_long_brief_drops_the_least_important_and_says_so() -> None:
    brief = replace(cases.high(), steps=("x " * 190, "y " * 190))
    text = cases.shown(SURFACES.render_brief(brief).blocks)
    assert "_Shortened for length: possibly related incidents, titles of sources" in text
    assert "Possibly related" not in text
    assert "INC-61" in text


def test_nothing_known_to_work_says_so() -> None:
    brief = replace(cases.high(), recommendation=None, steps=(), root_cause=None)
    text = cases.shown(SURFACES.render_brief(brief).blocks)
    assert "nothing in memory is known to have worked" in text
    assert "*BOUNDARY* vendor (vendor 3, internal 1) · told apart by region ap-south-1" in text


def test_what_was_not_verified_is_labelled() -> None:
    cause = cases.high().root_cause
    assert cause
    brief = replace(cases.high(), root_cause=replace(cause, verified=False))
    assert "reported, not verified" in cases.shown(SURFACES.render_brief(brief).blocks)


def test_more_than_fits_is_counted() -> None:
    one: Recommendation = cases.high().alternatives[0]
    brief = replace(
        cases.high(),
        sources=cases.high().sources * 3,
        possible=cases.high().possible * 4,
        alternatives=(one,) * 5,
        did_not_work=cases.high().did_not_work * 4,
        step_warnings=("a", "b", "c", "d"),
    )
    text = cases.shown(SURFACES.render_brief(brief).blocks)
    for said in ("+2", "+1 more", "1 more warnings"):
        assert said in text


def test_nobody_is_called_by_a_source() -> None:
    source = replace(cases.high().sources[0], fixed_by="U0MAYA")
    text = cases.shown(SURFACES.render_brief(replace(cases.high(), sources=(source,))).blocks)
    assert "U0MAYA" not in text
    assert "fixed by maya" in cases.shown(SURFACES.render_brief(cases.high()).blocks)


def test_recall_lists_reasons_and_no_buttons() -> None:
    message = SURFACES.render_recalled(replace(cases.high(), incident=None), "payments 504", 5)
    text = cases.shown(message.blocks)
    assert "You asked: payments 504" in text
    assert "same alert" in text
    assert "*Possible, not counted*\nINC-12" in text
    assert all(b["type"] != "actions" for b in message.blocks)


def test_recall_keeps_to_its_limit() -> None:
    brief = replace(cases.high(), incident=None)
    text = cases.shown(SURFACES.render_recalled(brief, "x", 1).blocks)
    assert "Payouts failing" not in text
    assert "*Possible" not in text


def test_a_digest_shows_what_fits_and_counts_the_rest() -> None:
    family = replace(cases.digest().families[0], title="t" * 80, workaround="w" * 140)
    many: Digest = replace(cases.digest(), families=(family,) * 12)
    message = SURFACES.render_digest(many)
    text = cases.shown(message.blocks)
    assert len(text) <= 2000
    assert f"+{12 - text.count('Worked 3×')} more" in text


def test_one_minute_is_one_minute() -> None:
    checks = (replace(cases.high().skip[0], minutes_range=None), replace(cases.high().skip[1], minutes_median=None))
    text = cases.shown(SURFACES.render_brief(replace(cases.high(), skip=checks)).blocks)
    assert "3 of 3, 15 min, n=3" in text
    assert "DNS: not the cause in 1 of 3\n" in text + "\n"


def test_a_repeat_without_a_link_or_incident_is_still_a_line() -> None:
    message = SURFACES.render_repeat(replace(cases.high(), incident=None), None)
    assert cases.shown(message.blocks) == "Still *an open incident*: the brief is in its first thread."


def test_the_life_that_was_recorded_is_named() -> None:
    message = SURFACES.render_recorded(cases.life(IncidentState.RESOLVED), "it fixed it: <b>", "maya")
    assert cases.shown(message.blocks) == "*INC-81* recorded by maya: it fixed it: &lt;b&gt;"


def test_a_digest_counts_in_the_singular_and_says_what_is_open() -> None:
    one = replace(cases.digest(), incidents=1, resolved=0, unrecorded=0, open=1, families=())
    assert ": 1 incident, 0 resolved, 0 cleared with no recorded fix, 1 still open" in SURFACES.render_digest(one).text


def test_who_is_told_is_mentioned_if_slack_knows_them() -> None:
    def told(acknowledged_by: str | None, tell: str | None) -> str:
        brief = replace(cases.high(), incident=cases.view(acknowledged_by=acknowledged_by))
        return cases.shown(SURFACES.render_brief(brief, tell).blocks)

    for by in ("U0MAYA1234", "<@U0MAYA1234>", "<@U0MAYA1234|maya>"):
        assert "<@U0MAYA1234>" in told(by, ACKNOWLEDGER)
    for other in ("maya", None, "<!channel>", "everyone in UPPERCASE", "UPPERCASE", "U0MAYA1234 <!channel>"):
        assert "<@" not in told(other, ACKNOWLEDGER)
        assert "<!channel>" not in told(other, ACKNOWLEDGER)
    assert "<!subteam^S0ONCALL>" in told(None, "S0ONCALL")
    assert "<!subteam" not in told(None, "S0<!channel>")
    assert "<!subteam" not in told(None, None)


def test_a_brief_that_tells_keeps_to_the_limits() -> None:
    brief = replace(cases.high(), steps=("x " * 190, "y " * 190))
    blocks = SURFACES.render_brief(brief, "S0ONCALL").blocks
    assert len(cases.shown(blocks)) <= 2100
    assert len(blocks) <= 12
    assert "<!subteam^S0ONCALL>" in cases.shown(blocks)


def test_the_side_that_the_alert_is_like_is_said_where_cases_disagree() -> None:
    call = replace(cases.high().boundary, this_alert="this alert is eu-west-1, as in the internal ones")
    text = cases.shown(SURFACES.render_brief(replace(cases.high(), boundary=call)).blocks)
    assert "· *this alert is eu-west-1, as in the internal ones*" in text
    agreed = replace(call, votes={"vendor": 3})
    assert "as in the internal" not in cases.shown(SURFACES.render_brief(replace(cases.high(), boundary=agreed)).blocks)


def test_runbooks_stand_with_what_they_did_and_give_way_early() -> None:
    record = RunbookRecord("RB-1", "Failover", validated=True, record="worked in 2 of 2: INC-1, INC-2")
    brief = replace(cases.high(), runbooks=(record,) * 4, skip=(), later=())
    text = cases.shown(SURFACES.render_brief(brief).blocks)
    assert "*RUNBOOKS*\n• RB-1 Failover: worked in 2 of 2: INC-1, INC-2\n" in text
    assert "+1 more" in text
    long = replace(brief, sources=brief.sources * 4, did_not_work=cases.high().did_not_work * 9, steps=("x" * 900,))
    assert "RUNBOOKS" not in cases.shown(SURFACES.render_brief(long).blocks)
