"""What tests of forms share with other tests."""

from __future__ import annotations

from pathlib import Path

from bot.domain.incidents.record import Incident
from bot.records.importers.detect import read_file
from bot.records.importers.entries import ImportForm
from bot.workflows.resolutions.transfer import RefusedLine, read_entries

SAMPLES = Path(__file__).parent / "samples"


def everything(
    name: str, text: str, form: ImportForm | None = None, columns: dict[str, str] | None = None
) -> list[Incident | RefusedLine]:
    return list(read_entries(name, read_file(name, text, form, columns).entries))
