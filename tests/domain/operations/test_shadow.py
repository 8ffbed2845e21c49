"""Where what is owed goes in shadow mode, and who may read it there."""

from __future__ import annotations

import pytest

from bot.domain.access.visibility import Viewer
from bot.domain.delivery.kinds import Operation
from bot.domain.operations.shadow import ShadowedCall, ShadowPlacement, is_left_out, may_be_shown, place_in_shadow
from bot.domain.recall.query import OPERATOR

STANDS = ShadowPlacement("C0SHADOW", "brief/INC-1/C1")


@pytest.mark.parametrize(
    ("call", "shadow", "brief", "expected"),
    [
        (("post", "brief/INC-1/C1", "C1", "1.1"), "C0SHADOW", None, ShadowPlacement("C0SHADOW", None, "1.1")),
        (("post", "repeat/INC-1/C1/2.1", "C1", "2.1"), "C0SHADOW", STANDS, ShadowPlacement("C0SHADOW", "brief/INC-1/C1", "2.1")),
        (("post", "digest/C1/2026-11-30", "C1"), "C0SHADOW", None, ShadowPlacement("C0SHADOW")),
        (("post", "nudge/U1/2026-11-30", "D1"), "C0SHADOW", None, ShadowPlacement("C0SHADOW")),
        (("post", "anything/new", "C1"), "C0SHADOW", None, ShadowPlacement("C0SHADOW")),
        (("post", "hello/C0SHADOW/1", "C0SHADOW"), "C0SHADOW", None, None),
        (("upload", "chart/C1/2026-11-30", "C1", None, "digest/C1/2026-11-30"), "C0SHADOW", None, None),
        (("update", "brief/INC-1/C1/edit", "C1", None, "brief/INC-1/C1"), "C0SHADOW", STANDS, None),
        (("ephemeral", "memo/C1/1.1/U1", "C1"), "C0SHADOW", None, None),
        (("post", "talk/C1/U1/1.1/says", "C1", "1.1"), "C0SHADOW", STANDS, None),
        (("post", "intake/C1/abc/7", "C1"), "C0SHADOW", None, None),
        (("post", "recorded/view:V1/C1", "C1", "1.1"), "C0SHADOW", None, None),
        (("post", "recorded/view:V1/C1", "C1", "1.1"), "C0SHADOW", STANDS, ShadowPlacement("C0SHADOW", "brief/INC-1/C1", "1.1")),
        # the mode is off: what belongs to a brief that stands there goes on there, all else in its own channel
        (("post", "brief/INC-1/C1+2", "C1", "1.1"), None, STANDS, ShadowPlacement("C0SHADOW", "brief/INC-1/C1", "1.1")),
        (("post", "fired-again/INC-1/0/C1", "C1", "1.1"), None, STANDS, None),
        (("post", "fired-again/INC-1/0/C1", "C1", "1.1"), "C0SHADOW", STANDS, ShadowPlacement("C0SHADOW", "brief/INC-1/C1", "1.1")),
        (("post", "brief/INC-2/C1", "C1", "3.1"), None, None, None),
    ],
)  # fmt: skip
def test_where_it_goes(
    call: tuple[str, ...], shadow: str | None, brief: ShadowPlacement | None, expected: ShadowPlacement | None
) -> None:
    assert place_in_shadow(ShadowedCall(Operation(call[0]), *call[1:]), shadow, brief) == expected


def test_reactions_are_left_out_while_the_mode_is_on() -> None:
    assert is_left_out(Operation.REACT, "C0SHADOW")
    assert not is_left_out(Operation.REACT, None)
    assert not is_left_out(Operation.POST, "C0SHADOW")


@pytest.mark.parametrize(
    ("there", "here", "shown"),
    [
        ({"public"}, {"public"}, True),
        ({"public"}, {"public", "private:P1"}, False),
        ({"public", "private:S", "private:P1"}, {"public", "private:P1"}, True),
        # what is pooled with the alert's channel alone may be named in its brief
        ({"public", "private:S", "private:P1"}, {"public", "private:P1", "private:P2"}, False),
    ],
)
def test_who_may_read_it(there: set[str], here: set[str], *, shown: bool) -> None:
    assert may_be_shown(Viewer(frozenset(there)), Viewer(frozenset(here))) is shown
    assert may_be_shown(OPERATOR, Viewer(frozenset(here)))
