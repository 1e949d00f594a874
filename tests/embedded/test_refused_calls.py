"""What a session refuses to declare or to register, each with its code."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

import windrow
from windrow.embedded.session import EmbeddedSession
from windrow.errors import WindrowError

INNER = "LATERAL (SELECT b.x FROM s [1 MINUTE] AS b WHERE b.k = s.k) AS c ON TRUE"
MANY = ", ".join(f"c{place} int" for place in range(1000))
TIME_OF_DAY = pa.schema([("ts", pa.timestamp("us")), ("x", pa.time64("us"))])


def declared(schema: object, **options: object) -> Callable[[EmbeddedSession], object]:
    return lambda session: session.stream("z", schema, time="ts", **options)


def queried(text: str, **options: str) -> Callable[[EmbeddedSession], object]:
    return lambda session: session.query(text, **options)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("WB112", declared(TIME_OF_DAY)),
        ("WB113", declared("ts timestamp, ts int")),
        ("WB115", declared("ts string")),
        ("WB116", declared("ts timestamp", lateness=-1)),
        ("WB117", declared(f"ts timestamp, {MANY}")),
        ("WB118", declared(7)),
        ("WB278", lambda session: session.ask("SELECT * FROM v")),
        (
            "WB305",
            lambda session: session.history(
                "s", measures=["x"] * 65, levels=[("1 second", "forever")]
            ),
        ),
        ("WU245", queried("SELECT k FROM s [1 MINUTE] LIMIT 1", algorithm="charged")),
        ("WU790", queried(f"SELECT s.k FROM s [1 MINUTE] FULL JOIN {INNER}")),
        ("WU790", queried(f"SELECT s.k FROM s [1 MINUTE] LEFT SEMI JOIN {INNER}")),
    ],
)
def test_a_refusal_has_its_code_and_a_hint(
    code: str, call: Callable[[EmbeddedSession], object]
) -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k string, x int", time="ts")
    session.view("v", "SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
    with pytest.raises(WindrowError) as refused:
        call(session)
    assert (refused.value.code, bool(refused.value.hint)) == (code, True)
