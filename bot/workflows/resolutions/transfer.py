"""Import and export incident records, one by one. Must not open files or print.

An import stores the good records and reports the others with line, field and reason. The same record again changes
nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR
from bot.domain.resolutions.import_merge import merge_import
from bot.ports.audit import AuditLine
from bot.ports.audit import format_change as changed_values
from bot.ports.errors import RecordRejected
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes
from bot.records.importers.detect import read_entry_record
from bot.records.importers.entries import ImportEntry
from bot.records.incident_json import format_record_change, read_line, write_record

PER_TRANSACTION = 500


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that was not imported."""

    file: str
    line: int
    field: str
    reason: str


@dataclass(slots=True)
class ImportProgress:
    """What an import has done so far."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    refused: list[RefusedLine] = field(default_factory=list)
    # Ids of records that were not imported because people had retracted or purged them here.
    forgotten: list[str] = field(default_factory=list)

    @property
    def read(self) -> int:
        """Return how many lines were read."""
        return self.added + self.replaced + self.unchanged + len(self.refused) + len(self.forgotten)


@dataclass(frozen=True, slots=True)
class ImportRecords:
    """Import records into the store."""

    store: IncidentStore
    # True to bring back what was retracted or purged here; by default another import of the same files does not.
    again: bool = False

    async def __call__(self, file: str, lines: Iterable[str], done: ImportProgress) -> AsyncIterator[ImportProgress]:
        """Import the JSON lines of one file, like `import_found`."""
        async for so_far in self.import_found(read_lines(file, lines), done):
            yield so_far

    async def import_found(
        self, found: Iterable[Incident | RefusedLine], done: ImportProgress
    ) -> AsyncIterator[ImportProgress]:
        """Import what was read from one file, adding to `done` and yielding it after each transaction.

        Raises StoreUnavailable.
        """
        batch: dict[str, Incident] = {}
        for taken in found:
            if isinstance(taken, RefusedLine):
                done.refused.append(taken)
                continue
            if taken.incident_id in batch or len(batch) >= PER_TRANSACTION:
                await self._store_batch(batch, done)
                batch = {}
                yield done
            batch[taken.incident_id] = taken
        await self._store_batch(batch, done)
        yield done

    async def _store_batch(self, batch: dict[str, Incident], done: ImportProgress) -> None:
        gone = frozenset() if self.again else await self.store.find_retracted(tuple(batch))
        done.forgotten += sorted(gone)
        batch = {incident_id: record for incident_id, record in batch.items() if incident_id not in gone}
        before = await self.store.find_records(tuple(batch))
        over = {i: merge_import(before[i], record) if i in before else record for i, record in batch.items()}
        changed = tuple(record for incident_id, record in over.items() if before.get(incident_id) != record)
        if changed:
            ids = frozenset(record.incident_id for record in changed)
            audit = tuple(_build_audit(before.get(record.incident_id), record) for record in changed)
            await self.store.commit(Changes(records=changed, recallable=ids, audit=audit))
        added = sum(record.incident_id not in before for record in changed)
        done.added += added
        done.replaced += len(changed) - added
        done.unchanged += len(batch) - len(changed)


def _build_audit(before: Incident | None, record: Incident) -> AuditLine:
    """Build the audit line of an imported record: what it replaced, or that it is new."""
    detail = format_record_change(before, record) if before else changed_values({}, {"title": record.title}, "added")
    return AuditLine("import", "import", record.incident_id, detail)


def read_lines(file: str, lines: Iterable[str]) -> Iterator[Incident | RefusedLine]:
    """Yield each line that is not blank as a record, or as a refusal with the reason.

    If an id occurs again in the file with other content, the last one counts, as over several imports.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield read_line(line)
        except RecordRejected as error:
            yield RefusedLine(file, number, error.field, error.reason)


def read_entries(file: str, entries: Iterable[ImportEntry]) -> Iterator[Incident | RefusedLine]:
    """Yield each entry of a file of any format as a record with secrets masked, or as a refusal with the reason."""
    for entry in entries:
        try:
            yield read_entry_record(entry)
        except RecordRejected as error:
            yield RefusedLine(file, entry.line, error.field, error.reason)


@dataclass(frozen=True, slots=True)
class ExportRecords:
    """Export all records in the format that the import reads."""

    store: IncidentStore

    async def __call__(self, viewer: Viewer = OPERATOR) -> AsyncIterator[str]:
        """Yield one line of JSON for each record, by id. Raises StoreUnavailable."""
        async for record in self.store.stream_records(viewer):
            yield json.dumps(write_record(record), ensure_ascii=False)
