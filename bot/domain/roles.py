"""Who may do what: members, authors, stewards, and people of other organisations.

One pure decision over a table. Must not look anybody up.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What a person may want to do."""

    RECORD = "record"
    FEEDBACK = "give feedback"
    TEACH = "say that something is not an alert"
    MUTE = "mute for up to 24 hours"
    UNDO = "undo a rule or a mute"
    MUTE_LONG = "mute for longer than 24 hours"
    EDIT = "edit a record"
    RETRACT = "retract a record"
    MERGE = "merge incidents"
    SETTINGS = "change a channel's settings"
    SHARE = "let the bot speak in a channel that is shared with another organisation"


class Need(StrEnum):
    """What an act asks of a person."""

    MEMBER = "member"
    AUTHOR = "author"
    STEWARD = "steward"


@dataclass(frozen=True, slots=True)
class Person:
    """What Slack says of a person. `is_outsider`: of another organisation, or not known. `groups`: the user groups (of
    those that were asked about) that they are in."""

    user_id: str
    is_admin: bool = False
    is_owner: bool = False
    is_outsider: bool = False
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Stewards:
    """Who is a steward beside workspace admins and owners: listed user ids, and members of a user group."""

    users: frozenset[str] = frozenset()
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a person may; `refusal` is one sentence that says who may, "" where they may."""

    allowed: bool
    refusal: str = ""


NEEDS: dict[Act, Need] = {
    Act.RECORD: Need.MEMBER,
    Act.FEEDBACK: Need.MEMBER,
    Act.TEACH: Need.MEMBER,
    Act.MUTE: Need.MEMBER,
    Act.UNDO: Need.MEMBER,
    Act.MUTE_LONG: Need.STEWARD,
    Act.EDIT: Need.AUTHOR,
    Act.RETRACT: Need.AUTHOR,
    Act.MERGE: Need.AUTHOR,
    Act.SETTINGS: Need.STEWARD,
    Act.SHARE: Need.STEWARD,
}


def is_steward(person: Person, stewards: Stewards) -> bool:
    """Whether a person is a steward: workspace admin or owner, listed, or in the stewards' user group."""
    if person.is_outsider:
        return False
    in_group = stewards.group is not None and stewards.group in person.groups
    return person.is_admin or person.is_owner or person.user_id in stewards.users or in_group


def may(person: Person, act: Act, stewards: Stewards, *, is_author: bool = False) -> Permission:
    """Whether a person may do this; `is_author`: the record in question is their own."""
    if person.is_outsider:
        return Permission(False, f"Only members of this workspace may {act}.")
    need = NEEDS[act]
    if need is Need.MEMBER or (need is Need.AUTHOR and is_author) or is_steward(person, stewards):
        return Permission(True)
    who = ("its author and " if need is Need.AUTHOR else "") + who_are(stewards)
    return Permission(False, f"You may not {act}. {who[0].upper()}{who[1:]} may.")


def who_are(stewards: Stewards) -> str:
    """The stewards in plain words, for those who are none: it is shown where mentions cannot be."""
    named = ["workspace admins and owners"]
    if stewards.users:
        named.append("the stewards whom the operator listed")
    if stewards.group:
        named.append("the members of the stewards' user group")
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]
