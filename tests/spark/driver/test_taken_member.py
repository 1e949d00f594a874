"""A query that shares an operator goes on by itself: nobody sees it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from spark.driver.test_bundles import JOINS, SINGLE, batches, common_partitioning, grid
from spark.worker.test_width_orders import exactly, net
from support.spark.driven_bundle import DrivenBundle
from support.streams import STREAMS, plan_of
from windrow.carryover.state_file import write_state_file
from windrow.embedded.session import EmbeddedSession
from windrow.spark.driver.taken_member import StoodMember, member_handed_over
from windrow.spark.shuffle.carrier import carrier_of


def session_of_two() -> EmbeddedSession:
    session = EmbeddedSession("1 GB")
    for name in ("a", "b"):
        schema = STREAMS[name]
        session.stream(name, schema.arrow, time="ts", lateness=schema.lateness_us / 1_000_000)
    return session


@given(
    st.sampled_from([*JOINS, *SINGLE]),
    st.sampled_from([0, 1]),
    batches(),
    st.integers(1, 3),
    st.data(),
)
def test_a_member_goes_on_in_process(
    text: str,
    late: int,
    made: list[dict[str, pa.RecordBatch]],
    buckets: int,
    data: st.DataObject,
) -> None:
    plan, other = plan_of(text), plan_of(text.replace("COUNT", "MAX", 0))
    begins = min(late, len(made) - 1)
    cut = data.draw(st.integers(begins + 1, len(made)))
    with tempfile.TemporaryDirectory() as folder:
        bundle = DrivenBundle(common_partitioning([plan, other]), Path(folder), buckets)
        parts = []
        undisturbed, query = session_of_two(), None
        for number, tables in enumerate(made):
            orders = [bundle.begin(0, other, grid(other))] if number == 0 else []
            if number == begins:
                orders.append(bundle.begin(1, plan, grid(plan)))
                query = undisturbed.query(text, "q")
            if number < cut:
                read = {stream: tables[stream] for stream in plan.streams}
                found = bundle.batch(read, orders)
                parts += [found[1]] if 1 in found else []
            for stream, batch in tables.items():
                undisturbed.push(stream, batch)
        carrier = carrier_of(bundle.partitioning, bundle.columns)
        place = (carrier, bundle.partitioning.fingerprint, bundle.batch_id - 1, bundle.states)
        stood = StoodMember("q", 1, plan, *place, bundle.publications[1])
        write_state_file(Path(folder) / "file", member_handed_over(stood))
        session = session_of_two()
        goes_on = session.import_state(Path(folder) / "file")
    for tables in made[cut:]:
        for stream, batch in tables.items():
            session.push(stream, batch)
    session.finish()
    undisturbed.finish()
    assert query is not None
    answers = pa.concat_tables([*(part["answers"] for part in parts), goes_on.answers()])
    assert exactly(answers) == exactly(query.answers())
    if grid(plan) == 1:
        changes = pa.concat_tables([*(part["changes"] for part in parts), goes_on.changes()])
        assert net(changes) == net(query.changes())
    assert sorted(exactly(goes_on.result())) == sorted(exactly(query.result()))
