"""The queries that the console offers, half an hour into its demo, where memory is short."""

from __future__ import annotations

from itertools import islice

import pyarrow as pa

from windrow.apps.demo.live_building import LiveBuilding

EXAMPLES = (  # as static/editor/examples.js writes them for the streams of the building
    "SELECT COUNT(*) AS n FROM temp [1 MINUTE] EVERY (1 SECOND)",
    "SELECT AVG(celsius) AS mean, MAX(celsius) AS highest FROM temp [1 MINUTE] EVERY (1 SECOND)",
    "SELECT location, AVG(celsius) AS mean FROM temp [1 MINUTE] GROUP BY location EVERY (5)",
    "SELECT temp.location, COUNT(*) AS pairs FROM temp [1 MINUTE], smoke [1 MINUTE] "
    "WHERE temp.location = smoke.location GROUP BY temp.location EVERY (5 SECONDS)",
)


def test_the_examples_of_the_console_run_in_its_demo() -> None:
    scene = LiveBuilding()
    session = scene._session
    try:
        for _ in range(15):  # two minutes each: windows are full then, and some narrower
            pieces = list(islice(scene._player._pieces, 48))
            for name in ("temp", "smoke"):
                session.push(name, pa.concat_tables(piece.rows[name] for piece in pieces))
        assert "B" in session.queries()["level"].to_pylist()
        for text in EXAMPLES:
            session.query(text)
        for name, rows in next(scene._player._pieces).rows.items():
            session.push(name, rows)
        assert session.ledger()["rejected"].to_pylist() == [0, 0]
    finally:
        scene.close()
