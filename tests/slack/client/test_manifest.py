"""The manifest for HTTP is the packaged one with its own comments taken away; the link carries it whole."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from bot.slack.client.manifest import adapt_to_http, build_creation_link
from tests.slack.conftest import MANIFEST, ROOT

LONGEST = 4000


def test_http_is_what_the_manifests_own_comments_say() -> None:
    text = (ROOT / "manifest.yml").read_text(encoding="utf-8")
    by_hand = re.sub(r"# ((?:request_)?url: https://precedent\.example\.com/slack/events)", r"\1", text)
    by_hand = by_hand.replace("socket_mode_enabled: true", "socket_mode_enabled: false")
    made = adapt_to_http(MANIFEST, "https://precedent.example.com/")
    assert made == yaml.safe_load(by_hand)
    assert MANIFEST["settings"]["socket_mode_enabled"] is True


@pytest.mark.parametrize("manifest", [MANIFEST, adapt_to_http(MANIFEST, "https://precedent.example.com")])
def test_the_link_carries_all_of_it_and_stays_short(manifest: dict[str, object]) -> None:
    made = build_creation_link(manifest)
    asked = parse_qs(urlsplit(made).query, strict_parsing=True)
    assert asked.keys() == {"new_app", "manifest_json"}
    assert json.loads(asked["manifest_json"][0]) == manifest
    assert re.fullmatch(r"https://api\.slack\.com/apps\?[A-Za-z0-9=&%:,/._-]+", made)
    assert len(made) <= LONGEST
