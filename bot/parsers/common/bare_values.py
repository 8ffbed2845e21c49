"""Name the bare values in Alertmanager's default title, which lists label values in the order of their names.

A value that could belong to several labels stays unnamed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from urllib.parse import unquote

from bot.domain.catalog.vendors import find_vendor
from bot.parsers.vocabulary.places import read_environment, read_region
from bot.parsers.vocabulary.severities import read_severity

_MOST_VALUES = 100  # a title lists a handful of labels; more is text in brackets
_INSTANCE = re.compile(r"^[\w.-]+:\d{2,5}$|^\d{1,3}(?:\.\d{1,3}){3}$")
_PAIR = re.compile(r'(\w{1,60})="((?:[^"\\]|\\.){0,300})"')
_METHODS_LISTED = "upi card cards netbanking wallet emi get post put delete patch"
_METHODS = frozenset(_METHODS_LISTED.split())
_CLUSTER = re.compile(r"(?:prod|stag|dev|cluster|k8s|eks|gke|aks)|-\d+$", re.IGNORECASE)


def _find_anchor(value: str) -> str | None:
    """Return the label that a value identifies by itself."""
    if _INSTANCE.match(value):
        return "instance"
    if read_environment(value) == value.casefold() or (read_environment(value) and not value.isascii()):
        return "env"
    if read_region(value) == value.casefold():
        return "region"
    if read_severity(value) and "-" not in value:
        return "severity"
    if value.startswith("/"):
        return "mountpoint"
    if value.casefold() in _METHODS:
        return "method"
    if re.search(r"queue|dlq", value, re.IGNORECASE):
        return "queue"
    return "gateway" if find_vendor(value) else None


def _find_between(before: str | None, after: str | None, taken: Container[str]) -> str | None:
    """Return the usual label that sorts between two neighbors; None if several are as likely."""
    if before == "instance" and "job" not in taken:
        return "job"
    if before == "job" and after in {"region", "severity"}:
        return "namespace"
    if before == "region" and after == "severity":
        return "service"
    if before == "severity" and after is None:
        return "team"
    return "container" if before is None and after == "env" else None


def _list_following(names: Sequence[str | None]) -> list[str | None]:
    """Return for each position the next known name after it, in one pass from the end."""
    after: str | None = None
    found: list[str | None] = []
    for name in reversed(names):
        found.append(after)
        after = name or after
    return found[::-1]


def name_values(values: Sequence[str]) -> dict[str, str]:
    """Return labels for the values that can be named, among as many as an alert could list."""
    values = values[:_MOST_VALUES]
    names = [_find_anchor(value) for value in values]
    following = _list_following(names)
    found: dict[str, str] = {}
    for i, value in enumerate(values):
        name = names[i]
        if name is None and len(value) <= 40:
            before = names[i - 1] if i else None
            name = names[i] = _find_between(before, following[i], found)
        if name and name not in found:
            found[name] = value
    return found


def name_group(values: Sequence[str]) -> dict[str, str]:
    """Return labels for the group values after the alert name: a single one that looks like a cluster is one."""
    return {"cluster": values[0]} if len(values) == 1 and _CLUSTER.search(values[0]) else name_values(values)


def read_silence_labels(urls: Iterable[str]) -> dict[str, str]:
    """Return all labels by name, from a link that opens a new silence filled in with them."""
    address = next((unquote(url) for url in urls if "/silences/new" in url), "")
    return dict(_PAIR.findall(address))
