"""Queries that go on in another session from a file: nobody sees it in what they tell."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import windrow
from support.carried_runs import all_of, begun, in_two_sessions, undisturbed
from support.query_forms import FORMS, PUSHES
from support.runners import exactly
from support.sessions import give, session_of
from support.tree_forms import CLOSING_FORMS, TREE_FORMS, WINDOW_FORMS
from support.tree_rows import tree_actions
from windrow.errors import AdmissionError, BindingError, CheckpointError, UnsupportedError

pytestmark = pytest.mark.filterwarnings(
    "ignore:query .* keeps every row", "ignore:stream .* has rows that count in no answer"
)

TREES = [*TREE_FORMS, *WINDOW_FORMS, *CLOSING_FORMS]
WITHOUT_ERROR = [name for name in FORMS if not name.startswith("error")]
COUNT = "SELECT COUNT(*) AS n FROM a [3 SECONDS]"
JOIN = """SELECT a.k, COUNT(*) AS n, SUM(b.l) AS t FROM a [4 SECONDS], b [3 SECONDS]
          WHERE a.k = b.k GROUP BY a.k"""


@pytest.mark.parametrize("name", WITHOUT_ERROR)
def test_a_form_goes_on_in_another_session(name: str, tmp_path: Path) -> None:
    text, cut = FORMS[name].text, random.Random(name).randrange(len(PUSHES) + 1)
    assert all_of(in_two_sessions(text, PUSHES, cut, tmp_path)) == all_of(undisturbed(text, PUSHES))


@pytest.mark.parametrize("number", range(0, len(TREES), 7))
def test_a_tree_goes_on_in_another_session(number: int, tmp_path: Path) -> None:
    text, actions = TREES[number], tree_actions(number, 16)
    cut = random.Random(number).randrange(len(actions) + 1)
    assert all_of(in_two_sessions(text, actions, cut, tmp_path)) == all_of(
        undisturbed(text, actions)
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(TREES)))
def test_a_tree_goes_on_wherever_it_is_cut(number: int, tmp_path: Path) -> None:
    text, actions = TREES[number], tree_actions(number + 1000, 24)
    whole = all_of(undisturbed(text, actions))
    for cut in range(len(actions) + 1):
        assert all_of(in_two_sessions(text, actions, cut, tmp_path)) == whole


def test_the_ledger_goes_on(tmp_path: Path) -> None:
    session, query = begun(JOIN, PUSHES[:20])
    session.export_state("q", tmp_path / "q.wstate")
    other = session_of()
    goes_on = other.import_state(tmp_path / "q.wstate")
    for push in PUSHES[20:]:
        give(session, push)
        give(other, push)
        assert other.ledger().slice(0, 2) == session.ledger().slice(0, 2)
    assert goes_on.ledger() == query.ledger()
    assert sum(session.ledger()["late"].to_pylist()[:2]) > 0, "late rows show that time went on"


def test_several_queries_of_a_session_go_on_together(tmp_path: Path) -> None:
    session = session_of()
    texts = {"count": COUNT, "join": JOIN}
    for name, text in texts.items():
        session.query(text, name=name)
    for push in PUSHES[:20]:
        give(session, push)
    for name in texts:
        session.export_state(name, tmp_path / name)
    other = session_of()
    for name in texts:
        other.import_state(tmp_path / name)
    for each in (session, other):
        each["count"].answers(), each["join"].answers()
        for push in PUSHES[20:]:
            give(each, push)
    for name in texts:
        assert exactly(other[name].answers()) == exactly(session[name].answers())


def test_a_clock_by_arrival_goes_on(tmp_path: Path) -> None:
    sessions = [windrow.connect(clock="arrival") for _ in range(2)]
    for session in sessions:
        session.stream("s", "ts timestamp, k int", time="ts")
    first, second = sessions
    query = first.query("SELECT COUNT(*) AS n FROM s [2 SECONDS]", name="q")
    first.push("s", {"ts": ["2026-01-01 00:00:01", "2026-01-01 00:00:02"], "k": [1, 2]})
    first.export_state("q", tmp_path / "q")
    goes_on = second.import_state(tmp_path / "q")
    query.answers()
    for session in sessions:
        session.push("s", {"ts": ["2026-01-01 00:00:02", "2026-01-01 00:00:05"], "k": [1, 2]})
    assert exactly(goes_on.answers()) == exactly(query.answers())
    plain = windrow.connect()
    plain.stream("s", "ts timestamp, k int", time="ts")
    with pytest.raises(CheckpointError, match=r"(?s)WC432.*clock='arrival'"):
        plain.import_state(tmp_path / "q")


def test_a_query_with_user_functions_needs_them_again(tmp_path: Path) -> None:
    session = session_of()
    session.function("twice", lambda x: None if x is None else 2 * x, returns="bigint")
    session.query("SELECT SUM(twice(k)) AS n FROM a [3 SECONDS]", name="q")
    for push in PUSHES[:10]:
        give(session, push)
    session.export_state("q", tmp_path / "q")
    other = session_of()
    with pytest.raises(CheckpointError, match="WC793"):
        other.import_state(tmp_path / "q")
    other.function("twice", lambda x: None if x is None else 2 * x, returns="bigint")
    assert other.import_state(tmp_path / "q").result() == session["q"].result()


# ---- refused, and then nothing has happened


def test_a_stream_that_has_gone_on_is_refused(tmp_path: Path) -> None:
    session, _ = begun(COUNT, PUSHES[:20])
    session.export_state("q", tmp_path / "q")
    other = session_of()
    for push in PUSHES:
        give(other, push)
    ledger = other.ledger()
    with pytest.raises(CheckpointError, match=r"(?s)WC429.*here it is complete through"):
        other.import_state(tmp_path / "q")
    assert other.ledger() == ledger
    assert not other.queries().num_rows
    read = session_of()
    read.query(COUNT)
    with pytest.raises(CheckpointError, match=r"(?s)WC429.*queries here read it"):
        read.import_state(tmp_path / "q")


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    session, query = begun(COUNT, PUSHES[:20])
    session.export_state("q", tmp_path / "q")
    with pytest.raises(BindingError, match="WB"):
        session.import_state(tmp_path / "q")
    again = session.import_state(tmp_path / "q", name="again")
    assert again.result() == query.result()


def test_what_is_not_there_cannot_be_exported(tmp_path: Path) -> None:
    session, query = begun(COUNT, PUSHES[:2])
    with pytest.raises(BindingError, match=r"(?s)WB454.*those that run are: q"):
        session.export_state("r", tmp_path / "r")
    query.stop()
    with pytest.raises(BindingError, match=r"(?s)WB454.*none"):
        session.export_state("q", tmp_path / "q")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_taken_is_refused_by_name(tmp_path: Path) -> None:
    session = session_of()
    session.table("t", "k int, name string", key=["k"])
    session.view("v", "SELECT k, COUNT(*) AS n FROM a [2 SECONDS] GROUP BY k")
    texts = {
        "ERROR": f"{COUNT} ERROR (10%)",
        "a view or a table": "SELECT MAX(n) AS n FROM v",
        "whose rows belong to the session": (
            "SELECT t.name, COUNT(*) AS n FROM a [2 SECONDS] JOIN t ON a.k = t.k GROUP BY t.name"
        ),
    }
    for number, (words, text) in enumerate(texts.items()):
        session.query(text, name=f"q{number}")
        with pytest.raises(CheckpointError, match=rf"(?s)WC424.*{words}"):
            session.export_state(f"q{number}", tmp_path / "q")


def test_answers_that_lack_rows_are_not_handed_over(tmp_path: Path) -> None:
    session = windrow.connect(memory="300 KB")
    session.stream("s", "ts timestamp, k bigint", time="ts")
    session.query("SELECT COUNT(DISTINCT k) AS n FROM s [1 HOUR]", name="q")
    with pytest.raises(AdmissionError):  # noqa: PT012 - which push is too many is not the point
        for start in range(0, 60_000, 1_000):
            times = [1_700_000_000_000_000 + at for at in range(start, start + 1_000)]
            session.push("s", {"ts": times, "k": list(range(start, start + 1_000))})
    with pytest.raises(CheckpointError, match=r"(?s)WC424.*refused for lack of memory"):
        session.export_state("q", tmp_path / "q")


def test_rows_whose_time_is_not_believed_yet_are_waited_for(tmp_path: Path) -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts", max_ahead="1 minute")
    session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]", name="q")
    session.push("s", {"ts": "2026-01-01 00:00:00", "k": 1})
    session.push("s", {"ts": "2026-01-01 01:00:00", "k": 2})
    with pytest.raises(CheckpointError, match=r"(?s)WC424.*confirm their times"):
        session.export_state("q", tmp_path / "q")


def test_a_session_with_a_log_takes_no_state(tmp_path: Path) -> None:
    session = windrow.connect(path=tmp_path / "state")
    session.stream("s", "ts timestamp, k int", time="ts")
    session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]", name="q")
    session.push("s", {"ts": ["2026-01-01", "2026-01-01 00:00:30"], "k": [1, 2]})
    session.export_state("q", tmp_path / "q")
    with pytest.raises(UnsupportedError, match="WU311"):
        session.import_state(tmp_path / "q", name="r")
    assert session["q"].is_running
    session.stop()
    other = windrow.connect()
    other.stream("s", "ts timestamp, k int", time="ts")
    assert other.import_state(tmp_path / "q").is_running


# ---- a changed query in the same session

CHANGED = [
    # fewer rows by a condition, other aggregates of the same columns, HAVING, another order
    """SELECT b.k, COUNT(*) AS n, AVG(b.l) AS t FROM a [4 SECONDS], b [3 SECONDS]
       WHERE a.k = b.k AND b.l > 0 GROUP BY b.k HAVING COUNT(*) > 1""",
    # shorter windows, no groups
    "SELECT COUNT(*) AS n, MAX(b.l) AS m FROM a [2 SECONDS], b [1 SECOND] WHERE a.k = b.k",
    # ticks
    f"{JOIN} EVERY (1 SECOND)",
    # one of the inputs, as a tree
    "SELECT l, COUNT(*) AS n FROM b [2 SECONDS] WHERE k IS NOT NULL GROUP BY ROLLUP (l)",
    # computed from columns that were held
    "SELECT a.k * 2 AS e, SUM(b.l * a.k) AS t FROM a [4 SECONDS], b [3 SECONDS] "
    "WHERE a.k = b.k GROUP BY a.k * 2",
]


@pytest.mark.parametrize("text", CHANGED)
@pytest.mark.parametrize("cut", [0, 9, 25, len(PUSHES)])
def test_a_changed_query_takes_over_the_rows_of_its_windows(text: str, cut: int) -> None:
    session, query = begun(JOIN, PUSHES[:cut])
    twin, expected = begun(text, PUSHES[:cut])
    others = [each.query(COUNT, name="other") for each in (session, twin)]
    changed = session.replace("q", text)
    expected.answers()
    assert not query.is_running
    for each in (session, twin):
        for push in PUSHES[cut:]:
            give(each, push)
        each.finish()
    assert all_of_answers(changed) == all_of_answers(expected)
    assert exactly(changed.result()) == exactly(expected.result())
    assert exactly(others[0].answers()) == exactly(others[1].answers())


def all_of_answers(query: windrow.Query) -> list[str]:
    return sorted(exactly(query.answers()))


def test_a_query_that_does_not_fit_is_refused_and_the_old_one_goes_on() -> None:
    session, query = begun(JOIN, PUSHES[:20])
    refused = {
        "window of a was .4 seconds., and is .5 seconds. now": JOIN.replace("4 S", "5 S"),
        "join key of a was a.k, and is a.s": JOIN.replace("a.k = b.k", "a.s = b.s"),
        "it did not read stream 'c'": "SELECT COUNT(*) AS n FROM c [1 SECOND]",
    }
    for words, text in refused.items():
        with pytest.raises(CheckpointError, match=rf"(?s)WC425.*{words}"):
            session.replace("q", text)
    with pytest.raises(CheckpointError, match=r"(?s)WC427.*without s of stream 'a'"):
        session.replace("q", JOIN.replace("COUNT(*)", "COUNT(a.s)"))
    with pytest.raises(BindingError):
        session.replace("q", "SELECT nothing FROM a [1 SECOND]")
    _, expected = begun(JOIN, PUSHES)
    for push in PUSHES[20:]:
        give(session, push)
    assert query.is_running
    assert all_of_answers(query) == all_of_answers(expected)
