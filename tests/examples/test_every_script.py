"""Every script of the examples and of the documentation runs in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.every_script import GAPS, ROWS, SCRIPTS, Seen, small_job
from windrow.embedded.job import run_embedded
from windrow.errors import WindrowError


def test_there_are_scripts_and_no_gap_without_one() -> None:
    assert len(SCRIPTS) > 15
    assert GAPS.keys() <= SCRIPTS.keys()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_in_process(name: str, tmp_path: Path) -> None:
    seen = Seen()
    job = small_job(SCRIPTS[name], tmp_path)
    if not job.queries and not job.questions:
        with pytest.raises(WindrowError, match="WB516"):
            job.check_runnable()
        return
    run_embedded(job, seen)
    assert set(seen.rows.values()) == {ROWS}
