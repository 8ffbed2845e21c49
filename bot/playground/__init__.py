"""A local Slack that runs the bot without a token or a network: for `precedent playground`, `precedent demo`, and the
tests.

    async with await LocalSlack.start() as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
        await slack.post_alert("#alerts", {"text": "checkout-api is down"})

Where to look: `server` starts and stops it. `people` and `interactions` are what a person does (post, click, submit),
`faults` makes Slack misbehave, and `driver` joins them into the object that tests hold. `web_api/` answers the bot's
calls, `delivery/` sends events and interactions to the bot, `workspace/` is the state, and `blocks/` checks Block Kit
against Slack's limits. `page`, `control_api` and `static/` are the page in the browser.

It is built from Slack's documented formats and the measured behavior of its libraries. It imports nothing of the bot
but pure values.
"""

from __future__ import annotations

from bot.playground.blocks.validate import Problem, validate_message, validate_view
from bot.playground.modals import InteractionResult
from bot.playground.server import LocalSlack
from bot.playground.workspace.state import SlackRefused

__all__ = ["InteractionResult", "LocalSlack", "Problem", "SlackRefused", "validate_message", "validate_view"]
