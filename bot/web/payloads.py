"""What `POST /webhook/…` accepts: Alertmanager's webhook JSON (version 4) and a generic JSON.

A body that is not acceptable is refused with the field and the reason; nothing of it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from bot.domain.alerts.alert import AlertMember, AlertState, Symptom
from bot.parsers.common.fingerprint import normalize_identity
from bot.parsers.intake.given import IntakeAlert

MOST_ALERTS = 2_000
MOST_MEMBERS = 50
LongText = Annotated[str, StringConstraints(max_length=4_000)]
ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
HttpAddress = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^https?://\S+$")]
LabelTexts = dict[Annotated[str, StringConstraints(max_length=300)], LongText]
_STATES = {"firing": AlertState.FIRING, "resolved": AlertState.RESOLVED}
_LINKS = {"runbook": "runbook", "dashboard": "dashboard", "playbook": "runbook", "logs": "logs", "panel": "panel"}


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _AlertmanagerAlert(_Body):
    """One alert of an Alertmanager group."""

    status: Literal["firing", "resolved"]
    labels: LabelTexts = {}
    annotations: LabelTexts = {}
    generatorURL: str = Field("", max_length=4_000)  # noqa: N815  # Alertmanager's own name


class AlertmanagerBody(_Body):
    """One notification of Alertmanager: a group with its alerts."""

    version: Literal["4"]
    status: Literal["firing", "resolved"]
    groupLabels: LabelTexts = {}  # noqa: N815  # Alertmanager's own name
    commonLabels: LabelTexts = {}  # noqa: N815  # Alertmanager's own name
    commonAnnotations: LabelTexts = {}  # noqa: N815  # Alertmanager's own name
    externalURL: str = Field("", max_length=2_000)  # noqa: N815  # Alertmanager's own name
    alerts: list[_AlertmanagerAlert] = Field(min_length=1, max_length=MOST_ALERTS)

    def to_intake(self) -> IntakeAlert:
        """Return the group as one alert.

        Its identity is the group's label values, as Alertmanager's Slack title shows them: the same group is the same
        alert, whichever way it arrives.
        """
        names = {a.labels.get("alertname", "") for a in self.alerts}
        group, common = _join_values(self.groupLabels), _join_values(self.commonLabels, but=self.groupLabels)
        labels = {**self.groupLabels, **self.commonLabels, **(self.alerts[0].labels if len(self.alerts) == 1 else {})}
        title = labels.get("alertname") or (names.pop() if len(names) == 1 else "") or group or common
        notes = {**self.alerts[0].annotations, **self.commonAnnotations}
        firing = sum(a.status == "firing" for a in self.alerts)
        return IntakeAlert(
            "alertmanager",
            _STATES[self.status],
            title[:300] or "Alert",
            identity=(group or common or title,),
            severity=labels.get("severity"),
            service=labels.get("service") or labels.get("app"),
            texts=tuple(v for k, v in notes.items() if k in {"summary", "description", "message"} and v),
            labels={key: value for key, value in labels.items() if value},
            links=self._read_links(notes),
            members=tuple(_read_member(a) for a in self.alerts[:MOST_MEMBERS]),
            firing=firing,
            cleared=len(self.alerts) - firing,
        )

    def _read_links(self, notes: Mapping[str, str]) -> dict[str, str]:
        links = {"source": self.externalURL, "query": self.alerts[0].generatorURL}
        for key, value in notes.items():
            role = next((role for word, role in _LINKS.items() if word in key.casefold()), None)
            if role:
                links.setdefault(role, value)
        return {role: url for role, url in links.items() if url.startswith(("http://", "https://"))}


def _join_values(labels: Mapping[str, str], but: Mapping[str, str] | None = None) -> str:
    """Return label values in Alertmanager's order: the alert's name first, then by label name."""
    ordered = sorted(labels.items(), key=lambda pair: (pair[0] != "alertname", pair[0]))
    return " ".join(value for key, value in ordered if key not in (but or {}))


def _read_member(one: _AlertmanagerAlert) -> AlertMember:
    return AlertMember(_STATES[one.status], one.labels, one.labels.get("alertname"))


class MetricBody(_Body):
    """A symptom with a value: {"name": "p95", "value": "840 ms", "op": ">", "threshold": "500 ms"}."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: ShortText
    value: ShortText
    op: Literal[">", "<", ">=", "<=", "=="] | None = None
    threshold: ShortText | None = None


class ErrorBody(_Body):
    """A symptom that is an error: {"code": "504", "text": "Gateway Timeout"}."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    code: ShortText
    text: LongText | None = None


class GenericBody(_Body):
    """The generic JSON. Only `title` is needed; unknown values are left out or null."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    title: ShortText
    state: Literal["firing", "resolved", "acknowledged", "escalated", "no_data", "update"] = "firing"
    severity: ShortText | None = None
    service: ShortText | None = None
    vendor: ShortText | None = None
    region: ShortText | None = None
    environment: ShortText | None = None
    description: LongText | None = None
    symptoms: list[MetricBody | ErrorBody | ShortText] = Field(default=[], max_length=24)
    labels: dict[ShortText, str | int | float | bool] = Field(default={}, max_length=80)
    links: dict[ShortText, HttpAddress] = Field(default={}, max_length=24)
    fingerprint: ShortText | None = None
    tool: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,39}$")] = "webhook"

    def to_intake(self) -> IntakeAlert:
        """Return the values as the parser takes them.

        A stated fingerprint is the whole identity; else it is the title without numbers and state words, with what is
        affected and where.
        """
        sentences = tuple(s for s in self.symptoms if isinstance(s, str))
        return IntakeAlert(
            self.tool,
            AlertState(self.state),
            self.title,
            identity=(self.fingerprint,) if self.fingerprint else self._build_identity(),
            severity=self.severity,
            service=self.service,
            vendor=self.vendor,
            region=self.region,
            environment=self.environment,
            texts=(*sentences, *((self.description,) if self.description else ())),
            symptoms=tuple(_read_symptom(s) for s in self.symptoms if not isinstance(s, str)),
            labels={key: _format_value(value)[:300] for key, value in self.labels.items()},
            links=dict(self.links),
        )

    def _build_identity(self) -> tuple[str, ...]:
        host = next((str(self.labels[key]) for key in ("host", "instance", "hostname") if key in self.labels), "")
        where = (self.service, self.vendor, self.region, self.environment, host)
        return (normalize_identity(self.title), *(part or "" for part in where))


def _format_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_symptom(one: MetricBody | ErrorBody) -> Symptom:
    if isinstance(one, ErrorBody):
        return Symptom("error", code=one.code, text=one.text)
    return Symptom("metric", name=one.name, value=one.value, op=one.op, threshold=one.threshold)
