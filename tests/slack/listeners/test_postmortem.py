"""The menu's "Post-mortem": a file in the thread, with what people said, for those who may see it."""

from __future__ import annotations

import pytest

from bot.adapters.chart import MatplotlibCharts
from bot.bootstrap.system import SystemClock
from bot.ports.errors import IncidentNotFound
from bot.ports.files import build_picture_upload, build_postmortem_upload
from bot.slack import ids
from bot.slack.client.chat import SlackChat, build_web_client
from bot.slack.client.threads import SlackThreads, read_display_name, read_saying
from bot.slack.payload import MAX_OPTION_VALUE, encode
from bot.workflows.delivery.deliver import Deliver
from bot.workflows.delivery.make_files import MakeFiles
from bot.workflows.resolutions.postmortem import RequestPostmortem
from tests.adapters.chart_support import CHART
from tests.slack.conftest import Desk


def files_of(desk: Desk) -> MakeFiles:
    slack = desk.slack
    threads = SlackThreads(SlackChat(build_web_client(slack.bot_token, slack.api_url), SystemClock()))
    return MakeFiles(charts=MatplotlibCharts(), store=desk.memory.incidents, threads=threads, chat=desk.chat)


async def choose(desk: Desk, brief_ts: str, incident_id: str, user: str) -> None:
    choice = encode({"i": incident_id, "do": ids.POSTMORTEM}, MAX_OPTION_VALUE)
    await desk.slack.click("C0ALERTS", brief_ts, ids.MORE, user=user, choice=choice)


async def test_a_file_in_the_thread_with_what_people_said_and_no_secret(office: Desk) -> None:
    desk = office
    await desk.seed()
    ts = await desk.alert()
    desk.deliver = Deliver(outbox=desk.memory.outbox, chat=desk.chat, clock=desk.deps.clock, files=files_of(desk))
    incident_id = await desk.memory.incidents.find_incident("C0ALERTS", ts) or ""
    await desk.slack.post("alerts", "switching *now*, password=hunter2secret", user="bob", thread_ts=ts)
    brief = desk.brief(ts)["ts"]
    await choose(desk, brief, incident_id, "alice")
    assert "comes as a file in its thread" in await desk.whisper()
    await desk.work()
    (reply,) = [m for m in desk.slack.replies("C0ALERTS", ts) if m.get("files")]
    assert reply["text"] == "Post-mortem, asked for by <@U0ALICE>"
    file = next(iter(desk.slack.core.files.values()))
    text = (file.content or b"").decode()
    assert text.startswith(f"# {incident_id}: ")
    assert "Bob Tanaka: “switching \\*now\\*, password=" in text
    assert "hunter2secret" not in text
    assert "RESOLUTION" not in text
    # Once more within ten minutes, with nothing recorded: one file.
    await choose(desk, brief, incident_id, "bob")
    assert "in its thread already" in await desk.whisper("bob")
    await desk.work()
    assert len([m for m in desk.slack.replies("C0ALERTS", ts) if m.get("files")]) == 1
    await desk.slack.refuse_scope("files:write")
    await choose(desk, brief, incident_id, "gina")
    assert "lacks the scope files:write" in await desk.whisper("gina")


async def test_made_for_those_who_may_see_it_now(office: Desk) -> None:
    desk = office
    ts = await desk.alert(channel="C0SECRET")
    incident_id = await desk.memory.incidents.find_incident("C0SECRET", ts) or ""
    files = files_of(desk)
    with pytest.raises(IncidentNotFound, match="may see"):
        await files.build_content(build_postmortem_upload("C0ALERTS", "pm", "pm.md", ts, incident_id, "U0BOB"))
    with pytest.raises(IncidentNotFound, match="no brief in this channel"):
        await RequestPostmortem(desk.memory.incidents, desk.deps.clock)(incident_id, "C0ALERTS", "U0BOB")
    await desk.slack.fail("thread_not_found", "conversations.replies")
    text = (
        await files.build_content(build_postmortem_upload("C0SECRET", "pm", "pm.md", ts, incident_id, "U0ALICE"))
    ).decode()
    assert "could not be read" in text
    await desk.slack.fail("user_not_found", "users.info")
    assert await files.threads.read_names(["U0BOB", "U0ALICE"]) == {"U0ALICE": "Alice Moreau"}
    assert (await files.build_content(build_picture_upload("C1", "d", "n", "t", CHART))).startswith(b"\x89PNG")


def test_what_counts_as_said_by_a_person() -> None:
    said = read_saying(
        {"user": "U1", "ts": "1790000000.000100", "text": "look at <https://x.example|this>\n&amp; wait"}
    )
    assert said is not None
    assert (said.by, said.text) == ("U1", "look at this & wait")
    for other in (
        {"user": "U1", "ts": "1.0", "text": "x", "bot_id": "B1"},
        {"user": "U1", "ts": "1.0", "text": "x", "subtype": "channel_join"},
        {"user": "U1", "ts": "1.0", "text": ""},
        {"user": "U1", "ts": "soon", "text": "x"},
        {"ts": "1.0", "text": "x"},
    ):
        assert read_saying(other) is None
    assert [read_display_name(u) for u in ({"profile": {"display_name": "bo"}}, {"name": "n"}, {})] == ["bo", "n", None]
