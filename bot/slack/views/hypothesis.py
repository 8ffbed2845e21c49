"""Show a model's hypothesis, always labeled; two of them side by side; and what was sent to the model.

An answer that was refused is never shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot.domain.assistant.hypothesis import Hypothesis
from bot.domain.brief.decide import Brief
from bot.ports.chat import ChatMessage
from bot.ports.language_model import ModelExchange
from bot.slack.views.brief.sections import MAX_ID, Blocks, join_parts
from bot.slack.views.forms import View, build_info_view
from bot.slack.views.markup import (
    Block,
    context,
    format_time,
    format_user,
    header,
    link,
    plain,
    prose,
    section,
    verbatim,
)
from bot.workflows.assistant.analyze import Analysis

LABEL = "Hypothesis (AI, unverified)"
WITH, WITHOUT = "With memory", "Without memory"
# Characters of a payload in one block, and how many blocks of it are shown.
CHUNK, MOST_CHUNKS = 2_800, 12
MOST_SENT = 3
PARTS = (
    ("May be the cause", "possible_root_cause"),
    ("Why", "reasoning"),
    ("Next", "recommended_next_action"),
    ("What may be wrong with that", "uncertainty"),
)


def render_hypothesis(analysis: Analysis, brief: Brief | None = None) -> ChatMessage:
    """Return the hypothesis, or one line that says why there is none. `brief` gives the links of the incidents it
    cites."""
    found = analysis.hypothesis
    if found is None:
        text = prose(analysis.reason or "", 300)
        return ChatMessage(f"No hypothesis: {text}", (context(f"*No hypothesis*: {text}"),))
    text = f"{LABEL}: {prose(found.possible_root_cause, 140)}"
    return ChatMessage(text, tuple(_render_blocks(found, analysis, brief)))


def _render_blocks(found: Hypothesis, analysis: Analysis, brief: Brief | None) -> list[Block]:
    memory = "with memory" if analysis.memory else "without memory"
    rated = join_parts((f"{found.confidence.value} confidence", prose(analysis.model or "", 60), memory))
    lines = [f"*{name}*: {prose(getattr(found, part), 700)}" for name, part in PARTS if getattr(found, part)]
    warned = [f":warning: {', '.join(found.dangers)}: make sure before you do it"] if found.dangers else []
    links = {s.incident_id: s.url for s in (*brief.sources, *brief.possible)} if brief else {}
    cited = ", ".join(link(links.get(one), one, MAX_ID) for one in found.cited)
    return [section("\n".join([f"*{LABEL}*", *lines, *warned])), context(join_parts((rated, f"from {cited}")))]


def render_hypotheses(with_memory: Analysis, without: Analysis, brief: Brief | None = None) -> ChatMessage:
    """Return both hypotheses, one under the other."""
    blocks: list[Block] = []
    for name, analysis in ((WITH, with_memory), (WITHOUT, without)):
        blocks += [header(name), *render_hypothesis(analysis, brief).blocks]
    return ChatMessage(f"{LABEL}: with memory and without", tuple(blocks))


def build_hypotheses_view(message: ChatMessage) -> View:
    """Return both hypotheses as a modal."""
    return build_info_view("Compare", message.blocks)


def render_sent(sent: Sequence[ModelExchange]) -> ChatMessage:
    """Return exactly what was sent to a model about an incident, latest first; for the asker alone."""
    incident = prose(sent[0].incident_id, MAX_ID) if sent else "-"
    blocks = [block for one in sent[:MOST_SENT] for block in _render_sent_one(one)]
    more = len(sent) - MOST_SENT
    blocks += [context(f"{more} more before these")] if more > 0 else []
    return ChatMessage(f"What was sent to a model about {incident}", tuple(blocks))


def _render_sent_one(one: ModelExchange) -> Blocks:
    memory = "with memory" if one.memory else "without memory"
    calls = "; ".join(
        f"{prose(c.model, 60)} ({prose(c.mode, 10)}): {prose(c.outcome, 40)}, {c.seconds:g} s" for c in one.calls
    )
    about = join_parts((format_time(one.at), f"asked by {format_user(one.by)}", memory, f"{one.tokens:,} tokens"))
    text = f"*{prose(one.incident_id, MAX_ID)}* {about}\n{calls}\n{prose(one.outcome, 300)}"
    payload = json.dumps(one.payload, ensure_ascii=False)
    chunks = [payload[at : at + CHUNK] for at in range(0, len(payload), CHUNK)]
    cut = (
        [context(f"{len(chunks) - MOST_CHUNKS} more parts, which a message has no room for")]
        if len(chunks) > MOST_CHUNKS
        else []
    )
    return (section(text), *(verbatim(plain(chunk, 3_000, exact=True)) for chunk in chunks[:MOST_CHUNKS]), *cut)
