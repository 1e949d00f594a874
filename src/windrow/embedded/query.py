"""A query in this process: one shard and its publisher."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import RLock
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.deferred import deferred
from windrow.embedded.bounded_query import BoundedQuery
from windrow.embedded.carried_query import CarriedQuery
from windrow.embedded.failing import Failing
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.query_parts import QueryStep, preparers_of
from windrow.embedded.query_run import NEVER
from windrow.embedded.told_query import ToldQuery
from windrow.embedded.view_instants import ViewInstants
from windrow.errors import DataError, UnsupportedError
from windrow.event_time import START_OF_TIME, show_instant
from windrow.memory_size import show_memory
from windrow.notebook.plan_text import PlanText
from windrow.operators.registry import first_algorithm
from windrow.operators.select.following import can_follow
from windrow.operators.sharing import held_values
from windrow.output.change_limit import check_limit
from windrow.output.ordered_result import in_order
from windrow.output.publish import Publisher
from windrow.output.session_publisher import SessionPublisher
from windrow.plan.explain import explain
from windrow.plan.model import QueryPlan
from windrow.plan.planned_query import PlannedQuery
from windrow.query import Query
from windrow.rows.life import life_of
from windrow.rows.set_aside import QueryLedger
from windrow.rows.shape import shape_of
from windrow.rows.shared_rows import QueryLife, RowPool, StreamRows
from windrow.runtime.pace import Pace, updates_within
from windrow.runtime.shard import Shard
from windrow.windows.instants import NO_INSTANTS, WaitingInstants
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import Window

if TYPE_CHECKING:
    from windrow.embedded.view_run import ViewRun
    from windrow.governor.bounded.answers import BoundedAnswers
    from windrow.governor.bounded.inner_plan import inner_plan
    from windrow.governor.bounded.joined_answers import JoinedAnswers
    from windrow.plan.relations.explain import explain_tree
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
    from windrow.runtime.tables.table_store import TableStore
    from windrow.runtime.trees.tree_shard import TreeShard
    from windrow.runtime.trees.union_shard import UnionShard
else:
    BoundedAnswers = deferred("windrow.governor.bounded.answers", "BoundedAnswers")
    inner_plan = deferred("windrow.governor.bounded.inner_plan", "inner_plan")
    JoinedAnswers = deferred("windrow.governor.bounded.joined_answers", "JoinedAnswers")
    explain_tree = deferred("windrow.plan.relations.explain", "explain_tree")
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")
    TreeShard = deferred("windrow.runtime.trees.tree_shard", "TreeShard")
    UnionShard = deferred("windrow.runtime.trees.union_shard", "UnionShard")

__all__ = ["EmbeddedQuery"]

# What is unread waits in the feed, for followers, or judged.
UNREAD_HOLDERS = 3


class EmbeddedQuery(Failing, BoundedQuery, CarriedQuery, ToldQuery, PlannedQuery, Query):
    """A running query.

    flush: brings rows that were pushed but not yet applied into it. lock: the session's. pool: the
    rows that queries of the session share. first_us: when the first row of its first stream came,
    if one has. stopped: is told when a user stops it. views: the runs of the views that it reads;
    tables: those that it reads itself. begins_full: it is given rows that were kept,
    before any others.
    """

    plan: RunnablePlan
    _may_follow = True  # whether a select may tell its changes alone, and hold no result

    def __init__(
        self,
        name: str,
        plan: RunnablePlan,
        clock: int,
        flush: Callable[[], None],
        lock: RLock,
        pool: RowPool,
        first_us: int | None = None,
        stopped: Callable[[EmbeddedQuery], None] | None = None,
        views: Iterable[ViewRun] = (),
        tables: Iterable[TableStore] = (),
        *,
        begins_full: bool = False,
    ) -> None:
        super().__init__(name, lock)
        self.plan = plan
        self._flush = flush
        self._stopped = stopped
        self._life = life_of(plan, first_us)
        self.reading = QueryLife(self._life or NEVER)
        self._readers = ()
        self._bounded = None
        self.views = tuple(views)
        self.tables = tuple(tables)
        self._view_instants = self._instants_of_views(plan, clock)
        if isinstance(plan, TreePlan):
            self._shard = self._new_tree(plan, clock)
            self._preparers = preparers_of(plan)
            published = plan.published
            of_sessions = plan.closing is not None
            self._publisher = SessionPublisher(published) if of_sessions else Publisher(published)
            if not begins_full:
                self._absorb(self._shard.advance({}, clock), NO_INSTANTS, clock)
        else:
            is_bounded, is_joined = plan.error_percent is not None, len(plan.inputs) > 1
            inner = inner_plan(plan) if is_bounded and not is_joined else None
            run = plan if inner is None else inner.plan
            # Rows that others have had already are not in what they share: it has its own.
            is_followed = self._may_follow and can_follow(run, shape_of(run))
            if not begins_full and not is_followed:
                held, is_heavy = held_values(run, first_algorithm(run))
                self._readers = pool.readers(run, held, clock, self.reading, is_heavy=is_heavy)
            shard = self._new_shard(run, START_OF_TIME if begins_full else clock, is_followed)
            publisher = Publisher(run, shard.live_columns if is_followed else None)
            self._shard, self._publisher = shard, publisher
            if inner is not None:
                self._bounded = BoundedAnswers(inner, publisher)
            elif is_bounded:
                self._bounded = JoinedAnswers(plan, publisher)
            self._preparers = preparers_of(run)
        self._told_lost = 0  # instants whose dropped answers a reader was warned about
        self._told_netted = 0  # changes of which a reader knows that they were netted
        self._pace = Pace()
        self._ledger = QueryLedger([entry.alias for entry in plan.inputs])
        self._entries = [WaitingInstants() for _ in plan.inputs]
        self._missed = None
        self._first_clock: int | None = None if clock == START_OF_TIME else clock
        self._taken = 0
        self._mark = None
        self.begun_us = clock  # it has seen all rows later than this
        self._kept_rows = 0

    def _instants_of_views(self, plan: RunnablePlan, clock: int) -> list[ViewInstants]:
        """Those of views, then those of tables."""
        answering: set[str] = set()
        if isinstance(plan, TreePlan):
            answering = {scan.view for scan in plan.view_scans if scan in plan.entered}
            answering |= {scan.table for scan in plan.table_scans if scan in plan.entered}
        read: tuple[ViewRun | TableStore, ...] = (*self.views, *self.tables)
        return [ViewInstants(each.log, clock, is_answering=each.name in answering) for each in read]

    def _new_tree(self, plan: TreePlan, clock: int) -> TreeShard:
        tables = {table.name: table for table in self.tables}
        kind = TreeShard if plan.combined is None else UnionShard
        return kind(plan, clock, {view.name: view for view in self.views}, tables)

    def _new_shard(self, run: QueryPlan, clock: int, is_followed: bool) -> Shard:
        try:
            shard = Shard(run, readers=self._readers, is_followed=is_followed)
            shard.advance({}, clock)
        except BaseException:
            self.reading.is_running = False  # nobody wants what its readers would be given
            raise
        return shard

    def begin_full(self, rows: Mapping[str, StreamRows], clock: int) -> None:
        """Take rows that came before it was registered; answers before the clock are nobody's."""
        for number, each in enumerate(rows.items(), 1):
            self.apply(QueryStep(-number, START_OF_TIME, *each))
        self.apply(QueryStep(-1 - len(rows), clock))
        self._kept_rows = sum(each.times.size for each in rows.values())
        if self._failure is None:
            with self._part():
                self._drop_answers()

    def _drop_answers(self) -> None:
        if self._bounded is not None:
            self._bounded.answers()
        self._publisher.drop_answers()

    @property
    def is_running(self) -> bool:
        """Whether it takes rows; what it has answered can be read in any case."""
        return self.reading.is_running

    def _answers(self) -> pa.Table:
        """Every answer since the last call; the lock is held by whoever reads."""
        self._be_ready()
        if self._bounded is None and not self._has_missed:
            if self._publisher.instants_lost != self._told_lost:
                self._tell_of_lost()
            return self._publisher.answers()
        self._tell_of_lost()
        # Its answers pass through several steps: interrupted in between, they would be lost.
        with self._part():
            return self._marked_answers()

    @one_at_a_time
    def _result(self) -> pa.Table:
        self._be_ready()
        result = (self._bounded or self._publisher).result()
        if isinstance(self.plan, TreePlan) and self.plan.order:
            if self.plan.hidden and isinstance(self._shard, TreeShard):
                result = self._shard.rows()
            result = in_order(result, self.plan)
        return self._noted(result, is_complete=not self.lacks_rows())

    @property
    @one_at_a_time
    def is_complete(self) -> bool:
        """Whether no row is lacking now; False while one that was refused would count."""
        self._flush()
        return not self.lacks_rows()

    @one_at_a_time
    def _changes(self, limit: int | None) -> pa.Table:
        check_limit(limit)
        self._be_ready()
        self._tell_of_netted()
        return (self._bounded or self._publisher).changes(limit)

    def _be_ready(self) -> None:
        """All rows are in, and nothing is half done; a query that failed says so."""
        self._flush()
        if self._failure is not None:
            self._raise_failure()
        if self._mark is not None:
            self.repair()

    @one_at_a_time
    def explain(self) -> str:
        """The plan, the algorithm and what it costs, and how the windows stand now.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> text = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]").explain()
        >>> print(text.splitlines()[0])
        aggregate over one window
        """
        self._be_ready()
        shard = self._shard
        if isinstance(shard, TreeShard):
            text = explain_tree(shard.plan, dict(shard.sizes()), shard.algorithms())
        else:
            assert isinstance(shard, Shard)
            assert isinstance(self.plan, QueryPlan)
            text = explain(self.plan, shard.figures(), shard.algorithm)
        lines = [text, f"clock: {show_instant(shard.clock)}"]
        if self._kept_rows:
            lines.append(f"begun with {self._kept_rows} rows that were kept")
        for input_index, rows, size in shard.window_statistics():
            alias = self.plan.inputs[input_index].alias
            lines.append(f"window {alias}: {rows} rows, {size} bytes")
            lines += self.shown_tail(input_index)
        return PlanText("\n".join(lines))

    @one_at_a_time
    def ledger(self) -> pa.Table:
        """Of each input the rows taken and those that ON ERROR SET ASIDE left out.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = session.query("SELECT 6 DIV x AS y FROM s [1 MINUTE] ON ERROR SET ASIDE")
        >>> session.push("s", [{"ts": "2026-01-01", "x": 0}, {"ts": "2026-01-02", "x": 2}])
        >>> query.ledger().to_pylist()
        [{'input': 's', 'rows_in': 2, 'applied': 1, 'set_aside': 1}]
        """
        self._flush()
        return self._ledger.table()

    @one_at_a_time
    def rows_set_aside(self) -> pa.Table:
        """The newest rows that ON ERROR SET ASIDE left out: of what, and the values there.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = session.query("SELECT 6 DIV x AS y FROM s [1 MINUTE] ON ERROR SET ASIDE")
        >>> session.push("s", [{"ts": "2026-01-01", "x": 0}])
        >>> query.rows_set_aside().to_pylist()
        [{'input': 's', 'expression': '6 DIV x', 'values': 'x = 0'}]
        """
        self._flush()
        return self._ledger.aside_table()

    @one_at_a_time
    def _facts(self) -> dict[str, str]:
        held = sum(rows for _, rows, _ in self.window_statistics())
        return {
            "clock": show_instant(self.clock),
            "rows in windows": f"{held:,}",
            "memory": show_memory(self.nbytes),
            "algorithm": self.algorithm,
        }

    @one_at_a_time
    def stop(self) -> None:
        """End the query; what it has answered can still be read.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]")
        >>> query.stop()
        >>> query.is_running, query.result().to_pylist()
        (False, [{'x': None}])
        """
        if self.is_running:
            self._flush()
            if self.has_run:
                self.events.drop()  # it would read what comes from now on
            self._end()
        self.tell_end()
        self._tell_listeners()

    def tell_end(self) -> None:
        """The session learns that it has ended; a second call does no harm."""
        if self._stopped is not None:
            self._stopped(self)
            self._stopped = None

    def give_up(self, problem: DataError) -> None:
        """End the query: from now on every read raises this error."""
        self._failure = problem
        self._end()

    def _tell_of_lost(self) -> None:
        """A reader who comes too late would take what is left for all there was."""
        rows = 0 if self._bounded is None else self._bounded.rows_lost
        lost = self._publisher.instants_lost + rows - self._told_lost
        if lost:
            self._told_lost += lost
            what = "instants" if self._bounded is None else "instants, or of groups at these,"
            warnings.warn(
                f"query {self.name!r}: answers at {lost:,} {what} were dropped: more were due "
                "than are buffered unread; push in smaller batches, and call answers() in "
                "between",
                RuntimeWarning,
                stacklevel=2,
            )

    def _tell_of_netted(self) -> None:
        """A late reader of changes is warned what happened to them."""
        netted = self._publisher.changes_netted - self._told_netted
        if not netted:
            return
        self._told_netted += netted
        what = "were netted: one change per row is left, and they still add up to result()"
        if self._publisher.starts_over:
            what = (
                "were dropped: these are all rows of the result, with change +1; discard the "
                "rows that were read before"
            )
        warnings.warn(
            f"query {self.name!r}: {netted:,} changes {what}; call changes() more often",
            RuntimeWarning,
            stacklevel=2,
        )

    def _end(self) -> None:
        self.reading.is_running = False
        self._shard.close()

    def start(self, *_: object, **__: object) -> EmbeddedQuery:
        """Only queries on Spark have sinks."""
        raise UnsupportedError(
            "WU301",
            "a query in this process runs as soon as it is registered and has no sink",
            hint="read answers(), changes() or result(); "
            "or connect to Spark: windrow.connect(spark)",
        )

    @property
    def algorithm(self) -> str:
        """The algorithm that keeps the answer now."""
        return self._shard.algorithm

    @property
    def clock(self) -> int:
        """The instant through which the query has answered."""
        return self._shard.clock

    @property
    @one_at_a_time
    def nbytes(self) -> int:
        """Bytes of windows, keys, sums and the result, of arrivals, and of what nobody has read."""
        return self.state_bytes + self.published_bytes

    @property
    def state_bytes(self) -> int:
        """Bytes of its windows, keys and sums, and of what is known about arrivals."""
        beside = 0 if self.run_beside is None else self.run_beside.nbytes
        watched = 0 if self._bounded is None else self._bounded.state_bytes
        return self._shard.nbytes + watched + beside

    @property
    def published_bytes(self) -> int:
        """Bytes of its result, of what nobody has read, and of instants to come."""
        held = self._publisher.nbytes + self._followed.nbytes
        held += sum(waiting.nbytes for waiting in self._entries)
        return held + (0 if self._bounded is None else self._bounded.unread_bytes)

    def published_growth(self, rows: int) -> int:
        """Peak bytes that the result may need for this many rows."""
        return self._publisher.growth_bytes(rows)

    @property
    def unread_bytes(self) -> int:
        """About this many of them are unread."""
        bounded = 0 if self._bounded is None else self._bounded.unread_bytes
        return self._publisher.unread_bytes + bounded + self._followed.nbytes

    @property
    def held_shard(self) -> Shard | TreeShard:
        """What holds the rows of its windows."""
        assert isinstance(self._shard, (Shard, TreeShard))
        return self._shard

    def read_until(self) -> Iterator[tuple[ViewRun, int]]:
        """The views that it reads, each with the instant up to which it has read it for good."""
        leaves = self._shard.view_leaves if isinstance(self._shard, TreeShard) else {}
        for view, instants in zip(self.views, self._view_instants, strict=False):
            cursors = [leaf.cursor for scan, leaf in leaves.items() if scan.view == view.name]
            yield view, min([instants.until, *cursors]) if self.is_whole else START_OF_TIME

    def tables_read(self) -> Iterator[tuple[TableStore, int]]:
        """The tables that it reads, each with the instant up to which it needs nothing any more."""
        leaves = self._shard.table_leaves if isinstance(self._shard, TreeShard) else {}
        instants = self._view_instants[len(self.views) :]
        for table, own in zip(self.tables, instants, strict=True):
            read = [leaf.needed_after for scan, leaf in leaves.items() if scan.table == table.name]
            yield table, min([own.until, *read]) if self.is_whole else START_OF_TIME

    def limit_unread(self, limit_bytes: int) -> None:
        """Keep at most this many bytes for answers() and changes(), and for each follower."""
        self._publisher.unread_limit = self._followed.limit_bytes = limit_bytes
        if self._bounded is not None:
            self._bounded.unread_limit = limit_bytes

    def limit_steps(self, budget: int) -> None:
        """Make steps of a tree so small that what they form has room in the budget."""
        if isinstance(self.plan, TreePlan):
            self._pace = Pace(updates_within(budget))

    def shrink_unread(self, limit_bytes: int) -> None:
        """Drop unread output beyond this many bytes."""
        self.repair()
        with self._part():
            self._publisher.shrink(limit_bytes // UNREAD_HOLDERS)
            self._followed.shrink(limit_bytes // UNREAD_HOLDERS)
            if self._bounded is not None:
                self._bounded.shrink(limit_bytes // UNREAD_HOLDERS)

    @property
    def watched_us(self) -> int:
        """For how long it has seen the rows of its streams."""
        return 0 if self._first_clock is None else self.clock - self._first_clock

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
        return self._shard.growth_bytes(rows)

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of its inputs."""
        return self._shard.windows

    def lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay now."""
        return self._shard.lifetime(input_index)

    @one_at_a_time
    def window_statistics(self) -> list[tuple[int, int, int]]:
        """Per input: position, rows held, bytes."""
        return self._shard.window_statistics()
