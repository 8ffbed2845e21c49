"""What tests of reading share with other tests."""

from __future__ import annotations

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
SLACK_KEYS = (
    "text", "blocks", "attachments", "files", "bot_id", "bot_profile", "username", "subtype", "message", "root", "thread_ts", "ts", "user", "app_id",
    "metadata", "elements", "fields", "title", "title_link", "color", "fallback", "actions", "type", "url", "from", "plain_text", "subject", "mode", "footer",
)  # fmt: skip
VALUES = st.recursive(
    JSON | st.sampled_from(["rich_text", "header", "section", "link", "email", "message_changed", "[FIRING:1] X (a b)", "https://h.example/#/alerts?receiver=x", ":fire: x is DOWN"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(SLACK_KEYS), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip
