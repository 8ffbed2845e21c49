"""The order of the walk, and what an event or its absence means."""

from __future__ import annotations

import pytest

from bot.domain.operations.setup_steps import (
    Heard,
    Proof,
    Silence,
    Step,
    Way,
    heard,
    next_step,
    read_way,
    read_yes,
    reasons,
    steps,
    way_of,
)


def test_each_way_asks_for_its_own_secret_alone() -> None:
    assert Step.SIGNING_SECRET not in steps(None)
    assert set(steps(Way.HTTP)) ^ set(steps(Way.SOCKET)) == {Step.APP_TOKEN, Step.SIGNING_SECRET}


def test_the_first_step_that_is_left_is_next() -> None:
    done: set[Step] = set()
    order = []
    while step := next_step(Way.HTTP, frozenset(done)):
        order.append(step)
        done.add(step)
    assert order == list(steps(Way.HTTP))
    assert next_step(None, frozenset()) is Step.WAY
    assert next_step(Way.SOCKET, frozenset({Step.WAY, Step.BOT_TOKEN})) is Step.APP


def test_settings_tell_the_way() -> None:
    told = [way_of(has_app_token=a, has_signing_secret=s) for a in (True, False) for s in (True, False)]
    assert told == [Way.SOCKET, Way.SOCKET, Way.HTTP, None]


@pytest.mark.parametrize(
    ("answer", "way"),
    [("", Way.SOCKET), (" 1 ", Way.SOCKET), ("Socket", Way.SOCKET), ("2", Way.HTTP), ("HTTP", Way.HTTP), ("3", None)],
)
def test_a_way_is_read(answer: str, way: Way | None) -> None:
    assert read_way(answer) is way


def test_yes_and_no_are_read() -> None:
    said = [read_yes(a, default=True) for a in ("", "y", "YES", "n", "no", "maybe")]
    assert said == [True, True, True, False, False, None]
    assert read_yes(" ", default=False) is False


JOINED = {"type": "member_joined_channel", "user": "U0BOT", "channel": "C1"}


@pytest.mark.parametrize(
    ("event", "channel", "proof"),
    [
        (JOINED, None, Heard(Proof.INVITED, "C1")),
        (JOINED | {"user": "U0ELSE"}, "C1", None),
        ({"type": "message", "channel": "C1"}, "C1", Heard(Proof.MESSAGE, "C1")),
        ({"type": "message", "channel": "C2"}, "C1", None),
        ({"type": "message"}, None, None),
        ({"type": "reaction_added", "channel": "C1"}, "C1", None),
    ],
)
def test_an_event_proves_what_it_says(event: dict[str, str], channel: str | None, proof: Heard | None) -> None:
    assert heard(event, "U0BOT", channel) == proof


def test_silence_has_its_reasons() -> None:
    (unseen,) = reasons(Silence(is_member=None), "x", 60)
    (outside,) = reasons(Silence(is_member=False), "x", 60)
    (deaf,) = reasons(Silence(is_member=True), "x", 0.5)
    (other,) = reasons(Silence(is_member=True, connections=2), "x", 0.5)
    assert reasons(Silence(is_member=False, connections=2), "x", 0.5)[1:] == (outside,)
    assert "sees no channel #x" in unseen
    assert "is not in #x: type /invite" in outside
    assert "2 connections open" in other
    assert "within 0.5 s" in deaf
    assert "Event Subscriptions" in deaf
