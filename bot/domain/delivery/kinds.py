"""What a delivery does, and what it is about: the two enums on which delivery, shadow mode and purging decide."""

from __future__ import annotations

from enum import StrEnum
from typing import cast


class Operation(StrEnum):
    """What a delivery does outside. The values are stored, so they never change."""

    POST = "post"
    UPDATE = "update"
    DELETE = "delete"
    REACT = "react"
    EPHEMERAL = "ephemeral"
    UPLOAD = "upload"  # a file
    DELETE_FILE = "delete_file"
    HOME = "home"  # publish a person's Home
    FIND = "find"  # look for a message, never queued
    RETAIN = "retain"  # the memory bank keeps a record
    RETRACT = "retract"  # the memory bank drops a record


class DeliveryKind(StrEnum):
    """What a delivery is about. The value is the first part of its id, so it never changes."""

    BRIEF = "brief"
    REPEAT = "repeat"  # one line under a repeat that came as a new root
    LOOKED = "looked"  # the reaction to an alert that gets no brief
    STORM = "storm"
    INTAKE = "intake"  # an alert that the bot posts for a tool
    RECORDED = "recorded"
    CORRECTED = "corrected"
    MUTED = "muted"
    FIRED_AGAIN = "fired-again"
    NUDGE = "nudge"
    POSTMORTEM = "postmortem"
    DIGEST = "digest"
    CHART = "chart"  # the digest's picture
    TALK = "talk"  # an answer in a conversation
    MENTION = "mention"
    MEMO = "memo"  # the question to a person who reacted to a message
    SHARE = "share"  # a recall that somebody shared
    HELLO = "hello"
    HOME = "home"
    SETUP = "setup"
    LEFT_OUT = "left-out"  # how many alerts shadow mode does not show

    @property
    def prefix(self) -> str:
        """The beginning of the ids of this kind."""
        return f"{self.value}/"


_OPERATIONS = {operation.value: operation for operation in Operation}
_KINDS = {kind.value: kind for kind in DeliveryKind}


def read_operation(word: str) -> Operation:
    """Return the operation that a row stores. A newer version's word passes as it is: the adapter that delivers refuses it."""
    return _OPERATIONS.get(word, cast("Operation", word))


def find_kind(delivery_id: str) -> DeliveryKind | None:
    """Return what the delivery of this id is about, None for a kind that this version does not know."""
    return _KINDS.get(delivery_id.partition("/")[0])
