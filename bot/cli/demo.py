"""`precedent demo`: two alerts in a local Slack, as they look in their threads. No network is touched and nothing is
stored.

Every printed line was posted by the bot to the local Slack; nothing is written for the demo.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import typer

from bot.bootstrap.modes.playground import Playground
from bot.bootstrap.modes.seeds import read_seed_alert
from bot.cli.plain_text import format_message
from bot.cli.run import DOWN, fail, run
from bot.observability import configure_logging
from bot.playground.server import LocalSlack
from bot.slack import ids

CHANNEL = "alerts"
PATIENCE_S = 20.0
ANSWERS = {
    ids.OUTCOME: "recovered",
    ids.FIX: "Pause the export job\nRebuild partition 2026-11 from the journal\nRun ledger-verify again; resume the job",
    ids.ROOT_CAUSE: "The journal was compacted while the export was reading it",
    ids.BOUNDARY: "internal",
    ids.FAILED_CHECKS: "Disk errors, 20\nReplica lag, 15",
}


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("demo")(demo)


def demo() -> None:
    """Two alerts in a local Slack: one that memory knows, one that it does not and then does. Exits by itself."""
    configure_logging("ERROR", as_json=False)
    started = time.monotonic()
    try:
        run(_demo())
    except TimeoutError:
        fail(f"the bot did not answer within {PATIENCE_S:.0f} s; run `precedent doctor`.", DOWN)
    typer.echo(f"\nDone in {time.monotonic() - started:.1f} s. Nothing was kept. `make play` is the same by hand.")


async def _demo() -> None:
    async with Playground().open() as opened:
        stage = DemoStage(opened.slack)
        stage.say("1. An alert that memory knows")
        await stage.alert("payment-gateway-504")
        stage.say("2. An alert that memory does not know")
        ts, brief = await stage.alert("unknown-ledger-drift")
        stage.say("   Somebody fixes it, presses “Record…” and says so")
        await stage.record(ts, brief)
        stage.say("3. The same alert, later")
        await stage.alert("unknown-ledger-drift")


@dataclass(frozen=True, slots=True)
class DemoStage:
    """The local Slack; everything that happens is printed."""

    slack: LocalSlack

    def say(self, text: str) -> None:
        """Print a heading."""
        typer.echo(f"\n{text}\n{'─' * 60}")

    async def alert(self, name: str) -> tuple[str, Mapping[str, Any]]:
        """Post a sample alert, wait for the brief in its thread, and print both. Return the alert's ts and the brief."""
        posted = await self.slack.post_alert(CHANNEL, read_seed_alert(name))
        typer.echo(f"#{CHANNEL}  {posted['attachments'][0]['title']}")
        brief = await self._reply(posted["ts"], lambda message: bool(message.get("blocks")))
        print_reply(brief)
        return posted["ts"], brief

    async def record(self, ts: str, brief: Mapping[str, Any]) -> None:
        """Press “Record…” on the brief, fill in and submit the modal, and print what the thread says."""
        await self.slack.click(CHANNEL, brief["ts"], ids.RECORD)
        await self.slack.core.wait_until(self.slack.view, PATIENCE_S)
        outcome = await self.slack.submit_view({f"{block}.{ids.INPUT}": value for block, value in ANSWERS.items()})
        if outcome.errors or not outcome.acked:
            fail(f"the modal was refused: {dict(outcome.errors) or outcome.notice}", DOWN)
        print_reply(await self._reply(ts, lambda message: message["ts"] != brief["ts"]))

    async def _reply(self, ts: str, wanted: Callable[[Mapping[str, Any]], bool]) -> Mapping[str, Any]:
        def found() -> Mapping[str, Any] | None:
            return next((m for m in self.slack.replies(CHANNEL, ts) if wanted(m)), None)

        message = await self.slack.core.wait_until(found, PATIENCE_S)
        assert message is not None  # noqa: S101  # wait_for gives nothing false
        return message


def print_reply(message: Mapping[str, Any]) -> None:
    """Print a reply, indented like a thread."""
    for line in format_message(message).splitlines():
        typer.echo(f"  │ {line}")
