"""What becomes of a script: edits of its text, and notes about what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from windrow.dialects.scanning import Piece

__all__ = ["DIALECTS", "Note", "Translating", "Translation"]

# What --from takes, and the system that is meant.
DIALECTS: Mapping[str, str] = {
    "flink": "Flink SQL",
    "ksqldb": "ksqlDB",
    "risingwave": "RisingWave",
    "materialize": "Materialize",
    "feldera": "Feldera",
    "spark": "Spark SQL",
    "esper": "Esper EPL",
}


@dataclass(frozen=True)
class Note:
    """What differs here from the system that the script was written for."""

    line: int
    text: str


@dataclass(frozen=True)
class Translation:
    """The script in WQL, line by line where it was, and what differs.

    streams: the streams whose rows carry no time of their own, so that they are timed by arrival.
    """

    text: str
    notes: tuple[Note, ...]
    arrival_timed: tuple[str, ...] = ()


@dataclass
class Translating:
    """A script while it is translated.

    time_columns: of each stream, table or view that was declared the column that is its time.
    sinks: of each declaration what stands behind INTO to write to it. schemas: names before a dot
    that only sort the names of tables. looked_up: of tables behind FOR SYSTEM_TIME AS OF the column
    by which their rows are found.
    """

    text: str
    dialect: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    time_columns: dict[str, str] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)
    views: set[str] = field(default_factory=set)
    sinks: dict[str, str] = field(default_factory=dict)
    schemas: set[str] = field(default_factory=set)
    arrival_timed: list[str] = field(default_factory=list)
    looked_up: dict[str, str] = field(default_factory=dict)

    def replace(self, start: int, end: int, by: str) -> None:
        """The text between two places becomes another; lines that it had stay lines."""
        lost = self.text.count("\n", start, end) - by.count("\n")
        self.edits.append((start, end, by + "\n" * max(0, lost)))

    def swap(self, piece: Piece, by: str) -> None:
        """One piece becomes another text."""
        self.replace(piece.start, piece.end, by)

    def note(self, piece: Piece, text: str) -> None:
        """Something differs at a piece."""
        self.notes.append(Note(self.text.count("\n", 0, piece.start) + 1, text))

    def done(self) -> Translation:
        """All edits made."""
        parts: list[str] = []
        position = 0
        for start, end, by in sorted(self.edits, key=lambda edit: edit[0]):
            if start < position:  # inside of what was replaced as a whole
                continue
            parts += [self.text[position:start], by]
            position = end
        parts.append(self.text[position:])
        return Translation("".join(parts), tuple(self.notes), tuple(self.arrival_timed))
