"""Build the buttons and the menu under a brief."""

from __future__ import annotations

from bot.domain.brief.decide import Brief
from bot.domain.incidents.opening import IncidentView
from bot.domain.text.tokens import hash_wording
from bot.slack import ids
from bot.slack.payload import MAX_OPTION_VALUE, encode
from bot.slack.views.brief.sections import Blocks
from bot.slack.views.markup import actions, plain_text

# As it is encoded: what a menu's entry carries has less room than a button's value.
MAX_MENU_ID = 110


def build_buttons(brief: Brief) -> Blocks:
    """Return what a person can do about the incident; after it is resolved, only add to the record."""
    incident, best = brief.incident, brief.recommendation
    if incident is None or len(incident.incident_id) > 200:
        return ()
    row = [_build_record_button(incident.incident_id)]
    if best and incident.state != "resolved":
        row.insert(0, _build_fixed_button(incident.incident_id, best.fix))
    row.append(_build_details_button(incident.incident_id))
    if brief.same_outage and len(brief.same_outage.incident_id) <= 200:
        row.append(_build_not_same_button(incident.incident_id, brief.same_outage.incident_id))
    if len(encode({"i": incident.incident_id})) <= MAX_MENU_ID:
        row.append(
            _build_menu(incident, compares=brief.memory_mode == "on", lists=bool(brief.sources or brief.possible))
        )
    return (actions(ids.BRIEF_ACTIONS, row),)


def _build_fixed_button(incident_id: str, fix: str) -> dict[str, object]:
    return {
        "type": "button",
        "action_id": ids.FIXED,
        "style": "primary",
        "text": plain_text("This fixed it"),
        "value": encode({"i": incident_id, "f": hash_wording(fix)}),
        **build_confirmation(),
    }


def build_confirmation() -> dict[str, object]:
    """Return what is asked before the suggested steps are recorded as seen to work."""
    return {
        "confirm": {
            "title": plain_text("Did these steps fix it?"),
            "text": plain_text("They are recorded in your name as a fix that was seen to work."),
            "confirm": plain_text("Yes, it recovered"),
            "deny": plain_text("Not yet"),
        }
    }


def _build_menu(incident: IncidentView, *, compares: bool, lists: bool) -> dict[str, object]:
    """Return what is done seldom. An incident with a recorded resolution was an alert, so it cannot be dismissed as
    none."""
    entries = [("Wrong precedent…", ids.WRONG)] if lists else []
    entries += [("Compare without memory", ids.COMPARE)] if compares else []
    entries += [("Mute…", ids.MUTE), ("Post-mortem", ids.POSTMORTEM)]
    if incident.state != "resolved":
        entries.append(("Not an alert…", ids.NOT_ALERT))
    values = [(label, encode({"i": incident.incident_id, "do": do}, MAX_OPTION_VALUE)) for label, do in entries]
    options = [{"text": plain_text(label), "value": value} for label, value in values]
    return {"type": "overflow", "action_id": ids.MORE, "options": options}


def _build_record_button(incident_id: str) -> dict[str, object]:
    return {
        "type": "button",
        "action_id": ids.RECORD,
        "text": plain_text("Record…"),
        "value": encode({"i": incident_id}),
    }


def _build_details_button(incident_id: str) -> dict[str, object]:
    return {
        "type": "button",
        "action_id": ids.DETAILS,
        "text": plain_text("Details"),
        "value": encode({"i": incident_id}),
    }


def _build_not_same_button(incident_id: str, other: str) -> dict[str, object]:
    return {
        "type": "button",
        "action_id": ids.NOT_SAME,
        "text": plain_text("Not the same"),
        "value": encode({"i": incident_id, "o": other}),
    }
