"""Every word that is written where it outlives the code or is read by others, and so stays when code gets another name.

The commands and their options, the settings, the keys of the configuration file, of JSON and of stored bodies, the ids that
travel through Slack, tables, metrics, and the forms of the ids of deliveries. Must not name what only the code sees.

A word that is new on purpose is taken over with `pytest tests/test_wire_words.py --snapshot-update`; one that is gone or
another is read by databases, messages and scripts that have the old one, so it needs a migration, or to be read as well.
"""

from __future__ import annotations

import ast
import enum
import importlib
import json
import pkgutil
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import click
import pytest
from structlog.testing import capture_logs
from syrupy.assertion import SnapshotAssertion
from typer.main import get_command

import bot
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.wiring.memory import open_memory
from bot.cli import app
from bot.observability import REGISTRY
from bot.playground import LocalSlack
from bot.settings import Settings
from bot.slack import ids
from bot.slack.listeners.routes import COMMANDS, HELP, SUBCOMMANDS
from bot.slack.payload import decode
from bot.slack.views.help import render_help
from bot.workflows.delivery.deliver import Deliver
from tests.cli.command import ROOT, Precedent
from tests.databases import fresh
from tests.slack.conftest import MANIFEST, Counting, Desk, SteppingClock, listening, open_desk
from tests.slack.digest_story_support import Drawn, posting
from tests.slack.listeners.assistant_support import ask as asks_in_thread
from tests.slack.listeners.channel_support import ask as asks_precedent
from tests.slack.listeners.channel_support import choose, settings_modal, submit
from tests.slack.listeners.corrections_support import asks, press_record
from tests.slack.listeners.details_support import details
from tests.slack.listeners.memo_reaction_support import marked
from tests.slack.listeners.memo_reaction_support import press as answers_memo
from tests.slack.listeners.nudge_support import EVENING, at, cleared
from tests.slack.listeners.nudge_support import ask as is_nudged

PACKAGE = Path(bot.__file__).parent
GATEWAY, LEDGER = "payment-gateway-504", "unknown-ledger-drift"
FIX = {"outcome": "recovered", "fix": "Flush the cache\nRestart the worker", "root_cause": "a stale cache"}
# Whose keys are anybody's words: labels of an alert, links by their name, votes by what was voted for.
OPEN = {"labels", "links", "compared", "votes", "evidence", "values"}


# what a person or a script types


def commands(command: Any, name: str, above: click.Context | None = None) -> Iterator[str]:
    """Each command with the names of what it takes."""
    context = click.Context(command, parent=above, info_name=name)
    for one in command.params:
        names = [one.metavar or one.name] if one.param_type_name == "argument" else one.opts + one.secondary_opts
        yield f"{context.command_path} {'/'.join(names)}"
    yield context.command_path
    for below in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from commands(command.get_command(context, below), below, context)


def test_the_commands_and_their_options_keep_their_names(snapshot: SnapshotAssertion) -> None:
    assert sorted(commands(get_command(app), "precedent")) == snapshot


def test_the_settings_of_the_environment_keep_their_names_and_defaults(snapshot: SnapshotAssertion) -> None:
    settings = (f"{name.upper()} = {field.default}" for name, field in Settings.model_fields.items())
    assert sorted(settings) == snapshot


def schema_keys(schema: Any, whole: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The keys that a JSON schema allows; `*` where a name is free, and what a key may be where that is listed."""
    schema = whole["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if allowed := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        yield f"{path} = {'|'.join(map(str, allowed))}"
    for name, inner in schema.get("properties", {}).items():
        yield (below := f"{path}.{name}".lstrip("."))
        yield from schema_keys(inner, whole, below)
    free = schema.get("additionalProperties")
    for inner in [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        yield from schema_keys(inner, whole, path)
    for inner in [free] if isinstance(free, dict) else schema.get("patternProperties", {}).values():
        yield from schema_keys(inner, whole, f"{path}.*")


def test_the_configuration_file_keeps_its_keys(snapshot: SnapshotAssertion) -> None:
    schema = Configuration.model_json_schema()
    assert sorted(set(schema_keys(schema, schema))) == snapshot


def test_what_is_typed_in_slack_keeps_its_words(snapshot: SnapshotAssertion) -> None:
    told = set(re.findall(r"/[a-z]+(?: [a-z]+)?", json.dumps(render_help(HELP).blocks)))
    known = {one["command"] for one in MANIFEST["features"]["slash_commands"]}
    taken = {*COMMANDS, *(f"/precedent {word}" for word in SUBCOMMANDS)}
    assert sorted(told | known | taken) == snapshot


# what is printed


def keys(value: Any, path: str = "") -> Iterator[str]:
    """The path of every key in a JSON value; `[]` for what is in a list."""
    if isinstance(value, list):
        for one in value:
            yield from keys(one, f"{path}[]")
    elif isinstance(value, dict):
        for name, inner in value.items():
            here = f"{path}.{name}".lstrip(".")
            yield here
            yield from () if name in OPEN and isinstance(inner, dict) else keys(inner, here)


def all_keys(values: Iterable[Any]) -> list[str]:
    return sorted({key for value in values for key in keys(value)})


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Precedent:
    """A command line whose memory holds the sample records, some of them changed."""
    precedent = Precedent(tmp_path_factory.mktemp("wire"))
    assert precedent("import", str(ROOT / "seeds/incidents.jsonl")).returncode == 0
    for said in (
        ("resolve", "INC-1", "--outcome", "recovered", "--fix", "Restart it", "--failed-check", "DNS=12"),
        ("edit", "INC-2", "--title", "Another title"),
        ("retract", "INC-3", "--reason", "wrong"),
        ("purge", "INC-4", "--reason", "a secret"),
    ):
        assert precedent(*said).returncode == 0, said
    return precedent


SEEDS = sorted((ROOT / "seeds/alerts").glob("*.json"))


@pytest.mark.parametrize(
    "said",
    [
        ("parse", "--jsonl"),
        ("parse", "--jsonl", "--explain"),
        ("recall", "--jsonl"),
        ("recall", "gateway 504 razorpay", "--json"),
        ("export",),
        ("audit", "export"),
        ("digest", "--days", "366", "--json"),
        ("report", "--json"),
        ("outbox", "list", "--json"),
        ("doctor", "--json"),
        ("resolve", "INC-1", "--outcome", "no", "--fix", "Wait"),
    ],
    ids=" ".join,
)
def test_json_keeps_its_keys(lived: Precedent, said: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    events = [json.loads(file.read_text(encoding="utf-8")) for file in SEEDS]
    feed = events if said[0] == "parse" else [{"text": "gateway 504 razorpay"}] if "--jsonl" in said else []
    ran = lived(*said, stdin="".join(json.dumps(line) + "\n" for line in feed), PORT="0")
    one = ran.stdout.lstrip().startswith(("{\n", "[", "{}"))
    assert all_keys([json.loads(ran.stdout)] if one else map(json.loads, ran.stdout.splitlines())) == snapshot


def test_a_brief_keeps_its_keys(lived: Precedent, snapshot: SnapshotAssertion) -> None:
    ran = [lived("brief", str(file), "--json") for file in SEEDS]
    assert all_keys(json.loads(one.stdout) for one in ran if one.returncode == 0) == snapshot


# what is stored, and what Slack gives back


@lru_cache(maxsize=1)
def texts() -> frozenset[str]:
    """The texts in the code; of an f-string with <> for what is put in."""
    nodes = (node for file in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    return frozenset(found for node in nodes if (found := text_of(node)))


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "<>" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def alike(form: str) -> list[str]:
    return sorted(text for text in texts() if re.fullmatch(form, text))


def test_names_that_begin_with_ours_stay(snapshot: SnapshotAssertion) -> None:
    assert alike(r"precedent[._][a-z_.]+") == snapshot


def test_ids_that_travel_through_slack_stay(snapshot: SnapshotAssertion) -> None:
    assert sorted({word for name, word in vars(ids).items() if name.isupper() and isinstance(word, str)}) == snapshot


def test_ids_of_deliveries_and_keys_of_queues_are_spelled_as_before(snapshot: SnapshotAssertion) -> None:
    """Words and values with / : or + between them; which of them are written, the story below shows."""
    found = alike(r"(?:<>|[a-z_]+)(?:[/:+](?:<>|[a-z_]+))+")
    assert [text for text in found if "<>" in text] == snapshot


def values_of(module: Any) -> Iterator[tuple[str, ...]]:
    for found in vars(module).values():
        if isinstance(found, type) and issubclass(found, enum.StrEnum) and found.__module__ == module.__name__:
            yield tuple(sorted(member.value for member in found))


def test_words_that_stand_for_a_choice_stay(snapshot: SnapshotAssertion) -> None:
    """They are stored, printed and sent by their value."""
    names = [found.name for found in pkgutil.walk_packages(bot.__path__, "bot.")]
    modules = [importlib.import_module(name) for name in names if not re.search(r"__main__|migrations", name)]
    assert sorted({values for module in modules for values in values_of(module)}) == snapshot


def test_metrics_keep_their_names_and_labels(snapshot: SnapshotAssertion) -> None:
    found = {f"{c._name} ({c._type}) {' '.join(c._labelnames)}".strip() for c in set(REGISTRY._collector_to_names)}  # type: ignore[attr-defined]  # there is no public way
    assert sorted(found) == snapshot


def test_tables_keep_their_names_and_columns(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    fresh(tmp_path / "empty.db")
    with closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in tables}
    assert {name: " ".join(columns) for name, columns in sorted(found.items())} == snapshot


# a story at work, read from its database and from what Slack was sent


def form(word: str | None) -> str:
    """An id without what is only this one's: words stay, everything else is <n>."""
    parted = re.split(r"([/:+])", word or "-")
    return "".join(part if re.fullmatch(r"[/:+-]?|[a-z][a-z_]*", part) else "<n>" for part in parted)


def slack_words(value: Any) -> Iterator[str]:
    """Ids in blocks and views, and the keys of what they carry."""
    if isinstance(value, list):
        for one in value:
            yield from slack_words(one)
    if isinstance(value, dict):
        for name, inner in value.items():
            given = re.fullmatch(r"b[0-9A-F]{9}", str(inner))  # by Slack, where we name none
            if name in {"action_id", "block_id", "callback_id"} and isinstance(inner, str) and not given:
                yield f"{name} {re.sub(r'[#.](INC-)?[0-9]+', '.<n>', inner)}"
            if name in {"private_metadata", "value"} and (carried := decode(inner)):
                yield f"{name} {' '.join(sorted(carried))}"
            yield from slack_words(inner)


class Story:
    """People and their bot at work on a local Slack: most of what it can be asked to do, once."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.seen = desk, set[str]()

    def look(self) -> None:
        """Note the ids in everything that is on anybody's screen."""
        slack = self.desk.slack
        self.seen |= set(slack_words([dict(message) for message in slack.messages("C0ALERTS")]))
        for user in ("alice", "bob"):
            self.seen |= {*slack_words(slack.view(user)), *slack_words([dict(m) for m in slack.ephemerals(user)])}

    def goes_on(self, **by: float) -> None:
        self.desk.deps.clock.at += timedelta(**by)  # type: ignore[attr-defined]  # the tests' own clock

    async def goes(self) -> None:
        desk = self.desk
        at(desk, EVENING)
        await desk.seed()
        for part in (
            self.nudged,
            self.known,
            self.unknown,
            self.aside,
            self.silence,
            self.corrected,
            self.asked,
            self.digest,
        ):
            await part()
            self.look()
            for user in ("alice", "bob"):
                if desk.slack.view(user):
                    await desk.slack.close_view(user=user)

    async def nudged(self) -> None:
        """What cleared with no recorded fix is asked about in the morning."""
        await cleared(self.desk, LEDGER, "alice")
        self.seen |= set(slack_words(await is_nudged(self.desk)))
        self.goes_on(days=2)

    async def known(self) -> None:
        """An alert that memory knows: its details, questions, a fix marked in the thread, and again."""
        desk = self.desk
        self.ts = ts = await desk.alert(GATEWAY)
        await details(desk, ts)
        self.look()
        await desk.slack.close_view(user="bob")
        await asks_in_thread(desk, "what should we skip?", ts)
        await asks_in_thread(desk, "write the status update", ts)
        said = await desk.slack.post("alerts", "flushed the cache", user="bob", thread_ts=ts)
        question = await marked(desk, said["ts"], "alice")
        self.look()
        await answers_memo(desk, question, "not_sure", "alice")
        await desk.alert(GATEWAY)

    async def unknown(self) -> None:
        """One that it does not know: recorded with the modal, fires again, and is answered."""
        desk = self.desk
        self.ledger = ts = await desk.alert(LEDGER)
        await press_record(desk, desk.brief(ts)["ts"], "alice")
        self.look()
        assert await submit(desk, FIX, "alice") == {}
        self.goes_on(minutes=10)
        again = await desk.alert(LEDGER)
        replies = [*desk.slack.replies("C0ALERTS", ts), *desk.slack.replies("C0ALERTS", again)]
        found = [m["ts"] for m in replies if ids.AGAIN in json.dumps(m)]
        self.look()
        assert (await desk.slack.click("alerts", found[0], f"{ids.AGAIN}.failed", user="alice")).acked
        await desk.work()

    async def aside(self) -> None:
        """A precedent is set aside."""
        desk = self.desk
        incident_id = await desk.memory.incidents.find_incident("C0ALERTS", self.ts) or ""
        (posted, *_) = await desk.memory.incidents.list_briefs(incident_id)
        await choose(desk, self.ts, ids.WRONG)
        await desk.slack.wait_until(lambda: desk.slack.view("bob"))
        self.look()
        wrong = posted.brief.sources[0].incident_id
        assert await submit(desk, {ids.PRECEDENT: wrong, ids.WHY: "other cause", ids.PIN: "alert"}) == {}

    async def silence(self) -> None:
        """One is muted, another is said not to be an alert, and a post-mortem is asked for."""
        desk = self.desk
        ts = await desk.alert("grafana-search-heap")
        await choose(desk, ts, ids.POSTMORTEM)
        await desk.work()
        await choose(desk, ts, ids.MUTE)
        await desk.slack.wait_until(lambda: desk.slack.view("bob"))
        self.look()
        assert await submit(desk, {ids.UNTIL: "1h"}) == {}
        ts = await desk.alert("sentry-mailer-refused")
        await choose(desk, ts, ids.NOT_ALERT)
        await desk.slack.wait_until(lambda: desk.slack.view("bob"))
        self.look()
        assert await submit(desk, {}) == {}
        await asks_precedent(desk, "rules", "alice")

    async def corrected(self) -> None:
        """A record is corrected, another retracted, a third purged; the channel's settings are looked at."""
        desk = self.desk
        incident_id = await desk.memory.incidents.find_incident("C0ALERTS", self.ledger) or ""
        await asks(desk, f"edit {incident_id}", "alice")
        self.look()
        assert await submit(desk, {"root_cause": "a cache that was not flushed"}, "alice") == {}
        for act in ("retract", "purge"):
            await asks(desk, f"{act} {incident_id}", "alice")
            self.look()
            assert await submit(desk, {"reason": "a test"}, "alice") == {}
        await settings_modal(desk)

    async def asked(self) -> None:
        """A look-up is shared with the channel, and `/resolve` offers what is open."""
        desk, slack = self.desk, self.desk.slack
        before = len(slack.ephemerals("alice"))
        await slack.slash("alerts", "/recall", "gateway 504 razorpay limit:2", user="alice")
        shown = await slack.wait_until(lambda: slack.ephemerals("alice")[before:])
        self.look()
        await slack.click("alerts", shown[-1]["ts"], ids.SHARE, user="alice")
        await slack.wait_until(lambda: slack.view("alice"))
        self.look()
        assert (await slack.submit_view({ids.TARGET: "C0ALERTS"}, user="alice")).acked
        await desk.work()

    async def digest(self) -> None:
        """The digest of the week, with its picture."""
        desk = self.desk
        assert await posting(desk)() >= 1
        desk.deliver = Deliver(outbox=desk.memory.outbox, chat=desk.chat, clock=desk.deps.clock, files=Drawn())
        await desk.work()


async def told(folder: Path) -> set[str]:
    clock, settings = SteppingClock(), Settings(database_url=fresh(folder / "story.db"))
    with capture_logs():
        async with (
            await LocalSlack.start(
                manifest=MANIFEST, ack_timeout_s=3, retry_delays_s=(0.02,) * 3, now=clock.stamp
            ) as slack,
            open_memory(settings, clock, Counting()) as memory,
        ):
            story = Story(await open_desk(slack, memory, clock, settings))
            async with listening(slack, story.desk.app):
                await story.goes()
            return story.seen


# Tables that hold ids which the code spells, and their columns.
SPELLED = {
    "outbox": ("destination", "operation", "key", "delivery_id"),
    "inbox": ("kind", "natural_key", "order_key"),
    "briefs": ("delivery_id",),
    "once": ("key",),
    "claims": ("work",),
    "counters": ("name",),
    "audit": ("action",),
    "talks": ("key",),
    "silenced": ("key",),
}


async def test_a_story_leaves_the_same_words_behind(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Ids of deliveries, keys of queues, keys of stored bodies, and what messages and modals carry."""
    seen = await told(tmp_path)
    with closing(sqlite3.connect(tmp_path / "story.db")) as connection:
        connection.row_factory = sqlite3.Row
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in tables}  # noqa: S608
    for row in rows["outbox"]:
        seen |= set(slack_words(json.loads(row["payload"] or "{}")))
    assert sorted(seen) == snapshot(name="what Slack carries")
    for table, columns in SPELLED.items():
        found = {" ".join(form(row[name]) for name in columns if name in row) for row in rows[table]}
        assert sorted(found) == snapshot(name=table)
    bodies: dict[str, list[Any]] = {}
    for table, name, value in ((t, n, v) for t, many in rows.items() for row in many for n, v in row.items()):
        if isinstance(value, str) and value.startswith("{"):
            bodies.setdefault(f"{table}.{name}", []).append(json.loads(value))
    kept = {
        place: sorted(k for k in all_keys(found) if "blocks[]" not in k and not k.startswith("event.attachments"))
        for place, found in sorted(bodies.items())
    }
    assert kept == snapshot(name="stored bodies")
