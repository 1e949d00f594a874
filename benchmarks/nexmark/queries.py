"""NEXMark's queries in WQL, each with what differs from the published text.

Where the published text reads a whole stream, {w} stands behind its name: nothing is put there for
the published meaning, `[10 SECONDS]` for the same question over a sliding window. Windows that the
published text has are written as there.
"""

from __future__ import annotations

from nexmark.query import AT, Query

__all__ = ["QUERIES"]


def _tumble(stream: str, time: str = "dateTime") -> str:
    return f"TABLE(TUMBLE(TABLE {stream}, DESCRIPTOR({time}), INTERVAL '10' SECOND))"


_HOP = "TABLE(HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))"

# Where the last window of 10 seconds has closed, for DuckDB.
_CLOSED = f"make_timestamptz({AT} // 10000000 * 10000000)"

_CHANNEL = "REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)"

_EXPANDED = (
    "seller, category, A.extra FROM bid {w} AS B INNER JOIN auction {w} AS A ON B.auction = A.id"
    " WHERE A.category = 10"
)

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
    "COUNT_CHAR(extra, 'c')": "length(extra) - length(replace(extra, 'c', ''))",
    _HOUR: "extract(hour FROM dateTime AT TIME ZONE 'UTC')",
    _MINUTE: "strftime(dateTime AT TIME ZONE 'UTC', '%H:%M')",
    _DAY: "strftime(dateTime AT TIME ZONE 'UTC', '%Y-%m-%d')",
}


def _in_duckdb(text: str) -> str:
    for ours, theirs in _IN_DUCKDB.items():
        text = text.replace(ours, theirs)
    return text


def _dated(meaning: str, text: str, around: str | None = None) -> Query:
    """A query with functions that DuckDB writes differently, such as those of dates."""
    return Query(meaning, text, around=around, duckdb=_in_duckdb(text))


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
        "SELECT auction, price FROM bid {w} WHERE MOD(auction, 123) = 0",
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
        "SELECT Q.category, AVG(Q.final) FROM"
        f" (SELECT MAX(B.price) AS final, A.category {_BETWEEN} GROUP BY A.id, A.category) AS Q"
        " GROUP BY Q.category",
        ("auction", "bid"),
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
        changed="`rownum` is computed one query further in: the published text names it, and `A`,"
        " where they are not known; Flink does not run it",
        ties=(
            ("ORDER BY B.price DESC", "ORDER BY B.price DESC, B.dateTime"),
            ("ORDER BY Q.dateTime", "ORDER BY Q.dateTime, Q.final"),
        ),
    ),
    "q7": Query(
        "the highest bid of each 10 s",
        "SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra FROM bid AS B"
        " JOIN (SELECT MAX(price) AS maxprice, window_end AS dateTime"
        f" FROM {_tumble('bid')} GROUP BY window_start, window_end) AS B1 ON B.price = B1.maxprice"
        " WHERE B.dateTime BETWEEN B1.dateTime - INTERVAL '10' SECOND AND B1.dateTime",
        duckdb="SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra FROM bid AS B"
        f" JOIN (SELECT MAX(price) AS maxprice FROM bid WHERE dateTime >= {_CLOSED} -"
        f" INTERVAL 10 SECOND AND dateTime < {_CLOSED}) AS B1 ON B.price = B1.maxprice"
        f" WHERE B.dateTime BETWEEN {_CLOSED} - INTERVAL 10 SECOND AND {_CLOSED}",
        bounded="SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra"
        f" FROM {_tumble('bid')} AS B JOIN (SELECT MAX(price) AS maxprice, window_end AS endtime"
        f" FROM {_tumble('bid')} GROUP BY window_start, window_end) AS B1"
        " ON B.price = B1.maxprice AND B.window_end = B1.endtime",
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
        " (SELECT A.*, B.auction, B.bidder, B.price, B.dateTime AS bid_dateTime,"
        " B.extra AS bid_extra, ROW_NUMBER() OVER"
        f" (PARTITION BY A.id ORDER BY B.price DESC, B.dateTime ASC) AS rownum {_BETWEEN})"
        " WHERE rownum <= 1",
        ("auction", "bid"),
        ties=(("B.dateTime ASC", "B.dateTime ASC, B.bidder, B.extra"),),
    ),
    "q10": _dated(
        "every bid with its day and minute, to files",
        f"SELECT auction, bidder, price, dateTime, extra, {_DAY}, {_MINUTE} FROM bid {{w}}",
        around="no file is written",
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
        f" FROM {_tumble('B', 'p_time')} GROUP BY bidder, window_start, window_end",
        around="`PROCTIME()` is the time of the row: there is no other clock",
        duckdb="SELECT bidder, COUNT(*) AS bid_count, window_start AS starttime, window_end"
        " AS endtime FROM bid GROUP BY bidder, window_start, window_end",
        view=("B", "SELECT *, PROCTIME() AS p_time FROM bid"),
    ),
    "q13": Query(
        "bids with a value of a side table",
        "SELECT B.auction, B.bidder, B.price, B.dateTime, S.value"
        " FROM (SELECT *, PROCTIME() AS p_time FROM bid {w}) AS B"
        " JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.auction, 10000) = S.key",
        around="the side table has a `PRIMARY KEY`, and `PROCTIME()` is the time of the row",
        duckdb="SELECT B.auction, B.bidder, B.price, B.dateTime, S.value"
        " FROM bid AS B JOIN side_input AS S ON B.auction % 10000 = S.key",
    ),
    "q14": _dated(
        "bids of a range of prices, with the time of day",
        "SELECT auction, bidder, 0.908 * price AS price,"
        f" CASE WHEN {_HOUR} >= 8 AND {_HOUR} <= 18 THEN 'dayTime'"
        f" WHEN {_HOUR} <= 6 OR {_HOUR} >= 20 THEN 'nightTime'"
        " ELSE 'otherTime' END AS bidTimeType, dateTime, extra,"
        " COUNT_CHAR(extra, 'c') AS c_counts FROM bid {w}"
        " WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000",
        around="`count_char` is a function of Python, by `session.function`",
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
        "SELECT auction, bidder, price, channel, url, B.dateTime, B.extra,"
        f" itemName, description, initialBid, reserve, A.dateTime, expires, {_EXPANDED}",
        ("bid", "auction"),
        # Over sliding windows, no two columns of an answer may have one name.
        bounded="SELECT auction, bidder, price, channel, url, B.dateTime AS bid_dateTime,"
        " B.extra AS bid_extra, itemName, description, initialBid, reserve, A.dateTime,"
        f" expires, {_EXPANDED}",
    ),
    "q21": Query(
        "bids with the number of their channel",
        "SELECT auction, bidder, price, channel, CASE WHEN LOWER(channel) = 'apple' THEN '0'"
        " WHEN LOWER(channel) = 'google' THEN '1' WHEN LOWER(channel) = 'facebook' THEN '2'"
        f" WHEN LOWER(channel) = 'baidu' THEN '3' ELSE {_CHANNEL} END AS channel_id"
        f" FROM bid {{w}} WHERE {_CHANNEL} <> ''"
        " OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')",
        changed="`<> ''` for `IS NOT NULL`: where nothing matches, `REGEXP_EXTRACT` gives an empty"
        " text, as in Spark",
    ),
    "q22": Query(
        "the three folders of each bid's URL",
        "SELECT auction, bidder, price, channel, SPLIT_PART(url, '/', 4) AS dir1,"
        " SPLIT_PART(url, '/', 5) AS dir2, SPLIT_PART(url, '/', 6) AS dir3 FROM bid {w}",
        changed="`SPLIT_PART(url, '/', 4)`, which counts from 1, for `SPLIT_INDEX(url, '/', 3)`",
    ),
}
