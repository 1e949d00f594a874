"""How far a job has come that runs in a durable session."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Progress"]


@dataclass
class Progress:
    """batches: of its files that were read; read: by stream.

    written: by query, batches that its sink has.

    pieces: by table, those of its source that were given to it.
    state_name: by which sinks know this state; '' until one asks for it.
    """

    batches: int = 0
    read: dict[str, int] = field(default_factory=dict)
    has_read_tables: bool = False
    written: dict[str, int] = field(default_factory=dict)
    pieces: dict[str, int] = field(default_factory=dict)
    state_name: str = ""
