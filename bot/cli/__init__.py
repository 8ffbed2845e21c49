"""The `precedent` command: results go to stdout (JSON where it is data), everything else to stderr.

Exit status: 0 fine, 1 some input was refused, 2 wrong usage, 3 a dependency is down. The docstring of a command is its
help text.
"""

from __future__ import annotations

import typer

from bot import __version__
from bot.cli.lazy_commands import LazyCommandGroup
from bot.observability import configure_logging

app = typer.Typer(
    name="precedent",
    cls=LazyCommandGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A Slack bot with incident memory: an alert gets its brief, and what fixed it comes back next time.",
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit")) -> None:
    """A Slack bot with incident memory."""
    configure_logging("WARNING", as_json=False)
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the console command."""
    app()
