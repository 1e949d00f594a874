"""Every form of query that the language has, and the rows that all of them are run over.

A form that a runner does not take has a gap on its line, with the reason.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from support.streams import SECOND_US, TICK_US, Push, instant

__all__ = ["FORMS", "PUSHES", "Form"]


@dataclass(frozen=True)
class Form:
    """A query over the streams a, b and c; gaps: why a runner does not take it, by runner."""

    text: str
    gaps: Mapping[str, str] = field(default_factory=dict)


# The join that most forms are about.
JOINED = "FROM a [4 SECONDS], b [3 SECONDS] WHERE"
SIX = ("a", "b", "c", "a", "b", "c")
CHAINED = " AND ".join(f"x{i}.k = x{i + 1}.k" for i in range(5))

FORMS = {
    # aggregates of one window, by kind of window
    "count": Form("SELECT COUNT(*) AS n, COUNT(d) AS m FROM a [3 SECONDS]"),
    "range": Form("SELECT SUM(k) AS s FROM a [RANGE Now-3, Now]"),
    "slide": Form("SELECT COUNT(*) AS n FROM a [RANGE 3 SECONDS SLIDE 1 SECOND]"),
    "tumble": Form("SELECT k, COUNT(*) AS n FROM a [TUMBLE 2 SECONDS] GROUP BY k"),
    "hop": Form("SELECT COUNT(*) AS n FROM a [HOP 3 SECONDS BY 2 SECONDS OFFSET 1 SECOND]"),
    "tumbling": Form("SELECT SUM(p) AS s FROM a [RANGE 2 SECONDS SLIDE 2 SECONDS]"),
    "last-rows": Form("SELECT COUNT(*) AS n, SUM(k) AS s FROM a [ROWS 5]"),
    "last-rows-filtered": Form("SELECT COUNT(*) AS n FROM a [ROWS 4] WHERE d > 0.2"),
    "last-rows-by-key": Form("SELECT s, AVG(d) AS m FROM a [PARTITION BY s ROWS 2] GROUP BY s"),
    "unbounded": Form("SELECT k, COUNT(*) AS n, SUM(l) AS s FROM a [UNBOUNDED] GROUP BY k"),
    "no-window": Form("SELECT MAX(d) AS most, MIN(p) AS least FROM a"),
    "now": Form("SELECT COUNT(*) AS n FROM a [1 MICROSECOND]"),
    # aggregate functions
    "sums": Form("SELECT SUM(d) AS d, SUM(p) AS p, SUM(l) AS l, SUM(f) AS f FROM a [3 SECONDS]"),
    "means": Form("SELECT AVG(d) AS d, AVG(p) AS p, AVG(k) AS k FROM a [3 SECONDS]"),
    "extremes": Form(
        "SELECT k, MIN(d) AS least, MAX(d) AS most, MAX(y) AS day FROM a [3 SECONDS] GROUP BY k"
    ),
    "variances": Form(
        "SELECT STDDEV(k) AS d, VAR_POP(k) AS v, VARIANCE(l) AS w, STDDEV_POP(k) AS q"
        " FROM a [4 SECONDS]"
    ),
    "distinct-values": Form(
        "SELECT k, COUNT(DISTINCT s) AS n, COUNT(DISTINCT d) AS m FROM a [4 SECONDS] GROUP BY k"
    ),
    "around-aggregates": Form(
        "SELECT k, SUM(l) / COUNT(*) AS m, COALESCE(MAX(d), 0) AS most FROM a [3 SECONDS]"
        " WHERE NOT o GROUP BY k"
    ),
    # groups
    "by-text": Form("SELECT s, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY s"),
    "by-decimal": Form("SELECT p, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY p"),
    "by-double": Form("SELECT d, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY d"),
    "by-date-and-flag": Form("SELECT y, o, SUM(k) AS t FROM a [3 SECONDS] GROUP BY y, o"),
    "by-functions": Form(
        "SELECT LEFT(UPPER(s), 1) AS e, COUNT(*) AS n FROM a [3 SECONDS] "
        "WHERE CONTAINS(s, 'x') OR s ILIKE 'Y%' GROUP BY LEFT(UPPER(s), 1)"
    ),
    "by-expression": Form("SELECT k % 2 AS e, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY k % 2"),
    "having": Form("SELECT k, SUM(l) AS t FROM a [3 SECONDS] GROUP BY k HAVING COUNT(*) > 1"),
    "every": Form("SELECT k, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY k EVERY (2 SECONDS)"),
    "every-without-groups": Form("SELECT AVG(d) AS m FROM a [2 SECONDS] EVERY (1500 MILLISECONDS)"),
    # joins
    "join": Form(
        f"SELECT COUNT(*) AS n, SUM(a.d) AS t {JOINED} a.k = b.k"
    ),
    "join-grouped": Form(
        "SELECT a.k, COUNT(*) AS n, AVG(b.d) AS m FROM a [4 SECONDS] JOIN b [4 SECONDS]"
        " ON a.k = b.k WHERE b.l IS NOT NULL GROUP BY a.k HAVING COUNT(*) > 1"
    ),
    "join-by-text": Form(
        f"SELECT COUNT(*) AS n {JOINED} a.s = b.s"
    ),
    "join-by-double": Form(
        f"SELECT COUNT(*) AS n {JOINED} a.d = b.d"
    ),
    "join-by-decimal": Form(
        f"SELECT SUM(b.k) AS t {JOINED} a.p = b.p"
    ),
    "join-by-two-keys": Form(
        "SELECT a.s, COUNT(*) AS n FROM a [5 SECONDS], b [5 SECONDS]"
        " WHERE a.k = b.k AND a.s = b.s GROUP BY a.s"
    ),
    "join-slide-every": Form(
        "SELECT a.k, COUNT(*) AS n FROM a [4 SECONDS], b [RANGE 4 SECONDS SLIDE 2 SECONDS]"
        " WHERE a.k = b.k GROUP BY a.k EVERY (2 SECONDS)"
    ),
    "join-last-rows": Form(
        "SELECT COUNT(*) AS n FROM a [ROWS 6], b [PARTITION BY k ROWS 2] WHERE a.k = b.k"
    ),
    "join-products": Form(
        f"SELECT SUM(a.l * b.l - a.k) AS t {JOINED} a.k = b.k"
    ),
    "join-extremes": Form(
        "SELECT b.k, MAX(a.d) AS most, MIN(b.p) AS least, COUNT(DISTINCT a.s) AS n"
        f" {JOINED} a.k = b.k GROUP BY b.k EVERY (1 SECOND)"
    ),
    "join-most": Form(
        f"SELECT MAX(a.d) AS most {JOINED} a.k = b.k"
    ),
    "join-truths": Form(
        "SELECT a.k, COUNT_IF(a.d > 0.2) AS high, BOOL_AND(b.l > 0) AS above, BOOL_OR(a.o) AS some"
        f" {JOINED} a.k = b.k GROUP BY a.k"
    ),
    "join-other-groups": Form(
        f"SELECT a.s, b.o, COUNT(*) AS n {JOINED} a.k = b.k GROUP BY a.s, b.o"
    ),
    "self-join": Form(
        "SELECT COUNT(*) AS n FROM a [4 SECONDS] AS x, a [2 SECONDS] AS y WHERE x.k = y.k"
    ),
    "residual": Form(
        f"SELECT COUNT(*) AS n, SUM(ABS(a.k - b.l)) AS t {JOINED} a.s = b.s AND a.k > b.l"
    ),
    "unequal": Form("SELECT COUNT(*) AS n FROM a [ROWS 5], b [2 SECONDS] WHERE a.k > b.k"),
    "cross": Form("SELECT COUNT(*) AS n, SUM(a.k) AS t FROM a [2 SECONDS], b [1 SECOND]"),
    "star": Form(
        "SELECT COUNT(*) AS n, SUM(a.k * b.l) AS t, STDDEV(c.l) AS d FROM a [4 SECONDS],"
        " b [3 SECONDS], c [3 SECONDS] WHERE a.k = b.k AND b.k = c.k"
    ),
    "chain": Form(
        "SELECT a.k, COUNT(*) AS n, MAX(c.d) AS most FROM a [4 SECONDS], b [3 SECONDS],"
        " c [4 SECONDS] WHERE a.k = b.k AND b.s = c.s GROUP BY a.k"
    ),
    "six": Form(
        "SELECT COUNT(*) AS n FROM "
        f"{', '.join(f'{s} [1 SECOND] AS x{i}' for i, s in enumerate(SIX))} WHERE {CHAINED}"
    ),
    # rows
    "select": Form("SELECT k, d * 2 AS twice, s FROM a [2 SECONDS] WHERE k IS NOT NULL"),
    "select-all": Form("SELECT * FROM c [2 SECONDS]"),
    "select-last-rows": Form("SELECT k, p FROM a [PARTITION BY k ROWS 2]"),
    "select-slide": Form("SELECT s FROM a [RANGE 2 SECONDS SLIDE 1 SECOND] EVERY (2 SECONDS)"),
    "select-forever": Form("SELECT k, CASE WHEN o THEN s END AS t FROM a WHERE s LIKE 'x%'"),
    "joined-rows": Form(
        "SELECT a.s, b.d - a.d AS w FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k AND b.l > 0"
    ),
    "distinct": Form("SELECT DISTINCT s, o FROM a [3 SECONDS]"),
    "distinct-joined": Form(
        f"SELECT DISTINCT a.d AS v {JOINED} a.k = b.k EVERY (2 SECONDS)"
    ),
    # negations
    "not-exists": Form(
        "SELECT k, s FROM a [4 SECONDS] WHERE NOT EXISTS"
        " (SELECT 1 FROM b [1 SECOND] WHERE b.k = a.k)"
    ),
    "anti-join-count": Form(
        "SELECT a.k, COUNT(*) AS n FROM a [4 SECONDS] LEFT ANTI JOIN b [2 SECONDS]"
        " ON b.k = a.k AND b.l > a.k GROUP BY a.k"
    ),
    "two-negations": Form(
        "SELECT COUNT(*) AS n FROM a [4 SECONDS] LEFT ANTI JOIN b [1 SECOND] ON b.k = a.k"
        " WHERE NOT EXISTS (SELECT 1 FROM c [1 SECOND] WHERE c.s = a.s)"
    ),
    "joined-and-negated": Form(
        "SELECT a.s, b.l FROM a [3 SECONDS], b [3 SECONDS] WHERE a.k = b.k AND NOT EXISTS"
        " (SELECT 1 FROM c [2 SECONDS] WHERE c.k = a.k)"
    ),
    # service
    "error": Form(
        "SELECT COUNT(*) AS n FROM a [4 SECONDS] ERROR (20%)",
    ),
    "error-grouped": Form(
        "SELECT k, SUM(l) AS t FROM a [4 SECONDS] GROUP BY k ERROR (10%) EVERY (1 SECOND)",
    ),
    "duration": Form("SELECT k, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY k DURATION [0, 1000]"),
}  # fmt: skip

TEXTS = ("", "x", "x", "xy", "é", "a'b", None)
DOUBLES = (0.0, -0.0, 1.0, 0.5, 0.1, -2.25, 1e16, math.nan, None)
# Ticks by which rows of a stream may be out of order without being late.
SHIFTS = {"a": -3, "b": 0, "c": -1}
NUMBERS = (0, 1, 2, 3, -4, 2**40, None)


def _row(draw: random.Random, stream: str, time_us: int) -> dict[str, object]:
    scale = {"a": 2, "b": 3, "c": 1}[stream]
    row: dict[str, object] = {
        "ts": instant(time_us),
        "k": draw.choice((0, 0, 1, 1, 2, None)),
        "l": draw.choice((0, 1, 2, -3, None) if stream == "b" else NUMBERS),
        "s": draw.choice(TEXTS),
        "d": draw.choice(DOUBLES),
        "f": draw.choice((0.0, 1.5, -2.25, None)),
        "p": draw.choice((None, *(Decimal(n).scaleb(-scale) for n in (0, 5, -12, 100)))),
        "o": draw.choice((True, False, None)),
        "y": draw.choice((date(1969, 12, 31), date(2024, 2, 29), None)),
    }
    return {**row, "x": draw.choice((1, 2, None))} if stream == "c" else row


def _pushes(rows: int, seed: int) -> tuple[Push, ...]:
    """Batches of up to four rows, with ties and silence, some rows out of order, some late.

    Only the first row of a batch is late: on Spark a batch makes none of its own rows late.
    """
    draw = random.Random(seed)
    now_us = 1_700_000_000 * SECOND_US
    made: list[Push] = []
    while rows > 0:
        stream = draw.choice("aabbc")
        batch = []
        for number in range(draw.choice((1, 1, 2, 4))):
            now_us += draw.choice((0, 0, 1, 1, 2, 3)) * TICK_US
            shift = draw.choice((0, 0, 0, -2, -9) if number == 0 else (0, 0, SHIFTS[stream]))
            jitter_us = draw.choice((0, 0, 1)) if stream == "a" else 0
            batch.append(_row(draw, stream, now_us + shift * TICK_US + jitter_us))
        made.append(Push(stream, tuple(batch)))
        rows -= len(batch)
    return tuple(made)


PUSHES = _pushes(rows=64, seed=32)
