"""The sources of tables in a script: files of rows, or of changelogs, read before any stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from windrow.connectors.contract import Source
from windrow.connectors.files.checks import files_of
from windrow.connectors.files.connector import FileSource
from windrow.rows.file_rows import FileRows
from windrow.table_schema import TableSchema

if TYPE_CHECKING:
    from windrow.embedded.session import EmbeddedSession

__all__ = ["ChangelogLines", "give_changes", "table_changes"]

# Lines of a changelog that are applied at once.
LINES_AT_ONCE = 10_000


class ChangelogLines:
    """Lines of a changelog, and their format."""

    def __init__(self, lines: list[bytes], changelog: str) -> None:
        self.lines, self.changelog = lines, changelog


def table_changes(schema: TableSchema, source: Source) -> Iterator[FileRows | ChangelogLines]:
    """What a source has for a table, piece by piece."""
    changelog = source.changelog if isinstance(source, FileSource) else None
    if changelog is None:
        yield from (rows for rows, _ in source.read(schema))
        return
    assert isinstance(source, FileSource)
    lines: list[bytes] = []
    for file in files_of(source):
        with file.open("rb") as opened:
            for line in opened:
                lines += [line] if line.strip() else []
                if len(lines) == LINES_AT_ONCE:
                    yield ChangelogLines(lines, changelog)
                    lines = []
    yield ChangelogLines(lines, changelog)


def give_changes(session: EmbeddedSession, table: str, changes: FileRows | ChangelogLines) -> None:
    """Gives a piece to a table."""
    if isinstance(changes, ChangelogLines):
        session.changelog(table, changes.lines, format=changes.changelog)
    else:
        session.upsert(table, changes.batch)
