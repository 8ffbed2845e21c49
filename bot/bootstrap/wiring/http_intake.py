"""Direct intake put together: the routes that take alerts over HTTP, and the work on what they kept. Must not decide."""

from __future__ import annotations

from aiohttp import web

from bot.adapters.store.delivery.delivery_log import SqlDeliveryLog
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.workers import Handle
from bot.domain.catalog.vendors import Directory
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.views.alert import render_alert
from bot.web.webhooks import WebhookIntake, add_webhooks
from bot.workflows.alerts.http_intake import AnswerHttpAlert, ReceiveHttpAlert
from bot.workflows.channels.settings import AdmitAlert


def add_alert_intake(
    server: web.Application,
    settings: Settings,
    memory: Memory,
    chat: Chat,
    clock: Clock,
    names: Directory,
    answer: Handle,
    admit: AdmitAlert,
) -> Handle:
    """Add the routes to the bot's own HTTP server; what works on the alerts that they keep. Without a token the routes
    only say how to switch them on. `answer` works on an alert's message."""
    token = settings.webhook_token.get_secret_value().strip() if settings.webhook_token else None
    deliveries = SqlDeliveryLog(memory.store.database)
    receive = ReceiveHttpAlert(inbox=memory.inbox, deliveries=deliveries, chat=chat, clock=clock)
    add_webhooks(server, WebhookIntake(receive, token, settings.webhook_channel, names))
    return AnswerHttpAlert(
        store=memory.incidents,
        inbox=memory.inbox,
        deliveries=deliveries,
        chat=chat,
        answer=answer,
        render=render_alert,
        admit=admit,
    )
