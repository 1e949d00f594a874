"""Queries of a session on Spark that go on elsewhere, or from elsewhere."""

from __future__ import annotations

import os
from abc import abstractmethod
from contextlib import AbstractContextManager
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from windrow.carryover.carryover import not_carried
from windrow.carryover.state_file import read_state_file
from windrow.errors import UnsupportedError
from windrow.jobs.job import no_query_replaced
from windrow.plan.catalog import Catalog
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.bundle import Bundle
from windrow.spark.driver.bundle_registry import BundleRegistry
from windrow.spark.driver.carried_queries import begin_from, export_query
from windrow.spark.driver.first_batch import check_places
from windrow.spark.driver.history_query import SparkHistoryQuery
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.replaced_state import Moving, is_of
from windrow.spark.driver.taken_state import as_driver
from windrow.storage import Storage

__all__ = ["SparkSessionCarryover"]

Path = str | os.PathLike[str]


class SparkSessionCarryover:
    """What a session does with the state of its queries."""

    _buckets: int | None
    _bundles: BundleRegistry
    _catalog: Catalog
    _queries: dict[str, SparkQuery]
    _questions: dict[str, SparkHistoryQuery]
    _root: Storage
    _sources: dict[str, DataFrame]
    _spark: SparkSession

    @abstractmethod
    def _knowing_functions(self) -> AbstractContextManager[None]: ...

    @abstractmethod
    def plan_of(self, text: str) -> RunnablePlan | HistoryPlan:
        """The bound plan of a query."""

    @abstractmethod
    def query(
        self, text: str, name: str | None = None, algorithm: str = "auto", store: str = "auto"
    ) -> SparkQuery | SparkHistoryQuery:
        """Registers a query."""

    def export_state(self, name: str, path: Path) -> None:
        """Writes all that a query of the checkpoint needs to go on elsewhere into a file.

        It must not be running. What it has given to its sink is not in the file.

        Example::

            session["count"].stop()
            session.export_state("count", "count.wstate")
        """
        query = self._queries.get(name)
        if query is not None and query.is_running:
            raise not_carried(name, "it is running", "stop() it: it can go on where it stopped")
        with self._knowing_functions():
            export_query(self._spark, self._root, name, path, self._catalog.time_zone)

    def stands(self, name: str) -> bool:
        """Whether the checkpoint has a query of that name.

        Example::

            session.stands("count")
        """
        is_alone = self._root.has(f"{name}/windrow.json")
        return is_alone or self._bundles.bundle_of(name) is not None

    def differs(self, name: str, text: str) -> bool:
        """Whether a query that the checkpoint has is another one than that of the text.

        Example::

            session.differs("count", "SELECT COUNT(*) AS n FROM temp [1 MINUTE]")
        """
        bundle = self._bundles.bundle_of(name)
        there = QueryCheckpoint(self._root, name) if bundle is None else bundle.checkpoint_of(name)
        owner = there.owner()
        return owner is not None and not is_of(owner, self.plan_of(text))

    def replace(self, name: str, text: str, *, begin_anew: bool = False) -> SparkQuery:
        """Changes a query of the session or of its checkpoint: it goes on with its windows' rows.

        Where it runs, the new one starts at once, with the same sink and trigger; otherwise with
        start(). It runs in an operator of its own, and all others go on. Where the windows do not
        agree it is refused, and the old query goes on; with begin_anew the new one begins as with a
        new checkpoint then, and a warning says why.

        Example::

            session.replace("count", "SELECT COUNT(*) AS n, MAX(celsius) AS m FROM temp [1 MINUTE]")
        """
        before = self._queries.get(name)
        bundle = self._bundles.bundle_of(name)
        if before is None and not self.stands(name):
            raise no_query_replaced(name)
        started = before.started if before is not None and before.is_running else None
        self._queries.pop(name, None)
        try:
            query = self.query(text, name)
            if not isinstance(query, SparkQuery):
                raise UnsupportedError(
                    "WU424",
                    f"query {name!r} cannot become a question about the past",
                    hint="register that under another name",
                )
            self._move(query, before, bundle, begin_anew=begin_anew)
        except BaseException:
            self._questions.pop(name, None)
            self._queries.pop(name, None)
            if before is not None:
                self._queries[name] = before
                if started is not None and not before.is_running:
                    before.start(*started)
            raise
        if started is not None:
            query.start(*started)
        return query

    def _move(
        self,
        query: SparkQuery,
        before: SparkQuery | None,
        bundle: Bundle | None,
        *,
        begin_anew: bool,
    ) -> None:
        """The state of the query before, where there is one, becomes that of the new one."""
        checkpoint, zone = query.checkpoint, self._catalog.time_zone
        wanted = self._buckets or max(1, int(self._spark.sparkContext.defaultParallelism))
        moving = Moving(self._spark, checkpoint, query.plan, wanted, zone, begin_anew=begin_anew)
        if bundle is not None:
            with bundle.between_batches(), as_driver(checkpoint):
                moving.out_of(bundle)
        else:
            if before is not None:
                before.stop()
            with as_driver(checkpoint):
                moving.over()

    def import_state(
        self,
        path: Path,
        *,
        name: str | None = None,
        text: str | None = None,
        positions: bool = True,
    ) -> SparkQuery:
        """Registers a query whose new checkpoint begins with the state in the file.

        Its streams must be declared. Their sources go on where those of the state stood, if that
        is from Spark; with positions=False, and after one process, they begin where they begin.
        name, text: where it shall have another name, or be a changed query, which takes over the
        rows of its windows.

        Example::

            query = session.import_state("count.wstate")
            query.start("memory")
        """
        with self._knowing_functions():
            carried = read_state_file(path)
        if not positions:
            carried = replace(carried, positions=None)
        how = [
            "auto" if each in ("scan", "tree") else each
            for each in (carried.plan.algorithm, carried.plan.store)
        ]
        chosen = name or carried.name
        query = self.query(text or carried.plan.text, chosen, *how)
        assert isinstance(query, SparkQuery), "a question about the past has no state of its own"
        wanted = self._buckets or max(1, int(self._spark.sparkContext.defaultParallelism))
        try:
            if carried.positions is not None:
                streams = carried.plan.streams
                check_places(carried.positions, {name: self._sources[name] for name in streams})
            begin_from(carried, self._root, chosen, query.plan, wanted)
        except BaseException:
            del self._queries[chosen]
            raise
        return query
