"""Wire the work on alerts: reading posts, answering them, HTTP intake, and what was missed while disconnected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from aiohttp import web

from bot.adapters.store.delivery.delivery_log import SqlDeliveryLog
from bot.bootstrap.wiring.evidence import (
    read_webhook_token,
    wrap_reader,
)
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.workers import Handle
from bot.domain.alerts.alert import Alert, NotAlert, Reading
from bot.domain.alerts.suppression import SuppressionDecision
from bot.domain.operations.storms import OpenedIncident, PlacementDecision
from bot.observability import count_masked
from bot.parsers import read
from bot.ports.brief_preview import BriefPreview
from bot.ports.chat import Channel, Chat
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent
from bot.ports.evidence import NO_SOURCES, EvidenceSources
from bot.ports.incidents import IncidentStore
from bot.ports.surfaces import Surfaces
from bot.records.alert_json import read_stored_alert
from bot.slack.inbound.events import OwnIdentity, read_back
from bot.slack.views.alert import render_alert
from bot.web.webhooks import WebhookIntake, add_webhooks
from bot.workflows.alerts.announce import AnnounceIncident, place_alone
from bot.workflows.alerts.answer import AnswerAlert, admit_all
from bot.workflows.alerts.attach_message import AttachMessage
from bot.workflows.alerts.catch_up import CatchUpChannels, WatchConnection
from bot.workflows.alerts.http_intake import AnswerHttpAlert, ReceiveHttpAlert
from bot.workflows.alerts.open_incident import OpenNewIncident
from bot.workflows.alerts.read_post import ReadPost
from bot.workflows.alerts.recurrence import AskAboutRecurrence
from bot.workflows.alerts.storms import GroupStorms, PostStormSummaries
from bot.workflows.alerts.update_incident import UpdateIncident
from bot.workflows.channels.settings import AdmitAlert
from bot.workflows.operations.shadow import Admit
from bot.workflows.recall.preview_brief import PreviewBrief

Reader = Callable[[Mapping[str, Any]], Reading]


def build_reader(base: Foundation) -> Reader:
    """Build the reader of Slack message events: alerts, and deploy posts of the configured channels."""
    own = frozenset({base.identity.bot_id, base.identity.user_id})

    def read_event(event: Mapping[str, Any]) -> Reading:
        reading = read(event, own_bot_ids=own, names=base.names)
        if isinstance(reading, Alert):
            count_masked(reading.text)
        return reading

    return wrap_reader(read_event, frozenset(base.configuration.deploy_posts.channels), base.names)


def build_answer(base: Foundation, *, admit: Admit, sources: EvidenceSources) -> AnswerAlert:
    """Build the handler of an alert's post: its brief, and the question that a recurrence deserves."""
    recurrence = AskAboutRecurrence(
        store=base.memory.incidents,
        chat=base.chat,
        surfaces=base.surfaces,
        read=read_stored_alert,
    )
    return build_answer_alert(
        store=base.memory.incidents,
        preview=PreviewBrief(base.memory.recall, base.memory.index),
        chat=base.chat,
        surfaces=base.surfaces,
        clock=base.clock,
        read=read_stored_alert,
        admit=admit,
        group=GroupStorms(base.memory.store.storms, base.load.read_load),
        sources=sources,
        recurrence=recurrence,
    )


def build_answer_alert(
    *,
    store: IncidentStore,
    preview: BriefPreview,
    chat: Chat,
    surfaces: Surfaces,
    clock: Clock,
    read: Callable[[Mapping[str, Any]], Alert | NotAlert],
    admit: Callable[[InboxRow, Channel, Alert, datetime], Awaitable[SuppressionDecision]] = admit_all,
    group: Callable[[OpenedIncident], Awaitable[PlacementDecision]] = place_alone,
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


def build_attach_message(base: Foundation) -> Handle:
    """Build the handler of a message that refers to an alert's."""
    return AttachMessage(store=base.memory.incidents, chat=base.chat)


def build_storm_summaries(base: Foundation) -> PostStormSummaries:
    """Build what summarizes storms of alerts."""
    return PostStormSummaries(storms=base.memory.store.storms, surfaces=base.surfaces, clock=base.clock)


def add_alert_intake(base: Foundation, server: web.Application, *, answer: Handle, admit: AdmitAlert) -> Handle:
    """Add the routes that take alerts over HTTP, and return the handler of what they stored.

    Without a token the routes only say how to switch them on. `answer` handles an alert's message.
    """
    token = read_webhook_token(base.settings)
    deliveries = SqlDeliveryLog(base.memory.store.database)
    receive = ReceiveHttpAlert(inbox=base.memory.inbox, deliveries=deliveries, chat=base.chat, clock=base.clock)
    add_webhooks(server, WebhookIntake(receive, token, base.settings.webhook_channel, base.names))
    return AnswerHttpAlert(
        store=base.memory.incidents,
        inbox=base.memory.inbox,
        deliveries=deliveries,
        chat=base.chat,
        answer=answer,
        render=render_alert,
        admit=admit,
    )


def build_watch_connection(
    base: Foundation, *, read: Reader, is_connected: Callable[[], Awaitable[bool]], connections: list[datetime]
) -> WatchConnection:
    """Build what reads back, after each of these `connections`, what was missed before it."""
    own = OwnIdentity(base.identity.bot_id, base.identity.user_id)
    store = base.memory.store

    def receive_past(channel: str, message: Mapping[str, Any]) -> ReceivedEvent | None:
        return read_back(channel, message, base.identity.team_id, read, own)

    catch_up = CatchUpChannels(
        history=base.history, inbox=store.inbox, backlog=store.inbox, clock=base.clock, read=receive_past
    )
    return WatchConnection(
        heard=store.watermark,
        catch_up=catch_up,
        clock=base.clock,
        is_connected=is_connected,
        connections=connections,
    )
