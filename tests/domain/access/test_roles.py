from __future__ import annotations

import pytest

from bot.domain.access.roles import (
    NEEDS,
    Act,
    Need,
    Person,
    Stewards,
    Verifiers,
    check_permission,
    is_steward,
    may_verify,
    name_stewards,
)

NONE = Stewards()
NAMED = Stewards(frozenset({"U1", "U2"}), "S1")


@pytest.mark.parametrize(
    ("person", "stewards", "is_one"),
    [
        (Person("U9"), NAMED, False),
        (Person("U1"), NONE, False),
        (Person("U1"), NAMED, True),
        (Person("U9", is_admin=True), NONE, True),
        (Person("U9", is_owner=True), NONE, True),
        (Person("U9", groups=frozenset({"S1"})), NAMED, True),
        (Person("U9", groups=frozenset({"S1"})), NONE, False),
        (Person("U9", groups=frozenset({"S2"})), NAMED, False),
        (Person("U1", is_admin=True, is_outsider=True), NAMED, False),
    ],
)
def test_who_is_a_steward(person: Person, stewards: Stewards, is_one: bool) -> None:
    assert is_steward(person, stewards) is is_one


@pytest.mark.parametrize("act", Act)
def test_what_a_member_an_author_and_a_steward_may(act: Act) -> None:
    member, steward = Person("U9"), Person("U9", is_admin=True)
    need = NEEDS[act]
    assert check_permission(member, act, NONE).allowed is (need is Need.MEMBER)
    assert check_permission(member, act, NONE, is_author=True).allowed is (need is not Need.STEWARD)
    assert check_permission(steward, act, NONE).allowed
    assert not check_permission(Person("U9", is_admin=True, is_outsider=True), act, NAMED, is_author=True).allowed


def test_the_table_is_the_agreed_one() -> None:
    assert {act for act, need in NEEDS.items() if need is Need.STEWARD} == {
        Act.MUTE_LONG,
        Act.SETTINGS,
        Act.SHARE,
        Act.PURGE,
    }
    assert {act for act, need in NEEDS.items() if need is Need.AUTHOR} == {Act.EDIT, Act.RETRACT, Act.MERGE, Act.FILE}
    assert set(NEEDS) == set(Act)


def test_who_may_not_is_told_who_may() -> None:
    assert check_permission(Person("U9"), Act.MUTE_LONG, NONE).refusal == (
        "You may not mute for longer than 24 hours. Workspace admins and owners may."
    )
    assert check_permission(Person("U9"), Act.EDIT, NONE).refusal == (
        "You may not edit a record. Its author and workspace admins and owners may."
    )
    assert check_permission(Person("U9", is_outsider=True), Act.MUTE, NONE).refusal == (
        "Only members of this workspace may mute for up to 24 hours."
    )
    assert check_permission(Person("U1"), Act.MUTE_LONG, NAMED).refusal == ""


def test_all_kinds_of_stewards_are_named() -> None:
    assert name_stewards(NAMED) == (
        "workspace admins and owners, the stewards whom the operator listed and the members of the stewards' user group"
    )
    assert name_stewards(Stewards(frozenset({"U1"}))) == (
        "workspace admins and owners and the stewards whom the operator listed"
    )


GUEST = Person("U9", is_guest=True)


@pytest.mark.parametrize(
    ("person", "group", "why"),
    [
        (Person("U9"), None, ""),
        (Person("U9", groups=frozenset({"S7"})), "S7", ""),
        (Person("U9", groups=frozenset({"S1"})), "S7", "you are not in the user group that confirms fixes"),
        (Person("U9", is_admin=True), "S7", "you are not in the user group that confirms fixes"),
        (GUEST, None, "you are a guest of this workspace"),
        (Person("U9", is_guest=True, groups=frozenset({"S7"})), "S7", "you are a guest of this workspace"),
        (Person("U9", is_outsider=True), None, "you are not known as a member of this workspace"),
    ],
)
def test_who_may_confirm_that_a_fix_worked(person: Person, group: str | None, why: str) -> None:
    permission = may_verify(person, Verifiers(group))
    assert permission.allowed is (why == "")
    assert why in permission.refusal


def test_who_may_not_confirm_is_told_who_can() -> None:
    assert may_verify(GUEST, Verifiers()).refusal.endswith(
        "Any member of this workspace who is no guest can confirm it with Record… under the brief."
    )
    assert may_verify(GUEST, Verifiers("S7")).refusal.endswith(
        "A member of the user group that confirms fixes can confirm it with Record… under the brief."
    )


def test_a_guest_may_record_and_say_what_helped_and_change_nothing_for_others() -> None:
    allowed = {act for act in Act if check_permission(GUEST, act, NONE, is_author=True).allowed}
    assert allowed == {Act.RECORD, Act.FEEDBACK, Act.EDIT, Act.RETRACT}
    assert check_permission(GUEST, Act.TEACH, NONE).refusal.startswith(
        "Guests may not say that something is not an alert. Any member"
    )
