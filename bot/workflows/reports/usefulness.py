"""Gather a period's facts for the report on the bot's usefulness, for one viewer. Must not count or render."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.access.visibility import Viewer
from bot.domain.brief.decide import is_counted_precedent
from bot.domain.fixes.grouping import build_fix_groups
from bot.domain.reports.usefulness import PrecedentJudgment, ReportedIncident, UsefulnessReport, build_report
from bot.ports.feedback import FeedbackStore
from bot.ports.incidents import IncidentStore


@dataclass(frozen=True, slots=True)
class ComposeUsefulnessReport:
    """Compose the report of a period.

    A strong precedent that somebody dismissed was wrong for the incident under whose brief they said so.
    """

    store: IncidentStore
    feedback: FeedbackStore

    async def __call__(self, since: datetime, until: datetime, viewer: Viewer) -> UsefulnessReport:
        """Return the report over the incidents that the viewer may see. Raises StoreUnavailable."""
        lives = await self.store.list_lifecycles(since, until, viewer)
        ids = [life.incident_id for life in lives]
        records, posts = await self.store.find_records(ids), await self.store.count_posts(since)
        rows = [
            ReportedIncident(
                life,
                records.get(life.incident_id),
                tuple(posted.brief for posted in await self.store.list_briefs(life.incident_id)),
                posts.get(life.incident_id, 0),
            )
            for life in lives
        ]
        dismissals = [dismissal for dismissal in await self.feedback.list_dismissed() if since <= dismissal.at < until]
        briefs = {row.life.incident_id: row.briefs for row in rows}
        strong = [a for a in dismissals if all(is_counted_precedent(a, brief) for brief in briefs.get(a.about, ()))]
        feedback = [PrecedentJudgment(dismissal.about, right=False) for dismissal in strong]
        return build_report(rows, feedback, since, until, build_fix_groups(await self.feedback.list_fix_equivalences()))
