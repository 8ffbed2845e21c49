"""Build the modals that correct, retract and purge a record, and read them back."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.incidents.corrections import (
    ATTEMPT,
    BOUNDARY,
    FAILED_CHECKS,
    LESSON,
    ROOT_CAUSE,
    TITLE,
    FieldChange,
    hash_text,
    read_texts,
)
from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.slack import ids
from bot.slack.payload import Body, decode, read_object
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.forms import View, build_info_view, input_block, modal, option, read_answers, select
from bot.slack.views.markup import Block, context, plain, prose, section, verbatim
from bot.slack.views.resolve_modal import BOUNDARIES

# What Slack takes as a prefilled text; a longer one is not offered, for it would be cut.
MAX_PREFILLED = 3000
MAX_ATTEMPTS = 20
MAX_SHOWN = 12
LABELS = {
    TITLE: "Title",
    ROOT_CAUSE: "Root cause",
    BOUNDARY: "Where was the fault?",
    FAILED_CHECKS: "What wasted time, one a line",
    LESSON: "Lesson",
}
HINTS = {FAILED_CHECKS: "With minutes if you like: DB pool, 25"}
STATUSES = {
    VerificationStatus.VERIFIED: "Worked: a person saw it recover",
    VerificationStatus.PARTIAL: "Helped partly",
    VerificationStatus.FAILED: "Did not work",
    VerificationStatus.UNVERIFIED: "Not verified",
}
TOO_LONG = "Too long to be edited here: {}. Export, correct and import the record for that."
RETRACTS = (
    "It is gone from recall at once, and from every bank; threads whose brief used it are told. The audit log keeps what "
    "it said, and importing it brings it back."
)
PURGES = (
    "Its text is removed everywhere: from the record, the index, every bank, briefs that quote it and the audit log, "
    "which keeps a hash. My messages about it are deleted. *Nobody can bring it back.*"
)


def build_edit_view(record: Incident, channel_id: str) -> View:
    """Return the record's fields, filled in with what it says."""
    texts = read_texts(record)
    fields = {name: text for name, text in texts.items() if name in LABELS and len(text) <= MAX_PREFILLED}
    blocks: list[Block] = [verbatim(plain(record.incident_id, MAX_ID))]
    blocks += [_build_field(name, text) for name, text in fields.items()]
    places = range(len(record.attempts))[-MAX_ATTEMPTS:]
    blocks += [_build_attempt(place, record.attempts[place]) for place in places]
    if left_out := [LABELS[name] for name in LABELS if name not in fields]:
        blocks.append(context(TOO_LONG.format(", ".join(left_out))))
    shown = fields | {name: texts[name] for name in (f"{ATTEMPT}{place}" for place in places)}
    metadata = {"i": record.incident_id, "c": channel_id, "m": {name: hash_text(text) for name, text in shown.items()}}
    return modal(ids.EDIT_VIEW, "Edit record", "Save", blocks, metadata)


def _build_field(name: str, text: str) -> Block:
    if name == BOUNDARY:
        options = {b.value: option(label, b.value) for b, label in BOUNDARIES}
        return select(name, LABELS[name], list(options.values()), initial=options[text])
    most = 300 if name == TITLE and len(text) <= 300 else MAX_PREFILLED
    element: dict[str, object] = {
        "type": "plain_text_input",
        "action_id": ids.INPUT,
        "multiline": name != TITLE,
        "max_length": most,
    }
    return input_block(
        name,
        LABELS[name],
        element | ({"initial_value": text} if text else {}),
        optional=name != TITLE,
        hint=HINTS.get(name),
    )


def _build_attempt(place: int, attempt: Attempt) -> Block:
    options = {status: option(label, status.value) for status, label in STATUSES.items()}
    first = attempt.fix.strip().splitlines()[0] if attempt.fix.strip() else "(nothing)"
    label = f"Did it work? {plain(first, 150)}"
    return select(f"{ATTEMPT}{place}", label, list(options.values()), initial=options[attempt.status])


def read_edit(view: Body) -> tuple[dict[str, str], dict[str, str]]:
    """Return what was typed, by field (emptied fields are ""), and the marks of what was shown."""
    marks = read_object(decode(view.get("private_metadata")), "m")
    shown = {str(name): str(mark) for name, mark in marks.items()}
    answers = read_answers(view)
    return {name: answers.get(name, "") for name in shown}, shown


def build_changed_view(record: Incident, changed: Sequence[FieldChange]) -> View:
    """Return what a correction changed: before and after."""
    name = prose(record.incident_id, MAX_ID)
    if not changed:
        return build_done_view("Edit record", f"Nothing changed in *{name}*.")
    lines = [_format_difference(record, one) for one in changed[:MAX_SHOWN]]
    more = [f"+{len(changed) - MAX_SHOWN} more"] if len(changed) > MAX_SHOWN else []
    blocks = [section(f"*{name}* is corrected:"), *(section(text) for text in [*lines, *more])]
    blocks.append(context("Threads whose brief used it are told. The audit log has what it said before."))
    return build_info_view("Edit record", blocks)


def _format_difference(record: Incident, one: FieldChange) -> str:
    label = LABELS.get(one.field)
    if label is None:
        place = int(one.field.removeprefix(ATTEMPT))
        label = f"“{prose(record.attempts[place].fix, 80)}”"
    before, after = (prose(text.replace("\n", "; "), 300) or "nothing" for text in (one.before, one.after))
    return f"*{label}*\n{before} → {after}"


def build_retract_view(record: Incident, channel_id: str) -> View:
    """Return the confirmation of a retraction, with its reason."""
    return _build_confirmation(
        ids.RETRACT_VIEW, "Retract record", "Retract", record.incident_id, record, RETRACTS, channel_id
    )


def build_purge_view(incident_id: str, record: Incident | None, channel_id: str) -> View:
    """Return the confirmation of a purge, with its reason. `record` None: no record is left."""
    return _build_confirmation(
        ids.PURGE_VIEW, "Purge record", "Purge for good", incident_id, record, PURGES, channel_id
    )


def _build_confirmation(
    callback: str, title: str, submit: str, incident_id: str, record: Incident | None, means: str, channel_id: str
) -> View:
    what = f"{incident_id}: {record.title}" if record else f"{incident_id}: no record is left of it"
    element = {"type": "plain_text_input", "action_id": ids.INPUT, "max_length": 300}
    blocks = [verbatim(plain(what, 300)), section(means), input_block(ids.REASON, "Why?", element)]
    return modal(callback, title, submit, blocks, {"i": incident_id, "c": channel_id})


def build_done_view(title: str, text: str) -> View:
    """Return what a modal says when its work is done."""
    return build_info_view(title, [section(text)])
