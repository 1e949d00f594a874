"""Functions with OVER: each a column that WindowFunctions nodes add to the rows of a phase.

Functions with the same partition and order share a node. Without ORDER BY a frame is the whole
partition; with it, all rows up to those that are equal to the current one in order.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.errors import BindingError
from windrow.plan.aggregates import FUNCTIONS
from windrow.plan.expressions import Expr, Literal
from windrow.plan.literals import into
from windrow.plan.relations.aggregate_calls import (
    PLACED,
    PLACED_FIRST,
    PLACED_LAST,
    RANKING,
    bare_call,
    function_name,
    own_nodes,
)
from windrow.plan.relations.algebra import Frame, OrderKey, WindowCall, WindowFunctions
from windrow.plan.relations.phase import Phase
from windrow.plan.types import common_type
from windrow.schema import (
    BIGINT,
    DAY_TIME_INTERVAL,
    DOUBLE,
    INT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ColumnType,
)
from windrow.sql.functions import IGNORES_NULLS
from windrow.sql.intervals import length_of

__all__ = ["add_window_functions", "is_over", "order_key"]

_CLAUSE = "a window function"
_RANGED_BY_SPAN = (TIMESTAMP, TIMESTAMP_NTZ, DAY_TIME_INTERVAL)
_UNBOUNDED, _CURRENT = "UNBOUNDED", "CURRENT ROW"
Specification = tuple[tuple[Expr, ...], tuple[OrderKey, ...]]


def add_window_functions(phase: Phase, clauses: Iterable[exp.Expr]) -> None:
    """Gives the phase the columns of all functions with OVER in the clauses."""
    nodes = [node for clause in clauses for node in own_nodes(clause, is_over)]
    found: dict[Specification, list[WindowCall]] = {}
    named = []
    for node in nodes:
        assert isinstance(node, exp.Window)
        over = _Over(phase, node)
        calls = found.setdefault((over.partition, over.order), [])
        call = over.call()
        same = next((each for each in calls if _is_same(each, call)), None)
        if same is None:
            calls.append(call)
        named.append((node, (same or call).field))
    for (partition, order), calls in found.items():
        phase.relation = WindowFunctions(phase.relation, partition, order, tuple(calls))
    phase.windows += named


def is_over(node: exp.Expr) -> bool:
    """Whether it is a function with OVER."""
    return isinstance(node, exp.Window)


def order_key(expression: Expr, is_descending: bool, nulls_first: bool | None) -> OrderKey:
    """The key; where nothing is said, NULL is first when ascending, else last: as in Spark."""
    first = not is_descending if nulls_first is None else nulls_first
    return OrderKey(expression, is_descending, first)


def _is_same(one: WindowCall, other: WindowCall) -> bool:
    return (one.function, one.arguments, one.frame) == (
        other.function,
        other.arguments,
        other.frame,
    )


class _Over:
    """One function with OVER being bound."""

    def __init__(self, phase: Phase, node: exp.Window) -> None:
        self._phase = phase
        self._node = node
        self._scope = phase.scope(_CLAUSE)
        parts = node.args.get("partition_by") or []
        self.partition = tuple(phase.bind(part, _CLAUSE) for part in parts)
        ordered = node.args.get("order")
        self.order = tuple(
            self._key(each) for each in (ordered.expressions if ordered is not None else [])
        )

    def call(self) -> WindowCall:
        """The function with its arguments and its frame."""
        node = self._node.this
        if isinstance(node, exp.IgnoreNulls):
            hint = "leave rows with NULL out in a query in FROM"
            raise self._scope.refused("WU243", "IGNORE NULLS", self._node, hint=hint)
        node = node.this if isinstance(node, exp.RespectNulls) else node
        name = function_name(node)
        if name in RANKING:
            arguments, kind = self._ranking(name, node)
        elif name in PLACED:
            arguments, kind = self._placed(name, node)
        elif isinstance(node, IGNORES_NULLS):
            # FIRST and LAST of a frame are in its order.
            name = PLACED_LAST if FUNCTIONS[type(node)].is_greatest else PLACED_FIRST
            placed = exp.Anonymous(this=name, expressions=node.expressions)
            arguments, kind = self._placed(name, placed)
        else:
            bare = bare_call(self._scope, node, self._phase.final)
            self._check_framed(bare.function, node)
            if AGGREGATE_FUNCTIONS[bare.function].laws.is_collected:
                hint = "collect values of groups: GROUP BY the columns of PARTITION BY"
                raise self._scope.refused("WU722", f"{name.upper()} with OVER", node, hint=hint)
            if bare.is_distinct:
                hint = "select DISTINCT rows in a query in FROM"
                raise self._scope.refused("WU243", "DISTINCT with OVER", node, hint=hint)
            name, arguments, kind = bare.function, bare.arguments, bare.type
        field = self._phase.context.fresh(name, kind)
        return WindowCall(field, name, arguments, self._frame())

    def _check_framed(self, function: str, node: exp.Expr) -> None:
        """Refuse what is not computed over frames."""
        entry = AGGREGATE_FUNCTIONS[function]
        if not entry.is_of_trees or entry.form is Form.RANKED:
            return
        hint = "aggregate groups of a query in FROM, by what PARTITION BY names, and join it"
        raise self._scope.refused("WU796", f"{entry.sql_names[0]} with OVER", node, hint=hint)

    def _key(self, node: exp.Expr) -> OrderKey:
        if not isinstance(node, exp.Ordered):
            return order_key(self._phase.bind(node, _CLAUSE), False, None)
        bound = self._phase.bind(node.this, _CLAUSE)
        return order_key(bound, bool(node.args.get("desc")), node.args.get("nulls_first"))

    def _ranking(self, name: str, node: exp.Expr) -> tuple[tuple[Expr, ...], ColumnType]:
        written = _arguments(node)
        if len(written) != (name == "ntile"):
            raise self._wrong_count(name, "1 argument" if name == "ntile" else "no argument")
        kind = DOUBLE if name in ("percent_rank", "cume_dist") else INT
        return tuple(self._count(each, name, 1) for each in written), kind

    def _placed(self, name: str, node: exp.Expr) -> tuple[tuple[Expr, ...], ColumnType]:
        written = _arguments(node)
        if name in ("lag", "lead"):
            return self._shifted(name, written)
        if len(written) != 1 + (name == "nth_value"):
            raise self._wrong_count(name, "2 arguments" if name == "nth_value" else "1 argument")
        value = self._phase.bind(written[0], _CLAUSE)
        counts = (self._count(each, name, 1) for each in written[1:])
        return (value, *counts), value.type

    def _shifted(self, name: str, written: list[exp.Expr]) -> tuple[tuple[Expr, ...], ColumnType]:
        """The value, the distance and what there is where the distance leads out of the rows."""
        if not 1 <= len(written) <= 3:
            raise self._wrong_count(name, "1 to 3 arguments")
        value = self._phase.bind(written[0], _CLAUSE)
        distance = self._count(written[1], name, 0) if len(written) > 1 else Literal(1, BIGINT)
        default: Expr = Literal(None, value.type)
        if len(written) > 2:
            default = self._phase.bind(written[2], _CLAUSE)
            kind = common_type([value, default])
            if kind is None:
                raise self._scope.wrong(
                    "WB220",
                    f"{name.upper()} takes values of one type, "
                    f"but these are {value.type} and {default.type}",
                    written[2],
                    hint="convert one of them with CAST",
                )
            value = into(self._scope, written[0], value, kind)
            default = into(self._scope, written[2], default, kind)
        return (value, distance, default), value.type

    def _count(self, node: exp.Expr, name: str, least: int) -> Literal:
        bound = self._phase.bind(node, _CLAUSE)
        value = bound.value if isinstance(bound, Literal) else None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            message = f"{name.upper()} takes an integer literal of {least} or more here"
            raise self._scope.wrong("WB232", message, node, hint="such as 2")
        return Literal(value, BIGINT)

    def _wrong_count(self, name: str, wanted: str) -> BindingError:
        message = f"{name.upper()} takes {wanted}"
        hint = "give it the arguments that it has in Spark SQL"
        return self._scope.wrong("WB231", message, self._node, hint=hint)

    def _frame(self) -> Frame:
        spec = self._node.args.get("spec")
        if spec is None:
            return Frame("range", None, 0) if self.order else Frame("rows", None, None)
        unit = str(spec.args.get("kind") or "rows").lower()
        if unit not in ("rows", "range") or spec.args.get("exclude"):
            hint = "write ROWS or RANGE BETWEEN ... AND ..."
            raise self._scope.refused("WU243", f"{unit.upper()} or EXCLUDE", self._node, hint=hint)
        is_range = unit == "range"
        start = self._bound(spec, "start", is_range)
        end = self._bound(spec, "end", is_range) if spec.args.get("end") else 0
        if start is not None and end is not None and start > end:
            raise self._wrong_frame("the frame ends before it begins")
        return Frame("range" if is_range else "rows", start, end)

    def _bound(self, spec: exp.Expr, name: str, is_range: bool) -> int | float | None:
        value = spec.args.get(name)
        side = str(spec.args.get(f"{name}_side") or "").upper()
        word = value.upper() if isinstance(value, str) else ""
        if word == _CURRENT:
            return 0
        if word == _UNBOUNDED:
            if (side == "FOLLOWING") != (name == "end"):
                raise self._wrong_frame(f"UNBOUNDED {side} cannot be the {name} of a frame")
            return None
        if not isinstance(value, exp.Expr):
            raise self._wrong_frame(f"{value!r} is no end of a frame")
        distance = self._distance(value, is_range)
        return -distance if side == "PRECEDING" else distance

    def _distance(self, node: exp.Expr, is_range: bool) -> int | float:
        if not is_range:
            return int(str(self._count(node, "ROWS", 0).value))
        if len(self.order) != 1:
            raise self._wrong_frame("RANGE with a distance needs ORDER BY of one key")
        kind = self.order[0].expression.type
        bare = node.unnest()
        if isinstance(bare, exp.Interval) and kind in _RANGED_BY_SPAN:
            length = length_of(bare)
            if length is None or length.span_us is None or length.span_us < 0:
                raise self._wrong_frame("this is no length of time in days or below")
            return length.span_us
        bound = self._phase.bind(node, _CLAUSE) if not isinstance(bare, exp.Interval) else None
        value = bound.value if isinstance(bound, Literal) and bound.type.is_numeric else None
        if value is None or not kind.is_numeric:
            raise self._wrong_frame(f"this is no distance between values of {kind}")
        number = int(str(value)) if isinstance(value, int) else float(str(value))
        if number < 0:
            raise self._wrong_frame("a distance is 0 or more")
        return number

    def _wrong_frame(self, message: str) -> BindingError:
        hint = "such as ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, or RANGE of one number or time"
        return self._scope.wrong("WB266", message, self._node, hint=hint)


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    names = ("this", "offset", "default")
    return [node.args[name] for name in names if isinstance(node.args.get(name), exp.Expr)]
