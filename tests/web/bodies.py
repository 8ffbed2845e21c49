"""Webhook bodies that Alertmanager 0.25 really sent, and generic ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "genuine"
GENERIC: dict[str, Any] = {
    "title": "Card payments time out",
    "severity": "P1",
    "service": "checkout-api",
    "vendor": "Stripe",
    "region": "eu-west-1",
    "environment": "prod",
    "description": "POST /v1/charges fails with HTTP 504",
    "symptoms": ["timeouts since 02:10", {"name": "error rate", "value": "18%", "op": ">", "threshold": "5%"}, {"code": "504"}],
    "labels": {"cluster": "eu-1", "attempts": 3, "paged": True},
    "links": {"runbook": "https://runbooks.example/cards"},
}  # fmt: skip


def sent(name: str) -> dict[str, Any]:
    """The body of one genuine webhook: firing, resolved, group_firing3, group_partly, group_resolved."""
    body: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["body"]
    return body
