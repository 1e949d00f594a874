"""The statement tree: what a text says, before any name in it is looked up.

Scalar expressions stay sqlglot expressions; their identifiers and literals carry their place in
`.meta` ('line', 'col', 'start', 'end'). Everything else is a frozen dataclass of ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from sqlglot import exp

from windrow.errors import Place
from windrow.stream_options import NO_OPTIONS, StreamOptions
from windrow.window_kinds import WINDOW_KINDS, WindowKind

__all__ = [
    "CommonTable",
    "CreateAlert",
    "CreateFunction",
    "CreateHistory",
    "CreateQuery",
    "CreateStream",
    "CreateTable",
    "CreateView",
    "Creation",
    "Endpoint",
    "Explain",
    "FromEnvironment",
    "HistoryLevel",
    "HistoryRange",
    "OnError",
    "Ordering",
    "QueryText",
    "Select",
    "SelectItem",
    "SetOption",
    "SetQuery",
    "Source",
    "Statement",
    "ValuesList",
    "Window",
]

# What becomes of a row in which an expression has no value.
OnError = OneOf["fail", "null", "set_aside"]
# What a statement does about a query of its name.
Creation = OneOf["create", "replace", "create or replace"]


@dataclass(frozen=True)
class Window:
    """What stands in the brackets behind a stream.

    kind: the name of one of WINDOW_KINDS, whose traits are `traits`.
    """

    kind: str
    length_us: int = 0
    slide_us: int = 0
    rows: int = 0
    partition_by: tuple[str, ...] = ()
    offset_us: int = 0
    written: bool = True  # False when there was no bracket at all
    # The column that another dialect names as the time; '' where nothing is said.
    time: str = field(default="", compare=False)
    place: Place | None = field(default=None, compare=False)

    @property
    def traits(self) -> WindowKind:
        """What is known of its kind."""
        return WINDOW_KINDS[self.kind]


@dataclass(frozen=True)
class HistoryRange:
    """FROM HISTORY(s) [FROM ... TO ... AT ...]: instants in microseconds; until None means NOW."""

    since_us: int
    until_us: int | None
    at_us: int | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Source:
    """One entry of FROM: a stream, view or common table by name; a query; or joins in brackets.

    join: how it is joined with all that stands before it: 'first', 'inner' (comma, JOIN and CROSS
    JOIN), 'left', 'right', 'full', 'semi', 'anti', 'asof' or 'asof left'. is_comma: behind a comma,
    which binds less than JOIN. query: what stands in the brackets instead of a name (stream is ''
    then; window is written where the answers of the query go through one). columns: names given by
    AS t (a, b). joined: the sources of joins in brackets, (a JOIN b ON ...). using: the columns of
    USING; is_natural: NATURAL. as_of: of FOR SYSTEM_TIME AS OF, the time whose version is joined.
    is_lateral: LATERAL, whose query names columns of what stands before it.
    unnest: the call that takes an array or a map apart, UNNEST(items) or EXPLODE(items), which
    reads what stands before it; has_ordinality: WITH ORDINALITY.
    """

    stream: str
    alias: str
    window: Window
    join: str = "first"
    on: exp.Expression | None = field(default=None)
    history: HistoryRange | None = None
    place: Place | None = field(default=None, compare=False)
    query: QueryText | None = None
    columns: tuple[str, ...] = ()
    joined: tuple[Source, ...] = ()
    using: tuple[str, ...] = ()
    is_natural: bool = False
    is_comma: bool = field(default=False)
    unnest: exp.Expression | None = field(default=None)
    has_ordinality: bool = False
    is_lateral: bool = False
    as_of: exp.Expression | None = None


@dataclass(frozen=True)
class SelectItem:
    """One entry of the select list; alias is None where the text gives none."""

    expression: exp.Expression
    alias: str | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Ordering:
    """One key of ORDER BY; nulls_first None: as Spark, first when ascending, last otherwise."""

    expression: exp.Expression
    is_descending: bool = False
    nulls_first: bool | None = None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CommonTable:
    """WITH name [(columns)] AS (query)."""

    name: str
    query: QueryText
    columns: tuple[str, ...] = ()
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Select:
    """A query. `AND NOT EXISTS (SELECT ...)` is taken out of `where` and kept in `not_exists`.

    `text` is the whole text that was parsed (a script, too), to which all places refer; the query
    itself stands at text[start:end]. Queries that say the same are equal, wherever they stand.
    error_percent, every_us, duration and on_error hold the service clauses; duration entries are
    ('seconds', n) after the stream's start or ('instant', microseconds).
    grouping_sets: of GROUPING SETS, ROLLUP and CUBE, the places in group_by of each set. A query
    inside an expression is a sql.nested_query.NestedQuery among sqlglot's nodes. No sources:
    SELECT without FROM.
    """

    text: str = field(compare=False)
    items: tuple[SelectItem, ...]
    sources: tuple[Source, ...]
    distinct: bool = False
    where: exp.Expression | None = None
    group_by: tuple[exp.Expression, ...] = ()
    having: exp.Expression | None = None
    error_percent: float | None = None
    every_us: int | None = None
    duration: tuple[tuple[str, int], tuple[str, int]] | None = None
    on_error: OnError | None = None
    not_exists: tuple[Select, ...] = ()
    places: dict[str, Place] = field(default_factory=dict, compare=False)  # clause -> its word
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    grouping_sets: tuple[tuple[int, ...], ...] = ()
    qualify: exp.Expression | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    common_tables: tuple[CommonTable, ...] = ()

    @property
    def own_text(self) -> str:
        """The query as written, without the rest of its script."""
        return self.text[self.start : self.end]


@dataclass(frozen=True)
class ValuesList:
    """VALUES (1, 'a'), (2, 'b'): constant rows."""

    text: str = field(compare=False)
    rows: tuple[tuple[exp.Expression, ...], ...]
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class SetQuery:
    """UNION, INTERSECT or EXCEPT of two queries; order, limit and service clauses are of the whole.

    The parts have none of their own, unless they stand in brackets.
    """

    text: str = field(compare=False)
    kind: str  # 'union', 'intersect' or 'except'
    left: QueryText
    right: QueryText
    is_all: bool = False
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    common_tables: tuple[CommonTable, ...] = ()
    error_percent: float | None = None
    every_us: int | None = None
    duration: tuple[tuple[str, int], tuple[str, int]] | None = None
    on_error: OnError | None = None
    places: dict[str, Place] = field(default_factory=dict, compare=False)
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    @property
    def own_text(self) -> str:
        """The query as written, without the rest of its script."""
        return self.text[self.start : self.end]


QueryText = Select | SetQuery | ValuesList


@dataclass(frozen=True)
class FromEnvironment:
    """env('NAME'): a text that the script leaves out, because others may read it."""

    name: str


@dataclass(frozen=True)
class Endpoint:
    """source(options) or sink(options): a name, then positional values and named ones."""

    name: str
    arguments: tuple[str | int | float | bool | FromEnvironment, ...] = ()
    options: tuple[tuple[str, str | int | float | bool | FromEnvironment], ...] = ()
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CreateStream:
    """CREATE STREAM name (col type, ...) TIME col ... [FROM source(options)].

    max_ahead: microseconds, 'off', or 'auto' where nothing is written. on_bad_row: 'fail',
    'set aside' or 'auto'.
    """

    name: str
    columns: tuple[tuple[str, str], ...]  # name, type in its canonical spelling
    time: str
    lateness_us: int = 0
    source: Endpoint | None = None
    max_ahead: int | str = "auto"
    on_bad_row: str = "auto"
    bad_rows_into: Endpoint | None = None
    options: StreamOptions = NO_OPTIONS
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CreateTable:
    """CREATE TABLE name (col type, ..., PRIMARY KEY (k, ...)) [TIME col] [FROM source(options)].

    time: '' where versions of a row take effect as they come.
    """

    name: str
    columns: tuple[tuple[str, str], ...]  # name, type in its canonical spelling
    key: tuple[str, ...]
    time: str = ""
    source: Endpoint | None = None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class HistoryLevel:
    """grain FOR retention, or grain FOREVER."""

    grain_us: int
    retention_us: int | None  # None: for ever


@dataclass(frozen=True)
class CreateHistory:
    """CREATE HISTORY ON s (measures) [GROUP BY columns] LEVELS (grain FOR retention, ...)."""

    stream: str
    measures: tuple[str, ...]
    group_by: tuple[str, ...]
    levels: tuple[HistoryLevel, ...]
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CreateQuery:
    """CREATE QUERY name AS SELECT ... [INTO sink(options)], or a form of REPLACE.

    mode: 'replace' is of a query that there is; 'create or replace' begins one where it cannot go
    on from that.
    """

    name: str
    select: QueryText
    sink: Endpoint | None = None
    place: Place | None = field(default=None, compare=False)
    mode: Creation = "create"


@dataclass(frozen=True)
class CreateAlert:
    """CREATE ALERT name AS SELECT ... [WHEN condition] [FOR span] [INTO sink(options)].

    when: over the columns of the query; None: each of its rows counts. for_us: how long it holds.
    """

    name: str
    select: QueryText
    when: exp.Expression | None = None
    for_us: int = 0
    sink: Endpoint | None = None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CreateView:
    """CREATE VIEW name AS query."""

    name: str
    query: QueryText
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class CreateFunction:
    """CREATE FUNCTION name (parameters) RETURNS type AS expression, or AS 'module.function'.

    parameters: None where a function of Python takes what it is given. returns: '' where its own
    annotations say it. text: the whole text, to which the places of the body refer.
    """

    name: str
    parameters: tuple[tuple[str, str], ...] | None  # name, type in its canonical spelling
    returns: str
    body: exp.Expression | None = None
    python_name: str = ""
    is_vectorised: bool = False
    text: str = field(default="", compare=False)
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Explain:
    """EXPLAIN SELECT ..."""

    select: QueryText


@dataclass(frozen=True)
class SetOption:
    """SET name = value."""

    name: str
    value: str | int | float | bool
    place: Place | None = field(default=None, compare=False)


Statement = (
    QueryText
    | CreateStream
    | CreateTable
    | CreateHistory
    | CreateQuery
    | CreateAlert
    | CreateView
    | CreateFunction
    | Explain
    | SetOption
)
