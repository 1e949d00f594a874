"""The smart building in a shell: two streams that flow, a query, and things to try."""

from __future__ import annotations

from windrow.apps.demo.building import ALARM_QUERY
from windrow.apps.demo.endless_building import PACE, endless_building
from windrow.apps.shell.desk import Desk
from windrow.apps.shell.shown import show_done
from windrow.apps.shell.workbench import Workbench
from windrow.interruption import Interruption
from windrow.jobs.player import Player
from windrow.sql import parse_script

__all__ = ["DECLARATIONS", "EXAMPLES", "begin_building"]

DECLARATIONS = f"""\
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts LATENESS 10 SECONDS;
CREATE STREAM smoke (location STRING, ts TIMESTAMP, strength DOUBLE) TIME ts LATENESS 10 SECONDS;
CREATE HISTORY ON temp (celsius) GROUP BY location
  LEVELS (1 SECOND FOR 10 MINUTES, 1 MINUTE FOR 1 DAY);
CREATE QUERY alarms AS {ALARM_QUERY};
"""
EXAMPLES = (
    "\\watch alarms",
    "SELECT location, MAX(celsius) AS hottest FROM temp [1 MINUTE]\n"
    "  GROUP BY location HAVING MAX(celsius) > 30;",
    "SELECT location, celsius FROM temp [1 MINUTE]\n"
    "  QUALIFY RANK() OVER (ORDER BY celsius DESC) <= 3;",
    "SELECT location, AVG(celsius) AS mean FROM HISTORY(temp)\n"
    "  [FROM '2026-01-01 09:00' TO '2026-01-01 10:00'] GROUP BY location;",
    "EXPLAIN SELECT COUNT(*) FROM temp [1 HOUR], smoke [1 HOUR]\n"
    "  WHERE temp.location = smoke.location;",
)


def begin_building(desk: Desk) -> None:
    """Declares the building, has it flow, and says what can be done with it."""
    with desk.screen.progress("Setting up a smart building"), Interruption():
        for statement in parse_script(DECLARATIONS):
            desk.bench.declare(statement)
        _play(desk.bench)
    show_done(
        desk.screen,
        "24 rooms report heat (temp) and smoke (smoke); now and then one is on fire.\n"
        f"Time runs {PACE:.0f} times as fast as real time. Try:",
        kind="demo",
    )
    for example in EXAMPLES:
        desk.screen.line("  " + example.replace("\n", "\n  "), "cyan")


def _play(bench: Workbench) -> None:
    """Until the shell is left; there is no end to be told of."""
    bench.begin_flow()
    pieces = endless_building()
    Player(
        pieces, bench.give, lambda: None, bench.note_problem, PACE, stopping=bench.closed
    ).start()
