"""Every use case that a person starts from Slack, as the listeners receive them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.domain.alerts.alert import Reading
from bot.ports.chat import BotIdentity
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import Inbox
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.recurrence import AnswerRecurrence
from bot.workflows.assistant.analyze import ShowModelPayloads
from bot.workflows.assistant.converse import Converse
from bot.workflows.channels.access import ChannelAccess
from bot.workflows.channels.settings import ChangeChannel, ShowChannel
from bot.workflows.channels.silences import DismissAlert, FindAnsweredAlert, ListSilences, MuteAlerts, UndoSilence
from bot.workflows.delivery.queue_reply import PublishHome, QueueReply
from bot.workflows.operations.preview import PreviewChannel
from bot.workflows.operations.shadow import FindShadowed
from bot.workflows.operations.status import ReportStatus
from bot.workflows.recall.ask_memory import AskMemory
from bot.workflows.recall.details import ShowDetails
from bot.workflows.recall.share_answer import ShareAnswer
from bot.workflows.recall.vendor_profile import ProfileVendor
from bot.workflows.recall.wrong_precedent import DismissPrecedent
from bot.workflows.reports.digest import ComposeDigest
from bot.workflows.reports.open_incidents import ListOpenIncidents
from bot.workflows.reports.usefulness import ComposeUsefulnessReport
from bot.workflows.resolutions.correct import EditRecord, PurgeRecord, RetractRecord
from bot.workflows.resolutions.find_incident import FindIncident, ReadIncidentThread, RequireOver
from bot.workflows.resolutions.memo_reaction import AnswerMemo, AskAboutMemo
from bot.workflows.resolutions.not_same_outage import RecordNotSameOutage
from bot.workflows.resolutions.nudge import StopNudges
from bot.workflows.resolutions.postmortem import RequestPostmortem
from bot.workflows.resolutions.resolve import Resolve
from bot.workflows.resolutions.same_fix import GroupFixes


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelUseCases:
    """What people agree on in channels."""

    show: ShowChannel
    change: ChangeChannel
    find: FindAnsweredAlert
    dismiss_alert: DismissAlert
    mute: MuteAlerts
    undo: UndoSilence
    silences: ListSilences
    stop_nudges: StopNudges
    dismiss_precedent: DismissPrecedent


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionUseCases:
    """What corrects records."""

    edit: EditRecord
    retract: RetractRecord
    purge: PurgeRecord
    fixes: GroupFixes


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """Everything that a listener may use."""

    inbox: Inbox
    access: ChannelAccess
    surfaces: SlackSurfaces
    clock: Clock
    # Reads a Slack message event.
    read: Callable[[Mapping[str, object]], Reading]
    # Who the bot is, so that it knows its own messages; without it, what each event says of it.
    identity: BotIdentity | None = None

    resolve: Resolve
    find_incident: FindIncident
    read_thread: ReadIncidentThread
    require_over: RequireOver
    request_postmortem: RequestPostmortem
    keep_apart: RecordNotSameOutage
    answer_recurrence: AnswerRecurrence
    ask_about_memo: AskAboutMemo
    answer_memo: AnswerMemo
    correct: CorrectionUseCases

    ask_memory: AskMemory
    profile_vendor: ProfileVendor
    share_answer: ShareAnswer
    details: ShowDetails

    channels: ChannelUseCases
    queue_reply: QueueReply
    publish_home: PublishHome
    find_shadowed: FindShadowed

    compose_digest: ComposeDigest
    compose_report: ComposeUsefulnessReport
    list_open_incidents: ListOpenIncidents
    status: ReportStatus
    show_sent: ShowModelPayloads | None = None
    # None: no language model is set up.
    converse: Converse | None = None
    # None: the bot cannot read what was posted before.
    preview: PreviewChannel | None = None
