"""Profile a vendor from memory, for one viewer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

from bot.domain.access.visibility import Viewer
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.domain.fixes.grouping import build_fix_groups
from bot.domain.reports.vendor_profile import VendorProfile, build_vendor_profile
from bot.ports.clock import Clock
from bot.ports.feedback import FeedbackStore
from bot.ports.incidents import IncidentStore


@dataclass(frozen=True, slots=True)
class ProfileVendor:
    """Sum up a vendor's outages: where the fault lay, how long they took, what fixed them."""

    store: IncidentStore
    feedback: FeedbackStore
    clock: Clock
    # The vendors and services that the operator names.
    names: Directory = STANDARD

    async def __call__(self, vendor: str, viewer: Viewer, since: datetime | None) -> VendorProfile:
        """Return the profile over the records that the viewer may see. Raises StoreUnavailable."""
        records = await self.store.list_records(viewer, recallable_only=True)
        groups = build_fix_groups(await self.feedback.list_fix_equivalences())
        # Counted in a thread: a vendor with thousands of incidents must not hold up other people's acknowledgements.
        return await asyncio.to_thread(
            build_vendor_profile, vendor, records, self.clock.now(), since, self.names, groups
        )
