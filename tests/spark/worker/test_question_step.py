"""A continuous question of the past in its bucket: told as in process, through restarts too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark.worker.test_history_step import give, one_by_one
from support.history_truth import KEYS, LEVELS, MEASURES
from support.oracle import assert_same_rows, rows_of
from support.spark.question_bucket import QuestionBucket
from support.streams import SECOND_US, STREAMS, Action, Heartbeat, batch_of, scenarios
from windrow.embedded import EmbeddedSession
from windrow.spark.worker import history_segments

QUESTIONS = (
    "SELECT COUNT(*) AS n, SUM(k) AS total, MAX(d) AS most FROM HISTORY(a) [FROM '{since}' TO NOW]",
    "SELECT s, COUNT(*) AS n, AVG(k) AS mean FROM HISTORY(a) [FROM '{since}' TO NOW] GROUP BY s",
    "SELECT o, MIN(d) AS least FROM HISTORY(a) [FROM '{since}' TO NOW] WHERE s IS NOT NULL "
    "GROUP BY o HAVING COUNT(*) > 2",
)
EVERY = ("", " EVERY (1 SECOND)", " EVERY (3 SECONDS)")


def session_of_a(levels: list[Any]) -> EmbeddedSession:
    session = EmbeddedSession()
    columns = {column.name: str(column.type) for column in STREAMS["a"].columns}
    session.stream("a", columns, time="ts", lateness=STREAMS["a"].lateness_us / SECOND_US)
    session.history("a", measures=MEASURES, by=KEYS, levels=levels)
    return session


@pytest.mark.parametrize("spare", [0, 1 << 20], ids=["snapshots", "segments"])
@given(
    actions=scenarios(most_rows=24, streams="a"),
    levels=st.sampled_from(LEVELS),
    text=st.sampled_from(QUESTIONS),
    every=st.sampled_from(EVERY),
    data=st.data(),
)
def test_it_tells_what_a_session_in_this_process_tells(
    spare: int, actions: list[Action], levels: list[Any], text: str, every: str, data: st.DataObject
) -> None:
    since = data.draw(st.sampled_from(["1970-01-01", "2023-11-14 22:13:21.5"]))
    asked = text.format(since=since) + every
    before = history_segments.SPARE_BYTES
    history_segments.SPARE_BYTES = spare
    try:
        bucket = QuestionBucket(STREAMS["a"], asked, measures=MEASURES, by=KEYS, levels=levels)
        session = session_of_a(levels)
        query = session.query(asked)
        restart_at = data.draw(st.integers(0, 24))
        for number, action in enumerate(one_by_one(actions)):
            if number == restart_at:
                bucket.restart()
            give(bucket, action)
            if isinstance(action, Heartbeat):
                session.advance("a", to=action.to_us)
            else:
                session.push("a", batch_of("a", action.rows))
        bucket.finish()
        bucket.finish()  # what has been told is not told again
    finally:
        history_segments.SPARE_BYTES = before
    session.finish()
    assert_same_rows(rows_of(bucket.told["result"][-1]), rows_of(query.result()))
    for feed in ("answers", "changes"):
        found, wanted = bucket.all_of(feed), getattr(query, feed)()
        assert found.schema == wanted.schema
        assert_same_rows(rows_of(found), rows_of(wanted))
