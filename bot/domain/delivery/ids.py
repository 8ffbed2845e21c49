"""Delivery ids and outbox keys: the one place where they are made.

An id is deterministic, so that queueing the same delivery twice is one delivery; a key puts deliveries in order. Both are
stored and go into the metadata of messages: their form never changes. An id begins with its `DeliveryKind`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bot.domain.delivery.kinds import DeliveryKind, Operation

# --- alerts and their briefs ---


def build_incident_key(channel: str, incident_id: str) -> str:
    """Return the key of all that is posted about an incident in a channel. `count_posts` reads the incident from its end."""
    return f"{channel}/{incident_id}"


def build_brief_id(incident_id: str, channel: str) -> str:
    """Return the id of an incident's first brief in a channel."""
    return f"brief/{incident_id}/{channel}"


def build_superseding_id(delivery_id: str, mark: object) -> str:
    """Return the id of the reply that supersedes a brief; `mark` names the occasion."""
    return f"{delivery_id}+{mark}"


def split_superseded(delivery_id: str) -> Sequence[str]:
    """Return the ids of a brief's messages, oldest first, its own last."""
    parts = delivery_id.split("+")
    return ["+".join(parts[: n + 1]) for n in range(len(parts))]


def build_repeat_id(incident_id: str, channel: str, ts: str) -> str:
    """Return the id of the line under a repeat."""
    return f"repeat/{incident_id}/{channel}/{ts}"


def build_looked_id(channel: str, incident_id: str) -> str:
    """Return the id of the reaction to an alert that gets no brief."""
    return f"looked/{channel}/{incident_id}"


def build_storm_id(storm: str) -> str:
    """Return the id of a storm's summary, which is its key, too."""
    return f"storm/{storm}"


def build_intake_key(channel: str, digest: str) -> str:
    """Return the key of the posts for a tool's alert; `digest` stands for its fingerprint."""
    return f"intake/{channel}/{digest}"


def build_intake_id(key: str, row_id: int) -> str:
    """Return the id of the post for one received alert."""
    return f"{key}/{row_id}"


# --- what people did ---


def build_recorded_id(once: str, channel: str) -> str:
    """Return the id of the line that says what was recorded; `once` names the submission."""
    return f"recorded/{once}/{channel}"


def build_correction_key(what: str, incident_id: str, once: str) -> str:
    """Return the name of a correction: the inbox has its work under it, and threads are told once for each."""
    return f"corrected/{what}/{incident_id}/{once}"


def build_correction_id(key: str, incident_id: str, channel: str) -> str:
    """Return the id of the line about a correction in the thread of a brief that used the record."""
    return f"{key}/{incident_id}/{channel}"


def build_muted_id(once: str) -> str:
    """Return the id of the line that says what was muted."""
    return f"muted/{once}"


def build_recurrence_key(incident_id: str, number: int) -> str:
    """Return the name of the question about an attempt after which the alert fired again."""
    return f"fired-again/{incident_id}/{number}"


def build_recurrence_id(key: str, channel: str) -> str:
    """Return the id of that question in a channel."""
    return f"{key}/{channel}"


def build_nudge_id(person: str, day: date) -> str:
    """Return the id of a person's nudge, which is its key, too."""
    return f"nudge/{person}/{day.isoformat()}"


def build_postmortem_id(channel: str, incident_id: str, mark: str) -> str:
    """Return the id of a post-mortem; `mark` stands for the record and the stretch of time."""
    return f"postmortem/{channel}/{incident_id}/{mark}"


def build_memo_id(channel: str, ts: str, user: str, stamp: object) -> str:
    """Return the id of the question to a person who reacted to a message."""
    return f"memo/{channel}/{ts}/{user}/{stamp}"


def build_share_id(view_id: str) -> str:
    """Return the id of a shared recall."""
    return f"share/{view_id}"


def build_share_key(channel: str) -> str:
    """Return the key of what is shared to a channel."""
    return f"share/{channel}"


# --- conversations ---


def build_talk_id(channel: str, user: str, ts: str, form: str) -> str:
    """Return the id of the answer to a message. `form`: whether it says, asks back, or says that it was too much."""
    return f"talk/{channel}/{user}/{ts}/{form}"


def split_talk_id(delivery_id: str) -> tuple[str, str, str, str] | None:
    """Return (channel, user, ts, form) of an answer, None for another kind of delivery."""
    kind, *parts = delivery_id.split("/")
    if kind != DeliveryKind.TALK or len(parts) != 4:
        return None
    channel, user, ts, form = parts
    return channel, user, ts, form


def build_talk_key(channel: str, root: str) -> str:
    """Return the key of the answers in a thread."""
    return f"talk/{channel}/{root}"


def build_mention_id(channel: str, ts: str) -> str:
    """Return the id of the help that answers a mention."""
    return f"mention/{channel}/{ts}"


# --- channels and the app itself ---


def build_digest_id(channel: str, period: date) -> str:
    """Return the id of a channel's digest of a period."""
    return f"digest/{channel}/{period.isoformat()}"


def build_digest_key(channel: str) -> str:
    """Return the key of a channel's digests and their pictures."""
    return f"digest/{channel}"


def build_chart_id(channel: str, period: date) -> str:
    """Return the id of the picture of a channel's digest."""
    return f"chart/{channel}/{period.isoformat()}"


def build_hello_id(channel: str, stamp: object) -> str:
    """Return the id of the greeting after an invitation."""
    return f"hello/{channel}/{stamp}"


def build_reply_key(channel: str, delivery_id: str) -> str:
    """Return the key of a greeting or of help, which wait for nothing else."""
    return f"{channel}/{delivery_id}"


def build_home_id(user: str, row_id: int) -> str:
    """Return the id of a Home view."""
    return f"home/{user}/{row_id}"


def build_setup_id(token: str) -> str:
    """Return the id of a message of `precedent setup`."""
    return f"setup/{token}"


def build_left_out_id(shadow: str, day: date) -> str:
    """Return the id of a day's count of alerts that shadow mode leaves out, which is its key, too."""
    return f"left-out/{shadow}/{day.isoformat()}"


# --- what changes another delivery ---


def build_edit_id(delivery_id: str) -> str:
    """Return the id of the edits of a message: edits that wait become one."""
    return f"{delivery_id}/edit"


def build_answer_id(delivery_id: str) -> str:
    """Return the id of the edit that puts the answer in the place of a question; of a bank row, of that answer's row."""
    return f"{delivery_id}/answer"


def build_delete_id(delivery_id: str) -> str:
    """Return the id of the deletion of a message that was no alert's."""
    return f"{delivery_id}/delete"


def build_purge_id(delivery_id: str) -> str:
    """Return the id of the deletion of a message that a purge takes back."""
    return f"{delivery_id}/purge"


# --- the memory bank ---


def build_bank_id(operation: Operation, incident_id: str, act: str | None) -> str:
    """Return the id of a row that the bank gets. `act` names the change, None where any newer one takes its place."""
    return f"{operation.value}/{act or f'{incident_id}/import'}"
