"""Where messages stand that shadow mode keeps out of their own channels: kept with what is owed, whatever the mode is by
then."""

from __future__ import annotations

from dataclasses import replace

from bot.adapters.store import Store
from bot.adapters.store.commit import ChangesWriter
from bot.adapters.store.records.incidents import SqlIncidentStore
from bot.domain.delivery.kinds import Operation
from bot.domain.operations.shadow import ShadowPlacement
from bot.ports.chat import ChatMessage, Posting
from bot.ports.delivery.outbox import Destination, OutboxRow, build_brief_edit, build_outbox_entry
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes
from tests.contracts.stores import BRIEF
from tests.fakes import FakeClock

POSTED = PostedBrief("INC-7", "C1", "10.1", "brief/INC-7/C1", BRIEF)
UNDER = ShadowPlacement("C0S", POSTED.delivery_id, "10.1")
EDIT = ChatMessage("cleared")


def post(delivery_id: str, incident_id: str | None = "INC-7", thread_ts: str | None = "10.1") -> Posting:
    return Posting(Operation.POST, "C1", delivery_id, "said", thread_ts=thread_ts, incident_id=incident_id)


def writing(store: Store, shadow: str | None) -> SqlIncidentStore:
    """The store as a bot writes it whose shadow channel is this."""
    return replace(store.incidents, writer=ChangesWriter(store.incidents.writer.index, shadow))


async def taken(store: Store) -> list[OutboxRow]:
    return list(await store.outbox.claim(Destination.SLACK, 9))


class ShadowContract:
    """Subclasses give `store` and `clock`."""

    async def test_a_brief_in_shadow_is_found_edited_and_answered_there_with_the_mode_off(self, store: Store) -> None:
        on, off = writing(store, "C0S"), writing(store, None)
        react = Posting(Operation.REACT, "C1", "looked/C1/INC-7", ts="10.1", reaction="mag")
        key = "C1/INC-7"
        await on.commit(
            Changes(
                briefs=(POSTED,),
                deliveries=(build_outbox_entry(post(POSTED.delivery_id), key=key), build_outbox_entry(react, key=key)),
            )
        )
        (row,) = await taken(store)  # the reaction is not owed at all
        assert (row.place, row.under_result) == (ShadowPlacement("C0S", None, "10.1"), None)
        assert row.entry.payload["channel"] == "C1"
        await store.outbox.acknowledge(row, "77.1")
        (posted,) = await off.list_briefs("INC-7")
        assert (posted.channel, posted.message_channel, posted.message_ts) == ("C1", "C0S", "77.1")
        assert [await off.find_incident(channel, "77.1") for channel in ("C0S", "C1")] == ["INC-7", None]
        assert await off.find_incident("C1", "10.1") == "INC-7"
        # an edit has no place of its own: it goes where its message is
        await off.commit(Changes(deliveries=(build_brief_edit(posted, EDIT),)))
        (edit,) = await taken(store)
        assert (edit.place, edit.target_place, edit.target_result) == (
            None,
            ShadowPlacement("C0S", None, "10.1"),
            "77.1",
        )
        await store.outbox.acknowledge(edit, None)
        # what supersedes it joins its thread, and becomes the brief
        newer = replace(POSTED, delivery_id="brief/INC-7/C1+2")
        await off.commit(Changes(briefs=(newer,), deliveries=(build_outbox_entry(post(newer.delivery_id), key=key),)))
        (reply,) = await taken(store)
        assert (reply.place, reply.under_result) == (UNDER, "77.1")
        await store.outbox.acknowledge(reply, "77.2")
        await off.commit(Changes(deliveries=(build_outbox_entry(post("repeat/INC-7/C1/11.1"), key=key),)))
        (again,) = await taken(store)
        assert (again.place, again.under_result) == (UNDER, "77.1")

    async def test_what_is_owed_again_stays_where_it_was(self, store: Store) -> None:
        summary = build_outbox_entry(post("storm/C1/1", None), key="storm/C1/1", replaces=True)
        await writing(store, "C0S").commit(Changes(deliveries=(summary,)))
        await writing(store, None).commit(
            Changes(deliveries=(replace(summary, payload={**summary.payload, "text": "more"}),))
        )
        (row,) = await taken(store)
        assert (row.place, row.entry.payload["text"]) == (ShadowPlacement("C0S", None, "10.1"), "more")
        await store.outbox.acknowledge(row, "78.1")
        await writing(store, None).commit(
            Changes(deliveries=(build_outbox_entry(post("digest/C1/1", None, None), key="digest/C1"),))
        )
        (own,) = await taken(store)
        assert own.place is None

    async def test_what_was_surely_never_sent_goes_where_the_mode_now_says(
        self, store: Store, clock: FakeClock
    ) -> None:
        on = writing(store, "C0S")
        await on.commit(
            Changes(briefs=(POSTED,), deliveries=(build_outbox_entry(post(POSTED.delivery_id), key="C1/INC-7"),))
        )
        await on.commit(Changes(deliveries=(build_outbox_entry(post("digest/C1/1", None, None), key="digest/C1"),)))
        await on.commit(Changes(deliveries=(build_outbox_entry(post("repeat/INC-7/C1/11.1"), key="C1/INC-7"),)))
        brief, digest = await taken(store)
        await store.outbox.postpone(brief, 0, "no answer", uncertain=True)
        await store.outbox.postpone(digest, 60, "not in the channel", uncertain=False)
        # the brief may stand there, and its answer belongs to it; the digest does not
        assert await store.outbox.move_unsent("C0S") == 0
        assert await store.outbox.move_unsent("C0T") == 1
        assert await store.outbox.move_unsent(None) == 1
        rows = {row.entry.delivery_id: row.place for row in await taken(store)}
        assert rows == {"brief/INC-7/C1": ShadowPlacement("C0S", None, "10.1"), "digest/C1/1": None}

    async def test_what_stands_is_edited_where_it_stands_whatever_the_shadow_channel_is_next(
        self, store: Store
    ) -> None:
        on, summary = (
            writing(store, "C0S"),
            build_outbox_entry(post("storm/C1/1", None), key="storm/C1/1", replaces=True),
        )
        await on.commit(Changes(deliveries=(summary,)))
        (row,) = await taken(store)
        await store.outbox.acknowledge(row, "78.1")
        await on.commit(Changes(deliveries=(replace(summary, payload={**summary.payload, "text": "more"}),)))
        assert (await store.outbox.move_unsent("C0T"), await store.outbox.move_unsent(None)) == (0, 0)
        (again,) = await taken(store)
        assert (again.place, again.own_result) == (ShadowPlacement("C0S", None, "10.1"), "78.1")

    async def test_what_waits_when_the_mode_is_turned_on_goes_where_it_would_go_if_it_were_owed_now(
        self, store: Store
    ) -> None:
        off, key = writing(store, None), "C1/INC-7"
        await off.commit(Changes(briefs=(POSTED,), deliveries=(build_outbox_entry(post(POSTED.delivery_id), key=key),)))
        late = replace(POSTED, incident_id="INC-8", delivery_id="brief/INC-8/C1")
        await off.commit(
            Changes(briefs=(late,), deliveries=(build_outbox_entry(post(late.delivery_id, "INC-8"), key="maybe"),))
        )
        done = build_outbox_entry(post("digest/C1/1", None, None), key="done")
        await off.commit(Changes(deliveries=(done,)))
        first, maybe, sent = await taken(store)
        await store.outbox.postpone(first, 600, "Slack is down", uncertain=False)
        await store.outbox.postpone(maybe, 0, "no answer", uncertain=True)
        await store.outbox.acknowledge(sent, "79.1")
        react = Posting(Operation.REACT, "C1", "seen/1", ts="10.1", reaction="eyes")
        names = ("repeat/INC-7/C1/11.1", "recorded/INC-7/1", "mention/C1/1", "storm/C1/1")
        waiting = (build_outbox_entry(post(name, "INC-7" if "INC" in name else None), key=name) for name in names)
        edit = build_brief_edit(POSTED, EDIT)
        again = replace(done, replaces=True)
        await off.commit(Changes(deliveries=(*waiting, edit, again, build_outbox_entry(react, key="react"))))
        # on, off, and on again before anything was sent: the same as on
        assert [await store.outbox.move_unsent(shadow) for shadow in ("C0S", None, "C0S", "C0S")] == [4, 4, 4, 0]
        (brief, *_) = rows = await taken(store)
        assert (brief.entry.delivery_id, brief.place) == (POSTED.delivery_id, ShadowPlacement("C0S", None, "10.1"))
        await store.outbox.acknowledge(brief, "80.1")
        rows += await taken(store)
        assert {row.entry.delivery_id: row.place for row in rows} == {
            POSTED.delivery_id: ShadowPlacement("C0S", None, "10.1"),
            late.delivery_id: None,  # it may have been sent
            "repeat/INC-7/C1/11.1": UNDER,
            "recorded/INC-7/1": UNDER,
            "mention/C1/1": None,
            "storm/C1/1": ShadowPlacement("C0S", None, "10.1"),
            edit.delivery_id: None,
            "digest/C1/1": None,  # it stands in its channel
        }
        (edited,) = [row for row in rows if row.entry.delivery_id == edit.delivery_id]
        assert edited.target_place == ShadowPlacement("C0S", None, "10.1")
