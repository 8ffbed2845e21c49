"""A digest in the local Slack: its text with links, and the picture in its thread, once over a restart."""

from __future__ import annotations

from datetime import timedelta

from bot.workflows.delivery.deliver import Deliver
from tests.slack.conftest import Desk
from tests.slack.digest_story_support import Drawn, posting


async def test_the_digest_has_its_picture_in_the_thread_once(office: Desk) -> None:
    desk = office
    await desk.alert()
    clock = desk.deps.clock
    clock.at += timedelta(days=1)  # type: ignore[attr-defined]  # the tests' own clock
    assert await posting(desk)() == 1
    desk.deliver = Deliver(outbox=desk.memory.outbox, chat=desk.chat, clock=clock, files=Drawn())
    await desk.slack.lose_answers(1, "files.completeUploadExternal")
    await desk.work()
    assert await posting(desk)() == 0
    await desk.work()
    (digest,) = [m for m in desk.slack.timeline("C0ALERTS") if m["text"].startswith("Digest")]
    (reply,) = desk.slack.replies("C0ALERTS", digest["ts"])
    (file,) = reply["files"]
    assert file["mimetype"] == "image/png"
    assert file["alt_txt"].startswith("Week of ")
    assert "1 incident, 0 in the period before" in file["alt_txt"]
