"""Answer a question to the bot in an incident's thread: from the record, else with a model's labeled hypothesis.

Each question gets one answer, in its thread, even over a crash or a second delivery of the event: the answer is
queued under the question's own id, and if a model is asked, the message that says so becomes the answer. Messages in
the thread are read when they are needed, and never stored. Must not record anything, answer what was not addressed to
the bot, or show words of a model that `AskAnalyst` did not accept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.access.visibility import Viewer
from bot.domain.assistant.answers import answer
from bot.domain.assistant.current_answers import AnswerContext
from bot.domain.assistant.hypothesis import TriedFix
from bot.domain.assistant.intents import (
    ANSWERS_WITHIN,
    ASKS,
    HOUR,
    LIMITED,
    MINUTE,
    PERSON_A_MINUTE,
    SAYS,
    AskedQuestion,
    Intent,
    PastAnswer,
    Reply,
    ReplyTurn,
    build_delivery_id,
    choose_turn,
    read_past_answer,
    understand,
)
from bot.domain.assistant.thread_attempts import list_attempts
from bot.domain.brief.decide import Brief, add_lifecycle
from bot.domain.delivery.ids import build_talk_key
from bot.domain.delivery.kinds import DeliveryKind, Operation
from bot.domain.incidents.opening import build_view
from bot.domain.incidents.record import Incident
from bot.domain.operations.load import LoadShedding
from bot.observability import QUESTIONS
from bot.ports.chat import Channel, Chat, ChatMessage, Posting, find_channel, may_speak, or_if_refused
from bot.ports.clock import Clock
from bot.ports.delivery.delivery_log import DeliveryLog
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.errors import ChatRejected, ChatUnavailable, IncidentNotFound
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes

# Questions that may wait for a model at the same time: an alert must never wait because people talk.
AT_ONCE = 2
# Comparisons that are remembered for the limit per person.
MOST_KEPT = 500
BUSY = "The model is answering others just now."
UNDER_LOAD = "Many alerts are coming in, so no model is asked now."
BRIEFS_COMPARED = "“Compare without memory” in the menu under the brief shows the brief with memory and without."
LEFT = Reply(("I leave it at that. Name me to ask again.",))
NO_BRIEF = Reply(("This incident has no brief in this channel that I could answer from.",))


class Analyst(Protocol):
    """A model that is asked. Its answers come rendered: accepted and labeled, or why there is nothing to show."""

    async def explain_refusal(self, channel: Channel) -> str | None:
        """Return why it is not asked about this channel's alerts now; None if it is."""
        ...

    async def ask(
        self,
        brief: Brief,
        channel: Channel,
        by: str,
        attempts: Sequence[TriedFix],
        question: str,
    ) -> ChatMessage:
        """Return one hypothesis on a question."""
        ...

    async def compare(self, brief: Brief, channel: Channel, by: str, attempts: Sequence[TriedFix]) -> ChatMessage:
        """Return hypotheses with memory and without, side by side."""
        ...


class ReplySurfaces(Protocol):
    """Render answers. Pure; text from data is escaped."""

    def render_reply(self, reply: Reply, brief: Brief | None = None) -> ChatMessage:
        """Render an answer; `brief` has the links of the incidents that it cites."""
        ...

    def render_thinking(self) -> ChatMessage:
        """Render the placeholder that is shown until the model has answered."""
        ...

    def render_limit(self) -> ChatMessage:
        """Render that there were too many questions."""
        ...

    def render_help(self) -> ChatMessage:
        """Render how to ask, for threads of no incident."""
        ...


@dataclass(frozen=True, slots=True)
class ThreadQuestion:
    """One message to the bot."""

    row: InboxRow
    channel: Channel
    ts: str
    root: str | None
    user: str
    # True if it names the bot; else it answers a question of the bot.
    named: bool
    lately: tuple[PastAnswer, ...] = ()
    incident_id: str | None = None

    @property
    def key(self) -> str:
        """Return the outbox key that orders the messages of one thread."""
        return build_thread_key(self.channel.id, self.root or self.ts)

    def build_delivery_id(self, kind: str = "") -> str:
        """Return the delivery id of its answer."""
        return build_delivery_id(self.channel.id, self.user, self.ts, kind or SAYS)


def build_thread_key(channel: str, root: str) -> str:
    """Return the outbox key of all answers in a thread."""
    return build_talk_key(channel, root)


@dataclass(slots=True, kw_only=True)
class Converse:
    """Answer one question."""

    store: IncidentStore
    chat: Chat
    deliveries: DeliveryLog
    clock: Clock
    talk: ReplySurfaces
    # Returns an incident's brief in a channel for a viewer; raises IncidentNotFound if there is none.
    brief: Callable[[str, str, Viewer], Awaitable[Brief]]
    # Returns the names of people by their Slack ids.
    names: Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
    analyst: Analyst
    load: Callable[[], LoadShedding] = lambda: LoadShedding.FULL
    _asking: set[str] = field(default_factory=set)
    _compared: list[tuple[str, datetime]] = field(default_factory=list)

    async def is_awaited(self, channel: str, root: str, user: str, ts: str) -> bool:
        """Return whether a message in a thread is this person's answer to what the bot asked them just before.

        Raises StoreUnavailable.
        """
        latest = await self.deliveries.find_latest_post(build_thread_key(channel, root))
        if latest is None or latest.result is None:
            return False
        past = read_past_answer(latest.delivery_id, self.clock.now())
        if past is None or past.kind != ASKS or past.user != user:
            return False
        return 0 < float(ts) - float(latest.result) <= ANSWERS_WITHIN.total_seconds()

    async def __call__(self, row: InboxRow) -> None:
        """Answer the question, or ignore it. Raises StoreUnavailable, ChatUnavailable: it is tried again then."""
        question = await self._read_question(row)
        turn = ReplyTurn.SILENCE
        if question:
            turn = choose_turn(question.lately, question.channel.id, question.user, question.ts, self.clock.now())
        if question is None or turn is ReplyTurn.SILENCE:
            await self.store.commit(Changes(done=row))
        elif turn is ReplyTurn.TOLD:
            await self._answer(question, self.talk.render_limit(), LIMITED)
        elif question.root is None:
            await self._answer(question, self.talk.render_help())
        else:
            await self._answer_in_thread(question, question.root)

    async def _read_question(self, row: InboxRow) -> ThreadQuestion | None:
        event = row.body["event"]
        at, ts, root, user = (str(event.get(key) or "") for key in ("channel", "ts", "thread_ts", "user"))
        channel = await find_channel(self.chat, at)
        if not may_speak(channel) or not user:
            return None
        now = self.clock.now()
        owed_since = await self.deliveries.list_queued(DeliveryKind.TALK.prefix, now - HOUR - timedelta(minutes=1))
        lately = tuple(a for a in (read_past_answer(name, when) for name, when in owed_since) if a)
        return ThreadQuestion(row, channel, ts, root or None, user, not event.get("answers"), lately)

    async def _answer_in_thread(self, question: ThreadQuestion, root: str) -> None:
        message = await or_if_refused(self.chat.read_message(question.channel.id, question.ts), None)
        if message is None or message.user != question.user:
            await self.store.commit(Changes(done=question.row))
            return
        incident_id = await self.store.find_incident(question.channel.id, root)
        if incident_id is None or understand(message.text).intent is Intent.THANKS:
            await self._answer_elsewhere(question, understand(message.text))
            return
        question = replace(question, incident_id=incident_id)
        try:
            brief = await self._read_brief(incident_id, question.channel)
        except IncidentNotFound:
            await self._answer(question, self.talk.render_reply(NO_BRIEF))
            return
        request = understand(message.text, brief.alert.vendor)
        facts = await self._gather_facts(question, root, incident_id, brief, request)
        QUESTIONS.labels(request.intent.value).inc()
        if request.intent is Intent.COMPARE or request.intent is Intent.UNKNOWN or not request.sure:
            await self._answer_with_model(question, message.text, request, facts)
        else:
            await self._answer(question, self.talk.render_reply(answer(request.intent, facts), brief))

    async def _read_brief(self, incident_id: str, channel: Channel) -> Brief:
        """Return the brief in this channel with the incident's current state. Raises IncidentNotFound."""
        brief = await self.brief(incident_id, channel.id, channel.viewer)
        return add_lifecycle(brief, build_view(await self.store.read_lifecycle(incident_id)))

    async def _answer_elsewhere(self, question: ThreadQuestion, request: AskedQuestion) -> None:
        """Answer in a thread of no incident: help for people who name the bot; thanks need no answer."""
        if request.intent is Intent.THANKS or not question.named:
            await self.store.commit(Changes(done=question.row))
        else:
            await self._answer(question, self.talk.render_help())

    async def _gather_facts(
        self, question: ThreadQuestion, root: str, incident_id: str, brief: Brief, request: AskedQuestion
    ) -> AnswerContext:
        record = (await self.store.find_records([incident_id])).get(incident_id)
        tried = await self.read_attempts(record, question.channel.id, root, question.ts)
        names = await _read_names(self.names, brief) if request.intent is Intent.FIXED else {}
        return AnswerContext(brief, self.clock.now(), record, tried, names)

    async def compare(self, incident_id: str, channel: Channel, by: str) -> ChatMessage:
        """Return the model's hypotheses with memory and without, for the person `by` alone, or why there are none.

        Raises IncidentNotFound, StoreUnavailable, ChatUnavailable.
        """
        reason = await self.explain_refusal(channel)
        posted = next((b for b in await self.store.list_briefs(incident_id) if b.is_shown_here(channel.id)), None)
        if posted is None:
            raise IncidentNotFound(f"{incident_id} has no brief in this channel.")
        if reason or not self._may_compare(by):
            return self.talk.render_reply(Reply((reason,))) if reason else self.talk.render_limit()
        brief = await self._read_brief(incident_id, channel)
        record = (await self.store.find_records([incident_id])).get(incident_id)
        attempts = await self.read_attempts(record, channel.id, posted.root_ts)
        with self._count_request(f"{by}/{incident_id}"):
            return await self.analyst.compare(brief, channel, by, attempts)

    def _may_compare(self, by: str) -> bool:
        """Return whether this person is below the limit of comparisons a minute, as far as this process knows."""
        now = self.clock.now()
        self._compared[:] = [(who, at) for who, at in self._compared if now - at < MINUTE][-MOST_KEPT:]
        if sum(who == by for who, _ in self._compared) >= PERSON_A_MINUTE:
            return False
        self._compared.append((by, now))
        return True

    @contextmanager
    def _count_request(self, what: str) -> Iterator[None]:
        self._asking.add(what)
        try:
            yield
        finally:
            self._asking.discard(what)

    async def read_attempts(
        self, record: Incident | None, channel: str, root: str, but: str = ""
    ) -> tuple[TriedFix, ...]:
        """Return what was tried in an incident, by its record and its thread, without the message `but`.

        Raises ChatUnavailable.
        """
        thread = await or_if_refused(self.chat.read_thread(channel, root), ())
        sayings = [message.text for message in thread if message.ts != but]
        return list_attempts(record.attempts if record else (), sayings)

    async def _answer_with_model(
        self, question: ThreadQuestion, text: str, request: AskedQuestion, facts: AnswerContext
    ) -> None:
        reason = await self.explain_refusal(question.channel)
        if reason:
            await self._answer_without_model(question, request, facts, reason)
            return
        attempts, by = facts.tried, question.user
        with self._count_request(question.build_delivery_id()):
            await self._announce(question, self.talk.render_thinking(), SAYS)
            if request.intent is Intent.COMPARE:
                message = await self.analyst.compare(facts.brief, question.channel, by, attempts)
            else:
                message = await self.analyst.ask(facts.brief, question.channel, by, attempts, text)
        await self._answer(question, message)

    async def explain_refusal(self, channel: Channel) -> str | None:
        """Return a sentence why no model is asked about this channel's alerts now; None if one is.

        Raises StoreUnavailable.
        """
        if self.load() is not LoadShedding.FULL:
            return UNDER_LOAD
        return await self.analyst.explain_refusal(channel) or (BUSY if len(self._asking) >= AT_ONCE else None)

    async def _answer_without_model(
        self, question: ThreadQuestion, request: AskedQuestion, facts: AnswerContext, reason: str
    ) -> None:
        """Answer from the record, or say what it could answer, and why no model is asked.

        A person who already sees the placeholder is not asked anything back.
        """
        found = answer(request.intent, facts)
        if request.intent is Intent.COMPARE:
            found = Reply((reason, BRIEFS_COMPARED))
        elif found.asks:
            found = replace(found, sentences=(*found.sentences[:-1], reason, found.sentences[-1]))
        if found.asks and not question.named:
            found = LEFT
        thinks = await self.deliveries.find(question.build_delivery_id())
        kind = ASKS if found.asks and thinks is None else SAYS
        await self._answer(question, self.talk.render_reply(found, facts.brief), kind)

    async def _answer(self, question: ThreadQuestion, message: ChatMessage, kind: str = "") -> None:
        posting = _build_posting(question, message, kind or SAYS)
        rows = (build_outbox_entry(posting, key=question.key, urgent=True, replaces=True),)
        await self.store.commit(Changes(deliveries=rows, done=question.row))

    async def _announce(self, question: ThreadQuestion, message: ChatMessage, kind: str) -> None:
        """Post the placeholder; again is fine, and it never replaces an answer."""
        posting = _build_posting(question, message, kind)
        await self.store.commit(Changes(deliveries=(build_outbox_entry(posting, key=question.key, urgent=True),)))


def _build_posting(question: ThreadQuestion, message: ChatMessage, kind: str) -> Posting:
    thread, delivery = question.root or question.ts, question.build_delivery_id(kind)
    return Posting(
        Operation.POST,
        question.channel.id,
        delivery,
        message.text,
        message.blocks,
        thread_ts=thread,
        incident_id=question.incident_id,
    )


async def _read_names(
    names: Callable[[Sequence[str]], Awaitable[Mapping[str, str]]], brief: Brief
) -> Mapping[str, str]:
    """Return the names of the people who fixed it before; names that Slack does not give now are left out."""
    people = [s.fixed_by for s in brief.sources if s.fixed_by and s.fixed_by.isalnum() and s.fixed_by.isupper()]
    try:
        return await names(list(dict.fromkeys(people))) if people else {}
    except (ChatUnavailable, ChatRejected):
        return {}
