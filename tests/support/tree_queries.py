"""Random queries that are trees, from a seed: sub-queries in every place, to a depth.

Every column has a kind (i: integer, d: double, s: text, o: truth, f: a double that is rounded), so
that what is written binds; rounded ones are only shown, as they differ in their last digits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["random_relation", "random_tree"]

_STREAM = (("k", "i"), ("l", "i"), ("s", "s"), ("d", "d"), ("o", "o"))
_WINDOWS = (
    *("1 SECOND", "2 SECONDS", "3 SECONDS", "5 SECONDS", "500 MILLISECONDS"),
    *("RANGE 2 SECONDS SLIDE 1 SECOND", "ROWS 3", "PARTITION BY k ROWS 1", "PARTITION BY s ROWS 2"),
)
_LITERALS = {"i": ("0", "1", "2"), "d": ("0.5", "1.0", "0.0"), "s": ("'x'", "'y'", "''")}
_COMPARED = ("=", "=", "=", "<>", "<", "<=", ">", ">=", "<=>")

Columns = tuple[tuple[str, str], ...]


def random_tree(seed: int, depth: int = 3) -> str:
    """The text of a query."""
    return _Writer(random.Random(seed)).whole(depth)


def random_relation(seed: int, depth: int = 2) -> str:
    """The text of a query that may stand in brackets: without WITH and EVERY."""
    return _Writer(random.Random(seed)).relation(depth)


@dataclass(frozen=True)
class _Query:
    """A query and what its columns are; is_united: UNION and its kin."""

    text: str
    columns: Columns
    is_united: bool = False


@dataclass(frozen=True)
class _Scope:
    """What an expression may read: columns with their qualifiers, and those of queries around."""

    own: Columns
    outer: Columns = ()

    def of(self, kinds: str) -> list[str]:
        return [name for name, kind in self.own if kind in kinds]


class _Writer:
    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._count = 0
        self._tables: list[tuple[str, Columns]] = []

    def relation(self, depth: int) -> str:
        """The query alone."""
        return self._query(depth, _Scope(())).text

    def whole(self, depth: int) -> str:
        """The query with WITH and EVERY now and then."""
        tables = ""
        if self._chance(0.2):
            inner = self._query(max(depth - 2, 0), _Scope(()))
            self._tables.append(("common", inner.columns))
            tables = f"WITH common AS ({inner.text}) "
        text = self._query(depth, _Scope(())).text
        # What nobody reads is no part of a query.
        text = tables + text if "common AS" in text else text
        return text + (
            f" EVERY ({self._one(('1 SECOND', '1500 MILLISECONDS'))})" if self._chance(0.15) else ""
        )

    # ---- queries

    def _query(self, depth: int, outer: _Scope) -> _Query:
        forms: list[Callable[[int, _Scope], _Query]] = [self._plain, self._plain, self._grouped]
        if depth > 0:
            forms += [self._grouped, self._united, self._limited, self._distinct, self._numbered]
        return self._one(forms)(depth, outer)

    def _plain(self, depth: int, outer: _Scope) -> _Query:
        source, scope = self._from(depth, outer)
        items, columns = [], []
        for number in range(self._draw.randint(1, 3)):
            text, kind = self._value(depth, scope)
            items.append(f"{text} AS c{number}")
            columns.append((f"c{number}", kind))
        where = self._where(depth, scope)
        return _Query(f"SELECT {', '.join(items)} FROM {source}{where}", tuple(columns))

    def _distinct(self, depth: int, outer: _Scope) -> _Query:
        query = self._query(depth - 1, outer)
        shown = [(name, kind) for name, kind in query.columns if kind != "f"]
        if not shown:
            return query
        alias, names = self._name(), ", ".join(name for name, _ in shown)
        return _Query(f"SELECT DISTINCT {names} FROM ({query.text}) AS {alias}", tuple(shown))

    def _limited(self, depth: int, outer: _Scope) -> _Query:
        query = self._query(depth - 1, outer)
        shown = tuple((name, kind) for name, kind in query.columns if kind != "f")
        if not shown:
            return query
        alias = self._name()
        keys = [
            f"{name}{self._one(('', ' DESC', ' DESC NULLS FIRST'))}"
            for name, _ in self._draw.sample(shown, self._draw.randint(1, len(shown)))
        ]
        cut = f"LIMIT {self._draw.randint(1, 4)}" + self._one(("", "", " OFFSET 1"))
        names = ", ".join(name for name, _ in shown)
        text = f"SELECT {names} FROM ({query.text}) AS {alias} ORDER BY {', '.join(keys)} {cut}"
        return _Query(text, shown)

    def _numbered(self, depth: int, outer: _Scope) -> _Query:
        """Functions over partitions, in an order in which only equal rows are equal."""
        source, scope = self._from(depth - 1, outer)
        keys = [(name, kind) for name, kind in scope.own if kind != "f"]
        if not keys:
            return self._plain(depth, outer)
        shown = self._draw.sample(keys, min(len(keys), self._draw.randint(1, 3)))
        items = [f"{name} AS c{number}" for number, (name, _) in enumerate(shown)]
        columns = [(f"c{number}", kind) for number, (_, kind) in enumerate(shown)]
        by = f"PARTITION BY {shown[-1][0]} " if self._chance(0.5) else ""
        ways = ("", "", " DESC", " NULLS LAST")
        order = ", ".join(f"{name}{self._one(ways)}" for name, _ in shown)
        function, kind = self._over(shown)
        items.append(f"{function.format(by=by, order=order)} AS w")
        where = self._where(depth - 1, scope)
        text = f"SELECT {', '.join(items)} FROM {source}{where}"
        return _Query(text, (*columns, ("w", kind)))

    def _over(self, shown: list[tuple[str, str]]) -> tuple[str, str]:
        name, kind = self._one(shown)
        made = [("ROW_NUMBER() OVER ({by}ORDER BY {order})", "i")] * 2
        made += [
            (f"{word}() OVER ({{by}}ORDER BY {shown[0][0]})", "i")
            for word in ("RANK", "DENSE_RANK")
        ]
        made += [
            (f"{word}({name}) OVER ({{by}}ORDER BY {{order}})", kind)
            for word in ("LAG", "LEAD", "FIRST_VALUE")
        ]
        made += [("COUNT(*) OVER ({by})", "i")]
        if kind == "i":
            made += [
                (f"SUM({name}) OVER ({{by}}ORDER BY {{order}})", "i"),
                (
                    f"MAX({name}) OVER ({{by}}ORDER BY {{order}} ROWS BETWEEN 1 PRECEDING"
                    " AND CURRENT ROW)",
                    "i",
                ),
            ]
        return self._one(made)

    def _united(self, depth: int, outer: _Scope) -> _Query:
        parts = []
        kinds = [self._one("iiisd") for _ in range(self._draw.randint(1, 2))]
        for _ in range(2):
            source, scope = self._from(depth - 1, outer)
            items = [
                f"{self._of_kind(kind, scope)} AS c{number}" for number, kind in enumerate(kinds)
            ]
            where = self._where(depth - 1, scope)
            parts.append(f"SELECT {', '.join(items)} FROM {source}{where}")
        word = self._one(
            (
                "UNION",
                "UNION ALL",
                "UNION ALL",
                "INTERSECT",
                "EXCEPT",
                "EXCEPT ALL",
                "INTERSECT ALL",
            )
        )
        columns = tuple((f"c{number}", kind) for number, kind in enumerate(kinds))
        return _Query(f"{parts[0]} {word} {parts[1]}", columns, is_united=True)

    def _grouped(self, depth: int, outer: _Scope) -> _Query:
        source, scope = self._from(depth, outer)
        keys = [name for name, kind in scope.own if kind != "f"]
        groups = self._draw.sample(keys, min(len(keys), self._draw.choice((0, 1, 1, 2))))
        kinds = dict(scope.own)
        items = [(f"{group} AS g{number}", kinds[group]) for number, group in enumerate(groups)]
        for number in range(self._draw.randint(1, 2)):
            text, kind = self._aggregate(scope)
            items.append((f"{text} AS n{number}", kind))
        where = self._where(depth, scope)
        text = f"SELECT {', '.join(item for item, _ in items)} FROM {source}{where}"
        if groups:
            text += f" GROUP BY {self._grouping(groups)}"
        if self._chance(0.2):
            text += self._one((" HAVING COUNT(*) > 1", " HAVING COUNT(*) % 2 = 1"))
        return _Query(text, tuple((item.rsplit(" ", 1)[1], kind) for item, kind in items))

    def _grouping(self, groups: list[str]) -> str:
        listed = ", ".join(groups)
        return self._one((listed,) * 5 + (f"ROLLUP ({listed})", f"CUBE ({listed})"))

    def _aggregate(self, scope: _Scope) -> tuple[str, str]:
        """An aggregate, and its kind."""
        made = [("COUNT(*)", "i"), ("COUNT(*)", "i")]
        for name, kind in scope.own:
            if kind == "i":
                made += [
                    (f"SUM({name})", "i"),
                    (f"MIN({name})", "i"),
                    (f"AVG({name})", "f"),
                    (f"COUNT(DISTINCT {name})", "i"),
                    (f"SUM(DISTINCT {name})", "i"),
                ]
            if kind == "d":
                made += [(f"SUM({name})", "d"), (f"MAX({name})", "d"), (f"COUNT({name})", "i")]
            if kind == "s":
                made += [(f"MIN({name})", "s"), (f"MAX({name})", "s")]
            if kind == "o":
                made += [(f"COUNT(*) FILTER (WHERE {name})", "i"), (f"BOOL_OR({name})", "o")]
        return self._one(made)

    # ---- FROM

    def _from(self, depth: int, outer: _Scope) -> tuple[str, _Scope]:
        text, columns = self._source(depth)
        for _ in range(self._draw.choice((0, 0, 1, 1, 2) if depth else (0, 0, 0, 1))):
            other, more = self._source(depth - 1)
            kind = self._one(
                (
                    "JOIN",
                    "JOIN",
                    "LEFT JOIN",
                    "RIGHT JOIN",
                    "FULL JOIN",
                    "SEMI JOIN",
                    "ANTI JOIN",
                    "CROSS JOIN",
                    ",",
                )
            )
            if kind == ",":
                text = f"{text} CROSS JOIN {other}"
            elif kind == "CROSS JOIN":
                text = f"{text} {kind} {other}"
            else:
                on = self._on(columns, more)
                text = f"{text} {kind} {other} ON {on}"
            if kind not in ("SEMI JOIN", "ANTI JOIN"):
                columns = (*columns, *more)
        return text, _Scope(columns, outer.outer)

    def _source(self, depth: int) -> tuple[str, Columns]:
        alias = self._name()
        if self._tables and self._chance(0.4):
            name, columns = self._tables[0]
            return f"{name} AS {alias}", tuple((f"{alias}.{n}", kind) for n, kind in columns)
        if depth > 0 and self._chance(0.5):
            query = self._query(depth - 1, _Scope((), ()))
            own = tuple((f"{alias}.{name}", kind) for name, kind in query.columns)
            return f"({query.text}) AS {alias}", own
        own = tuple((f"{alias}.{name}", kind) for name, kind in _STREAM)
        return f"{self._one('aabbc')} [{self._one(_WINDOWS)}] AS {alias}", own

    def _on(self, left: Columns, right: Columns) -> str:
        """An equality where there is one, and sometimes more."""
        pairs = [(one, other) for one, kind in left for other, same in right if kind == same != "f"]
        if not pairs:
            return "TRUE"
        found = ["{} = {}".format(*self._one(pairs))]
        if self._chance(0.4):
            one, other = self._one(pairs)
            found.append(f"{one} {self._one(_COMPARED)} {other}")
        if self._chance(0.15):
            found = [
                f"{one} {self._one(('<', '<=', '<>'))} {other}" for one, other in [self._one(pairs)]
            ]
        return self._one((" AND ",) * 4 + (" OR ",)).join(found)

    # ---- expressions

    def _where(self, depth: int, scope: _Scope) -> str:
        found = [self._condition(depth, scope) for _ in range(self._draw.choice((0, 1, 1, 2)))]
        if scope.outer:
            found.append(self._correlated(scope))
        return f" WHERE {' AND '.join(found)}" if found else ""

    def _correlated(self, scope: _Scope) -> str:
        """A condition between own columns and those of the query around."""
        pairs = [
            (own, out)
            for own, kind in scope.own
            for out, same in scope.outer
            if kind == same != "f"
        ]
        if not pairs:
            return "TRUE"
        own, out = self._one(pairs)
        return f"{own} {self._one(('=', '=', '=', '=', '<=', '<>'))} {out}"

    def _condition(self, depth: int, scope: _Scope) -> str:
        forms = [self._comparison, self._comparison, self._is_null]
        if depth > 0 and self._chance(0.6):
            forms = [self._exists, self._in, self._scalar_comparison, self._either]
        return self._one(forms)(depth, scope)

    def _comparison(self, _: int, scope: _Scope) -> str:
        kind = self._one([kind for _, kind in scope.own if kind in _LITERALS] or ["i"])
        names = scope.of(kind)
        if not names:
            return "TRUE"
        one = self._one(names)
        other = self._one((*names, *_LITERALS[kind], *_LITERALS[kind]))
        return f"{one} {self._one(_COMPARED)} {other}"

    def _is_null(self, _: int, scope: _Scope) -> str:
        return f"{self._one([name for name, _ in scope.own])} IS {self._one(('', 'NOT '))}NULL"

    def _either(self, depth: int, scope: _Scope) -> str:
        return f"({self._condition(0, scope)} OR {self._condition(depth, scope)})"

    def _exists(self, depth: int, scope: _Scope) -> str:
        inner = self._sub_query(depth, scope)
        return f"{self._one(('', 'NOT '))}EXISTS ({inner.text})"

    def _in(self, depth: int, scope: _Scope) -> str:
        kind = self._one("iiis")
        names = scope.of(kind)
        if not names:
            return "TRUE"
        source, inside = self._from(depth - 1, _Scope((), self._seen(scope)))
        item = self._of_kind(kind, inside)
        query = f"SELECT {item} AS c0 FROM {source}{self._where(depth - 1, inside)}"
        return f"{self._one(names)} {self._one(('', 'NOT '))}IN ({query})"

    def _scalar_comparison(self, depth: int, scope: _Scope) -> str:
        names = scope.of("i")
        if not names:
            return "TRUE"
        return f"{self._one(names)} {self._one(_COMPARED)} {self._scalar(depth, scope)}"

    def _scalar(self, depth: int, scope: _Scope) -> str:
        """A query of one row with one integer."""
        source, inside = self._from(depth - 1, _Scope((), self._seen(scope)))
        where = self._where(depth - 1, inside)
        names = inside.of("i")
        made = ["COUNT(*)"] + [
            f"{function}({name})" for name in names for function in ("MAX", "SUM", "COUNT")
        ]
        return f"(SELECT {self._one(made)} AS c0 FROM {source}{where})"

    def _sub_query(self, depth: int, scope: _Scope) -> _Query:
        inside = _Scope((), self._seen(scope))
        if self._chance(0.3):
            return self._grouped(depth - 1, inside)
        return self._plain(depth - 1, inside)

    def _seen(self, scope: _Scope) -> Columns:
        """What a sub-query may read: of the query around it, sometimes of one further out."""
        if not self._chance(0.8):
            return ()
        return (*scope.own, *(scope.outer if self._chance(0.3) else ()))

    def _value(self, depth: int, scope: _Scope) -> tuple[str, str]:
        name, kind = self._one(scope.own)
        if depth > 0 and self._chance(0.12):
            return self._scalar(depth, scope), "i"
        if depth > 0 and self._chance(0.05):
            return f"({self._condition(depth, scope)})", "o"
        if kind == "i" and self._chance(0.3):
            return self._one((f"{name} + 1", f"{name} % 2", f"COALESCE({name}, 9)")), "i"
        if kind == "o" and self._chance(0.3):
            return f"CASE WHEN {name} THEN 'yes' ELSE 'no' END", "s"
        return name, kind

    def _of_kind(self, kind: str, scope: _Scope) -> str:
        return self._one(scope.of(kind) or [_LITERALS[kind][0]])

    def _one(self, choices: Any) -> Any:
        return self._draw.choice(choices)

    def _chance(self, share: float) -> bool:
        return self._draw.random() < share

    def _name(self) -> str:
        self._count += 1
        return f"r{self._count}"
