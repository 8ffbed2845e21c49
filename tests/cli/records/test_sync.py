"""`precedent sync`: what it says without a bank, and against one that cannot be reached."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path

import pytest

from tests.cli.command import Precedent
from tests.hindsight import banks
from tests.ports import free_port


@pytest.mark.parametrize("arguments", [(), ("--pull",)])
def test_without_hindsight_it_is_wrong_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = Precedent(tmp_path)("sync", *arguments)
    assert result.returncode == 2
    assert "HINDSIGHT_URL is not set" in result.stderr


@pytest.mark.parametrize("arguments", [(), ("--pull",)])
def test_a_bank_out_of_reach_is_a_dependency_that_is_down(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    precedent = Precedent(tmp_path)
    precedent("import", "-", stdin='{"incident_id": "A-1", "title": "Gateway 504"}\n')
    result = precedent("sync", *arguments, HINDSIGHT_URL=f"http://127.0.0.1:{free_port()}")
    assert result.returncode == 3
    assert result.stderr.endswith("check HINDSIGHT_URL, and that it runs.\n")


@pytest.mark.integration
@pytest.mark.xdist_group("hindsight")
def test_filling_taking_over_and_recalling_on_the_real_server(tmp_path: Path) -> None:
    settings = {"HINDSIGHT_URL": banks.url(), "HINDSIGHT_BANK_ID": f"test-{uuid.uuid4().hex[:12]}"}
    here, there, nowhere = (Precedent(tmp_path / name) for name in ("here", "there", "nowhere"))
    here("import", "seeds/incidents.jsonl")
    filled = here("sync", **settings)
    assert filled.stderr == ""
    assert json.loads(filled.stdout) == {"records": 30, "retained": 30, "refused": []}
    asked = ("recall", "gateway answers 504", "--vendor", "razorpay", "--service", "payments-api", "--json")
    told = [json.loads(precedent(*asked, **settings).stdout) for precedent in (here, nowhere)]
    assert [one["missing"] for one in told] == [[], []]
    ours, only_bank = ({p["incident_id"] for p in one["precedents"] if p["tier"] == "strong"} for one in told)
    assert only_bank
    assert only_bank <= ours
    counted = {"read": 30, "already_here": 0, "retracted_here": 0, "without_record": 0}
    assert json.loads(there("sync", "--pull", **settings).stdout) == counted | {"added": 30}
    assert json.loads(there("sync", "--pull", **settings).stdout) == counted | {"added": 0, "already_here": 30}
    assert there("export").stdout.count("\n") == here("export").stdout.count("\n") == 30
    found = json.loads(there("doctor", "--json", **settings).stdout)
    assert "version 1.1.0" in next(finding["detail"] for finding in found if finding["check"] == "Hindsight")
    asyncio.run(banks.delete(settings["HINDSIGHT_BANK_ID"]))
