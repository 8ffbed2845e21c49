"""`precedent recall`: what memory has on a question."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.cli.run import REFUSED, USAGE, fail, print_json, read_input, read_settings, run
from bot.domain.fixes.steps import split_steps
from bot.domain.incidents.record import Incident, VerificationStatus
from bot.domain.recall.query import OPERATOR, Query, build_text_query
from bot.domain.recall.question import RecallQuestion, read_question
from bot.domain.recall.ranking import Precedent, Recalled, Tier
from bot.domain.text.format import fit_one_line, format_count
from bot.domain.text.names import normalize_name
from bot.observability import escape_terminal_text
from bot.parsers.text.markup import clean
from bot.ports.errors import RecordRejected, require_readable
from bot.records.incident_json import read_value
from bot.slack.views.markup import decode_text
from bot.workflows.recall.recall import LookUpPrecedents

MAX_RESULTS = 50
_OUTCOMES = {
    VerificationStatus.VERIFIED: "fix, worked",
    VerificationStatus.PARTIAL: "fix, helped partly",
    VerificationStatus.FAILED: "fix, did not work",
    VerificationStatus.UNVERIFIED: "fix, outcome not recorded",
}


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("recall")(recall)


def recall(
    text: Annotated[str | None, typer.Argument(help="What is happening")] = None,
    vendor: Annotated[str | None, typer.Option(help="The vendor it concerns")] = None,
    service: Annotated[str | None, typer.Option(help="The service it concerns")] = None,
    region: Annotated[str | None, typer.Option(help="The region it concerns")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MAX_RESULTS, help="How many precedents at most")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help='Read {"text": …} lines from standard input')] = False,
) -> None:
    """What memory holds on this. Filters may stand in the text, too: vendor:razorpay service:api region:eu since:30d limit:5."""
    if jsonl == bool(text or vendor or service or region):
        fail("give a text, a filter, or --jsonl and questions on standard input.", USAGE)
    if jsonl:
        asked = list(_parse_questions(read_input("-")))
        run(_recall_lines(asked, limit))
        if any(isinstance(question, InvalidQuestion) for question in asked):
            raise typer.Exit(REFUSED)
        return
    try:
        said = require_readable(read_question(text or "", SystemClock().now(), decode_text))
    except RecordRejected as wrong:
        fail(str(wrong), USAGE)
    filters = {"vendor": vendor, "service": service, "region": region}
    given = dict(said.filters) | {name: value for name, value in filters.items() if value}
    said = replace(said, filters=given, limit=said.limit if "limit" in given else limit)
    if not said.text:
        _print_records(run(_find_incidents(said)), as_json=as_json)
        return
    query, recalled = run(_recall(said))
    if as_json:
        print_json(build_recall_json(query, recalled))
    else:
        _print_recalled(recalled)


@dataclass(frozen=True, slots=True)
class InvalidQuestion:
    """A line of the input that is not a question; its error is reported in its place, and the others are answered."""

    line: int
    error: str


def _parse_questions(text: str) -> Iterator[str | InvalidQuestion]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            asked = read_value(line)
        except RecordRejected as bad:
            yield InvalidQuestion(number, bad.reason)
            continue
        asked = asked.get("text") if isinstance(asked, dict) else None
        yield asked if isinstance(asked, str) else InvalidQuestion(number, 'is not a {"text": …} object')


async def _recall_lines(asked: list[str | InvalidQuestion], limit: int) -> None:
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        known = await memory.index.list_known_names()
        for text in asked:
            line: dict[str, Any]
            if isinstance(text, InvalidQuestion):
                sys.stderr.write(f"precedent: line {text.line} of standard input {text.error}.\n")
                line = {"error": text.error, "line": text.line}
            else:
                query = build_text_query(clean(text), known)
                found = await memory.recall.precedents(query, OPERATOR)
                line = {"precedents": [_build_precedent_json(p) for p in found.precedents[:limit]]}
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


async def _recall(said: RecallQuestion) -> tuple[Query, Recalled]:
    memory: Memory
    asked = {name: said.filters.get(name) for name in ("vendor", "service", "region")}
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        look_up = LookUpPrecedents(memory.recall, memory.index)
        return await look_up(said.text, OPERATOR, **asked, since=said.since, limit=said.limit)


async def _find_incidents(said: RecallQuestion) -> list[Incident]:
    """Return the incidents of a vendor, service or region, latest first."""
    memory: Memory
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        records = await memory.incidents.list_records(OPERATOR, recallable_only=True)
    wanted = {name: normalize_name(said.filters.get(name)) for name in ("vendor", "service", "region")}
    found = [
        r for r in records if all(form in (None, normalize_name(getattr(r, name))) for name, form in wanted.items())
    ]
    if said.since:
        found = [r for r in found if r.happened_at and r.happened_at >= said.since]
    found.sort(key=lambda r: (r.happened_at is not None and r.happened_at.timestamp(), r.incident_id), reverse=True)
    return found[: said.limit]


def _print_records(found: list[Incident], *, as_json: bool) -> None:
    if as_json:
        print_json({"incidents": [{"incident_id": r.incident_id} | _build_facts(r) for r in found]})
        return
    for record in found:
        _echo(_format_head(record))
        _print_tried(record)
    if not found:
        typer.echo("No incident in memory has that.")


def _build_precedent_json(precedent: Precedent) -> dict[str, Any]:
    return {
        "incident_id": precedent.incident.incident_id,
        "probability": round(precedent.probability, 4),
        "tier": precedent.tier.value,
    }


def build_recall_json(query: Query, recalled: Recalled) -> dict[str, Any]:
    """Return a recall as JSON values: the query, all precedents with their reasons, and what is missing."""
    return {
        "query": {name: getattr(query, name) for name in ("text", "vendor", "service", "region")},
        "known": recalled.known,
        "precedents": [
            _build_precedent_json(p) | _build_facts(p.incident) | {"why": list(p.why)} for p in recalled.precedents
        ],
        "missing": [{"what": m.what, "reason": m.reason} for m in recalled.missing],
        "outside": [{"id": o.id, "text": o.text} for o in recalled.outside],
    }


def _format_nearest(recalled: Recalled) -> str:
    """Format the closest record if none is close enough, so that a person can ask for it by service or vendor."""
    if not recalled.precedents:
        return ""
    best = recalled.precedents[0]
    names = (("service", best.incident.service), ("vendor", best.incident.vendor))
    about = " ".join(f"{name}:{value}" for name, value in names if value)
    more = f"; ask for it by {about}" if about else ""
    title = fit_one_line(best.incident.title, 80)
    return f" Nearest: {best.incident.incident_id} {title} ({best.probability:.2f}){more}."


def _build_facts(record: Incident) -> dict[str, Any]:
    when = record.happened_at
    return {
        "title": record.title,
        "service": record.service,
        "vendor": record.vendor,
        "date": when.date().isoformat() if when else None,
        "boundary": record.boundary.value,
        "root_cause": record.root_cause,
    }


def _print_recalled(recalled: Recalled) -> None:
    shown = [p for p in recalled.precedents if p.tier is not Tier.NONE]
    for missing in recalled.missing:
        _echo(f"{missing.what} is missing: {missing.reason}", err=True)
    if not shown:
        _echo(
            f"Nothing in memory is like this ({format_count(recalled.known, 'incident')} known).{_format_nearest(recalled)}"
        )
    for precedent in shown:
        why = f" ({', '.join(precedent.why)})" if precedent.why else ""
        _echo(f"{precedent.tier.value:8} {precedent.probability:.2f}  {_format_head(precedent.incident)}{why}")
        _print_tried(precedent.incident)
    for outside in recalled.outside:
        _echo(f"outside memory, not counted  {outside.id}  {outside.text}")


def _echo(line: str, *, err: bool = False) -> None:
    """Print a line without control characters: records contain what people and files wrote."""
    typer.echo(escape_terminal_text(line), err=err)


def _format_head(record: Incident) -> str:
    when = record.happened_at
    return "  ".join((record.incident_id, when.date().isoformat() if when else "undated", record.title))


def _print_tried(record: Incident) -> None:
    if record.root_cause:
        _echo(f"               root cause: {record.root_cause}")
    for attempt in record.attempts:
        fix = "; ".join(split_steps(attempt.fix) or [attempt.fix])
        _echo(f"               {_OUTCOMES[attempt.status]}: {fix}")
