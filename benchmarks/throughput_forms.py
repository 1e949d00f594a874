"""The query forms of the throughput benchmark: texts, streams, and what is expected of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from algorithm_cases import Case
from algorithm_data import StreamData, stream_data

__all__ = ["FORMS", "Form", "TypedData", "schema_of", "tables_of"]


@dataclass(frozen=True)
class Form:
    """A query, what is read of it, and the streams that it runs on.

    reads: 'answers' or 'changes', after every push. goal: million rows per CPU second.
    """

    name: str
    text: str
    goal: float
    streams: int = 2
    reads: str = "answers"
    every: str = ""
    keys: int = 1_000
    rows_per_s: int = 1_000
    window_s: int = 60
    key_type: str = "bigint"
    value_type: str = "bigint"

    @property
    def case(self) -> Case:
        """The same as a case of the algorithms' benchmark, which DuckDB can run."""
        return Case(self.name, self.text, lambda *frames: frames[0], self.streams)

    @property
    def wql(self) -> str:
        """The query for Windrow."""
        return f"{self.case.wql(self.window_s)} {self.every}".strip()

    def data(self, seconds: int, seed: int) -> StreamData:
        """So many seconds of its streams, with 4 or 8 milliseconds between instants."""
        slot_ms = 4 if self.streams < 3 else 8
        rows = seconds * self.rows_per_s
        made = stream_data(rows, seconds, self.keys, streams=self.streams, seed=seed)
        if slot_ms == 8:
            return made
        rng = np.random.default_rng(seed + 1)
        slots = seconds * 1000 // slot_ms
        times = tuple(
            np.sort(rng.integers(0, slots, rows)) * slot_ms + 1 + 2 * stream
            for stream in range(self.streams)
        )
        return StreamData(seconds, times, made.columns)


def schema_of(form: Form) -> str:
    """The columns of all its streams."""
    return f"ts timestamp, k {form.key_type}, y bigint, g bigint, x {form.value_type}"


def tables_of(form: Form, data: StreamData, repeats: int = 1) -> list[pa.Table]:
    """The streams as Arrow, with keys and values of the form's types."""
    return [_typed(form, data.table(number, repeats)) for number in range(form.streams)]


@dataclass(frozen=True)
class TypedData(StreamData):
    """Streams whose tables have the types of a form."""

    form: Form

    def table(self, stream: int, repeats: int = 1) -> pa.Table:
        """One stream as Arrow."""
        return _typed(self.form, super().table(stream, repeats))


def _typed(form: Form, table: pa.Table) -> pa.Table:
    if form.key_type == "string":
        words = pc.binary_join_element_wise("key-", table["k"].cast(pa.string()), "")
        table = table.set_column(1, "k", words.combine_chunks())
    if form.value_type == "double":
        # Quarters: the sum of any number of them is the same in any order, for DuckDB too.
        table = table.set_column(4, "x", pc.divide(table["x"].cast(pa.float64()), 4.0))
    return table


_SUMS = "COUNT(*) AS n, SUM(A.x) AS s"
_PAIRS = "FROM {A}, {B} WHERE A.k = B.k"
_EACH_SECOND = "EVERY (1 SECOND)"
_MATCHED = {"rows_per_s": 10_000, "window_s": 10, "keys": 75_000, "reads": "changes"}
FORMS = (
    Form("anchor", f"SELECT {_SUMS} {_PAIRS}", 25),
    Form("text keys", f"SELECT {_SUMS} {_PAIRS}", 18, key_type="string"),
    Form("a million keys", f"SELECT {_SUMS} {_PAIRS}", 10, keys=1_000_000),
    Form("doubles", f"SELECT {_SUMS} {_PAIRS}", 12, value_type="double"),
    Form(
        "GROUP BY key each second",
        f"SELECT A.k AS k, {_SUMS} {_PAIRS} GROUP BY A.k",
        12,
        every=_EACH_SECOND,
    ),
    Form(
        "GROUP BY key, all changes",
        f"SELECT A.k AS k, {_SUMS} {_PAIRS} GROUP BY A.k",
        3,
        reads="changes",
    ),
    Form("MAX", f"SELECT MAX(A.x) AS m {_PAIRS}", 12),
    Form("COUNT DISTINCT", f"SELECT COUNT(DISTINCT A.x) AS n {_PAIRS}", 8),
    Form(
        "star of three",
        f"SELECT {_SUMS} FROM {{A}}, {{B}}, {{C}} WHERE A.k = B.k AND B.k = C.k",
        15,
        streams=3,
    ),
    Form(
        "chain of three",
        "SELECT COUNT(*) AS n FROM {A}, {B}, {C} WHERE A.k = B.k AND B.y = C.y",
        4,
        streams=3,
    ),
    Form("STDDEV", f"SELECT STDDEV(A.x) AS d {_PAIRS}", 10),
    Form("one window AVG each second", "SELECT AVG(A.x) AS m FROM {A}", 12, 1, every=_EACH_SECOND),
    Form(
        "one window AVG by key, all changes",
        "SELECT A.k AS k, AVG(A.x) AS m FROM {A} GROUP BY A.k",
        5,
        1,
        reads="changes",
    ),
    Form("live SELECT", "SELECT A.k AS k, A.x AS x FROM {A}", 8, 1, **_MATCHED),
    Form("DISTINCT", "SELECT DISTINCT A.k AS k FROM {A}", 8, 1, **{**_MATCHED, "keys": 20_000}),
    Form(
        "LEFT ANTI JOIN",
        "SELECT A.k AS k, A.x AS x FROM {A} LEFT ANTI JOIN {B} ON A.k = B.k",
        4,
        **{**_MATCHED, "keys": 200_000},
    ),
    Form("join select", f"SELECT A.k AS k, A.x AS x, B.x AS y {_PAIRS}", 4, **_MATCHED),
)
