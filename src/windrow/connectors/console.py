"""The console: answers are printed as they come."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.scripted import Scripted
from windrow.rows.json_texts import with_texts

if TYPE_CHECKING:
    from windrow.plan.model import QueryPlan

__all__ = ["SINKS", "Console", "ConsoleWriter"]

CONSOLE_ROWS = 20


@dataclass(frozen=True)
class Console(Sink):
    """Answers are printed as they come.

    >>> Console()
    Console()
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    shows: ClassVar[Literal["answers", "result"] | None] = "answers"
    replay: ClassVar[Replay] = "repeated"

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer that prints on the driver."""
        return ConsoleWriter()


class ConsoleWriter(Writer):
    """Prints the first rows of each batch that has answers."""

    feeds: tuple[str, ...] = ("answers",)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Prints the batch."""
        answers = tables["answers"]
        if answers.num_rows:
            shown = with_texts(answers.slice(0, CONSOLE_ROWS)).to_pandas().to_string(index=False)
            more = answers.num_rows - CONSOLE_ROWS
            rest = f"... and {more} more\n" if more > 0 else ""
            sys.stdout.write(f"batch {batch_id}\n{shown}\n{rest}")
            sys.stdout.flush()


SINKS = {"console": Scripted((), lambda options: Console())}  # noqa: ARG005 - it has no options
