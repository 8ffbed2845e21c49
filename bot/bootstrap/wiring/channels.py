"""The use cases of what is agreed in channels, wired. Must not decide anything."""

from __future__ import annotations

from bot.domain.access.roles import Stewards
from bot.domain.reports.schedule import DigestTime
from bot.ports.channels import ChannelStore, People
from bot.ports.chat import Chat, Surfaces
from bot.ports.clock import Clock
from bot.ports.feedback import SaidStore
from bot.ports.unit_of_work import IncidentStore
from bot.settings import Settings
from bot.slack.listeners.context import Agreed
from bot.workflows.channels.settings import ChangeChannel, ShowChannel, default_time
from bot.workflows.channels.silences import FindAnswered, Gate, ListSilences, MuteAlerts, NotAnAlert, UndoSilence
from bot.workflows.recall.wrong_precedent import WrongPrecedent
from bot.workflows.resolutions.nudge import StopNudges


def operators_time(settings: Settings) -> DigestTime:
    """When digests come in channels that set nothing."""
    return default_time(settings.digest_day, settings.digest_hour, settings.timezone)


def agreed_in_channels(
    settings: Settings,
    store: IncidentStore,
    channels: ChannelStore,
    people: People,
    chat: Chat,
    surfaces: Surfaces,
    clock: Clock,
    said: SaidStore,
) -> Agreed:
    """Everything that people may agree on in a channel."""
    stewards = Stewards(settings.steward_ids, settings.steward_group)
    default, gate = operators_time(settings), Gate(people, stewards)
    return Agreed(
        show=ShowChannel(channels, people, chat, stewards, default),
        change=ChangeChannel(channels, people, chat, stewards, default),
        find=FindAnswered(store, channels, people),
        not_alert=NotAnAlert(store, channels, gate, clock),
        mute=MuteAlerts(store, channels, surfaces, gate, clock),
        undo=UndoSilence(store, channels, gate, clock),
        silences=ListSilences(channels, clock),
        stop_nudges=StopNudges(store, channels, gate, clock),
        wrong=WrongPrecedent(store, said, gate.require, clock),
    )
