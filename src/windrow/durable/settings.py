"""What a durable session was begun with, which holds for as long as its state is there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from windrow.clocks import COMPLETE
from windrow.durable.errors import other_settings
from windrow.memory_size import DEFAULT_MEMORY, memory_of
from windrow.plan.session_zone import DEFAULT_ZONE

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """As connect() takes them."""

    memory: int = memory_of(DEFAULT_MEMORY)
    clock: str = COMPLETE
    time_zone: str = DEFAULT_ZONE
    double_quotes: str = "text"

    def told(self) -> dict[str, Any]:
        """As a record has them."""
        return asdict(self)

    def opened_with(self, given: Settings, path: Path) -> Settings:
        """The same, opened again: what is given is left out, or as it was, but for the memory.

        >>> Settings(memory=1 << 20).opened_with(Settings(), Path()).memory
        1048576
        """
        usual = Settings().told()
        for name, value in given.told().items():
            saved = getattr(self, name)
            if name != "memory" and value != usual[name] and value != saved:
                raise other_settings(path, name, saved, value)
        return self
