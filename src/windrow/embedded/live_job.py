"""Follows the sources of a job that live, in this process, until they end or a signal comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.embedded.outlet import standings
from windrow.embedded.side_by_side import check_source
from windrow.interruption import Interruption

if TYPE_CHECKING:
    from windrow.embedded.job import JobRun

__all__ = ["follow_job", "is_live"]


def is_live(run: JobRun) -> bool:
    """Whether a source of the job goes on after what is there when it begins."""
    return any(source.is_live for _, source in run.job.sources().values())


def follow_job(run: JobRun) -> None:
    """Runs the job; sources with an end are read beside those without.

    Ctrl-C and SIGTERM end it: what was read already is taken, the sinks have all answers so far,
    and last results are shown.
    """
    session, watcher = run.session, run.watcher
    sources = run.job.sources()
    for name, (_, source) in sources.items():
        check_source(name, source)
    run.register()
    run.before_following()

    def after() -> None:
        for outlet in run.outlets:
            outlet.drain()
        watcher.advanced(sum(feed.standing.rows for feed in feeding.loop.feeds), None)
        watcher.stood(lambda: standings(session, run.outlets))

    followed = {name: source for name, (_, source) in sources.items()}
    with Interruption() as interruption:
        feeding = session.feeding(followed, after, raises=True)
        feeding.run(lambda: interruption.came)
        run.show_end()
