"""Read the members of a grouped post, each with its labels and state. They are not counted: posts cut their lists."""

from __future__ import annotations

import re

from bot.domain.alerts.alert import AlertMember, AlertState
from bot.parsers.common.labels import build_labels, find_body_pairs

_MOST = 50
_POD = re.compile(r"\b([a-z0-9-]{1,40})/([a-z0-9][a-z0-9-]{1,60}-[a-z0-9]{5,10}-[a-z0-9]{5})\b")
_LABEL = re.compile(r"^[ \t]*- ([\w.-]{1,60}) = (.*)$", re.MULTILINE)


def find_listed_members(text: str, state: AlertState) -> tuple[AlertMember, ...]:
    """Return the members of a label list, each starting at `alertname`; else the pods that the text names."""
    parts = re.split(r"(?m)^(?=\W*alertname:)", text)[1:]
    listed = [build_labels(find_body_pairs(part.split("\n"))) for part in parts]
    if not listed:
        pods = dict.fromkeys((m[1], m[2]) for m in _POD.finditer(text))
        listed = [{"namespace": namespace, "pod": pod} for namespace, pod in pods]
    return tuple(AlertMember(state, labels, labels.get("alertname")) for labels in listed[:_MOST])


def find_headed_members(text: str) -> tuple[AlertMember, ...]:
    """Return the members in label blocks (`- key = value`) under the headings Firing and Resolved."""
    found = []
    for half in re.split(r"(?m)^(?=(?:Firing|Resolved)\s*$)", text):
        state = AlertState.RESOLVED if half.startswith("Resolved") else AlertState.FIRING
        for part in re.split(r"(?m)^(?=Value: )", half)[1:]:
            labels = dict(_LABEL.findall(part.partition("Annotations:")[0]))
            found.append(AlertMember(state, labels, labels.get("rulename") or labels.get("alertname")))
    return tuple(found[:_MOST])


def find_shared_labels(members: tuple[AlertMember, ...]) -> dict[str, str]:
    """Return the labels that all members share, in the order of the first."""
    if not members:
        return {}
    rest = [m.labels for m in members[1:]]
    return {key: value for key, value in members[0].labels.items() if all(o.get(key) == value for o in rest)}
