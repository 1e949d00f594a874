"""What a live source is to the loop that reads it: rows, a position behind them, and how it fails.

A reader is opened at a position, polled by one thread, and closed; it is opened again, at the
position of the last rows that it gave, after what may pass has gone wrong. A position is a dict
that JSON can hold. It is written beside its rows: a reader that is opened there gives the rows that
follow, none twice and none left out, as far as the system that it reads can do that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from windrow.errors import WindrowError
    from windrow.rows.file_rows import FileRows

__all__ = ["GUARANTEES", "Guarantee", "Lag", "LiveReader", "Polled", "Position", "TransientError"]

Position = dict[str, Any]

# exactly: after a crash each row counts once, in a session with a path. once: rows may come again.
# most: what was on its way in the moment of a crash is lost.
Guarantee = Literal["exactly once", "at least once", "at most once"]
GUARANTEES: tuple[Guarantee, ...] = ("exactly once", "at least once", "at most once")


class Lag(NamedTuple):
    """How much there is that was not read yet, as far as is known; 0: the reader has caught up.

    >>> Lag(1024, "bytes").has_caught_up
    False
    """

    amount: float
    unit: Literal["rows", "bytes", "seconds", "files"]

    @property
    def has_caught_up(self) -> bool:
        """Whether all that was there is read."""
        return self.amount <= 0


@dataclass(frozen=True)
class Polled:
    """Rows, perhaps none, and the position behind them; lag: None where nobody knows."""

    rows: FileRows
    position: Position
    lag: Lag | None = None

    @property
    def nbytes(self) -> int:
        """About the bytes that it holds while it waits to be applied."""
        return int(self.rows.batch.nbytes) + sum(each.nbytes for each in self.rows.bad)


class TransientError(Exception):
    """A source cannot be read now, and may be later: it is opened again after a while.

    So is one whose reader raises an OSError, such as ConnectionError. Any other error ends the
    source: a WindrowError, with its hint, where a person has to change something.
    """


class LiveReader(Protocol):
    """Reads a source from a position on. All calls come from one thread, one after the other."""

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The next rows, about so many at most; None: nothing came within the time.

        None also says that it has caught up with what was there. It returns a little after the
        time at the latest, so that a session can end. Rows without a value that counts still have a
        position: what is skipped is not read again.
        """

    @property
    def is_done(self) -> bool:
        """Whether nothing will ever come any more."""
        return False

    def rejected(self, position: Position, why: WindrowError) -> None:
        """Rows of the poll that ended there were refused, all or some: told before confirmed()."""
        return

    def confirmed(self, position: Position) -> None:
        """The rows up to that position are in the state of the session, and on the disk."""
        return

    def close(self) -> None:
        """Give back what it holds; poll() is not called any more."""
        return
