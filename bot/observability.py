"""Structured logs with a correlation id, metrics, and `spawn` for background tasks.

Must not know any use case. This module, the job wrapper and `@app.error` are the only places with a broad except.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import sys
from collections.abc import Coroutine
from typing import Any, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from bot.domain.text.redaction import count_marks

disable_created_metrics()  # type: ignore[no-untyped-call]  # the library leaves it unannotated

REGISTRY = CollectorRegistry()
EVENTS = Counter(
    "precedent_events_total", "Slack deliveries by kind and outcome", ["kind", "outcome"], registry=REGISTRY
)
STAGE_SECONDS = Histogram(
    "precedent_stage_seconds", "Seconds spent by stage of a use case", ["stage"], registry=REGISTRY
)
OUTBOX_ROWS = Gauge("precedent_outbox_rows", "Outbox rows by destination and state", ["state"], registry=REGISTRY)
OUTBOX_AGE = Gauge("precedent_outbox_oldest_pending_seconds", "Age of the oldest undelivered row", registry=REGISTRY)
DELIVERIES = Counter(
    "precedent_deliveries_total",
    "Attempts to deliver what is owed, by destination and outcome (sent, later, unknown, paused, dead)",
    ["destination", "outcome"],
    registry=REGISTRY,
)
INBOX_ROWS = Gauge(
    "precedent_inbox_rows", "Received events that are not worked off, by state", ["state"], registry=REGISTRY
)
SLACK_ERRORS = Counter(
    "precedent_slack_errors_total", "Slack API errors by method and code", ["method", "code"], registry=REGISTRY
)
EVIDENCE_SECONDS = Histogram(
    "precedent_evidence_seconds",
    "Seconds until a source of evidence answered, by outcome (observed, unavailable, given_up)",
    ["source", "outcome"],
    registry=REGISTRY,
)
DEPENDENCY_UP = Gauge(
    "precedent_dependency_up",
    "Whether what the bot depends on can be used (1) or not (0)",
    ["dependency"],
    registry=REGISTRY,
)
REDACTIONS = Counter("precedent_redactions_total", "Secrets masked, by rule", ["rule"], registry=REGISTRY)
MODEL_CALLS = Counter(
    "precedent_model_calls_total",
    "Calls of language models by model and outcome",
    ["model", "outcome"],
    registry=REGISTRY,
)
MODEL_TOKENS = Counter("precedent_model_tokens_total", "Tokens of language models", ["direction"], registry=REGISTRY)
QUESTIONS = Counter(
    "precedent_questions_total",
    "Questions asked in threads of incidents, by what they ask for",
    ["intent"],
    registry=REGISTRY,
)
HYPOTHESES = Counter(
    "precedent_hypotheses_total",
    "Hypotheses by what came of them (shown, or the rule that refused)",
    ["outcome"],
    registry=REGISTRY,
)

_correlation: contextvars.ContextVar[str] = contextvars.ContextVar("correlation", default="-")
_tasks: set[asyncio.Task[Any]] = set()


def configure_logging(level: str = "INFO", *, as_json: bool = True) -> None:
    """Send structlog and the standard library's logs to stderr, one JSON object (or a colored line) each."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_correlation,
        structlog.processors.format_exc_info if as_json else structlog.processors.StackInfoRenderer(),
    ]
    renderer = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    structlog.configure(
        processors=[*shared, renderer],
        logger_factory=_write_to_stderr,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
    )
    formatter = structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared)
    handler = _StderrHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(
        level=max(logging.getLevelNamesMapping()[level.upper()], logging.WARNING), handlers=[handler], force=True
    )


class _StderrLogger:
    """Writes lines to stderr. Where that fails (a full disk, a closed pipe) the line is lost and nothing else: a bot
    that cannot log still has to work."""

    def msg(self, message: str) -> None:
        """Write one line."""
        with contextlib.suppress(OSError, ValueError):
            print(message, file=sys.stderr, flush=True)  # noqa: T201  # this is the log

    debug = info = warning = error = critical = msg


def _write_to_stderr(*_names: Any) -> _StderrLogger:
    return _StderrLogger()


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to whatever sys.stderr is at the moment, because it may be replaced after logging was configured."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        self.stream = sys.stderr
        super().emit(record)


def _add_correlation(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    event.setdefault("correlation", _correlation.get())
    return event


def set_correlation_id(correlation_id: str) -> None:
    """Mark everything logged from here on in this task with the id of Slack's event or of our row."""
    _correlation.set(correlation_id)


def get_logger(name: str) -> structlog.typing.FilteringBoundLogger:
    """Return a logger. Pass facts as keywords, never text from alerts or people."""
    bound: structlog.typing.FilteringBoundLogger = structlog.get_logger(name)
    return bound


def count_masked(text: str) -> None:
    """Count the secrets that masking replaced in a text, by rule."""
    for rule, number in count_marks(text).items():
        REDACTIONS.labels(rule).inc(number)


def spawn(work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Run in the background, keep the reference, and log a failure instead of losing it."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    _tasks.add(task)
    task.add_done_callback(_log_failure)
    return task


def _log_failure(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    if not task.cancelled() and (error := task.exception()):
        get_logger("spawn").error("background task failed", task=task.get_name(), error=repr(error), exc_info=error)


def escape_terminal_text(text: str) -> str:
    """Return a text with foreign words (from Slack, from a file) as one line that is safe for a terminal: nothing in it
    breaks the line, moves the cursor, sets colors, or reverses letters."""
    return "".join(c if c.isprintable() else " " for c in text)
