"""Sinks of a script: console(), memory(), parquet('path', feed = 'changes')."""

from __future__ import annotations

from windrow.errors import BindingError
from windrow.jobs.options import Options
from windrow.plan.nearest import nearest
from windrow.sinks import Console, Memory, Parquet
from windrow.sql.statements import Endpoint

__all__ = ["JobSink", "sink_of"]

JobSink = Console | Memory | Parquet

_OPTIONS: dict[str, tuple[str, ...]] = {
    "console": (),
    "memory": (),
    "parquet": ("path", "feed"),
}
_FEEDS = ("answers", "changes")


def sink_of(endpoint: Endpoint | None) -> JobSink:
    """The sink that an endpoint of a script names; without one, the console."""
    if endpoint is None:
        return Console()
    name = endpoint.name.lower()
    if name not in _OPTIONS:
        guess = nearest(name, _OPTIONS)
        hint = f"did you mean {guess}?" if guess else f"the sinks are: {', '.join(_OPTIONS)}"
        message = f"there is no sink {endpoint.name!r}"
        raise BindingError("WB512", message, hint=hint, place=endpoint.place)
    options = Options(endpoint, _OPTIONS[name])
    if name == "parquet":
        return Parquet(options.text("path"), options.one_of("feed", _FEEDS))
    return Console() if name == "console" else Memory()
