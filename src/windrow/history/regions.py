"""Which level answers which part of the past: horizons, and the borders that nodes have."""

from __future__ import annotations

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.history.spec import HistorySpec

__all__ = ["Regions"]


class Regions:
    """The past in regions, the newest first: each with a level, and how far it reaches back.

    A level that is kept no longer than a finer one has no region: the finer one serves instead.
    """

    def __init__(self, spec: HistorySpec) -> None:
        self._granularities_us = spec.granularities_us
        self._retentions_us = spec.retentions_us
        self.levels = [0]
        for level, retention_us in enumerate(self._retentions_us):
            if retention_us > self._retentions_us[self.levels[-1]]:
                self.levels.append(level)
        self.horizons_us = [START_OF_TIME for _ in self.levels]

    @property
    def begin_us(self) -> int:
        """What is older is in no region."""
        return self.horizons_us[-1]

    def step_us(self, region: int) -> int:
        """The length of nodes in which a region loses its past."""
        if region + 1 < len(self.levels):
            return self._granularities_us[self.levels[region + 1]]
        return self._granularities_us[-1]

    def horizon_us(self, region: int, now_us: int) -> int:
        """How far back a region reaches when it is `now_us`; never forward again."""
        oldest_us = now_us - self._retentions_us[self.levels[region]]
        if oldest_us <= START_OF_TIME // 2:
            return self.horizons_us[region]
        step_us = self.step_us(region)
        return max(oldest_us // step_us * step_us, self.horizons_us[region])

    def parts(self, since_us: int, until_us: int) -> list[tuple[int, int, int]]:
        """The regions that an interval touches, with the part of it that lies in each."""
        if since_us >= self.horizons_us[0]:
            return [(0, since_us, until_us)] if since_us < until_us else []
        found, end_us = [], END_OF_TIME
        for region, horizon_us in enumerate(self.horizons_us):
            since, until = max(since_us, horizon_us), min(until_us, end_us)
            if since < until:
                found.append((region, since, until))
            end_us = horizon_us
        return found

    def node(self, instant_us: int, level: int) -> tuple[int, int]:
        """The node of that level around an instant, of a coarser one where the level is gone."""
        region = next(
            (place for place, horizon in enumerate(self.horizons_us) if instant_us >= horizon),
            len(self.levels) - 1,
        )
        granularity_us = self._granularities_us[max(level, self.levels[region])]
        start_us = instant_us // granularity_us * granularity_us
        return start_us, start_us + granularity_us
