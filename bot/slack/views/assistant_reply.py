"""Answers of the bot in a thread: replies, the state of waiting for a model, the limit of questions."""

from __future__ import annotations

from bot.domain.assistant.intents import CHANNEL_AN_HOUR, PERSON_A_MINUTE, Reply
from bot.domain.brief.decide import Brief
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.markup import Block, context, link, plain, prose, section, verbatim

SENTENCES, ITEM, STEP, DRAFT = 2_400, 260, 500, 2_600
THINKING = ":hourglass_flowing_sand: Asking the model; its answer comes here."


class SlackReplySurfaces:
    """`bot.workflows.assistant.converse.ReplySurfaces`."""

    def render_reply(self, reply: Reply, brief: Brief | None = None) -> ChatMessage:
        """See the protocol."""
        return render_reply(reply, brief)

    def render_thinking(self) -> ChatMessage:
        """See the protocol."""
        return ChatMessage(THINKING, (context(THINKING),))

    def render_limit(self) -> ChatMessage:
        """See the protocol."""
        text = (
            f"That were many questions: I answer {PERSON_A_MINUTE} a minute for one person and {CHANNEL_AN_HOUR} an hour in a "
            "channel. Please ask again later; until then I stay quiet."
        )
        return ChatMessage(text, (context(text),))

    def render_help(self) -> ChatMessage:
        """See the protocol."""
        text = (
            "Name me in the thread of an alert that I answered, and ask: what now, what to skip, who fixed it last time, is it "
            "us or the vendor, how sure, what changed, write the status update. `/precedent help` shows the commands."
        )
        return ChatMessage("How to ask Precedent", (section(text),))


def render_reply(reply: Reply, brief: Brief | None = None) -> ChatMessage:
    """Return an answer: its sentences, its list or draft, and the incidents that it cites."""
    text = prose(" ".join(reply.sentences), SENTENCES)
    blocks: list[Block] = [section(text)]
    if reply.items and reply.numbered:
        steps = [f"{n}. {plain(item, STEP, exact=True)}" for n, item in enumerate(reply.items, 1)]
        blocks.append(verbatim("\n".join([*steps, *([f"+{reply.more} more in Details"] if reply.more else [])])))
    elif reply.items:
        blocks.append(section("\n".join(f"• {prose(item, ITEM)}" for item in reply.items)))
    if reply.draft:
        blocks.append(verbatim(plain(reply.draft, DRAFT, lines=True)))
    if reply.cites:
        links = {s.incident_id: s.url for s in (*brief.sources, *brief.possible)} if brief else {}
        blocks.append(context("from " + ", ".join(link(links.get(one), one, MAX_ID) for one in reply.cites)))
    return ChatMessage(prose(" ".join(reply.sentences), 140), tuple(blocks))
