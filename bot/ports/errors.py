"""What the workflows need from the outside, as Protocols; and every error they may meet.

Must not import a vendor library or decide anything. The error tree:

    PrecedentError                 something a person should be told about, in one sentence that says what to do
    ├── StoreUnavailable           the store cannot be read or written now; nothing was changed
    │   └── StoreConflict          somebody else changed the same incident first; read again and retry
    ├── MemoryUnavailable          the memory bank cannot answer now; the index or nothing is used instead
    │   └── MemoryAuthRejected     the bank refuses the key: what is owed to it waits until that is mended
    ├── MemoryRejected             the memory bank refuses this record for good
    ├── EvidenceUnavailable        a source of evidence cannot answer now; the brief says which and why
    ├── ModelUnavailable           no model answers now; the brief stands without a hypothesis
    ├── EmbeddingUnavailable       there is no embedding model, or it failed; memory works by words instead
    ├── ChartUnavailable           a picture cannot be drawn; the text goes out without it
    ├── ChatUnavailable            Slack cannot take this now (rate limit, outage); carries retry_after_s
    │   └── ChatOutcomeUnknown     the call may have gone through; look before doing it again
    ├── ChatRejected               Slack refuses this call for good; carries the code
    │   └── ChatAuthRejected       the token is wrong or revoked: everything waits until it is mended
    ├── ConfigurationRejected      the configuration file is wrong; says which file, which key and why
    ├── AddressUnavailable         the bot's own HTTP server cannot listen where it should
    ├── NotAllowedHere             the person or the place may not do this; nothing was looked up or changed
    ├── IncidentNotFound           no such incident, or the viewer may not see it
    └── RecordRejected             a record of an import or a modal is not acceptable; carries field and reason
"""

from __future__ import annotations

from typing import TypeVar

from bot.domain.text.problem import FieldProblem

T = TypeVar("T")


class PrecedentError(Exception):
    """Something a person should be told about. The message is one sentence, fit to be shown, that says what to do."""


class StoreUnavailable(PrecedentError):
    """The store cannot be read or written now; nothing was changed."""


class StoreConflict(StoreUnavailable):
    """Somebody else changed the same incident first; read again and retry."""


class MemoryUnavailable(PrecedentError):
    """The memory bank cannot answer now."""


class MemoryAuthRejected(MemoryUnavailable):
    """The bank refuses the key (401, 403). That is not the record's fault, so what is queued for the bank waits. For
    callers that only recall, it is a bank that cannot answer now."""


class MemoryRejected(PrecedentError):
    """The memory bank refuses this record for good."""


class EvidenceUnavailable(PrecedentError):
    """A source of evidence cannot answer now. The message is the reason, in a few plain words."""


class ModelUnavailable(PrecedentError):
    """No model answers now, or none within the deadline. `calls` (of `bot.ports.language_model`) are those that were
    made, and `sent` is what went out with the first of them, None where nothing did."""

    def __init__(self, message: str, calls: tuple[object, ...] = (), sent: object = None) -> None:
        super().__init__(message)
        self.calls = calls
        self.sent = sent


class EmbeddingUnavailable(PrecedentError):
    """There is no embedding model here, or it failed; memory works by words instead."""


class ChartUnavailable(PrecedentError):
    """A picture cannot be drawn; the text that goes with it says the same."""


class ChatUnavailable(PrecedentError):
    """Slack cannot take this now. `retry_after_s` is the wait that Slack asks for, if it named one."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ChatOutcomeUnknown(ChatUnavailable):
    """The connection broke after sending: the call may have gone through; look before doing it again."""


class ChatRejected(PrecedentError):
    """Slack refuses this call for good. `code` is Slack's error code."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class ChatAuthRejected(ChatRejected):
    """The token is wrong, revoked or lacks a scope. That is not the row's fault, so everything waits."""


class ConfigurationRejected(PrecedentError):
    """The configuration file cannot be used. The message names the file, the key and the reason."""


class AddressUnavailable(PrecedentError):
    """The bot's own HTTP server cannot listen where it should."""


class NotAllowedHere(PrecedentError):
    """The person or the place may not do this. Trying again does not help."""


class IncidentNotFound(PrecedentError):
    """No such incident, or the viewer may not see it: on purpose nobody can tell which."""


class RecordRejected(PrecedentError):
    """A record is not acceptable. `field` names the key ("" for the record as a whole), `reason` says what is wrong."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field
        self.reason = reason


def require_readable(found: T | FieldProblem) -> T:
    """Return what was read of a person's input. Raises RecordRejected where it cannot be read."""
    if isinstance(found, FieldProblem):
        raise RecordRejected(found.field, found.reason)
    return found
