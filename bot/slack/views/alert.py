"""Alerts as the bot's own posts: those that a tool hands over directly, and the test alert of setup."""

from __future__ import annotations

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.brief.decide import Brief
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.layout import render_brief
from bot.slack.views.markup import context, link, prose, section

MARKS = {
    AlertState.FIRING: ":red_circle: Firing",
    AlertState.NO_DATA: ":white_circle: No data",
    AlertState.ESCALATED: ":red_circle: Escalated",
    AlertState.ACKNOWLEDGED: ":eyes: Acknowledged",
    AlertState.RESOLVED: ":large_green_circle: Resolved",
    AlertState.UPDATE: ":information_source: Update",
    AlertState.INFO: ":information_source: Info",
}
MOST_LINKS = 5
MOST_LINES = 3
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


def render_alert(alert: Alert) -> ChatMessage:
    """Return state and name first; then what is affected, the symptoms, the counts, and where to look."""
    word = MARKS[alert.state].partition(" ")[2]
    title = alert.title or "Alert"
    blocks = [section(f"{MARKS[alert.state]}: *{prose(title, 200)}*"), *_render_facts(alert), *_render_texts(alert)]
    links = [link(url, role.replace("_", " ")) for role, url in list(alert.links.items())[:MOST_LINKS]]
    if links:
        blocks.append(context(" · ".join(links)))
    return ChatMessage(f"{word}: {prose(title, 200)}", tuple(blocks))


def _render_facts(alert: Alert) -> list[dict[str, object]]:
    severity = alert.severity.value if alert.severity else None
    firing, members = alert.firing or 0, (alert.firing or 0) + (alert.cleared or 0)
    group = f"{firing} of {members} firing" if members > 1 else None
    facts = (severity, alert.service, alert.vendor, alert.environment, alert.region, group)
    words = [prose(word, 80) for word in facts if word]
    return [dict(section(" · ".join(words)))] if words else []


def _render_texts(alert: Alert) -> list[dict[str, object]]:
    """Return the first of the tool's own sentences: lines that are no label."""
    labels = {f"{key}: {value}" for key, value in alert.labels.items()}
    lines = [line for line in alert.text.split("\n")[1:] if line.strip() and line not in labels]
    return [dict(section("\n".join(prose(line, 300) for line in lines[:MOST_LINES])))] if lines else []


def render_trial_post(alert: Alert = TRIAL) -> ChatMessage:
    """Return the alert, marked as a test first."""
    shown = render_alert(alert)
    return ChatMessage("Test of Precedent, not an alert", (section(SAYS), *shown.blocks))


def render_trial_answer(brief: Brief) -> ChatMessage:
    """Return the brief of the test alert, marked as that of a test."""
    shown = render_brief(brief)
    return ChatMessage(f"Test: {shown.text}", (context(ANSWERS), *shown.blocks))
