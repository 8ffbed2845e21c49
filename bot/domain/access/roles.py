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
    FILE = "say which fixes are one"
    PURGE = "purge a record"
    SETTINGS = "change a channel's settings"
    SHARE = "let the bot speak in a channel that is shared with another organisation"


class Need(StrEnum):
    """What an act asks of a person."""

    MEMBER = "member"
    AUTHOR = "author"
    STEWARD = "steward"


@dataclass(frozen=True, slots=True)
class Person:
    """What Slack says of a person. `is_outsider`: of another organisation, or not known; `is_guest`: let into some
    channels of the workspace only. `groups`: the user groups (of those that were asked about) that they are in.
    `is_gone`: their account is switched off; `zone` is the IANA name of their time zone, if Slack tells it."""

    user_id: str
    is_admin: bool = False
    is_owner: bool = False
    is_outsider: bool = False
    is_guest: bool = False
    groups: frozenset[str] = frozenset()
    is_bot: bool = False
    is_gone: bool = False
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Stewards:
    """Who is a steward beside workspace admins and owners: listed user ids, and members of a user group."""

    users: frozenset[str] = frozenset()
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Verifiers:
    """Who may confirm that a fix worked: every member who is no guest, or only the members of a user group."""

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
    Act.FILE: Need.AUTHOR,
    Act.PURGE: Need.STEWARD,
    Act.SETTINGS: Need.STEWARD,
    Act.SHARE: Need.STEWARD,
}


# A guest knows a part of the workspace: what they saw is welcome, what silences or changes things for others is not theirs.
OPEN_TO_GUESTS = frozenset({Act.RECORD, Act.FEEDBACK, Act.EDIT, Act.RETRACT})


def is_steward(person: Person, stewards: Stewards) -> bool:
    """Whether a person is a steward: workspace admin or owner, listed, or in the stewards' user group."""
    if person.is_outsider:
        return False
    in_group = stewards.group is not None and stewards.group in person.groups
    return person.is_admin or person.is_owner or person.user_id in stewards.users or in_group


def check_permission(person: Person, act: Act, stewards: Stewards, *, is_author: bool = False) -> Permission:
    """Whether a person may do this; `is_author`: the record in question is their own."""
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
    """Whether what this person saw work counts as VERIFIED. The refusal says how it is recorded, and who can confirm it."""
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
    """The stewards in plain words, for those who are none: it is shown where mentions cannot be."""
    named = ["workspace admins and owners"]
    if stewards.users:
        named.append("the stewards whom the operator listed")
    if stewards.group:
        named.append("the members of the stewards' user group")
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]
