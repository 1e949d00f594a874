"""NEXMark's queries in WQL, each with what had to be changed, or why it cannot be said yet.

Where the published text reads a whole stream, {w} stands behind its name: nothing is put there for
the published meaning, `[10 SECONDS]` for the same question over a sliding window. Windows that the
published text has are written as there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["AT", "QUERIES", "WINDOW", "Query"]

WINDOW = "[10 SECONDS]"
# Stands for the instant, in microseconds, in what DuckDB computes.
AT = "INSTANT_US"
# A window of 10 seconds of a stream: for DuckDB, a table of the rows in it with its bounds.
_TABLE = re.compile(r"TABLE\(\w+\(TABLE (\w+), DESCRIPTOR\(\w+\)(?:, INTERVAL '\d+' SECOND)+\)\)")


def _tumble(stream: str) -> str:
    return f"TABLE(TUMBLE(TABLE {stream}, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))"


_HOP = "TABLE(HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))"


@dataclass(frozen=True)
class Query:
    """One query. changed: how the text differs from the published one; None: it does not.

    text: None where it cannot be said; then `changed` says why. duckdb: what means the same there,
    where the text itself does not. ties: orders, and with them all columns that decide between
    equal rows: these Windrow orders by their columns, and DuckDB as it likes.
    """

    meaning: str
    text: str | None
    streams: tuple[str, ...] = ("bid",)
    changed: str | None = None
    duckdb: str | None = None
    ties: tuple[tuple[str, str], ...] = ()

    @property
    def has_free_windows(self) -> bool:
        """Whether the published text reads a stream without a window."""
        return self.text is not None and "{w}" in self.text

    def wql(self, *, is_windowed: bool) -> str:
        """What runs, as published or over sliding windows."""
        assert self.text is not None
        return self.text.format(w=WINDOW if is_windowed else "")

    @property
    def sql(self) -> str:
        """What DuckDB computes over tables that hold the rows in the windows."""
        assert self.text is not None
        text = self.duckdb or self.text
        for order, whole_order in self.ties:
            assert order in text
            text = text.replace(order, whole_order)
        return _TABLE.sub(r"\1", text.format(w=""))


_BETWEEN = (
    "FROM auction {w} AS A, bid {w} AS B"
    " WHERE A.id = B.auction AND B.dateTime BETWEEN A.dateTime AND A.expires"
)

_RANKS = """
  COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids,
  COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
  COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids"""

_STATISTICS = f"""COUNT(*) AS total_bids,{_RANKS},
  COUNT(DISTINCT bidder) AS total_bidders,
  COUNT(DISTINCT bidder) FILTER (WHERE price < 10000) AS rank1_bidders,
  COUNT(DISTINCT bidder) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bidders,
  COUNT(DISTINCT bidder) FILTER (WHERE price >= 1000000) AS rank3_bidders,
  COUNT(DISTINCT auction) AS total_auctions,
  COUNT(DISTINCT auction) FILTER (WHERE price < 10000) AS rank1_auctions,
  COUNT(DISTINCT auction) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_auctions,
  COUNT(DISTINCT auction) FILTER (WHERE price >= 1000000) AS rank3_auctions"""

_DAY = "DATE_FORMAT(dateTime, 'yyyy-MM-dd')"
_HOUR = "HOUR(dateTime)"
_MINUTE = "DATE_FORMAT(dateTime, 'HH:mm')"
_IN_DUCKDB = {
    _HOUR: "extract(hour FROM dateTime AT TIME ZONE 'UTC')",
    _MINUTE: "strftime(dateTime AT TIME ZONE 'UTC', '%H:%M')",
    _DAY: "strftime(dateTime AT TIME ZONE 'UTC', '%Y-%m-%d')",
}


def _in_duckdb(text: str) -> str:
    for ours, theirs in _IN_DUCKDB.items():
        text = text.replace(ours, theirs)
    return text


def _dated(
    meaning: str, text: str, streams: tuple[str, ...] = ("bid",), changed: str | None = None
) -> Query:
    """A query with functions of dates that DuckDB writes differently."""
    return Query(meaning, text, streams, changed, _in_duckdb(text))


QUERIES: dict[str, Query] = {
    "q0": Query(
        "every bid, passed through",
        "SELECT auction, bidder, price, dateTime, extra FROM bid {w}",
    ),
    "q1": Query(
        "prices in another currency",
        "SELECT auction, bidder, 0.908 * price AS price, dateTime, extra FROM bid {w}",
    ),
    "q2": Query(
        "bids on some auctions",
        "SELECT auction, price FROM bid {w} WHERE auction % 123 = 0",
        changed="`auction % 123` for `MOD(auction, 123)`",
    ),
    "q3": Query(
        "who sells in category 10 in three states",
        "SELECT P.name, P.city, P.state, A.id"
        " FROM auction {w} AS A INNER JOIN person {w} AS P ON A.seller = P.id"
        " WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA')",
        ("auction", "person"),
    ),
    "q4": Query(
        "the mean of closing prices, by category",
        "SELECT Q.category, AVG(Q.final) AS mean FROM"
        f" (SELECT MAX(B.price) AS final, A.category {_BETWEEN} GROUP BY A.id, A.category) AS Q"
        " GROUP BY Q.category",
        ("auction", "bid"),
        changed="the mean has a name",
    ),
    "q5": Query(
        "the auctions with most bids in 10 s, every 2 s",
        "SELECT AuctionBids.auction, AuctionBids.num FROM"
        " (SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime"
        f" FROM {_HOP} GROUP BY auction, window_start, window_end) AS AuctionBids"
        " JOIN (SELECT MAX(CountBids.num) AS maxn, CountBids.starttime, CountBids.endtime FROM"
        " (SELECT COUNT(*) AS num, window_start AS starttime, window_end AS endtime"
        f" FROM {_HOP} GROUP BY auction, window_start, window_end) AS CountBids"
        " GROUP BY CountBids.starttime, CountBids.endtime) AS MaxBids"
        " ON AuctionBids.starttime = MaxBids.starttime AND AuctionBids.endtime = MaxBids.endtime"
        " AND AuctionBids.num >= MaxBids.maxn",
    ),
    "q6": Query(
        "the mean of the last closing prices of each seller",
        "SELECT Q.seller, AVG(Q.final) OVER"
        " (PARTITION BY Q.seller ORDER BY Q.dateTime ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)"
        " AS mean FROM (SELECT final, seller, dateTime FROM"
        " (SELECT B.price AS final, A.seller, B.dateTime, ROW_NUMBER() OVER"
        f" (PARTITION BY A.id, A.seller ORDER BY B.price DESC) AS rownum {_BETWEEN})"
        " WHERE rownum <= 1) AS Q",
        ("auction", "bid"),
        changed="the winning bid by `ROW_NUMBER`, since the published inner `SELECT` names"
        " a column (`B.dateTime`) that it does not group by; Flink does not run it",
        ties=(
            ("ORDER BY B.price DESC", "ORDER BY B.price DESC, B.dateTime"),
            ("ORDER BY Q.dateTime", "ORDER BY Q.dateTime, Q.final"),
        ),
    ),
    "q7": Query(
        "the highest bid of each 10 s",
        f"SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra FROM {_tumble('bid')} AS B"
        " JOIN (SELECT MAX(price) AS maxprice, window_end AS endtime"
        f" FROM {_tumble('bid')} GROUP BY window_start, window_end) AS B1"
        " ON B.price = B1.maxprice AND B.window_end = B1.endtime",
        changed="both sides in their window: published, one side is the whole stream, with a"
        " condition on times (which runs, too, and keeps every bid)",
    ),
    "q8": Query(
        "who registered and opened an auction in the same 10 s",
        "SELECT P.id, P.name, P.starttime FROM"
        " (SELECT id, name, window_start AS starttime, window_end AS endtime"
        f" FROM {_tumble('person')} GROUP BY id, name, window_start, window_end) AS P"
        " JOIN (SELECT seller, window_start AS starttime, window_end AS endtime"
        f" FROM {_tumble('auction')} GROUP BY seller, window_start, window_end) AS A"
        " ON P.id = A.seller AND P.starttime = A.starttime AND P.endtime = A.endtime",
        ("person", "auction"),
    ),
    "q9": Query(
        "the winning bid of each auction",
        "SELECT id, itemName, description, initialBid, reserve, dateTime, expires, seller,"
        " category, extra, auction, bidder, price, bid_dateTime, bid_extra FROM"
        " (SELECT A.id, A.itemName, A.description, A.initialBid, A.reserve, A.dateTime, A.expires,"
        " A.seller, A.category, A.extra, B.auction, B.bidder, B.price, B.dateTime AS bid_dateTime,"
        " B.extra AS bid_extra, ROW_NUMBER() OVER"
        f" (PARTITION BY A.id ORDER BY B.price DESC, B.dateTime ASC) AS rownum {_BETWEEN})"
        " WHERE rownum <= 1",
        ("auction", "bid"),
        changed="columns are named instead of `A.*`, of which two are called as those of `B`",
        ties=(("B.dateTime ASC", "B.dateTime ASC, B.bidder, B.extra"),),
    ),
    "q10": _dated(
        "every bid with its day and minute, to files",
        f"SELECT auction, bidder, price, dateTime, extra, {_DAY} AS day, {_MINUTE} AS minute"
        " FROM bid {w}",
        changed="no file is written",
    ),
    "q11": Query(
        "how often each bidder bids in a session",
        "SELECT B.bidder, COUNT(*) AS bid_count,"
        " SESSION_START(B.dateTime, INTERVAL '10' SECOND) AS starttime,"
        " SESSION_END(B.dateTime, INTERVAL '10' SECOND) AS endtime"
        " FROM bid AS B GROUP BY B.bidder, SESSION(B.dateTime, INTERVAL '10' SECOND)",
        duckdb="WITH marked AS (SELECT bidder, dateTime, CASE WHEN dateTime > lag(dateTime) OVER w"
        " + INTERVAL 10 SECOND THEN 1 ELSE 0 END AS new FROM bid"
        " WINDOW w AS (PARTITION BY bidder ORDER BY dateTime)), numbered AS"
        " (SELECT *, SUM(new) OVER (PARTITION BY bidder ORDER BY dateTime) AS run FROM marked)"
        " SELECT bidder, COUNT(*) AS bid_count, MIN(dateTime) AS starttime,"
        " MAX(dateTime) + INTERVAL 10 SECOND AS endtime FROM numbered GROUP BY bidder, run"
        f" HAVING MAX(dateTime) + INTERVAL 10 SECOND >= make_timestamptz({AT})",
    ),
    "q12": Query(
        "how often each bidder bids in 10 s of processing time",
        "SELECT bidder, COUNT(*) AS bid_count, window_start AS starttime, window_end AS endtime"
        f" FROM {_tumble('bid')} GROUP BY bidder, window_start, window_end",
        changed="event time for processing time, which there is none of",
    ),
    "q13": Query(
        "bids with a value of a side table",
        "SELECT B.auction, B.bidder, B.price, B.dateTime, S.value"
        " FROM bid {w} AS B JOIN side_input AS S ON B.auction % 10000 = S.key",
        ("bid", "side_input"),
        changed="the side table is a stream, unbounded, all of whose rows come first: tables come"
        " later; so `FOR SYSTEM_TIME` is left out",
    ),
    "q14": _dated(
        "bids of a range of prices, with the time of day",
        "SELECT auction, bidder, 0.908 * price AS price,"
        f" CASE WHEN {_HOUR} >= 8 AND {_HOUR} <= 18 THEN 'dayTime'"
        f" WHEN {_HOUR} <= 6 OR {_HOUR} >= 20 THEN 'nightTime'"
        " ELSE 'otherTime' END AS bidTimeType, dateTime, extra FROM bid {w}"
        " WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000",
        changed="without `count_char(extra, 'c')`, a function of the user's own",
    ),
    "q15": _dated(
        "counts of bids, bidders and auctions by rank of price, each day",
        f"SELECT {_DAY} AS day, {_STATISTICS} FROM bid {{w}} GROUP BY {_DAY}",
    ),
    "q16": _dated(
        "the same for each channel",
        f"SELECT channel, {_DAY} AS day, MAX({_MINUTE}) AS minute, {_STATISTICS}"
        f" FROM bid {{w}} GROUP BY channel, {_DAY}",
    ),
    "q17": _dated(
        "counts and prices of the bids on each auction, each day",
        f"SELECT auction, {_DAY} AS day, COUNT(*) AS total_bids,{_RANKS}, MIN(price) AS min_price,"
        " MAX(price) AS max_price, AVG(price) AS avg_price, SUM(price) AS sum_price"
        f" FROM bid {{w}} GROUP BY auction, {_DAY}",
    ),
    "q18": Query(
        "the last bid of each bidder on each auction",
        "SELECT auction, bidder, price, channel, url, dateTime, extra FROM"
        " (SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC)"
        " AS rank_number FROM bid {w}) WHERE rank_number <= 1",
        ties=(("dateTime DESC", "dateTime DESC, price, channel, url, extra"),),
    ),
    "q19": Query(
        "the ten highest bids on each auction",
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC)"
        " AS rank_number FROM bid {w}) WHERE rank_number <= 10",
        ties=(("price DESC", "price DESC, bidder, channel, url, dateTime, extra"),),
    ),
    "q20": Query(
        "bids with their auctions of category 10",
        "SELECT auction, bidder, price, channel, url, B.dateTime AS bid_dateTime,"
        " B.extra AS bid_extra, itemName, description, initialBid, reserve, A.dateTime, expires,"
        " seller, category, A.extra"
        " FROM bid {w} AS B INNER JOIN auction {w} AS A ON B.auction = A.id WHERE A.category = 10",
        ("bid", "auction"),
        changed="columns of the same name are given others",
    ),
    "q21": Query(
        "bids with the number of their channel",
        None,
        changed="`REGEXP_EXTRACT` does not exist yet",
    ),
    "q22": Query(
        "the three folders of each bid's URL",
        None,
        changed="`SPLIT_INDEX` does not exist yet",
    ),
}
