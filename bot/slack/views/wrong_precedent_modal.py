"""Build the modal "Wrong precedent…", read it back, and list dismissed precedents."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.recall.dismissed import DismissalReason, DismissedPrecedent
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.payload import Body, encode
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.forms import View, line_input, modal, option, read_answers, select
from bot.slack.views.markup import Block, format_time, format_user, plain_text, prose, section
from bot.workflows.recall.wrong_precedent import DismissiblePrecedents, PrecedentDismissal

MOST = 20
THIS_ALERT, SERVICE = "alert", "service"
LABELS = {
    DismissalReason.CAUSE: "It had another cause",
    DismissalReason.PLACE: "It was another service or place",
    DismissalReason.OUTDATED: "It is outdated",
    DismissalReason.OTHER: "Something else",
}


def build_wrong_view(listed: DismissiblePrecedents, metadata: Body) -> View:
    """Return the modal that asks which precedent is wrong, why, and how far to dismiss it."""
    precedents = [option(f"{one.incident_id}: {one.title}", one.incident_id) for one in listed.lines[:MOST]]
    reach = [option("Only for this kind of alert: possible at most", THIS_ALERT)]
    if listed.service:
        reach.append(option(f"Not at all for alerts of {listed.service}", SERVICE))
    blocks: list[Block] = [
        select(ids.PRECEDENT, "Which one is no precedent?", precedents),
        select(ids.WHY, "Why?", [option(label, why.value) for why, label in LABELS.items()]),
        select(
            ids.PIN,
            "From now on",
            reach,
            initial=reach[0],
            hint="It counts as before everywhere else. /precedent rules lists what is set aside, with Undo.",
        ),
        line_input(ids.REASON, "Note", "Your colleagues will read it."),
    ]
    return modal(ids.WRONG_VIEW, "Wrong precedent", "Set aside", blocks, metadata)


def read_wrong_precedent(view: Body) -> PrecedentDismissal:
    """Return what the person says. Raises RecordRejected with the field."""
    answers = read_answers(view)
    why = answers.get(ids.WHY, "")
    if why not in set(DismissalReason):
        raise RecordRejected(ids.WHY, "Choose one.")
    return PrecedentDismissal(
        answers.get(ids.PRECEDENT, ""),
        DismissalReason(why),
        answers.get(ids.REASON, ""),
        answers.get(ids.PIN) == SERVICE,
    )


def format_dismissal(aside: DismissedPrecedent) -> str:
    """Return what was dismissed, by whom and why, on one line. Only for modals and for one person's eyes, where the
    mention notifies nobody."""
    shown = f", not shown for {prose(aside.service, 60)}" if aside.pinned_off and aside.service else ""
    note = f" (“{prose(aside.note, 200)}”)" if aside.note else ""
    return f"*{prose(aside.incident_id, MAX_ID)}* set aside by {format_user(aside.by)}: {aside.why.value}{shown}{note}"


def render_dismissals(asides: Sequence[DismissedPrecedent]) -> list[Block]:
    """Return the dismissals of a channel, each with Undo."""
    return [
        {
            **section(
                f"{format_dismissal(aside)}\n{format_time(aside.at)}, under the brief of {prose(aside.about, MAX_ID)}"
            ),
            "accessory": {
                "type": "button",
                "action_id": ids.UNDO,
                "text": plain_text("Undo"),
                "value": encode({"k": ids.DISMISSED, "n": aside.number}),
            },
        }
        for aside in asides
    ]
