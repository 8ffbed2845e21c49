"""Check what the bot depends on, so that the status can say how long something has been so.

Must not repair anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bot.domain.operations.dependency import Dependency, record_check
from bot.observability import DEPENDENCY_UP, get_logger
from bot.ports.clock import Clock
from bot.ports.errors import PrecedentError

EVERY_S = 20.0
Probe = Callable[[], Awaitable[str | None]]
log = get_logger("dependencies")


@dataclass(slots=True)
class WatchDependencies:
    """Run each probe from time to time, and collect the state of dependencies that are checked as they are used."""

    clock: Clock
    # Each returns the problem, or None.
    probes: dict[str, Probe] = field(default_factory=dict)
    # Returns names and problems of dependencies that note their own state.
    noted: Callable[[], Iterable[tuple[str, str | None]]] = tuple
    _states: dict[str, Dependency] = field(default_factory=dict)

    async def __call__(self) -> float:
        """Check each once, and return the seconds until the next check."""
        found = {name: await self._run_probe(probe) for name, probe in list(self.probes.items())}
        for name, problem in (*found.items(), *self.noted()):
            self._record_state(name, problem)
        return EVERY_S

    def list_states(self) -> Mapping[str, Dependency]:
        """Return the last known state of everything, by name."""
        return dict(self._states)

    async def _run_probe(self, probe: Probe) -> str | None:
        try:
            return await probe()
        except PrecedentError as problem:
            return str(problem)

    def _record_state(self, name: str, problem: str | None) -> None:
        before = self._states.get(name)
        after = record_check(before, name, problem, self.clock.now())
        self._states[name] = after
        DEPENDENCY_UP.labels(name).set(int(problem is None))
        if before and before.problem is None and problem is not None:
            log.warning("a dependency is down", dependency=name, problem=problem)
        elif before and before.problem is not None and problem is None:
            log.warning("a dependency is back", dependency=name)
