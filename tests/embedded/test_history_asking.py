"""Questions about the past: generated streams and histories against DuckDB over all rows."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from support.history_truth import (
    KEYS,
    LEVELS,
    MEASURES,
    Question,
    check,
    give,
    questions,
    session_of,
    through_of,
)
from support.oracle import assert_same_rows, order_of, rows_of, same_value
from support.runners import Model
from support.streams import Action, scenarios, split
from windrow.embedded import EmbeddedSession

keys_kept = st.sampled_from([(), ("s",), ("y",), ("s", "o"), KEYS])
levels_kept = st.sampled_from(LEVELS)
FOREVER = [("1 second", "forever")]


def keep(
    session: EmbeddedSession, keys: tuple[str, ...], levels: list, split_above: int | None = None
) -> None:
    session.history("a", measures=MEASURES, by=keys, levels=levels, split_above=split_above)


def forgets(levels: list) -> bool:
    return levels[-1][1] not in (None, "forever")


@given(
    scenarios(most_rows=40, streams="aaab"), keys_kept, levels_kept,
    st.sampled_from([None, 0, 1]), st.data(),
)  # fmt: skip
def test_answers_hold_of_all_rows_there_ever_were(
    actions: list[Action], keys: tuple, levels: list, split_above: int | None, data: st.DataObject
) -> None:
    session, model = session_of(), Model()
    declared_at = data.draw(st.sampled_from([0, 0, 0, len(actions) // 2]))
    asked = []
    for number, action in enumerate([*actions, None]):
        if number == declared_at:
            keep(session, keys, levels, split_above)
        if action is None:
            session.finish()
        else:
            give(session, action)
            model.take(action)
        if number >= declared_at and (number % 4 == 3 or action is None):
            question = data.draw(questions(actions, keys))
            now = model.streams["a"].newest if action is None else through_of(model)
            until = now + 1 if question.until_us is None else question.until_us
            asked.append(
                (session.ask(question.of_history), question, max(until, question.since_us))
            )
    for table, question, until in asked:
        check(table, question, until, model.rows()["a"], forgets=forgets(levels))


@given(scenarios(most_rows=30, streams="aa"), keys_kept, st.data())
def test_what_is_kept_and_complete_is_exact(
    actions: list[Action], keys: tuple, data: st.DataObject
) -> None:
    session, model = session_of(), Model()
    # Few rows in a node of the coarser level: the tree keeps the rows themselves.
    keep(session, keys, [*FOREVER, ("1 hour", "forever")], 100)
    for action in actions:
        give(session, action)
        model.take(action)
    session.finish()
    question = data.draw(questions(actions, keys))
    table = session.ask(question.of_history)
    until = model.streams["a"].newest + 1 if question.until_us is None else question.until_us
    assert table["exact"].to_pylist() == [True] * table.num_rows
    shown = table.select(range(len(question.groups) + len(question.items)))
    wanted = question.truth(model.rows()["a"], max(until, question.since_us))
    assert shown.num_rows == len(wanted)
    check(table, question, max(until, question.since_us), model.rows()["a"], forgets=False)


@given(scenarios(most_rows=30, streams="aa"), keys_kept, levels_kept, st.data())
def test_batches_do_not_show(
    actions: list[Action], keys: tuple, levels: list, data: st.DataObject
) -> None:
    other = data.draw(split(actions))
    question = data.draw(questions(actions, keys))
    answers = []
    for each in (actions, other):
        session = session_of()
        keep(session, keys, levels)
        for action in each:
            give(session, action)
        answers.append(session.ask(question.of_history))
    assert answers[0].schema == answers[1].schema
    assert_same_rows(*(rows_of(answer) for answer in answers))


@given(scenarios(most_rows=30, streams="aa"), keys_kept, levels_kept, st.data())
def test_progressive_answers_only_tighten(
    actions: list[Action], keys: tuple, levels: list, data: st.DataObject
) -> None:
    session, model = session_of(), Model()
    keep(session, keys, levels)
    for action in actions:
        give(session, action)
        model.take(action)
    question = data.draw(questions(actions, keys))
    until = through_of(model) + 1 if question.until_us is None else question.until_us
    until = max(until, question.since_us)
    plain = session.ask(question.of_history)
    tables = list(session.ask(question.of_history, progressive=True))
    assert 1 <= len(tables) <= len(levels) + 1
    session.finish()
    rows = model.rows()["a"]
    for table in tables:
        check(table, question, until, rows, forgets=forgets(levels))
    for coarse, fine in pairwise(tables):
        assert_within(fine, coarse, len(question.groups), len(question.items))
    assert_within(tables[-1], plain, len(question.groups), len(question.items))
    if all(plain["exact"].to_pylist()):
        assert_same_rows(rows_of(tables[-1]), rows_of(plain))


def assert_within(fine: pa.Table, coarse: pa.Table, groups: int, items: int) -> None:
    """All bounds of the finer answer lie between those of the coarser one."""
    wide = {tuple(map(order_of, row[:groups])): row for row in rows_of(coarse)}
    for row in rows_of(fine):
        before = wide[tuple(map(order_of, row[:groups]))]
        for item in range(items):
            if row[groups + item] is None:
                continue
            place = groups + items + 2 * item
            low, high = row[place : place + 2]
            if before[place] is not None:
                assert low is not None
                assert order_of(low) >= order_of(before[place]) or same_value(low, before[place])
            if before[place + 1] is not None:
                assert high is not None
                assert order_of(high) <= order_of(before[place + 1]) or same_value(
                    high, before[place + 1]
                )


@given(scenarios(most_rows=40, streams="aaa"), keys_kept, st.data())
def test_an_archive_answers_as_if_all_were_kept(
    tmp_path_factory, actions: list[Action], keys: tuple, data: st.DataObject
) -> None:
    levels = data.draw(st.sampled_from(LEVELS[2:]))
    kept = [*levels[:-1], (levels[-1][0], "forever")]
    question = data.draw(questions(actions, keys))
    folder: Path = tmp_path_factory.mktemp("archive") / "nodes"
    answers = []
    for chosen, archive in ((levels, folder), (kept, None)):
        session = session_of()
        session.history("a", measures=MEASURES, by=keys, levels=chosen, archive=archive)
        for action in actions:
            give(session, action)
        answers.append(session.ask(question.of_history))
    assert_same_rows(*(rows_of(answer) for answer in answers))


def test_at_a_level_nodes_are_not_opened() -> None:
    session = session_of()
    keep(session, (), [("1 second", "forever"), ("4 seconds", "forever")])
    session.push("a", [{"ts": f"2026-01-01 00:00:0{i}", "k": i} for i in range(8)])
    session.advance("a", to="2026-01-01 00:01:00")
    parts = (("COUNT(*)",), (), None)
    start = 1_767_225_600_000_000
    fine = Question(*parts, start + 1_000_000, start + 5_000_000, "1 SECOND")
    (row,) = session.ask(fine.of_history).to_pylist()
    assert (row["c0"], row["exact"]) == (4, True)
    coarse = Question(*parts, start + 1_000_000, start + 5_000_000, "4 SECONDS")
    (row,) = session.ask(coarse.of_history).to_pylist()
    assert (row["c0_low"], row["c0_high"], row["exact"]) == (0, 8, False)
    assert row["exact_from"] is None
    assert (row["around_to"] - row["around_from"]).total_seconds() == 8


def test_a_history_says_since_when_it_knows() -> None:
    session = session_of()
    session.push("b", [{"ts": f"2026-01-01 00:00:0{i}", "k": i} for i in range(5)])
    session.history("b", measures=["k"], levels=FOREVER)
    session.push("b", [{"ts": f"2026-01-01 00:00:0{i}", "k": i} for i in range(4, 10)])
    text = "SELECT COUNT(*) AS n, MIN(k) AS low, SUM(k) AS s FROM HISTORY(b) [FROM '{}' TO {}]"
    (row,) = session.ask(text.format("2026-01-01", "NOW")).to_pylist()
    assert (row["n"], row["n_low"], row["n_high"], row["exact"]) == (4, 4, None, False)
    assert (row["low"], row["low_low"], row["low_high"]) == (5, None, 5)
    assert (row["s"], row["s_low"], row["s_high"]) == (26, None, None)
    assert str(row["known_from"]) == str(row["exact_from"]) == "2026-01-01 00:00:04.000001+00:00"
    assert str(row["known_to"]) == str(row["exact_to"]) == "2026-01-01 00:00:09+00:00"
    assert row["around_from"] is row["around_to"] is None
    (row,) = session.ask(text.format("2026-01-01 00:00:05", "'2026-01-01 00:00:09'")).to_pylist()
    assert (row["n"], row["n_high"], row["exact"]) == (4, 4, True)
    (row,) = session.ask(text.format("2026-01-01 00:00:05", "'2027-01-01'")).to_pylist()
    assert (row["n"], row["exact"]) == (4, False)
    session.finish()
    (row,) = session.ask(text.format("2026-01-01 00:00:05", "'2027-01-01'")).to_pylist()
    assert (row["n"], row["exact"], row["known_to"]) == (5, True, None)


def test_having_judges_the_values() -> None:
    session = session_of()
    keep(session, ("s",), FOREVER)
    rows = [{"ts": "2026-01-01", "k": i, "s": "xyz"[min(i, 2)]} for i in range(6)]
    session.push("a", rows)
    session.finish()
    text = "SELECT s, SUM(k) AS n FROM HISTORY(a) [FROM '2026-01-01' TO NOW] GROUP BY s "
    assert session.ask(text + "HAVING COUNT(*) > 1")["n"].to_pylist() == [14]
    assert session.ask(text + "HAVING n < 1")["s"].to_pylist() == ["x"]
    whole = text.replace("s, ", "").replace("GROUP BY s ", "")
    assert session.ask(whole + "HAVING COUNT(*) > 6").num_rows == 0


def test_rows_that_are_not_known_may_be_all_there_are() -> None:
    session = session_of()
    session.history("b", measures=["k"], levels=[("1 second", 0), ("10 seconds", "forever")])
    session.push("b", [{"ts": "2026-01-01 00:00:01", "k": 5}, {"ts": "2026-01-01 00:00:20"}])
    text = "SELECT MAX(k) AS hi, MIN(k) AS lo FROM HISTORY(b) [FROM '2026-01-01 00:00:05' TO "
    (row,) = session.ask(f"{text}'2026-01-01 01:00:00']").to_pylist()
    # The node of 00:00:00 is cut: 5 may lie before the interval, and what comes may be smaller.
    assert (row["hi_low"], row["hi_high"], row["lo_low"], row["lo_high"]) == (None,) * 4
    session.push("b", [{"ts": "2026-01-01 00:00:40", "k": 1}])
    session.advance("b", to="2026-01-01 00:00:59")
    (row,) = session.ask(f"{text}'2026-01-01 01:00:00']").to_pylist()
    assert (row["hi_low"], row["lo_high"]) == (1, 1)
