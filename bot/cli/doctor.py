"""`precedent doctor`: print what is wrong in this installation. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from bot.cli.run import DOWN, print_json, read_settings, run
from bot.doctor.examine import examine
from bot.doctor.finding import Finding
from bot.observability import escape_terminal_text

MARKS = {True: "ok   ", False: "WRONG", None: "-    "}


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("doctor")(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON")] = False) -> None:
    """Say what is missing or wrong in this installation, and how to mend it. Exit 3 if anything is wrong."""
    findings = run(examine(read_settings()))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            typer.echo(format_finding(finding))
        typer.echo(f"\n{format_summary(findings)}")
    if any(finding.ok is False for finding in findings):
        raise typer.Exit(DOWN)


def format_summary(findings: Sequence[Finding]) -> str:
    """Format how many things are wrong, and which to fix first."""
    wrong = [finding.check for finding in findings if finding.ok is False]
    if not wrong:
        return "Nothing is wrong."
    more = f"; begin with {wrong[0]}" if len(wrong) > 1 else f": {wrong[0]}"
    return f"{len(wrong)} wrong{more}."


def format_finding(finding: Finding) -> str:
    """Format a finding as a line: mark, check, detail, and what to do."""
    said = escape_terminal_text(f"{MARKS[finding.ok]}  {finding.check}: {finding.detail}")
    return f"{said}\n       → {escape_terminal_text(finding.fix)}" if finding.fix else said
