"""Wire what people agree on in channels: settings, silences, and whether an alert is answered there."""

from __future__ import annotations

from bot.bootstrap.wiring.foundation import Foundation
from bot.domain.access.roles import Stewards
from bot.domain.reports.schedule import DigestTime
from bot.settings import Settings
from bot.slack.listeners.context import ChannelUseCases
from bot.workflows.channels.settings import AdmitAlert, ChangeChannel, ShowChannel, build_default_time
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
    """Return when digests are posted in channels that set no time."""
    return build_default_time(settings.digest_day, settings.digest_hour, settings.timezone)


def build_stewards(settings: Settings) -> Stewards:
    """Return who may change what binds others."""
    return Stewards(settings.steward_ids, settings.steward_group)


def build_admit(base: Foundation) -> AdmitAlert:
    """Build what decides whether an alert is answered in its channel."""
    return AdmitAlert(channels=base.memory.channels, default=read_digest_time(base.settings))


def build_channel_use_cases(base: Foundation) -> ChannelUseCases:
    """Build everything that people may agree on in a channel."""
    stewards, default = build_stewards(base.settings), read_digest_time(base.settings)
    gate = PermissionGate(base.people, stewards)
    store, channels, people, chat, clock = (
        base.memory.incidents,
        base.memory.channels,
        base.people,
        base.chat,
        base.clock,
    )
    return ChannelUseCases(
        show=ShowChannel(channels=channels, people=people, chat=chat, stewards=stewards, default=default),
        change=ChangeChannel(channels=channels, people=people, chat=chat, stewards=stewards, default=default),
        find=FindAnsweredAlert(store, channels, people),
        dismiss_alert=DismissAlert(store=store, channels=channels, gate=gate, clock=clock),
        mute=MuteAlerts(store=store, channels=channels, surfaces=base.surfaces, gate=gate, clock=clock),
        undo=UndoSilence(store=store, channels=channels, gate=gate, clock=clock),
        silences=ListSilences(channels, clock),
        stop_nudges=StopNudges(store=store, channels=channels, require=gate.require, clock=clock),
        dismiss_precedent=DismissPrecedent(
            store=store, feedback=base.memory.store.feedback, require=gate.require, clock=clock
        ),
    )
