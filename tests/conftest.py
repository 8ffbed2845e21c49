"""Every test starts from an empty environment: no setting of the machine may reach the code under test.

Memory works by words, for loading the model takes a second; tests of the hybrid mode say so themselves.
"""

from __future__ import annotations

import pytest

from bot.settings import Settings


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.delenv(f"{name.upper()}_FILE", raising=False)
    monkeypatch.setenv("EMBEDDINGS", "off")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
