"""The `precedent` command: one file per family of commands. Must not decide anything; prints JSON on stdout, logs on stderr.

Exit status: 0 fine, 1 some input was refused, 2 wrong usage, 3 a dependency is down.
"""

from __future__ import annotations

import typer

from bot.cli import alerts, memory

app = typer.Typer(
    name="precedent",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A Slack bot with incident memory.",
)
for family in (alerts, memory):
    family.register(app)


def main() -> None:
    """Entry point of the console command."""
    app()
