"""Makes the parts of README and docs that come from the product: the brief as it looks, and the table of settings.

`python -m tests.readme` writes them; `tests/test_readme.py` fails when they are out of date.
"""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from bot.alerts import read
from bot.bootstrap.memory import open_memory
from bot.bootstrap.seeds import seed_alert, seed_incidents
from bot.cli.show import message_text
from bot.domain.alert import Alert
from bot.domain.brief import IncidentView, with_life
from bot.domain.query import OPERATOR
from bot.ports.store import Changes
from bot.settings import Settings
from bot.slack.messages import SlackSurfaces
from bot.workflows.brief import PreviewBrief
from tests.bootstrap.provocations import table
from tests.databases import fresh
from tests.workflows.world import Counting, ToldClock

README = Path(__file__).parent.parent / "README.md"
SETTINGS = README.parent / "docs" / "configuration.md"
OPERATING = README.parent / "docs" / "operating.md"
NOW = datetime(2026, 11, 29, 3, 12, tzinfo=UTC)


def settings_table() -> str:
    lines = ["| setting | default | what |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        shown = f"`{default}`" if default not in (None, "") else "–"
        lines.append(f"| `{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(lines)


async def brief_text(folder: Path) -> str:
    clock = ToldClock(NOW)
    async with open_memory(Settings(database_url=fresh(folder / "readme.db")), clock, Counting()) as memory:
        records = seed_incidents(NOW)
        await memory.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))
        event = {"type": "message", "subtype": "bot_message", "bot_id": "B0", "ts": f"{NOW.timestamp():.6f}"}
        alert = read(event | seed_alert("payment-gateway-504"))
        assert isinstance(alert, Alert)
        view = IncidentView("INC-31", "open", 1, NOW)
        brief = await PreviewBrief(memory.recall, memory.index)(alert, OPERATOR, NOW, incident=view)
    return "```text\n" + message_text({"blocks": SlackSurfaces().brief(with_life(brief, view)).blocks}) + "\n```"


def put(text: str, name: str, content: str) -> str:
    pattern = re.compile(rf"(<!-- {name}:begin[^>]*-->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}{content}\n{found[2]}", text)


async def made(folder: Path) -> dict[Path, str]:
    """The files with generated parts, as they should be."""
    readme, settings = README.read_text(encoding="utf-8"), SETTINGS.read_text(encoding="utf-8")
    return {
        README: put(readme, "brief", await brief_text(folder)),
        SETTINGS: put(settings, "settings", settings_table()),
        OPERATING: put(OPERATING.read_text(encoding="utf-8"), "doctor", table()),
    }


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made_in:
        for path, text in asyncio.run(made(Path(made_in))).items():
            path.write_text(text, encoding="utf-8")
