"""An import never takes back what a person recorded."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.incidents.record import Announcement, Boundary, FailedCheck, Source, VerificationStatus
from bot.domain.resolutions.import_merge import merge_import
from tests.builders import an_incident, on_day, tried

IMPORTED = an_incident(attempts=(tried("Restart it", "FAILED", how="import"),), failed_checks=(FailedCheck("DNS", 5),))
THEIRS = replace(tried("Raise the limit"), by="U1", at=on_day(3), how="modal")
WORKED_ON = replace(
    IMPORTED,
    attempts=(*IMPORTED.attempts, THEIRS),
    failed_checks=(FailedCheck("DNS", 5), FailedCheck("Pool", 9)),
    root_cause="the limit",
    boundary=Boundary.INTERNAL,
    lesson="watch it",
    alerts=(Announcement("f"),),
    resolved_at=on_day(4),
)


def test_the_same_import_again_changes_nothing() -> None:
    assert merge_import(WORKED_ON, IMPORTED) == replace(WORKED_ON, alerts=(*IMPORTED.alerts, Announcement("f")))


def test_nobody_recorded_anything_so_the_import_holds() -> None:
    sparse = replace(IMPORTED, attempts=())
    assert merge_import(IMPORTED, sparse) == sparse


def test_what_the_import_corrects_is_corrected() -> None:
    corrected = replace(IMPORTED, title="Another title", attempts=())
    found = merge_import(WORKED_ON, corrected)
    assert found.title == "Another title"
    assert found.attempts == (THEIRS,)


def test_an_export_that_comes_back_is_not_doubled() -> None:
    assert merge_import(WORKED_ON, WORKED_ON) == WORKED_ON
    unknown = replace(WORKED_ON, boundary=Boundary.UNKNOWN, root_cause=None, lesson=None)
    stated = replace(IMPORTED, boundary=Boundary.VENDOR, root_cause="theirs", lesson="ours")
    found = merge_import(unknown, stated)
    assert (found.boundary, found.root_cause, found.lesson) == (Boundary.VENDOR, "theirs", "ours")
    assert found.attempts[-1].status is VerificationStatus.VERIFIED


def test_a_file_does_not_show_everybody_what_people_worked_on_in_a_private_channel() -> None:
    private = Source("slack", channel="C0SECRET", visibility="private:C0SECRET")
    for before in (replace(WORKED_ON, source=private), replace(IMPORTED, source=private)):
        assert merge_import(before, IMPORTED).source == private
    narrowed = replace(IMPORTED, source=private)
    assert merge_import(IMPORTED, narrowed) == narrowed
