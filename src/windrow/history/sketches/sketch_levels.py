"""Sketches of nodes, region by region: those of the finest level first, merged as they grow old."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.history.cells.arena import Longs
from windrow.history.regions import Regions
from windrow.history.sketches.kinds import kinds_of_sketches
from windrow.history.sketches.sketch_answer import SketchAnswer
from windrow.history.spec import HistorySpec
from windrow.windows.codes import Codes
from windrow.windows.undo_log import UndoLog

__all__ = ["Found", "NodeSketches", "SketchLevels"]

# The sketches of one node, in the order of the kinds.
NodeSketches = list[Any]
# Those of nodes that are surely in an interval, and of others that may be.
Found = tuple[list[NodeSketches], list[NodeSketches]]


class SketchLevels:
    """A sketch of every kind for each node with rows: of the finest level in the newest region.

    A query merges the sketches of all nodes in its interval, some ten microseconds each. log: notes
    the nodes that a step changes.
    """

    def __init__(self, spec: HistorySpec, regions: Regions, log: UndoLog) -> None:
        self._log = log
        self.kinds = kinds_of_sketches(spec.measures, spec.quantiles, spec.distincts)
        self._granularities_us = spec.granularities_us
        self._regions = regions
        self._horizons_us = [START_OF_TIME for _ in regions.levels]
        self.nodes: list[dict[int, dict[int, NodeSketches]]] = [{} for _ in regions.levels]
        # All that is in no region any more, and not archived either.
        self.forgotten = [kind.empty() for kind in self.kinds]

    def add(self, times: Longs, codes: Codes | None, columns: Mapping[str, pa.Array]) -> None:
        """Take rows."""
        if not self.kinds:
            return
        step_us = self._granularities_us[0]
        starts = times // step_us * step_us
        groups = np.zeros(times.size, np.int64) if codes is None else codes.astype(np.int64)
        for place, kind in enumerate(self.kinds):
            values, rows = kind.prepared(columns[kind.column.name])
            order = np.lexsort((starts[rows], groups[rows]))
            sorted_groups, sorted_starts = groups[rows][order], starts[rows][order]
            changes = np.diff(sorted_groups, prepend=-1) | np.diff(
                sorted_starts, prepend=sorted_starts[:1]
            )
            firsts = np.flatnonzero(changes)
            ends = np.append(firsts[1:], order.size)
            values = values[order]
            for first, end in (
                zip(firsts.tolist(), ends.tolist(), strict=True) if order.size else ()
            ):
                node = self._node(0, int(sorted_groups[first]), int(sorted_starts[first]), place)
                kind.add(node[place], values[first:end])

    def expire(self) -> dict[tuple[int, int], NodeSketches]:
        """Follow the horizons of the regions; returns what left the last, by code and start."""
        gone: dict[tuple[int, int], NodeSketches] = {}
        for region, horizon_us in enumerate(self._regions.horizons_us):
            if horizon_us == self._horizons_us[region]:
                continue
            self._horizons_us[region] = horizon_us
            is_last = region + 1 == len(self._horizons_us)
            for code, start_us, sketches in self._taken(region, horizon_us):
                if is_last:
                    gone[(code, start_us)] = sketches
                else:
                    self._move(region + 1, code, start_us, sketches)
        return gone

    def follow(self) -> None:
        """The sketches are those of the regions as they are now."""
        self._horizons_us = list(self._regions.horizons_us)

    def forget(self, gone: Mapping[tuple[int, int], NodeSketches]) -> None:
        """Keep only a sum of these."""
        for sketches in gone.values():
            self.forgotten = self._merged([self.forgotten, sketches])

    def read(
        self, codes: Longs, inner: tuple[int, int], outer: tuple[int, int], is_one: bool
    ) -> list[Found]:
        """The sketches of nodes in the inner interval, and of others in the outer, by group."""
        found = [self._between(code, inner, outer) for code in codes.tolist()]
        if not is_one:
            return found
        sure, others = [sketches for each, _ in found for sketches in each], []
        for _, each in found:
            others += each
        return [(sure, others)]

    def answers(self, found: Sequence[Found]) -> dict[str, SketchAnswer]:
        """The sketches of each group as answers, by label."""
        answers = {}
        for place, kind in enumerate(self.kinds):
            inners, outers = [], []
            for sure, others in found:
                inner = kind.merged([node[place] for node in sure])
                outer = inner
                if others:
                    outer = kind.merged([inner, *(node[place] for node in others)])
                inners.append(inner)
                outers.append(outer)
            answers[kind.label] = SketchAnswer(kind, inners, outers)
        return answers

    @property
    def nbytes(self) -> int:
        """About the bytes held: sketches tell their sizes, not exactly."""
        return sum(
            kind.nbytes(sketch)
            for region in self.nodes
            for nodes in region.values()
            for sketches in nodes.values()
            for kind, sketch in zip(self.kinds, sketches, strict=True)
        )

    def _between(self, code: int, inner: tuple[int, int], outer: tuple[int, int]) -> Found:
        sure, others = [], []
        for region in self.nodes:
            for start_us, sketches in region.get(code, {}).items():
                if inner[0] <= start_us < inner[1]:
                    sure.append(sketches)
                elif outer[0] <= start_us < outer[1]:
                    others.append(sketches)
        return sure, others

    def _node(self, region: int, code: int, start_us: int, place: int) -> NodeSketches:
        """The node, of which the sketch in that place is about to grow."""
        nodes = self._nodes_of(region, code)
        held = nodes.get(start_us)
        if held is None:
            self._log.keep_item(nodes, start_us)
            held = nodes[start_us] = [kind.empty() for kind in self.kinds]
        elif self._log.is_open:
            # A sketch grows where it is: it is a copy that grows, and the old one stays as it was.
            self._log.keep_item(nodes, start_us)
            kind = self.kinds[place]
            grows = kind.from_bytes(kind.to_bytes(held[place]))
            held = nodes[start_us] = [*held[:place], grows, *held[place + 1 :]]
        return held

    def _nodes_of(self, region: int, code: int) -> dict[int, NodeSketches]:
        """The nodes of a group, which are about to change."""
        self._log.keep_item(self.nodes[region], code)
        return self.nodes[region].setdefault(code, {})

    def _taken(self, region: int, horizon_us: int) -> Iterator[tuple[int, int, NodeSketches]]:
        for code in list(self.nodes[region]):
            nodes = self.nodes[region][code]
            for start_us in [start_us for start_us in nodes if start_us < horizon_us]:
                self._log.keep_item(nodes, start_us)
                yield code, start_us, nodes.pop(start_us)
            if not nodes:
                self._log.keep_item(self.nodes[region], code)
                del self.nodes[region][code]

    def _move(self, region: int, code: int, start_us: int, sketches: NodeSketches) -> None:
        step_us = self._granularities_us[self._regions.levels[region]]
        nodes = self._nodes_of(region, code)
        start_us = start_us // step_us * step_us
        self._log.keep_item(nodes, start_us)
        held = nodes.get(start_us)
        nodes[start_us] = sketches if held is None else self._merged([held, sketches])

    def _merged(self, nodes: Sequence[NodeSketches]) -> NodeSketches:
        return [
            kind.merged([node[place] for node in nodes]) for place, kind in enumerate(self.kinds)
        ]
