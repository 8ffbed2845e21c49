"""Jira issues, in the form of its search (`issues[]` with `fields`, and `names` where requested). CSV is `csv`'s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.text.json_types import JsonObject
from bot.ports.errors import RecordRejected
from bot.records.importers.coerce import (
    build_attempts,
    drop_empty,
    drop_placeholder,
    read_moment,
    read_text,
    read_texts,
)
from bot.records.importers.column_names import PLAIN_FIELDS, find_field
from bot.records.importers.entries import NativeRow
from bot.records.importers.prose import read_description
from bot.records.importers.sections import format_steps

# A project of this name would give its issues the ids of something else.
RESERVED = ("INC-", "PD-", "OPS-", "IIO-", "PM-", "IMP-", "CSV-", "JIRA-")
# Deeper than any document a person writes.
_DEEPEST = 40


def is_jira_issue(row: JsonObject) -> bool:
    """Return whether this is a Jira issue."""
    return "key" in row and isinstance(row.get("fields"), Mapping)


def build_jira_id(key: str | None) -> str | None:
    """Return the issue's key, with `JIRA-` before it where the key alone could be another record's id."""
    return f"JIRA-{key}" if key and key.startswith(RESERVED) and not key.startswith("JIRA-") else key


def read_jira_issue(issue: JsonObject, names: Mapping[str, str]) -> NativeRow:
    """Return an issue as a native row. Raises RecordRejected for one that is still open."""
    fields = issue.get("fields")
    if not isinstance(fields, Mapping):
        raise RecordRejected("fields", "is missing; export the issues with their fields")
    status = fields.get("status")
    category = status.get("statusCategory") if isinstance(status, Mapping) else None
    done = isinstance(category, Mapping) and category.get("key") == "done"
    if isinstance(category, Mapping) and not done and not fields.get("resolutiondate"):
        raise RecordRejected(
            "status", f"is {read_text(status) or 'open'}: an issue that is not done has no outcome yet"
        )
    said = read_description(_read_text(fields.get("description")))
    custom = dict(_read_custom(fields, names))
    fix = custom.pop("fix", None)
    if fix and not said.get("attempts"):
        said["attempts"] = build_attempts(format_steps(fix))
    row = drop_empty(
        iter(
            [
                ("title", read_text(fields.get("summary"))),
                ("service", next(iter(read_texts(fields.get("components"))), None)),
                ("severity", read_text(fields.get("priority"))),
                ("environment", drop_placeholder(_read_text(fields.get("environment")) or None)),
                ("started_at", read_moment(fields.get("created"), "created")),
                ("resolved_at", read_moment(fields.get("resolutiondate"), "resolutiondate")),
            ]
        )
    )
    return (
        said
        | row
        | custom
        | {
            "incident_id": build_jira_id(read_text(issue.get("key"))),
            "source": {"kind": "import", "url": _build_url(issue)},
        }
    )


def _build_url(issue: JsonObject) -> str | None:
    address, key = read_text(issue.get("self")), read_text(issue.get("key"))
    return f"{address.partition('/rest/')[0]}/browse/{key}" if address and "/rest/" in address and key else None


def _read_custom(fields: JsonObject, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield custom fields whose names are known (`expand=names`)."""
    for key, name in names.items():
        value = fields.get(key)
        field = find_field(name) if key.startswith("customfield_") and isinstance(name, str) else None
        if field in {*PLAIN_FIELDS, "fix"} and value:
            said = drop_placeholder(_read_text(value) or ", ".join(read_texts(value)))
            if said and field:
                yield field, said


def _read_text(value: Any) -> str:
    """Return the text of a description: plain, or a document of nodes, as Markdown."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and value.get("type") == "doc":
        return "".join(_render_node(value, "", 0)).strip()
    return ""


def _render_node(node: Any, mark: str, depth: int) -> Iterator[str]:
    if not isinstance(node, Mapping) or depth > _DEEPEST:
        return
    kind, attrs = read_text(node.get("type")), node.get("attrs")
    attrs = attrs if isinstance(attrs, Mapping) else {}
    content = node.get("content")
    children = content if isinstance(content, list) else []
    if kind == "text":
        yield str(node.get("text") or "")
    elif kind == "hardBreak":
        yield "\n"
    elif kind in {"mention", "emoji", "inlineCard", "status", "date"}:
        yield str(attrs.get("text") or attrs.get("url") or "")
    elif kind == "heading":
        level = attrs.get("level")
        yield "\n\n" + "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 2) + " "
        yield from _render_nodes(children, mark, depth)
        yield "\n\n"
    elif kind == "listItem":
        yield mark + "".join(_render_nodes(children, "- ", depth)).strip() + "\n"
    elif kind in {"bulletList", "orderedList"}:
        yield from _render_nodes(children, "- " if kind == "bulletList" else "1. ", depth)
    else:
        yield from _render_nodes(children, mark, depth)
        yield (
            "\n"
            if kind in {"paragraph", "codeBlock", "tableRow"}
            else " "
            if kind in {"tableCell", "tableHeader"}
            else ""
        )


def _render_nodes(children: list[Any], mark: str, depth: int) -> Iterator[str]:
    for child in children:
        yield from _render_node(child, mark, depth + 1)
