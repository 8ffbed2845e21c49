"""Web API methods about user groups. Must not serve HTTP."""

from __future__ import annotations

from collections.abc import Callable

from bot.playground.core import Core
from bot.playground.workspace.state import JSON, SlackRefused, UserGroup


def groups(core: Core, args: JSON) -> JSON:
    """usergroups.list."""
    return {"usergroups": [_group_json(core, group) for group in core.workspace.groups.values()]}


def members(core: Core, args: JSON) -> JSON:
    """usergroups.users.list."""
    group = core.workspace.groups.get(str(args.get("usergroup")))
    if group is None:
        raise SlackRefused("no_such_subteam")
    return {"users": list(group.members)}


def _group_json(core: Core, group: UserGroup) -> JSON:
    return {
        "id": group.id,
        "team_id": core.workspace.team_id,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.name,
        "is_external": False,
        "date_delete": 0,
        "user_count": len(group.members),
    }


METHODS: dict[str, Callable[[Core, JSON], JSON]] = {"usergroups.list": groups, "usergroups.users.list": members}
