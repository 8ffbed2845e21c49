"""Build the modal in which a person records a resolution and the picker before it, and read them back.

Only `plain_text_input` and selects, which work on a phone. The bot's own verdict is never a default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeVar

from bot.domain.brief.checks import normalize_check
from bot.domain.incidents.record import (
    Attempt,
    Boundary,
    FailedCheck,
    Incident,
    Runbook,
    VerificationStatus,
)
from bot.domain.resolutions.failed_checks import read_failed_checks
from bot.domain.resolutions.suggestions import SuggestedFix
from bot.domain.text.tokens import hash_wording
from bot.ports.chat import ChatMessage
from bot.ports.errors import RecordRejected, require_readable
from bot.slack import ids
from bot.slack.payload import Body, decode, read_objects, read_text
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.forms import (
    View,
    build_info_view,
    build_options,
    button,
    modal,
    multi_select,
    multiline_input,
    option,
    read_answers,
    read_block_base,
    read_selection,
    select,
)
from bot.slack.views.markup import (
    Block,
    actions,
    format_time,
    format_user,
    plain,
    plain_text,
    prose,
    section,
    verbatim,
)
from bot.workflows.reports.open_incidents import OpenIncident
from bot.workflows.resolutions.resolve import FixOutcome, RecordedResolution, Resolution, ResolveForm, Subject

OUTCOMES = (
    (FixOutcome.RECOVERED, "Yes, I saw it recover"),
    (FixOutcome.PARTLY, "Partly"),
    (FixOutcome.NO, "No"),
    (FixOutcome.BY_ITSELF, "It cleared by itself"),
    (FixOutcome.NOT_SURE, "Not sure"),
)
BOUNDARIES = (
    (Boundary.UNKNOWN, "I do not know"),
    (Boundary.VENDOR, "A vendor"),
    (Boundary.INTERNAL, "Us"),
    (Boundary.MIXED, "Both"),
)
STATUS_WORDS = {
    VerificationStatus.VERIFIED: "worked",
    VerificationStatus.PARTIAL: "helped partly",
    VerificationStatus.FAILED: "did not work",
    VerificationStatus.UNVERIFIED: "not verified",
}
FIELD_BLOCKS = {
    "outcome": ids.OUTCOME,
    "fix": ids.FIX,
    "known_fix": ids.KNOWN_FIX,
    "root_cause": ids.ROOT_CAUSE,
    "boundary": ids.BOUNDARY,
    "failed_checks": ids.FAILED_CHECKS,
    "lesson": ids.LESSON,
    "incident": ids.INCIDENT,
    "known_checks": ids.KNOWN_CHECKS,
    "runbook": ids.RUNBOOK,
    "customer_impact": ids.IMPACT,
    "also": ids.ALSO,
}
# What may have come of another attempt than the one that ended it.
ALSO_OUTCOMES = (
    (VerificationStatus.FAILED, "It did not work"),
    (VerificationStatus.PARTIAL, "It helped partly"),
    (VerificationStatus.UNVERIFIED, "Not sure"),
)
MAX_ATTEMPTS = 5
MINUTES_HINT = "With minutes if you like: DB pool, 25."
NOTHING = ResolveForm(None, "")
E = TypeVar("E", bound=Enum)


def find_block(field: str, view: Body) -> str:
    """Return the block under which the modal shows an error about a record's field: its own, else the first input."""
    inputs = [
        name for b in read_objects(view, "blocks") if b.get("type") == "input" and (name := read_text(b, "block_id"))
    ]
    wanted = FIELD_BLOCKS.get(field, field)
    return next((b for b in inputs if read_block_base(b) == wanted), next(iter(inputs), ids.OUTCOME))


def build_resolve_view(form: ResolveForm, metadata: Body) -> View:
    """Return the modal in which a person says what fixed an incident. `metadata` comes back with the answers."""
    name = f"{form.incident_id}: {form.title}" if form.incident_id else form.title
    blocks: list[Block] = [
        verbatim(plain(name, 200) or "Incident"),
        *_render_recorded(form.record),
        select(ids.OUTCOME, "Did it fix it?", [option(label, o.value) for o, label in OUTCOMES]),
        *_build_choices(form),
        multiline_input(ids.FIX, "What was done, one step a line", _format_fix_hint(form)),
        multiline_input(
            ids.ROOT_CAUSE, "Root cause", "A guess is fine; say that it is one.", _format_recorded(form, "root_cause")
        ),
        actions(ids.FROM_THREAD, [button(f"{ids.FROM_THREAD}.{to}", label) for to, label in FROM_THREAD]),
        select(
            ids.BOUNDARY,
            "Where was the fault?",
            [option(label, b.value) for b, label in BOUNDARIES],
            initial=option(BOUNDARIES[0][1], BOUNDARIES[0][0].value),
        ),
        *_build_checks(form),
        multiline_input(ids.LESSON, "What should the next person know?", "Optional.", _format_recorded(form, "lesson")),
        actions(ids.MORE_FIELDS, [button(ids.MORE_FIELDS, "More…")]),
    ]
    return modal(ids.RESOLVE_VIEW, "Record resolution", "Record", blocks, metadata)


FROM_THREAD = ((ids.FIX, "Steps from the thread"), (ids.ROOT_CAUSE, "Cause from the thread"))


def build_more_fields() -> list[Block]:
    """Return the fields that are seldom needed; they take the place of the button "More…"."""
    outcomes = [option(label, status.value) for status, label in ALSO_OUTCOMES]
    return [
        multiline_input(ids.ALSO, "What else was tried", "Another fix, before the one that ended it."),
        select(ids.ALSO_OUTCOME, "What came of that?", outcomes, optional=True),
        multiline_input(ids.IMPACT, "What did customers notice?", "Optional."),
    ]


def _render_recorded(record: Incident | None) -> list[Block]:
    """Return what is recorded already; recording once more adds to it."""
    if record is None or not (record.resolved_at or record.attempts):
        return []
    lines = [format_attempt(a) for a in record.attempts[-MAX_ATTEMPTS:]]
    if record.resolved_at:
        lines = lines or [f"• {format_time(record.resolved_at)}: no fix"]
    left_out = len(record.attempts) - MAX_ATTEMPTS
    head = "*Recorded already*; what you say is added." + (f" The last {MAX_ATTEMPTS}:" if left_out > 0 else "")
    return [section("\n".join([head, *lines]))]


def format_attempt(attempt: Attempt) -> str:
    """Return who recorded what, when, and how it went (mrkdwn)."""
    when = f", {format_time(attempt.at)}" if attempt.at else ""
    return f"• {format_user(attempt.by)}{when}: {prose(attempt.fix, 200)} ({STATUS_WORDS[attempt.status]})"


def _build_choices(form: ResolveForm) -> list[Block]:
    """Return the known fixes and runbooks to choose from, if any."""
    fixes = [select(ids.KNOWN_FIX, "What fixed it?", _build_known_fixes(form.known_fixes), optional=True)]
    titles = [(f"{r.id}: {r.title}" if r.title != r.id else r.id, hash_wording(r.id)) for r in form.runbooks]
    options = build_options(titles)
    runbooks = [select(ids.RUNBOOK, "Was it a runbook?", options, optional=True)]
    return (fixes if form.known_fixes else []) + (runbooks if options else [])


def _build_checks(form: ResolveForm) -> list[Block]:
    """Return what wasted time: the usual checks to choose from, and an input for others."""
    options = build_options([(check, hash_wording(check)) for check in form.usual_checks])
    if not options:
        return [multiline_input(ids.FAILED_CHECKS, "What wasted time, one a line", MINUTES_HINT)]
    typed = multiline_input(
        ids.FAILED_CHECKS, "What else wasted time, one a line", f"{MINUTES_HINT} Those chosen above, too."
    )
    return [multi_select(ids.KNOWN_CHECKS, "What wasted time?", options), typed]


def _format_recorded(form: ResolveForm, name: str) -> str | None:
    recorded = getattr(form.record, name) if form.record else None
    return f"The record says: {recorded}" if recorded else None


def _format_fix_hint(form: ResolveForm) -> str:
    if form.known_fixes:
        return "If it was something else, or you did it differently."
    return "Not needed if it cleared by itself."


def build_pick_view(rows: Sequence[OpenIncident], metadata: Body) -> View:
    """Return the choice of an open incident, for `/resolve` without an argument."""
    options = [
        option(f"{r.life.incident_id} {r.title}", r.life.incident_id) for r in rows if len(r.life.incident_id) <= 150
    ][:100]
    if not options:
        text = "No open incidents here. In the alert's message menu choose *Record resolution*."
        return modal(ids.PICK_VIEW, "Record resolution", None, [section(text)], metadata)
    blocks = [select(ids.INCIDENT, "Which incident?", options)]
    return modal(ids.PICK_VIEW, "Record resolution", "Next", blocks, metadata)


def _build_known_fixes(fixes: Sequence[SuggestedFix]) -> list[dict[str, object]]:
    """Return the known fixes as options. A label may be cut; what is recorded never is."""
    failed = {hash_wording(known.fix) for known in fixes if known.failed}
    options = [
        choice | ({"description": plain_text("did not work before")} if choice["value"] in failed else {})
        for choice in build_options([(known.fix, hash_wording(known.fix)) for known in fixes])
    ]
    return [*options, option("Something else", ids.SOMETHING_ELSE)]


def read_submission(view: Body, form: ResolveForm = NOTHING, subject: Subject | None = None) -> Resolution:
    """Return what the person said.

    `form` is what was offered to choose from; `subject` the message it is about where there is no incident. Raises
    RecordRejected with the record's field.
    """
    answers = read_answers(view)
    outcome = _read_choice(FixOutcome, answers.get(ids.OUTCOME), "outcome", "Choose one.")
    fix, note, runbook = _read_fix(answers, form)
    return Resolution(
        outcome=outcome,
        incident_id=None if subject else read_text(decode(view.get("private_metadata")), "i"),
        subject=subject,
        fix=fix,
        note=note,
        root_cause=_read_text(answers, ids.ROOT_CAUSE),
        boundary=_read_choice(Boundary, answers.get(ids.BOUNDARY, Boundary.UNKNOWN.value), "boundary", "Choose one."),
        failed_checks=_read_checks(view, answers, form.usual_checks),
        lesson=_read_text(answers, ids.LESSON),
        customer_impact=_read_text(answers, ids.IMPACT),
        runbook=runbook,
        also=_read_other_attempt(answers),
    )


def _read_text(answers: Mapping[str, str], block_id: str) -> str | None:
    """Return the input as typed. Only NUL is dropped: no database stores it."""
    return answers.get(block_id, "").replace("\x00", "").strip() or None


def _read_choice(kind: type[E], value: str | None, field: str, problem: str) -> E:
    if value not in {member.value for member in kind}:
        raise RecordRejected(field, problem)
    return kind(value)


def _read_fix(answers: Mapping[str, str], form: ResolveForm) -> tuple[str | None, str | None, Runbook | None]:
    """Return the fix verbatim, the note and the runbook.

    With a known fix chosen, what was typed is the note on it. The fix of a runbook alone is its steps.
    """
    typed, chosen_fix = _read_text(answers, ids.FIX), answers.get(ids.KNOWN_FIX, ids.SOMETHING_ELSE)
    runbook = _find_runbook(answers.get(ids.RUNBOOK), form.runbooks)
    if chosen_fix == ids.SOMETHING_ELSE:
        written = ("\n".join(runbook.steps) or runbook.title) if runbook else None
        return typed or written, None, runbook
    known = {hash_wording(known.fix): known for known in form.known_fixes}
    if chosen_fix not in known:
        raise RecordRejected("known_fix", "This fix is no longer offered: choose “Something else” and write it down.")
    fix = known[chosen_fix]
    return fix.fix, typed, runbook or find_carried_runbook(fix, form.runbooks)


def find_carried_runbook(fix: SuggestedFix, runbooks: Sequence[Runbook]) -> Runbook | None:
    """Return the runbook that a known fix carries, so that it counts with the others of that runbook."""
    if fix.runbook_id is None:
        return None
    return next((r for r in runbooks if r.id == fix.runbook_id), Runbook(fix.runbook_id, fix.runbook_id))


def _find_runbook(key: str | None, runbooks: Sequence[Runbook]) -> Runbook | None:
    if key is None:
        return None
    found = next((r for r in runbooks if hash_wording(r.id) == key), None)
    if found is None:
        raise RecordRejected("runbook", "This runbook is no longer offered: leave it empty and name it in the steps.")
    return found


def _read_other_attempt(answers: Mapping[str, str]) -> tuple[str, VerificationStatus] | None:
    """Return another attempt and how it went, UNVERIFIED unless that was chosen."""
    text, status = _read_text(answers, ids.ALSO), answers.get(ids.ALSO_OUTCOME, VerificationStatus.UNVERIFIED.value)
    if text is None:
        return None
    return text, _read_choice(VerificationStatus, status, "also", "Choose what came of it.")


def _read_checks(view: Body, answers: Mapping[str, str], usual: Sequence[str]) -> tuple[FailedCheck, ...]:
    """Return the chosen checks in their known wording, then the typed ones. Minutes typed for a chosen check are its
    own."""
    offered = {hash_wording(check): check for check in usual}
    picked = read_selection(view, ids.KNOWN_CHECKS)
    if not set(picked) <= set(offered):
        raise RecordRejected("known_checks", "One of these is no longer offered: write it down below.")
    typed = require_readable(read_failed_checks(answers.get(ids.FAILED_CHECKS, "")))
    minutes = {normalize_check(failed.check): failed.minutes for failed in typed}
    known = [FailedCheck(offered[key], minutes.get(normalize_check(offered[key]))) for key in picked]
    forms = {normalize_check(failed.check) for failed in known}
    return (*known, *(failed for failed in typed if normalize_check(failed.check) not in forms))


def render_recorded_note(recorded: RecordedResolution, user_id: str) -> ChatMessage | None:
    """Return what the person should know after a button recorded; None where there is nothing to tell."""
    blocks = _list_news(recorded, user_id, 0)
    name = recorded.incident.incident_id[:MAX_ID]
    return ChatMessage(f"What to know about {prose(name, MAX_ID)}", tuple(blocks)) if blocks else None


def build_recorded_view(recorded: RecordedResolution, user_id: str, known: int) -> View | None:
    """Return what takes the modal's place after it recorded; None where there is nothing to tell. `known`: how many
    attempts the record had when the modal was opened."""
    blocks = _list_news(recorded, user_id, known)
    return build_info_view("Recorded", blocks) if blocks else None


def _list_news(recorded: RecordedResolution, user_id: str, known: int) -> list[Block]:
    """Return why it is not verified yet, and what others recorded before."""
    name = prose(recorded.incident.incident_id, MAX_ID)
    blocks: list[Block] = []
    if recorded.unconfirmed:
        blocks.append(section(f"*{name}* is recorded. {prose(recorded.unconfirmed, 400)}"))
    others = [a for a in recorded.before[known:] if a.by != user_id]
    if others:
        lines = [format_attempt(a) for a in others[-MAX_ATTEMPTS:]]
        blocks.append(section("\n".join([f"*{name}* had been recorded before you; both are kept:", *lines])))
    return blocks
