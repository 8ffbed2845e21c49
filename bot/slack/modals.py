"""The modals: what they ask, and what a person's answers mean. Pure; `plain_text_input` and selects only.

Must not record anything, and must never put the bot's own verdict in as a default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.domain.incident import Boundary, FailedCheck, VerificationStatus
from bot.ports import RecordRejected
from bot.slack import ids
from bot.slack.forms import View, answers, lines, modal, option, select
from bot.slack.markup import Block, clean, plain, section, verbatim
from bot.slack.messages import OpenIncident
from bot.workflows.resolve import Outcome, Resolution, ResolveForm, Subject

OUTCOMES = (
    (Outcome.RECOVERED, "Yes, I saw it recover"),
    (Outcome.PARTLY, "Partly"),
    (Outcome.NO, "No"),
    (Outcome.BY_ITSELF, "It cleared by itself"),
    (Outcome.NOT_SURE, "Not sure"),
)
BOUNDARIES = (
    (Boundary.UNKNOWN, "I do not know"),
    (Boundary.VENDOR, "A vendor"),
    (Boundary.INTERNAL, "Us"),
    (Boundary.MIXED, "Both"),
)
SAID_OF = {
    VerificationStatus.VERIFIED: "worked",
    VerificationStatus.PARTIAL: "helped partly",
    VerificationStatus.FAILED: "did not work",
    VerificationStatus.UNVERIFIED: "not verified",
}
BLOCK_OF = {
    "outcome": ids.OUTCOME,
    "fix": ids.FIX,
    "known_fix": ids.KNOWN_FIX,
    "root_cause": ids.ROOT_CAUSE,
    "boundary": ids.BOUNDARY,
    "failed_checks": ids.FAILED_CHECKS,
    "lesson": ids.LESSON,
    "incident": ids.INCIDENT,
}
MAX_CHECKS = 20
MAX_CHECK = 200
_MINUTES = re.compile(
    r"^(?P<check>.*?)\s*(?:(?P<mark>[,;:(=–—-])\s*)?\(?(?P<number>\d{1,6}(?:\.\d+)?)\s*(?P<unit>m|min|mins|minutes?|h|hrs?|hours?)?\.?\)?$",
    re.IGNORECASE,
)


def block_of(field: str, view: Mapping[str, Any]) -> str:
    """The block under which the modal shows an error about a record's field: its own, else the first input."""
    blocks = view.get("blocks")
    rows = [b for b in blocks if isinstance(b, Mapping)] if isinstance(blocks, list) else []
    inputs = [name for b in rows if b.get("type") == "input" and (name := ids.text_of(b, "block_id"))]
    wanted = BLOCK_OF.get(field, field)
    return next((b for b in (wanted, *inputs) if b in inputs), ids.OUTCOME)


def resolve_view(form: ResolveForm, metadata: Mapping[str, Any]) -> View:
    """The modal in which a person says what fixed an incident. `metadata` comes back with the answers."""
    name = f"{form.incident_id}: {form.title}" if form.incident_id else form.title
    blocks: list[Block] = [verbatim(plain(name, 200) or "Incident")]
    blocks.append(select(ids.OUTCOME, "Did it fix it?", [option(label, o.value) for o, label in OUTCOMES]))
    if form.known_fixes:
        blocks.append(select(ids.KNOWN_FIX, "What fixed it?", _known(form.known_fixes), optional=True))
    blocks += [
        lines(ids.FIX, "What was done, one step a line", _fix_hint(form)),
        lines(ids.ROOT_CAUSE, "Root cause", "A guess is fine; say that it is one.", _said(form, "root_cause")),
        select(
            ids.BOUNDARY,
            "Where was the fault?",
            [option(label, b.value) for b, label in BOUNDARIES],
            initial=option(BOUNDARIES[0][1], BOUNDARIES[0][0].value),
        ),
        lines(ids.FAILED_CHECKS, "What wasted time, one a line", _checks_hint(form)),
        lines(ids.LESSON, "What should the next person know?", "Optional.", _said(form, "lesson")),
    ]
    return modal(ids.RESOLVE_VIEW, "Record resolution", "Record", blocks, metadata)


def _said(form: ResolveForm, name: str) -> str | None:
    said = getattr(form.record, name) if form.record else None
    return f"The record says: {said}" if said else None


def _fix_hint(form: ResolveForm) -> str:
    if form.known_fixes:
        return "If it was something else, or you did it differently."
    return "Not needed if it cleared by itself."


def _checks_hint(form: ResolveForm) -> str:
    usual = "; ".join(form.usual_checks[:3])
    return "With minutes if you like: DB pool, 25" + (f". Last time: {usual}" if usual else "")


def pick_view(rows: Sequence[OpenIncident], metadata: Mapping[str, Any]) -> View:
    """Which open incident is it? Follows `/resolve` without an argument."""
    options = [
        option(f"{r.life.incident_id} {r.title}", r.life.incident_id) for r in rows if len(r.life.incident_id) <= 150
    ][:100]
    if not options:
        text = "No open incidents here. In the alert's message menu choose *Record resolution*."
        return modal(ids.PICK_VIEW, "Record resolution", None, [section(text)], metadata)
    blocks = [select(ids.INCIDENT, "Which incident?", options)]
    return modal(ids.PICK_VIEW, "Record resolution", "Next", blocks, metadata)


def _known(fixes: Sequence[str]) -> list[dict[str, Any]]:
    named = {ids.fix_key(fix): fix for fix in fixes[:20]}
    return [*(option(fix, key) for key, fix in named.items()), option("Something else", ids.SOMETHING_ELSE)]


def read_submission(
    view: Mapping[str, Any], known_fixes: Sequence[str] = (), subject: Subject | None = None
) -> Resolution:
    """What the person said. `known_fixes` are those that the form offered, verbatim; `subject` the message it is about
    where there was no incident. Raises RecordRejected with the record's field."""
    said = answers(view)
    incident_id = None if subject else ids.text_of(ids.decode(view.get("private_metadata")), "i")
    fix, note = _fix(said, known_fixes)
    return Resolution(
        outcome=_choice(Outcome, said.get(ids.OUTCOME), "outcome", "Choose one."),
        incident_id=incident_id,
        subject=subject,
        fix=fix,
        note=note,
        root_cause=_text(said, ids.ROOT_CAUSE),
        boundary=_choice(Boundary, said.get(ids.BOUNDARY, Boundary.UNKNOWN.value), "boundary", "Choose one."),
        failed_checks=failed_checks(said.get(ids.FAILED_CHECKS, "")),
        lesson=_text(said, ids.LESSON),
    )


def _text(said: Mapping[str, str], block_id: str) -> str | None:
    """As it was typed; only NUL goes, for no database keeps it."""
    return said.get(block_id, "").replace("\x00", "").strip() or None


def _choice(kind: Any, value: str | None, field: str, problem: str) -> Any:
    if value not in {member.value for member in kind}:
        raise RecordRejected(field, problem)
    return kind(value)


def _fix(said: Mapping[str, str], known_fixes: Sequence[str]) -> tuple[str | None, str | None]:
    """The fix verbatim and the note: with a known fix chosen, what was typed is the note on it."""
    typed, chosen = _text(said, ids.FIX), said.get(ids.KNOWN_FIX, ids.SOMETHING_ELSE)
    if chosen == ids.SOMETHING_ELSE:
        return typed, None
    known = {ids.fix_key(fix): fix for fix in known_fixes}
    if chosen not in known:
        raise RecordRejected("known_fix", "This fix is no longer offered: choose “Something else” and write it down.")
    return known[chosen], typed


def failed_checks(text: str) -> tuple[FailedCheck, ...]:
    """One check a line, with minutes if given: "DB pool, 25", "DB pool 25m", "DB pool (1.5 h)"."""
    rows = clean(text, lines=True).split("\n")
    found = tuple(_check(row.lstrip("-•* ")) for row in rows if row.strip("-•* "))
    if len(found) > MAX_CHECKS:
        raise RecordRejected("failed_checks", f"At most {MAX_CHECKS} lines.")
    for failed in found:
        if len(failed.check) > MAX_CHECK:
            raise RecordRejected(
                "failed_checks", f"“{failed.check[:40]}…” is too long: at most {MAX_CHECK} characters."
            )
    return found


def _check(row: str) -> FailedCheck:
    """A number counts as minutes only with a unit or after a mark: "restart worker 3" is the name of a check."""
    match = _MINUTES.match(row)
    name = match["check"].rstrip(" ,;:(=–—-") if match else ""
    if not any(character.isalpha() for character in (name if match else row)):
        raise RecordRejected(
            "failed_checks", f"“{row[:40]}” names no check: write what was looked at, then the minutes."
        )
    if match is None or not name or not (match["unit"] or match["mark"]):
        return FailedCheck(row)
    factor = 60 if (match["unit"] or "").lower().startswith("h") else 1
    return FailedCheck(name, float(match["number"]) * factor)
