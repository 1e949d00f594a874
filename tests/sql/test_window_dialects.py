"""Windows as Flink, RisingWave, ksqlDB and Spark write them are read as windows of ours."""

from __future__ import annotations

import pytest

from windrow.sql import parse_query
from windrow.sql.printer import print_statement

# What is written, and what it means.
TEXTS = {
    "SELECT x FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTES))": (
        "SELECT x FROM s [TUMBLE 10 MINUTES]"
    ),
    "SELECT x FROM TABLE(TUMBLE(DATA => TABLE s, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '10' "
    "MINUTES, OFFSET => INTERVAL '1' MINUTE)) AS w": (
        "SELECT x FROM s [TUMBLE 10 MINUTES OFFSET 1 MINUTE] AS w"
    ),
    "SELECT x FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '7' SECOND))": (
        "SELECT x FROM s [HOP 7 SECONDS BY 2 SECONDS]"
    ),
    "SELECT h.x FROM HOP(s, ts, INTERVAL '2 seconds', INTERVAL '1 minute 10 seconds') AS h JOIN "
    "TUMBLE(r, ts, INTERVAL '10 seconds') AS t ON h.k = t.k": (
        "SELECT h.x FROM s [HOP 70 SECONDS BY 2 SECONDS] AS h JOIN r [TUMBLE 10 SECONDS] AS t ON "
        "h.k = t.k"
    ),
    "SELECT x FROM CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '1' HOUR)": (
        "SELECT x FROM s [CUMULATE 1 HOUR BY 2 MINUTES]"
    ),
    "SELECT x FROM SESSION(TABLE s PARTITION BY k, o, DESCRIPTOR(ts), INTERVAL '5' SECOND)": (
        "SELECT x FROM s [SESSION 5 SECONDS PARTITION BY k, o]"
    ),
    "SELECT x FROM SESSION(DATA => TABLE s PARTITION BY k, TIMECOL => DESCRIPTOR(ts), GAP => "
    "INTERVAL '5' MINUTE)": "SELECT x FROM s [SESSION 5 MINUTES PARTITION BY k]",
    "SELECT k, TUMBLE_START(ts, INTERVAL '1' DAY) AS w FROM s GROUP BY TUMBLE(ts, INTERVAL '1' "
    "DAY), k": (
        "SELECT k, window_start AS w FROM s [TUMBLE 1 DAY] GROUP BY k, window_start, window_end"
    ),
    "SELECT HOP_ROWTIME(ts, INTERVAL '1' HOUR, INTERVAL '1' DAY) AS w FROM s GROUP BY HOP(ts, "
    "INTERVAL '1' HOUR, INTERVAL '1' DAY)": (
        "SELECT window_time AS w FROM s [HOP 1 DAY BY 1 HOUR] GROUP BY window_start, window_end, "
        "window_time"
    ),
    "SELECT k FROM s GROUP BY SESSION(ts, INTERVAL '10' MINUTE), k": (
        "SELECT k FROM s [SESSION 10 MINUTES PARTITION BY k] GROUP BY k, window_start, window_end"
    ),
    "SELECT k, WINDOWSTART, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 HOUR) WHERE x > 1 GROUP "
    "BY k EMIT CHANGES": (
        "SELECT k, window_start AS WINDOWSTART, COUNT(*) AS n FROM s [TUMBLE 1 HOUR] WHERE x > 1 "
        "GROUP BY k, window_start, window_end"
    ),
    "SELECT k FROM s WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS, RETENTION 7 DAYS) "
    "GROUP BY k EMIT FINAL": (
        "SELECT k FROM s [HOP 30 SECONDS BY 10 SECONDS] GROUP BY k, window_start, window_end"
    ),
    "SELECT k FROM s WINDOW SESSION (60 SECONDS) GROUP BY k EMIT CHANGES": (
        "SELECT k FROM s [SESSION 1 MINUTE PARTITION BY k] GROUP BY k, window_start, window_end"
    ),
    "SELECT window.start, window.end, w FROM s GROUP BY window(ts, '10 minutes', '5 minutes'), w "
    "ORDER BY window.start": (
        "SELECT window_start AS start, window_end AS `end`, w FROM s [HOP 10 MINUTES BY 5 MINUTES] "
        "GROUP BY w, window_start, window_end ORDER BY window_start"
    ),
    "SELECT window FROM s GROUP BY window(ts, '10 minutes', '10 minutes', '1 minute')": (
        "SELECT window_start, window_end FROM s [TUMBLE 10 MINUTES OFFSET 1 MINUTE] GROUP BY "
        "window_start, window_end"
    ),
    "SELECT session_window.start, window_time(window) AS t FROM s GROUP BY session_window(ts, '5 "
    "minutes'), k": (
        "SELECT window_start AS start, window_time AS t FROM s [SESSION 5 MINUTES PARTITION BY k] "
        "GROUP BY k, window_start, window_end, window_time"
    ),
    "SELECT x FROM s EMIT CHANGES": "SELECT x FROM s",
    "SELECT x FROM TUMBLE(s, ts, INTERVAL '1 min') EMIT ON WINDOW CLOSE": (
        "SELECT x FROM s [TUMBLE 1 MINUTE]"
    ),
    "SELECT x FROM s [PARTITION BY k SESSION 5 MINUTES]": (
        "SELECT x FROM s [SESSION 5 MINUTES PARTITION BY k]"
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_read_as_a_window_of_ours(text: str) -> None:
    found = parse_query(text)
    assert print_statement(found) == TEXTS[text]
    assert parse_query(TEXTS[text]) == found
