"""Makes the parts of the documents that come from the product: briefs as they look, and the table of settings.

`python -m tests.readme` writes them; `tests/test_readme.py` fails when they are out of date.
"""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from bot.bootstrap.modes.seeds import read_seed_alert, read_seed_incidents
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.plain_text import format_message
from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, add_lifecycle
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.opening import IncidentView
from bot.domain.recall.query import OPERATOR
from bot.parsers import read
from bot.ports.unit_of_work import Changes
from bot.settings import Settings
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.recall.preview_brief import PreviewBrief
from tests.databases import fresh
from tests.doctor.provocations import table
from tests.scenarios.scenarios_support import SCENARIOS, decided
from tests.workflows.world import CountingIds, SettableClock

README = Path(__file__).parent.parent / "README.md"
DOCS = README.parent / "docs"
SETTINGS, EXAMPLES, OPERATING = DOCS / "configuration.md", DOCS / "examples.md", DOCS / "operating.md"
PICTURES = {scheme: DOCS / f"brief-{scheme}.png" for scheme in ("light", "dark")}
SAYS = "says"  # under this name a picture keeps what its brief says
NOW = datetime(2026, 11, 29, 3, 12, tzinfo=UTC)


def settings_table() -> str:
    lines = ["| setting | default | what |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        shown = f"`{default}`" if default not in (None, "") else "–"
        lines.append(f"| `{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(lines)


async def brief_text(folder: Path) -> str:
    clock = SettableClock(NOW)
    async with open_memory(Settings(database_url=fresh(folder / "readme.db")), clock, CountingIds()) as memory:
        records = read_seed_incidents(NOW)
        await memory.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))
        event = {"type": "message", "subtype": "bot_message", "bot_id": "B0", "ts": f"{NOW.timestamp():.6f}"}
        alert = read(event | read_seed_alert("payment-gateway-504"))
        assert isinstance(alert, Alert)
        view = IncidentView("INC-31", IncidentState.OPEN, 1, NOW)
        brief = await PreviewBrief(memory.recall, memory.index)(alert, OPERATOR, NOW, incident=view)
    return as_text(add_lifecycle(brief, view))


def as_text(brief: Brief) -> str:
    return "```text\n" + format_message({"blocks": SlackSurfaces().render_brief(brief).blocks}) + "\n```"


def examples(text: str) -> str:
    """The text with the brief of each scenario that it names."""
    for folder in SCENARIOS:
        if f"<!-- {folder.name}:begin" in text:
            text = put(text, folder.name, as_text(decided(folder)))
    return text


def put(text: str, name: str, content: str) -> str:
    pattern = re.compile(rf"(<!-- {name}:begin[^>]*-->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}{content}\n{found[2]}", text)


async def made(folder: Path) -> dict[Path, str]:
    """The files with generated parts, as they should be."""
    shown, settings = EXAMPLES.read_text(encoding="utf-8"), SETTINGS.read_text(encoding="utf-8")
    return {
        EXAMPLES: put(examples(shown), "brief", await brief_text(folder)),
        SETTINGS: put(settings, "settings", settings_table()),
        OPERATING: put(OPERATING.read_text(encoding="utf-8"), "doctor", table()),
    }


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made_in:
        for path, text in asyncio.run(made(Path(made_in))).items():
            path.write_text(text, encoding="utf-8")
