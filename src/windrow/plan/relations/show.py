"""A relation as a drawing: a line for each node in plain words, its inputs below it, indented."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS
from windrow.event_time import show_span
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    AnswerWindow,
    Apply,
    AsOfJoin,
    AtMostOne,
    Distinct,
    Field,
    Filter,
    Frame,
    Item,
    Join,
    OrderKey,
    Project,
    Relation,
    Scan,
    SetOperation,
    TableScan,
    TopRows,
    Unnest,
    ValidRows,
    Values,
    VersionScan,
    ViewScan,
    WindowCall,
    WindowFunctions,
)
from windrow.plan.relations.blocks import Block, SessionBlock
from windrow.plan.relations.exchange_algebra import LocalAggregate, LocalTopRows, Received
from windrow.plan.relations.share_parts import count_readers
from windrow.plan.relations.show_block import (
    block_label,
    block_lines,
    block_words,
    window_lines,
)
from windrow.plan.relations.window_algebra import SessionScan, WindowBound, WindowBounds
from windrow.plan.show import show, show_inside, show_with

__all__ = ["show_relation"]

_INDENT = "  "
_JOINS = {
    "inner": "join",
    "left": "left join",
    "full": "full join",
    "semi": "semi join",
    "anti": "anti join",
}
_APPLIES = {
    "scalar": "for each row, the value of a sub-query",
    "inner": "for each row, the rows of a sub-query",
    "left": "for each row, the rows of a sub-query, or NULLs",
    "semi": "rows for which a sub-query has a row",
    "anti": "rows for which a sub-query has no row",
}


def show_relation(relation: Relation, note: Callable[[Relation], str] | None = None) -> str:
    """The tree, the result first. Columns that share a name are numbered.

    note: what stands below the line of a node, if anything does; with it the drawing is of what
    runs, and a node that several read is drawn once.
    """
    return "\n".join(_Drawing(relation, note).lines(relation, 0))


class _Drawing:
    """Draws nodes; every field has one label in the whole drawing."""

    def __init__(self, root: Relation, note: Callable[[Relation], str] | None = None) -> None:
        self._note = note
        self._labels: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._label_all(root)
        self._readers = count_readers(root)
        self._drawn: set[Relation] = set()

    def lines(self, node: Relation, depth: int) -> Iterable[str]:
        """The line of the node, then those of its inputs; what is shared is drawn once."""
        is_shared = self._note is not None and self._readers[node] > 1
        if is_shared and node in self._drawn:
            yield f"{_INDENT * depth}{self._words(node)} (shared, as above)"
            return
        yield _INDENT * depth + self._words(node)
        notes = [self._note(node)] if self._note is not None else []
        if is_shared:
            self._drawn.add(node)
            notes.append(f"shared: runs once for {self._readers[node]} that read it")
        if any(notes):
            yield f"{_INDENT * depth}  ({'; '.join(filter(None, notes))})"
        if isinstance(node, Block):
            yield from (_INDENT * (depth + 1) + line for line in block_lines(node))
        for part in node.inputs:
            yield from self.lines(part, depth + 1)

    def _label_all(self, node: Relation) -> None:
        for part in node.inputs:
            self._label_all(part)
        if isinstance(node, Join | Apply | AsOfJoin):
            self._tell_apart(node)
        sources = _sources(node)
        for field in node.fields:
            self._label(node, field, sources.get(field.id))

    def _tell_apart(self, node: Join | Apply | AsOfJoin) -> None:
        """Columns that meet and are copies of one column, as those of a domain are, differ."""
        left = {self._labels[field.id] for field in node.left.fields}
        for field in node.right.fields:
            if self._labels[field.id] in left:
                self._labels[field.id] = self._unused(self._labels[field.id].partition("#")[0])

    def _label(self, node: Relation, field: Field, source: Expr | None) -> None:
        if field.id in self._labels:
            return
        # A column that is passed on under its name is the same column, and has the same label.
        if isinstance(source, ColumnRef) and self._names.get(source.column) == field.name:
            self._labels[field.id] = self._labels[source.column]
            self._names[field.id] = field.name
            return
        self._names[field.id] = field.name
        plain = field.name or "nothing"
        if isinstance(node, Scan | ViewScan | TableScan | VersionScan):
            plain = f"{node.alias}.{field.name}"
        if isinstance(node, SessionScan) and field in node.scan.given:
            plain = f"{node.scan.alias}.{field.name}"
        if isinstance(node, Block):
            plain = block_label(node, field)
        self._labels[field.id] = self._unused(plain)

    def _unused(self, plain: str) -> str:
        label, number = plain, 2
        taken = set(self._labels.values())
        while label in taken:
            label, number = f"{plain}#{number}", number + 1
        return label

    def _words(self, node: Relation) -> str:
        for kind, words in _WORDS.items():
            if isinstance(node, kind):
                return words(self, node)
        return type(node).__name__.lower()

    def _show(self, expression: Expr) -> str:
        return show_with(expression, self._named)

    def _named(self, leaf: Expr) -> str:
        if isinstance(leaf, ColumnRef):
            return self._labels.get(leaf.column, leaf.column)
        return str(leaf)

    def _list(self, expressions: Sequence[Expr]) -> str:
        return ", ".join(map(self._show, expressions))

    def _field(self, field: Field) -> str:
        return self._labels[field.id]

    def _fields(self, fields: Sequence[Field]) -> str:
        return ", ".join(map(self._field, fields))

    def _items(self, items: Sequence[Item]) -> str:
        return ", ".join(map(self._item, items))

    def _item(self, item: Item) -> str:
        return _named_value(self._field(item.field), self._show(item.expression))

    def _order(self, keys: Sequence[OrderKey]) -> str:
        return ", ".join(map(self._key, keys))

    def _key(self, key: OrderKey) -> str:
        words = [self._show(key.expression)]
        words += ["DESC"] if key.is_descending else []
        if key.nulls_first == key.is_descending:  # otherwise it is as nobody need say
            words.append("NULLS FIRST" if key.nulls_first else "NULLS LAST")
        return " ".join(words)

    def scan(self, node: Scan) -> str:
        """A stream in its window."""
        name = node.stream.name
        alias = "" if node.alias == name else f" AS {node.alias}"
        return f"{name} {self._window(node.window)}{alias}"

    def view_scan(self, node: ViewScan) -> str:
        """A view that runs by itself."""
        alias = "" if node.alias.lower() == node.view.lower() else f" AS {node.alias}"
        return f"view {node.view}{alias}: {self._fields(node.fields)}"

    def received(self, node: Received) -> str:
        """What another stage sends."""
        return f"received {node.number + 1}: {self._fields(node.fields)}"

    def table_scan(self, node: TableScan) -> str:
        """A table."""
        alias = "" if node.alias.lower() == node.table.lower() else f" AS {node.alias}"
        return f"table {node.table}{alias}: {self._fields(node.fields)}"

    def version_scan(self, node: VersionScan) -> str:
        """A table with versions of its rows."""
        alias = "" if node.alias.lower() == node.table.lower() else f" AS {node.alias}"
        return f"versions of table {node.table}{alias}: {self._fields(node.given)}"

    def as_of_join(self, node: AsOfJoin) -> str:
        """Keys and times."""
        keys = [f"{self._show(one)} = {self._show(other)}" for one, other in node.keys]
        left, right = map(self._show, node.times)
        on = " and ".join([*keys, f"{right} {'<' if node.is_strict else '<='} {left}"])
        more = "" if node.condition is None else f" with {self._show(node.condition)}"
        return f"{'left ' if node.kind == 'left' else ''}join as of: the newest with {on}{more}"

    def values(self, node: Values) -> str:
        """Constant rows."""
        rows = ", ".join(f"({self._list(row)})" for row in node.rows)
        return f"values {self._fields(node.fields)}: {rows}"

    def filter(self, node: Filter) -> str:
        """Its condition."""
        return f"where {self._show(node.condition)}"

    def project(self, node: Project) -> str:
        """What is computed."""
        return f"columns {self._items(node.items)}"

    def distinct(self, _node: Distinct) -> str:
        """Every row once."""
        return "every different row once"

    def at_most_one(self, node: AtMostOne) -> str:
        """A row at most."""
        return "at most one row" + (f" for each {self._list(node.by)}" if node.by else "")

    def unnest(self, node: Unnest) -> str:
        """What is taken apart."""
        kept = ", rows without any kept" if node.is_outer else ""
        return f"a row for each entry of {self._show(node.expression)}{kept}"

    def valid_rows(self, node: ValidRows) -> str:
        """From when until when."""
        bounds = [f"since {self._list(node.since)}"] if node.since else []
        bounds += [f"until {self._list(node.until)}"] if node.until else []
        return f"rows that hold {', '.join(bounds)}"

    def aggregate(self, node: Aggregate) -> str:
        """Groups and aggregates."""
        groups = f"a row for each {self._items(node.groups)}" if node.groups else "one row"
        groups += " of the bucket" if isinstance(node, LocalAggregate) else ""
        calls = ", ".join(map(self._call, node.calls))
        return f"{groups}: {calls}" if calls else groups

    def _call(self, call: AggregateCall) -> str:
        word = "DISTINCT " if call.is_distinct else ""
        inside = word + self._list(call.arguments) if call.arguments else "*"
        return f"{self._field(call.field)} = {AGGREGATE_FUNCTIONS[call.function].show(inside)}"

    def join(self, node: Join) -> str:
        """The kind of join and its condition."""
        on = " of all pairs" if node.condition is None else f" on {self._show(node.condition)}"
        return _JOINS[node.kind] + on

    def apply(self, node: Apply) -> str:
        """The kind and the condition."""
        on = "" if node.condition is None else f" with {self._show(node.condition)}"
        return _APPLIES[node.kind] + on

    def set_operation(self, node: SetOperation) -> str:
        """The kind and its columns."""
        word = f"{node.kind} all" if node.is_all else node.kind
        return f"{word}: {self._fields(node.fields)}"

    def top_rows(self, node: TopRows) -> str:
        """How many, after how many, in which order."""
        count = "all rows" if node.limit is None else f"the first {node.limit} rows"
        count = "the first row" if node.limit == 1 else count
        words = [count]
        words += [f"after {node.offset}"] if node.offset else []
        words += [f"for each {self._list(node.partition)}"] if node.partition else []
        words += ["of the bucket"] if isinstance(node, LocalTopRows) else []
        words += [f"by {self._order(node.order)}"] if node.order else []
        return " ".join(words)

    def window_functions(self, node: WindowFunctions) -> str:
        """Functions over partitions."""
        calls = ", ".join(map(self._window_call, node.calls))
        words = [f"with {calls}"]
        words += [f"for each {self._list(node.partition)}"] if node.partition else []
        words += [f"by {self._order(node.order)}"] if node.order else []
        return " ".join(words)

    def _window_call(self, call: WindowCall) -> str:
        inside = self._list(call.arguments)
        name = call.function.upper()
        if call.function in AGGREGATE_FUNCTIONS:
            shown = AGGREGATE_FUNCTIONS[call.function].show(inside or "*")
        else:
            shown = f"{name}({inside})"
        over = f" over {_frame(call.frame)}" if _reads_frame(call.function) else ""
        return f"{self._field(call.field)} = {shown}{over}"

    def answer_window(self, node: AnswerWindow) -> str:
        """Answers as a stream."""
        every = show_span(node.every_us)
        time = self._field(node.time)
        return f"answers every {every} {self._window(node.window)}, timed by {time}"

    def session_scan(self, node: SessionScan) -> str:
        """A stream, the rows of its sessions, and their bounds."""
        return f"{self.scan(node.scan)}{_of_sessions(node.mode)}{self._bounds(node.bounds)}"

    def _bounds(self, bounds: Iterable[WindowBound]) -> str:
        named = ", ".join(self._field(each.field) for each in bounds)
        return f" with {named}" if named else ""

    def window_bounds(self, node: WindowBounds) -> str:
        """The bounds of the window that closed last, next to every row."""
        return f"{self._bounds(node.bounds).strip()} of the windows {self._window(node.window)}"

    def block(self, node: Block) -> str:
        """A window, or what a block gives; its windows follow."""
        plan = node.plan
        columns = ", ".join(
            _named_value(self._field(field), show(column.expression, plan))
            for field, column in zip(node.given, plan.select, strict=True)
        )
        if node.is_scan:
            (window,) = window_lines(plan)
            more = ""
            if isinstance(node, SessionBlock):
                more = _of_sessions(node.mode) + self._bounds(node.bounds)
            return f"{window}{more}: {columns or 'no columns'}"
        return f"{block_words(plan)}: {columns}" if columns else block_words(plan)

    def _window(self, window: WindowSpec) -> str:
        return f"[{show_inside(window, self._list(window.partition_by))}]"


def _named_value(label: str, value: str) -> str:
    return label if label == value else f"{label} = {value}"


def _of_sessions(mode: str) -> str:
    return {"rows": "", "newest": ", the newest row of each", "closing": ", those that end"}[mode]


def _sources(node: Relation) -> dict[str, Expr]:
    """What each column that the node computes is computed from."""
    items = node.items if isinstance(node, Project) else ()
    items = node.groups if isinstance(node, Aggregate) else items
    return {item.field.id: item.expression for item in items}


def _reads_frame(function: str) -> bool:
    """Others read the whole partition, whatever frame is written."""
    return function in AGGREGATE_FUNCTIONS or function.endswith("_value")


def _frame(frame: Frame) -> str:
    if frame.start is None and frame.end is None:
        return "all rows"
    return f"{frame.unit} {_bound(frame.start, 'first')} to {_bound(frame.end, 'last')}"


def _bound(value: int | float | None, unbounded: str) -> str:
    if value is None:
        return unbounded
    return "current" if value == 0 else f"{value:+}"


_WORDS: dict[type[Relation], Callable[[_Drawing, Any], str]] = {
    Scan: _Drawing.scan,
    ViewScan: _Drawing.view_scan,
    TableScan: _Drawing.table_scan,
    VersionScan: _Drawing.version_scan,
    AsOfJoin: _Drawing.as_of_join,
    Values: _Drawing.values,
    Filter: _Drawing.filter,
    Project: _Drawing.project,
    Distinct: _Drawing.distinct,
    AtMostOne: _Drawing.at_most_one,
    Unnest: _Drawing.unnest,
    ValidRows: _Drawing.valid_rows,
    Aggregate: _Drawing.aggregate,
    Join: _Drawing.join,
    Apply: _Drawing.apply,
    SetOperation: _Drawing.set_operation,
    TopRows: _Drawing.top_rows,
    WindowFunctions: _Drawing.window_functions,
    Block: _Drawing.block,
    AnswerWindow: _Drawing.answer_window,
    WindowBounds: _Drawing.window_bounds,
    SessionScan: _Drawing.session_scan,
    SessionBlock: _Drawing.block,
    Received: _Drawing.received,
}
