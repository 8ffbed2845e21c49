"""Direct intake put together: the routes that take alerts over HTTP, and the work on what they kept. Must not decide."""

from __future__ import annotations

from aiohttp import web

from bot.adapters.store.delivery.delivery_log import SqlDeliveries
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.workers import Handle
from bot.domain.catalog.vendors import Directory
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.views.alert import alert_message
from bot.web.webhooks import Intake, add_webhooks
from bot.workflows.alerts.http_intake import AnswerIntake, ReceiveAlert
from bot.workflows.channels.settings import AdmitAlert


def take_alerts(
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
    deliveries = SqlDeliveries(memory.store.database)
    receive = ReceiveAlert(memory.inbox, deliveries, chat, clock)
    add_webhooks(server, Intake(receive, token, settings.webhook_channel, names))
    return AnswerIntake(memory.incidents, memory.inbox, deliveries, chat, answer, alert_message, admit)
