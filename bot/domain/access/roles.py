"""Decide who may do what: members, authors, stewards, guests and people of other organizations.

One pure decision over the table `NEEDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """Something that a person may want to do."""

    RECORD = "record"
    FEEDBACK = "give feedback"
    TEACH = "say that something is not an alert"
    MUTE = "mute for up to 24 hours"
    UNDO = "undo a rule or a mute"
    MUTE_LONG = "mute for longer than 24 hours"
    EDIT = "edit a record"
    RETRACT = "retract a record"
    MERGE = "merge incidents"
    FILE = "say which fixes are one"
    PURGE = "purge a record"
    SETTINGS = "change a channel's settings"
    SHARE = "let the bot speak in a channel that is shared with another organisation"


class Need(StrEnum):
    """What an act requires of a person."""

    MEMBER = "member"
    AUTHOR = "author"
    STEWARD = "steward"


@dataclass(frozen=True, slots=True)
class Person:
    """A person as Slack describes them."""

    user_id: str
    is_admin: bool = False
    is_owner: bool = False
    is_outsider: bool = False  # of another organization, or unknown
    is_guest: bool = False  # admitted to some channels of the workspace only
    groups: frozenset[str] = frozenset()  # the user groups they belong to, of those that were looked up
    is_bot: bool = False
    is_gone: bool = False  # the account is deactivated
    zone: str | None = None  # IANA name of their time zone, if Slack reports one


@dataclass(frozen=True, slots=True)
class Stewards:
    """The stewards besides workspace admins and owners."""

    users: frozenset[str] = frozenset()  # user ids
    group: str | None = None  # id of a user group


@dataclass(frozen=True, slots=True)
class Verifiers:
    """The people who may confirm that a fix worked: every member but guests, or one user group's members."""

    group: str | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """A decision; `refusal` is one sentence that says who may, "" if the person may."""

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
    Act.FILE: Need.AUTHOR,
    Act.PURGE: Need.STEWARD,
    Act.SETTINGS: Need.STEWARD,
    Act.SHARE: Need.STEWARD,
}


# A guest knows a part of the workspace: what they saw is welcome, what silences or changes things for others is not theirs.
OPEN_TO_GUESTS = frozenset({Act.RECORD, Act.FEEDBACK, Act.EDIT, Act.RETRACT})


def is_steward(person: Person, stewards: Stewards) -> bool:
    """Return whether a person is a workspace admin or owner, listed as a steward, or in the stewards' user group."""
    if person.is_outsider:
        return False
    in_group = stewards.group is not None and stewards.group in person.groups
    return person.is_admin or person.is_owner or person.user_id in stewards.users or in_group


def check_permission(person: Person, act: Act, stewards: Stewards, *, is_author: bool = False) -> Permission:
    """Decide whether a person may do `act`; `is_author` means that the record is their own."""
    if person.is_outsider:
        return Permission(False, f"Only members of this workspace may {act}.")
    if person.is_guest and act not in OPEN_TO_GUESTS:
        return Permission(
            False, f"Guests may not {act}. Any member of this workspace may, or {name_stewards(stewards)}."
        )
    need = NEEDS[act]
    if need is Need.MEMBER or (need is Need.AUTHOR and is_author) or is_steward(person, stewards):
        return Permission(True)
    who = ("its author and " if need is Need.AUTHOR else "") + name_stewards(stewards)
    return Permission(False, f"You may not {act}. {who[0].upper()}{who[1:]} may.")


def may_verify(person: Person, verifiers: Verifiers) -> Permission:
    """Decide whether a fix that this person saw work counts as VERIFIED.

    The refusal says how it is recorded instead, and who can confirm it.
    """
    in_group = verifiers.group is None or verifiers.group in person.groups
    if in_group and not (person.is_guest or person.is_outsider):
        return Permission(True)
    if person.is_guest:
        why = "you are a guest of this workspace"
    elif person.is_outsider:
        why = "you are not known as a member of this workspace"
    else:
        why = "you are not in the user group that confirms fixes"
    return Permission(False, f"It counts as not verified yet, for {why}. {_name_verifiers(verifiers)}")


def _name_verifiers(verifiers: Verifiers) -> str:
    who = (
        "A member of the user group that confirms fixes"
        if verifiers.group
        else "Any member of this workspace who is no guest"
    )
    return f"{who} can confirm it with Record… under the brief."


def name_stewards(stewards: Stewards) -> str:
    """Name the stewards in plain words, without mentions: this also appears where mentions do not work."""
    named = ["workspace admins and owners"]
    if stewards.users:
        named.append("the stewards whom the operator listed")
    if stewards.group:
        named.append("the members of the stewards' user group")
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]
