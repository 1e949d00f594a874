"""Trees in stages, in Spark's buckets without Spark, against one process; shards are lost between.

What crosses exchanges: late rows, ticks, windows over answers, DURATION, rows before any has come.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.form_runners import Given
from support.runners import exactly
from support.spark.driven_job import DrivenJob
from support.spark.driven_trees import driven_run, spark_plan
from support.streams import Push, batch_of
from support.tree_rows import other_cuts, tree_actions
from support.tree_runs import Told, session_run
from windrow.errors import CheckpointError
from windrow.plan.relations.explain_stages import explain_on_spark
from windrow.plan.relations.tree_plan import TreePlan
from windrow.runtime.trees.tree_shard import TreeShard
from windrow.spark.monitoring.operator_bytes import operator_bytes
from windrow.spark.worker.tree_nodes import measured_nodes

COUNTED = "(SELECT k, s, COUNT(*) AS n, MAX(d) AS d FROM a [4 SECONDS] GROUP BY k, s) AS q"
JOINED = "(SELECT a.k, a.s, b.l, b.d FROM a [3 SECONDS] LEFT JOIN b [2 SECONDS] ON a.k = b.k) AS q"

# Each with the number of its stages.
STAGED = {
    f"SELECT d, COUNT(*) AS m FROM {COUNTED} GROUP BY d": 2,
    f"SELECT MAX(n) AS t, MIN(d) AS d, COUNT(*) AS m, SUM(n) AS r FROM {COUNTED}": 2,
    f"SELECT SUM(l) AS t, COUNT(l) AS n FROM {JOINED} EVERY (1 SECOND)": 2,
    f"SELECT AVG(n) AS m, SUM(d) AS t, COUNT(DISTINCT n) AS r FROM {COUNTED}": 2,
    f"SELECT k, n FROM {COUNTED} ORDER BY n DESC, d NULLS LAST LIMIT 2 OFFSET 1": 2,
    f"SELECT k, l, s FROM {JOINED} ORDER BY d DESC LIMIT 4 EVERY (1500 MILLISECONDS)": 2,
    f"SELECT q.s, c.x FROM {JOINED} LEFT JOIN c [3 SECONDS] ON q.l = c.x": 2,
    f"SELECT q.s, COUNT(*) AS n FROM {JOINED} LEFT JOIN c [2 SECONDS] ON q.l = c.x GROUP BY q.s": 3,
    f"WITH q AS (SELECT * FROM {COUNTED}) SELECT x.s FROM q AS x JOIN q AS y ON x.k = y.n": 2,
    f"SELECT s, l FROM {JOINED} UNION SELECT b.s, x FROM b [2 SECONDS] LEFT JOIN c [ROWS 3]"
    " USING (k)": 3,
    f"SELECT n, RANK() OVER (PARTITION BY n ORDER BY k, s) AS r FROM {COUNTED}": 2,
    f"SELECT n, LAG(n) OVER (ORDER BY n, k, s) AS r FROM {COUNTED}": 2,
    f"SELECT w.n, COUNT(*) AS m FROM (SELECT n, COUNT(*) AS m FROM {COUNTED} GROUP BY n EVERY"
    " (1 SECOND)) [3 SECONDS] AS w GROUP BY w.n": 2,
    f"SELECT MAX(m) AS m FROM (SELECT SUM(n) AS m FROM {COUNTED} EVERY (500 MILLISECONDS))"
    " [2 SECONDS] AS w EVERY (1 SECOND)": 2,
    f"SELECT d, COUNT(*) AS m FROM {COUNTED} GROUP BY d DURATION ['1969-12-31 00:00:00',"
    " '2023-11-14 22:13:23']": 2,
    f"SELECT n, COUNT(*) AS m FROM {COUNTED} GROUP BY n DURATION [0 SECONDS, 3 SECONDS]": 2,
    f"SELECT n, SUM(10 / (n - 1)) AS t FROM {COUNTED} GROUP BY n ON ERROR SET ASIDE": 2,
    f"SELECT l, (SELECT COUNT(*) FROM c [2 SECONDS]) AS n FROM {JOINED}": 2,
    "SELECT k, s, COUNT(*) AS n FROM a [2 SECONDS] GROUP BY ROLLUP (k, s)": 2,
    # Relations of a row, of which all buckets have copies.
    f"SELECT k, s, n FROM {COUNTED} WHERE n = (SELECT MAX(n) FROM {COUNTED})": 2,
    f"SELECT k, n, x.t FROM {COUNTED} LEFT JOIN (SELECT SUM(l) AS t FROM {JOINED}) AS x"
    " ON q.n > x.t": 2,
    f"SELECT k, n FROM {COUNTED} WHERE n > ALL (SELECT COUNT(*) FROM b [1 SECOND]) EVERY"
    " (1 SECOND)": 2,
    f"SELECT x.t, COUNT(*) AS m FROM (SELECT MIN(n) AS t FROM {COUNTED}) AS x JOIN {JOINED} ON"
    " q.l >= x.t GROUP BY x.t": 3,
    f"SELECT k, l FROM {JOINED} WHERE NOT EXISTS (SELECT 1 FROM (SELECT l FROM c [2 SECONDS]"
    " ORDER BY l DESC, k LIMIT 1) AS x WHERE x.l < q.l)": 2,
    # Groups that are begun in the buckets of the first stage.
    f"SELECT s, COUNT(*) AS n, SUM(l) AS t, MAX(d) AS d, COUNT(l) AS c FROM {JOINED} GROUP BY s"
    " EVERY (1 SECOND)": 2,
    f"SELECT n % 2 AS e, SUM(n) AS t, MIN(d) AS d FROM {COUNTED} GROUP BY n % 2 HAVING"
    " COUNT(*) > 1 EVERY (500 MILLISECONDS)": 2,
    "SELECT q.s, q.e, COUNT(*) AS n, SUM(q.l) AS t FROM (SELECT a.s, b.l, a.window_end AS e FROM"
    " a [TUMBLE 2 SECONDS] LEFT JOIN b [TUMBLE 2 SECONDS] ON a.k = b.k AND a.window_end ="
    " b.window_end) AS q GROUP BY q.s, q.e": 2,
    "SELECT m, COUNT(*) AS c, MAX(k) AS k FROM (SELECT k, COUNT(*) AS m FROM a [2 SECONDS] GROUP"
    " BY k EVERY (500 MILLISECONDS)) [3 SECONDS] AS q GROUP BY m": 2,
}  # fmt: skip


def all_of(told: Told | Given) -> list[list[str]]:
    """All that was told, exactly; answers and changes of one instant in any order."""
    answers, changes, result = map(exactly, told)
    return [sorted(answers), sorted(changes), result]


@pytest.mark.parametrize("number", range(len(STAGED)))
def test_stages_give_what_one_process_gives(number: int, tmp_path: Path) -> None:
    text, stages = list(STAGED.items())[number]
    plan = spark_plan(text)
    assert isinstance(plan, TreePlan)
    assert len(plan.stages) == stages
    # Reports and packets number the inputs as the query does.
    assert plan.stages[0].inputs == plan.inputs
    actions = tree_actions(700 + number, 20)
    twin = all_of(session_run(text, actions))
    assert all_of(driven_run(text, actions, tmp_path / "broken", number, buckets=3)) == twin


@pytest.mark.parametrize("number", range(0, len(STAGED), 4))
def test_however_rows_are_cut_into_batches(number: int, tmp_path: Path) -> None:
    text, actions = list(STAGED)[number], tree_actions(800 + number, 24)
    twin = all_of(session_run(text, actions))
    assert all_of(driven_run(text, other_cuts(actions, number), tmp_path, buckets=2)) == twin


@pytest.mark.parametrize("number", range(2, len(STAGED), 4))
def test_state_that_is_written_anew_or_merged(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after many batches: changes give way to what they add up to, and segments become one."""
    monkeypatch.setattr("windrow.spark.worker.tree_segments.SPARE_ROWS", 4)
    monkeypatch.setattr("windrow.spark.worker.segment_merging.SEGMENTS_LIMIT", 2)
    text, actions = list(STAGED)[number], tree_actions(900 + number, 36)
    twin = all_of(session_run(text, actions))
    assert all_of(driven_run(text, actions, tmp_path, number, buckets=2)) == twin


def test_what_stages_hold_is_told_node_by_node(tmp_path: Path) -> None:
    plan = spark_plan(f"SELECT n, COUNT(*) AS m FROM {COUNTED} GROUP BY n")
    job = DrivenJob(plan, tmp_path, buckets=2)
    rows = [action for action in tree_actions(5, 30, streams="a") if isinstance(action, Push)]
    for push in rows:
        job.batch({"a": batch_of("a", push.rows)})
    status = job.publication.status
    shown = explain_on_spark(plan, *measured_nodes(plan, status.tree), len(status.bucket_rows))
    notes = [line for line in shown.splitlines() if " now)" in line]
    # The groups and what they receive; the block below.
    assert len(notes) == 3
    named = [each["operator"] for each in operator_bytes(plan, status)]
    assert [name.split(" ", 1)[1].split(":")[0] for name in named] == [
        "a row for each n", "received 1", "block, a row for each a.k, a.s",
    ]  # fmt: skip
    # Rows are in the windows of the first stage; the bytes of all count for the budget.
    assert len(status.bucket_rows) == 2
    later = sum(output.nbytes for output in _live_shards(job))
    assert later > 0
    assert status.window_bytes > later


@pytest.mark.parametrize("stage", [0, 1])
def test_state_of_a_stage_that_is_cut_otherwise_is_refused(stage: int, tmp_path: Path) -> None:
    push = batch_of("a", tree_actions(5, 30, streams="a")[0].rows)
    one, other = (
        DrivenJob(spark_plan(f"SELECT {call} AS m FROM {COUNTED}"), tmp_path / call[:3], buckets=2)
        for call in ("MAX(n)", "MIN(n)")
    )
    one.batch({"a": push})
    if stage == 0:
        other.states = one.states
    else:
        other.later_states = one.later_states
    with pytest.raises(CheckpointError, match="WC212"):
        other.batch({"a": push})


def _live_shards(job: DrivenJob) -> list[TreeShard]:
    """Those of the last stage."""
    held = [step.cache._shelf._held for step in job.later_steps[-1]]
    return [live._shard for own in held for _, live, _ in own.values()]
