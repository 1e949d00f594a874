"""The links: every answer, worked out by DuckDB from all packets."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from support.command_line import events, windrow
from support.gallery import (
    Rows,
    job_answers,
    module_of,
    output_of,
    program_of,
    rows_of,
    script_of,
    ticks,
    worked_out,
)

NAME = "network-links"


@pytest.fixture(scope="module")
def links() -> dict[str, pa.Table]:
    return module_of(NAME, "make_data").network(1).links


@pytest.fixture(scope="module")
def found(links: dict[str, pa.Table]) -> dict[str, pa.Table]:
    return program_of(NAME).watch(links)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    return job_answers(NAME, tmp_path_factory.mktemp(NAME))


def from_branches(links: dict[str, pa.Table]) -> Rows:
    return worked_out(
        """SELECT t, site, count(DISTINCT packet)
           FROM backbone AS b, (SELECT DISTINCT t, site, src FROM ticks, branch
                                WHERE ts BETWEEN t - INTERVAL 1 HOUR AND t) AS seen
           WHERE b.src = seen.src AND b.ts BETWEEN t - INTERVAL 1 HOUR AND t
           GROUP BY ALL""",
        ticks=ticks(links.values(), 1_800),
        **links,
    )


def scans(links: dict[str, pa.Table]) -> Rows:
    return worked_out(
        """SELECT t, src, count(DISTINCT dst_port) AS ports FROM ticks, backbone
           WHERE ts BETWEEN t - INTERVAL 5 MINUTES AND t GROUP BY ALL HAVING ports > 20""",
        ticks=ticks([links["backbone"]], 60),
        backbone=links["backbone"],
    )


def strangers(links: dict[str, pa.Table], instants: pa.Table) -> Rows:
    return worked_out(
        """SELECT DISTINCT t, src FROM instants, backbone AS b
           WHERE dst_port = 22 AND b.ts BETWEEN t - INTERVAL 10 MINUTES AND t
             AND NOT EXISTS (SELECT 1 FROM branch AS s
                             WHERE s.src = b.src AND s.ts BETWEEN t - INTERVAL 1 HOUR AND t)""",
        instants=instants,
        **links,
    )


def test_packets_from_branches(
    links: dict[str, pa.Table],
    found: dict[str, pa.Table],
    job: dict[str, list[dict[str, object]]],
) -> None:
    expected = from_branches(links)
    assert len(expected) > 10
    assert rows_of(found["from_branches"], "at", "site", "packets") == expected
    assert rows_of(job["from_branches"], "at", "site", "packets") == expected


def test_scans(
    links: dict[str, pa.Table],
    found: dict[str, pa.Table],
    job: dict[str, list[dict[str, object]]],
) -> None:
    expected = scans(links)
    assert rows_of(found["scans"], "at", "src", "ports") == expected
    assert rows_of(job["scans"], "at", "src", "ports") == expected


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_those_who_scan_are_those_who_were_set_to(seed: int) -> None:
    network = module_of(NAME, "make_data").network(seed)
    assert {row[1] for row in scans(network.links)} == {scan.src for scan in network.scans}


def test_strangers_at_every_change_and_at_the_end(
    links: dict[str, pa.Table],
    found: dict[str, pa.Table],
    job: dict[str, list[dict[str, object]]],
) -> None:
    changes = found["strangers"]
    instants = pa.table({"t": changes["at"].unique()})
    expected = strangers(links, instants)
    added_up = worked_out(
        """SELECT t, src FROM instants, changes WHERE "at" <= t
           GROUP BY ALL HAVING sum(change) > 0""",
        instants=instants,
        changes=changes,
    )
    assert len(expected) > 1_000
    assert added_up == expected
    last = max(instants["t"].to_pylist()).replace(tzinfo=None)
    at_the_end = [(src,) for at, src in expected if at == last]
    assert rows_of(job["strangers"], "src") == at_the_end


@pytest.mark.spark
@pytest.mark.slow
def test_the_job_on_spark_gives_the_same(
    tmp_path: Path, job: dict[str, list[dict[str, object]]]
) -> None:
    output_of(module_of(NAME, "make_data"), str(tmp_path / "example-data" / NAME))
    done = windrow("run", str(script_of(NAME)), "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = [event for event in events(done.stdout) if event["event"] in ("answer", "result")]
    for query, rows in job.items():
        assert [event for event in shown if event["query"] == query] == rows
