"""`precedent fixes`: which wordings the operator counts as one fix."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.bootstrap.wiring.resolutions import build_local_correct
from bot.cli.run import REFUSED, fail, print_json, read_settings, run
from bot.domain.brief.as_json import format_time
from bot.domain.fixes.grouping import FixEquivalence, FixPair, Wording, build_fix_groups
from bot.domain.fixes.identity import FixKey, build_fix_key
from bot.domain.fixes.steps import normalize_fix
from bot.workflows.resolutions.same_fix import GroupFixes

Id = Annotated[str, typer.Argument(help="A wording's id, as `precedent fixes list` prints it")]
By = Annotated[str, typer.Option(help="Who says so, for the audit log")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(no_args_is_help=True, help="Which wordings are counted as one fix.")
    family.command("list")(list_fixes)
    family.command("merge")(merge)
    family.command("split")(split)
    family.command("undo")(undo)
    app.add_typer(family, name="fixes")


def list_fixes(
    words: Annotated[str | None, typer.Argument(help="Only fixes that hold these words")] = None,
) -> None:
    """Print the fixes in memory, those that are counted as one together, and what persons said of them."""
    wordings, said = run(_list_fixes())
    filed = build_fix_groups(said)
    groups: dict[FixKey, list[Wording]] = {}
    for wording in wordings:
        groups.setdefault(build_fix_key(wording.fix, filed), []).append(wording)
    shown = [g for g in groups.values() if words is None or any(words.casefold() in w.fix.casefold() for w in g)]
    told = [
        [{"id": compute_wording_id(w), "fix": w.fix, "incident_id": w.incident_id} for w in group] for group in shown
    ]
    print_json({"fixes": told, "said": [_build_judgement_json(each) for each in said]})


def merge(one: Id, other: Id, by: By = "operator") -> None:
    """Count two wordings as one fix from now on."""
    _print_judgement(one, other, by, same=True)


def split(one: Id, other: Id, by: By = "operator") -> None:
    """Count two wordings as two fixes from now on."""
    _print_judgement(one, other, by, same=False)


def undo(number: Annotated[int, typer.Argument(help="The number of what was said")], by: By = "operator") -> None:
    """Take back what was said."""
    if not run(_undo(number, by)):
        fail(f"nothing of number {number} holds; precedent fixes list shows what does.", REFUSED)
    print_json({"undone": number})


def compute_wording_id(wording: Wording) -> str:
    """Return a short id of a wording, the same each time."""
    return hashlib.sha256(normalize_fix(wording.fix).encode("utf-8", "replace")).hexdigest()[:8]


def _build_judgement_json(said: FixEquivalence) -> dict[str, Any]:
    told = {"number": said.number, "fixes": "one" if said.same else "two", "one": said.one, "other": said.other}
    return told | {"by": said.by, "at": format_time(said.at)}


def _print_judgement(one: str, other: str, by: str, *, same: bool) -> None:
    print_json(_build_judgement_json(run(_record_judgement(one, other, by, same=same))))


async def _record_judgement(one: str, other: str, by: str, *, same: bool) -> FixEquivalence:
    async with _open() as fixes:
        found = {compute_wording_id(wording): wording for wording in await fixes.list_wordings()}
        if missing := [name for name in (one, other) if name not in found]:
            fail(f"there is no wording {', '.join(missing)}; precedent fixes list shows the ids.", REFUSED)
        return await fixes(FixPair(found[one], found[other], same), by, f"cli/{RandomIds().new()}")


async def _list_fixes() -> tuple[Sequence[Wording], Sequence[FixEquivalence]]:
    async with _open() as fixes:
        return await fixes.list_wordings(), await fixes.list_equivalences()


async def _undo(number: int, by: str) -> bool:
    async with _open() as fixes:
        return await fixes.take_back(number, by)


@asynccontextmanager
async def _open() -> AsyncIterator[GroupFixes]:
    clock = SystemClock()
    async with open_memory(read_settings(), clock, RandomIds()) as memory:
        yield build_local_correct(memory, clock).fixes
