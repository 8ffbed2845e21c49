"""The use cases of what is agreed in channels, wired. Must not decide anything."""

from __future__ import annotations

from bot.domain.channel import DigestTime
from bot.domain.roles import Stewards
from bot.ports.channels import ChannelStore, People
from bot.ports.chat import Chat, Surfaces
from bot.ports.clock import Clock
from bot.ports.said import SaidStore
from bot.ports.store import IncidentStore
from bot.settings import Settings
from bot.slack.listening import Agreed
from bot.workflows.aside import WrongPrecedent
from bot.workflows.channels import ChangeChannel, ShowChannel, default_time
from bot.workflows.nudge import StopNudges
from bot.workflows.rules import FindAnswered, Gate, ListSilences, MuteAlerts, NotAnAlert, UndoSilence


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
