"""Which module holds which command. A module is imported only when its command is used: all of them together take
seconds.

A new command is one line in COMMANDS, in the order in which `--help` lists them.
"""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

COMMANDS = {
    "setup": ("setup", "Set the bot up in a real workspace, step by step: the app, its tokens, the channel, a test. Run it again to go on."),
    "serve": ("serve", "Run the bot: Socket Mode with SLACK_APP_TOKEN, else signed HTTP on PORT. Stops cleanly on SIGTERM."),
    "playground": ("playground", "A local Slack in the browser, with the bot in it: no token, no network, thrown away at the end."),
    "demo": ("demo", "Two alerts in a local Slack: one that memory knows, one that it does not and then does. Exits by itself."),
    "parse": ("parse", "Read Slack message events and print what the bot sees in them."),
    "brief": ("brief", "Print the brief that an alert would get; nothing is stored."),
    "resolve": ("records.resolve", "Record what fixed an incident, from a terminal."),
    "digest": ("digest", "Print what recurred in the last days."),
    "import": ("records.import_records", "Take incident records into memory: JSON Lines, CSV, Markdown post-mortems, PagerDuty, Opsgenie, Jira, incident.io."),
    "backfill": ("backfill", "Read what a channel's alerts did in the past, post nothing, and list the threads worth recording."),
    "export": ("records.export", "Write all records as JSON Lines, in the form that import takes."),
    "recall": ("recall", "What memory holds on this. Filters may stand in the text, too: vendor:razorpay service:api region:eu since:30d limit:5."),
    "migrate": ("migrate", "Bring the database up to date (needed for PostgreSQL; SQLite does it by itself)."),
    "doctor": ("doctor", "Say what is missing or wrong in this installation, and how to mend it. Exit 3 if anything is wrong."),
    "replay": ("replay", "Decide again the briefs of the last days, as JSON Lines; with --against, print which are others than in FILE."),
    "backup": ("backup", "Copy the SQLite database while the bot runs, and read the copy back. PostgreSQL: says how. Exit 1 if refused."),
    "restore": ("backup", "Put a backup in the place of the SQLite database. Refused while a bot has that open, and for a newer version's."),
    "edit": ("records.edit", 'Correct a record. What is not named stays; --failed-checks takes one check a line ("DB pool, 25").'),
    "retract": ("records.retract", "Take a record out of memory: gone from recall at once; the running bot tells the threads that used it."),
    "purge": ("records.purge", "Remove every text of a record for good, and write SQLite's file anew; in PostgreSQL the rows are gone, and its own vacuum and log retention decide when their bytes are. Digests that were posted to Slack stay. Again is no error."),
    "sync": ("records.sync", "Fill the Hindsight bank from the store (again is harmless); with --pull the store from the bank."),
    "report": ("report", "Print what became of the briefs: acted on, right or wrong, recorded, and how many messages it took."),
    "alerts": ("alerts", "Try how alert posts are read and answered."),
    "outbox": ("outbox", "What is owed to Slack and to the memory bank."),
    "inbox": ("outbox", "Events from Slack that could not be worked off."),
    "audit": ("records.audit", "Who changed what, when, and what it said before and after."),
    "fixes": ("records.fixes", "Which wordings are counted as one fix."),
}  # fmt: skip


def import_commands(module: str) -> dict[str, Any]:
    """Import a module of `bot.cli` and return the commands that it registers, by name."""
    family = typer.Typer(add_completion=False)
    importlib.import_module(f"bot.cli.{module}").register(family)
    return dict(get_group(family).commands)


class LazyCommandGroup(TyperGroup):
    """All commands by name with one line of help; options and arguments are known only once a command is used."""

    def __init__(self, **attributes: Any) -> None:
        lines = {name: TyperCommand(name, help=line) for name, (_, line) in COMMANDS.items()}
        super().__init__(**attributes | {"commands": lines})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command itself, or None if there is none with this name."""
        if cmd_name not in COMMANDS:
            return None
        return import_commands(COMMANDS[cmd_name][0])[cmd_name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List names and help lines only, so that nothing is imported."""
        shown = TyperGroup(name=self.name, commands=dict(self.commands), params=self.params, help=self.help)
        shown.format_help(ctx, formatter)
