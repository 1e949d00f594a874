"""The publisher: partial results of shards become the answers, changes and result of a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.deferred import deferred
from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.operators.lanes import LaneLayout, Vector
from windrow.operators.partial import Partial
from windrow.output.answer_times import AnswerTimes
from windrow.output.change_limit import cut_between_instants, first_instants
from windrow.output.combine import CodedUpdates, Combiner, with_gone
from windrow.output.due_instants import distinct_instants
from windrow.output.empty_states import no_updates, state_of_nothing
from windrow.output.feed import Feed, StateFeed
from windrow.output.group_feed import GroupFeed
from windrow.output.initial_rows import InitialRows
from windrow.output.kernels import is_increasing
from windrow.output.known_groups import KnownGroups
from windrow.output.result_rows import FoundRows, ResultRows, coded_columns, rows_of_groups
from windrow.output.row_log import RowLog
from windrow.output.state_log import StateLog, states_of
from windrow.output.unread_limit import UNREAD_BYTES
from windrow.output.whole_feed import WholeFeed, ones
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.rows.faults import FaultError
from windrow.rows.frames import pack, unpack
from windrow.rows.set_aside import note_words
from windrow.rows.shape import shape_of
from windrow.windows.marks import Mark

if TYPE_CHECKING:
    from windrow.output.selects.change_feed import ChangedRows, ChangeFeed
    from windrow.output.selects.select_feed import SelectFeed
else:
    ChangedRows = deferred("windrow.output.selects.change_feed", "ChangedRows")
    ChangeFeed = deferred("windrow.output.selects.change_feed", "ChangeFeed")
    SelectFeed = deferred("windrow.output.selects.select_feed", "SelectFeed")

__all__ = ["Publisher", "PublisherMark"]


class PublisherMark(NamedTuple):
    """How a publisher was before a step; closed: of sessions, that of those which closed."""

    own: Mark
    closed: PublisherMark | None = None


class Publisher:
    """Takes what all shards of a query give for each step of the clock.

    live: of a select that is followed by its changes, the columns of its result now and its rows.
    unread_limit: bytes for answers and changes that nobody has read.
    """

    unread_limit = UNREAD_BYTES

    def __init__(
        self, plan: QueryPlan, live: Callable[[], tuple[list[pa.Array], int]] | None = None
    ) -> None:
        self._plan = plan
        self._shape = shape_of(plan)
        self._groups = KnownGroups([part.type.arrow for part in self._shape.group_columns])
        self._combiner: Combiner | None = None
        self._alive = np.zeros(0, np.bool_)
        self._clock = START_OF_TIME
        self.first_instant = END_OF_TIME  # of all; this while there was none
        self._is_whole = not plan.group_by and not self._shape.is_select
        schema = pa.schema([(column.name, column.type.arrow) for column in plan.select])
        self._selects = SelectFeed(schema) if self._shape.is_select and live is None else None
        self._changes = None
        if live is not None:
            self._changes = ChangeFeed(schema, lambda: self._select_table(*live()))
        self._rows = ResultRows(plan, self._shape, self._groups)
        self._is_late = not self._is_whole and self._rows.is_plain
        # Every group with rows has a row in the result: nothing else says which are alive.
        self._shows_alive = self._is_late
        log = StateLog(schema, self._rows.of_states) if self._is_late else RowLog(schema)
        states: StateFeed = GroupFeed(log, self._groups.rank)
        self._states = WholeFeed(schema, self._rows.of_states) if self._is_whole else states
        self.due_instants = self._states.due_instants  # where answers are due that nobody asked for
        self._feed: Feed = self._changes or self._selects or self._states
        self._initial = InitialRows()
        self._cut: pa.Table | None = None  # changes that a limit has cut off
        self._times = AnswerTimes()
        # A select that one shard gives alone: rows go by the shard's own codes.
        self._takes_codes = self._shape.is_select

    def absorb(self, partials: Sequence[tuple[int, Partial]], instants: Vector, until: int) -> None:
        """Take the (bucket, partial) of every shard for the step to `until`.

        instants: those at which rows entered in it, in any order; without EVERY an answer is due at
        each.
        """
        if not is_increasing(instants):
            instants = distinct_instants(instants)
        if self._changes is not None:
            self._record_changes(self._changes, partials[0][1], instants)
        elif self._selects is not None:
            self._record_rows(self._selects, self._dated(partials, instants, until), instants)
        else:
            self._record_states(self._updates(partials), instants)
        due = self._ticks(until) if self._plan.every_us or self._plan.closes else instants
        self._feed.ask(due)
        self._clock = max(self._clock, until)
        self._feed.trim(self.unread_limit)
        self._forget_idle()

    def stand_at(self, clock: int, first_instant: int) -> None:
        """It has answered up to a clock: what it takes until then is its result there."""
        self._clock, self.first_instant = clock, first_instant
        if self._is_whole and first_instant < END_OF_TIME:
            self._record(state_of_nothing(self._shape, first_instant))

    @property
    def answers_at_ticks(self) -> bool:
        """Whether answers are due at instants of a grid: of those of rows the first one counts."""
        return self._plan.every_us is not None or self._plan.closes is not None

    def mark(self) -> PublisherMark:
        """How it is now: rewind() goes back to it. Before anything new, in one process."""
        self._feed.begin_step()
        combined = () if self._combiner is None else (self._combiner,)
        if self._combiner is not None:
            self._combiner.begin_step()
        return PublisherMark(Mark(self, self._initial, *combined, *self._feed.parts))

    def rewind(self, mark: PublisherMark) -> None:
        """Roll back to the mark: what a failed step left behind is rebuilt from the feed."""
        self._feed.undo_step()
        if self._combiner is not None:
            self._combiner.undo_step()
        mark.own.rewind()
        if self._changes is not None:
            return  # nothing was written in place, and nothing is known by codes
        if self._combiner is not None:
            self._combiner.derive()
        self._feed.derive()
        if not self._takes_codes:
            self._groups.know(self._feed.groups_in_use())
        vars(self).update(vars(Publisher.restore(self._plan, self.snapshot())))

    def answer_at_turns(self, turns: tuple[int, int] | None) -> None:
        """Answer at the first of these instants and so far apart; None: at the ticks of EVERY."""
        begins = self._times.turns is None and turns is not None
        if (
            begins
            and self.first_instant <= self._clock
            and self._clock % (self._plan.every_us or 1)
        ):
            self._feed.ask(np.array([self._clock], np.int64))
        self._times = self._times.with_turns(turns, self._clock)

    def _record_changes(self, feed: ChangeFeed, partial: Partial, instants: Vector) -> None:
        """Changes of a select, as its shard tells them."""
        changes = partial.rows
        assert changes is not None, "its shard was to follow it"
        self._note_instants(changes.at, instants)
        table = self._select_table(changes.columns, changes.at.size)
        feed.record(ChangedRows.of(changes.at, changes.sign, table))

    def _record_states(self, updates: CodedUpdates, instants: Vector) -> None:
        is_first = self.first_instant == END_OF_TIME
        self._note_instants(updates.at, instants)
        if is_first and self.first_instant < END_OF_TIME and self._is_whole:
            self._begin(updates)
        if updates.at.size:
            self._record(updates)

    def _dated(
        self, partials: Sequence[tuple[int, Partial]], instants: Vector, until: int
    ) -> Sequence[tuple[int, Partial]]:
        """Rows that a select has before any row has come wait for the first instant."""
        initial = self._initial
        partials = [(shard, initial.held_back(shard, partial)) for shard, partial in partials]
        if not initial.waiting:
            return partials
        for _, partial in partials:
            self._note_instants(partial.at, instants)
        every = self._plan.every_us or 1
        first = self.first_instant
        first = END_OF_TIME if first == END_OF_TIME else -(-first // every) * every
        return initial.released(partials, first) if first <= until else partials

    def _record_rows(
        self, feed: SelectFeed, partials: Sequence[tuple[int, Partial]], instants: Vector
    ) -> None:
        """Updates of a select: the copies of rows."""
        partial = partials[0][1]
        if len(partials) > 1 or partial.codes is None or partial.complete_at is not None:
            self._name_by_value(feed)
        if self._takes_codes and partial.codes is not None:
            self._note_instants(partial.at, instants)
            code, copies = partial.codes[partial.group], self._shown(partial.count)
            rows_of = rows_of_groups(partial, self._select_table)
            feed.record(partial.at, code, partial.group, copies, rows_of)
            return
        found = self._updates(partials)
        self._note_instants(found.at, instants)
        feed.record(found.at, found.group, found.group, self._shown(found.count), self._group_rows)

    def _name_by_value(self, feed: SelectFeed) -> None:
        """From now on rows are known by their values, as those of several shards must be."""
        if self._takes_codes:
            self._takes_codes = False
            old, rows = feed.live_rows()
            feed.rename(old, self._groups.codes_of(coded_columns(rows, self._shape), old.size))

    def _note_instants(self, at: Vector, instants: Vector) -> None:
        """Remember the first instant of all."""
        if self.first_instant == END_OF_TIME:
            found = (int(times[0]) for times in (at, instants) if times.size)
            self.first_instant = min(found, default=END_OF_TIME)

    def _shown(self, count: Vector) -> Vector:
        """In how many copies a select shows rows that it has found so often."""
        return np.minimum(count, 1) if self._shape.is_distinct else count

    def answers(self) -> pa.Table:
        """Every answer since the last call: at, level, error_bound, then the select list."""
        return self._feed.answers()

    def changes(self, limit: int | None = None) -> pa.Table:
        """Rows that came (+1) and went (-1) since the last call; they add up to result().

        limit: at most this many rows, in whole instants unless one alone has more.
        """
        if self._feed.starts_over:
            self._cut = None
        if limit is None:
            if self._cut is not None:
                self._cut = pa.concat_tables([self._cut, self._feed.changes()])
                given, self._cut = self._cut, None
                return given
            return self._feed.changes()
        while self._cut is None or not self._cut.num_rows:
            count = first_instants(self._feed.unread_changes(), limit)
            self._cut = self._feed.first_changes(count)
            if not count:
                break
        end = cut_between_instants(self._cut, limit)
        given, self._cut = self._cut.slice(0, end), self._cut.slice(end)
        return given

    def drop_answers(self) -> None:
        """Let go of the answers that are due, for a reader that takes changes only."""
        self._feed.drop_answers()

    def drop_changes(self) -> None:
        """Let go of the changes so far, for a reader that takes answers only."""
        self._cut = None
        self._feed.drop_changes()

    def result(self) -> pa.Table:
        """The answer at the clock."""
        if self._is_whole and self.first_instant == END_OF_TIME:
            found = self._rows.of(state_of_nothing(self._shape, START_OF_TIME))
            return found.table.slice(0, int(found.many[0]))
        waiting = self._initial.waiting.values()
        if waiting:
            tables = (rows_of_groups(each, self._select_table) for each in waiting)
            chosen = (np.repeat(each.group, each.count) for each in waiting)
            return pa.concat_tables(rows(own) for rows, own in zip(tables, chosen, strict=True))
        return self._feed.result()

    def snapshot(self) -> bytes:
        """Everything that the next step needs, and what nobody has read yet."""
        if self._selects is not None:
            self._name_by_value(self._selects)
        codes = self._groups.known()
        named = {f"g{i}": column for i, column in enumerate(self._groups.columns(codes))}
        header = {
            "fingerprint": fingerprint(self._plan),
            "clock": self._clock,
            "first_instant": self.first_instant,
            "instants_lost": self._feed.instants_lost,
            "has_told": self._feed.has_told,
            "starts_over": self._feed.starts_over,
            "changes_netted": self._feed.changes_netted,
            "turns": self._times.turns,
            "last_turn": self._times.last_turn,
            "combiner": None if self._combiner is None else self._combiner.header(),
        }
        alive = np.isin(codes, np.flatnonzero(self._flags_alive()))
        groups = pa.table({"code": codes, "alive": alive, **named})
        tables = {"entities": groups, **self._feed.tables()}
        others = {"cut": self._cut, "initial": self._initial.table()}
        tables |= {name: table for name, table in others.items() if table is not None}
        if self._combiner is not None:
            tables["combiner"] = self._combiner.table(codes)
        return pack("publisher", header, tables)

    @classmethod
    def restore(cls, plan: QueryPlan, data: bytes) -> Publisher:
        """The publisher that snapshot() saved."""
        header, tables = unpack("publisher", data)
        if header["fingerprint"] != fingerprint(plan):
            raise CheckpointError(
                "WC106",
                "the saved results belong to another query",
                hint="start the changed query with a new checkpoint",
            )
        publisher = cls(plan)
        publisher._takes_codes = False
        publisher._clock = header["clock"]
        publisher.first_instant = header["first_instant"]
        publisher._feed.instants_lost = header["instants_lost"]
        turns = None if header["turns"] is None else tuple(header["turns"])
        publisher._times = AnswerTimes(turns, header.get("last_turn"))
        new_code, codes = publisher._recode(tables["entities"])
        publisher._cut = tables.get("cut")
        if "initial" in tables:
            publisher._initial.load(tables["initial"], no_updates(publisher._shape))
        publisher._feed.load(tables, new_code)
        publisher._feed.has_told = header.get("has_told", True)
        publisher._feed.changes_netted = header.get("changes_netted", 0)
        if header.get("starts_over", False):
            publisher._feed.begin_over(publisher._clock)
        publisher._alive = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
        publisher._alive[codes[tables["entities"].column("alive").to_numpy()]] = True
        publisher._shows_alive = False
        if header["combiner"] is not None:
            publisher._combiner = Combiner.load(header["combiner"], tables["combiner"], codes)
        return publisher

    def _recode(self, groups: pa.Table) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """New codes for saved groups: by old code, and in the order saved."""
        old = groups.column("code").to_numpy()
        new_code = np.zeros(int(old.max(initial=0)) + 1, np.int32)
        columns = [column.combine_chunks() for column in groups.columns[2:]]
        new_code[old] = codes = self._groups.codes_of(columns, old.size)
        return new_code, codes

    @property
    def instants_lost(self) -> int:
        """Answers that were due but dropped because nobody called answers() for too long."""
        return self._feed.instants_lost

    @property
    def changes_netted(self) -> int:
        """Changes that were netted because nobody called changes() for long."""
        return self._feed.changes_netted

    @property
    def starts_over(self) -> bool:
        """Whether the next changes are all rows of the result, and those read before are void."""
        return self._feed.starts_over and self._feed.has_told

    @property
    def nbytes(self) -> int:
        """Bytes of the result, of what nobody has read, and of what groups are known by."""
        combined = 0 if self._combiner is None else self._combiner.nbytes
        cut = 0 if self._cut is None else self._cut.nbytes
        return self._feed.nbytes + self._groups.nbytes + self._alive.nbytes + combined + cut

    @property
    def unread_bytes(self) -> int:
        """About this many of them are unread."""
        return self._feed.unread_bytes + (0 if self._cut is None else self._cut.nbytes)

    def shrink(self, limit_bytes: int) -> None:
        """Drop unread output beyond this many bytes."""
        self._feed.shrink(limit_bytes)
        self._groups.forget_others(self._groups_in_use()[0])

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes that this many rows may need if each is a new group."""
        return self._groups.growth_bytes(rows) + self._feed.growth_bytes(self._groups.size + rows)

    def _updates(self, partials: Sequence[tuple[int, Partial]]) -> CodedUpdates:
        parts = [(bucket, self._of_groups(bucket, partial)) for bucket, partial in partials]
        if len(parts) == 1 and self._combiner is None:
            self._note_alive(parts[0][1])
            return parts[0][1]
        if self._combiner is None:
            self._combiner = Combiner(
                LaneLayout.smallest(self._shape.kinds),
                len(self._shape.distincts),
                len(self._shape.extremes),
            )
        return self._combiner.combine(parts)

    def _note_alive(self, updates: CodedUpdates) -> None:
        """Of one shard alone: which groups have rows. Only shards on a grid are asked for it."""
        if self._plan.every_us is None or not updates.at.size:
            return
        if self._shows_alive:
            if not self._rows.may_lack(updates.layout):
                return
            self._alive, self._shows_alive = self._feed.groups_shown(), False
        highest = int(updates.group.max()) + 1
        if highest > self._alive.size:
            self._alive = np.pad(self._alive, (0, 2 * highest - self._alive.size))
        self._alive[updates.group] = updates.count != 0

    def _flags_alive(self) -> NDArray[np.bool_]:
        """The same, of all groups."""
        is_asked = self._plan.every_us is not None and self._combiner is None
        return self._feed.groups_shown() if is_asked and self._shows_alive else self._alive

    def _of_groups(self, bucket: int, partial: Partial) -> CodedUpdates:
        group = partial.group
        if partial.group_count and self._shape.group_columns:
            codes = self._groups.codes_of(partial.groups.columns, partial.group_count)
            group = codes[group]
        states = (partial.count, partial.lanes, partial.layout, partial.extras)
        updates = CodedUpdates(partial.at, group, *states)
        if partial.complete_at is None:
            return updates
        alive = np.flatnonzero(self._flags_alive()).astype(np.int32)
        if self._combiner is not None:
            alive = self._combiner.alive_in(bucket)
        return with_gone(updates, alive, partial.complete_at)

    def _begin(self, updates: CodedUpdates) -> None:
        """An ungrouped aggregate shows its empty state from the first instant on."""
        earliest = self.first_instant
        if not updates.at.size or updates.at[0] != earliest:
            self._record(state_of_nothing(self._shape, earliest))

    def _record(self, updates: CodedUpdates) -> None:
        """Take updates into the feed, and note those that have no value."""
        if self._rows.can_be_late(updates.layout):
            many = ones(updates.at.size) if self._is_whole else updates.count
            self._states.record(updates.at, updates.group, many, states_of(updates))
            return
        found = self._rows.of(updates)
        rows = states_of(updates) if self._is_late else found.table
        self._states.record(updates.at, updates.group, found.many, rows)
        if found.faults is not None and found.faults.any():
            self._lack(found, found.faults)

    def _lack(self, found: FoundRows, faults: NDArray[np.bool_]) -> None:
        """Groups without a value end the query, unless these are set aside: they have no row."""
        code, message, hint = found.words_of(int(np.flatnonzero(faults)[0]))
        if self._plan.on_error != "set_aside":
            raise FaultError(code, message, hint=hint)
        note_words(message, int(faults.sum()))

    def _group_rows(self, group: NDArray[np.int32]) -> pa.Table:
        """The rows of a select that groups stand for."""
        return self._select_table(self._groups.columns(group), group.size)

    def _select_table(self, values: list[pa.Array], size: int) -> pa.Table:
        """Rows of a select from the values of what is no constant in it."""
        found = iter(values)
        columns = [
            self._rows.constant(number, size)
            if place.kind == "constant"
            else self._rows.typed(next(found), number)
            for number, place in enumerate(self._shape.group_places)
        ]
        return pa.Table.from_arrays(columns, names=[column.name for column in self._plan.select])

    def _ticks(self, until: int) -> Vector:
        if self.first_instant == END_OF_TIME:
            return np.empty(0, np.int64)
        after = max(self._clock + 1, self.first_instant)
        grid = self._plan.closes or (self._plan.every_us or 1, 0)
        self._times, ticks, lost = self._times.ticks(after, until, grid)
        self._feed.instants_lost += lost
        return ticks

    def _forget_idle(self) -> None:
        """Forget groups that nothing refers to, when they may be many.

        Where most are only known because of what nobody has read, some of that goes first.
        """
        if not self._groups.are_many:
            return
        used, live = self._groups_in_use()
        # What is unread may be small itself, and hold on to groups that are large.
        while self._unread_group_bytes(used & ~live) > self.unread_limit // 2:
            if not self._feed.lose_some(self.unread_limit):
                break
            used, live = self._groups_in_use()
        self._groups.forget_others(used)

    def _unread_group_bytes(self, unread: NDArray[np.bool_]) -> int:
        """About this many bytes of groups are only kept for what nobody has read."""
        return self._groups.nbytes * int(np.count_nonzero(unread)) // max(1, self._groups.size)

    def _groups_in_use(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Flags of groups that something refers to, and of those that have rows."""
        live = [self._feed.groups_shown(), self._flags_alive()]
        if self._combiner is not None:
            live.append(self._combiner.alive())
        used = [self._feed.groups_in_use(), *live]
        size = max(flags.size for flags in used)
        padded = [np.pad(flags, (0, size - flags.size)) for flags in used]
        return np.logical_or.reduce(padded), np.logical_or.reduce(padded[1:])
