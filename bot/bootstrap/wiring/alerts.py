"""The answer to alerts, wired: reading a post, opening and updating incidents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from bot.domain.alerts.alert import Alert, NotAlert
from bot.domain.alerts.suppression import Admission
from bot.domain.operations.storms import Opening, Placed
from bot.ports.brief_preview import BriefPreview
from bot.ports.chat import Channel, Chat
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow
from bot.ports.evidence import NO_SOURCES, EvidenceSources
from bot.ports.incidents import IncidentStore
from bot.ports.surfaces import Surfaces
from bot.workflows.alerts.announce import AnnounceIncident, place_alone
from bot.workflows.alerts.answer import AnswerAlert, admit_all
from bot.workflows.alerts.open_incident import OpenNewIncident
from bot.workflows.alerts.read_post import ReadPost
from bot.workflows.alerts.recurrence import AskAboutRecurrence
from bot.workflows.alerts.update_incident import UpdateIncident


def build_answer_alert(
    *,
    store: IncidentStore,
    preview: BriefPreview,
    chat: Chat,
    surfaces: Surfaces,
    clock: Clock,
    read: Callable[[Mapping[str, Any]], Alert | NotAlert],
    admit: Callable[[InboxRow, Channel, Alert, datetime], Awaitable[Admission]] = admit_all,
    group: Callable[[Opening], Awaitable[Placed]] = place_alone,
    sources: EvidenceSources = NO_SOURCES,
    recurrence: AskAboutRecurrence | None = None,
) -> AnswerAlert:
    """Build what answers an alert; without the optional ports no rule, storm, evidence or recurrence is looked at."""
    announce = AnnounceIncident(store=store, preview=preview, surfaces=surfaces, group=group, sources=sources)
    return AnswerAlert(
        store=store,
        read_post=ReadPost(store=store, chat=chat, clock=clock, read=read),
        open_incident=OpenNewIncident(store=store, chat=chat, announce=announce),
        update_incident=UpdateIncident(store=store, chat=chat, surfaces=surfaces, announce=announce),
        admit=admit,
        sources=sources,
        recurrence=recurrence,
    )
