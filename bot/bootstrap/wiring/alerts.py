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
from bot.domain.alerts.alert import Alert, Reading
from bot.observability import count_masked
from bot.parsers import read
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.evidence import EvidenceSources
from bot.records.alert_json import read_stored_alert
from bot.slack.inbound.events import OwnIdentity, read_back
from bot.slack.views.alert import render_alert
from bot.web.webhooks import WebhookIntake, add_webhooks
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.alerts.attach_message import AttachMessage
from bot.workflows.alerts.catch_up import CatchUpChannels, WatchConnection
from bot.workflows.alerts.http_intake import AnswerHttpAlert, ReceiveHttpAlert
from bot.workflows.alerts.recurrence import AskAboutRecurrence
from bot.workflows.alerts.storms import GroupStorms, PostStormSummaries
from bot.workflows.channels.settings import AdmitAlert
from bot.workflows.operations.shadow import Admit

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


def build_answer(base: Foundation, *, admit: Admit, sources: EvidenceSources) -> Handle:
    """Build the handler of an alert's post: its brief, and the question that a recurrence deserves."""
    answer = AnswerAlert(
        store=base.memory.incidents,
        recall=base.memory.recall,
        index=base.memory.index,
        chat=base.chat,
        surfaces=base.surfaces,
        clock=base.clock,
        read=read_stored_alert,
        admit=admit,
        group=GroupStorms(base.memory.store.storms, base.load.read_load),
        sources=sources,
    )
    return AskAboutRecurrence(
        store=base.memory.incidents,
        chat=base.chat,
        surfaces=base.surfaces,
        read=read_stored_alert,
        answer=answer,
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
    receive = ReceiveHttpAlert(base.memory.inbox, deliveries, base.chat, base.clock)
    add_webhooks(server, WebhookIntake(receive, token, base.settings.webhook_channel, base.names))
    return AnswerHttpAlert(base.memory.incidents, base.memory.inbox, deliveries, base.chat, answer, render_alert, admit)


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
