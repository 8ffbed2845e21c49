"""A local Slack for trying the bot out and for tests. Must not import anything of the bot but pure values."""

from __future__ import annotations

from bot.playground.blocks.validate import Problem, validate_message, validate_view
from bot.playground.interactions import InteractionResult
from bot.playground.server import LocalSlack
from bot.playground.workspace.state import SlackRefused

__all__ = ["InteractionResult", "LocalSlack", "Problem", "SlackRefused", "validate_message", "validate_view"]
