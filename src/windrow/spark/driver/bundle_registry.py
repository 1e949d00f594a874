"""The bundles of a session: which query runs where, also after its checkpoint is taken up again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from windrow.plan.update_pattern import only_adds_rows
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.bundle import Bundle
from windrow.spark.driver.bundle_record import BundleRecord
from windrow.spark.driver.query import SparkQuery
from windrow.spark.shuffle.carrier import SharedPartitioning, shared_partitioning
from windrow.storage import Storage

__all__ = ["BundleRegistry", "recorded_bundle", "recorded_names"]

_FOLDER = re.compile(r"bundle-[0-9a-f]{12}")

Given = Sequence[tuple[SparkQuery, object]]  # queries with their sinks


class BundleRegistry:
    """Puts queries that are partitioned alike together."""

    def __init__(
        self,
        spark: SparkSession,
        root: Storage,
        sources: Mapping[str, DataFrame],
        buckets: int | None,
        after_batch: Callable[[], None],
        *,
        is_lasting: bool = True,
    ) -> None:
        self._is_lasting = is_lasting  # whether the checkpoint is there after the session
        self._spark, self._root, self._sources = spark, root, sources
        self._buckets, self._after_batch = buckets, after_batch
        self._bundles: dict[str, Bundle] | None = None

    def start(
        self, given: Given, trigger: str | None, ends: Sequence[str] = ()
    ) -> list[SparkQuery]:
        """Starts queries in as few operators as can be.

        Those that need one of their own, or have had one so far, are given back. ends: names of
        queries that the checkpoint runs, and that end instead.
        """
        alone, chosen = [], {}
        for query, sink in given:
            partitioning = shared_partitioning(query.plan)
            # Rows that pass need no copy that others might share, and would be kept in one.
            is_passing = only_adds_rows(query.plan) and getattr(sink, "feed", None) == "changes"
            is_apart = is_passing or query.has_begun_alone
            if isinstance(partitioning, str) or (is_apart and not self.runs(query.name)):
                alone.append(query)
            else:
                chosen[query.name] = (query, sink, partitioning)
        placed = self._placed(chosen)
        leaving = {
            bundle: [name for name in ends if bundle is self._of(name)]
            for bundle in [*placed, *filter(None, map(self._of, ends))]
        }
        for bundle, names in leaving.items():
            members = [chosen[name] for name in placed.get(bundle, ())]
            bundle.start([(query.outlet, sink) for query, sink, _ in members], trigger, names)
            for query, sink, _ in members:
                query.join(bundle, sink, trigger)
        return alone

    def recorded(self) -> list[str]:
        """The names of the queries that run in shared operators, or did when these stopped."""
        return [name for bundle in self._known.values() for name in bundle.record.running()]

    def members(self, operator: str) -> list[str]:
        """The queries at work in the shared operator of that name; none where it is no such."""
        bundle = (self._bundles or {}).get(operator)
        return [] if bundle is None else bundle.members

    def runs(self, name: str) -> bool:
        """Whether a query of that name is among them."""
        return self._of(name) is not None

    def bundle_of(self, name: str) -> Bundle | None:
        """The bundle that runs a query of that name, or ran it when it stopped."""
        return self._of(name)

    def _placed(
        self, chosen: Mapping[str, tuple[SparkQuery, object, SharedPartitioning]]
    ) -> dict[Bundle, list[str]]:
        """Each query in the bundle that ran it before, in one that serves it, or in a new one."""
        placed: dict[Bundle, list[str]] = {}
        left = []
        for name, (_, _, partitioning) in chosen.items():
            bundle = self._of(name) or self._serving(partitioning)
            if bundle is None:
                left.append(name)
            else:
                placed.setdefault(bundle, []).append(name)
        # Those that may go anywhere come last: they fit with any others.
        left.sort(key=lambda name: not chosen[name][2].keys)
        for shared, names in _grouped({name: chosen[name][2] for name in left}):
            placed[self._made(shared)] = names
        return placed

    def _of(self, name: str) -> Bundle | None:
        """The bundle that runs a query of that name, or ran it when it stopped."""
        found = [each for each in self._known.values() if name in each.record.running()]
        return found[0] if found else None

    def _serving(self, partitioning: SharedPartitioning) -> Bundle | None:
        found = [
            each for each in self._known.values() if each.record.partitioning.serves(partitioning)
        ]
        return found[0] if found else None

    @property
    def _known(self) -> dict[str, Bundle]:
        """The bundles that the checkpoint knows."""
        if self._bundles is None:
            begun = _recorded(self._root)
            self._bundles = {name: self._bundle(name, record) for name, record in begun.items()}
        return self._bundles

    def _made(self, partitioning: SharedPartitioning) -> Bundle:
        name = f"bundle-{partitioning.fingerprint[:12]}"
        if name not in self._known:
            self._known[name] = self._bundle(
                name, BundleRecord(self._root.inside(name), partitioning)
            )
        return self._known[name]

    def _bundle(self, name: str, record: BundleRecord) -> Bundle:
        checkpoint = QueryCheckpoint(self._root, name, is_lasting=self._is_lasting)
        tools = (self._sources, self._buckets, self._after_batch)
        return Bundle(self._spark, checkpoint, record, *tools)

    def advance(self, stream: str, instant_us: int) -> None:
        """Event time of a stream moves on without rows, in each bundle once."""
        for bundle in (self._bundles or {}).values():
            bundle.advance(stream, instant_us)

    def finish(self) -> None:
        """Completes all streams once the bundles have worked through what is there."""
        for bundle in (self._bundles or {}).values():
            bundle.finish()

    def stop(self, timeout: float) -> None:
        """Stops all bundles; they can be taken up again from the checkpoint."""
        for bundle in (self._bundles or {}).values():
            bundle.stop(timeout)


def recorded_names(root: Storage) -> list[str]:
    """The queries that share operators by a checkpoint."""
    return [name for record in _recorded(root).values() for name in record.running()]


def recorded_bundle(root: Storage, name: str) -> tuple[str, BundleRecord]:
    """The folder and the record of the bundle that runs a query of that name."""
    found = _recorded(root).items()
    return next((folder, each) for folder, each in found if name in each.running())


def _recorded(root: Storage) -> dict[str, BundleRecord]:
    names = list(filter(_FOLDER.fullmatch, root.folders()))
    records = {name: BundleRecord.stored(root.under(name)) for name in names}
    return {name: record for name, record in records.items() if record is not None}


def _grouped(
    partitionings: Mapping[str, SharedPartitioning],
) -> list[tuple[SharedPartitioning, list[str]]]:
    """Queries bundled in their order, each with the first others that it fits."""
    groups: list[tuple[SharedPartitioning, list[str]]] = []
    for name, partitioning in partitionings.items():
        for place, (shared, names) in enumerate(groups):
            both = shared.shared_with(partitioning)
            if both is not None:
                groups[place] = (both, [*names, name])
                break
        else:
            groups.append((partitioning, [name]))
    return groups
