"""What setup posts to try the way to a channel: an alert that says that it is none, and a brief that says whose it is.

Pure. Must not read like a real alert.
"""

from __future__ import annotations

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.brief.decide import Brief
from bot.ports.chat import ChatMessage
from bot.slack.views.alert import render_alert
from bot.slack.views.brief.layout import render_brief
from bot.slack.views.markup import context, section

TRIAL = Alert(
    "generic",
    AlertState.FIRING,
    "precedent-setup-test",
    title="Test of Precedent: nothing is wrong",
    service="precedent-setup-test",
    text="Test of Precedent: nothing is wrong",
)
SAYS = ":test_tube: *This is a test, not an alert.* Precedent was just set up here; nobody needs to do anything."
ANSWERS = (
    ":test_tube: *The brief of the test above.* Real alerts in this channel are answered like this, in their thread."
    " Nothing of the test is kept."
)


def render_trial_post(alert: Alert = TRIAL) -> ChatMessage:
    """The alert, marked as a test first."""
    shown = render_alert(alert)
    return ChatMessage("Test of Precedent, not an alert", (section(SAYS), *shown.blocks))


def render_trial_answer(brief: Brief) -> ChatMessage:
    """The brief that this alert gets, marked as that of a test."""
    shown = render_brief(brief)
    return ChatMessage(f"Test: {shown.text}", (context(ANSWERS), *shown.blocks))
