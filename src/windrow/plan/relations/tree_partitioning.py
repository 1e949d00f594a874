"""How the rows of a tree may be partitioned into buckets that never see each other's rows.

A tree runs in many buckets, whose results add up, if there is a key in the rows of all its inputs
such that every operator only ever needs rows of equal keys together. A key is looked for from the
top down: whoever needs rows of equal values together (a join, a group, DISTINCT, a partition) asks
its inputs for rows of that value, and what is asked of a projection is asked of what it computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from windrow.plan.expressions import Call, ColumnRef, Expr, GroupRef, Literal, inputs_of
from windrow.plan.model import PlanInput, QueryPlan
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    AsOfJoin,
    AtMostOne,
    Distinct,
    Filter,
    Join,
    Project,
    Relation,
    SetOperation,
    TableScan,
    TopRows,
    Unnest,
    ValidRows,
    VersionScan,
    WindowFunctions,
)
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.exchange_algebra import LocalAggregate, LocalTopRows, Received, Sent
from windrow.plan.relations.first_rows import has_first_rows
from windrow.plan.relations.join_condition import split_condition
from windrow.plan.relations.references import ids_of, read_ids, substituted
from windrow.plan.relations.table_partitioning import (
    Place,
    clash,
    copied_inputs,
    copied_relations,
    copied_tables,
    places_of_tables,
    way_of_table,
    whole_tables,
    words_of_tables,
)
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.relations.window_algebra import WindowBounds
from windrow.plan.show import show_list
from windrow.schema import BIGINT

__all__ = [
    "ALONE",
    "TreePartitioning",
    "bucket_words",
    "can_be_partitioned",
    "tree_partitioning",
    "why_in_one_bucket",
]

# So many ways are looked at, of the tree and of each of its parts.
WAYS_LIMIT = 32
STEPS_LIMIT = 2_000

# The key of rows that all go to the first bucket.
ALONE = Literal(0, BIGINT)

# A way to partition: of each input, table, and relation that is received what its rows go by;
# None: a row may go anywhere.
Way = Mapping[Place, Expr | None]


@dataclass(frozen=True)
class TreePartitioning:
    """keys: of each input of the plan the expressions over its stream; none: its rows go anywhere.

    reason: why all rows must be in one bucket; '' where they need not. tables: of each table
    likewise, over its columns by number; none: its rows go by its key. copied: the tables of which
    all buckets have all rows. received: of each relation that a stage is given the expressions over
    its fields; none: its rows go by all they hold. spread: the numbers of those that all buckets
    are sent.
    """

    keys: tuple[tuple[Expr, ...], ...]
    reason: str = ""
    tables: tuple[tuple[Expr, ...], ...] = ()
    copied: frozenset[str] = frozenset()
    received: tuple[tuple[Expr, ...], ...] = ()
    spread: frozenset[int] = frozenset()

    @property
    def is_sharded(self) -> bool:
        """Whether there may be many buckets."""
        return not self.reason


def tree_partitioning(plan: TreePlan) -> TreePartitioning:
    """The finest way to deal rows out that keeps every answer right."""
    adds_up = plan.combined is not None and not plan.combined.group_by
    if adds_up and all(_is_free(entry) for entry in plan.inputs):
        # The states of its parts add up on the driver, wherever they come from.
        return TreePartitioning(((),) * len(plan.inputs))
    search = _Search()
    found = list(islice(search.of_all(plan), WAYS_LIMIT))
    if not found:
        return TreePartitioning((), search.reason)
    is_last = not isinstance(plan.relation, Sent)
    if is_last and plan.received and has_first_rows(plan.relation):
        return TreePartitioning((), "it has rows before any row has come")
    inputs: list[Place] = [
        (block, own) for block in plan.blocks for own in range(len(block.entries))
    ]
    tables, copied = places_of_tables(plan.own_tables), copied_tables(found[0])
    places = [*inputs, *tables, *((each, 0) for each in plan.received)]
    # What must meet is equal by each of the keys, so it is by all of them.
    free = {place for place in places if found[0].get(place) is None}
    alike = [way for way in found if {each for each in places if way.get(each) is None} == free]
    spread = copied_relations(found[0])
    alike = [way for way in alike if copied_tables(way) == copied]
    alike = [way for way in alike if copied_relations(way) == spread]
    ways = list({tuple(way.get(place) for place in places): None for way in alike})
    keys = [tuple(part for part in parts if part is not None) for parts in zip(*ways, strict=True)]
    tables_from, received_from = len(inputs), len(inputs) + len(tables)
    return TreePartitioning(
        tuple(keys[:tables_from]),
        tables=tuple(keys[tables_from:received_from]),
        copied=copied,
        received=tuple(keys[received_from:]),
        spread=spread,
    )


def can_be_partitioned(relation: Relation) -> bool:
    """Whether the relation is the sum of what it is in each of many buckets."""
    return not why_in_one_bucket(relation)


def why_in_one_bucket(relation: Relation) -> str:
    """Why the relation is not the sum of what it is in each of many buckets; '' where it is."""
    search = _Search()
    return search.reason if next(search.ways(relation, None), None) is None else ""


class _Search:
    """Looks for ways; remembers why the first one failed."""

    def __init__(self) -> None:
        self.reason = "no key is common to all of it"
        self._is_told = False
        self._steps = 0

    def of_all(self, plan: TreePlan) -> Iterator[Way]:
        """The ways of the query, and of what it answers when sessions close."""
        if plan.closing is None:
            yield from self.ways(plan.relation, None)
        else:
            yield from self._together([(plan.relation, None), (plan.closing, None)])

    def ways(self, node: Relation, key: Expr | None) -> Iterator[Way]:
        """Ways in which the relation is the sum of what it is in each of the buckets.

        key: over the fields of the relation; rows of equal values of it are in one bucket, which
        the value says. None: they may be anywhere.
        """
        self._steps += 1
        return islice(self._ways(node, key) if self._steps < STEPS_LIMIT else (), WAYS_LIMIT)

    def _ways(self, node: Relation, key: Expr | None) -> Iterator[Way]:
        if isinstance(node, Block):
            return self._of_block(node, key)
        if isinstance(node, Received | Sent | LocalTopRows | LocalAggregate):
            return self._of_stage(node, key)
        if isinstance(node, TableScan | VersionScan):
            return self._of_table(node, key)
        if isinstance(node, Project):
            by_id = {item.field.id: item.expression for item in node.items}
            return self.ways(node.input, None if key is None else substituted(key, by_id))
        if isinstance(node, Filter | ValidRows | Unnest | WindowBounds | AnswerWindow):
            return self._passed(node.input, key, "what is not in its rows")
        if isinstance(node, Join | AsOfJoin):
            return self._of_join(node, key)
        if isinstance(node, SetOperation):
            return self._of_set(node, key)
        needed = _needed(node)
        if needed is None:
            return self._fails("it has constant rows or views")
        (source,), (parts, words) = node.inputs, needed
        return self._grouped(source, parts, key, words)

    def _passed(self, source: Relation, key: Expr | None, words: str) -> Iterator[Way]:
        if key is not None and not read_ids(key) <= ids_of(source):
            return self._fails(f"rows are needed by {words}")
        return self.ways(source, key)

    def _grouped(
        self, source: Relation, parts: Mapping[Expr, Expr], key: Expr | None, words: str
    ) -> Iterator[Way]:
        """Rows that are equal in all parts are needed together; parts: by how it calls them."""
        if not parts:
            yield from self._fails(words)
        for named, part in parts.items():
            asked = part if key is None else _within(key, named, part)
            if asked is not None:
                yield from self.ways(source, asked)

    def _of_join(self, node: Join | AsOfJoin, key: Expr | None) -> Iterator[Way]:
        """Rows that match have equal keys; which of them say where joined rows are."""
        if isinstance(node, Join):
            pairs = [(each.left, each.right) for each in split_condition(node).keys]
        else:
            pairs = list(node.keys)
        pairs = [(left, right) for left, right in pairs if left.type == right.type]
        if not pairs:
            yield from self._fails("a join has no equality, so any rows may match")
        for left, right in pairs:
            sides = [left] if node.kind != "full" else []
            sides += [right] if node.kind == "inner" else []
            for named in sides if key is not None else [left]:
                own = left if key is None else _within(key, named, left)
                other = right if key is None else _within(key, named, right)
                if own is not None and other is not None:
                    yield from self._together([(node.left, own), (node.right, other)])
        yield from self._of_copies(node, key, pairs)

    def _of_copies(
        self, node: Join | AsOfJoin, key: Expr | None, pairs: Sequence[tuple[Expr, Expr]]
    ) -> Iterator[Way]:
        """Rows of one input stay where they are, and meet copies of tables there."""
        for kept, copies in copied_inputs(node):
            asked: Sequence[Expr | None] = [key]
            if key is not None and not read_ids(key) <= ids_of(kept):
                # What the copy calls the key, the other input may call, too.
                named = (pair if kept is node.left else pair[::-1] for pair in pairs)
                found = (_within(key, other, own) for own, other in named)
                equal = [each for each in found if each is not None]
                asked = equal[:1] if node.kind == "inner" else []
            for each in asked:
                for way in self.ways(kept, each):
                    both = _merged(way, copies)
                    if both is not None:
                        yield both

    def _of_table(self, scan: TableScan | VersionScan, key: Expr | None) -> Iterator[Way]:
        way = way_of_table(scan, key)
        if way is None:
            return self._fails(f"rows of {scan.alias} are needed by what is not in its key")
        return iter([way])

    def _of_set(self, node: SetOperation, key: Expr | None) -> Iterator[Way]:
        types = [field.type for field in node.given]
        if any([field.type for field in part.fields] != types for part in node.parts):
            yield from self._fails("parts of a UNION have columns of different types")
            return
        keys: list[Expr | None] = [key]
        if node.kind != "union":
            fields = [field.ref for field in node.given]
            asked_for = [field if key is None else _within(key, field, field) for field in fields]
            keys = [each for each in asked_for if each is not None]
        for each in keys:
            asked: list[tuple[Relation, Expr | None]] = []
            for part in node.parts:
                pairs = zip(node.given, part.fields, strict=True)
                by_id = {given.id: own.ref for given, own in pairs}
                asked.append((part, None if each is None else substituted(each, by_id)))
            yield from self._together(asked)

    def _together(self, asked: Sequence[tuple[Relation, Expr | None]]) -> Iterator[Way]:
        """Ways that are right for all of these."""
        (node, key), *others = asked
        for way in self.ways(node, key):
            if not others:
                yield way
                continue
            for rest in self._together(others):
                both = _merged(way, rest)
                if both is not None:
                    yield both
                else:
                    self._tell("a window is needed by one key here and by another one there")

    def _of_stage(
        self, node: Received | Sent | LocalTopRows | LocalAggregate, key: Expr | None
    ) -> Iterator[Way]:
        """What a stage is given goes by any key; what each bucket has adds up above."""
        if isinstance(node, Received):
            return iter([{(node, 0): key}])
        if isinstance(node, Sent):
            return self._of_sent(node)
        assert key is None
        return self.ways(node.input, None)

    def _of_sent(self, node: Sent) -> Iterator[Way]:
        """Parts of which each is in one bucket, or in all by a key of its own."""
        shared = [
            (part, None) for part, alone in zip(node.parts, node.alone, strict=True) if not alone
        ]
        one = [part for part, alone in zip(node.parts, node.alone, strict=True) if alone]
        blocks = [part for part in one if isinstance(part, Block)]
        kept: Way = {(part, own): ALONE for part in blocks for own in range(len(part.entries))}
        # Of a table the first bucket has all rows only where all buckets do.
        kept = {**kept, **whole_tables(one)}
        for way in self._together(shared) if shared else [{}]:
            both = _merged(way, kept)
            if both is not None:
                yield both

    # ---- blocks

    def _of_block(self, block: Block, key: Expr | None) -> Iterator[Way]:
        """Every plan of the block is partitioned by the same column of its answer."""
        columns: list[Expr | None] = [key]
        is_free = block.is_scan and _is_free(block.plan.inputs[0])
        if key is None and not is_free:
            columns = [field.ref for field in block.given]
        if key is not None and not read_ids(key) <= {field.id for field in block.given}:
            columns = []
        found = False
        for column in columns:
            way = self._by_column(block, column)
            if way is not None:
                found = True
                yield way
        if not found:
            yield from self._fails(_block_words(block))

    def _by_column(self, block: Block, column: Expr | None) -> Way | None:
        way: dict[Place, Expr | None] = {}
        for plan in block.plans:
            keys: Sequence[Expr | None] | None = [None] * len(plan.inputs)
            if column is not None:
                keys = _keys_of(plan, column)
            if keys is None:
                return None
            for own in keys:
                way[block, len(way)] = own
        return way

    def _fails(self, reason: str) -> Iterator[Way]:
        self._tell(reason)
        return iter(())

    def _tell(self, reason: str) -> None:
        if not self._is_told:
            self.reason, self._is_told = reason, True


def _needed(node: Relation) -> tuple[dict[Expr, Expr], str] | None:
    """What rows are needed together by, as the node and as its input calls it; and why not."""
    if isinstance(node, Aggregate):
        groups: dict[Expr, Expr] = {item.field.ref: item.expression for item in node.groups}
        return groups, "one row is computed from all others"
    if isinstance(node, Distinct):
        return {field.ref: field.ref for field in node.input.fields}, ""
    if isinstance(node, AtMostOne):
        return {each: each for each in node.by}, "a sub-query has at most one row"
    if isinstance(node, TopRows):
        count = "" if node.limit is None else f" {node.limit}"
        words = f"the first{count} rows are those of all"
        return {each: each for each in node.partition}, words
    if isinstance(node, WindowFunctions):
        words = "a function OVER reads all rows: it has no PARTITION BY"
        return {each: each for each in node.partition}, words
    return None


def _merged(one: Way, other: Way) -> Way | None:
    """Both, where they agree: a row that may go anywhere may go there."""
    found = dict(one)
    for place, key in other.items():
        if clash(found, place):
            return None
        if key is None or found.get(place, key) is None:
            found.setdefault(place, key)
            if found[place] is None:
                found[place] = key
        elif _plain(found.setdefault(place, key) or key) != _plain(key):
            return None
    return found


def _is_free(entry: PlanInput) -> bool:
    """Whether no row of a window depends on others."""
    return entry.window.traits.leaves_by_time


def _holds(entry: PlanInput, key: Expr) -> bool:
    """Whether the window is the sum of what it holds of the rows of each key."""
    parts = entry.window.partition_by
    return _is_free(entry) or not {_plain(key), _uncast(key)}.isdisjoint(map(_plain, parts))


def _keys_of(plan: QueryPlan, column: Expr) -> list[Expr | None] | None:
    """Of each input what equals a column of the answer; None where rows do not meet by it."""
    values = {each.name: each.expression for each in plan.select}
    value = substituted(column, values)
    if plan.kind == "aggregate":
        group = _uncast(value)
        if not isinstance(group, GroupRef):
            return None
        within = _within(value, group, plan.group_by[group.index])
        assert within is not None
        value = within
    elif plan.distinct and not isinstance(_uncast(column), ColumnRef):
        return None
    if len(plan.inputs) == 1:
        is_right = inputs_of(value) == {0} and _holds(plan.inputs[0], value)
        return [value] if is_right else None
    return _joined_keys(plan, value)


def _joined_keys(plan: QueryPlan, value: Expr) -> list[Expr | None] | None:
    """The same of a join: the value must be a key that all inputs have."""
    shared = set(plan.inputs[0].variables)
    for entry in plan.inputs[1:]:
        shared &= set(entry.variables)
    for variable in sorted(shared):
        own = [entry.keys[entry.variables.index(variable)] for entry in plan.inputs]
        for named in own:
            asked = [_within(value, named, each) for each in own]
            pairs = zip(plan.inputs, asked, strict=True)
            if all(key is not None and _holds(entry, key) for entry, key in pairs):
                return asked
    return None


def _within(key: Expr, named: Expr, part: Expr) -> Expr | None:
    """What is asked of an input for a key that is `named`, there `part`, or a cast of it."""
    if _plain(key) == _plain(named):
        return part
    return _recast(key, part) if _uncast(key) == named else None


def _plain(expression: Expr) -> Expr:
    """Without casts between integers: equal ones go to the same bucket in any of their types."""
    while isinstance(expression, Call) and expression.function == "cast":
        if not (expression.type.is_integer and expression.arguments[0].type.is_integer):
            break
        expression = expression.arguments[0]
    return expression


def _uncast(expression: Expr) -> Expr:
    """What the expression is computed from by casts, where equal there means equal behind them."""
    while isinstance(expression, Call) and expression.function == "cast":
        kind = expression.arguments[0].type
        if kind.is_nested or kind.name in ("DOUBLE", "FLOAT"):
            break  # 0.0 and -0.0 are equal, and have different texts
        expression = expression.arguments[0]
    return expression


def _recast(key: Expr, inner: Expr) -> Expr:
    """The casts of a key around another expression."""
    if isinstance(key, Call) and _uncast(key) != key:
        return Call("cast", (_recast(key.arguments[0], inner),), key.type)
    return inner


def _block_words(block: Block) -> str:
    plan = block.plan
    for entry in plan.inputs:
        if entry.window.traits.counts_whole_stream:
            return f"{entry.alias} [ROWS ...] counts the rows of its whole stream"
    if plan.kind == "aggregate" and not plan.group_by:
        return "one row is computed from all others"
    return (
        "no key of the join is common to all of it"
        if len(plan.inputs) > 1
        else ("rows are not grouped by what others need them by")
    )


def bucket_words(plan: TreePlan, buckets: int | None = None) -> str:
    """For people: in how many buckets the tree runs, and by what, or why not; None: not known."""
    found = plan.partitioning
    if found.reason:
        return f"in one bucket, because {found.reason}"
    many = "many" if buckets is None else str(buckets)
    if plan.received:
        return f"in {many} buckets"
    shown = []
    for (own, number), entry, keys in zip(plan.places, plan.inputs, found.keys, strict=True):
        named = [entry if at == number else each for at, each in enumerate(own.inputs)]
        words = show_list(keys, replace(own, inputs=tuple(named))) or f"any row of {entry.alias}"
        shown.append(f"{entry.alias} in the first" if ALONE in keys else words)
    shown += words_of_tables(plan.table_scans, found.copied, plan.own_tables, found.tables)
    return f"in {many} buckets by {', '.join(dict.fromkeys(shown))}"
