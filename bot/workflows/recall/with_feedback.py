"""Recall with people's feedback on precedents and fixes applied. Must not ask the index or a bank itself.

Everything that shows precedents goes through it, so that thread, `/recall`, Compare and the command line agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.domain.access.visibility import Viewer
from bot.domain.fixes.grouping import build_fix_groups
from bot.domain.recall.feedback import Feedback, apply_feedback
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import MissingPart, Recalled
from bot.observability import get_logger
from bot.ports.errors import StoreUnavailable
from bot.ports.feedback import FeedbackStore
from bot.ports.memory import Recall

UNREAD = MissingPart("memory", "what people said of precedents cannot be read now, so it is not heeded")
log = get_logger("recall")


@dataclass(frozen=True, slots=True)
class RecallWithFeedback:
    """Implement the Recall port on top of another one."""

    recall: Recall
    feedback: FeedbackStore

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """See the port."""
        recalled = await self.recall.precedents(query, viewer)
        try:
            feedback = Feedback(
                await self.feedback.list_dismissed(query), build_fix_groups(await self.feedback.list_fix_equivalences())
            )
        except StoreUnavailable as problem:
            log.warning("what people said is not heeded", problem=str(problem))
            return replace(recalled, missing=(*recalled.missing, UNREAD))
        return apply_feedback(recalled, query, feedback, viewer)
