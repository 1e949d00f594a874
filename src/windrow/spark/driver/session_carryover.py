"""Queries of a session on Spark that go on elsewhere, or from elsewhere."""

from __future__ import annotations

import os
from abc import abstractmethod
from contextlib import AbstractContextManager

from pyspark.sql import SparkSession

from windrow.carryover.carryover import not_carried
from windrow.carryover.state_file import read_state_file
from windrow.plan.catalog import Catalog
from windrow.spark.driver.carried_queries import begin_from, export_query
from windrow.spark.driver.history_query import SparkHistoryQuery
from windrow.spark.driver.query import SparkQuery
from windrow.storage import Storage

__all__ = ["SparkSessionCarryover"]

Path = str | os.PathLike[str]


class SparkSessionCarryover:
    """What a session does with the state of its queries."""

    _buckets: int | None
    _catalog: Catalog
    _queries: dict[str, SparkQuery]
    _root: Storage
    _spark: SparkSession

    @abstractmethod
    def _knowing_functions(self) -> AbstractContextManager[None]: ...

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

    def import_state(
        self, path: Path, *, name: str | None = None, text: str | None = None
    ) -> SparkQuery:
        """Registers a query whose new checkpoint begins with the state in the file.

        Its streams must be declared, with sources that begin where those of the state had come to.
        name, text: where it shall have another name, or be a changed query, which takes over the
        rows of its windows.

        Example::

            query = session.import_state("count.wstate")
            query.start("memory")
        """
        with self._knowing_functions():
            carried = read_state_file(path)
        how = [
            "auto" if each in ("scan", "tree") else each
            for each in (carried.plan.algorithm, carried.plan.store)
        ]
        chosen = name or carried.name
        query = self.query(text or carried.plan.text, chosen, *how)
        assert isinstance(query, SparkQuery), "a question about the past has no state of its own"
        wanted = self._buckets or max(1, int(self._spark.sparkContext.defaultParallelism))
        try:
            begin_from(carried, self._root, chosen, query.plan, wanted)
        except BaseException:
            del self._queries[chosen]
            raise
        return query
