"""The use cases of what is agreed in channels, wired. Must not decide anything."""

from __future__ import annotations

from bot.domain.access.roles import Stewards
from bot.domain.reports.schedule import DigestTime
from bot.ports.channels import ChannelStore, PeopleDirectory
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.ports.feedback import FeedbackStore
from bot.ports.incidents import IncidentStore
from bot.ports.surfaces import Surfaces
from bot.settings import Settings
from bot.slack.listeners.context import ChannelUseCases
from bot.workflows.channels.settings import ChangeChannel, ShowChannel, build_default_time
from bot.workflows.channels.silences import (
    DismissAlert,
    FindAnsweredAlert,
    ListSilences,
    MuteAlerts,
    PermissionGate,
    UndoSilence,
)
from bot.workflows.recall.wrong_precedent import DismissPrecedent
from bot.workflows.resolutions.nudge import StopNudges


def read_digest_time(settings: Settings) -> DigestTime:
    """When digests come in channels that set nothing."""
    return build_default_time(settings.digest_day, settings.digest_hour, settings.timezone)


def build_channel_use_cases(
    settings: Settings,
    store: IncidentStore,
    channels: ChannelStore,
    people: PeopleDirectory,
    chat: Chat,
    surfaces: Surfaces,
    clock: Clock,
    said: FeedbackStore,
) -> ChannelUseCases:
    """Everything that people may agree on in a channel."""
    stewards = Stewards(settings.steward_ids, settings.steward_group)
    default, gate = read_digest_time(settings), PermissionGate(people, stewards)
    return ChannelUseCases(
        show=ShowChannel(channels=channels, people=people, chat=chat, stewards=stewards, default=default),
        change=ChangeChannel(channels=channels, people=people, chat=chat, stewards=stewards, default=default),
        find=FindAnsweredAlert(store, channels, people),
        not_alert=DismissAlert(store=store, channels=channels, gate=gate, clock=clock),
        mute=MuteAlerts(store=store, channels=channels, surfaces=surfaces, gate=gate, clock=clock),
        undo=UndoSilence(store=store, channels=channels, gate=gate, clock=clock),
        silences=ListSilences(channels, clock),
        stop_nudges=StopNudges(store=store, channels=channels, require=gate.require, clock=clock),
        wrong=DismissPrecedent(store=store, feedback=said, require=gate.require, clock=clock),
    )
