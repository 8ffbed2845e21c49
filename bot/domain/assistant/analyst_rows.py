"""What is seen now and what was tried in an incident, as rows that a model can cite. Must not hold anything that memory says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.domain.assistant.hypothesis import Citation, TriedFix
from bot.domain.evidence.items import Evidence, Observed, Unavailable, format_observed, format_quantity
from bot.domain.incidents.record import Attempt


def cite_evidence(evidence: Iterable[Evidence]) -> tuple[Citation, ...]:
    """Each item under an id of its own ("E1", "E2" …) in the order given; what could not be seen says so, and what is still
    being asked for is left out."""
    items = (item for item in evidence if not (isinstance(item, Unavailable) and item.pending))
    return tuple(Citation(f"E{number}", "; ".join(_describe_item(item))) for number, item in enumerate(items, 1))


def _describe_item(item: Evidence) -> Iterator[str]:
    if isinstance(item, Unavailable):
        yield f"{item.what}: not known ({item.reason})"
        return
    yield f"{item.what}{f' over {item.window}' if item.window else ''}: {format_observed(item)}".rstrip(": ")
    yield from _describe_details(item)


def _describe_details(item: Observed) -> Iterator[str]:
    yield from (f"{c.label} {format_quantity(c.value, item.unit)}" for c in item.compared)
    if item.value is not None and item.text:
        yield item.text
    if item.count is not None:
        yield f"{item.count} times"
    seen = {"first": item.first, "last": item.last, "at": item.at}
    yield from (f"{name} {moment:%Y-%m-%d %H:%M} UTC" for name, moment in seen.items() if moment)
    if item.truncated:
        yield "there is more than was read"


def number_attempts(attempts: Iterable[Attempt]) -> tuple[TriedFix, ...]:
    """What was tried in this incident, under ids of their own ("A1", "A2" …)."""
    return tuple(TriedFix(f"A{number}", a.fix, a.status) for number, a in enumerate(attempts, 1))
